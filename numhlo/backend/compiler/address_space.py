"""Whether there is address space for a compiler where the user limits it (``ulimit -v``, ``RLIMIT_AS``).

Libraries that Numba loads wait for ever for memory that they can't have: with too little of it nobody may load them.
"""

from __future__ import annotations

import os
import sys

if sys.platform != "win32":
    import resource

NEEDED = 480 << 20
"""Bytes with which a compiler process starts."""

NEEDED_HERE = 320 << 20
"""Bytes that loading Numba takes here, beside what is in use."""

FIX = "allow more address space (ulimit -v, resource.RLIMIT_AS)"


def shortage_there() -> str:
    """Return why a compiler process can't start, or an empty string."""
    return _shortage(NEEDED, 0)


def shortage_here() -> str:
    """Return why Numba can't be loaded here, or an empty string."""
    return "" if "numba" in sys.modules else _shortage(NEEDED_HERE, _in_use())


def _shortage(needed: int, used: int) -> str:
    limit = _limit()
    if limit is None or limit - used >= needed:
        return ""
    return f"{needed >> 20} MB of address space are needed, and the limit leaves {max(limit - used, 0) >> 20}"


def _limit() -> int | None:
    if sys.platform == "win32":
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _in_use() -> int:
    """Return the bytes of address space in use, 0 where that can't be found out."""
    try:
        with open("/proc/self/statm", encoding="ascii") as status:
            return int(status.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
