"""Python's cyclic garbage collector in first calls, and while modules load: it runs seldom, since what is made is kept.

A graph of ten thousand ops is half a million objects, all alive. At the usual threshold the collector goes through them
again and again, which took half the time of tracing and planning.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TypeVar

from numhlo.lowering.ir.scoped_values import ProcessSetting, with_own_bindings

R = TypeVar("R")

THRESHOLD = 200_000
"""Objects that are allocated before a collection, while graphs are built."""

_thresholds = ProcessSetting(gc.get_threshold, lambda numbers: gc.set_threshold(*numbers))


def build(make: Callable[[], R]) -> R:
    """Return ``make()``, with rare collections in all threads until the last call like this ends.

    A disabled collector stays so. Blocks of this thread that a signal's handler broke off have ended, too.
    """
    return _thresholds.during(_rarer, with_own_bindings, make)


def load(modules: Callable[[], R]) -> R:
    """Return ``modules()``, which imports some, without looking for garbage among what they are made of.

    All of it stays: it goes to the oldest objects at once. A tenth of the time of the first import went into looking.
    """

    def loaded() -> R:
        found = modules()
        if gc.get_freeze_count() == 0:  # else what the user froze would no longer be frozen
            gc.freeze()
            gc.unfreeze()
        return found

    return build(loaded)


def _rarer(usual: tuple[int, int, int]) -> tuple[int, int, int]:
    return (THRESHOLD, *usual[1:]) if 0 < usual[0] < THRESHOLD else usual
