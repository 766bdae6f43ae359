"""Results that are larger than caches are put together piece by piece on the stack, and streamed to memory.

Stores would read every line of such a result before they write it, and push out what caches hold. What is read and
written over itself is in a cache already and stored as usual. See `numhlo.backend.primitives.streaming`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from numhlo.backend.emit.nest import Nest
from numhlo.backend.primitives.storage import STORAGES
from numhlo.lowering.ir.records import record

if TYPE_CHECKING:
    from numhlo.backend.emit.maps import Store

STREAMED_BYTES = 32 << 20
"""Results of more than that are in no cache by the time that somebody reads them."""

LEAST_PART_BYTES = 4 << 20
"""Parts of such a result that have a kernel of their own are streamed if they have more: less is read soon."""

PIECE_BYTES = 1024
"""Bytes of the piece of the narrowest result: a few lines on their way at a time."""

LEAST_PIECES = 4
"""Pieces of a row from which on it is streamed; of shorter rows too much would be parts of lines."""

WORD_BYTES = 8
"""Of what is copied at once at most: wider elements are several words."""


@record(frozen=True)
class Piece:
    """A piece of a result: its memory on the stack, and the index of its first element along the innermost axis."""

    pointer: str
    start: str


def streamed(nest: Nest, axis: int, stores: Sequence[Store]) -> list[int]:
    """Return which stores, among some that lie along the innermost loop, write long rows of more than caches hold."""
    extent, elements = nest.axes[axis].extent, math.prod(axis.extent for axis in nest.axes)
    sizes = [itemsize(store) for store in stores]
    return [
        k
        for k, size in enumerate(sizes)
        if extent * size >= LEAST_PIECES * PIECE_BYTES
        and elements * size > LEAST_PART_BYTES
        and any(n * size > STREAMED_BYTES for n in (elements, *_spans(nest, stores[k])))
    ]


def _spans(nest: Nest, store: Store) -> list[int]:
    """Return how many elements lie between the first and the last that are written along each axis, or a little more.

    A part of an array that is concatenated has rows as far apart as the array's.
    """
    return [axis.extent * abs(stride) for axis, stride in zip(nest.axes, nest.strides(store.access), strict=True)]


def piece_length(stores: Sequence[Store]) -> int:
    """Return how many elements make a piece."""
    return PIECE_BYTES // min(itemsize(store) for store in stores)


def allocate(nest: Nest, store: Store, length: int, start: str) -> Piece:
    """Return a result's piece, in memory of its own."""
    return Piece(nest.text.stack_array("piece", length, itemsize(store)), start)


def elements_past_line(nest: Nest, store: Store, axis: int, low: str) -> str:
    """Return the text of how many elements of a result lie between a line's begin and index ``low`` of an axis."""
    word, shift, pointer, place = _words(nest, store, axis, low)
    past = f"past_line_{word}({pointer}, {place})"
    return f"({past} >> {shift})" if shift else past


def write_out(nest: Nest, store: Store, axis: int, piece: Piece, stop: str) -> None:
    """Write what streams a piece that goes to index ``stop`` of an axis."""
    word, shift, pointer, place = _words(nest, store, axis, piece.start)
    count = f"({stop} - {piece.start}) << {shift}" if shift else f"{stop} - {piece.start}"
    nest.text.line(f"stream_{word}({pointer}, {place}, {piece.pointer}, {count})")


def write_into(nest: Nest, store: Store, axis: int, piece: Piece, value: str) -> None:
    """Write the statement that stores the value of the current place into a piece."""
    variable, _ = nest.variables[axis]
    word = nest.store_word(store.node, store.register)
    nest.text.line(f"{word}({piece.pointer}, {variable} - {piece.start}, {value})")


def _words(nest: Nest, store: Store, axis: int, index: str) -> tuple[str, int, str, str]:
    """Return the type of words that a result is copied in, the logarithm of their number in an element, and a place."""
    size = itemsize(store)
    width = min(size, WORD_BYTES)
    shift = (size // width).bit_length() - 1
    with nest.fixed({axis: index}):
        place = nest.index(store.access)
    return f"u{8 * width}", shift, nest.text.pointer(store.value, "out"), f"({place}) << {shift}" if shift else place


def itemsize(store: Store) -> int:
    """Return the bytes of an element of a result."""
    return STORAGES[store.register.storage].dtype.itemsize
