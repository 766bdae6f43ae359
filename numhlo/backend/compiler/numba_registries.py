"""Which of Numba's registries a compiler process loads: numbers, ranges, tuples and scalar functions.

Numba loads all that programs of users may need before it compiles anything, arrays, lists, dictionaries, strings and
random numbers among it: some 250 ms of processor time, in a process that is needed at once. Kernels have none of it.
What goes through Numba's own front end may, so `load_all` comes before that.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from numba.core.cpu import CPUContext
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.typing.context import Context

CODE = ("numba.cpython.mathimpl", "numba.cpython.cmathimpl")
TYPING = ("numba.core.typing.mathdecl", "numba.core.typing.cmathdecl")
BUILTIN = ("numba.cpython.builtins", "numba.cpython.numbers", "numba.cpython.rangeobj", "numba.cpython.tupleobj")
"""Modules that add to Numba's builtin registry, which every context installs."""

_whole: list[Any] = []


def load_few() -> None:
    """Let Numba load no more than kernels need, in this process; to be called before it has compiled anything."""
    if _whole:
        return
    _whole.extend((CPUContext.load_additional_registries, Context.load_additional_registries))
    for module in BUILTIN:
        importlib.import_module(module)
    CPUContext.load_additional_registries = _installing(CODE, rtsys.initialize)  # what `min` links
    Context.load_additional_registries = _installing(TYPING)


def load_all() -> None:
    """Let Numba load everything, if it has been told otherwise."""
    if _whole:
        CPUContext.load_additional_registries, Context.load_additional_registries = _whole
        _whole.clear()
        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()


def _installing(names: tuple[str, ...], *first: Callable[[Any], None]) -> Any:
    registries = [importlib.import_module(name).registry for name in names]

    def load_additional_registries(context: Any) -> None:
        for prepare in first:
            prepare(context)
        for registry in registries:
            context.install_registry(registry)

    return load_additional_registries
