"""Named special functions (``numhlo.erf``, ``numhlo.sinh``, ...) as composites whose decomposition anyone can run."""

from __future__ import annotations

from typing import Any

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops import special
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.tracer.core.bind import bind1
from numhlo.tracer.core.operands import asarray, shape_of


def composite(name: str, *operands: Any) -> Any:
    """Apply the special function ``numhlo.<name>`` to operands of one floating-point (or complex) type."""
    arrays = [asarray(x) for x in operands]
    types = [TensorType(shape_of(x), x.dtype) for x in arrays]
    attributes = special.make(f"numhlo.{name}", types)
    return bind1(COMPOSITE, *arrays, attributes=attributes, results=attributes["decomposition"].result_types)
