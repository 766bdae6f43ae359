"""Which modules are libraries: their code is taken to be constant, and is not the user's to change."""

from __future__ import annotations

import functools
import sys
import sysconfig
from pathlib import PurePath
from typing import Any

CONSTANT_PACKAGES = frozenset({"builtins", "numhlo", "numpy"})
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
"""Folders of Python's library and of installed packages."""
_INSTALLED_BY_NAME = frozenset({"site-packages", "dist-packages"})
"""What folders of other installations are called: the system's below a virtual environment, `PYTHONPATH`'s."""


@functools.lru_cache(maxsize=4096)
def is_library(module_name: Any) -> bool:
    """Return whether a module belongs to Python, numhlo or an installed package: code that is taken to be constant.

    Extension modules have classes whose ``__module__`` is a descriptor: what Cython compiles, and nobody's own.

    Examples
    --------
    >>> is_library("numpy.linalg"), is_library("__main__")
    (True, False)
    """
    if not isinstance(module_name, str | None) or (module_name or "").startswith("_cython_"):
        return True
    top = (module_name or "__main__").partition(".")[0]
    if top in CONSTANT_PACKAGES or top == "__main__":
        return top != "__main__"
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:
        return top in sys.stdlib_module_names
    return file.startswith(_INSTALLED) or not _INSTALLED_BY_NAME.isdisjoint(PurePath(file).parts)


def has_library_code(fun: Any) -> bool:
    """Return whether a function's code is a library's, whatever it was made of: ``vmap(f)`` is."""
    return is_library(getattr(fun, "__globals__", {"__name__": type(fun).__module__}).get("__name__"))
