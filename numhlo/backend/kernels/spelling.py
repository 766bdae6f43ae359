"""The names of primitives, operators and functions of `vector_math` in kernel text."""

from __future__ import annotations

import builtins
import operator
from functools import cache
from typing import Any

from numhlo.backend import primitives, vector_math
from numhlo.backend.primitives.storage import Storage
from numhlo.lowering.ir.errors import InternalError


@cache
def _spellings() -> dict[Any, tuple[str, str]]:
    return {
        getattr(module, name): (module.__name__, name)
        for module in (vector_math, primitives)
        for name in module.__all__
        if callable(getattr(module, name))
    }


def spelling(callee: Any) -> tuple[str, str]:
    """Return the module and the name that kernel text knows a callee by.

    Raises
    ------
    InternalError
        If there is none.

    Examples
    --------
    >>> spelling(operator.add), spelling(primitives.load_f32)
    (('operator', 'add'), ('numhlo.backend.primitives', 'load_f32'))
    """
    found = _spellings().get(callee)
    if found is not None:
        return found
    name = getattr(callee, "__name__", "")
    for module in (operator, builtins):
        if getattr(module, name, None) is callee:
            return module.__name__, name
    raise InternalError(f"kernel text has no name for {callee!r}")


def load_name(storage: Storage) -> str:
    """Return the name of the primitive that loads elements."""
    return f"load_{storage.name}"


def store_name(storage: Storage, rounded: bool) -> str:
    """Return the name of the primitive that stores elements."""
    return f"store_{'rounded_' if rounded else ''}{storage.name}"
