"""What happens at every back-edge while a loop is evaluated on NumPy.

The backend evaluates loops in Python only until it has machine code for them: its hook raises there, the evaluation,
which has written nothing yet, is dropped, and the loop starts again in native code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numhlo.lowering.ir.scoped_values import ScopedValue

_hook: ScopedValue[Callable[[], None] | None] = ScopedValue(None)


def current_hook() -> Callable[[], None] | None:
    """Return what this thread's loops call at each back-edge, or None."""
    return _hook.get()


@contextmanager
def at_back_edges(hook: Callable[[], None]) -> Iterator[None]:
    """Call ``hook`` at every back-edge of the loops that this thread evaluates in the block."""
    with _hook.bound(hook):
        yield
