"""Which of Numba's registries a compiler process loads: numbers, ranges, tuples and scalar functions.

Numba loads all that programs of users may need before it compiles anything, arrays, lists, dictionaries, strings and
random numbers among it: some 250 ms of processor time, in a process that is needed at once. Kernels have none of it.
What goes through Numba's own front end may, so `load_all` comes before that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.cpu import CPUContext
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.typing import cmathdecl, mathdecl
from numba.core.typing.context import Context
from numba.cpython import builtins, cmathimpl, mathimpl, numbers, rangeobj, tupleobj

CODE = (mathimpl.registry, cmathimpl.registry)
TYPING = (mathdecl.registry, cmathdecl.registry)
BUILTIN = (builtins, numbers, rangeobj, tupleobj)
"""Modules that add to Numba's builtin registry, which every context installs, when they are loaded."""

_whole: list[Any] = []


def load_few() -> None:
    """Let Numba load no more than kernels need, in this process; to be called before it has compiled anything."""
    if _whole:
        return
    _whole.extend((CPUContext.load_additional_registries, Context.load_additional_registries))
    CPUContext.load_additional_registries = _installing(CODE, rtsys.initialize)  # what `min` links
    Context.load_additional_registries = _installing(TYPING)


def load_all() -> None:
    """Let Numba load everything, if it has been told otherwise."""
    if _whole:
        CPUContext.load_additional_registries, Context.load_additional_registries = _whole
        _whole.clear()
        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()


def _installing(registries: tuple[Any, ...], *first: Callable[[Any], None]) -> Any:
    def load_additional_registries(context: Any) -> None:
        for prepare in first:
            prepare(context)
        for registry in registries:
            context.install_registry(registry)

    return load_additional_registries
