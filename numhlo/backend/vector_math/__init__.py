"""Elementary functions for kernels: branch-free float32 and float64 code that LLVM's loop vectorizer turns into SIMD.

``name_f32(x)`` and ``name_f64(x)`` take and return scalars of that type. Only + - * /, square root and bit operations
of IEEE 754 are used, so results are the same bits on every processor. Special values follow C's Annex F.
docs/vector_math.md has the errors, how the coefficients were found, and what was measured.
Importing this needs no Numba; `numhlo.backend.compiler.intrinsics.vector_math` teaches Numba these names.
"""

from numhlo.backend.vector_math.complex_numbers import (
    abs_c64,
    abs_c128,
    cos_c128,
    exp_c128,
    expm1_c128,
    log1p_c128,
    log_c128,
    sign_c128,
    sin_c128,
    sqrt_c128,
    tan_c128,
    tanh_c128,
)
from numhlo.backend.vector_math.error_function import (
    erf_f32,
    erf_f64,
    erfc_f32,
    erfc_f64,
)
from numhlo.backend.vector_math.exponential import (
    exp2_f32,
    exp2_f64,
    exp_f32,
    exp_f64,
    expm1_f32,
    expm1_f64,
)
from numhlo.backend.vector_math.gamma import (
    digamma_f32,
    digamma_f64,
    lgamma_f32,
    lgamma_f64,
)
from numhlo.backend.vector_math.hyperbolic import (
    cosh_f32,
    cosh_f64,
    logistic_f32,
    logistic_f64,
    sinh_f32,
    sinh_f64,
    tanh_f32,
    tanh_f64,
)
from numhlo.backend.vector_math.integer_power import pow_i64, pow_u64
from numhlo.backend.vector_math.inverse_error_function import (
    erf_inv_f32,
    erf_inv_f64,
)
from numhlo.backend.vector_math.inverse_hyperbolic import (
    acosh_f32,
    acosh_f64,
    asinh_f32,
    asinh_f64,
    atanh_f32,
    atanh_f64,
)
from numhlo.backend.vector_math.inverse_trigonometric import (
    acos_f32,
    acos_f64,
    asin_f32,
    asin_f64,
    atan2_f32,
    atan2_f64,
    atan_f32,
    atan_f64,
)
from numhlo.backend.vector_math.logarithm import (
    log1p_f32,
    log1p_f64,
    log2_f32,
    log2_f64,
    log10_f32,
    log10_f64,
    log_f32,
    log_f64,
)
from numhlo.backend.vector_math.power import (
    cbrt_f32,
    cbrt_f64,
    pow_f32,
    pow_f64,
    rsqrt_f32,
    rsqrt_f64,
)
from numhlo.backend.vector_math.reduced_precision import rounded_bits
from numhlo.backend.vector_math.remainder import fmod_f32, fmod_f64
from numhlo.backend.vector_math.threefry import threefry2x32_u64
from numhlo.backend.vector_math.trigonometric import (
    cos_f32,
    cos_f64,
    sin_f32,
    sin_f64,
    tan_f32,
    tan_f64,
)

__all__ = [
    "abs_c64",
    "abs_c128",
    "acos_f32",
    "acos_f64",
    "acosh_f32",
    "acosh_f64",
    "asin_f32",
    "asin_f64",
    "asinh_f32",
    "asinh_f64",
    "atan2_f32",
    "atan2_f64",
    "atan_f32",
    "atan_f64",
    "atanh_f32",
    "atanh_f64",
    "cbrt_f32",
    "cbrt_f64",
    "cos_c128",
    "cos_f32",
    "cos_f64",
    "cosh_f32",
    "cosh_f64",
    "digamma_f32",
    "digamma_f64",
    "erf_f32",
    "erf_f64",
    "erf_inv_f32",
    "erf_inv_f64",
    "erfc_f32",
    "erfc_f64",
    "exp2_f32",
    "exp2_f64",
    "exp_c128",
    "exp_f32",
    "exp_f64",
    "expm1_c128",
    "expm1_f32",
    "expm1_f64",
    "fmod_f32",
    "fmod_f64",
    "lgamma_f32",
    "lgamma_f64",
    "log1p_c128",
    "log1p_f32",
    "log1p_f64",
    "log2_f32",
    "log2_f64",
    "log10_f32",
    "log10_f64",
    "log_c128",
    "log_f32",
    "log_f64",
    "logistic_f32",
    "logistic_f64",
    "pow_f32",
    "pow_f64",
    "pow_i64",
    "pow_u64",
    "rounded_bits",
    "rsqrt_f32",
    "rsqrt_f64",
    "sign_c128",
    "sin_c128",
    "sin_f32",
    "sin_f64",
    "sinh_f32",
    "sinh_f64",
    "sqrt_c128",
    "tan_c128",
    "tan_f32",
    "tan_f64",
    "tanh_c128",
    "tanh_f32",
    "tanh_f64",
    "threefry2x32_u64",
]
