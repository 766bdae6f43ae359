"""How each library is called: made ready, fed with its own arrays, waited for."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from benchmarks.program import Program, difference

WAIT_SECONDS = 120.0


SERIAL = "numba_serial"
"""Stands for Numba without threads, which is the better choice where there is little work."""


@functools.lru_cache
def module_of(library: str) -> ModuleType:
    """Import a library; for `SERIAL` a stand-in for Numba that compiles without threads."""
    module = import_module("numba" if library == SERIAL else library)
    if library != SERIAL:
        return module
    serial = ModuleType(SERIAL)
    serial.prange = range  # type: ignore[attr-defined]
    serial.njit = lambda f=None, *, parallel=False: module.njit(f) if f else module.njit  # type: ignore[attr-defined]
    return serial


def make(program: Program, library: str) -> Callable[..., Any]:
    """Import a library and return its version of a program; JAX's waits until the result is there."""
    module = module_of(library)
    function = program.versions[library](module)
    if library != "jax":
        return function
    return lambda *arguments: module.block_until_ready(function(*arguments))


def own_arguments(library: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments as a library's users keep them: JAX's arrays for JAX, NumPy's for the others."""
    if library != "jax":
        return arguments
    jax = module_of("jax")
    moved: tuple[Any, ...] = jax.block_until_ready(jax.tree.map(jax.numpy.asarray, arguments))
    return moved


def wait(function: Callable[..., Any]) -> None:
    """Wait until a function's machine code is there; only numhlo answers before it is."""
    waiting = getattr(function, "wait", None)
    if waiting is not None:
        waiting()


def check(program: Program, result: Any, expected: Any) -> str:
    """Return what is wrong with a result, or nothing."""
    found = difference(result, expected)
    if found <= program.tolerance:
        return ""
    shown = "in shape, type or non-finite numbers" if math.isinf(found) else f"by {found:.1e} relative"
    return f"wrong: differs from NumPy's {shown}"
