"""Installed packages that extend numhlo: found by entry points of one group, and loaded when a name is not known."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import Any

from numhlo.lowering.ir.errors import UnsupportedError

GROUP = "numhlo.ops"
"""The group of entry points: each names a module, or a function that is called without arguments."""

_lock = threading.RLock()
_loaded: list[str] = []
_state = {"done": False}


def load_extensions() -> list[str]:
    """Load what installed packages register, once; return what their entry points name.

    Returns
    -------
    list of str
        Modules and functions.

    Raises
    ------
    UnsupportedError
        If one of them fails, naming it; what it raised is the cause.

    Examples
    --------
    >>> load_extensions() == load_extensions()
    True
    """
    if _state["done"]:
        return list(_loaded)
    with _lock:
        if not _state["done"]:
            _state["done"] = True  # what is loaded may ask for names itself
            metadata: Any = import_module("importlib.metadata")
            for point in sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
                _load(point)
    return list(_loaded)


def _load(point: Any) -> None:
    if point.value in _loaded:
        return
    try:
        found = point.load()
        if callable(found):
            found()
    except Exception as error:
        _state["done"] = False  # it is said again, until it is mended
        raise UnsupportedError(
            f"the entry point {point.name} = {point.value} of the group {GROUP} can't be loaded: {error}",
            why=f"it is of the package {getattr(point.dist, 'name', 'unknown')}",
            fix="repair the package, or uninstall it",
        ) from error
    _loaded.append(point.value)
