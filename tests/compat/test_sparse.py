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
    for wrong in (lambda: np.asarray(matrix), lambda: matrix - DENSE, lambda: matrix > 1, lambda: 2 / matrix):
        with pytest.raises(UnsupportedError, match="todense"):
            wrong()
    with pytest.raises(ShapeError, match=r"\(3, 4\) and \(3,\) differ along axes 1 and 0"):
        matrix @ np.ones(3)
    with pytest.raises(ShapeError, match=r"values \(2,\) at indices \(3, 2\) in \(2, 2\)"):
        sparse.BCOO((np.ones(2), np.zeros((3, 2), int)), shape=(2, 2))
    with pytest.raises(UnsupportedError, match=r"the sum of sparse arrays \(3, 4\) and \(4, 3\)"):
        matrix + matrix.T
    with pytest.raises(ConcretizationError, match="pass nse="):
        compat.jit(lambda x: sparse.BCOO.fromdense(x).todense())(DENSE)
    with pytest.raises(ValueError, match="nse must be specified"):
        compat.jit(lambda m: m.sum_duplicates().todense())(matrix)
    with pytest.raises(sparse.SparseEfficiencyError, match="inefficient storage"):
        matrix.update_layout(n_batch=1)
    with pytest.raises(NotImplementedError, match="sparse rule for cos is not implemented"):
        sparse.sparsify(jnp.cos)(matrix)
    with pytest.raises(AttributeError, match="traced as gathers, products and scatters"):
        _ = sparse.bcoo_todense_p


CUBE = np.array([[[0.0, 1, 0], [2, 0, 0]], [[0, 0, 0], [0, 3, 4]]])
TWICE = np.array([[2, 1], [0, 3], [0, 3], [5, 5]])

ALIKE = {
    "batches": lambda j, s: s.BCOO.fromdense(CUBE, n_batch=1, n_dense=1),
    "batches times vectors": lambda j, s: s.BCOO.fromdense(CUBE, n_batch=1) @ j.numpy.arange(3.0),
    "batch, contracted": lambda j, s: s.bcoo_dot_general(
        s.BCOO.fromdense(CUBE, n_batch=1), j.numpy.ones((2, 3)), dimension_numbers=(((0, 2), (0, 1)), ((), ()))
    ),
    "batch, kept": lambda j, s: s.bcoo_dot_general(
        j.numpy.ones((2, 3)), s.BCOO.fromdense(CUBE, n_batch=1), dimension_numbers=(((1,), (2,)), ((0,), (0,)))
    ),
    "product of sparse ones": lambda j, s: s.BCOO.fromdense(DENSE, nse=6) @ s.BCOO.fromdense(DENSE.T),
    "each with each": lambda j, s: s.BCOO.fromdense(DENSE, n_batch=1) * s.BCOO.fromdense(DENSE, n_batch=1),
    "twice": lambda j, s: s.BCOO((np.arange(4.0), TWICE), shape=(3, 4)).sum_duplicates(),
    "twice, padded": lambda j, s: s.BCOO((np.arange(4.0), TWICE), shape=(3, 4)).sum_duplicates(nse=6, remove_zeros=False),
    "one for all batches": lambda j, s: s.BCOO((np.ones((2, 3)), np.array([[[2], [0], [2]]])), shape=(2, 4)).todense(),
    "fewer batches": lambda j, s: s.BCOO.fromdense(CUBE, n_batch=1, n_dense=1).update_layout(n_batch=0, n_dense=0),
    "more batches": lambda j, s: s.BCOO.fromdense(DENSE).update_layout(n_batch=1, on_inefficient=None),
    "sum over batches": lambda j, s: s.BCOO.fromdense(CUBE, n_batch=1).sum((0, 2)),
    "reshaped": lambda j, s: s.BCOO.fromdense(CUBE, n_batch=1).reshape(1, 2, 3, 2),
    "joined": lambda j, s: s.bcoo_concatenate([s.BCOO.fromdense(DENSE, nse=6), s.BCOO.fromdense(DENSE)], dimension=1),
    "broadcast": lambda j, s: s.bcoo_broadcast_in_dim(
        s.BCOO.fromdense(DENSE), shape=(2, 3, 4), broadcast_dimensions=(1, 2)
    ),
    "reversed": lambda j, s: s.bcoo_rev(s.BCOO.fromdense(DENSE, nse=6), (0,)),
    "sliced": lambda j, s: s.BCOO.fromdense(DENSE)[::2, 1:3],
    "row": lambda j, s: s.BCOO.fromdense(CUBE, n_batch=1)[-1, None],
    "rows": lambda j, s: s.BCOO.fromdense(DENSE)[:, j.numpy.array([3, 1, 0])],
    "at a traced place": lambda j, s: j.jit(lambda m, i: s.bcoo_dynamic_slice(m, (i, i), (2, 2)))(s.BCOO.fromdense(DENSE), 1),
    "extracted": lambda j, s: s.bcoo_extract(s.BCOO((np.ones(4), TWICE), shape=(3, 4)), DENSE),
    "sampled": lambda j, s: s.bcoo_dot_general_sampled(
        DENSE, DENSE, s.BCOO.fromdense(np.eye(3)).indices, dimension_numbers=(((1,), (1,)), ((), ()))
    ),
    "correlated": lambda j, s: s.bcoo_conv_general_dilated(
        s.BCOO.fromdense(DENSE[None, :1]), j.numpy.ones((1, 1, 2)), window_strides=(1,), padding="SAME"
    ).todense(),
    "by rows": lambda j, s: s.BCSR.fromdense(CUBE, n_batch=1),
    "by rows, padded": lambda j, s: s.BCSR.fromdense(DENSE, nse=7).to_bcoo(),
    "by rows times": lambda j, s: s.BCSR.fromdense(DENSE) @ np.arange(4.0),
    "matrices": lambda j, s: (s.CSR.fromdense(DENSE), s.CSC.fromdense(DENSE), s.COO.fromdense(DENSE)),
    "matrices times": lambda j, s: (s.CSR.fromdense(DENSE).T @ np.ones(3), s.COO.fromdense(DENSE) @ np.ones((4, 2))),
    "diagonals": lambda j, s: [s.eye(3, 4, k, sparse_format=f) for k in (1, -1) for f in ("bcoo", "csr", "csc")],
    "slope": lambda j, s: s.grad(lambda m, v: (m @ v).sum(), (0, 1))(s.BCOO.fromdense(DENSE), j.numpy.arange(4.0)),
    "jacobian": lambda j, s: s.jacrev(lambda m, v: m @ v)(s.BCOO.fromdense(DENSE), j.numpy.arange(4.0)),
    "mapped": lambda j, s: j.vmap(lambda m: m.T * 2)(s.BCOO.fromdense(CUBE, n_batch=1)),
    "made in lanes": lambda j, s: j.vmap(lambda v: s.BCOO.fromdense(v, nse=3))(j.numpy.asarray(DENSE)),
    "sparsified": lambda j, s: s.sparsify(lambda m, v: (-(j.numpy.sin(m) @ v), 2 * m.T, m[1:]))(
        s.BCOO.fromdense(DENSE), j.numpy.arange(4.0)
    ),
    "sparsified loop": lambda j, s: s.sparsify(lambda m, v: j.lax.fori_loop(0, 3, lambda i, x: m @ x, v))(
        s.BCOO.fromdense(DENSE[:, :3]), j.numpy.ones(3)
    ),
    "random": lambda j, s: s.random_bcoo(j.random.key(0), (2, 3, 4), nse=5, n_batch=1),
}  # fmt: skip
"""What both JAX and numhlo do, the same way."""


def _is_sparse(x):
    return hasattr(x, "nse")


@pytest.mark.parametrize("name", ALIKE)
def test_as_jax(name):
    wanted, found = ALIKE[name](jax, jax.experimental.sparse), ALIKE[name](compat, sparse)
    for x, y in zip(jax.tree.leaves(wanted), compat.tree.leaves(found), strict=True):
        np.testing.assert_allclose(np.asarray(y), np.asarray(x), rtol=1e-14, strict=True)
    arrays = [trees.leaves(x, is_leaf=_is_sparse) for trees, x in ((jax.tree, wanted), (compat.tree, found))]
    assert [repr(m) for m in arrays[1] if _is_sparse(m)] == [repr(m) for m in arrays[0] if _is_sparse(m)]
