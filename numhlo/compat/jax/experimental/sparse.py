"""`jax.experimental.sparse`: arrays of which only some elements are stored, `BCOO`, without batch and dense axes.

Elements lie in the order that they were given in; those of one place are added. An index out of bounds stands for no
element, which pads to a known number of them. Everything is traced and differentiated as what it is made of: gathers,
products and scatters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numhlo.compat.jax.numpy as jnp
from numhlo.library.unsupported_names import raise_absent as _raise_absent
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError, ShapeError, UnsupportedError
from numhlo.tracer.core.operands import normalize_axis
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.trees.pytree_registration import register_pytree_node_class

__all__ = ["BCOO", "bcoo_dot_general", "bcoo_fromdense", "bcoo_todense", "empty", "eye"]


def _refuse(what: str, fix: str) -> NoReturn:
    raise UnsupportedError(what, where=capture_location(), fix=fix)


@register_pytree_node_class
class BCOO:
    """An array of which some elements are stored: their values, and where they are.

    Parameters
    ----------
    args : tuple of (array_like, array_like)
        Values (n,), and indices (n, ndim).
    shape : tuple of int
    indices_sorted, unique_indices : bool, optional
        Accepted: nothing depends on it.

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

    __array_priority__ = 1000
    __array_ufunc__ = None  # arrays leave operators to this class
    n_batch = n_dense = 0

    def __init__(
        self,
        args: tuple[Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        self.data, self.indices = (jnp.asarray(x) for x in args)
        self.shape = tuple(shape)
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        if self.data.ndim != 1 or self.indices.shape != (self.data.shape[0], len(self.shape)):
            raise ShapeError(
                f"BCOO of values {self.data.shape} at indices {self.indices.shape} in {self.shape}",
                where=capture_location(),
                why="there is one row of indices for each value, with one column for each axis",
                fix="leave batch and dense axes to vmap",
            )

    def tree_flatten(self) -> tuple[tuple[Any, Any], Any]:
        """Return the values and the indices, and the rest."""
        return (self.data, self.indices), (self.shape, self.indices_sorted, self.unique_indices)

    @classmethod
    def tree_unflatten(cls, rest: Any, parts: Any) -> BCOO:
        """Return the array of parts that may be anything."""
        made = object.__new__(cls)
        made.data, made.indices = parts
        made.shape, made.indices_sorted, made.unique_indices = rest
        return made

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = "int32", **options: Any) -> BCOO:
        """Return the elements of an array that are not zero.

        Parameters
        ----------
        mat : array_like
        nse : int, optional
            How many to store, which must be known while tracing.
        index_dtype : dtype_like, optional
        **options : int
            ``n_batch`` and ``n_dense``, which must be 0.

        Raises
        ------
        ConcretizationError
            If their number is not known while tracing.
        UnsupportedError
            If there are to be batch or dense axes.
        """
        if any(options.values()):
            _refuse(f"BCOO.fromdense of {mat!r} with batch or dense axes", "use vmap for the batch")
        array: Any = jnp.asarray(mat)
        if nse is None and isinstance(array, Tracer):
            raise ConcretizationError(
                "BCOO.fromdense of a traced array",
                where=capture_location(),
                why="how many elements are not zero depends on its values",
                fix="pass nse=, the most that there can be",
            )
        count = int(jnp.count_nonzero(array)) if nse is None else nse
        fill = tuple(array.shape)
        places = jnp.nonzero(array, size=count, fill_value=fill) if array.ndim else ()
        inside = jnp.arange(count) < jnp.count_nonzero(array)
        data = jnp.where(inside, array[places] if array.ndim else jnp.broadcast_to(array, (count,)), 0)
        rows = [jnp.asarray(p).astype(index_dtype) for p in places]
        indices = jnp.stack(rows, axis=-1) if rows else jnp.zeros((count, 0), index_dtype)
        return cls((data.astype(array.dtype), indices), shape=array.shape, indices_sorted=True, unique_indices=True)

    @property
    def dtype(self) -> Any:
        """Return the values' dtype."""
        return self.data.dtype

    @property
    def nse(self) -> int:
        """Return how many elements are stored."""
        return int(self.data.shape[0])

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    n_sparse = ndim

    @property
    def size(self) -> int:
        """Return how many elements there are, stored or not."""
        return math.prod(self.shape)

    @property
    def T(self) -> BCOO:  # noqa: N802 - NumPy's name
        """Return the array with its axes reversed."""
        return self.transpose()

    def __repr__(self) -> str:
        return f"BCOO({self.dtype}{[*self.shape]}, nse={self.nse})"

    def __len__(self) -> int:
        return self.shape[0]

    def _like(self, data: Any, indices: Any = None, shape: Any = None) -> BCOO:
        found = self.indices if indices is None else indices
        return BCOO((data, found), shape=self.shape if shape is None else shape)

    def _columns(self) -> tuple[Any, ...]:
        return tuple(self.indices[:, k] for k in range(self.ndim))

    def todense(self) -> Any:
        """Return all elements as an array."""
        if not self.ndim:
            return self.data.sum()
        return jnp.zeros(self.shape, self.dtype).at[self._columns()].add(self.data)

    def astype(self, dtype: Any) -> BCOO:
        """Return the array with values of another dtype."""
        return self._like(self.data.astype(dtype))

    def transpose(self, axes: Sequence[int] | None = None) -> BCOO:
        """Return the array with its axes in another order, by default the reverse one."""
        order = [*range(self.ndim)][::-1] if axes is None else [normalize_axis(a, self.ndim) for a in axes]
        return self._like(self.data, self.indices[:, jnp.asarray(order)], [self.shape[k] for k in order])

    def sum(self, axis: Any = None) -> Any:
        """Return sums along axes as a sparse array, the sum of all as an array."""
        axes = range(self.ndim) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
        gone = {normalize_axis(a, self.ndim) for a in axes}
        kept = [k for k in range(self.ndim) if k not in gone]
        inside = jnp.all(self.indices < jnp.asarray(self.shape), axis=1)  # what pads must not count
        data = jnp.where(inside, self.data, 0)
        if not kept:
            return data.sum()
        return self._like(data, self.indices[:, jnp.asarray(kept)], [self.shape[k] for k in kept])

    def reshape(self, *shape: Any) -> BCOO:
        """Return the array in another shape of the same size."""
        wanted = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        flat = jnp.ravel_multi_index(self._columns(), self.shape, mode="clip")
        inside = jnp.all(self.indices < jnp.asarray(self.shape), axis=1)
        new = jnp.empty(self.shape, bool).reshape(wanted).shape
        columns = [jnp.where(inside, c, n) for c, n in zip(jnp.unravel_index(flat, new), new, strict=True)]
        return self._like(self.data, jnp.stack(columns, axis=-1).astype(self.indices.dtype), new)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
        """Return the array with one element for each place.

        Parameters
        ----------
        nse : int, optional
            How many to store; known where nothing is traced.
        remove_zeros : bool, optional
            Accepted: zeros are left out.
        """
        return BCOO.fromdense(self.todense(), nse=nse, index_dtype=self.indices.dtype)

    def sort_indices(self) -> BCOO:
        """Return the array with its elements in the order of their places."""
        order = jnp.lexsort(self._columns()[::-1])
        return BCOO((self.data[order], self.indices[order]), shape=self.shape, indices_sorted=True)

    def __neg__(self) -> BCOO:
        return self._like(-self.data)

    def __abs__(self) -> BCOO:
        return self._like(abs(self.data))

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, BCOO):
            _refuse("the sum of a sparse and a dense array", "use m.todense() + x")
        if other.shape != self.shape:
            raise ShapeError(f"sparse arrays {self.shape} and {other.shape} added", where=capture_location())
        data, indices = jnp.concatenate([self.data, other.data]), jnp.concatenate([self.indices, other.indices])
        return self._like(data, indices)

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __radd__(self, other: Any) -> Any:
        return self.__add__(other)

    def __mul__(self, other: Any) -> BCOO:
        if isinstance(other, BCOO):
            _refuse("the product of two sparse arrays, element by element", "use m * other.todense()")
        factor = jnp.asarray(other) if not isinstance(other, int | float | complex) else other
        if getattr(factor, "ndim", 0):
            factor = jnp.broadcast_to(factor, self.shape)[self._columns()]
        return self._like(self.data * factor)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> BCOO:
        return self * (1 / other if isinstance(other, int | float | complex) else 1 / jnp.asarray(other))

    def __matmul__(self, other: Any) -> Any:
        return bcoo_dot_general(self, other, dimension_numbers=_product_of(self, other))

    def __rmatmul__(self, other: Any) -> Any:
        array = jnp.asarray(other)
        if array.ndim == 1:
            return self.T @ array if self.ndim == 2 else self @ array
        return (self.T @ array.T).T

    def __getitem__(self, index: Any) -> NoReturn:
        _refuse("indexing of a sparse array", "use m.todense()[index], or choose among m.data and m.indices")

    def __iter__(self) -> NoReturn:
        _refuse("iteration over a sparse array", "go over m.todense()")

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        _refuse("a sparse array in the place of a dense one", "use m.todense()")


def _product_of(left: BCOO, right: Any) -> Any:
    axis = max(len(right.shape) - 2, 0)
    return (((left.ndim - 1,), (axis,)), ((), ()))


def bcoo_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = "int32", **options: Any) -> BCOO:
    """Return the elements of an array that are not zero; see `BCOO.fromdense`."""
    return BCOO.fromdense(mat, nse=nse, index_dtype=index_dtype, **options)


def bcoo_todense(mat: BCOO) -> Any:
    """Return all elements as an array."""
    return mat.todense()


def bcoo_dot_general(lhs: BCOO, rhs: Any, *, dimension_numbers: Any, **options: Any) -> Any:
    """Return the product of a sparse array and another one, summed over one axis of each.

    Parameters
    ----------
    lhs : BCOO
    rhs : array_like or BCOO
    dimension_numbers : tuple
        ``((lhs axes, rhs axes), ((), ()))``, as `lax.dot_general` has them; one axis each, no batch.
    **options
        ``precision`` and ``preferred_element_type`` are accepted.

    Returns
    -------
    Array, or BCOO where both are sparse

    Raises
    ------
    UnsupportedError
        If there are batch axes, or several that are summed over.
    ShapeError
        If the axes differ in extent.

    Examples
    --------
    >>> bcoo_dot_general(eye(2), jnp.arange(4.0).reshape(2, 2), dimension_numbers=(((0,), (1,)), ((), ())))
    Array([[0., 2.],
           [1., 3.]], dtype=float...)
    """
    (left, right), batch = dimension_numbers
    if any(len(axes) for axes in batch) or len(left) != 1:
        _refuse(f"bcoo_dot_general by {dimension_numbers}", "use vmap for the batch, and sum over one axis")
    other = rhs if isinstance(rhs, BCOO) else jnp.asarray(rhs)
    if lhs.shape[left[0]] != other.shape[right[0]]:
        raise ShapeError(
            f"bcoo_dot_general: {lhs.shape} and {tuple(other.shape)} differ along axes {left[0]} and {right[0]}",
            where=capture_location(),
        )
    kept = [k for k in range(lhs.ndim) if k != left[0]]
    if isinstance(other, BCOO):
        return _sparse_product(lhs, other, left[0], right[0], kept)
    rows = jnp.moveaxis(other, right[0], 0)[lhs.indices[:, left[0]]]  # (nse, rest of rhs)
    terms = lhs.data.reshape((-1, *(1,) * (rows.ndim - 1))) * rows
    inside = lhs.indices[:, left[0]] < lhs.shape[left[0]]
    terms = jnp.where(inside.reshape((-1, *(1,) * (rows.ndim - 1))), terms, 0)
    if not kept:
        return terms.sum(axis=0)
    total = jnp.zeros((*[lhs.shape[k] for k in kept], *rows.shape[1:]), terms.dtype)
    return total.at[tuple(lhs.indices[:, k] for k in kept)].add(terms)


def _sparse_product(lhs: BCOO, rhs: BCOO, left: int, right: int, kept: list[int]) -> BCOO:
    """Return the product of all pairs of elements that meet; the others pad."""
    rest = [k for k in range(rhs.ndim) if k != right]
    meet = lhs.indices[:, left][:, None] == rhs.indices[:, right][None, :]
    meet = meet & (lhs.indices[:, left] < lhs.shape[left])[:, None]
    data = jnp.where(meet, lhs.data[:, None] * rhs.data[None, :], 0).ravel()
    shape = [*[lhs.shape[k] for k in kept], *[rhs.shape[k] for k in rest]]
    columns = [jnp.broadcast_to(lhs.indices[:, k][:, None], meet.shape) for k in kept]
    columns += [jnp.broadcast_to(rhs.indices[:, k][None, :], meet.shape) for k in rest]
    places = [jnp.where(meet, column, extent).ravel() for column, extent in zip(columns, shape, strict=True)]
    indices = jnp.stack(places, axis=-1) if places else jnp.zeros((data.size, 0), lhs.indices.dtype)
    return BCOO((data, indices), shape=shape)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    index_dtype: Any = "int32",
) -> BCOO:
    """Return a sparse matrix with ones on a diagonal.

    Examples
    --------
    >>> eye(2)
    BCOO(float...[2, 2], nse=2)
    """
    return BCOO.fromdense(jnp.eye(N, M, k, dtype=dtype or float), index_dtype=index_dtype)


def empty(shape: Any, dtype: Any = None, index_dtype: Any = "int32", **options: Any) -> BCOO:
    """Return a sparse array of zeros, none of which is stored.

    Examples
    --------
    >>> empty((2, 3))
    BCOO(float...[2, 3], nse=0)
    """
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    parts = jnp.zeros(0, dtype or float), jnp.zeros((0, len(extents)), index_dtype)
    return BCOO(parts, shape=extents)


_ADVICE = {
    **dict.fromkeys(["BCSR", "COO", "CSC", "CSR"], "use BCOO"),
    **dict.fromkeys(["sparsify", "sparsify_raw"], "use BCOO's operators: @, *, +, sum, transpose"),
    **dict.fromkeys(["grad", "value_and_grad", "jacfwd", "jacrev"], "differentiate with respect to m.data"),
}


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
