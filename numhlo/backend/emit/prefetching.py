"""Memory that kernels ask for before they need it, where operands and results are larger than caches.

A processor fetches ahead what it sees being read in order. It does not see that the next tile or row lies elsewhere,
follows only few rows that are read side by side, and fetches late what is going to be written. Lines are asked for some
at a time, between the elements that are computed: many at once would wait for each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from numhlo.backend.emit.access import Access
from numhlo.backend.emit.expressions import Load
from numhlo.backend.emit.nest import Nest
from numhlo.backend.emit.streaming import (
    STREAMED_BYTES,
    Piece,
    allocate,
    elements_past_line,
    itemsize,
    piece_length,
    streamed,
    write_out,
)
from numhlo.backend.primitives.storage import STORAGES, Storage
from numhlo.backend.primitives.transposing import TILE

if TYPE_CHECKING:
    from numhlo.backend.emit.maps import Store

CACHE_LINE = 64
NEAR_BYTES = 2 << 20
"""Operands and results of less than that in all lie in the processor's own caches: they are not asked for ahead."""

MEMORY_BYTES = 32 << 20
"""Operands and results of more than that lie in memory, mostly; less is not worth a text of its own."""

MOST_AHEAD = 4
"""Operands and results that are asked for ahead."""

STRIP_BYTES = 512
"""Bytes of a result that are asked for at once."""

AHEAD = 8
"""Strips between the one that is computed and the one that is asked for."""

ROWS_BYTES = 16 << 20
"""Rows of operands of more than that, read piece by piece, are asked for ahead: nearer caches give them in time."""

FAR_TILE = 16
"""Side of tiles that are asked for ahead, of elements of four bytes and more: two are on their way meanwhile."""

LEAST_STRIPS = 4
"""Strips in a row from which on it is cut into them; of shorter rows all is asked for at once."""

APART = 512
"""Elements between places that are read as two rows, not as one."""

ROWS_AHEAD = 8
"""How many rows further on the one is, in a tile whose rows are asked for, that is brought into the first cache."""

TILES_AHEAD = 2
"""How many tiles further on the one is that is asked for."""


def _streams(nest: Nest, stores: Sequence[Store]) -> Iterator[tuple[str, Access, Storage]]:
    """Yield the pointer, place and elements of everything that a kernel reads or writes all of."""
    for node in nest.expressions.nodes:
        if isinstance(node, Load) and node.access.strides:
            yield nest.text.pointer(node.value), node.access, STORAGES[node.register.storage]
    for store in stores:
        yield nest.text.pointer(store.value, "out"), store.access, STORAGES[store.register.storage]


def is_far(nest: Nest, stores: Sequence[Store], most: int = NEAR_BYTES) -> bool:
    """Return whether operands and results have more than so many bytes."""
    elements = math.prod(axis.extent for axis in nest.axes)
    return elements * sum(storage.dtype.itemsize for _, _, storage in _streams(nest, stores)) > most


def _asked(
    nest: Nest, stores: Sequence[Store], is_wanted: Callable[[list[int]], bool]
) -> Iterator[tuple[str, Access, int]]:
    """Yield the pointers, places and element sizes of what is asked for: its strides are wanted, its place is known."""
    asked = set[tuple[str, Access]]()
    for pointer, access, storage in _streams(nest, stores):
        if (pointer, access) in asked or len(asked) == MOST_AHEAD or access.starts:
            continue  # where starts are read from memory, those of what lies ahead need not be there
        if is_wanted(nest.strides(access)):
            asked.add((pointer, access))
            yield pointer, access, storage.dtype.itemsize


def _ask(nest: Nest, pointer: str, access: Access, indices: dict[int, str], count: int | str, size: int) -> None:
    """Write what asks for so many elements side by side, from some indices on."""
    with nest.fixed(indices):
        place = nest.index(access)
    nbytes = f"{count} * {size}" if isinstance(count, str) else str(count * size)
    with nest.text.block(f"for at in range(0, {nbytes}, {CACHE_LINE}):"):
        nest.text.line(f"prefetch({pointer}, ({place}) * {size} + at)")


def far_tile(nest: Nest, stores: Sequence[Store]) -> int:
    """Return the side of tiles that are asked for ahead."""
    sizes = [storage.dtype.itemsize for _, _, storage in _streams(nest, stores)]
    return FAR_TILE if min(sizes) >= np.dtype(np.float32).itemsize else TILE


def ask_for_tile_row(nest: Nest, tile: Mapping[int, tuple[str, int]], row: str, stores: Sequence[Store]) -> None:
    """Write what asks for one row of the tile ahead, inside the loop over rows.

    Parameters
    ----------
    nest : Nest
    tile : mapping of int to tuple of str and int
        Where the tile that is computed begins, and its side, by axis: that of rows and that of columns.
    row : str
        The row's index.
    stores : sequence of Store
    """
    (down, (top, height)), (across, (start, width)) = tile.items()
    ahead = f"{start} + {width * max(TILES_AHEAD * height // width, 1)}"

    def is_matrix(strides: list[int]) -> bool:
        steps = strides[down], strides[across]
        return (1 in steps or steps[0] == -1) and 0 not in steps

    for pointer, access, size in _asked(nest, stores, is_matrix):
        lowest = f"({top} + {height - 1})" if nest.strides(access)[down] == -1 else top
        if nest.strides(access)[across] == 1:
            _ask_for_all(nest, pointer, access, {down: row, across: f"({ahead})"}, width, size)
        elif width <= height:
            _ask_for_all(nest, pointer, access, {down: lowest, across: f"({ahead} + {row} - {top})"}, height, size)
        else:
            share = width // height
            with nest.block(f"for column in range(({row} - {top}) * {share}, ({row} - {top} + 1) * {share}):"):
                _ask_for_all(nest, pointer, access, {down: lowest, across: f"({ahead} + column)"}, height, size)


def _ask_for_all(nest: Nest, pointer: str, access: Access, indices: dict[int, str], count: int, size: int) -> None:
    """Write what asks for all lines of so many elements, which begin anywhere in a line, and for no other."""
    with nest.fixed(indices):
        place = nest.index(access)
    end = (count - 1) * size
    with nest.text.block(f"for at in range(0, {end + CACHE_LINE}, {CACHE_LINE}):"):
        nest.text.line(f"prefetch({pointer}, ({place}) * {size} + min(at, {end}))")


def ask_for_row_ahead(nest: Nest, down: tuple[int, str, str], across: tuple[int, str], count: int) -> None:
    """Write what asks for the row ahead of one, if it is in the tile, of operands that lie as results do.

    Parameters
    ----------
    nest : Nest
    down : tuple of int and two str
        The axis of rows, a row's index, and that of the tile's end.
    across : tuple of int and str
        The axis along a row, and the index where the tile begins.
    count : int
        Elements of a row; the line after them is asked for, too, as rows may begin inside lines.
    """
    (axis, row, end), (last, start) = down, across
    asked = list(_asked(nest, (), lambda strides: strides[last] == 1 and strides[axis] != 0))
    if not asked:
        return
    with nest.block(f"if {row} + {ROWS_AHEAD} < {end}:"):
        for pointer, access, size in asked:
            with nest.fixed({axis: f"({row} + {ROWS_AHEAD})", last: start}):
                place = nest.index(access)
            with nest.text.block(f"for at in range(0, {count * size + CACHE_LINE}, {CACHE_LINE}):"):
                nest.text.line(f"prefetch_near({pointer}, ({place}) * {size} + at)")


def ask_for_rows(nest: Nest, last: tuple[int, str], rows: Sequence[dict[int, str]], count: int) -> None:
    """Write what asks for ``count`` elements, from an index of the last axis on, of everything read at some rows."""
    others = [axis for axis in range(len(nest.axes)) if axis in rows[0]]
    for pointer, access, size in _asked(nest, (), lambda s: s[last[0]] == 1 and any(s[axis] for axis in others)):
        for row in rows:
            _ask(nest, pointer, access, {**row, last[0]: last[1]}, count, size)


def strip_length(nest: Nest) -> int:
    """Return how many elements make a strip of the widest operand."""
    return STRIP_BYTES // max(storage.dtype.itemsize for _, _, storage in _streams(nest, ()))


@contextmanager
def open_strips(
    nest: Nest, axis: int, bounds: tuple[str, str] | None, stores: Sequence[Store]
) -> Iterator[dict[int, Piece]]:
    """Open the innermost loop; where results are very large, cut into strips that ask for a later one's memory.

    Yields the pieces of results that are streamed, by the numbers of their stores.
    """
    written = written_along(nest, axis, stores)
    large = [written[k] for k in streamed(nest, axis, [stores[k] for k in written])]
    if not written or not (large or is_far(nest, stores, MEMORY_BYTES)):
        with nest.loop(axis, bounds and ", ".join(bounds)):
            yield {}
        return
    low, high = bounds or ("0", nest.extent(axis))
    asked = [(nest.text.pointer(stores[k].value, "out"), stores[k].access, itemsize(stores[k])) for k in written]
    asked += _leading(nest, axis)
    step = STRIP_BYTES // max(size for _, _, size in asked)
    if bounds is None and nest.axes[axis].extent < LEAST_STRIPS * step:
        for pointer, access, size in asked[:MOST_AHEAD]:
            _ask(nest, pointer, access, {axis: str(AHEAD * step)}, high, size)
        with nest.loop(axis):
            yield {}
        return
    if large:
        with _open_pieces(nest, axis, (low, high), {k: stores[k] for k in large}) as pieces:
            yield pieces
        return
    with nest.block(f"for start in range({low}, {high}, {step}):"):
        stop = nest.text.let(f"min(start + {step}, {high})", "stop")
        for pointer, access, size in asked[:MOST_AHEAD]:
            _ask(nest, pointer, access, {axis: f"(start + {AHEAD * step})"}, step, size)
        with nest.loop(axis, f"start, {stop}"):
            yield {}


def has_parts_of_lines(nest: Nest, stores: Sequence[Store]) -> bool:
    """Return whether rows of a matrix that is larger than caches follow each other, each a part of a line."""
    if len(nest.axes) != 2 or len(stores) != 1 or written_along(nest, 1, stores) != [0]:
        return False
    (store,), (count, extent) = stores, [axis.extent for axis in nest.axes]
    size = itemsize(store)
    is_large = count * extent * size > STREAMED_BYTES and size > 1  # bytes take longer one by one than lines
    return is_large and nest.strides(store.access)[0] == extent and extent * size <= CACHE_LINE


@contextmanager
def open_pieces_of_rows(nest: Nest, store: Store) -> Iterator[dict[int, Piece]]:
    """Open the loops over such rows and their elements, cut where lines begin, and stream each piece behind it."""
    text, extent = nest.text, int(nest.axes[1].extent)
    count = CACHE_LINE * max(1, piece_length([store]) // (CACHE_LINE * extent))
    first = text.let(f"divide(to_i64(lo), to_i64({CACHE_LINE})) * {CACHE_LINE}", "first")
    with nest.block(f"for line in range({first}, hi, {count}):"):
        start, stop = text.let("max(line, lo)", "start"), text.let(f"min(line + {count}, hi)", "stop")
        piece = allocate(nest, store, count * extent, "0")
        with nest.loop(0, f"{start}, {stop}") as row, nest.loop(1):
            yield {0: Piece(piece.pointer, f"({start} - {row}) * {extent}")}
        with nest.fixed({0: start}):
            write_out(nest, store, 1, piece, f"({stop} - {start}) * {extent}")
    text.line("finish_streams()")


@contextmanager
def _open_pieces(
    nest: Nest, axis: int, bounds: tuple[str, str], stores: dict[int, Store]
) -> Iterator[dict[int, Piece]]:
    """Open the innermost loop, cut where lines of the first result begin, and stream each piece behind it."""
    low, high = bounds
    step = piece_length(list(stores.values()))
    past = nest.text.let(elements_past_line(nest, next(iter(stores.values())), axis, low), "past")
    with nest.block(f"for line in range({low} - {past}, {high}, {step}):"):
        start = nest.text.let(f"max(line, {low})", "start")
        stop = nest.text.let(f"min(line + {step}, {high})", "stop")
        for pointer, access, size in _leading(nest, axis)[:MOST_AHEAD]:
            _ask(nest, pointer, access, {axis: f"(line + {AHEAD * step})"}, step, size)
        pieces = {k: allocate(nest, store, step, start) for k, store in stores.items()}
        with nest.loop(axis, f"{start}, {stop}"):
            yield pieces
        for k, piece in pieces.items():
            write_out(nest, stores[k], axis, piece, stop)


def written_along(nest: Nest, axis: int, stores: Sequence[Store]) -> list[int]:
    """Return the results that lie along an axis, but for what is read: that is on its way."""
    text = nest.text
    read = {text.pointer(node.value) for node in nest.expressions.nodes if isinstance(node, Load)}
    return [
        number
        for number, store in enumerate(stores)
        if nest.strides(store.access)[axis] == 1 and text.pointer(store.value, "out") not in read
    ]


def _leading(nest: Nest, axis: int) -> list[tuple[str, Access, int]]:
    """Return the foremost row of operands of which several are read side by side: the others are in a cache."""
    rows: dict[str, list[tuple[Access, int]]] = {}
    for node in nest.expressions.nodes:
        if not isinstance(node, Load) or not node.access.strides or node.access.starts:
            continue
        if nest.strides(node.access)[axis] == 1:
            size = STORAGES[node.register.storage].dtype.itemsize
            rows.setdefault(nest.text.pointer(node.value), []).append((node.access, size))
    found = []
    for pointer, places in rows.items():
        foremost, size = places[0]
        for access, _ in places[1:]:
            if access.offset > foremost.offset:
                foremost = access
        if any(foremost.offset - access.offset > APART for access, _ in places):
            found.append((pointer, foremost, size))
    return found
