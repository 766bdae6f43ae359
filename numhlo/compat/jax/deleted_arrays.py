"""Arrays that were deleted, or given to a function that was told that it may use their memory: nothing reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from numhlo.compat.jax.arrays import Array
from numhlo.tracer.trees.pytrees import tree_leaves


class DeletedArray(Array):
    """An array whose elements are gone: it has a shape and a dtype still."""

    __slots__ = ()
    is_gone = True

    def is_deleted(self) -> bool:
        """Return True."""
        return True


class DeletedArrayError(RuntimeError, ValueError):
    """A deleted array is read, or given to a compiled function, which JAX refuses by a `ValueError`."""


def refuse_deleted(array: Any) -> NoReturn:
    """Raise the error for reading a deleted array."""
    extents = ",".join(map(str, array.shape))
    raise DeletedArrayError(f"Array has been deleted with shape={array.dtype}[{extents}].")


def _refusing(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        refuse_deleted(self)

    method.__name__ = name
    return method


_KEPT = {"__class__", "__class_getitem__", "__init_subclass__", "__subclasshook__", "__new__", "__init__", "__del__",
         "__getattribute__", "__setattr__", "__delattr__", "__dir__", "__array_finalize__", "__sizeof__",
         "is_deleted", "delete", "devices"}  # fmt: skip

for _name in dir(Array):
    if callable(getattr(Array, _name)) and _name not in _KEPT:
        setattr(DeletedArray, _name, _refusing(_name))


for _name in ("at", "T", "mT", "real", "imag", "flat"):
    setattr(DeletedArray, _name, property(_refusing(_name)))


def require_there(*containers: Any) -> None:
    """Raise where a pytree has a deleted array.

    Raises
    ------
    RuntimeError
        If it has.
    """
    for x in tree_leaves(containers):
        if type(x) is DeletedArray:
            refuse_deleted(x)


def delete(array: Any) -> None:
    """Delete an array: whatever reads it from now on raises."""
    if type(array) is Array:
        array.__class__ = DeletedArray


def delete_donated(arguments: Any, results: Any) -> None:
    """Delete the arrays among arguments whose memory the results could take: each that of one of its type."""
    wanted = [(x.shape, x.dtype) for x in tree_leaves(results) if isinstance(x, np.ndarray)]
    for array in tree_leaves(arguments):
        if type(array) is Array and (array.shape, array.dtype) in wanted:
            wanted.remove((array.shape, array.dtype))
            delete(array)


Array.delete = delete  # type: ignore[method-assign,assignment] # what it makes of an array is defined here
