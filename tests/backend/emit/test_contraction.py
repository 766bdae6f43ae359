"""Matrix products of every layout: by BLAS where they are large, as sums of products where they are small."""

from functools import partial

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.backend.executable import Executable
from numhlo.backend.program import Launch
from numhlo.lowering.interpreter import interpret
from tests.backend.programs import all_steps, evaluated, from_jax, launched, plan

CASES = {
    "plain": (lambda a, b: a @ b, (50, 60), (60, 70)),
    "right transposed": (lambda a, b: a @ b.T, (50, 60), (70, 60)),
    "left transposed": (lambda a, b: a.T @ b, (60, 50), (60, 70)),
    "both transposed": (lambda a, b: a.T @ b.T, (60, 50), (70, 60)),
    "tiles": (lambda a, b: a @ b, (300, 20), (20, 600)),
    "pieces of rows": (lambda a, b: a @ b, (130, 300), (300, 60)),
    "pieces of columns": (lambda a, b: a.T @ b.T, (300, 40), (203, 300)),
    "pieces of sums": (lambda a, b: a.T @ b.T, (20000, 12), (13, 20000)),
    "calls of sums": (lambda a, b: a @ b, (30, 1500), (1500, 40)),
    "batch of calls of sums": (lambda a, b: jnp.einsum("bki,bkj->bij", a, b), (3, 1501, 30), (3, 1501, 40)),
    "thin": (lambda a, b: a @ b.T, (3000, 7), (11, 7)),
    "thin the other way": (lambda a, b: a.T @ b.T, (7, 12), (5001, 7)),
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
    "column and row": (lambda a, b: a[:, 2] @ b.T, (30, 5), (40, 30)),
    "every second": (lambda a, b: a[:, ::2] @ b[::2], (40, 60), (60,)),
    "batch of vectors": (lambda a, b: jnp.einsum("bij,bj->bi", a, b), (3, 40, 30), (3, 30)),
    "tiles and vector": (lambda a, b: a @ b, (700, 3), (3,)),
    "no vector to sum": (lambda a, b: a @ b, (3, 0), (0,)),
    "nothing to sum": (lambda a, b: a @ b, (3, 0), (0, 4)),
}
VECTORS = {"matrix and vector", "vector and matrix", "column and row", "every second", "batch of vectors", "dot"}
VECTORS |= {"tiles and vector", "no vector to sum"}
EMPTY = {"no vector to sum", "nothing to sum"}
SUMS = VECTORS | {"tiny", "batch of tiny", "nothing to sum"}


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
        arrays = [operand(rng, left, dtype), operand(rng, right, dtype)]
        traced = from_jax(function, *arrays)
        program, (found,) = run(traced, arrays)
        expected = np.asarray(interpret(traced, arrays)[0]).astype(complex)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * 100, err_msg=name)
        by_blas = any("product" in kernel for kernel in launched(program))
        summed = SUMS & EMPTY if dtype is np.complex64 else SUMS
        assert by_blas == (name not in summed | {"outer"}), name


SYMMETRIC = {
    "one tile": (lambda a: a @ a.T, (100, 40)),
    "left transposed": (lambda a: a.T @ a, (40, 100)),
    "tiles": (lambda a: a @ a.T, (900, 20)),
    "batch of tiles": (lambda a: jnp.einsum("bij,bkj->bik", a, a), (3, 390, 16)),
    "part of a matrix": (lambda a: a[3:, 5:] @ a[3:, 5:].T, (103, 45)),
    "computed": (lambda a: (a + 1) @ (a + 1).T, (100, 40)),
}
WHOLE = {
    "two matrices": (lambda a: a[:100] @ a[100:].T, (200, 40)),
    "shifted": (lambda a: a[:-1] @ a[1:].T, (101, 40)),
    "square, not transposed": (lambda a: a @ a, (100, 100)),
    "small": (lambda a: a @ a.T, (20, 40)),
    "conjugated": (lambda a: a @ (a * 1j).conj().T, (100, 40)),
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_products_with_the_own_transpose(dtype, rng):
    tolerance = 1e-4 if np.dtype(dtype).itemsize in (4, 8) and dtype is not np.float64 else 1e-12
    for name, (function, shape) in (SYMMETRIC | WHOLE).items():
        array = operand(rng, shape, dtype)
        traced = from_jax(function, array)
        program, (found,) = run(traced, [array])
        assert any("symmetric" in kernel for kernel in launched(program)) == (name in SYMMETRIC), name
        expected = np.asarray(interpret(traced, [array])[0]).astype(complex)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * 100, err_msg=name)
        if name in SYMMETRIC:
            np.testing.assert_array_equal(found, found.swapaxes(-1, -2))


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


@pytest.mark.parametrize(
    ("rows", "inner", "columns", "pieces"),
    [
        (128, 128, 128, 3),
        (110, 110, 110, 2),
        (150, 150, 150, 4),
        (256, 256, 256, 2),
        (40, 512, 200, 2),
        (60, 140, 500, 4),
        (64, 512, 64, 2),
        (100, 100, 100, 1),
        (50, 300, 200, 4),
        (250, 300, 200, 2),
        (30, 2000, 30, 1),
    ],
)
def test_results_of_one_tile_are_cut_for_several_threads(rows, inner, columns, pieces):
    program = plan(from_jax(lambda a, b: a @ b, np.zeros((rows, inner)), np.zeros((inner, columns))))
    assert [step.extent for step in all_steps(program) if isinstance(step, Launch)] == [pieces]


def test_what_is_summed_along_rows_of_both_is_packed_and_not_cut_for_small_calls():
    program = plan(from_jax(lambda a, b: a @ b.T, np.zeros((150, 150)), np.zeros((150, 150))))
    assert [step.extent for step in all_steps(program) if isinstance(step, Launch)] == [2]


def test_long_sums_are_cut_and_their_pieces_added_in_order():
    program = plan(from_jax(lambda a, b: a @ b, np.zeros((60, 9000)), np.zeros((9000, 70))))
    steps = [step for step in all_steps(program) if isinstance(step, Launch)]
    assert [(step.kernel.name, step.extent) for step in steps] == [("deep_product_f64", 4), ("sum_of_pieces_f64", 4200)]


def test_views_are_read_in_place():
    x = np.zeros((64, 64), np.float32)
    for function in (
        lambda a, b: a.T @ b,
        lambda a, b: a[:, 3:] @ b[3:],
        lambda a, b: a.reshape(64, 8, 8)[:, 0] @ b[:8],
    ):
        assert [name.split("_")[0] for name in launched(plan(from_jax(function, x, x)))] == ["product"]


@pytest.mark.parametrize(
    ("dtype", "result", "shape", "parts"),
    [
        (np.int8, np.int32, (100, 1024, 100), 1),
        (np.int8, np.int8, (100, 1025, 100), 2),
        (np.uint8, np.int64, (64, 258, 70), 1),
        (np.uint8, np.uint32, (64, 600, 70), 3),
        (ml_dtypes.int4, np.int32, (40, 5000, 30), 1),
        (np.uint8, np.int64, (2, 300_000, 3), 0),
        (np.int16, np.int32, (100, 200, 100), 0),
    ],
)
def test_large_products_of_narrow_integers_are_exact(rng, dtype, result, shape, parts):
    m, k, n = shape
    info = ml_dtypes.iinfo(dtype)
    extreme = int(info.min) or int(info.max)
    dot = partial(jax.lax.dot, preferred_element_type=np.dtype(result))
    for low, high in ((int(info.min), int(info.max)), (extreme, extreme)):
        left, right = (rng.integers(low, high + 1, size).astype(dtype) for size in ((m, k), (k, n)))
        traced = from_jax(dot, left, right)
        program, (found,) = run(traced, [left, right])
        expected = (left.astype(np.float64) @ right.astype(np.float64)).astype(np.int64).astype(result)
        np.testing.assert_array_equal(found, expected)
        assert sum("product" in kernel for kernel in launched(program)) == parts


def test_products_without_sums_are_elementwise():
    """Nothing is added, so zeros keep their signs; and what adds such products up stores none of them."""
    x, y = np.array([-0.0, 1.0, -1.0]), np.array([0.0, -0.0, 2.0])

    def added(x, y):
        return sum(jnp.tensordot(x + k, y - k, 0) for k in range(5))

    program = plan(from_jax(lambda x, y: jnp.tensordot(x, y, 0), x, y))
    np.testing.assert_array_equal(np.signbit(Executable(program)([x, y])[0]), np.signbit(np.outer(x, y)))
    assert len(launched(plan(from_jax(added, x, y)))) == 2  # the vectors, then all that they make


def test_a_view_that_is_also_a_result_is_read_where_it_looks(rng):
    """Its own buffer is filled later than the product, which reads the array that it is a view of, is computed."""
    whole = rng.normal(size=(100, 100))

    def function(x):
        part = lax.slice(x, (12, 41), (66, 73), (2, 1))
        constant = lax.slice(np.reshape(whole, (100, 100)), (12, 41), (66, 73), (2, 1))
        return [(y @ y.T, y / (2 + abs(y)), y) for y in (part, constant)]

    compiled, kept = numhlo.jit(function), []
    for call, x in enumerate([whole, whole, whole[::-1].copy(), whole]):
        given = x.copy()
        found = compiled(given)
        np.testing.assert_array_equal(given, x)
        kept.append((x, found))
        for used, results in kept:  # the second half is of an array that is known while tracing
            for array, (product, ratio, part) in zip((used, whole), results, strict=True):
                wanted = array[12:66:2, 41:73]
                np.testing.assert_array_equal(part, wanted)
                np.testing.assert_allclose(product, wanted @ wanted.T, 1e-12, 1e-12)
                np.testing.assert_allclose(ratio, wanted / (2 + abs(wanted)), 1e-12)
        if call == 0:
            compiled.wait()
