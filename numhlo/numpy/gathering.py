"""How the names of `numhlo.numpy` come when they are first used, each with the module that defines it.

To import all that traces takes several times as long as to import NumPy, and many a program that imports the namespace
does not call it. What a module's ``__getattr__`` has found stays in the module, so that it is asked once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from numhlo.compilation.garbage import load
from numhlo.library.citations import cite
from numhlo.numpy.absent import raise_absent
from numhlo.numpy.names import HOMES

NAMES = sorted(name for name in HOMES if not name.startswith("_"))
OTHER_PLACES = {"sliding_window_view": "numpy.lib.stride_tricks.{}"}
"""Where NumPy has names that its namespace lacks."""


def late_names(
    namespace: dict[str, Any], modules: Sequence[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a module whose names are those of `HOMES`.

    Parameters
    ----------
    namespace : dict
        ``globals()`` of the module, where the names are kept.
    modules : sequence of str
        Submodules that are public, too.
    """
    namespace["__all__"] = sorted([*NAMES, *modules])

    def find(name: str) -> Any:
        if name in modules:
            return load(lambda: import_module(f"{namespace['__name__']}.{name}"))
        if name not in HOMES:
            raise_absent(name)
        namespace[name] = found = getattr(load(lambda: _home(HOMES[name])), name)
        return found

    return find, lambda: sorted({*namespace, *HOMES, *modules})


def _home(name: str) -> Any:
    """Return a module, its names documented, and see to it that traced arrays can do what its functions ask of them."""
    if not name.startswith("numhlo.numpy"):
        import_module("numhlo.library.registration")
    home = import_module(name)
    names = [x for x in NAMES if HOMES[x] == name and x != "Array"]
    for own, place in OTHER_PLACES.items():
        cite(vars(home), place, [x for x in names if x == own])
    cite(vars(home), "numpy.{}", names)
    return home
