"""Plain sparse matrices: `COO`, whose places are listed, `CSR`, row by row, and `CSC`, column by column."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax import lax
from numhlo.compat.jax.experimental.sparse.base import JAXSparse, misfit, refuse
from numhlo.compat.jax.experimental.sparse.bcoo import BCOO, bcoo_fromdense
from numhlo.compat.jax.experimental.sparse.bcsr import pointers_of, rows_of
from numhlo.compat.jax.experimental.sparse.products import bcoo_dot_general
from numhlo.tracer.trees.pytree_registration import register_pytree_node_class


class _Matrix(JAXSparse):
    """A matrix of values and two arrays that say where they are."""

    parts: tuple[str, str]

    def __init__(self, args: tuple[Any, Any, Any], *, shape: Sequence[int]) -> None:
        self.shape = tuple(map(operator.index, shape))
        if len(self.shape) != 2:
            raise misfit(f"{type(self).__name__} must have ndim=2; got {self.shape}")
        for name, x in zip(("data", *self.parts), args, strict=True):
            setattr(self, name, jnp.asarray(x))

    def listed(self) -> BCOO:
        """Return the matrix with its places listed."""
        raise NotImplementedError

    def tree_flatten(self) -> tuple[tuple[Any, ...], Any]:
        """Return the parts, and the rest."""
        return (self.data, *[getattr(self, name) for name in self.parts]), self._known()

    @classmethod
    def tree_unflatten(cls, rest: Any, parts: Any) -> Self:
        """Return the matrix of parts that may be anything."""
        made = object.__new__(cls)
        for name, x in zip(("data", *cls.parts), parts, strict=True):
            setattr(made, name, x)
        made._restore(rest)
        return made

    def _known(self) -> Any:
        return self.shape

    def _restore(self, rest: Any) -> None:
        self.shape = rest

    def todense(self) -> Any:
        """Return all elements as an array."""
        return self.listed().todense()

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, JAXSparse):
            refuse("matmul between two sparse objects.", "use BCOO")
        array = jnp.asarray(other)
        if array.ndim not in (1, 2):
            refuse(f"matmul with object of shape {array.shape}", "use BCOO")
        return _product(self, array, False)


def _product(mat: Any, array: Any, transpose: bool) -> Any:
    axes = (((0 if transpose else 1,), (0,)), ((), ()))
    return bcoo_dot_general(mat.listed(), array, dimension_numbers=axes)


def _diagonal(rows: int, columns: int, k: int, index_dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    count = max(min(rows, columns - k) if k > 0 else min(rows + k, columns), 0)
    at = np.arange(count, dtype=index_dtype)
    return at + np.asarray(max(-k, 0), index_dtype), at + np.asarray(max(k, 0), index_dtype)


@register_pytree_node_class
class COO(_Matrix):
    """A matrix whose elements' rows and columns are listed.

    Parameters
    ----------
    args : tuple of three array_like
        Values, rows, columns.
    shape : tuple of int
    rows_sorted, cols_sorted : bool, optional
        What is known of them.

    Examples
    --------
    >>> COO.fromdense(np.eye(2, dtype=np.float32)) @ np.array([3, 4], np.float32)
    Array([3., 4.], dtype=float32)
    """

    parts = ("row", "col")
    row: Any
    col: Any

    def __init__(
        self,
        args: tuple[Any, Any, Any],
        *,
        shape: Sequence[int],
        rows_sorted: bool = False,
        cols_sorted: bool = False,
    ) -> None:
        super().__init__(args, shape=shape)
        self._rows_sorted, self._cols_sorted = rows_sorted, cols_sorted

    def _known(self) -> Any:
        return self.shape, self._rows_sorted, self._cols_sorted

    def _restore(self, rest: Any) -> None:
        self.shape, self._rows_sorted, self._cols_sorted = rest

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = "int32") -> COO:
        """Return the elements of a matrix that are not zero."""
        found = bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype)
        return cls((found.data, found.indices[:, 0], found.indices[:, 1]), shape=found.shape, rows_sorted=True)

    @classmethod
    def _empty(cls, shape: Sequence[int], *, dtype: Any = None, index_dtype: Any = "int32") -> COO:
        none = jnp.zeros(0, index_dtype)
        return cls((jnp.zeros(0, dtype or float), none, none), shape=shape, rows_sorted=True, cols_sorted=True)

    @classmethod
    def _eye(cls, N: int, M: int, k: int, *, dtype: Any = None, index_dtype: Any = "int32") -> COO:
        rows, columns = _diagonal(N, M, k, index_dtype)
        return cls(
            (jnp.ones(len(rows), dtype or float), rows, columns), shape=(N, M), rows_sorted=True, cols_sorted=True
        )

    def listed(self) -> BCOO:
        """Return the matrix with its places in one array."""
        return BCOO((self.data, jnp.stack([self.row, self.col], -1)), shape=self.shape)

    def _sort_indices(self) -> COO:
        if self._rows_sorted:
            return self
        row, column, data = lax.sort([self.row, self.col, self.data], num_keys=2)
        return COO((data, row, column), shape=self.shape, rows_sorted=True)

    def transpose(self, axes: Sequence[int] | None = None) -> COO:
        """Return the matrix with rows for columns."""
        if axes is not None:
            refuse("axes argument to transpose()", "leave it out")
        known = {"rows_sorted": self._cols_sorted, "cols_sorted": self._rows_sorted}
        return COO((self.data, self.col, self.row), shape=self.shape[::-1], **known)


@register_pytree_node_class
class CSR(_Matrix):
    """A matrix whose elements lie row by row: their columns, and where rows start.

    Parameters
    ----------
    args : tuple of three array_like
        Values, columns, and where rows start and the last one ends.
    shape : tuple of int

    Examples
    --------
    >>> CSR.fromdense(np.eye(2, dtype=np.float32)).T
    CSC(float32[2, 2], nse=2)
    """

    parts = ("indices", "indptr")
    indices: Any
    indptr: Any

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = "int32") -> CSR:
        """Return the elements of a matrix that are not zero."""
        found = bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype)
        pointers = pointers_of(found.indices[:, 0], found.shape[0], found.indices.dtype)
        return cls((found.data, found.indices[:, 1], pointers), shape=found.shape)

    @classmethod
    def _empty(cls, shape: Sequence[int], *, dtype: Any = None, index_dtype: Any = "int32") -> CSR:
        parts = jnp.zeros(0, dtype or float), jnp.zeros(0, index_dtype), jnp.zeros(shape[0] + 1, index_dtype)
        return cls(parts, shape=shape)

    @classmethod
    def _eye(cls, N: int, M: int, k: int, *, dtype: Any = None, index_dtype: Any = "int32") -> CSR:
        rows, columns = _diagonal(N, M, k, index_dtype)
        starts = np.searchsorted(rows, np.arange(N + 1)).astype(index_dtype)
        return cls((jnp.ones(len(rows), dtype or float), columns, starts), shape=(N, M))

    def listed(self) -> BCOO:
        """Return the matrix with its places listed."""
        rows = rows_of(self.indices, self.indptr)
        return BCOO((self.data, jnp.stack([rows, self.indices], -1)), shape=self.shape)

    def transpose(self, axes: Sequence[int] | None = None) -> CSC:
        """Return the matrix with rows for columns."""
        if axes is not None:
            refuse("axes argument to transpose()", "leave it out")
        return CSC((self.data, self.indices, self.indptr), shape=self.shape[::-1])


@register_pytree_node_class
class CSC(_Matrix):
    """A matrix whose elements lie column by column: their rows, and where columns start.

    Parameters
    ----------
    args : tuple of three array_like
        Values, rows, and where columns start and the last one ends.
    shape : tuple of int

    Examples
    --------
    >>> CSC.fromdense(np.eye(2, dtype=np.float32)).T
    CSR(float32[2, 2], nse=2)
    """

    parts = ("indices", "indptr")
    indices: Any
    indptr: Any

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = "int32") -> CSC:
        """Return the elements of a matrix that are not zero."""
        return CSR.fromdense(jnp.asarray(mat).T, nse=nse, index_dtype=index_dtype).transpose()

    @classmethod
    def _empty(cls, shape: Sequence[int], *, dtype: Any = None, index_dtype: Any = "int32") -> CSC:
        parts = jnp.zeros(0, dtype or float), jnp.zeros(0, index_dtype), jnp.zeros(shape[1] + 1, index_dtype)
        return cls(parts, shape=shape)

    @classmethod
    def _eye(cls, N: int, M: int, k: int, *, dtype: Any = None, index_dtype: Any = "int32") -> CSC:
        return CSR._eye(M, N, -k, dtype=dtype, index_dtype=index_dtype).transpose()

    def listed(self) -> BCOO:
        """Return the matrix with its places listed."""
        return self.transpose().listed().transpose()

    def transpose(self, axes: Sequence[int] | None = None) -> CSR:
        """Return the matrix with rows for columns."""
        if axes is not None:
            refuse("axes argument to transpose()", "leave it out")
        return CSR((self.data, self.indices, self.indptr), shape=self.shape[::-1])


def coo_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = "int32") -> COO:
    """Return the elements of a matrix that are not zero."""
    return COO.fromdense(mat, nse=nse, index_dtype=index_dtype)


def csr_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = "int32") -> CSR:
    """Return the elements of a matrix that are not zero, row by row."""
    return CSR.fromdense(mat, nse=nse, index_dtype=index_dtype)


def coo_todense(mat: COO) -> Any:
    """Return all elements as an array."""
    return mat.todense()


def csr_todense(mat: CSR) -> Any:
    """Return all elements as an array."""
    return mat.todense()


def _require(name: str, array: Any, ndim: int) -> Any:
    found = jnp.asarray(array)
    if found.ndim != ndim:
        raise misfit(f"{name} with an array {found.shape}, which is to have {ndim} axes")
    return found


def coo_matvec(mat: COO, v: Any, transpose: bool = False) -> Any:
    """Return the product of a matrix, or its transpose, and a vector."""
    return _product(mat, _require("coo_matvec", v, 1), transpose)


def coo_matmat(mat: COO, B: Any, *, transpose: bool = False) -> Any:
    """Return the product of a matrix, or its transpose, and a dense one."""
    return _product(mat, _require("coo_matmat", B, 2), transpose)


def csr_matvec(mat: CSR, v: Any, transpose: bool = False) -> Any:
    """Return the product of a matrix, or its transpose, and a vector."""
    return _product(mat, _require("csr_matvec", v, 1), transpose)


def csr_matmat(mat: CSR, B: Any, *, transpose: bool = False) -> Any:
    """Return the product of a matrix, or its transpose, and a dense one."""
    return _product(mat, _require("csr_matmat", B, 2), transpose)
