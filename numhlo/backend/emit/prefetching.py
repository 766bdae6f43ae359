"""Memory that kernels ask for before they need it, where operands and results are larger than caches.

A processor fetches ahead what it sees being read in order. It does not see that the next tile lies elsewhere, and what
is going to be written it fetches late.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from numhlo.backend.emit.access import Access
from numhlo.backend.emit.expressions import Load
from numhlo.backend.emit.nest import Nest
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

AHEAD = 4
"""Strips between the one that is computed and the one that is asked for."""


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


def ask_for_tile(
    nest: Nest, axes: tuple[int, int], ahead: Mapping[int, tuple[str, str]], stores: Sequence[Store]
) -> None:
    """Write statements that ask for the cache lines of the next tile: ``ahead`` is where it starts, and its extents."""
    along, last = axes
    text, asked = nest.text, set[tuple[str, Access]]()
    for pointer, access, storage in _streams(nest, stores):
        strides, size = nest.strides(access), storage.dtype.itemsize
        line, row = (along, last) if strides[along] == 1 else (last, along)
        if strides[line] != 1 or not strides[row] or (pointer, access) in asked or len(asked) == MOST_AHEAD:
            continue
        asked.add((pointer, access))
        with nest.fixed({axis: start for axis, (start, _) in ahead.items()}):
            place = nest.index(access)
        stride = text.number((nest.scope, "stride", access, row), strides[row], "stride")
        outer, inner = f"for k in range({ahead[row][1]}):", f"for at in range(0, {TILE * size}, {CACHE_LINE}):"
        with text.block(outer), text.block(inner):
            text.line(f"prefetch({pointer}, ({place} + k * {stride}) * {size} + at)")


@contextmanager
def open_strips(nest: Nest, axis: int, bounds: tuple[str, str] | None, stores: Sequence[Store]) -> Iterator[None]:
    """Open the innermost loop; where results are very large, cut into strips that ask for the next one's memory."""
    text = nest.text
    read = {text.pointer(node.value) for node in nest.expressions.nodes if isinstance(node, Load)}
    results = [(text.pointer(store.value, "out"), store) for store in stores if nest.strides(store.access)[axis] == 1]
    results = [(pointer, store) for pointer, store in results if pointer not in read]  # what is read is on its way
    if not results or not is_far(nest, stores, MEMORY_BYTES):
        with nest.loop(axis, bounds and ", ".join(bounds)):
            yield
        return
    low, high = bounds or ("0", nest.extent(axis))
    widest = max(_itemsize(store) for _, store in results)
    step = STRIP_BYTES // widest
    with nest.block(f"for start in range({low}, {high}, {step}):"):
        stop = text.let(f"min(start + {step}, {high})", "stop")
        for pointer, store in results[:MOST_AHEAD]:
            with nest.fixed({axis: f"(start + {AHEAD * step})"}):
                place = nest.index(store.access)
            size = _itemsize(store)
            with text.block(f"for at in range(0, {step * size}, {CACHE_LINE}):"):
                text.line(f"prefetch({pointer}, ({place}) * {size} + at)")
        with nest.loop(axis, f"start, {stop}"):
            yield


def _itemsize(store: Store) -> int:
    return STORAGES[store.register.storage].dtype.itemsize
