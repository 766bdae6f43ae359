"""Modules of a package that are loaded when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from numhlo.compat.jax.absent_names import raise_absent


def same_names(module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a module that has what another has.

    Parameters
    ----------
    module : str
    """

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(module), name)

    return find, lambda: dir(import_module(module))


def late(
    package: str,
    modules: Iterable[str],
    names: Mapping[str, str] | None = None,
    advice: Mapping[str, str] | None = None,
    own: Iterable[str] = (),
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose modules are loaded late.

    Parameters
    ----------
    package : str
    modules : iterable of str
        Their names in the package.
    names : mapping of str to str, optional
        By name in the package, the module outside that has it under the same name.
    advice : mapping of str to str, optional
        What to write in place of names that are not there.
    own : iterable of str, optional
        Names that the package has without this.

    Returns
    -------
    tuple of callable and callable
    """
    known, homes = frozenset(modules), names or {}

    def find(name: str) -> Any:
        if name in known:
            return import_module(f"{package}.{name}")
        if name in homes:
            return getattr(import_module(homes[name]), name)
        return raise_absent(package, name, advice or {})

    return find, lambda: sorted({*known, *homes, *own})
