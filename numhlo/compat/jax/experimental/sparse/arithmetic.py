"""Sums, products and functions of sparse arrays with whatever else: what operators of `BCOO` and `sparsify` do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax import lax
from numhlo.compat.jax.experimental.sparse.base import JAXSparse, broadcast_shape, misfit, refuse
from numhlo.compat.jax.experimental.sparse.elements import StoredElements, sum_duplicates
from numhlo.compat.jax.experimental.sparse.products import bcoo_dot_general, bcoo_multiply_dense, bcoo_multiply_sparse

DENSE = "use sparse.todense() to convert your arguments to dense matrices"


def kept(mat: Any, data: Any) -> Any:
    """Return a sparse array of other values at the same places."""
    known = {"indices_sorted": mat.indices_sorted, "unique_indices": mat.unique_indices}
    return mat.like(data, **known)


def each(mat: Any, function: Callable[[Any], Any], linear: bool = False) -> Any:
    """Apply a function to all elements, of which zero is the one of zero.

    Parameters
    ----------
    mat : BCOO
    function : callable
    linear : bool, optional
        Otherwise elements of one place are added first.
    """
    if not linear and not mat.unique_indices:
        mat = sum_duplicates(mat, mat.nse)
    return kept(mat, function(mat.data))


def add(x: Any, y: Any) -> Any:
    """Return a sum: a sparse one of sparse arrays, a dense one of a sparse and a dense array."""
    if not isinstance(x, StoredElements):
        x, y = y, x
    if not isinstance(y, StoredElements):
        if isinstance(y, JAXSparse):
            refuse(f"the sum of BCOO and {type(y).__name__}", "use BCOO for both")
        array = jnp.asarray(y)
        if broadcast_shape(x.shape, array.shape) != array.shape:
            refuse(
                f"the sum of a sparse array {x.shape} and a dense one {array.shape}",
                "use m.todense() + x",
                "it would be larger than the dense one",
            )
        return x.todense() + array
    if x.shape != y.shape:
        refuse(f"the sum of sparse arrays {x.shape} and {y.shape}", DENSE, "their shapes differ")
    if x.indices is y.indices:
        return kept(x, x.data + y.data)
    if (x.n_batch, x.n_dense) != (y.n_batch, y.n_dense):
        refuse("the sum of sparse arrays with different batch or dense axes", "use bcoo_update_layout")
    data = [jnp.asarray(m.data).astype(jnp.result_type(x.data, y.data)) for m in (x, y)]
    places = [m.indices.astype(jnp.result_type(x.indices, y.indices)) for m in (x, y)]
    return x.like(_joined(data, x.n_batch), _joined(places, x.n_batch))


def _joined(parts: list[Any], axis: int) -> Any:
    batch = np.broadcast_shapes(*[p.shape[:axis] for p in parts])
    return lax.concatenate([jnp.broadcast_to(p, (*batch, *p.shape[axis:])) for p in parts], axis)


def subtract(x: Any, y: Any) -> Any:
    """Return a difference of sparse arrays."""
    if not (isinstance(x, StoredElements) and isinstance(y, StoredElements)):
        refuse("Subtraction between sparse and dense array.", "use m.todense() - x")
    return add(x, each(y, lambda d: -d, linear=True))


def multiply(x: Any, y: Any) -> Any:
    """Return a product, element by element, which is sparse."""
    if not isinstance(x, StoredElements):
        x, y = y, x
    if not isinstance(y, StoredElements):
        return kept(x, bcoo_multiply_dense(x, y))
    if x.indices is y.indices and x.unique_indices:
        return kept(x, x.data * y.data)
    return bcoo_multiply_sparse(x, y)


def divide(x: Any, y: Any) -> Any:
    """Return a sparse array divided by a dense one."""
    if not isinstance(x, StoredElements) or isinstance(y, StoredElements):
        refuse("Division by a sparse array", DENSE, "it would result in dense output")
    return kept(x, bcoo_multiply_dense(x, 1.0 / y if isinstance(y, int | float | complex) else 1.0 / jnp.asarray(y)))


def power(x: Any, exponent: Any) -> Any:
    """Return a sparse array to the power of a positive integer."""
    if not isinstance(exponent, int | np.integer):
        refuse(f"sparse rule for pow with exponent {exponent!r}", DENSE)
    if exponent <= 0:
        refuse(
            f"sparse rule for integer_pow with non-positive exponent {exponent}",
            DENSE,
            "it would result in dense output",
        )
    return each(x, lambda d: d**exponent)


def matmul(x: Any, y: Any, product: Callable[..., Any] = bcoo_dot_general) -> Any:
    """Return a matrix product, as `numpy.matmul` has it; batches of both are their batch axes.

    Parameters
    ----------
    x, y : sparse array or array_like
    product : callable, optional
        What multiplies.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    """
    x, y = (a if isinstance(a, JAXSparse) else jnp.asarray(a) for a in (x, y))
    if not x.ndim or not y.ndim:
        raise misfit("matmul of a sparse array and a number", fix="use m * x")
    axes = ((x.ndim - 1,), (max(y.ndim - 2, 0),))
    batch = max(x.ndim - 2, 0), max(y.ndim - 2, 0)
    if all(batch):
        if x.shape[: batch[0]] != y.shape[: batch[1]]:
            refuse(f"matmul of a sparse array: {x.shape} @ {y.shape}", "give equal batches to both, or to one alone")
        shared = tuple(range(batch[0]))
        return product(x, y, dimension_numbers=(axes, (shared, shared)))
    found = product(x, y, dimension_numbers=(axes, ((), ())))
    if not batch[1] or x.ndim < 2:
        return found
    order = (*range(1, 1 + batch[1]), 0, *range(1 + batch[1], found.ndim))
    return found.transpose(order)
