"""Running sums, products, maxima and minima as composites.

They are ``numhlo.cumsum``, ``cumprod``, ``cummax`` and ``cummin``, with the attributes ``axis`` and
``reverse``. Elements are combined one after the other, as NumPy's ``accumulate`` does, so the order of rounding is
defined. The decomposition is a scan over the axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from numhlo.lowering.ir import Function, TensorType
from numhlo.lowering.ir.types import BOOL, COMPLEX, FLOATS, INTEGERS, NARROW_FLOATS
from numhlo.lowering.ops import elementwise, layout
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.composites import CompositeDefinition, register
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.dtype_table import widened
from numhlo.lowering.ops.loops import make_scan
from numhlo.lowering.ops.primitive import Arrays, Primitive, RegionFunction

COMBINERS: dict[str, tuple[Primitive, np.ufunc]] = {
    "cumsum": (elementwise.ADD, np.add),
    "cumprod": (elementwise.MULTIPLY, np.multiply),
    "cummax": (elementwise.MAXIMUM, np.maximum),
    "cummin": (elementwise.MINIMUM, np.minimum),
}


def initial_value(kind: str, dtype: np.dtype) -> np.ndarray:
    """Return the value that leaves every element unchanged when combined first."""
    if kind in ("cumsum", "cumprod"):
        return np.asarray(-0.0 if kind == "cumsum" and dtype.kind in "fcV" else kind == "cumprod").astype(dtype)
    low = kind == "cummax"
    if dtype == BOOL:
        return np.asarray(not low)
    if dtype in INTEGERS:
        info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
        return np.asarray(info.min if low else info.max, widened(dtype)).astype(dtype)
    extreme = -np.inf if low else np.inf
    if dtype in COMPLEX:
        return np.asarray(complex(extreme, extreme), dtype)  # the order of complex numbers looks at both parts
    found = np.asarray(extreme).astype(dtype)
    limits = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    return found if np.isinf(found.astype(np.float32)) else np.asarray(limits.min if low else limits.max, dtype)


def make_cumulative(kind: str, type: TensorType, axis: int, reverse: bool = False) -> dict[str, Any]:
    """Return the attributes of the composite op ``numhlo.<kind>`` for an operand of ``type``."""
    return {
        "name": f"numhlo.{kind}",
        "composite_attributes": {"axis": axis, "reverse": reverse},
        "decomposition": _decompose(kind, type, axis, reverse),
    }


@lru_cache(maxsize=256)
def _decompose(kind: str, type: TensorType, axis: int, reverse: bool) -> Function:
    row = type.with_shape(type.shape[:axis] + type.shape[axis + 1 :])
    body = FunctionBuilder(f"{kind}_step", [row, row])
    carry, x = body.arguments
    total = body.op(COMBINERS[kind][0], carry, x)
    length = type.shape[axis]
    scan = make_scan(body.finish([total, total]), length, 0, 1, reverse)
    b = FunctionBuilder(kind, [type])
    order = (axis, *(k for k in range(type.ndim) if k != axis))
    inverse = tuple(int(k) for k in np.argsort(order))
    rows = b.op(layout.TRANSPOSE, b.arguments[0], permutation=order) if axis else b.arguments[0]
    start = b.op(
        layout.BROADCAST_IN_DIM,
        b.constant(initial_value(kind, type.dtype)),
        broadcast_dimensions=(),
        result=row,
    )
    stacked = b.ops(
        COMPOSITE,
        start,
        rows,
        results=[row, rows.type],
        name="numhlo.scan",
        composite_attributes={"length": length, "num_consts": 0, "num_carries": 1, "reverse": reverse},
        decomposition=scan,
    )[1]
    return b.finish([b.op(layout.TRANSPOSE, stacked, permutation=inverse) if axis else stacked])


def evaluate_cumulative(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Accumulate along the axis, element by element; narrow floats round after each step."""
    (array,) = arrays
    parameters = attributes["composite_attributes"]
    axis, reverse = parameters["axis"], parameters["reverse"]
    kind = attributes["name"].removeprefix("numhlo.")
    ufunc = COMBINERS[kind][1]
    source = np.flip(array, axis) if reverse else array
    if array.dtype in NARROW_FLOATS:
        result = _stepwise(ufunc, source, axis)
    else:
        wide = widened(array.dtype)
        result = ufunc.accumulate(source.astype(wide, copy=False), axis, dtype=wide).astype(array.dtype, copy=False)
    if kind in ("cummax", "cummin") and array.dtype in FLOATS:
        result = _with_signs_of_zeros(result, source, axis, positive=kind == "cummax")
    return (np.flip(result, axis) if reverse else result,)


def _with_signs_of_zeros(result: np.ndarray, source: np.ndarray, axis: int, *, positive: bool) -> np.ndarray:
    """Return running extremes in which 0.0 is greater than -0.0; NumPy's may be either of two zeros."""
    zeros = result == 0
    if not np.any(zeros):
        return result
    wanted = (source == 0) & (np.signbit(source) != positive)
    met = np.logical_or.accumulate(wanted, axis)
    zero = np.asarray(0.0 if positive else -0.0).astype(result.dtype)
    return np.where(zeros, np.where(met, zero, -zero), result)


def _stepwise(ufunc: np.ufunc, source: np.ndarray, axis: int) -> np.ndarray:
    rows = np.moveaxis(source, axis, 0)
    result = np.empty(rows.shape, source.dtype)
    for step in range(len(rows)):
        before = result[step - 1].astype(np.float32) if step else None
        row = rows[step].astype(np.float32)
        result[step] = (row if before is None else ufunc(before, row)).astype(source.dtype)
    return np.moveaxis(result, 0, axis)


DEFINITIONS = [
    register(
        CompositeDefinition(f"numhlo.{kind}", evaluate_cumulative, 1, 1, f"Running {ufunc.__name__} along an axis.")
    )
    for kind, (_, ufunc) in COMBINERS.items()
]
