"""`BCOO`: the sparse array that programs use, its operators, and what makes it of dense arrays."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax.experimental.sparse import arithmetic
from numhlo.compat.jax.experimental.sparse.base import misfit, refuse
from numhlo.compat.jax.experimental.sparse.elements import (
    StoredElements,
    dense_of,
    eliminate_zeros,
    extract,
    sort_indices,
    sum_duplicates,
    update_layout,
)
from numhlo.compat.jax.experimental.sparse.rearranging import bcoo_reduce_sum, bcoo_reshape, bcoo_transpose
from numhlo.compat.jax.experimental.sparse.slicing import index
from numhlo.compat.jax.transformations import vmap
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError, DTypeError
from numhlo.tracer.core.operands import normalize_axis
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.trees.pytree_registration import register_pytree_node_class


@register_pytree_node_class
class BCOO(StoredElements):
    """An array of which some elements are stored: their values, and where they are.

    Parameters
    ----------
    args : tuple of (array_like, array_like)
        Values (*batch, nse, *dense), and indices (*batch, nse, sparse axes).
    shape : tuple of int
    indices_sorted, unique_indices : bool, optional
        What is known of the indices.

    Raises
    ------
    ShapeError
        If the parts do not fit.

    Examples
    --------
    >>> import numhlo.compat.jax.numpy as jnp
    >>> m = BCOO((jnp.array([1.0, 2.0]), jnp.array([[0, 0], [1, 2]])), shape=(2, 3))
    >>> m, m @ jnp.arange(3.0)
    (BCOO(float...[2, 3], nse=2), Array([0., 4.], dtype=float...))
    """

    @classmethod
    def fromdense(
        cls, mat: Any, *, nse: int | None = None, index_dtype: Any = "int32", n_dense: int = 0, n_batch: int = 0
    ) -> BCOO:
        """Return the elements of an array that are not zero; see `bcoo_fromdense`."""
        return bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch)

    @classmethod
    def from_scipy_sparse(cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0) -> BCOO:
        """Return the elements that a matrix of SciPy's stores."""
        if n_dense or n_batch:
            refuse("BCOO.from_scipy_sparse with batch or dense axes", "use update_layout")
        found = mat.tocoo()
        indices = np.stack([found.row, found.col], -1).astype(index_dtype or "int32")
        return cls((jnp.asarray(found.data), jnp.asarray(indices)), shape=found.shape)

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
    ) -> BCOO:
        last = len(shape) - n_dense
        if last < n_batch or min(n_dense, n_batch, nse) < 0:
            raise misfit(f"Invalid inputs: shape={tuple(shape)}, n_dense={n_dense}, n_batch={n_batch}, nse={nse}")
        data = jnp.zeros((*shape[:n_batch], nse, *shape[last:]), dtype or float)
        ends = np.asarray(shape[n_batch:last], index_dtype)
        indices = jnp.asarray(np.broadcast_to(ends, (*shape[:n_batch], nse, last - n_batch)))
        return cls((data, indices), shape=shape, indices_sorted=True, unique_indices=True)

    @classmethod
    def _eye(
        cls,
        N: int,
        M: int,
        k: int,
        *,
        dtype: Any = None,
        index_dtype: Any = "int32",
        n_batch: int = 0,
        n_dense: int = 0,
    ) -> BCOO:
        if n_batch + n_dense > 2 or min(n_batch, n_dense) < 0:
            raise misfit(f"Invalid inputs: shape={(N, M)}, n_dense={n_dense}, n_batch={n_batch}")
        count = max(min(N, M - k) if k > 0 else min(N + k, M), 0)
        if not count:
            return cls._empty((N, M), dtype=dtype, index_dtype=index_dtype, n_batch=n_batch, n_dense=n_dense)
        if n_dense or n_batch:
            dense = jnp.eye(N, M, k, dtype=dtype or float)
            return bcoo_fromdense(dense, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)
        rows = np.arange(count, dtype=index_dtype)[:, None] + np.asarray([max(-k, 0), max(k, 0)], index_dtype)
        data = jnp.ones(count, dtype or float)
        return cls((data, jnp.asarray(rows)), shape=(N, M), indices_sorted=True, unique_indices=True)

    def todense(self) -> Any:
        """Return all elements as an array; those of one place are added."""
        return dense_of(self.data, self.indices, self.shape)

    def astype(self, dtype: Any, copy: bool = False, device: Any = None) -> BCOO:
        """Return the array with values of another dtype."""
        del copy, device
        made: BCOO = arithmetic.each(self, lambda d: d.astype(dtype))
        return made

    def transpose(self, axes: Sequence[int] | None = None) -> BCOO:
        """Return the array with its axes in another order, by default the reverse one."""
        order = [*range(self.ndim)][::-1] if axes is None else [normalize_axis(a, self.ndim) for a in axes]
        made: BCOO = bcoo_transpose(self, permutation=order)
        return made

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        """Return sums along axes as a sparse array, the sum of all as an array."""
        mat = self if dtype is None else self.astype(dtype)
        axes = range(self.ndim) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
        gone = sorted({normalize_axis(a, self.ndim) for a in axes})
        found = bcoo_reduce_sum(mat, axes=gone)
        if not found.ndim:
            total = found.data.sum()
            return total.reshape((1,) * self.ndim) if keepdims else total
        if not keepdims:
            return found
        return bcoo_reshape(found, new_sizes=[1 if k in gone else n for k, n in enumerate(self.shape)])

    def reshape(self, *shape: Any, order: str = "C") -> BCOO:
        """Return the array in another shape of the same size."""
        if order != "C":
            refuse(f"reshape of a sparse array in order {order!r}", "use transpose")
        wanted = shape[0] if len(shape) == 1 and not isinstance(shape[0], int | np.integer) else shape
        sizes = [operator.index(n) for n in wanted]
        if sizes.count(-1) == 1:
            rest = int(np.prod([n for n in sizes if n != -1], dtype=int))
            sizes[sizes.index(-1)] = self.size // rest if rest else 0
        made: BCOO = bcoo_reshape(self, new_sizes=sizes)
        return made

    def update_layout(
        self, *, n_batch: int | None = None, n_dense: int | None = None, on_inefficient: str | None = "error"
    ) -> BCOO:
        """Return the array with other numbers of batch and dense axes; see `bcoo_update_layout`."""
        made: BCOO = update_layout(self, n_batch=n_batch, n_dense=n_dense, on_inefficient=on_inefficient)
        return made

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
        """Return the array with one element for each place.

        Parameters
        ----------
        nse : int, optional
            How many to store; known where nothing is traced.
        remove_zeros : bool, optional
            Leave zeros out.
        """
        made: BCOO = (eliminate_zeros if remove_zeros else sum_duplicates)(self, nse)
        return made

    def sort_indices(self) -> BCOO:
        """Return the array with its elements in the order of their places."""
        made: BCOO = sort_indices(self)
        return made

    def __neg__(self) -> Any:
        return arithmetic.each(self, operator.neg, linear=True)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return arithmetic.each(self, abs)

    def __add__(self, other: Any) -> Any:
        return arithmetic.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return arithmetic.add(other, self)

    def __sub__(self, other: Any) -> Any:
        return arithmetic.subtract(self, other)

    def __rsub__(self, other: Any) -> Any:
        return arithmetic.subtract(other, self)

    def __mul__(self, other: Any) -> Any:
        return arithmetic.multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return arithmetic.multiply(other, self)

    def __truediv__(self, other: Any) -> Any:
        return arithmetic.divide(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return arithmetic.divide(other, self)

    def __pow__(self, exponent: Any) -> Any:
        return arithmetic.power(self, exponent)

    def __matmul__(self, other: Any) -> Any:
        return arithmetic.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return arithmetic.matmul(other, self)

    def __getitem__(self, key: Any) -> Any:
        return index(self, key)

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(self.shape[0])])

    def _dense_result(self, other: Any) -> NoReturn:
        refuse(
            "a comparison of a sparse array",
            arithmetic.DENSE,
            "it is not implemented because it would result in dense output",
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _dense_result
    __hash__ = None  # type: ignore[assignment]


def bcoo_fromdense(
    mat: Any, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0, index_dtype: Any = "int32"
) -> BCOO:
    """Return the elements of an array that are not zero.

    Parameters
    ----------
    mat : array_like
    nse : int, optional
        How many each batch stores, which must be known while tracing.
    n_batch, n_dense : int, optional
        How many axes are of batches, and dense.
    index_dtype : dtype_like, optional

    Raises
    ------
    ConcretizationError
        If their number is not known while tracing.

    Examples
    --------
    >>> bcoo_fromdense(np.eye(2, dtype=np.float32))
    BCOO(float32[2, 2], nse=2)
    """
    array: Any = jnp.asarray(mat)
    last = array.ndim - n_dense
    if not 0 <= n_batch <= last or n_dense < 0:
        raise misfit(f"BCOO.fromdense of {array.shape} with n_batch={n_batch}, n_dense={n_dense}")
    mask = array != 0
    mask = mask.any(tuple(range(last, array.ndim))) if n_dense else mask
    if nse is None and isinstance(array, Tracer):
        raise ConcretizationError(
            "BCOO.fromdense of a traced array",
            where=capture_location(),
            why="how many elements are not zero depends on its values",
            fix="pass nse=, the most that there can be",
        )
    count = operator.index(nse) if nse is not None else int(mask.sum(tuple(range(n_batch, last))).max(initial=0))
    extents = tuple(mask.shape[n_batch:])

    def one(flags: Any) -> Any:
        if not extents:
            return jnp.zeros((count, 0), index_dtype)
        columns = jnp.nonzero(flags, size=count, fill_value=extents)
        return jnp.stack([c.astype(index_dtype) for c in columns], -1)

    for _ in range(n_batch):
        one = vmap(one)
    indices = one(mask)
    data = extract(indices, array)
    if not extents:  # the one element is stored once, if it is not zero
        first = jnp.arange(count) == 0
        data = jnp.where(first.reshape((count, *[1] * n_dense)), data, 0)
    return BCOO((data, indices), shape=array.shape, indices_sorted=True, unique_indices=True)


def bcoo_todense(mat: BCOO) -> Any:
    """Return all elements as an array."""
    return mat.todense()


def bcoo_extract(sparr: BCOO, arr: Any, *, assume_unique: bool | None = None) -> BCOO:
    """Return the values of an array at the places of a sparse one.

    Parameters
    ----------
    sparr : BCOO
    arr : array_like
        Of its shape.
    assume_unique : bool, optional
        Otherwise a place that is listed several times has its value once, and zero then; what is known by default.

    Raises
    ------
    DTypeError
        If the first is no sparse array.
    ShapeError
        If the shapes differ.
    """
    if not isinstance(sparr, BCOO):
        raise DTypeError(
            f"First argument to bcoo_extract should be a BCOO array, got {type(sparr)}", where=capture_location()
        )
    array = jnp.asarray(arr)
    if array.shape != sparr.shape:
        raise misfit(f"bcoo_extract: shape mismatch of {sparr.shape} and {array.shape}")
    unique = sparr.unique_indices if assume_unique is None else assume_unique
    made: BCOO = arithmetic.kept(sparr, extract(sparr.indices, array, unique))
    return made


bcoo_sort_indices = sort_indices
bcoo_sum_duplicates = sum_duplicates
bcoo_update_layout = update_layout
