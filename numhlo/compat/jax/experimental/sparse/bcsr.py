"""`BCSR`: matrices, and batches of them, whose stored elements lie row by row."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax import lax
from numhlo.compat.jax.experimental.sparse.arithmetic import matmul
from numhlo.compat.jax.experimental.sparse.base import JAXSparse, SparseInfo, misfit, refuse
from numhlo.compat.jax.experimental.sparse.bcoo import BCOO, bcoo_fromdense
from numhlo.compat.jax.experimental.sparse.elements import extract, with_leading_axis
from numhlo.compat.jax.experimental.sparse.products import bcoo_dot_general
from numhlo.compat.jax.experimental.sparse.rearranging import bcoo_broadcast_in_dim, bcoo_concatenate
from numhlo.compat.jax.transformations import vmap
from numhlo.tracer.trees.pytree_registration import register_pytree_node_class


def rows_of(indices: Any, indptr: Any) -> Any:
    """Return the row of each element; that behind the last where there is no element."""
    steps = jnp.zeros((indices.shape[-1],), indices.dtype).at[indptr].add(jnp.ones((), indices.dtype), mode="drop")
    return jnp.cumsum(steps, dtype=indices.dtype) - 1


def pointers_of(rows: Any, count: int, dtype: Any) -> Any:
    """Return where each row's elements start, and where the last one's end."""
    steps = jnp.zeros(count + 1, dtype).at[rows + 1].add(jnp.ones((), dtype), mode="drop")
    return jnp.cumsum(steps, dtype=dtype)


def _over_batches(function: Any, *parts: Any, own: Sequence[int]) -> Any:
    """Call a function of one batch for all, of which parts may have one for all."""
    n = parts[0].ndim - own[0]
    batch = np.broadcast_shapes(*[p.shape[:n] for p in parts])
    for _ in range(n):
        function = vmap(function)
    return function(*[jnp.broadcast_to(p, (*batch, *p.shape[n:])) for p in parts])


@register_pytree_node_class
class BCSR(JAXSparse):
    """A matrix of which some elements are stored row by row, or a batch of such matrices.

    Parameters
    ----------
    args : tuple of three array_like
        Values (*batch, nse, *dense), their columns (*batch, nse), and where rows start (*batch, rows + 1).
    shape : tuple of int
    indices_sorted, unique_indices : bool, optional
        What is known of the places.

    Raises
    ------
    ShapeError
        If the parts do not fit.

    Examples
    --------
    >>> m = BCSR.fromdense(np.eye(2, dtype=np.float32))
    >>> m, m @ np.array([3, 4], np.float32)
    (BCSR(float32[2, 2], nse=2), Array([3., 4.], dtype=float32))
    """

    n_sparse = 2

    def __init__(
        self,
        args: tuple[Any, Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        self.data, self.indices, self.indptr = (jnp.asarray(x) for x in args)
        self.shape = tuple(map(operator.index, shape))
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        n, parts = self.n_batch, (self.data, self.indices, self.indptr)
        text = f"BCSR of {[tuple(p.shape) for p in parts]} in {self.shape}"
        if n < 0 or self.ndim < n + 2 or any(p.ndim < n for p in parts):
            raise misfit(text, why="there are two sparse axes, behind those of batches")
        if any(a not in (1, b) for p in parts for a, b in zip(p.shape[:n], self.shape, strict=False)):
            raise misfit(text, why="batch axes of all parts have the array's extents, or 1")
        if tuple(self.indptr.shape[n:]) != (self.shape[n] + 1,):
            raise misfit(text, why="indptr has one element more than there are rows")
        if tuple(self.data.shape[n:]) != (self.nse, *self.shape[n + 2 :]):
            raise misfit(text, why="there is one column for each value")

    @property
    def _info(self) -> SparseInfo:
        return SparseInfo(self.shape, self.indices_sorted, self.unique_indices)

    @property
    def nse(self) -> int:
        """Return how many elements each batch stores."""
        return int(self.indices.shape[-1])

    @property
    def n_batch(self) -> int:
        """Return the number of batch axes."""
        return int(self.indices.ndim) - 1

    @property
    def n_dense(self) -> int:
        """Return the number of dense axes."""
        return int(self.data.ndim) - int(self.indices.ndim)

    def _layout(self) -> str:
        found = {"n_batch": self.n_batch, "n_dense": self.n_dense}
        return "".join(f", {name}={count}" for name, count in found.items() if count)

    def tree_flatten(self) -> tuple[tuple[Any, Any, Any], Any]:
        """Return the parts, and the rest."""
        return (self.data, self.indices, self.indptr), (*self._info, getattr(self.indices, "ndim", 1) - 1)

    @classmethod
    def tree_unflatten(cls, rest: Any, parts: Any) -> BCSR:
        """Return the matrix of parts that may be anything; a leading axis more or less is one of batches."""
        made = object.__new__(cls)
        made.data, made.indices, made.indptr = parts
        shape, made.indices_sorted, made.unique_indices, batch = rest
        made.shape = with_leading_axis(shape, batch, made.indices, made.data, 1)
        return made

    @classmethod
    def fromdense(
        cls, mat: Any, *, nse: int | None = None, index_dtype: Any = "int32", n_dense: int = 0, n_batch: int = 0
    ) -> BCSR:
        """Return the elements of matrices that are not zero; see `bcsr_fromdense`."""
        return bcsr_fromdense(mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch)

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> BCSR:
        """Return a `BCOO` of two sparse axes with its elements row by row."""
        if arr.n_sparse != 2:
            refuse(f"BCSR.from_bcoo requires n_sparse=2; got {arr.n_sparse}", "use update_layout")
        mat = arr if arr.indices_sorted else arr.sort_indices()
        count, dtype = mat.shape[mat.n_batch], mat.indices.dtype
        pointers = _over_batches(lambda rows: pointers_of(rows, count, dtype), mat.indices[..., 0], own=(1,))
        return cls((mat.data, mat.indices[..., 1], pointers), shape=mat.shape)

    @classmethod
    def from_scipy_sparse(cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0) -> BCSR:
        """Return the elements that a matrix of SciPy's stores."""
        if n_dense or n_batch:
            refuse("BCSR.from_scipy_sparse with batch or dense axes", "use BCOO's update_layout")
        if mat.ndim != 2:
            raise misfit(f"BCSR.from_scipy_sparse requires 2D array; {mat.ndim}D is given.")
        found = mat.tocsr()
        parts = [jnp.asarray(x.astype(index_dtype or "int32")) for x in (found.indices, found.indptr)]
        return cls((jnp.asarray(found.data), parts[0], parts[1]), shape=found.shape)

    @classmethod
    def _empty(
        cls,
        shape: Sequence[int],
        *,
        dtype: Any = None,
        index_dtype: Any = "int32",
        n_dense: int = 0,
        n_batch: int = 0,
        nse: int = 0,
    ) -> BCSR:
        if len(shape) - n_dense - n_batch != 2 or min(n_dense, n_batch, nse) < 0:
            raise misfit(f"BCSR sparse.empty: must have 2 sparse dimensions, in {tuple(shape)}")
        batch, (rows, columns) = shape[:n_batch], shape[n_batch : n_batch + 2]
        data = jnp.zeros((*batch, nse, *shape[n_batch + 2 :]), dtype or float)
        indices = jnp.full((*batch, nse), columns, index_dtype)
        return cls((data, indices, jnp.zeros((*batch, rows + 1), index_dtype)), shape=shape)

    def to_bcoo(self) -> BCOO:
        """Return the array with its places listed."""
        rows = _over_batches(rows_of, self.indices, self.indptr, own=(1, 1))
        indices = jnp.stack(jnp.broadcast_arrays(rows, self.indices), -1)
        return BCOO((self.data, indices), shape=self.shape)

    def todense(self) -> Any:
        """Return all elements as an array."""
        return self.to_bcoo().todense()

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCSR:
        """Return the array with one element for each place; see `BCOO.sum_duplicates`."""
        return BCSR.from_bcoo(self.to_bcoo().sum_duplicates(nse, remove_zeros))

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, other, bcsr_dot_general)

    def __rmatmul__(self, other: Any) -> Any:
        return matmul(other, self.to_bcoo())


def bcsr_fromdense(
    mat: Any, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0, index_dtype: Any = "int32"
) -> BCSR:
    """Return the elements of matrices that are not zero, row by row.

    Parameters
    ----------
    mat : array_like
    nse : int, optional
        How many each batch stores, which must be known while tracing.
    n_batch, n_dense : int, optional
        How many axes are of batches, and dense; two are left.
    index_dtype : dtype_like, optional

    Raises
    ------
    ShapeError
        If there are not two sparse axes.
    """
    array = jnp.asarray(mat)
    if array.ndim - n_batch - n_dense != 2:
        raise misfit(
            f"bcsr_fromdense of {array.shape}: must have 2 sparse dimensions, with n_batch={n_batch}, n_dense={n_dense}"
        )
    found = bcoo_fromdense(array, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)
    return BCSR.from_bcoo(found)


def bcsr_todense(mat: BCSR) -> Any:
    """Return all elements as an array."""
    return mat.todense()


def bcsr_extract(indices: Any, indptr: Any, mat: Any) -> Any:
    """Return the values of a dense array at places that are listed row by row.

    Parameters
    ----------
    indices : (*batch, nse) Array
    indptr : (*batch, rows + 1) Array
    mat : Array
    """
    columns, pointers = jnp.asarray(indices), jnp.asarray(indptr)
    rows = _over_batches(rows_of, columns, pointers, own=(1, 1))
    return extract(jnp.stack(jnp.broadcast_arrays(rows, columns), -1), jnp.asarray(mat))


def bcsr_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Return the product of a sparse and a dense array, summed over axes; see `bcoo_dot_general`."""
    del precision, out_sharding
    if isinstance(rhs, JAXSparse):
        refuse("bcsr_dot_general with a sparse array on the right", "use m.to_bcoo() of both")
    if not isinstance(lhs, BCSR):
        return lax.dot_general(lhs, rhs, dimension_numbers, preferred_element_type=preferred_element_type)
    return bcoo_dot_general(
        lhs.to_bcoo(), rhs, dimension_numbers=dimension_numbers, preferred_element_type=preferred_element_type
    )


def bcsr_broadcast_in_dim(
    mat: BCSR, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> BCSR:
    """Return a sparse array repeated along axes; see `bcoo_broadcast_in_dim`."""
    del sharding
    return BCSR.from_bcoo(bcoo_broadcast_in_dim(mat.to_bcoo(), shape=shape, broadcast_dimensions=broadcast_dimensions))


def bcsr_concatenate(operands: Sequence[BCSR], *, dimension: int) -> BCSR:
    """Return sparse arrays joined along an axis; see `bcoo_concatenate`."""
    return BCSR.from_bcoo(bcoo_concatenate([m.to_bcoo() for m in operands], dimension=dimension))


def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None) -> BCSR:
    """Return a sparse array with one element for each place."""
    return mat.sum_duplicates(nse, remove_zeros=False)
