"""How many processors this process may use: affinity and the container's quota, not what the machine has."""

from __future__ import annotations

import math
import os
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")


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
