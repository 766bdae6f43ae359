"""How many processors this process may use, and how the cache is built that each of them has nearest.

Processors are counted by affinity and the container's quota: the machine may have more.
"""

from __future__ import annotations

import math
import os
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

CGROUP = Path("/sys/fs/cgroup")
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


class Cache(NamedTuple):
    """How many lines a cache has side by side, and how many it holds of those that would take one's place."""

    sets: int
    ways: int


COMMON_CACHE = Cache(sets=64, ways=8)
"""32 KB: the nearest cache of most processors, in place of one that the operating system does not describe."""


def available_processors() -> int:
    """Return the number of processors that this process may keep busy, at least 1."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = cgroup_quota()
    return max(1, count if quota is None else min(count, math.ceil(quota)))


def cgroup_quota(root: Path = CGROUP) -> float | None:
    """Return the processors that the control group allows, or None where there is no limit.

    Notes
    -----
    Version 2 has ``cpu.max`` with quota and period in µs, version 1 one file for each.
    """
    try:
        quota, period = (root / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:
            quota = (root / "cpu" / "cpu.cfs_quota_us").read_text().strip()
            period = (root / "cpu" / "cpu.cfs_period_us").read_text().strip()
        except OSError:
            return None
    if quota in ("max", "-1"):
        return None
    try:
        return int(quota) / int(period)
    except (ValueError, ZeroDivisionError):
        return None


@lru_cache
def first_cache(root: Path = CACHES) -> Cache:
    """Return how the first cache for data is built, or `COMMON_CACHE` where that is not known.

    Notes
    -----
    Linux describes each cache in a folder of its own, with ``level``, ``type``, ``number_of_sets`` and
    ``ways_of_associativity``; virtual machines may leave some out, or say 0.
    """
    for folder in sorted(root.glob("index*")):
        try:
            level, kind = (folder / "level").read_text().strip(), (folder / "type").read_text().strip()
            sets, ways = (int((folder / name).read_text()) for name in ("number_of_sets", "ways_of_associativity"))
        except (OSError, ValueError):
            continue
        if level == "1" and kind in ("Data", "Unified") and sets > 0 and ways > 0:
            return Cache(sets, ways)
    return COMMON_CACHE
