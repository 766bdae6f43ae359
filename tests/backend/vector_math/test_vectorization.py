"""Loops over vector math become SIMD code, those with a rescue call too, where huge arguments take the slow path."""

import platform
import re

import numba
import numpy as np
import pytest

import numhlo.backend.compiler.intrinsics as machine_code
from numhlo.backend import vector_math
from tests.backend.vector_math.bounds import TWO_ARGUMENTS, compiled

pytestmark = pytest.mark.slow

# Complex numbers lie interleaved in memory; their functions are compositions of the real ones, called one by one.
REAL = [name for name in vector_math.__all__ if name.endswith(("_f32", "_f64"))]

PACKED = re.compile(r"\bv?(?:mul|add|div)p[sd]\s")


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="looks for x86 instructions")
@pytest.mark.parametrize("name", REAL)
def test_loop_is_vectorized(name):
    assert "vector_math" in machine_code.__all__
    function = getattr(vector_math, name)
    array = numba.types.Array(numba.float32 if name.endswith("f32") else numba.float64, 1, "C")

    def one(x, y, out):
        for i in range(out.size):
            out[i] = function(x[i])

    def two(x, y, out):
        for i in range(out.size):
            out[i] = function(x[i], y[i])

    loop = two if name[:-4] in TWO_ARGUMENTS else one
    assembly = numba.njit(numba.void(array, array, array), error_model="numpy")(loop).inspect_asm((array, array, array))
    assert len(PACKED.findall(assembly)) >= {"rsqrt": 1, "fmod": 3}.get(name[:-4], 10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_arguments_among_small_ones(dtype):
    x = np.linspace(-3, 3, 100).astype(dtype)
    x[::7] = 1e20
    x[5] = np.inf
    found = compiled("sin", x)
    assert np.isnan(found[5])
    finite = np.isfinite(x)
    expected = np.sin(x[finite].astype(np.float64))
    np.testing.assert_allclose(found[finite], expected, rtol=2 * np.finfo(dtype).eps)
