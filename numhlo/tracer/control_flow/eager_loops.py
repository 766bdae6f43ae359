"""Loops outside tracing: long ones run compiled where their bodies can be traced, short ones as Python loops.

Nothing here compiles: what does, registers itself (`RUNNERS`). A body that can't be traced is called once for each
iteration, as it is written; so is every body while the loop's own program is traced or run without a compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LONG = 256
"""Iterations from which a loop is compiled: in Python they take some milliseconds, about as long as tracing does."""

MISS: Any = object()
"""What a runner returns for a loop that has to run in Python."""

RUNNERS: list[Callable[..., Any]] = []
"""``runner(program, functions, statics, arguments)``, where there is a compiler."""


def run_compiled(
    program: Callable[..., Any],
    functions: tuple[Callable[..., Any], ...],
    statics: tuple[Any, ...],
    arguments: tuple[Any, ...],
) -> Any:
    """Return ``program(functions, statics, *arguments)``, compiled, or `MISS`.

    Parameters
    ----------
    program : callable
        Calls the loop's public function.
    functions : tuple of callable
        The user's; the compiled program is kept for them.
    statics : tuple
        What else tells programs apart.
    arguments : tuple of pytree
    """
    return RUNNERS[0](program, functions, statics, arguments) if RUNNERS else MISS
