"""Python's cyclic garbage collector in first calls: it runs seldom, since all that is made then is kept.

A graph of ten thousand ops is half a million objects, all alive. At the usual threshold the collector goes through them
again and again, which took half the time of tracing and planning.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLD = 200_000
"""Objects that are allocated before a collection, while graphs are built."""


class _Builders:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.usual = gc.get_threshold()


_builders = _Builders()


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let collections be rare, in all threads, until the last block like this ends; a disabled collector stays so."""
    with _builders.lock:
        _builders.count += 1
        if _builders.count == 1:
            _builders.usual = gc.get_threshold()
            if 0 < _builders.usual[0] < THRESHOLD:
                gc.set_threshold(THRESHOLD, *_builders.usual[1:])
    try:
        yield
    finally:
        with _builders.lock:
            _builders.count -= 1
            if _builders.count == 0 and gc.get_threshold()[0] == THRESHOLD:
                gc.set_threshold(*_builders.usual)
