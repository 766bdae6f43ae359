"""A written kernel with what a launch of it needs to know, and a memory of those written before.

Programs repeat themselves (twelve equal layers), and so do plans of one program for one shape; writing text costs
more than looking it up. The key is all that a writer reads: shapes, nodes, places, and which values share a buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from numhlo.backend.program import Kernel
from numhlo.lowering.ir import Value

MOST_DRAFTS = 256


@dataclass(frozen=True, slots=True)
class Draft:
    """A kernel, the buffers and run-time numbers in its order, its cost, and whether it is scalar code (`Launch`)."""

    kernel: Kernel
    buffers: tuple[int, ...]
    dims: tuple[int, ...]
    extent: int
    grain: int
    flops: int
    bytes: int
    scalar: bool = False

    def with_buffers(self, buffers: tuple[int, ...]) -> Draft:
        """Return the same kernel on other buffers."""
        return Draft(
            self.kernel, buffers, self.dims, self.extent, self.grain, self.flops, self.bytes, scalar=self.scalar
        )


_DRAFTS: dict[Hashable, list[Draft]] = {}


def remembered(
    key: Hashable, values: Sequence[Value], buffer_of: Callable[[Value], int], write: Callable[[], list[Draft]]
) -> list[Draft]:
    """Return what ``write`` returned for an equal key, on the buffers of ``values``; else call it.

    Parameters
    ----------
    key : hashable
        All that the text depends on, but for buffers.
    values : sequence of Value
        Whatever the kernels point to, in an order that the key determines.
    buffer_of, write : callable
    """
    slots: dict[int, int] = {}
    pattern = tuple([slots.setdefault(buffer_of(value), len(slots)) for value in values])
    full = key, pattern
    known = _DRAFTS.get(full)
    if known is None:
        drafts = write()
        while len(_DRAFTS) >= MOST_DRAFTS:
            _DRAFTS.pop(next(iter(_DRAFTS)), None)  # the oldest
        _DRAFTS[full] = [d.with_buffers(tuple([slots[number] for number in d.buffers])) for d in drafts]
        return drafts
    numbers = list(slots)
    return [d.with_buffers(tuple([numbers[slot] for slot in d.buffers])) for d in known]
