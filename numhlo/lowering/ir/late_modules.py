"""`late`: a module that is imported when one of its names is first used, for what most processes never use.

What a first answer needs is imported plainly. What texts, dumps and checks need is not: each module costs every process
a quarter of a millisecond.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


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
