"""Powers of integers, modulo two to the width: squares and products, one round for each bit of the exponent."""

from __future__ import annotations

from typing import Any

from numhlo.backend.primitives import multiply, select, shift_right_logical, to_i64
from numhlo.backend.vector_math.jitable import jitable


@jitable
def pow_u64(x: Any, y: Any) -> Any:
    """Return x**y of 64 bits; both are int64, the exponent's bits an unsigned number."""
    result = to_i64(1)
    while y != 0:
        result = select((y & 1) != 0, multiply(result, x), result)
        x = multiply(x, x)
        y = shift_right_logical(y, to_i64(1))
    return result


@jitable
def pow_i64(x: Any, y: Any) -> Any:
    """Return x**y of 64 bits; for a negative exponent the whole part of the power, and 0 of 0."""
    sign = select((y & 1) != 0, x, to_i64(1))
    inverse = select((x == 1) | (x == -1), sign, to_i64(0))
    return select(y < 0, inverse, pow_u64(x, select(y < 0, to_i64(0), y)))
