"""Errors of functions of JAX's names about their arguments: what NumPy raises, and JAX's `TypeError` or `ValueError`.

The two libraries refuse the same arguments, but not by the same classes: an index that is out of bounds is an
`IndexError` here and a `ValueError` there, matrices that are not square are a `LinAlgError` and a `TypeError`. An error
under JAX's names is both, so that programs written for either catch it.
"""

from __future__ import annotations

import functools
from typing import Any, NoReturn

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import (
    ArgumentError,
    ConcretizationError,
    DTypeError,
    ImmutableArrayError,
    NumhloError,
    ShapeError,
)


class RefusedCallError(ArgumentError, TypeError, IndexError, np.linalg.LinAlgError):
    """A function under JAX's names refuses what it is called with, where NumPy's refuses it by an error of its own.

    JAX raises a `TypeError` or a `ValueError` where NumPy raises any of these, or an `IndexError`: this is all of them.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> try:
    ...     jax.numpy.linalg.inv(jax.numpy.ones((2, 3)))
    ... except TypeError as error:
    ...     print(error.what)
    Last 2 dimensions of the array must be square
    """


class NotAnArrayError(DTypeError):
    """A function under JAX's names is called with what is neither an array nor a number, such as a list.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> try:
    ...     jax.numpy.sum([1, 2])
    ... except TypeError as error:
    ...     print(error.what)
    sum requires ndarray or scalar arguments, got <class 'list'> at position 0.
    """


class InPlaceError(ImmutableArrayError, NotImplementedError, ValueError):
    """A function is to change an array in place, as NumPy's of its name does.

    Parameters
    ----------
    name : str
        The function's.
    arguments : str
        What to give it.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> try:
    ...     jax.numpy.add.at(jax.numpy.zeros(2), 0, 1.0)
    ... except NotImplementedError as error:
    ...     print(error.what)
    add.at(..., inplace=True): arrays are immutable under JAX's rules
    """

    def __init__(self, name: str, arguments: str) -> None:
        super().__init__(
            f"{name}(..., inplace=True): arrays are immutable under JAX's rules",
            where=capture_location(),
            why="numhlo.compat.jax has JAX's semantics; numhlo itself has NumPy's, where this works",
            fix=f"use x = {name}({arguments}, inplace=False)",
        )


BOTH = (ValueError, TypeError)


@functools.cache
def _subclass(kind: Any) -> Any:
    missing = tuple(base for base in BOTH if not issubclass(kind, base))
    return type(kind.__name__, (kind, *missing), {"__module__": kind.__module__}) if missing else kind


def _make_both(error: Any) -> None:
    """Let an error be of a subclass of its class that is a `ValueError` and a `TypeError`, too."""
    kind: Any = type(error)
    error.__class__ = _subclass(kind)


def raise_as_jax(error: Exception) -> NoReturn:
    """Raise an error about a call's arguments as one that programs written for JAX catch.

    Parameters
    ----------
    error : Exception
        What is being handled.
    """
    if isinstance(error, ConcretizationError):
        raise error
    if isinstance(error, NumhloError):
        _make_both(error)
        raise error
    raise RefusedCallError(str(error), where=capture_location()) from error


class _ErrorsOfBothKinds:
    """A block whose errors of numhlo's about arguments are a `TypeError` and a `ValueError`."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if isinstance(error, ArgumentError | ShapeError | DTypeError):
            _make_both(error)


errors_of_both_kinds = _ErrorsOfBothKinds()
