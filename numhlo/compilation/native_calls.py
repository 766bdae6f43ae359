"""Which route of a jitted function native code takes without asking Python; how that is done, the backend knows.

Native code knows the route that calls try first, if it is all native: nothing that Python has to look at before, no
keywords, no static arguments. `numhlo.backend.runtime.native_calls` has the other side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.compilation.dispatch import Route
from numhlo.compilation.programs import backend_of_calls
from numhlo.lowering.ir.scoped_values import unsettled

COMMON = np.zeros(16, np.int64)
"""What all jitted functions have in common; the backend fills it."""

PLACE_OF_ROUTE = 1
"""Among a function's words; the first one points to those of all functions."""


class Caller:
    """What native code knows about a function.

    Attributes
    ----------
    words : numpy.ndarray
        What the function's slot holds.
    native : callable or None
        The native function of the route that calls take without Python.
    """

    __slots__ = ("_route", "native", "words")

    installed = False

    def __init__(self) -> None:
        self.words = np.array([COMMON.ctypes.data, 0], np.int64)
        self._route: Route | None = None
        self.native: Any = None

    def take(self, route: Route, sample: Any) -> None:
        """Let calls take a route, if it is all native, of functions like the one that is called."""
        self.forget()
        if route.native is None:
            return
        if not Caller.installed:
            kind = next(c for c in type(sample).__mro__ if "__call__" in vars(c))  # of which there are others
            Caller.installed = backend_of_calls().call_natively(kind, COMMON, unsettled, sample, self.words)
        if Caller.installed:
            address = backend_of_calls().tell(route.native, route, route.kind, route.entry.unflatten, route.raises)
            route.entry.count_in(backend_of_calls().count_of(route.native))
            self._route, self.native = route, route.native
            self.words[PLACE_OF_ROUTE] = address

    def forget(self) -> None:
        """Let Python find the way again."""
        self.words[PLACE_OF_ROUTE] = 0
        self._route = self.native = None
