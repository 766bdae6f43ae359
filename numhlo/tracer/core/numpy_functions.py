"""What NumPy's functions mean while tracing, by NumPy's function: the library says so, a family of functions a file.

Families that most programs do without are loaded when a function is asked for that none of the others has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Meanings(dict[Any, Callable[..., Any]]):
    """A mapping of NumPy's functions and ufuncs to traced implementations.

    Attributes
    ----------
    load_rest : callable
        Loads the families that are not there yet; what is no function of NumPy's is not looked for in them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.load_rest: Callable[[], object] = lambda: None

    def __missing__(self, function: Any) -> Callable[..., Any]:
        found: Callable[..., Any] | None = self.get(function)
        if found is None:
            raise KeyError(function)
        return found

    def get(self, function: Any, default: Any = None) -> Any:
        """Return what a function means while tracing."""
        found = super().get(function, default)
        if found is default and _is_numpys(function):
            self.load_rest()
            return super().get(function, default)
        return found

    def __contains__(self, function: object) -> bool:
        return self.get(function) is not None


FUNCTIONS = Meanings()
"""NumPy function (for ``__array_function__``) or ufunc (for ``__array_ufunc__``) to our traced implementation."""


def _is_numpys(function: Any) -> bool:
    module = getattr(function, "__module__", None)
    return isinstance(function, np.ufunc) or (isinstance(module, str) and module.partition(".")[0] == "numpy")
