"""What happens at every back-edge while a loop is evaluated on NumPy.

The backend evaluates loops in Python only until it has machine code for them: its hook raises there, the evaluation,
which has written nothing yet, is dropped, and the loop starts again in native code.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class _State(threading.local):
    hook: Callable[[], None] | None = None


_state = _State()


def current_hook() -> Callable[[], None] | None:
    """Return what this thread's loops call at each back-edge, or None."""
    return _state.hook


@contextmanager
def at_back_edges(hook: Callable[[], None]) -> Iterator[None]:
    """Call ``hook`` at every back-edge of the loops that this thread evaluates in the block."""
    previous = _state.hook
    _state.hook = hook
    try:
        yield
    finally:
        _state.hook = previous
