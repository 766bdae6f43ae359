"""Windows over an array: how many there are, and an array of all of them.

`reduce_window`, `select_and_scatter`, `convolution` and the backend's kernels for them share this file. It knows
extents, strides, dilations and padding; it refuses to know what is done with a window.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir import DYNAMIC
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.primitive import Attribute, Signature

Pairs = tuple[tuple[int, int], ...]

STRIDES = Attribute("window_strides", "array<i64>", None)
PADDING = Attribute("padding", "dense", None)


@record(frozen=True, slots=True)
class Windows:
    """Windows over all dimensions of an array.

    Attributes
    ----------
    sizes : tuple of int
        Elements of a window.
    strides : tuple of int
        Steps from one window to the next.
    padding : tuple of (int, int)
        Elements before and after the array; negative ones take away.
    base_dilations, window_dilations : tuple of int
        Distances between elements of the array before windows are laid over it, and between those of a window.
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    padding: Pairs
    base_dilations: tuple[int, ...]
    window_dilations: tuple[int, ...]

    def counts(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the number of windows along each dimension.

        Examples
        --------
        >>> Windows((2,), (4,), ((2, 1),), (2,), (3,)).counts((3,))
        (2,)
        """
        rows = zip(
            shape,
            self.sizes,
            self.strides,
            self.padding,
            self.base_dilations,
            self.window_dilations,
            strict=True,
        )
        return tuple([_count(*row) for row in rows])

    def padded(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the extents of the array as windows see it, dilated and padded."""
        rows = zip(shape, self.padding, self.base_dilations, strict=True)
        return tuple([max(low + dilated(n, base) + high, 0) for n, (low, high), base in rows])

    @property
    def is_padded(self) -> bool:
        """Return whether windows see anything but the array."""
        return any(map(any, self.padding)) or any(n != 1 for n in self.base_dilations)


def dilated(extent: int, dilation: int) -> int:
    """Return an extent with ``dilation - 1`` elements put between any two.

    Examples
    --------
    >>> dilated(3, 2), dilated(0, 2)
    (5, 0)
    """
    return (extent - 1) * dilation + 1 if extent else 0


def _count(extent: int, size: int, stride: int, padding: tuple[int, int], base: int, window: int) -> int:
    if DYNAMIC in {extent, size}:
        return DYNAMIC
    padded = padding[0] + dilated(extent, base) + padding[1]
    reach = dilated(size, window)
    return (padded - reach) // stride + 1 if padded > 0 and reach <= padded else 0


def as_pairs(padding: np.ndarray | None, rank: int) -> Pairs:
    """Return the attribute ``padding``, zeros where it was left out, as pairs."""
    if padding is None:
        return ((0, 0),) * rank
    return tuple([(int(low), int(high)) for low, high in padding])


def as_array(pairs: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return pairs as the attribute ``padding`` has them."""
    return np.array(pairs, np.int64).reshape(len(pairs), 2)


def ones_or(values: tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    """Return an attribute of strides or dilations, ones where it was left out."""
    return (1,) * rank if values is None else tuple(values)


def check_positive(signature: Signature, name: str, rank: int, size_rule: str, sign_rule: str) -> tuple[int, ...]:
    """Return an attribute of ``rank`` positive numbers, ones where it was left out.

    Parameters
    ----------
    signature : Signature
    name : str
        The attribute's.
    rank : int
    size_rule, sign_rule : str
        Ids of the constraints that it has ``rank`` numbers, and positive ones.
    """
    values = ones_or(signature.attributes[name], rank)
    signature.require(len(values) == rank, f"({size_rule}) {name} must have {rank} entries, not {len(values)}")
    signature.require(all(n > 0 for n in values), f"({sign_rule}) {name} must be positive, not {list(values)}")
    return values


def check_padding(signature: Signature, rank: int, rule: str) -> Pairs:
    """Return the attribute ``padding`` as pairs; ``rule`` is the id of the constraint on its shape."""
    padding = signature.attributes["padding"]
    fits = padding is None or padding.shape == (rank, 2)
    signature.require(fits, f"({rule}) padding must have the shape [{rank}, 2]")
    return as_pairs(padding, rank)


def pad_array(array: np.ndarray, value: np.ndarray, windows: Windows) -> np.ndarray:
    """Return an array as windows see it: dilated, then padded with ``value``."""
    if not windows.is_padded:
        return array
    result = np.full(windows.padded(array.shape), value, array.dtype)
    places, kept = [], []
    for extent, size, (low, _), base in zip(
        array.shape, result.shape, windows.padding, windows.base_dilations, strict=True
    ):
        first = max(0, -(low // base))  # the least index with low + index * base >= 0
        end = max(first, min(extent, -((low - size) // base)))
        kept.append(slice(first, end))
        places.append(slice(low + first * base, max(low + (end - 1) * base + 1, 0) if end > first else 0, base))
        if end == first:
            return result
    result[tuple(places)] = array[tuple(kept)]
    return result


def windows_of(array: np.ndarray, windows: Windows, counts: Sequence[int]) -> np.ndarray:
    """Return all windows of a padded array as a read-only view ``(*counts, *sizes)``.

    Examples
    --------
    >>> windows_of(np.arange(4), Windows((2,), (1,), ((0, 0),), (1,), (1,)), (3,)).tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    outer = [s * n for s, n in zip(array.strides, windows.strides, strict=True)]
    inner = [s * n for s, n in zip(array.strides, windows.window_dilations, strict=True)]
    shape = (*counts, *windows.sizes)
    if 0 in shape:
        return np.empty(shape, array.dtype)
    bits = array.view(np.uint8) if array.dtype.itemsize == 1 else array  # NumPy knows no views of some narrow floats
    return np.lib.stride_tricks.as_strided(bits, shape, outer + inner, writeable=False).view(array.dtype)
