"""A Fourier transform on paper: which lines are transformed, by which factors, and the tables of roots that takes.

Sizes, steps and tables only; `fourier` writes the loops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

import numpy as np

from numhlo.backend.primitives.fourier import RADICES

LONGEST = 2048
"""Elements of a line up to which it is transformed at once, in memory that stays in the second cache."""

LONGEST_REAL = 1 << 15
"""The same for real lines, which are never cut in two."""

FEW_LINES = 4
"""Lines side by side up to which a line is better cut in two, whose parts are lines side by side."""

SHORT = 64
"""Lines below this length are not."""

Loop = tuple[int, int, int]
"""Extent, step in the source, step in the target."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that one kernel transforms.

    Attributes
    ----------
    kind : str
        FFT, IFFT, RFFT or IRFFT.
    length : int
        Of the transform: of the real line, where one side is real.
    steps : tuple of int
        From one element of a line to the next, in the source and in the target.
    lane : Loop
        The lines that are transformed side by side.
    outer : tuple of Loop
        All others.
    offset : int
        Of the first element in the source.
    turns : int
        Line ``j`` has its element ``k`` multiplied by the root ``j * k`` of so many; 0 where it has not.
    scale : int
        What results are divided by; 0 for nothing.
    """

    kind: str
    length: int
    steps: tuple[int, int]
    lane: Loop
    outer: tuple[Loop, ...]
    offset: int = 0
    turns: int = 0
    scale: int = 0

    @property
    def core(self) -> int:
        """Return the length of the complex transform: real lines of even length are taken as half as many numbers."""
        halved = self.kind in ("RFFT", "IRFFT") and self.length % 2 == 0
        return self.length // 2 if halved else self.length

    @property
    def count(self) -> int:
        """Return the number of lines."""
        return math.prod([n for n, *_ in (*self.outer, self.lane)])


def factors(length: int) -> list[int]:
    """Return the radices whose product a length is, or nothing where there are none.

    Examples
    --------
    >>> factors(96), factors(1), factors(34)
    ([4, 4, 2, 3], [], [])
    """
    found: list[int] = []
    for radix in (4, *RADICES):
        while length % radix == 0:
            found.append(radix)
            length //= radix
    return found if length == 1 else []


def is_smooth(length: int) -> bool:
    """Return whether a length is a product of radices."""
    return length == 1 or bool(factors(length))


def halves(length: int) -> tuple[int, int]:
    """Return two factors of a length, as near to each other as there are.

    Examples
    --------
    >>> halves(4096), halves(6000)
    ((64, 64), (75, 80))
    """
    first = next(n for n in range(math.isqrt(length), 0, -1) if length % n == 0)
    return first, length // first


def cut(lines: Lines) -> tuple[Lines, Lines] | None:
    """Return the two steps that transform long or few lines, the result of the first lying dense; None for others.

    With ``j = j1 n2 + j2`` and ``k = k1 + n1 k2``, the first transforms along ``j1`` for every ``j2`` and turns by
    ``j2 k1`` of ``n`` roots, the second transforms along ``j2`` for every ``k1``.
    """
    n = lines.length
    first, second = halves(n)
    is_few = lines.lane[0] <= FEW_LINES and n >= SHORT
    if lines.kind not in ("FFT", "IFFT") or first < FEW_LINES or not (n > LONGEST or is_few):
        return None
    step, leap = lines.steps
    around = (*lines.outer, lines.lane)
    dense: list[Loop] = []
    size = n
    for extent, _, _ in reversed(around):
        dense.insert(0, (extent, size, size))
        size *= extent
    before = merged([(n, a, b) for (n, a, _), (_, b, _) in zip(around, dense, strict=True)])
    after = merged([(n, a, b) for (n, _, b), (_, a, _) in zip(around, dense, strict=True)])
    return (
        Lines(lines.kind, first, (second * step, second), (second, step, 1), before, lines.offset, n),
        Lines(lines.kind, second, (1, first * leap), (first, second, leap), after, 0, 0, lines.scale),
    )


def merged(loops: Sequence[Loop]) -> tuple[Loop, ...]:
    """Return the fewest loops that do the same.

    Examples
    --------
    >>> merged([(2, 12, 24), (3, 4, 8), (1, 7, 7), (4, 1, 2)])
    ((24, 1, 2),)
    """
    found: list[Loop] = []
    for n, step, leap in loops:
        if n == 1:
            continue
        if found and found[-1][1:] == (step * n, leap * n):
            found[-1] = (found[-1][0] * n, step, leap)
        else:
            found.append((n, step, leap))
    return tuple(found)


_ROOTS: WeakValueDictionary[tuple[int, np.dtype], np.ndarray] = WeakValueDictionary()
"""The tables of programs that are alive, which share them."""


def roots(length: int, dtype: np.dtype) -> np.ndarray:
    """Return ``exp(-2 pi i k / length)`` for all ``k``, correct to an ulp.

    Examples
    --------
    >>> roots(4, np.dtype("complex128")).round(2)
    array([ 1.+0.j,  0.-1.j, -1.+0.j,  0.+1.j])
    """
    known = _ROOTS.get((length, dtype))
    if known is not None:
        return known
    k = np.arange(length)
    quarter = (4 * k + length // 2) // length
    angle = (np.pi / 2) * ((4 * k - quarter * length) / length)  # at most an eighth of a turn: no digits are lost
    turned = (np.cos(angle) - 1j * np.sin(angle)) * np.array([1, -1j, -1, 1j])[quarter % 4]
    table: np.ndarray = turned.astype(dtype)
    _ROOTS[length, dtype] = table
    return table


def radices(length: int) -> np.ndarray:
    """Return the factors of a length as a table."""
    return np.array(factors(length), np.int64)
