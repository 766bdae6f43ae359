"""Elementwise kernels that read along one axis and write along another: tiles, so that cache lines are used whole.

Operands that lie the other way are transposed tile by tile before they are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from numhlo.backend.emit.elementwise import COSTS
from numhlo.backend.emit.expressions import Apply, Load
from numhlo.backend.emit.nest import Nest
from numhlo.backend.emit.prefetching import (
    CACHE_LINE,
    ROWS_AHEAD,
    ask_for_row_ahead,
    ask_for_tile_row,
    far_tile,
    is_far,
    written_along,
)
from numhlo.backend.emit.streaming import Piece, allocate, elements_past_line, itemsize, streamed, write_out
from numhlo.backend.primitives.storage import STORAGES
from numhlo.backend.primitives.transposing import TILE
from numhlo.backend.processors import first_cache
from numhlo.lowering.ir.records import record

if TYPE_CHECKING:
    from numhlo.backend.emit.maps import Store

LEAST_TILED = 16
"""Shorter axes are not cut into tiles."""

LEAST_TRANSPOSED = 4
"""Elements side by side from which on vectors of them change places."""

BOTH_WAYS = (1, -1)
"""Strides of elements side by side: forwards, and backwards as in an array that is turned by a right angle."""

MOST_TRANSPOSED = 2
"""Operands of which tiles are transposed before they are read: these should stay in the first cache."""

WIDE_BYTES = 16
"""Of the widest elements, of which only small tiles are transposed: others would fill the first cache."""

STREAMED_BYTES = 8 * CACHE_LINE
"""Bytes of a result's row in a tile of a streamed result: several whole lines."""

ACROSS_BYTES = 2 * CACHE_LINE
"""Bytes of an operand's row in such a tile: processors fetch lines by pairs."""

TILE_BYTES = 16 << 10
"""Of such a tile at most: a part of the first cache."""

SQUARE_BYTES = 8 * CACHE_LINE
"""Bytes of rows in both directions, in a tile of a streamed result whose rows all begin where lines do.

Such rows are whole numbers of lines apart, mostly also those of what is transposed: lines of few rows may be cached
together, so that a row is better read for longer, and asked for shortly before.
"""

LEAST_SQUARE = 4
"""Bytes of the narrowest elements of which tiles are such squares: of others, too many rows would be read at once."""

SPAN_BYTES = 4096
"""Bytes of a result's row that all units' tiles go over in turns: while they do, the same pages of columns are read."""


CACHED_BYTES = 2 << 20
"""Matrices of no more are near enough to be read again line by line, as long as a column's lines stay in a cache."""

LEAST_UNTILED = 8
"""Bytes of the narrowest elements that are read one by one as fast as by tiles."""

LEAST_BACKWARDS = 4
"""The same of elements that lie backwards."""

FEW_OPS = 3
"""Operations of an element that take less time than to make tiles; more are faster on elements side by side."""


def other_direction(nest: Nest, stores: Sequence[Store]) -> int | None:
    """Return the axis along which an operand lies in memory while results lie along the last one, if both are long."""
    last = len(nest.axes) - 1
    if last < 1 or nest.axes[last].extent < LEAST_TILED or any(nest.strides(s.access)[last] != 1 for s in stores):
        return None
    for number, node in enumerate(nest.expressions.nodes):
        if isinstance(node, Load) and node.access.strides:
            strides = nest.strides(node.access)
            side_by_side = [axis for axis in range(last) if strides[axis] in BOTH_WAYS]
            if side_by_side and abs(strides[last]) > LEAST_TILED // 4:
                if _is_fast_untiled(nest, number, side_by_side[0]):
                    continue
                axis = side_by_side[0]
                least = LEAST_TRANSPOSED if _transposed(nest, axis) else LEAST_TILED
                return axis if nest.axes[axis].extent >= least else None
    return None


def _is_fast_untiled(nest: Nest, number: int, along: int) -> bool:
    """Return whether little is computed from a matrix that is near, and the lines of a column of it stay near, too."""
    node, last = nest.expressions.nodes[number], len(nest.axes) - 1
    assert isinstance(node, Load)
    strides, extents = nest.strides(node.access), [axis.extent for axis in nest.axes]
    size, is_backwards = _stored_bytes(nest, number), strides[along] < 0
    near = extents[along:] if is_backwards else extents  # of several matrices, the next is asked for by tiles alone
    if size < (LEAST_BACKWARDS if is_backwards else LEAST_UNTILED) or math.prod(near) * size > CACHED_BYTES:
        return False
    cache, rows = first_cache(), math.prod(extents[along + 1 :])
    pitch, sets = abs(strides[last]) * size, cache.sets
    while sets > 1 and pitch % (2 * CACHE_LINE * cache.sets // sets) == 0:
        sets //= 2
    ops = sum(COSTS.get(other.op.definition, 1) for other in nest.expressions.nodes if isinstance(other, Apply))
    return rows <= sets * cache.ways and ops <= FEW_OPS


def _transposed(nest: Nest, along: int, is_small: bool = False) -> list[int]:
    """Return the nodes of which tiles, which may be small, are transposed before they are read; none if too many."""
    last, found = len(nest.axes) - 1, []
    for number, node in enumerate(nest.expressions.nodes):
        if isinstance(node, Load) and node.access.strides:
            strides = nest.strides(node.access)
            if strides[along] in BOTH_WAYS and strides[last] not in (0, 1):
                found.append(number)
    sizes = [_stored_bytes(nest, number) for number in found]
    widest = WIDE_BYTES if is_small else WIDE_BYTES // 2
    return found if len(found) <= MOST_TRANSPOSED and all(size <= widest for size in sizes) else []


def _stored_bytes(nest: Nest, number: int) -> int:
    node = nest.expressions.nodes[number]
    assert isinstance(node, Load)
    return STORAGES[node.register.storage].dtype.itemsize


def _is_backwards(nest: Nest, number: int, along: int) -> bool:
    """Return whether an operand's elements lie backwards along an axis: its tiles are upside down."""
    node = nest.expressions.nodes[number]
    assert isinstance(node, Load)
    return nest.strides(node.access)[along] < 0


@record(frozen=True)
class _Tiling:
    """How a kernel is cut into tiles.

    Attributes
    ----------
    along, last : int
        The axis along which operands lie, and that along which results lie.
    sides : mapping of int to int
        How long tiles are, by axis.
    overlap : int
        How many columns of the tile before each tile has again.
    transposed : sequence of int
        Nodes of which tiles are transposed before they are read.
    large : sequence of int
        Numbers of stores that are streamed.
    asks : bool
        Whether the next tile's memory is asked for.
    span : int
        How many columns all units are gone over in turns, by squares that ask for their own rows; 0 for all columns.
    """

    along: int
    last: int
    sides: Mapping[int, int]
    overlap: int
    transposed: Sequence[int]
    large: Sequence[int]
    asks: bool
    span: int


def write_tiles(nest: Nest, along: int, stores: Sequence[Store], write: Callable[[Mapping[int, Piece]], None]) -> int:
    """Write loops over tiles, so that cache lines are used whole in both directions; return the number of units.

    Results that are larger than caches are streamed row by row of a tile: ``write`` is given their pieces.
    """
    last = len(nest.axes) - 1
    cut, other = (along, last) if nest.axes[along].extent >= LEAST_TILED else (last, along)
    outer = [k for k in range(last) if k != along]
    tiling = _tiling(nest, along, stores, asks=cut == along and is_far(nest, stores))
    sides, text = tiling.sides, nest.text
    blocks = -(-nest.axes[cut].extent // sides[cut])
    extent = nest.extent(cut)
    with _open_span(nest, tiling, other) as (begin, limit), nest.block("for unit in range(lo, hi):"):
        block = "unit"
        if outer:
            count = text.number("blocks", blocks, "blocks")
            rest = text.let(f"divide(to_i64(unit), to_i64({count}))", "rest")
            block = text.let(f"unit - {rest} * {count}", "block")
            nest.decode(rest, outer)
        first = text.let(f"{block} * {sides[cut]}", "first")
        end = text.let(f"min({first} + {sides[cut]}, {extent})", "end")
        with nest.block(f"for start in range({begin}, {limit}, {sides[other]}):"):
            stop = text.let(f"min(start + {sides[other]}, {limit})", "stop")
            _write_tile(nest, tiling, {cut: (first, end), other: ("start", stop)}, stores, write)
    if tiling.large:
        text.line("finish_streams()")
    return blocks * math.prod(nest.axes[k].extent for k in outer)


@contextmanager
def _open_span(nest: Nest, tiling: _Tiling, axis: int) -> Iterator[tuple[str, str]]:
    """Open the loop over spans of an axis, if there are several; yield the bounds of a span."""
    extent = nest.extent(axis)
    if not tiling.span:
        yield "0", extent
        return
    with nest.block(f"for span in range(0, {extent}, {tiling.span}):"):
        yield "span", nest.text.let(f"min(span + {tiling.span}, {extent})", "limit")


def _tiling(nest: Nest, along: int, stores: Sequence[Store], asks: bool) -> _Tiling:
    last = len(nest.axes) - 1
    transposed = _transposed(nest, along, asks)
    numbers = _streamed(nest, stores) if asks else []
    large = [stores[k] for k in numbers]
    overlap, span = _overlap(nest, along, large), 0
    sizes = [itemsize(store) for store in large] + [_stored_bytes(nest, number) for number in transposed]
    if large and transposed and not overlap and min(sizes) >= LEAST_SQUARE:
        sides = dict.fromkeys((along, last), SQUARE_BYTES // max(sizes))
        span = SPAN_BYTES // max(sizes)
    elif large:
        rows = min(ACROSS_BYTES // max(sizes), TILE)
        columns = min(max(STREAMED_BYTES // max(sizes), TILE), TILE_BYTES // (rows * max(sizes)))
        sides = {along: rows, last: columns}
    else:
        sides = dict.fromkeys((along, last), far_tile(nest, stores) if asks else TILE)
    return _Tiling(along, last, sides, overlap, transposed, numbers, asks, span)


def _write_tile(
    nest: Nest,
    tiling: _Tiling,
    bounds: Mapping[int, tuple[str, str]],
    stores: Sequence[Store],
    write: Callable[[Mapping[int, Piece]], None],
) -> None:
    """Write the loops over one tile."""
    along, last, text = tiling.along, tiling.last, nest.text
    begin, stop = bounds[last]
    if tiling.overlap:
        begin = text.let(f"max({begin} - {tiling.overlap}, 0)", "begin")
    pitch = tiling.sides[last] + tiling.overlap
    read = {along: bounds[along], last: (begin, stop)}
    memory = tiling.sides[along] * pitch, pitch
    near = ROWS_AHEAD if tiling.span else 0
    tiles = {k: _write_transposed(nest, k, (along, last), read, memory, near) for k in tiling.transposed}
    with nest.loop(along, ", ".join(bounds[along])) as row:
        if tiling.span:
            ask_for_row_ahead(nest, (along, row, bounds[along][1]), (last, bounds[last][0]), tiling.sides[last])
        elif tiling.asks:
            ahead = {axis: (bounds[axis][0], tiling.sides[axis]) for axis in (along, last)}
            ask_for_tile_row(nest, ahead, row, [s for k, s in enumerate(stores) if k not in tiling.large])
        low, high = bounds[last]
        if tiling.overlap:
            low, high = _whole_lines(nest, stores[tiling.large[0]], bounds[last])
        pieces = {k: allocate(nest, stores[k], pitch, low) for k in tiling.large}
        with nest.loop(last, f"{low}, {high}") as column:
            for number, (load, tile) in tiles.items():
                inside = f"{row} - {bounds[along][0]}"
                if _is_backwards(nest, number, along):
                    inside = f"{bounds[along][1]} - 1 - {row}"
                place = f"({inside}) * {pitch} + {column} - {begin}"
                nest.bind(number, text.let(f"{load}({tile}, {place})", "x"))
            write(pieces)
        for k, piece in pieces.items():
            write_out(nest, stores[k], last, piece, high)


def _streamed(nest: Nest, stores: Sequence[Store]) -> list[int]:
    """Return the numbers of stores that are streamed."""
    last = len(nest.axes) - 1
    written = written_along(nest, last, stores)
    return [written[k] for k in streamed(nest, last, [stores[k] for k in written])]


def _overlap(nest: Nest, along: int, large: Sequence[Store]) -> int:
    """Return how many elements of the tile before a tile of streamed results has again.

    Rows that begin inside lines are streamed up to the last whole line; the next tile has the rest.
    """
    if not any(nest.strides(store.access)[along] * itemsize(store) % CACHE_LINE for store in large):
        return 0
    return max(CACHE_LINE // itemsize(store) for store in large)


def _whole_lines(nest: Nest, store: Store, bounds: tuple[str, str]) -> tuple[str, str]:
    """Write the bounds of a tile's row of a result, moved back to where lines begin; return their names."""
    (start, stop), text, last = bounds, nest.text, len(nest.axes) - 1
    low = text.let(f"max({start} - {elements_past_line(nest, store, last, start)}, 0)", "low")
    past = elements_past_line(nest, store, last, stop)
    return low, text.let(f"{stop} if {stop} == {nest.extent(last)} else {stop} - {past}", "high")


def _write_transposed(
    nest: Nest,
    number: int,
    axes: tuple[int, int],
    bounds: Mapping[int, tuple[str, str]],
    memory: tuple[int, int],
    near: int,
) -> tuple[str, str]:
    """Write the transposition of an operand's tile; return the word that loads an element of it, and the tile.

    Rows of operands that lie backwards are in reverse order. ``memory`` is the number of the tile's elements, and the
    distance of its rows, ``near`` that of the operand's rows that are asked for meanwhile.
    """
    node, text = nest.expressions.nodes[number], nest.text
    assert isinstance(node, Load)
    along, last = axes
    size, (count, pitch) = _stored_bytes(nest, number), memory
    tile = text.stack_array("tile", count, size)
    lowest = {axis: bounds[axis][0] for axis in axes}
    if _is_backwards(nest, number, along):
        lowest[along] = f"({bounds[along][1]} - 1)"
    with nest.fixed(lowest):
        place = nest.index(node.access)
    stride = text.number((nest.scope, "stride", node.access, last), nest.strides(node.access)[last], "stride")
    rows, columns = (f"{bounds[axis][1]} - {bounds[axis][0]}" for axis in (last, along))
    pointer = text.pointer(node.value)
    text.line(f"transpose_tile_b{size}({tile}, {pitch}, {pointer}, {place}, {stride}, {rows}, {columns}, {near})")
    return nest.load_word(number), tile
