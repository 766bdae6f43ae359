"""Proves that plans are right. Shares no code with what makes them: see `check_plan`."""

from numhlo.backend.plan_checking.check_plan import check_plan

__all__ = ["check_plan"]
