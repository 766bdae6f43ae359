"""How the names of `numhlo.numpy` come when they are first used: all at once, from `names`.

To import what traces takes several times as long as to import NumPy, and many a program that imports the namespace
does not call it. What a module's ``__getattr__`` has found stays in the module, so that it is asked once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from numhlo.compilation.garbage import load
from numhlo.numpy.absent import raise_absent


def late_names(
    namespace: dict[str, Any], modules: Sequence[str], special: Sequence[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a module whose names are those of its submodule `names`.

    Parameters
    ----------
    namespace : dict
        ``globals()`` of the module, where the names are kept.
    modules : sequence of str
        Submodules that are public, too.
    special : sequence of str
        Names between underscores that are no module's by nature; others, such as ``__wrapped__``, load nothing.
    """
    face = namespace["__name__"]

    def find(name: str) -> Any:
        if name in modules:
            return load(lambda: import_module(f"{face}.{name}"))
        if name in ("__all__", *special) or not name.startswith("_"):
            gather()
        if name not in namespace:
            raise_absent(name)
        return namespace[name]

    def gather() -> None:
        names = load(lambda: import_module(f"{face}.names"))
        namespace.update({name: getattr(names, name) for name in [*names.__all__, *special]})
        namespace["__all__"] = sorted([*names.__all__, *modules])

    def names_and_modules() -> list[str]:
        gather()
        return sorted({*namespace, *modules})

    return find, names_and_modules
