"""Objects that native code points to from places that outlive Python: they are never freed, not even at exit.

When the interpreter ends, daemon threads may still be inside native code, and the pool's threads sleep there.
"""

from __future__ import annotations

import ctypes
from typing import TypeVar

T = TypeVar("T")


def immortal(value: T) -> T:
    """Return ``value``, with a reference to it that nobody gives back.

    Examples
    --------
    >>> immortal([1])
    [1]
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
    return value
