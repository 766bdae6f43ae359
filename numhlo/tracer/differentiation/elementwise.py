"""Differentiation of elementwise ops: one row each for a derivative, and the transposes of the linear ones.

Sources: the textbook derivatives; at kinks sign(0) for abs, and half each for equal operands of maximum and minimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import comparison, control_flow, conversion, creation, layout
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.core.arrangement import sum_over
from numhlo.tracer.core.bind import bind1
from numhlo.tracer.core.named_functions import composite
from numhlo.tracer.core.operands import broadcast_to_shape, convert, full_of, shape_of
from numhlo.tracer.core.operations import compare, constant, select
from numhlo.tracer.core.semantics import are_arrays_immutable
from numhlo.tracer.differentiation.table import JVP, TRANSPOSE, add_tangents, is_differentiable, linear_operand


def mul(x: Any, y: Any) -> Any:
    """Return the product."""
    return bind1(ops.MULTIPLY, x, y)


def _one_minus(x: Any) -> Any:
    return bind1(ops.SUBTRACT, constant(1, x), x)


def _square(x: Any) -> Any:
    return mul(x, x)


def _reciprocal(x: Any) -> Any:
    return bind1(ops.DIVIDE, constant(1, x), x)


def _times(number: float, x: Any) -> Any:
    return mul(constant(number, x), x)


INFINITE = (math.inf, -math.inf)

Derivative = Callable[[Any, Any], Any]
DERIVATIVES: dict[Any, Derivative] = {
    ops.COSINE: lambda x, y: bind1(ops.NEGATE, bind1(ops.SINE, x)),
    ops.SINE: lambda x, y: bind1(ops.COSINE, x),
    ops.TAN: lambda x, y: bind1(ops.ADD, constant(1, y), _square(y)),
    ops.TANH: lambda x, y: _one_minus(_square(y)),
    ops.EXPONENTIAL: lambda x, y: y,
    ops.EXPONENTIAL_MINUS_ONE: lambda x, y: bind1(ops.ADD, y, constant(1, y)),
    ops.LOG: lambda x, y: _reciprocal(x),
    ops.LOG_PLUS_ONE: lambda x, y: _reciprocal(bind1(ops.ADD, x, constant(1, x))),
    ops.LOGISTIC: lambda x, y: mul(y, _one_minus(y)),
    ops.SQRT: lambda x, y: bind1(ops.DIVIDE, constant(0.5, y), y),
    ops.RSQRT: lambda x, y: mul(constant(-0.5, y), bind1(ops.DIVIDE, y, x)),
    ops.CBRT: lambda x, y: _times(1 / 3, _square(_reciprocal(y))),  # infinite at 0, and so are its derivatives
}
"""dy/dx of functions of one operand, from operand and result."""

SPECIAL_DERIVATIVES: dict[str, Derivative] = {
    "erf": lambda x, y: _times(2 / math.sqrt(math.pi), bind1(ops.EXPONENTIAL, bind1(ops.NEGATE, _square(x)))),
    "erfc": lambda x, y: _times(-2 / math.sqrt(math.pi), bind1(ops.EXPONENTIAL, bind1(ops.NEGATE, _square(x)))),
    "erf_inv": lambda x, y: _times(math.sqrt(math.pi) / 2, bind1(ops.EXPONENTIAL, _square(y))),
    "lgamma": lambda x, y: composite("digamma", x),
    "digamma": lambda x, y: composite("polygamma", full_of(1, shape_of(x), x.dtype), x),
    "sinh": lambda x, y: composite("cosh", x),
    "cosh": lambda x, y: composite("sinh", x),
    "asin": lambda x, y: bind1(ops.RSQRT, _one_minus(_square(x))),
    "acos": lambda x, y: bind1(ops.NEGATE, bind1(ops.RSQRT, _one_minus(_square(x)))),
    "atan": lambda x, y: _reciprocal(bind1(ops.ADD, constant(1, x), _square(x))),
    "asinh": lambda x, y: bind1(ops.RSQRT, bind1(ops.ADD, _square(x), constant(1, x))),
    "acosh": lambda x, y: bind1(ops.RSQRT, bind1(ops.SUBTRACT, _square(x), constant(1, x))),
    "atanh": lambda x, y: _reciprocal(_one_minus(_square(x))),
    "exp2": lambda x, y: _times(math.log(2), y),
    "log2": lambda x, y: _times(1 / math.log(2), _reciprocal(x)),
    "log10": lambda x, y: _times(1 / math.log(10), _reciprocal(x)),
}
"""dy/dx of named special functions."""


@JVP.register(*DERIVATIVES)
def _jvp_unary(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    return [mul(tangents[0], DERIVATIVES[op.definition](primals[0], outputs[0]))]


@JVP.register(ops.SIGN, ops.FLOOR, ops.CEIL, ops.ROUND_NEAREST_EVEN, ops.ROUND_NEAREST_AFZ)
def _jvp_flat(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """Piecewise constant: zero almost everywhere; but the sign of a complex number is its direction."""
    if primals[0].dtype.kind != "c":
        return [None]
    (x,), (dx,), (sign,) = primals, tangents, outputs
    size = bind1(ops.ABS, x)
    zero = constant(0, size)
    across, along = (bind1(part, sign) for part in (ops.IMAG, ops.REAL))
    # the part of dx at a right angle to x: Im(conj(sign) dx)
    turning = bind1(ops.SUBTRACT, mul(along, bind1(ops.IMAG, dx)), mul(across, bind1(ops.REAL, dx)))
    at_zero = compare("EQ", size, zero)
    angle = select(at_zero, zero, bind1(ops.DIVIDE, turning, select(at_zero, constant(1, size), size)))
    return [mul(sign, bind1(ops.COMPLEX, zero, angle))]


@JVP.register(conversion.REDUCE_PRECISION)
def _jvp_reduce_precision(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """Round the tangent alike, as if rounding were linear."""
    return [bind1(op.definition, tangents[0], attributes=op.attributes)]


@JVP.register(ops.NEGATE, ops.REAL, ops.IMAG, control_flow.OPTIMIZATION_BARRIER)
def _jvp_linear(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    return [None if t is None else bind1(op.definition, t) for t in tangents]


@JVP.register(ops.ADD, ops.SUBTRACT)
def _jvp_sum(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    x, y = tangents
    if y is None:
        return [x]
    if op.definition is ops.ADD or x is not None:
        return [y if x is None else bind1(op.definition, x, y)]
    return [bind1(ops.NEGATE, y)]


@JVP.register(ops.MULTIPLY)
def _jvp_multiply(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    x, y = [constant(k, x) if (k := _uniform(v)) in INFINITE else x for x, v in zip(primals, op.operands, strict=True)]
    dx, dy = tangents
    return [add_tangents(None if dx is None else mul(dx, y), None if dy is None else mul(dy, x))]


@JVP.register(ops.DIVIDE)
def _jvp_divide(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    (_, y), (dx, dy) = primals, tangents
    if dx is not None and dy is not None:
        return [bind1(ops.DIVIDE, bind1(ops.SUBTRACT, dx, mul(dy, outputs[0])), y)]  # dx/y - dy (x/y)/y
    first = None if dx is None else bind1(ops.DIVIDE, dx, y)
    slope = bind1(ops.NEGATE, bind1(ops.DIVIDE, outputs[0], y))
    return [add_tangents(first, None if dy is None else mul(dy, slope))]


@JVP.register(ops.POWER)
def _jvp_power(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """X ** y: y x**(y-1) dx, and log(x) x**y dy, where 0 ** 0 has slope 0 in x and 0 ** y has slope 0 in y."""
    (x, y), (dx, dy) = primals, tangents
    first = second = None
    if dx is not None:
        first = _power_slope(x, y, _uniform(op.operands[1]))
        first = None if first is None else mul(dx, first)
    if dy is not None:
        at_zero = compare("EQ", x, constant(0, x))
        log = bind1(ops.LOG, select(at_zero, constant(1, x), x))
        second = mul(dy, mul(log, outputs[0]))
    return [add_tangents(first, second)]


def _power_slope(x: Any, y: Any, exponent: float | None) -> Any:
    """Return the derivative by ``x``, None for 0; it has those of higher orders, by ``y`` as well."""
    if exponent == 0:
        return None
    if exponent is not None:
        return mul(y, bind1(ops.POWER, x, constant(exponent - 1, y)))
    origin = bind1(ops.AND, compare("EQ", x, constant(0, x)), compare("EQ", y, constant(0, y)))
    return mul(y, bind1(ops.POWER, x, select(origin, constant(1, y), bind1(ops.SUBTRACT, y, constant(1, y)))))


@JVP.register(ops.MAXIMUM, ops.MINIMUM)
def _jvp_extremum(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    (x, y), (dx, dy) = primals, tangents
    direction = "GT" if op.definition is ops.MAXIMUM else "LT"
    half = select(compare("EQ", x, y), constant(0.5, x), constant(0, x))
    weight = select(compare(direction, x, y), constant(1, x), half)
    first = None if dx is None else mul(dx, weight)
    return [add_tangents(first, None if dy is None else mul(dy, _one_minus(weight)))]


@JVP.register(ops.ABS)
def _jvp_abs(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    (x,), (dx,) = primals, tangents
    if x.dtype.kind != "c" and are_arrays_immutable():  # JAX's slope at 0 is 1
        return [select(compare("GE", x, constant(0, x)), dx, bind1(ops.NEGATE, dx))]
    if x.dtype.kind != "c":
        return [mul(dx, bind1(ops.SIGN, x))]
    sign = bind1(ops.SIGN, x)
    parts = [mul(bind1(p, sign), bind1(p, dx)) for p in (ops.REAL, ops.IMAG)]
    return [bind1(ops.ADD, *parts)]


@JVP.register(ops.ATAN2)
def _jvp_atan2(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    (y, x), (dy, dx) = primals, tangents
    norm = bind1(ops.ADD, _square(x), _square(y))
    first = None if dy is None else mul(dy, bind1(ops.DIVIDE, x, norm))
    slope = bind1(ops.NEGATE, bind1(ops.DIVIDE, y, norm))
    return [add_tangents(first, None if dx is None else mul(dx, slope))]


@JVP.register(ops.REMAINDER)
def _jvp_remainder(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """X - y trunc(x / y): slope 1 in x, -trunc(x / y) in y."""
    (x, y), (dx, dy) = primals, tangents
    if dy is None:
        return [dx]
    whole = bind1(ops.DIVIDE, bind1(ops.SUBTRACT, x, outputs[0]), y)
    return [add_tangents(dx, mul(dy, bind1(ops.NEGATE, whole)))]


@JVP.register(ops.COMPLEX)
def _jvp_complex(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    parts = [constant(0, p) if t is None else t for p, t in zip(primals, tangents, strict=True)]
    return [bind1(ops.COMPLEX, *parts)]


@JVP.register(conversion.CONVERT)
def _jvp_convert(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    target = op.results[0].tensor.dtype
    return [convert(tangents[0], target) if is_differentiable(target) else None]


@JVP.register(conversion.BITCAST_CONVERT)
def _jvp_bitcast(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    return [None]


@JVP.register(comparison.SELECT)
def _jvp_select(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    _, dx, dy = tangents
    branches = [constant(0, outputs[0]) if t is None else t for t in (dx, dy)]
    return [bind1(comparison.SELECT, primals[0], *branches)]


@JVP.register(comparison.CLAMP)
def _jvp_clamp(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """The tangent of whichever of low, x and high is the result."""
    low, x, high = (broadcast_to_shape(p, shape_of(outputs[0])) for p in primals)
    spread = [None if t is None else broadcast_to_shape(t, shape_of(outputs[0])) for t in tangents]
    d_low, d_x, d_high = (constant(0, x) if t is None else t for t in spread)
    inner = select(compare("LT", x, low), d_low, d_x)
    return [select(compare("GT", x, high), d_high, inner)]


@TRANSPOSE.register(ops.ADD)
def _transpose_add(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    return [cotangents[0], cotangents[0]]


@TRANSPOSE.register(ops.SUBTRACT)
def _transpose_subtract(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    (c,) = cotangents
    return [c, None if operands[1] is not None else bind1(ops.NEGATE, c)]


@TRANSPOSE.register(ops.NEGATE, control_flow.OPTIMIZATION_BARRIER)
def _transpose_self(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    return [None if c is None else bind1(op.definition, c) for c in cotangents]


@TRANSPOSE.register(conversion.REDUCE_PRECISION)
def _transpose_reduce_precision(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    return [bind1(op.definition, cotangents[0], attributes=op.attributes)]


@TRANSPOSE.register(ops.MULTIPLY)
def _transpose_multiply(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    place = linear_operand(op, operands)
    (c,) = cotangents
    product = mul(c, operands[1 - place])
    if _uniform(op.operands[1 - place]) in INFINITE:
        # x * inf, as expansions of functions at their poles have it: where a select dropped it, nothing comes back
        product = select(compare("EQ", c, constant(0, c)), c, product)
    return [product if k == place else None for k in (0, 1)]


def _uniform(value: Value) -> Any:
    """Return the number that all elements of a constant are, None if it is no constant or they differ."""
    owner = value.owner
    if isinstance(owner, Op) and owner.definition is layout.BROADCAST_IN_DIM:
        owner = owner.operands[0].owner
    if not isinstance(owner, Op) or owner.definition is not creation.CONSTANT:
        return None
    array = owner.attributes["value"]
    if array.dtype.kind != "f" or not array.size or (array != array.flat[0]).any():
        return None
    return float(array.flat[0])


@TRANSPOSE.register(ops.DIVIDE)
def _transpose_divide(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    return [bind1(ops.DIVIDE, cotangents[0], operands[1]), None]


@TRANSPOSE.register(ops.REAL)
def _transpose_real(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    (c,) = cotangents
    if op.operands[0].tensor.dtype.kind != "c":
        return [c]
    return [bind1(ops.COMPLEX, c, constant(0, c))]


@TRANSPOSE.register(ops.IMAG)
def _transpose_imag(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    (c,) = cotangents
    return [bind1(ops.COMPLEX, constant(0, c), bind1(ops.NEGATE, c))]


@TRANSPOSE.register(ops.COMPLEX)
def _transpose_complex(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    (c,) = cotangents
    return [bind1(ops.REAL, c), bind1(ops.NEGATE, bind1(ops.IMAG, c))]


@TRANSPOSE.register(conversion.CONVERT)
def _transpose_convert(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    source = op.operands[0].tensor.dtype
    (c,) = cotangents
    if c.dtype.kind == "c" and source.kind != "c":
        c = bind1(ops.REAL, c)
    return [convert(c, source)]


@TRANSPOSE.register(comparison.SELECT)
def _transpose_select(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    (c,) = cotangents
    zero = constant(0, c)
    predicate = operands[0]
    return [None, bind1(comparison.SELECT, predicate, c, zero), bind1(comparison.SELECT, predicate, zero, c)]


def sum_to(x: Any, axes: tuple[int, ...]) -> Any:
    """Return the sum over axes in the array's own dtype."""
    return sum_over(x, axes) if axes else x
