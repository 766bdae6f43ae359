"""Matrix products of every layout: by BLAS where they are large, as sums of products where they are small."""

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from numhlo.backend.executable import Executable
from numhlo.backend.planning import plan
from numhlo.lowering.interpreter import interpret
from tests.backend.programs import evaluated, from_jax, launched

CASES = {
    "plain": (lambda a, b: a @ b, (50, 60), (60, 70)),
    "right transposed": (lambda a, b: a @ b.T, (50, 60), (70, 60)),
    "left transposed": (lambda a, b: a.T @ b, (60, 50), (60, 70)),
    "both transposed": (lambda a, b: a.T @ b.T, (60, 50), (70, 60)),
    "tiles": (lambda a, b: a @ b, (300, 20), (20, 600)),
    "batch": (lambda a, b: a @ b, (3, 20, 16), (3, 16, 17)),
    "batch of tiles": (lambda a, b: a @ b, (2, 300, 8), (2, 8, 20)),
    "shared matrix": (lambda a, b: a @ b, (3, 20, 16), (16, 17)),
    "attention": (lambda a, b: jnp.einsum("bshd,bthd->bhst", a, b), (2, 8, 3, 16), (2, 9, 3, 16)),
    "packed": (lambda a, b: jnp.einsum("asb,sc->abc", a, b), (8, 9, 10), (9, 11)),
    "slices": (lambda a, b: a[::2] @ b[:, 3:30], (300, 40), (40, 50)),
    "broadcast": (lambda a, b: jnp.broadcast_to(a, (20, 30)) @ b, (30,), (30, 20)),
    "tiny": (lambda a, b: a @ b, (5, 6), (6, 7)),
    "batch of tiny": (lambda a, b: a @ b, (50, 3, 3), (50, 3, 3)),
    "matrix and vector": (lambda a, b: a @ b, (40, 30), (30,)),
    "vector and matrix": (lambda a, b: a @ b, (30,), (30, 40)),
    "dot": (lambda a, b: a @ b, (5000,), (5000,)),
    "outer": (jnp.outer, (20,), (30,)),
    "nothing to sum": (lambda a, b: a @ b, (3, 0), (0, 4)),
}
SUMS = {"tiny", "batch of tiny", "matrix and vector", "vector and matrix", "dot", "nothing to sum"}


def operand(rng, shape, dtype):
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return np.asarray(values).astype(dtype)


def run(function, arrays):
    program = plan(function)
    assert not evaluated(program)
    executable = Executable(program)
    assert executable.wait(60)
    return program, [np.asarray(a).astype(complex) for a in executable(arrays)]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_layouts(dtype, rng):
    tolerance = 1e-12 if dtype is np.float64 else 1e-4
    for name, (function, left, right) in CASES.items():
        if dtype is np.complex64 and name in SUMS | {"outer"}:
            continue
        arrays = [operand(rng, left, dtype), operand(rng, right, dtype)]
        traced = from_jax(function, *arrays)
        program, (found,) = run(traced, arrays)
        expected = np.asarray(interpret(traced, arrays)[0]).astype(complex)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * 100, err_msg=name)
        by_blas = any("product" in kernel for kernel in launched(program))
        assert by_blas == (name not in SUMS | {"outer"}), name


@pytest.mark.slow
def test_other_element_types(rng):
    for dtype in (np.int32, np.uint8, np.int64, ml_dtypes.bfloat16, np.float16):
        for left, right in (((5, 6), (6, 7)), ((30, 40), (40, 20))):
            arrays = [(rng.standard_normal(shape) * 20).astype(dtype) for shape in (left, right)]
            traced = from_jax(lambda a, b: a @ b, *arrays)
            _, (found,) = run(traced, arrays)
            expected = np.asarray(interpret(traced, arrays)[0]).astype(complex)
            if np.dtype(dtype).kind in "iu":
                np.testing.assert_array_equal(found, expected)
            else:
                np.testing.assert_allclose(found, expected, rtol=0.01, atol=1)


def test_views_are_read_in_place():
    x = np.zeros((64, 64), np.float32)
    for function in (
        lambda a, b: a.T @ b,
        lambda a, b: a[:, 3:] @ b[3:],
        lambda a, b: a.reshape(64, 8, 8)[:, 0] @ b[:8],
    ):
        assert [name.split("_")[0] for name in launched(plan(from_jax(function, x, x)))] == ["product"]
