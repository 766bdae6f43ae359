"""A jitted function as a method of one object, or of a class."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from numhlo.tracer.core.arguments import WEAK
from numhlo.tracer.trees.pytrees import find_container

R = TypeVar("R")


class BoundFunction(Generic[R]):
    """A jitted method of one object."""

    __slots__ = ("__self__", "_function")

    def __init__(self, function: Callable[..., R], instance: Any) -> None:
        self._function = function
        self.__self__ = instance

    def __call__(self, *args: Any, **kwargs: Any) -> R:
        """Call the method."""
        return self._function(self.__self__, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<bound {self._function!r} of {self.__self__!r}>"

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        """The method's own."""
        return self._function.__doc__

    @property
    def __signature__(self) -> inspect.Signature:
        """Without the object, as that of Python's methods."""
        whole = inspect.signature(self._function)
        return whole.replace(parameters=list(whole.parameters.values())[1:])

    def __dir__(self) -> Iterable[str]:
        return sorted({*object.__dir__(self), *dir(self._function)})

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._function, name)
        if name in {"trace", "lower", "eval_shape"}:
            return functools.partial(found, self.__self__)
        return found


def is_class_method(function: Any, owner: type) -> bool:
    """Return whether a class has a function as its class method.

    From Python 3.13 on a class method calls what it wraps without asking for its ``__get__``: the class is an argument.
    """
    return any(isinstance(x, classmethod) and x.__func__ is function for x in _attributes(owner))


def is_property(function: Any, owner: type) -> bool:
    """Return whether a class has a function as its property, which calls it without asking for its ``__get__``."""
    return any(
        (isinstance(x, property) and x.fget is function)
        or (isinstance(x, functools.cached_property) and x.func is function)
        for x in _attributes(owner)
    )


def _attributes(owner: type) -> Iterator[Any]:
    for ancestor in owner.__mro__:
        yield from vars(ancestor).values()


def is_static_instance(instance: Any) -> bool:
    """Return whether a method's object is a static argument: anything but a registered container or an array."""
    kind = type(instance)
    return find_container(kind) is None and kind not in WEAK and not hasattr(kind, "__array__")
