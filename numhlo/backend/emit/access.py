"""Where a value's elements lie in a buffer: an offset and a stride for each dimension, in elements.

`Access` is a view in NumPy's sense, computed on paper; `starts` are parts of the offset that are known only at run
time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from numhlo.backend.emit.sizes import Size, Sizes, settled
from numhlo.lowering.ir import Op, Value


class NonlinearViewError(Exception):
    """A reshape that no strides can express; the planner copies the operand first.

    Parameters
    ----------
    op : Op
    """

    def __init__(self, op: Op) -> None:
        super().__init__(op)
        self.op = op


class Start(NamedTuple):
    """A run-time start index: node ``node``'s value, clamped to ``[0, limit]``, times ``stride``."""

    node: int
    stride: int
    limit: int


class Access(NamedTuple):
    """Element ``(i, j, ...)`` lies at ``offset + i * strides[0] + j * strides[1] + ... + starts``."""

    offset: int
    strides: tuple[int, ...]
    starts: tuple[Start, ...] = ()

    def with_strides(self, strides: Sequence[int]) -> Access:
        """Return the same place with other strides."""
        return Access(self.offset, tuple(strides), self.starts)

    def over(self, sizes: Sizes, array: Value | None = None) -> Access:
        """Return the same place in an array with ``sizes[n]`` for every number."""
        starts = self.starts and tuple([Start(s.node, sizes[s.stride], sizes[s.limit]) for s in self.starts])
        return Access(sizes.offset(array, self.offset), tuple(map(sizes.__getitem__, self.strides)), starts)

    def key(self, sizes: Sizes, array: Value | None = None) -> Hashable:
        """Return what tells the place in an array with ``sizes[n]`` for every number apart from others."""
        starts = [(s.node, sizes[s.stride], sizes[s.limit]) for s in self.starts] if self.starts else ()
        return sizes.offset(array, self.offset), *map(sizes.__getitem__, self.strides), *starts


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a C-contiguous array; those of dimensions of extent 1 are 0.

    Examples
    --------
    >>> contiguous((2, 1, 3))
    (3, 0, 1)
    """
    shape = tuple(shape)
    return _strides_of(shape) if Size in map(type, shape) else _contiguous(shape)


def _strides_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = [0] * len(shape)
    step = 1
    for axis in range(len(shape) - 1, -1, -1):
        extent = shape[axis]
        if extent != 1:
            strides[axis] = step
            step *= extent
    return tuple(strides)


_contiguous = lru_cache(maxsize=1024)(_strides_of)


def whole_array(shape: Sequence[int]) -> Access:
    """Return where the elements of a C-contiguous array lie.

    Examples
    --------
    >>> whole_array((2, 3))
    Access(offset=0, strides=(3, 1), starts=())
    """
    shape = tuple(shape)
    return Access(0, _strides_of(shape)) if Size in map(type, shape) else _whole_array(shape)


@lru_cache(maxsize=1024)
def _whole_array(shape: tuple[int, ...]) -> Access:
    return Access(0, _contiguous(shape))


def around(
    shape: Sequence[int], firsts: Sequence[int], extents: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], Access]]:
    """Give the shapes and places of boxes that cover an array but for a window: at most two an axis.

    Parameters
    ----------
    shape : sequence of int
        The array's.
    firsts, extents : sequence of int
        Where the window begins, and its shape.

    Examples
    --------
    >>> [box for box, _ in around((5, 4), (1, 0), (3, 2))]
    [(1, 4), (1, 4), (3, 2)]
    """
    strides = contiguous(shape)
    box = [(0, extent) for extent in shape]
    for axis, (first, extent, whole) in enumerate(zip(firsts, extents, shape, strict=True)):
        for begin, end in ((0, first), (first + extent, whole)):
            if begin < end:
                box[axis] = (begin, end)
                sizes = tuple([settled(stop - start) for start, stop in box])
                offset = settled(sum(start * stride for (start, _), stride in zip(box, strides, strict=True)))
                yield sizes, Access(offset, tuple(0 if n == 1 else s for n, s in zip(sizes, strides, strict=True)))
        box[axis] = (first, first + extent)


def reshape_strides(shape: Sequence[int], strides: Sequence[int], target: Sequence[int]) -> tuple[int, ...] | None:
    """Return the strides of a strided array seen in another shape, or None where that takes a copy.

    Examples
    --------
    >>> reshape_strides((2, 3), (3, 1), (6,)), reshape_strides((2, 3), (1, 2), (6,))
    ((1,), None)
    """
    if 0 in shape:
        return contiguous(target)
    old = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    result = [0] * len(target)
    axes = [axis for axis, n in enumerate(target) if n != 1]
    at, to = 0, 0
    while at < len(old) and to < len(axes):
        size, wanted = old[at][0], target[axes[to]]
        first, first_to = at, to
        while size != wanted:
            if size < wanted:
                at += 1
                size *= old[at][0]
            else:
                to += 1
                wanted *= target[axes[to]]
        for k in range(first, at):
            if old[k][1] != old[k + 1][1] * old[k + 1][0]:
                return None
        step = old[at][1]
        for k in range(to, first_to - 1, -1):
            result[axes[k]] = step
            step *= target[axes[k]]
        at, to = at + 1, to + 1
    return tuple(result)
