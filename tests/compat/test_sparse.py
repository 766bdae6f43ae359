"""`jax.experimental.sparse`: what is done with sparse arrays is what is done with dense ones."""

from __future__ import annotations

import jax
import jax.experimental.sparse
import numpy as np
import pytest

import numhlo.compat.jax as compat
from numhlo.compat.jax.experimental import sparse
from numhlo.lowering.ir.errors import ConcretizationError, ShapeError, UnsupportedError

jnp = compat.numpy
DENSE = np.array([[0.0, 1.0, 0.0, 2.0], [3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0]])


@pytest.fixture(params=[None, 6], ids=["exact", "padded"])
def matrix(request):
    return sparse.BCOO.fromdense(DENSE, nse=request.param)


def test_elements_are_stored_as_jax_does():
    from_jax = jax.experimental.sparse.BCOO.fromdense(DENSE, nse=6)
    matrix = sparse.BCOO.fromdense(DENSE, nse=6)
    np.testing.assert_array_equal(matrix.data, np.asarray(from_jax.data))
    np.testing.assert_array_equal(matrix.indices, np.asarray(from_jax.indices), strict=True)
    assert repr(matrix) == repr(from_jax) and (matrix.size, matrix.ndim, len(matrix)) == (12, 2, 3)


def test_products(matrix, rng):
    for other in (rng.random(4), rng.random((4, 2)), rng.random((4, 2, 3))):
        axes = (((1,), (0,)), ((), ()))
        found = sparse.bcoo_dot_general(matrix, other, dimension_numbers=axes)
        np.testing.assert_allclose(found, np.tensordot(DENSE, other, 1), rtol=1e-14)
    left, right = rng.random((2, 3)), rng.random((4, 5))
    np.testing.assert_allclose(matrix @ right, DENSE @ right, rtol=1e-14)
    np.testing.assert_allclose(left @ matrix, left @ DENSE, rtol=1e-14)
    np.testing.assert_allclose(left[0] @ matrix, left[0] @ DENSE, rtol=1e-14)
    np.testing.assert_allclose((matrix @ matrix.T).todense(), DENSE @ DENSE.T)
    row = sparse.BCOO.fromdense(DENSE[0])
    assert row @ np.arange(4.0) == 7 and (row @ row).todense() == 5


@pytest.mark.parametrize(
    "f",
    [
        lambda m: m.T,
        lambda m: -m / 2,
        lambda m: m + m - m * 3.0,
        lambda m: m * np.arange(4.0),
        lambda m: m.sum(0),
        lambda m: m.sum((-1,)),
        lambda m: m.sum(),
        lambda m: m.reshape(2, 6),
        lambda m: abs(m.transpose((1, 0))).astype(np.float32),
    ],
)
def test_what_arrays_do(f, matrix):
    found, wanted = f(matrix), f(DENSE)
    np.testing.assert_array_equal(found.todense() if isinstance(found, sparse.BCOO) else found, wanted, strict=True)
    if isinstance(found, sparse.BCOO):
        np.testing.assert_array_equal(found.sum_duplicates().todense(), wanted)
        np.testing.assert_array_equal(found.sort_indices().todense(), wanted)


def test_traced(matrix):
    v = np.arange(4.0)
    np.testing.assert_array_equal(compat.jit(lambda m, v: m @ v)(matrix, v), DENSE @ v)
    np.testing.assert_array_equal(compat.vmap(lambda v: matrix @ v)(np.eye(4)), DENSE.T)
    np.testing.assert_array_equal(compat.grad(lambda v: (matrix @ v).sum())(v), DENSE.sum(0))
    slopes = compat.grad(lambda d: (sparse.BCOO((d, matrix.indices), shape=(3, 4)) @ v).sum())(matrix.data)
    assert slopes.tolist()[:4] == [1, 3, 0, 2] and not np.any(slopes[4:])
    made = compat.jit(lambda x: sparse.BCOO.fromdense(x, nse=5))(DENSE)
    np.testing.assert_array_equal(made.todense(), DENSE)
    square = sparse.eye(2) * 2.0 + sparse.empty((2, 2))
    solution, _ = compat.scipy.sparse.linalg.cg(square, np.ones(2))
    np.testing.assert_allclose(solution, 0.5)


def test_what_is_refused(matrix):
    with pytest.raises(UnsupportedError, match=r"sum of a sparse and a dense array\n.*\n  use m.todense\(\) \+ x"):
        matrix + DENSE
    for wrong in (lambda: matrix[0], lambda: np.asarray(matrix), lambda: list(matrix), lambda: matrix * matrix):
        with pytest.raises(UnsupportedError, match="todense"):
            wrong()
    with pytest.raises(ShapeError, match=r"\(3, 4\) and \(3,\) differ along axes 1 and 0"):
        matrix @ np.ones(3)
    with pytest.raises(ShapeError, match=r"values \(2,\) at indices \(2, 1\) in \(2, 2\)"):
        sparse.BCOO((np.ones(2), np.zeros((2, 1), int)), shape=(2, 2))
    with pytest.raises(ShapeError, match="added"):
        matrix + matrix.T
    with pytest.raises(ConcretizationError, match="pass nse="):
        compat.jit(lambda x: sparse.BCOO.fromdense(x).todense())(DENSE)
    with pytest.raises(UnsupportedError, match="use vmap for the batch"):
        sparse.BCOO.fromdense(DENSE, n_batch=1)
    with pytest.raises(UnsupportedError, match="sum over one axis"):
        sparse.bcoo_dot_general(matrix, DENSE, dimension_numbers=(((0, 1), (0, 1)), ((), ())))
    with pytest.raises(AttributeError, match="no attribute 'BCSR'; use BCOO"):
        _ = sparse.BCSR
