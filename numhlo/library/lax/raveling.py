"""Pytrees of arrays as one vector, and back."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from numhlo.library.lax.joining import slice_in_dim
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.building import (
    asarray,
    concatenate_arrays,
    convert,
    extent_product,
    operand_of,
    reshape_to,
    result_dtype,
    runs_anywhere,
    shape_of,
    spelling,
    tree_flatten,
    tree_unflatten,
)
from numhlo.tracer.building import operations as b

__all__ = ["ravel_pytree"]


@runs_anywhere
def _joined(arrays: list[Any], dtype: np.dtype) -> Any:
    parts = [reshape_to(convert(x, dtype), (extent_product(shape_of(x)),)) for x in arrays]
    return concatenate_arrays(parts, 0)


@runs_anywhere
def _parted(flat: Any, shapes: list[tuple[int, ...]], dtypes: list[np.dtype]) -> list[Any]:
    ends = list(accumulate(map(extent_product, shapes), initial=0))
    parts = [slice_in_dim(flat, low, high) for low, high in pairwise(ends)]
    return [_converted(reshape_to(p, s), d) for p, s, d in zip(parts, shapes, dtypes, strict=True)]


def _converted(part: Any, dtype: np.dtype) -> Any:
    """Return a part of the vector in its own dtype; an imaginary part is lost where that is real."""
    is_complex = part.dtype.kind == "c" and dtype.kind != "c"
    return convert(b.real(part) if is_complex else part, dtype)


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return all elements of a tree's leaves as one vector, and the function that makes the tree of such a vector.

    Parameters
    ----------
    pytree : pytree of arrays

    Returns
    -------
    flat : array, shape (n,)
        Of the leaves' common dtype; float64 for a tree without leaves.
    unravel : callable
        ``unravel(vector) -> tree`` with the leaves' shapes and dtypes.

    Raises
    ------
    ArgumentError
        If `unravel` is called with an array of another shape.

    Examples
    --------
    >>> flat, unravel = ravel_pytree({"w": np.eye(2), "b": np.array([5.0])})
    >>> flat
    Array([5., 1., 0., 0., 1.])
    >>> unravel(2 * flat)["b"]
    Array([10.])
    """
    leaves, tree = tree_flatten(pytree)
    arrays = [asarray(x) for x in leaves]
    shapes, dtypes = [shape_of(x) for x in arrays], [x.dtype for x in arrays]
    flat = _joined(arrays, result_dtype(*arrays)) if arrays else operand_of(np.zeros(0))
    size = shape_of(flat)

    def unravel(vector: Any) -> Any:
        array = asarray(vector)
        if shape_of(array) != size:
            raise ArgumentError(
                f"unravel of {spelling(array)}", where=capture_location(), fix=f"pass a vector of {size[0]} elements"
            )
        return tree_unflatten(tree, _parted(array, shapes, dtypes) if arrays else [])

    return flat, unravel
