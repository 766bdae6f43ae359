"""Atomic int64 operations on addresses: what the thread pool and shared counters are made of.

In plain Python one thread steps through a kernel, so the meaning is the plain operation.
"""

from __future__ import annotations

from numhlo.backend.primitives.memory import INT64


def atomic_add(pointer: int, index: int, value: int) -> int:
    """Add to an int64 and return what it was before (sequentially consistent)."""
    cell = INT64.view(pointer + 8 * int(index))
    before = int(cell[0])
    cell[0] = before + value
    return before


def atomic_exchange(pointer: int, index: int, value: int) -> int:
    """Write an int64 and return what it was before (sequentially consistent)."""
    cell = INT64.view(pointer + 8 * int(index))
    before = int(cell[0])
    cell[0] = value
    return before


def atomic_compare_exchange(pointer: int, index: int, expected: int, value: int) -> int:
    """Write an int64 if it is as expected, and return what it was before (sequentially consistent)."""
    cell = INT64.view(pointer + 8 * int(index))
    before = int(cell[0])
    if before == expected:
        cell[0] = value
    return before


def load_acquire(pointer: int, index: int) -> int:
    """Return an int64; later reads see what was written before the matching `store_release`."""
    return int(INT64.view(pointer + 8 * int(index))[0])


def store_release(pointer: int, index: int, value: int) -> None:
    """Write an int64; whoever reads it with `load_acquire` sees all that was written before."""
    INT64.view(pointer + 8 * int(index))[0] = value


def pause() -> None:
    """Tell the processor that this is a spin loop."""
