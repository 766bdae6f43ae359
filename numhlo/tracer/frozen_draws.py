"""Draws from NumPy's global generator while tracing: they would happen once and be the same numbers ever after."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numhlo.lowering.ir.errors import ConcretizationError

UNUSED = 624
"""The position of a Mersenne twister that nobody has drawn from: NumPy makes one when numpy.random is loaded."""


def _state() -> tuple[Any, ...] | None:
    """Return where the global generator is; None where nobody has loaded it."""
    random = sys.modules.get("numpy.random")
    if random is None:
        return None
    state = random.get_state(legacy=False)
    inner = state["state"]
    return state["gauss"], state["has_gauss"], inner.get("pos"), bytes(inner["key"]) if "key" in inner else repr(inner)


@contextmanager
def refusing_draws(name: str) -> Iterator[None]:
    """Raise `ConcretizationError` if the block moves NumPy's global generator."""
    before = _state()
    yield
    after = _state()
    moved = after != before if before is not None else after is not None and after[2] != UNUSED
    if moved:
        raise ConcretizationError(
            f"{name} draws random numbers from np.random while it is traced",
            why="it is traced once: every later call would get the same numbers",
            fix="draw with numhlo.random and a key that is an argument, or draw outside and pass the numbers in",
        )
