"""A jitted function as a method of one object."""

from __future__ import annotations

import functools
from typing import Any


class BoundFunction:
    """A jitted method of one object."""

    __slots__ = ("__self__", "_function")

    def __init__(self, function: Any, instance: Any) -> None:
        self._function = function
        self.__self__ = instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the method."""
        return self._function(self.__self__, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<bound {self._function!r} of {self.__self__!r}>"

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._function, name)
        if name in {"trace", "lower", "eval_shape"}:
            return functools.partial(found, self.__self__)
        return found
