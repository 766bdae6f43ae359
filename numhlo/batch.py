"""`numhlo.batch`: what people write around a batched function by hand.

Ragged lists are padded to one array with a mask, and taken apart again; long inputs are run in micro-batches of one
shape, so that one compilation serves all of them; results are gathered into pytrees of arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.tracer.core.array import Array
from numhlo.tracer.trees.pytrees import tree_flatten, tree_leaves, tree_map, tree_unflatten

__all__ = ["micro_batches", "pad", "stack", "unpad", "unstack"]


def __dir__() -> list[str]:
    return __all__


def pad(
    arrays: Sequence[Any], *, length: int | None = None, multiple_of: int = 1, fill_value: Any = 0
) -> tuple[Array, Array]:
    """Return arrays of different lengths as one array, and a mask that says what is not padding.

    Parameters
    ----------
    arrays : sequence of array_like
        Of shapes ``(n_k, *rest)``, with one ``rest``; dtypes are promoted.
    length : int, optional
        What to pad to; the greatest ``n_k`` where left out.
    multiple_of : int, optional
        Round the length up to a multiple, so that few lengths, and few compilations, occur.
    fill_value : scalar, optional
        What the padding holds.

    Returns
    -------
    padded : Array
        Of shape ``(len(arrays), length, *rest)``.
    mask : Array of bool
        Of shape ``(len(arrays), length)``.

    Raises
    ------
    ShapeError
        If an array is longer than ``length``, or the arrays differ in ``rest``.
    ArgumentError
        If ``multiple_of`` is not positive.

    Examples
    --------
    >>> padded, mask = pad([[1.0, 2.0], [3.0]])
    >>> padded
    Array([[1., 2.],
           [3., 0.]])
    >>> np.sum(padded, axis=1, where=mask) / mask.sum(axis=1)
    Array([1.5, 3. ])
    """
    if multiple_of < 1:
        raise ArgumentError(f"pad: multiple_of={multiple_of}", where=capture_location(), fix="use a positive number")
    parts = [np.asarray(a) for a in arrays]
    if any(p.ndim == 0 for p in parts):
        raise ShapeError(
            "pad: an array without dimensions", where=capture_location(), fix="pass arrays with at least one axis"
        )
    rests = {p.shape[1:] for p in parts}
    if len(rests) > 1:
        raise ShapeError(
            f"pad: arrays of shapes (n, *rest) with different rests: {sorted(rests)}", where=capture_location()
        )
    longest = max((len(p) for p in parts), default=0)
    wanted = longest if length is None else length
    if longest > wanted:
        raise ShapeError(
            f"pad: an array of length {longest} for length={wanted}",
            where=capture_location(),
            fix="cut it, or pad to more",
        )
    wanted = -(-wanted // multiple_of) * multiple_of
    dtype = np.result_type(*parts) if parts else np.dtype(np.float64)
    padded = np.full((len(parts), wanted, *(rests.pop() if rests else ())), fill_value, dtype)
    for row, part in zip(padded, parts, strict=True):
        row[: len(part)] = part
    lengths = np.array([len(p) for p in parts], np.int64)
    return padded.view(Array), (np.arange(wanted) < lengths[:, None]).view(Array)


def unpad(padded: Any, mask: Any) -> list[Any]:
    """Return what `pad` was given: the rows of a batch without their padding.

    Parameters
    ----------
    padded : pytree of arrays
        Of shapes ``(count, length, ...)``, such as the results for a padded batch.
    mask : array of bool
        Of shape ``(count, length)``, with the true elements first.

    Returns
    -------
    list of pytrees
        One for each row.

    Raises
    ------
    ShapeError
        If an array has other leading axes than the mask.

    Examples
    --------
    >>> unpad(np.array([[1, 2], [3, 0]]), np.array([[True, True], [True, False]]))
    [Array([1, 2]), Array([3])]
    """
    keep = np.asarray(mask)
    for leaf in tree_leaves(padded):
        if np.shape(leaf)[:2] != keep.shape:
            raise ShapeError(
                f"unpad: an array of shape {np.shape(leaf)} with a mask of shape {keep.shape}", where=capture_location()
            )
    lengths = keep.sum(axis=1)
    return [tree_map(lambda x, k=k, n=n: np.asarray(x)[k, :n].view(Array), padded) for k, n in enumerate(lengths)]


def stack(trees: Sequence[Any]) -> Any:
    """Return pytrees of one structure as one pytree of arrays with a leading axis.

    Parameters
    ----------
    trees : sequence of pytree
        Arrays in one place have one shape.

    Returns
    -------
    pytree of Array

    Raises
    ------
    ArgumentError
        If there are none, or their structures differ.
    ShapeError
        If arrays at the same place differ in shape.

    Examples
    --------
    >>> stack([{"loss": 1.0}, {"loss": 0.5}])
    {'loss': Array([1. , 0.5])}
    """
    if not trees:
        raise ArgumentError("stack: no trees", where=capture_location(), fix="pass at least one")
    columns, structure = [], None
    for tree in trees:
        leaves, found = tree_flatten(tree)
        if structure is not None and found != structure:
            raise ArgumentError(f"stack: trees of structures {structure} and {found}", where=capture_location())
        structure = found
        columns.append(leaves)
    assert structure is not None
    for number, column in enumerate(zip(*columns, strict=True)):
        shapes = list(dict.fromkeys(np.shape(x) for x in column))
        if len(shapes) > 1:
            raise ShapeError(
                f"stack: leaf {number} has shapes {shapes[0]} and {shapes[1]}",
                where=capture_location(),
                fix="pad the arrays first",
            )
    return tree_unflatten(structure, [np.stack(column).view(Array) for column in zip(*columns, strict=True)])


def unstack(tree: Any) -> list[Any]:
    """Return a pytree of arrays with a leading axis as a list of pytrees; the inverse of `stack`.

    Parameters
    ----------
    tree : pytree of arrays

    Returns
    -------
    list of pytree

    Raises
    ------
    ShapeError
        If the arrays have no common leading extent.

    Examples
    --------
    >>> unstack({"x": np.array([1, 2])})
    [{'x': Array(1)}, {'x': Array(2)}]
    """
    return [
        tree_map(lambda x, k=k: np.asarray(np.asarray(x)[k]).view(Array), tree) for k in range(_count(tree, "unstack"))
    ]


def _count(tree: Any, what: str) -> int:
    extents = {np.shape(leaf)[:1] for leaf in tree_leaves(tree)}
    if len(extents) != 1 or extents == {()}:
        raise ShapeError(
            f"{what}: arrays with leading extents {sorted(extents)}",
            where=capture_location(),
            fix="give all of them one leading axis",
        )
    return int(extents.pop()[0])


def micro_batches(
    fun: Callable[..., Any], size: int, *, progress: Callable[[int, int], None] | None = None
) -> Callable[..., Any]:
    """Return ``fun``, which takes a batch, run on a few examples at a time.

    Parameters
    ----------
    fun : callable
        Takes pytrees of arrays whose leading axis holds the examples, such as a jitted `vmap`; returns one.
    size : int
        Examples in a micro-batch. The last one is filled up with its last example, and the results of the filling are
        dropped: all micro-batches have one shape, and compile once.
    progress : callable, optional
        ``progress(done, total)``, after each micro-batch.

    Returns
    -------
    callable
        Results are joined along the leading axis.

    Raises
    ------
    ArgumentError
        If ``size`` is not positive.
    ShapeError
        If the arguments have no common leading extent, or a result is not as long as its batch.

    Examples
    --------
    >>> micro_batches(lambda x: x * 2, 2, progress=lambda done, total: print(done, "of", total))(np.arange(5))
    2 of 5
    4 of 5
    5 of 5
    Array([0, 2, 4, 6, 8])
    """
    if size < 1:
        raise ArgumentError(f"micro_batches: size={size}", where=capture_location(), fix="use a positive number")

    @functools.wraps(fun)
    def batched(*args: Any, **kwargs: Any) -> Any:
        total = _count((args, kwargs), "micro_batches")
        parts = []
        for start, chunk in _chunks((args, kwargs), total, size):
            given, named = chunk
            result = fun(*given, **named)
            shapes = [np.shape(x) for x in tree_leaves(result)]
            if any(shape[:1] != (size,) for shape in shapes):
                raise ShapeError(
                    f"micro_batches: results of shapes {shapes} for {size} examples",
                    where=capture_location(),
                    why="results of all batches are joined along the leading axis, which must hold the examples",
                    fix="return a result for each example, and reduce them afterwards",
                )
            kept = min(size, total - start)
            parts.append(tree_map(lambda x, kept=kept: np.asarray(x)[:kept], result))
            if progress is not None:
                progress(start + kept, total)
        return tree_map(lambda *xs: np.concatenate(xs).view(Array), *parts)

    return batched


def _chunks(tree: Any, total: int, size: int) -> Iterator[tuple[int, Any]]:
    """Yield the start of each micro-batch and the batch, filled up; one of filling only where there are no examples."""
    for start in range(0, max(total, 1), size):
        if start + size <= total:
            yield start, tree_map(lambda x, s=start: np.asarray(x)[s : s + size], tree)
        elif total:
            places = np.minimum(np.arange(start, start + size), total - 1)
            yield start, tree_map(lambda x, p=places: np.asarray(x)[p], tree)
        else:
            yield start, tree_map(lambda x: np.zeros((size, *np.shape(x)[1:]), np.asarray(x).dtype), tree)
