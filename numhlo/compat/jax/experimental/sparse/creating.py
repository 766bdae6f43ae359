"""Sparse arrays made of nothing: empty ones, identities, random ones; and any of them made dense."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax import random
from numhlo.compat.jax.experimental.sparse.base import JAXSparse, misfit
from numhlo.compat.jax.experimental.sparse.bcoo import BCOO
from numhlo.compat.jax.experimental.sparse.bcsr import BCSR
from numhlo.compat.jax.experimental.sparse.matrices import COO, CSC, CSR
from numhlo.compat.jax.interpreters import ad, batching, mlir
from numhlo.compat.jax.primitives import Primitive
from numhlo.compat.jax.transformations import vmap
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.core.trace import Tracer

FORMATS: dict[str, Any] = {"bcoo": BCOO, "bcsr": BCSR, "coo": COO, "csc": CSC, "csr": CSR}

todense_p = Primitive("todense")
todense_p.def_impl(lambda x: x)
todense_p.def_abstract_eval(lambda aval: aval)
ad.deflinear2(todense_p, lambda ct, x: (todense_p.bind(ct),))
batching.defvectorized(todense_p)
mlir.register_lowering(todense_p, mlir.lower_fun(lambda x: x, multiple_results=False))


def todense(arr: Any) -> Any:
    """Return an array, sparse or not, as a dense one; under `sparsify`, what follows sees a dense one.

    Examples
    --------
    >>> todense(eye(2))
    Array([[1., 0.],
           [0., 1.]], dtype=float...)
    """
    if isinstance(arr, JAXSparse):
        return arr.todense()
    return todense_p.bind(arr) if isinstance(arr, Tracer) else jnp.asarray(arr)


def _format(name: str, known: Sequence[str]) -> Any:
    if name not in known:
        raise ArgumentError(
            f"sparse_format={name!r} not recognized", where=capture_location(), fix=f"use one of {', '.join(known)}"
        )
    return FORMATS[name]


def empty(
    shape: Sequence[int], dtype: Any = None, index_dtype: Any = "int32", sparse_format: str = "bcoo", **kwds: Any
) -> Any:
    """Return a sparse array of zeros, none of which is stored.

    Parameters
    ----------
    shape : sequence of int
    dtype, index_dtype : dtype_like, optional
    sparse_format : {"bcoo", "bcsr", "coo", "csr", "csc"}, optional
    **kwds
        ``n_batch``, ``n_dense`` and ``nse``, for those that have them.

    Examples
    --------
    >>> empty((2, 3))
    BCOO(float...[2, 3], nse=0)
    """
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    return _format(sparse_format, list(FORMATS))._empty(extents, dtype=dtype, index_dtype=index_dtype, **kwds)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    **kwds: Any,
) -> Any:
    """Return a sparse matrix with ones on a diagonal.

    Parameters
    ----------
    N, M : int
        Numbers of rows and columns; as many by default.
    k : int, optional
        Which diagonal, counted upwards from the main one.
    dtype, index_dtype : dtype_like, optional
    sparse_format : {"bcoo", "coo", "csr", "csc"}, optional
    **kwds
        ``n_batch`` and ``n_dense``, for `BCOO`.

    Examples
    --------
    >>> eye(2)
    BCOO(float...[2, 2], nse=2)
    """
    made = _format(sparse_format, ["bcoo", "coo", "csr", "csc"])
    rows, diagonal = operator.index(N), operator.index(k)
    columns = rows if M is None else operator.index(M)
    return made._eye(rows, columns, diagonal, dtype=dtype, index_dtype=index_dtype, **kwds)


def random_bcoo(  # noqa: PLR0913 - JAX's parameters
    key: Any,
    shape: Sequence[int],
    *,
    dtype: Any = float,
    indices_dtype: Any = None,
    nse: float = 0.2,
    n_batch: int = 0,
    n_dense: int = 0,
    unique_indices: bool = True,
    sorted_indices: bool = False,
    generator: Callable[..., Any] = random.uniform,
    **kwds: Any,
) -> BCOO:
    """Return a sparse array of random elements at random places.

    Parameters
    ----------
    key : key
    shape : sequence of int
    dtype, indices_dtype : dtype_like, optional
    nse : int or float, optional
        How many elements each batch stores, or, below 1, which part of all.
    n_batch, n_dense : int, optional
    unique_indices, sorted_indices : bool, optional
        What places are like.
    generator : callable, optional
        Draws the values: ``generator(key, shape, dtype, **kwds)``.
    **kwds
        For it.

    Raises
    ------
    ShapeError
        If there are not so many axes or elements.

    Examples
    --------
    >>> random_bcoo(random.key(0), (3, 4), nse=5)
    BCOO(float...[3, 4], nse=5)
    """
    extents = tuple(map(operator.index, shape))
    last = len(extents) - n_dense
    if min(n_batch, n_dense) < 0 or last < n_batch:
        raise misfit(f"Invalid n_batch={n_batch}, n_dense={n_dense} for shape={extents}")
    batch, inner, dense = extents[:n_batch], extents[n_batch:last], extents[last:]
    size = math.prod(inner)
    if not 0 <= nse < size:
        raise misfit(f"got nse={nse}, expected to be between 0 and {size}")
    count = operator.index(math.ceil(nse * size) if 0 < nse < 1 else nse)  # type: ignore[arg-type]
    index_dtype = jnp.asarray(0).dtype if indices_dtype is None else jnp.dtype(indices_dtype)
    if size > jnp.iinfo(index_dtype).max:
        raise misfit(f"indices_dtype={index_dtype} does not have enough range for sparse indices of size {size}")

    def places(own: Any) -> Any:
        if not inner:
            return jnp.zeros((count, 0), index_dtype)
        flat = random.choice(own, size, (count,), replace=not unique_indices).astype(index_dtype)
        return jnp.stack(jnp.unravel_index(flat, inner), -1).astype(index_dtype)

    keys = random.split(key, math.prod(batch) + 1)
    data = generator(keys[0], shape=(*batch, count, *dense), dtype=dtype, **kwds)
    indices = vmap(places)(keys[1:]).reshape((*batch, count, len(inner)))
    made = BCOO((data, indices), shape=extents)
    return made.sort_indices() if sorted_indices else made
