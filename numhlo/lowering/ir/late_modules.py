"""`late` and `LateTable`: modules that are imported when something of them is first used, which few processes do.

What a first answer needs is imported plainly. What texts, dumps and checks need is not: each module costs every process
a quarter of a millisecond.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

V = TypeVar("V")


class _LateModule:
    """Stands for a module; a name that was used once is an attribute of its own."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self.__name__), name)
        setattr(self, name, found)
        return found

    def __repr__(self) -> str:
        return f"<late module {self.__name__!r}>"


def late(name: str) -> Any:
    """Return what stands for a module of the same room, or of one below, until it is used.

    Parameters
    ----------
    name : str
        The module's full name.

    Examples
    --------
    >>> colors = late("colorsys")
    >>> colors.rgb_to_hsv(0.0, 0.0, 1.0)[2]
    1.0
    """
    return _LateModule(name)


class LateTable(dict[Any, V]):
    """A mapping of which parts are filled in by modules that are loaded when a key is asked for that is not there yet.

    Parameters
    ----------
    may_come : callable
        Says of a key whether such a module may have it.

    Attributes
    ----------
    load_rest : callable
        Loads these modules.
    """

    def __init__(self, may_come: Callable[[Any], bool]) -> None:
        super().__init__()
        self._may_come = may_come
        self.load_rest: Callable[[], object] = lambda: None

    def __missing__(self, key: Any) -> V:
        found: V | None = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def get(self, key: Any, default: Any = None) -> Any:
        """Return a key's value, or the default."""
        found = super().get(key, default)
        if found is default and self._may_come(key):
            self.load_rest()
            return super().get(key, default)
        return found

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None
