"""How many threads are tracing, so that calls of compiled functions can tell at a glance that none is."""

from __future__ import annotations

import threading


class Activity:
    """Counts the threads that are tracing, so that calls of compiled functions can tell at a glance that none is."""

    __slots__ = ("_lock", "count")

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def enter(self) -> None:
        """Count one more."""
        with self._lock:
            self.count += 1

    def leave(self) -> None:
        """Count one less."""
        with self._lock:
            self.count -= 1

    def __enter__(self) -> None:
        self.enter()

    def __exit__(self, *_: object) -> None:
        self.leave()


activity = Activity()
"""All threads' activity; while it counts none, `current_trace` is None everywhere."""
