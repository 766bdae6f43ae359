"""A Fourier transform on paper: which lines are transformed, by which factors, and the tables of roots that takes.

Sizes, steps and tables only; `fourier` writes the loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from weakref import WeakValueDictionary

import numpy as np

from numhlo.backend.primitives.fourier import RADICES
from numhlo.lowering.ir.records import record

LONGEST = 2048
"""Elements of a line up to which it is transformed at once, in memory that stays in the second cache."""

LONGEST_REAL = 1 << 14
"""The same for real lines, which take two passes more if they are cut: half of their elements."""

FEW_LINES = 4
"""Lines side by side up to which a line is better cut in two, whose parts are lines side by side."""

SHORT = 64
"""Lines below this length are not."""

Loop = tuple[int, int, int]
"""Extent, step in the source, step in the target."""


@record(frozen=True, slots=True)
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
        halved = self.is_real and self.length % 2 == 0
        return self.length // 2 if halved else self.length

    @property
    def is_real(self) -> bool:
        """Return whether one side is real."""
        return self.kind in ("RFFT", "IRFFT")

    @property
    def is_convolved(self) -> bool:
        """Return whether the complex transform has a length without radices, nor two factors of use."""
        if is_smooth(self.core):
            return False
        first, second = halves(self.core)
        return not (is_long(self) and first > FEW_LINES and second <= LONGEST)

    @property
    def size(self) -> int:
        """Return the length of the transforms that are done, one or two to and fro."""
        return convolution_length(self.core) if self.is_convolved else self.core

    @property
    def flops(self) -> int:
        """Return the operations of all lines."""
        each = self.length * (1 + math.log2(self.length))
        if self.is_convolved:
            each = 2 * self.size * (2 + math.log2(self.size))
        return int(5 * self.count * each)

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


def convolution_length(length: int) -> int:
    """Return the length of transforms by which a line of other primes is one convolution: products of 4, 2, 3 and 5.

    Examples
    --------
    >>> convolution_length(17), convolution_length(1009)
    (36, 2048)
    """
    least = 2 * length - 1
    found = 4 << (least - 1).bit_length()
    for fives in (1, 5, 25, 125):
        for threes in (1, 3, 9, 27):
            odd = fives * threes
            fours = max(1, -(-least // (4 * odd)))
            found = min(found, odd * 4 << (fours - 1).bit_length())
    return found


def is_long(lines: Lines) -> bool:
    """Return whether lines are too long to go through their transform side by side, or too few."""
    longest = LONGEST_REAL if lines.is_real and is_smooth(lines.core) else LONGEST
    return lines.core > longest or (lines.lane[0] <= FEW_LINES and lines.length >= SHORT)


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
    if lines.is_real or lines.is_convolved or first < FEW_LINES or not is_long(lines):
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


PIECE = 1 << 14
"""Entries of a table that are computed at a time, in a cache."""

_TABLES: WeakValueDictionary[tuple[str, int, np.dtype], np.ndarray] = WeakValueDictionary()
"""The tables of programs that are alive, which share them."""


def _shared(make: Callable[[int, np.dtype], np.ndarray]) -> Callable[[int, np.dtype], np.ndarray]:
    """Return a function that makes each table once."""

    @wraps(make)
    def find(length: int, dtype: np.dtype) -> np.ndarray:
        key = (make.__name__, length, dtype)
        table = _TABLES.get(key)
        if table is None:
            table = _TABLES[key] = make(length, dtype)
        return table

    return find


@_shared
def roots(length: int, dtype: np.dtype) -> np.ndarray:
    """Return ``exp(-2 pi i k / length)`` for all ``k``, correct to an ulp.

    Examples
    --------
    >>> roots(4, np.dtype("complex128")).round(2)
    array([ 1.+0.j,  0.-1.j, -1.+0.j,  0.+1.j])
    """
    return _turns(length).astype(dtype, copy=False)


def _turns(length: int) -> np.ndarray:
    """Return the table in double precision, half of it computed: the other half are the conjugates."""
    table = np.empty(length, np.complex128)
    half = length // 2 + 1
    for start in range(0, half, PIECE):
        k = np.arange(start, min(start + PIECE, half))
        quarter = (4 * k + length // 2) // length
        angle = (np.pi / 2) * ((4 * k - quarter * length) / length)  # at most an eighth of a turn: no digits are lost
        across, up = np.cos(angle), np.sin(angle)
        piece, odd, sign = table[k[0] : k[-1] + 1], quarter == 1, 1.0 - (quarter == 2) * 2.0
        piece.real = np.where(odd, 0.0 - up, sign * across)
        piece.imag = np.where(odd, -across, 0.0 - sign * up)
    np.conjugate(table[1 : length - half + 1][::-1], out=table[half:])
    return table


@_shared
def chirp(length: int, dtype: np.dtype) -> np.ndarray:
    """Return ``exp(-pi i k^2 / length)`` for all ``k``, by which lines are multiplied before and after a convolution.

    Examples
    --------
    >>> chirp(4, np.dtype("complex128")).real.round(2)
    array([ 1.  ,  0.71, -1.  ,  0.71])
    """
    k = np.arange(length)
    table: np.ndarray = _turns(2 * length)[k * k % (2 * length)].astype(dtype, copy=False)
    return table


@_shared
def spectrum(length: int, dtype: np.dtype) -> np.ndarray:
    """Return the transform of the chirps' conjugates, forward and backward, over its length.

    Notes
    -----
    Bluestein, "A linear filtering approach to the computation of discrete Fourier transform", 1970: with the chirp
    ``w(k)``, ``j k = (j^2 + k^2 - (k - j)^2) / 2`` makes a transform ``w(k) sum_j (x(j) w(j)) conj(w(k - j))``.
    """
    size = convolution_length(length)
    wave = np.zeros(size, np.complex128)
    wave[:length] = chirp(length, np.dtype(np.complex128)).conj()
    wave[size - length + 1 :] = wave[length - 1 : 0 : -1]
    table: np.ndarray = (np.fft.fft(wave) / size).astype(dtype)
    return table


def radices(length: int) -> np.ndarray:
    """Return the factors of a length as a table."""
    return np.array(factors(length), np.int64)
