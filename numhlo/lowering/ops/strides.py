"""Strides in memory, in bytes, as NumPy has them: whether a reshape needs a copy, and what it makes of the strides.

The graph knows no layout; tracing asks here whether a reshape is a view or a copy, as it would be in NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Strides = tuple[int, ...]

SCALAR: Strides = ()
"""What stands for the strides of a scalar of NumPy's, which is no 0-d array: nothing can be written into it."""


def contiguous_strides(shape: Sequence[int], itemsize: int) -> Strides:
    """Return a C-contiguous array's strides.

    Examples
    --------
    >>> contiguous_strides((2, 3), 8)
    (24, 8)
    """
    strides = [itemsize] * len(shape)
    for axis in reversed(range(len(shape) - 1)):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


def are_contiguous(shape: Sequence[int], strides: Strides, itemsize: int) -> bool:
    """Return whether an array of these strides is C-contiguous; axes of extent 1 don't count, nor do empty arrays."""
    wanted = contiguous_strides(shape, itemsize)
    return 0 in shape or all(n == 1 or a == b for n, a, b in zip(shape, strides, wanted, strict=True))


def reshaped_strides(shape: Sequence[int], strides: Strides, new_shape: Sequence[int], itemsize: int) -> Strides | None:
    """Return the strides after a C-order reshape, or None where NumPy would copy.

    Notes
    -----
    Axes are matched in groups of equal size, from the left; a group of several old axes must lie like one axis. This is
    NumPy's rule (``_attempt_nocopy_reshape``).

    Examples
    --------
    >>> reshaped_strides((2, 2), (32, 16), (4,), 8)
    (16,)
    >>> reshaped_strides((2, 2), (8, 16), (4,), 8) is None
    True
    """
    if 0 in shape:
        return contiguous_strides(new_shape, itemsize)
    old = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    result: list[int] = []
    taken = 0
    for first, last in _groups([n for n, _ in old], new_shape):
        size = 1
        end = taken
        wanted = _product(new_shape[first:last])
        while size < wanted:
            size *= old[end][0]
            end += 1
        group = old[taken:end]
        if any(a[1] != b[1] * b[0] for a, b in pairwise(group)):
            return None
        innermost = group[-1][1] if group else itemsize
        result += contiguous_strides(new_shape[first:last], innermost)
        taken = end
    return tuple(result)


def _groups(old: Sequence[int], new: Sequence[int]) -> list[tuple[int, int]]:
    """Return the shortest runs of new axes whose sizes are those of runs of old axes."""
    groups = []
    first, position, old_size, new_size = 0, 0, 1, 1
    for last, extent in enumerate(new, 1):
        new_size *= extent
        while old_size < new_size and position < len(old):
            old_size *= old[position]
            position += 1
        if old_size == new_size:
            groups.append((first, last))
            first, old_size, new_size = last, 1, 1
    return groups


def _product(extents: Sequence[int]) -> int:
    product = 1
    for n in extents:
        product *= n
    return product
