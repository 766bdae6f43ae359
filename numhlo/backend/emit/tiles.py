"""Elementwise kernels that read along one axis and write along another: tiles, so that cache lines are used whole.

Operands that lie the other way are transposed tile by tile before they are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from numhlo.backend.emit.expressions import Load
from numhlo.backend.emit.nest import Nest
from numhlo.backend.emit.prefetching import ask_for_tile_row, far_tile, is_far
from numhlo.backend.primitives.storage import STORAGES
from numhlo.backend.primitives.transposing import TILE

if TYPE_CHECKING:
    from numhlo.backend.emit.maps import Store

LEAST_TILED = 16
"""Shorter axes are not cut into tiles."""

LEAST_TRANSPOSED = 4
"""Elements side by side from which on vectors of them change places."""

MOST_TRANSPOSED = 2
"""Operands of which tiles are transposed before they are read: these should stay in the first cache."""


def other_direction(nest: Nest, stores: Sequence[Store]) -> int | None:
    """Return the axis along which an operand lies in memory while results lie along the last one, if both are long."""
    last = len(nest.axes) - 1
    if last < 1 or nest.axes[last].extent < LEAST_TILED or any(nest.strides(s.access)[last] != 1 for s in stores):
        return None
    for node in nest.expressions.nodes:
        if isinstance(node, Load) and node.access.strides:
            strides = nest.strides(node.access)
            if 1 in strides[:last] and abs(strides[last]) > LEAST_TILED // 4:
                axis = strides.index(1)
                least = LEAST_TRANSPOSED if _transposed(nest, axis) else LEAST_TILED
                return axis if nest.axes[axis].extent >= least else None
    return None


def _transposed(nest: Nest, along: int) -> list[int]:
    """Return the nodes of which tiles are transposed before they are read; none if there are too many."""
    last, found = len(nest.axes) - 1, []
    for number, node in enumerate(nest.expressions.nodes):
        if isinstance(node, Load) and node.access.strides:
            strides = nest.strides(node.access)
            if strides[along] == 1 and strides[last] not in (0, 1):
                found.append(number)
    sizes = [_stored_bytes(nest, number) for number in found]
    return found if len(found) <= MOST_TRANSPOSED and all(size in (4, 8) for size in sizes) else []


def _stored_bytes(nest: Nest, number: int) -> int:
    node = nest.expressions.nodes[number]
    assert isinstance(node, Load)
    return STORAGES[node.register.storage].dtype.itemsize


def write_tiles(nest: Nest, along: int, stores: Sequence[Store], write: Callable[[], None]) -> int:
    """Write loops over tiles, so that cache lines are used whole in both directions; return the number of units."""
    last = len(nest.axes) - 1
    cut, other = (along, last) if nest.axes[along].extent >= LEAST_TILED else (last, along)
    outer = [k for k in range(last) if k != along]
    transposed = _transposed(nest, along)
    asks = cut == along and is_far(nest, stores)
    side = far_tile(nest, stores) if asks else TILE
    blocks = -(-nest.axes[cut].extent // side)
    text = nest.text
    with nest.block("for unit in range(lo, hi):"):
        block = "unit"
        if outer:
            count = text.number("blocks", blocks, "blocks")
            rest = text.let(f"divide(to_i64(unit), to_i64({count}))", "rest")
            block = text.let(f"unit - {rest} * {count}", "block")
            nest.decode(rest, outer)
        first = text.let(f"{block} * {side}", "first")
        end = text.let(f"min({first} + {side}, {nest.extent(cut)})", "end")
        with nest.block(f"for start in range(0, {nest.extent(other)}, {side}):"):
            stop = text.let(f"min(start + {side}, {nest.extent(other)})", "stop")
            bounds = {cut: (first, end), other: ("start", stop)}
            tiles = {number: _write_transposed(nest, number, (along, last), bounds, side) for number in transposed}
            with nest.loop(along, ", ".join(bounds[along])) as row:
                if asks:
                    ask_for_tile_row(nest, (along, bounds[along][0]), (last, bounds[last][0]), row, stores)
                with nest.loop(last, ", ".join(bounds[last])) as column:
                    for number, (load, tile) in tiles.items():
                        place = f"({row} - {bounds[along][0]}) * {TILE} + {column} - {bounds[last][0]}"
                        nest.bind(number, text.let(f"{load}({tile}, {place})", "x"))
                    write()
    return blocks * math.prod(nest.axes[k].extent for k in outer)


def _write_transposed(
    nest: Nest, number: int, axes: tuple[int, int], bounds: Mapping[int, tuple[str, str]], side: int
) -> tuple[str, str]:
    """Write the transposition of an operand's tile; return the word that loads an element of it, and the tile."""
    node, text = nest.expressions.nodes[number], nest.text
    assert isinstance(node, Load)
    along, last = axes
    size = _stored_bytes(nest, number)
    tile = text.stack_array("tile", side * TILE, size)
    with nest.fixed({axis: bounds[axis][0] for axis in axes}):
        place = nest.index(node.access)
    stride = text.number((nest.scope, "stride", node.access, last), nest.strides(node.access)[last], "stride")
    rows, columns = (f"{bounds[axis][1]} - {bounds[axis][0]}" for axis in (last, along))
    pointer = text.pointer(node.value)
    text.line(f"transpose_tile_u{8 * size}({tile}, {pointer}, {place}, {stride}, {rows}, {columns})")
    return f"load_{node.register.storage}", tile
