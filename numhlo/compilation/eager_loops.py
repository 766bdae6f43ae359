"""Programs of loops that are called outside tracing: jitted, and kept for the functions that are their bodies.

Importing this module registers the runner (`numhlo.tracer.control_flow.eager_loops`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.compilation.disabling import is_disabled
from numhlo.compilation.jit import jit
from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.tracer.control_flow.eager_loops import MISS, RUNNERS
from numhlo.tracer.core.type_rules import TypeRules, type_rules
from numhlo.tracer.python.autograph.python_state import PythonState
from numhlo.tracer.trees.pytrees import tree_flatten

PROGRAMS = 128
"""Bodies whose programs are kept."""

MOST_OBJECTS = 1000
"""Objects that a body can reach which are looked at before its trace, to be put back if it fails."""

_is_running: ScopedValue[bool] = ScopedValue(False)
"""Whether a loop's program is being traced or run: what its body calls outside tracing runs in Python."""


class _NeedsPythonError(Exception):
    """A body has an effect on Python's objects in each iteration."""


class _Program:
    """The jitted program of a loop, and whether its body was found to be one that can't be traced."""

    def __init__(self, program: Callable[..., Any], functions: tuple[Any, ...], statics: tuple[Any, ...]) -> None:
        self.is_python = False
        self.traced: PythonState | None = None
        self._program, self._statics = program, statics
        first, last = functions[0], functions[-1]

        def loop(*arguments: Any) -> Any:
            return self._trace((first, last)[: len(functions)], arguments)

        self.jitted = jit(loop, autograph=False)  # guards what its variables read of the world; else Python branches

    def gives_up(self) -> bool:
        """Return whether the call that failed has traced the body, which runs in Python from now on."""
        if self.traced is None:
            return False
        self.is_python = True
        self.traced.put_back()
        return True

    def _trace(self, functions: tuple[Any, ...], arguments: tuple[Any, ...]) -> Any:
        self.traced = state = PythonState(functions, most=MOST_OBJECTS)
        if state.draws or not state.whole:
            raise _NeedsPythonError
        arrays = [(x, x.copy()) for x in state.arrays()]
        result = self._program(functions, self._statics, *arguments)
        written = [(x, old) for x, old in arrays if x.tobytes() != old.tobytes()]
        for x, old in written:
            np.copyto(x, old)
        if written or state.has_changed():
            raise _NeedsPythonError
        return result


@functools.lru_cache(maxsize=PROGRAMS)
def _program(
    program: Callable[..., Any], functions: tuple[Any, ...], statics: tuple[Any, ...], _rules: TypeRules
) -> _Program:
    return _Program(program, functions, statics)


def run(
    program: Callable[..., Any], functions: tuple[Any, ...], statics: tuple[Any, ...], arguments: tuple[Any, ...]
) -> Any:
    """Return the result of a loop's compiled program, or `MISS` where it has to run in Python.

    Notes
    -----
    What a body did to Python's objects before its trace failed is undone, so that Python begins where it would have.
    """
    if is_disabled() or _is_running.get() or not tree_flatten(arguments)[0]:
        return MISS
    try:
        found = _program(program, functions, statics, type_rules())
    except TypeError:  # functions that can't be hashed
        return MISS
    if found.is_python:
        return MISS
    found.traced = None
    try:
        with _is_running.bound(True):
            return found.jitted(*arguments)
    except Exception:
        if not found.gives_up():
            raise
        return MISS  # the Python loop has its say, and its own errors
    finally:
        found.traced = None


RUNNERS[:] = [run]
