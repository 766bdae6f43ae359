"""Elementary functions for kernels: branch-free float32 and float64 code that LLVM's loop vectorizer turns into SIMD.

``name_f32(x)`` and ``name_f64(x)`` take and return scalars of that type. Only + - * /, square root and bit operations
of IEEE 754 are used, so results are the same bits on every processor. Special values follow C's Annex F.
docs/vector_math.md has the errors, how the coefficients were found, and what was measured.
Importing this needs no Numba; `numhlo.backend.compiler.intrinsics.vector_math` teaches Numba these names.
"""

from typing import Any

from numhlo.backend.vector_math import (
    complex_numbers,
    error_function,
    exponential,
    gamma,
    hyperbolic,
    integer_power,
    inverse_error_function,
    inverse_hyperbolic,
    inverse_trigonometric,
    logarithm,
    power,
    reduced_precision,
    remainder,
    threefry,
    trigonometric,
)

REAL = {
    error_function: "erf erfc",
    exponential: "exp2 exp expm1",
    gamma: "digamma lgamma",
    hyperbolic: "cosh logistic sinh tanh",
    inverse_error_function: "erf_inv",
    inverse_hyperbolic: "acosh asinh atanh",
    inverse_trigonometric: "acos asin atan2 atan",
    logarithm: "log1p log2 log10 log",
    power: "cbrt pow rsqrt",
    remainder: "fmod",
    trigonometric: "cos sin tan",
}
"""Functions that there are of float32 and of float64, by where they are."""

OF_OTHER_TYPES = {
    complex_numbers: "abs_c64 abs_c128 cbrt_c128 cos_c128 exp_c128 expm1_c128 log1p_c128 log_c128 "
    "logistic_c128 rsqrt_c128 sign_c128 sin_c128 sqrt_c128 tan_c128 tanh_c128",
    integer_power: "pow_i64 pow_u64",
    reduced_precision: "rounded_bits",
    threefry: "threefry2x32_u64",
}
FUNCTIONS = {
    **{f"{name}_{type}": module for module, names in REAL.items() for name in names.split() for type in ("f32", "f64")},
    **{name: module for module, names in OF_OTHER_TYPES.items() for name in names.split()},
}
globals().update({name: getattr(module, name) for name, module in FUNCTIONS.items()})


def __getattr__(name: str) -> Any:
    """Say that there is no such function."""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__: list[str] = []
__all__.extend(FUNCTIONS)
