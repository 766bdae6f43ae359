"""Formulas over values: operators and functions that append ops, so that decompositions read as mathematics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir import TensorType, Value
from numhlo.lowering.ops import comparison, conversion, elementwise, layout
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.primitive import Primitive


class Formula:
    """A value inside a builder, with arithmetic; plain numbers become constants of the value's type.

    Parameters
    ----------
    builder : FunctionBuilder
    value : Value
        A tensor.
    """

    __slots__ = ("builder", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, builder: FunctionBuilder, value: Value) -> None:
        self.builder = builder
        self.value = value

    @property
    def type(self) -> TensorType:
        """Return the value's type."""
        return self.value.tensor

    def constant(self, number: float | complex) -> Formula:
        """Return a number as a tensor of this one's type."""
        scalar = self.builder.constant(np.asarray(number, self.type.dtype))
        if not self.type.shape:
            return Formula(self.builder, scalar)
        return self.wrap(layout.BROADCAST_IN_DIM, scalar, result=self.type, broadcast_dimensions=())

    def wrap(self, definition: Primitive, *operands: Value, **options: object) -> Formula:
        """Append an op and return its result."""
        return Formula(self.builder, self.builder.op(definition, *operands, **options))  # type: ignore[arg-type]

    def lift(self, other: Formula | float) -> Formula:
        """Return ``other`` as a formula."""
        return other if isinstance(other, Formula) else self.constant(other)

    def apply(self, definition: Primitive, *others: Formula | float) -> Formula:
        """Append an op on this value and others."""
        return self.wrap(definition, self.value, *[self.lift(other).value for other in others])

    def __add__(self, other: Formula | float) -> Formula:
        return self.apply(elementwise.ADD, other)

    def __radd__(self, other: float) -> Formula:
        return self.lift(other) + self

    def __sub__(self, other: Formula | float) -> Formula:
        return self.apply(elementwise.SUBTRACT, other)

    def __rsub__(self, other: float) -> Formula:
        return self.lift(other) - self

    def __mul__(self, other: Formula | float) -> Formula:
        return self.apply(elementwise.MULTIPLY, other)

    def __rmul__(self, other: float) -> Formula:
        return self.lift(other) * self

    def __truediv__(self, other: Formula | float) -> Formula:
        return self.apply(elementwise.DIVIDE, other)

    def __rtruediv__(self, other: float) -> Formula:
        return self.lift(other) / self

    def __neg__(self) -> Formula:
        return self.apply(elementwise.NEGATE)

    def __lt__(self, other: Formula | float) -> Formula:
        return self.compare("LT", other)

    def __le__(self, other: Formula | float) -> Formula:
        return self.compare("LE", other)

    def __gt__(self, other: Formula | float) -> Formula:
        return self.compare("GT", other)

    def __ge__(self, other: Formula | float) -> Formula:
        return self.compare("GE", other)

    def compare(self, direction: str, other: Formula | float) -> Formula:
        """Return booleans: this value against ``other``."""
        operands = self.value, self.lift(other).value
        return self.wrap(comparison.COMPARE, *operands, comparison_direction=direction, compare_type="FLOAT")

    def astype(self, dtype: np.dtype) -> Formula:
        """Return the value converted."""
        if dtype == self.type.dtype:
            return self
        return self.wrap(conversion.CONVERT, self.value, result=self.type.with_dtype(dtype))

    def frozen(self) -> Formula:
        """Return the value as a constant for derivatives: through its bits, which have none."""
        bits = self.type.with_dtype(np.dtype(f"i{self.type.dtype.itemsize}"))
        there = self.wrap(conversion.BITCAST_CONVERT, self.value, result=bits)
        return there.wrap(conversion.BITCAST_CONVERT, there.value, result=self.type)

    def rounded(self, exponent_bits: int, mantissa_bits: int) -> Formula:
        """Return the value rounded to fewer bits, in the same type."""
        return self.wrap(
            conversion.REDUCE_PRECISION, self.value, exponent_bits=exponent_bits, mantissa_bits=mantissa_bits
        )


def where(condition: Formula, yes: Formula | float, no: Formula | float) -> Formula:
    """Choose element by element; one of the choices at least is a formula."""
    like = yes if isinstance(yes, Formula) else no
    assert isinstance(like, Formula)
    return like.wrap(comparison.SELECT, condition.value, like.lift(yes).value, like.lift(no).value)


def polynomial(x: Formula, coefficients: Sequence[float]) -> Formula:
    """Return ``coefficients[0] + coefficients[1] * x + ...`` by Horner's rule."""
    total = x.constant(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = total * x + coefficient
    return total


def absolute(x: Formula) -> Formula:
    """Return ``abs(x)``."""
    return x.apply(elementwise.ABS)


def sign(x: Formula) -> Formula:
    """Return -1, 1, or ``x`` itself where it is a zero or NaN."""
    return x.apply(elementwise.SIGN)


def sqrt(x: Formula) -> Formula:
    """Return the square root."""
    return x.apply(elementwise.SQRT)


def exp(x: Formula) -> Formula:
    """Return e to the power ``x``."""
    return x.apply(elementwise.EXPONENTIAL)


def expm1(x: Formula) -> Formula:
    """Return ``exp(x) - 1``."""
    return x.apply(elementwise.EXPONENTIAL_MINUS_ONE)


def log(x: Formula) -> Formula:
    """Return the natural logarithm."""
    return x.apply(elementwise.LOG)


def log1p(x: Formula) -> Formula:
    """Return ``log(1 + x)``."""
    return x.apply(elementwise.LOG_PLUS_ONE)


def atan2(y: Formula, x: Formula | float) -> Formula:
    """Return the angle of the point ``(x, y)``."""
    return y.apply(elementwise.ATAN2, x)


def minimum(x: Formula, y: Formula | float) -> Formula:
    """Return the lesser; NaN propagates."""
    return x.apply(elementwise.MINIMUM, y)


def maximum(x: Formula, y: Formula | float) -> Formula:
    """Return the greater; NaN propagates."""
    return x.apply(elementwise.MAXIMUM, y)


def sin(x: Formula) -> Formula:
    """Return the sine."""
    return x.apply(elementwise.SINE)


def cos(x: Formula) -> Formula:
    """Return the cosine."""
    return x.apply(elementwise.COSINE)


def round_even(x: Formula) -> Formula:
    """Return the nearest integer, halves to even."""
    return x.apply(elementwise.ROUND_NEAREST_EVEN)


def floor(x: Formula) -> Formula:
    """Return the greatest integer not above."""
    return x.apply(elementwise.FLOOR)


def real(z: Formula) -> Formula:
    """Return the real part."""
    return z.apply(elementwise.REAL)


def imag(z: Formula) -> Formula:
    """Return the imaginary part."""
    return z.apply(elementwise.IMAG)


def compose(re: Formula, im: Formula) -> Formula:
    """Return the complex number ``re + im i``; signs of zeros stay, which ``re + 1j * im`` would lose."""
    return re.apply(elementwise.COMPLEX, im)
