"""How long a piece of work takes, roughly: enough to cut it into chunks that are worth a thread's attention."""

from __future__ import annotations

from numhlo.backend.emit.sizes import reckoned

CHUNK_NANOSECONDS = 20_000
FLOPS_PER_NANOSECOND = 4.0
BYTES_PER_NANOSECOND = 8.0


@reckoned
def nanoseconds(flops: int, traffic: int) -> float:
    """Return the time of one thread for some operations and bytes."""
    return max(flops / FLOPS_PER_NANOSECOND, traffic / BYTES_PER_NANOSECOND)


def grain_of(extent: int, flops: int, traffic: int) -> int:
    """Return the least number of units that take about 20 µs, given the cost of all ``extent`` of them.

    Examples
    --------
    >>> grain_of(1_000_000, 1_000_000, 8_000_000)
    20000
    """
    grain: int = _grain(extent, nanoseconds(flops, traffic))
    return grain


@reckoned
def _grain(extent: int, time: float) -> int:
    if extent <= 1:
        return max(extent, 1)
    each = time / extent
    return max(1, min(extent, int(CHUNK_NANOSECONDS / each) if each > 0 else extent))
