"""Ops of chlo: those that HLO has an opcode for, and those that XLA's converter writes in terms of others.

The terms are XLA's, so that XLA computes the same bits from HLO as from StableHLO. Functions that are not here are
written as calls of numhlo's own decompositions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from numhlo.lowering.hlo.tables import WRITE
from numhlo.lowering.hlo.writer import Writer
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.formula import (
    Formula,
    absolute,
    atan2,
    exp,
    expm1,
    floor,
    log,
    log1p,
    sign,
    sin,
    sqrt,
    where,
)
from numhlo.lowering.text.unregistered import unregistered

COMPUTED = {"f32", "f64"}
"""Types in which functions are computed; narrower floats are converted to f32 and back."""


class Expansion(FunctionBuilder):
    """A builder that writes each op at once."""

    def __init__(self, writer: Writer, op: Op) -> None:
        super().__init__("", ())
        self._writer, self._op = writer, op

    def append(self, op: Op) -> list[Value]:
        """Write an op, and return its results."""
        op.location = self._op.location
        WRITE[op.definition](self._writer, op)
        return op.results


def acos(x: Formula) -> Formula:
    """Return the angle whose cosine is x."""
    return atan2(sqrt((1 - x) * (1 + x)), x)


def acosh(x: Formula) -> Formula:
    """Return the area whose hyperbolic cosine is x; of large numbers without their squares."""
    large = np.finfo(x.type.dtype).max / 2
    below, above = sqrt(x - 1), sqrt(x + 1)
    return where(x >= float(large), log(x) + math.log(2), log1p(below * (above + below)))


def asin(x: Formula) -> Formula:
    """Return the angle whose sine is x."""
    half = atan2(x, sqrt((1 - x) * (1 + x)) + 1)
    return half + half


def atan(x: Formula) -> Formula:
    """Return the angle whose tangent is x."""
    return atan2(x, 1.0)


def asinh(x: Formula) -> Formula:
    """Return the area whose hyperbolic sine is x; of large numbers without their squares."""
    size = absolute(x)
    large = math.sqrt(np.finfo(x.type.dtype).max)
    square = size * size
    near = log1p(size + square / (sqrt(square + 1) + 1))
    return sign(x) * where(size >= large, log(size) + math.log(2), near)


def atanh(x: Formula) -> Formula:
    """Return the area whose hyperbolic tangent is x; NaN beyond 1."""
    return where(absolute(x) > 1, math.nan, (log1p(x) - log1p(-x)) * 0.5)


def cosh(x: Formula) -> Formula:
    """Return the hyperbolic cosine, of halves: the exponential itself may overflow."""
    half = -math.log(2)
    return exp(x + half) + exp(half - x)


def sinh(x: Formula) -> Formula:
    """Return the hyperbolic sine; near 0 by what the exponential is above 1."""
    half, above = -math.log(2), expm1(x)
    near = (above + above / (above + 1)) * 0.5
    return where(absolute(x) < 1, near, exp(x + half) - exp(half - x))


LANCZOS = (
    676.520368121885098567009190444019,
    -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,
    -176.61502916214059906584551354,
    12.507343278686904814458936853,
    -0.13857109526572011689554707,
    9.984369578019570859563e-6,
    1.50563273514931155834e-7,
)
"""Coefficients of Lanczos's approximation with g = 7, but for the first, which is 1."""


def lgamma(x: Formula) -> Formula:
    """Return log|gamma(x)| by Lanczos's approximation; below a half by reflection."""
    pi, shift = math.pi, 7.5
    is_low = x < 0.5
    z = where(is_low, -x, x - 1)
    total = x.constant(0.99999999999980993227684700473478)
    for k, coefficient in enumerate(LANCZOS):
        total = total + coefficient / (z + (k + 1.0))
    logarithm = log1p(z / shift) + math.log(shift)
    above = (z + 0.5 - (z + shift) / logarithm) * logarithm + (math.log(pi) + math.log(2)) / 2 + log(total)
    size = absolute(x)
    part = size - floor(size)
    sine = log(sin(where(x.constant(0.5) < part, 1 - part, part) * pi))
    is_finite = sine.apply(elementwise.IS_FINITE)
    below = where(is_finite, math.log(pi) - sine - above, -sine)
    return where(size.compare("EQ", math.inf), math.inf, where(is_low, below, above))


NEAR = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
    0.246640727, 1.50140941,
)  # fmt: skip
FAR = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
    1.00167406, 2.83297682,
)  # fmt: skip
"""Coefficients of Giles's polynomials for the inverse error function in single precision, the highest first."""


def erf_inv(x: Formula) -> Formula:
    """Return what the error function makes x of, in single precision."""
    w = -log1p(x * -x)
    is_near = w < 5.0
    chosen = [where(is_near, x.constant(near), x.constant(far)) for near, far in zip(NEAR, FAR, strict=True)]
    w = where(is_near, w - 2.5, sqrt(w) - 3.0)
    total = chosen[0]
    for coefficient in chosen[1:]:
        total = coefficient + total * w
    return where(absolute(x).compare("EQ", 1.0), x * math.inf, total * x)


FORMULAS: dict[str, Callable[[Formula], Formula]] = {
    f.__name__: f for f in (acos, acosh, asin, asinh, atan, atanh, cosh, sinh, lgamma, erf_inv)
}
"""XLA's terms for real numbers, by the op's name."""

OPCODES = {"erf": "erf", "mulhi": "mulhi", "tan": "tan", "top_k": "topk"}
"""Ops of chlo that HLO has an opcode for."""

RECORDS = {name: unregistered(f"chlo.{name}") for name in (*FORMULAS, *OPCODES, "square")}
"""The ops' records, kept: one that nothing refers to is forgotten."""


def is_written(op: Op) -> bool:
    """Return whether an op is written as it is: one of chlo for its types, any other if there is a rule for it."""
    name = op.definition.name
    if op.definition is not RECORDS.get(name) or name not in FORMULAS:
        return WRITE.find(op.definition) is not None
    kinds = {ELEMENT_TYPES["f32"]} if name == "erf_inv" else {ELEMENT_TYPES[kind] for kind in COMPUTED}
    return op.operands[0].tensor.dtype in kinds


@WRITE.register(*[RECORDS[name] for name in FORMULAS])
def write_formula(w: Writer, op: Op) -> None:
    """Write a function's terms."""
    (result,) = _expanded(w, op, FORMULAS[op.definition.name])
    w.alias(op.result, result)


def _expanded(w: Writer, op: Op, formula: Callable[[Formula], Formula]) -> Sequence[Value]:
    return [formula(Formula(Expansion(w, op), op.operands[0])).value]


@WRITE.register(*[RECORDS[name] for name in ("erf", "mulhi", "tan")])
def write_opcode(w: Writer, op: Op) -> None:
    """Write the opcode."""
    w.write(op, OPCODES[op.definition.name], op.operands)


@WRITE.register(RECORDS["square"])
def write_square(w: Writer, op: Op) -> None:
    """Write the product of a number with itself."""
    w.write(op, "multiply", [op.operands[0], op.operands[0]])


@WRITE.register(RECORDS["top_k"])
def write_top_k(w: Writer, op: Op) -> None:
    """Write how many of the largest elements."""
    w.write(op, "topk", op.operands, [f"k={op.attributes['k']}", "largest=true"])
