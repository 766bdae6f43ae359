"""CHLO's rarer functions in terms of StableHLO: zeta, polygamma, bessel_i1e, mulhi, constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ir.errors import DTypeError
from numhlo.lowering.ir.types import ELEMENT_TYPES, FLOATS, INTEGERS, NARROW_FLOATS, SIGNED
from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.bit_patterns import BIT_WIDTHS
from numhlo.lowering.ops.formula import Formula
from numhlo.lowering.ops.special_functions.bessel import bessel_i1e
from numhlo.lowering.ops.special_functions.zeta import polygamma, zeta
from numhlo.lowering.passes.legalize_chlo import broadcast_together
from numhlo.lowering.passes.legalizer import Builder, legalization

FUNCTIONS: dict[str, Callable[..., Formula]] = {"bessel_i1e": bessel_i1e, "polygamma": polygamma, "zeta": zeta}
"""Functions of floats by name; narrow floats are computed in float32."""


@legalization(*[f"chlo.{name}" for name in FUNCTIONS], "chlo.broadcast_polygamma", "chlo.broadcast_zeta")
def legalize_function(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Write the function out."""
    operands = broadcast_together(b, op, operands)
    type = operands[0].tensor
    if type.dtype not in FLOATS:
        raise DTypeError(f"{op.definition.name} of {type.short()}", where=op.location, why="it is a function of floats")
    wide = ELEMENT_TYPES["f32"] if type.dtype in NARROW_FLOATS else type.dtype
    result = FUNCTIONS[op.definition.name.removeprefix("broadcast_")](*[Formula(b, v).astype(wide) for v in operands])
    return [result.astype(type.dtype).value]


@legalization("chlo.mulhi")
def legalize_mulhi(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Multiply in twice as many bits, and keep the upper half; of 64 bits, by halves."""
    type = operands[0].tensor
    if type.dtype not in INTEGERS:
        raise DTypeError(f"mulhi of {type.short()}", where=op.location, why="it has a meaning for integers only")
    bits = BIT_WIDTHS[type.dtype]
    if bits == 64:
        return [_mulhi_64(*[Formula(b, v) for v in operands]).value]
    wide = ELEMENT_TYPES["i64" if type.dtype in SIGNED else "ui64"]
    x, y = (Formula(b, v).astype(wide) for v in operands)
    return [(x * y).apply(elementwise.SHIFT_RIGHT_ARITHMETIC, bits).astype(type.dtype).value]


def _mulhi_64(x: Formula, y: Formula) -> Formula:
    """Return the upper half of a product of 128 bits, schoolbook."""
    signed = x.type.dtype in SIGNED
    shift = elementwise.SHIFT_RIGHT_ARITHMETIC if signed else elementwise.SHIFT_RIGHT_LOGICAL
    low_x, low_y = (v.apply(elementwise.AND, 0xFFFFFFFF) for v in (x, y))
    high_x, high_y = (v.apply(shift, 32) for v in (x, y))
    carry = (low_x * low_y).apply(elementwise.SHIFT_RIGHT_LOGICAL, 32)
    middle = high_x * low_y + carry
    other = low_x * high_y + middle.apply(elementwise.AND, 0xFFFFFFFF)
    return high_x * high_y + middle.apply(shift, 32) + other.apply(shift, 32)


@legalization("chlo.constant")
def legalize_constant(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Take StableHLO's own."""
    return [b.constant(np.asarray(op.attributes["value"]))]
