"""Proves that plans are right. Shares no code with what makes them: see `check_plan`. Verifies kernels, too."""

from numhlo.backend.plan_checking.check_kernels import check_kernels
from numhlo.backend.plan_checking.check_plan import check_plan
from numhlo.backend.plan_checking.filled_plans import check_filled

__all__ = ["check_filled", "check_kernels", "check_plan"]
