"""The stated errors of vector math, the same as in docs/vector_math.md, and how a test measures them.

``BOUNDS[name]`` has the largest error allowed for float32 and for float64, in ULP; ``EXACT`` is the function in mpmath.
Both gamma functions are measured against max(1, |result|) where the argument is negative: near their zeros there they
are accurate in absolute terms only.
"""

import mpmath
import numpy as np
from mpmath import mp, mpf

from numhlo.backend.primitives import storage_name
from tests.backend.both_ways import run_native

mp.prec = 160
BOUNDS = {
    "acos": (1.2, 1.2),
    "acosh": (0.6, 1.0),
    "asin": (1.2, 1.2),
    "asinh": (0.6, 1.0),
    "atan": (1.4, 1.8),
    "atan2": (1.5, 1.9),
    "atanh": (0.6, 1.0),
    "cbrt": (0.6, 0.7),
    "cos": (0.6, 0.8),
    "cosh": (0.6, 1.6),
    "digamma": (0.6, 6.0),
    "erf": (1.5, 1.5),
    "erf_inv": (0.6, 2.5),
    "erfc": (0.6, 2.1),
    "exp": (1.0, 1.1),
    "exp2": (1.2, 1.1),
    "expm1": (1.5, 1.8),
    "lgamma": (0.6, 4.0),
    "log": (0.9, 0.9),
    "log10": (0.9, 0.9),
    "log1p": (1.1, 1.1),
    "log2": (0.9, 0.9),
    "logistic": (2.5, 2.5),
    "pow": (0.6, 1.5),
    "rsqrt": (1.5, 1.5),
    "sin": (0.6, 0.8),
    "sinh": (0.6, 1.6),
    "tan": (0.6, 2.3),
    "tanh": (2.5, 2.6),
}
TWO_ARGUMENTS = ("atan2", "fmod", "pow")


def lgamma(x):
    return mpmath.log(abs(mpmath.gamma(x))) if abs(x) < 1e4 else mpmath.loggamma(x)


def logistic(x):
    return 1 / (1 + mpmath.exp(-x))


def cbrt(x):
    return mpmath.cbrt(x) if x >= 0 else -mpmath.cbrt(-x)


def atan2(y, x):
    return mpmath.atan2(y, x)


EXACT = {name: getattr(mpmath, name) for name in BOUNDS if hasattr(mpmath, name)} | {
    "cbrt": cbrt,
    "erf_inv": mpmath.erfinv,
    "exp2": lambda x: mpmath.power(2, x),
    "lgamma": lgamma,
    "log2": lambda x: mpmath.log(x, 2),
    "logistic": logistic,
    "pow": mpmath.power,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
}
SOURCE = """
from numhlo.backend.primitives import address, load_{t}, store_{t}
from numhlo.backend.vector_math import {name}_{t}

def {name}_{t}_loop(ctx, bufs, dims, lo, hi):
    x = address(bufs, 0)
    y = address(bufs, 1)
    out = address(bufs, 2)
    for i in range(lo, hi):
        store_{t}(out, i, {name}_{t}({arguments}))
"""


def source(name, dtype):
    """Return a kernel's name and source: the function on x, or on x and y, element by element."""
    t = storage_name(np.dtype(dtype))
    arguments = f"load_{t}(x, i)" + (f", load_{t}(y, i)" if name in TWO_ARGUMENTS else "")
    return f"{name}_{t}_loop", SOURCE.format(name=name, t=t, arguments=arguments)


def compiled(name, x, y=None):
    """Return what the compiled function gives on an array, or on two."""
    out = np.empty_like(x)
    kernel_name, text = source(name, x.dtype)
    run_native(kernel_name, text, [x, x if y is None else y, out], x.size)
    return out


def ulps(found, exact):
    """Return the distance of a float to an mpmath number in units of the float type's last place there."""
    info = np.finfo(found.dtype)
    exponent = max(mpmath.frexp(exact)[1] - 1, info.minexp) if exact else info.minexp
    if np.isinf(found):
        found = int(np.sign(found)) * mpf(2) ** info.maxexp  # as if the exponent had no limit
    return float(
        abs(mpf(float(found) if isinstance(found, np.floating) else found) - exact) / mpf(2) ** (exponent - info.nmant)
    )
