"""CHLO ops in terms of StableHLO: special functions and top_k become composites, the rest a few plain ops.

CHLO is the dialect of XLA's clients: exporters use it for functions that StableHLO has no op for. What has no rule here
is kept, and refused by name when a program is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ir.errors import DTypeError, ShapeError
from numhlo.lowering.ir.types import COMPLEX
from numhlo.lowering.ops import PRIMITIVES, control_flow, conversion, elementwise, layout, ranking, special
from numhlo.lowering.ops.bit_patterns import BIT_WIDTHS, SIGN_MAGNITUDE_FLOATS
from numhlo.lowering.ops.formula import Formula, absolute, where
from numhlo.lowering.passes.legalizer import Builder, legalization
from numhlo.lowering.text.foreign import ForeignAttribute

SPECIAL = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "digamma", "erf", "erfc", "erf_inv", "lgamma", "sinh",
)  # fmt: skip
"""Ops that are composites of the same name."""

BROADCASTING = (
    "add", "and", "atan2", "compare", "complex", "divide", "maximum", "minimum", "multiply", "or", "power", "remainder",
    "select", "shift_left", "shift_right_arithmetic", "shift_right_logical", "subtract", "xor",
)  # fmt: skip
"""StableHLO ops that CHLO has with broadcasting, as ``broadcast_add``."""


@legalization(*[f"chlo.{name}" for name in SPECIAL])
def legalize_special(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Name a special function."""
    type = operands[0].tensor
    attributes = special.make(f"numhlo.{op.definition.name}", [type])
    return b.ops(control_flow.COMPOSITE, *operands, results=[type], **attributes)


@legalization("chlo.top_k")
def legalize_top_k(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Name the k largest elements of the last axis, and where they are."""
    attributes = ranking.make_top_k(operands[0].tensor, int(op.attributes["k"]))
    return b.ops(control_flow.COMPOSITE, *operands, results=attributes["decomposition"].result_types, **attributes)


@legalization("chlo.tan")
def legalize_tan(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Take StableHLO's own, which it did not always have."""
    return [b.op(elementwise.TAN, *operands)]


@legalization("chlo.square")
def legalize_square(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Multiply x by itself."""
    return [b.op(elementwise.MULTIPLY, operands[0], operands[0])]


@legalization("chlo.conj")
def legalize_conj(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Negate the imaginary part; real numbers are their own conjugates."""
    (x,) = operands
    if x.tensor.dtype not in COMPLEX:
        return [x]
    imaginary = b.op(elementwise.NEGATE, b.op(elementwise.IMAG, x))
    return [b.op(elementwise.COMPLEX, b.op(elementwise.REAL, x), imaginary)]


@legalization("chlo.is_inf")
def legalize_is_inf(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Compare |x| with inf."""
    return [absolute(Formula(b, operands[0])).compare("EQ", np.inf).value]


@legalization("chlo.is_pos_inf", "chlo.is_neg_inf")
def legalize_signed_infinity(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Compare with inf, or with -inf."""
    infinity = np.inf if op.definition.name == "is_pos_inf" else -np.inf
    return [Formula(b, operands[0]).compare("EQ", infinity).value]


@legalization("chlo.next_after", "chlo.broadcast_next_after")
def legalize_next_after(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Step the bits of x by one towards y: up where |x| is to grow, down where it is to shrink.

    Zeros step to the smallest number of y's sign; NaN wins.
    """
    x, y = (Formula(b, v) for v in broadcast_together(b, op, operands))
    dtype = x.type.dtype
    if dtype not in SIGN_MAGNITUDE_FLOATS:
        raise DTypeError(f"next_after of {x.type.short()}", where=op.location, why="it steps a float's bits")
    bits = np.dtype(f"int{BIT_WIDTHS[dtype]}")
    pattern = x.wrap(conversion.BITCAST_CONVERT, x.value, result=x.type.with_dtype(bits))
    moved = where((y > x).apply(elementwise.XOR, x > 0.0), pattern - 1, pattern + 1)
    stepped = moved.wrap(conversion.BITCAST_CONVERT, moved.value, result=x.type)
    tiny = float(np.ones((), bits).view(dtype))
    from_zero = where(y < 0.0, -tiny, x.constant(tiny))
    result = where(x.compare("EQ", 0.0), from_zero, stepped)
    result = where(x.compare("EQ", y), y, result)
    unordered = where(x.compare("NE", x), x, y)
    is_nan = x.compare("NE", x).apply(elementwise.OR, y.compare("NE", y))
    return [where(is_nan, unordered, result).value]


@legalization(*[f"chlo.broadcast_{name}" for name in BROADCASTING])
def legalize_broadcasting(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Broadcast operands to one shape, then apply the op; ``broadcast_dimensions`` places the one of lower rank."""
    attributes = {k: _without_dialect(v) for k, v in op.attributes.items() if k != "broadcast_dimensions"}
    wide = broadcast_together(b, op, operands)
    return b.ops(PRIMITIVES[op.definition.name.removeprefix("broadcast_")], *wide, **attributes)


def broadcast_together(b: Builder, op: Op, operands: Sequence[Value]) -> list[Value]:
    """Return operands of one shape; ``op``'s ``broadcast_dimensions`` place the one of lower rank."""
    shape = broadcast_shape(op, operands)
    return [_broadcast(b, v, op.attributes.get("broadcast_dimensions"), shape, operands) for v in operands]


def broadcast_shape(op: Op, operands: Sequence[Value]) -> tuple[int, ...]:
    """Return the shape of what an op with broadcasting makes of operands of static shapes."""
    axes = op.attributes.get("broadcast_dimensions")
    try:
        return np.broadcast_shapes(*[_placed(v.tensor, axes, operands) for v in operands])
    except (ValueError, IndexError) as error:
        shown = " and ".join(v.tensor.short() for v in operands)
        why = f"broadcast_dimensions are {axes}" if axes is not None else "extents must be equal, or one of them 1"
        raise ShapeError(f"{op.definition.name}: {shown} don't fit together", where=op.location, why=why) from error


def _without_dialect(value: Any) -> Any:
    """Return LT for ``#chlo<comparison_direction LT>``."""
    return value.text.rstrip(">").split()[-1] if isinstance(value, ForeignAttribute) else value


def _axes_of(type: TensorType, axes: Sequence[int] | None, operands: Sequence[Value], rank: int) -> tuple[int, ...]:
    """Return the axes of the result that an operand's are."""
    is_lower = type.ndim < max(v.tensor.ndim for v in operands)
    if axes is not None and is_lower:
        return tuple(int(k) for k in axes)
    return tuple(range(rank - type.ndim, rank))


def _placed(type: TensorType, axes: Sequence[int] | None, operands: Sequence[Value]) -> tuple[int, ...]:
    rank = max(v.tensor.ndim for v in operands)
    extents = [1] * rank
    for axis, extent in zip(_axes_of(type, axes, operands, rank), type.shape, strict=True):
        extents[axis] = extent
    return tuple(extents)


def _broadcast(
    b: Builder, value: Value, axes: Sequence[int] | None, shape: tuple[int, ...], operands: Sequence[Value]
) -> Value:
    type = value.tensor
    if type.shape == shape:
        return value
    places = _axes_of(type, axes, operands, len(shape))
    return b.op(layout.BROADCAST_IN_DIM, value, result=type.with_shape(shape), broadcast_dimensions=places)


@legalization("chlo.constant_like")
def legalize_constant_like(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Fill the operand's shape with a number."""
    type = operands[0].tensor
    number = b.constant(np.asarray(op.attributes["value"]).astype(type.dtype).reshape(()))
    return [b.op(layout.BROADCAST_IN_DIM, number, result=type, broadcast_dimensions=())]
