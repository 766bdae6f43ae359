"""Calls of jitted functions that never enter Python: a method written in native code, and what it knows about routes.

Python's own part of a call (finding the route, passing arguments on, counting, taking the result out of its tuple)
takes three times as long as native code needs to check arguments and start a program.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.backend.primitives import layout
from numhlo.backend.runtime.fast_entry import METH_FASTCALL, METH_KEYWORDS, api_table, method_definition
from numhlo.backend.runtime.immortal import immortal
from numhlo.backend.runtime.native_functions import native_address
from numhlo.backend.runtime.object_layout import objects_are_as_expected

KINDS = {
    "result": layout.GIVES_RESULT,
    "none": layout.GIVES_NONE,
    "tuple": layout.GIVES_TUPLE,
    "other": layout.GIVES_OTHER,
}


def call_natively(kind: type, calls: np.ndarray, unsettled: set[Any], sample: Any, held: Any) -> bool:
    """Let native code make the calls of a class's objects; return False while it can't.

    Parameters
    ----------
    kind : type
        Its ``__call__`` is replaced by a method that calls the old one for whatever native code does not do.
    calls : numpy.ndarray
        ``layout.CALLS_WORDS`` words that all objects point to.
    unsettled : set
        Native code leaves calls to Python while this has elements.
    sample : object
        One of the class, and what its slot holds: checked to be where native code looks for it.
    held : object
    """
    address, entry = native_address("call"), native_address("entry")
    if address == 0 or entry == 0 or not _are_as_expected(sample, held):
        return False
    python = immortal(kind.__call__)
    immortal(calls), immortal(unsettled)
    calls[layout.CALLS_API], calls[layout.CALLS_ENTRY] = int(api_table().ctypes.data), entry
    calls[layout.CALLS_PYTHON] = id(python)
    calls[layout.CALLS_UNSETTLED] = id(unsettled) + layout.SET_USED * layout.WORD
    make = ctypes.pythonapi.PyDescr_NewMethod
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.py_object, ctypes.c_void_p]
    documentation = "Call the function: compiled, or as part of the function that is being traced."
    definition = method_definition("__call__", address, METH_FASTCALL | METH_KEYWORDS, documentation)
    kind.__call__ = make(kind, definition)  # type: ignore[method-assign]
    return True


def _are_as_expected(sample: Any, held: Any) -> bool:
    """Return whether sets, and the class's objects, look in memory as native code takes them to."""
    if not objects_are_as_expected():
        return False
    sets: list[set[int]] = [set(), {1}, {*range(100)}]
    place = id(sample) + layout.CALLER_SLOT * layout.WORD
    return ctypes.c_int64.from_address(place).value == id(held) and all(
        ctypes.c_int64.from_address(id(s) + layout.SET_USED * layout.WORD).value == len(s) for s in sets
    )


def tell(route: Callable[..., Any], owner: Any, kind: str, finish: Any, raises: Any) -> int:
    """Tell native code all about the calls of a route; return the address of the route's words.

    Parameters
    ----------
    route : callable
        As `EntryRecords.route` made it.
    owner : object
        What keeps all of these alive.
    kind : str
        What becomes of the results: "result" if the only one is given, "none", "tuple", or "other".
    finish, raises : callable
        What makes results of other kinds, and raises for a status. Nothing here keeps them alive.
    """
    words = _words_of(route)
    words[layout.ROUTE_OWNER], words[layout.ROUTE_KIND] = id(owner), KINDS[kind]
    words[layout.ROUTE_FINISH], words[layout.ROUTE_RAISE] = id(finish), id(raises)
    return int(words.ctypes.data)


def count_of(route: Callable[..., Any]) -> np.ndarray:
    """Return the word in which native code counts a route's calls."""
    return _words_of(route)[layout.ROUTE_CALLS : layout.ROUTE_CALLS + 1]


def _words_of(route: Callable[..., Any]) -> np.ndarray:
    words: np.ndarray = route.__self__  # type: ignore[attr-defined]
    return words
