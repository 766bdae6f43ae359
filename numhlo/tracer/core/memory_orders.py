"""NumPy's ``order=``: how an array lies in memory. Functions have it among their parameters, and know what it means.

Fields of records, by which `sort` orders, are something else.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

ORDERS = ("C", "F", "A", "K")

BY_FIELDS = frozenset({np.sort, np.argsort, np.partition, np.argpartition})
"""Functions of NumPy's whose ``order`` names fields."""

OF_NEW_ARRAYS: frozenset[Any] = frozenset({np.zeros, np.ones, np.empty, np.full, np.eye})
"""Functions that have no array whose order they could keep."""


def memory_order(order: Any, default: Any = None) -> Any:
    """Return an order as a capital letter, or the default for None.

    Raises
    ------
    TypeError
        If it is no text.
    ValueError
        If it is another letter.
    """
    if order is None:
        return default
    if not isinstance(order, str):
        raise TypeError(f"order must be str, not {type(order).__name__}")
    if order.upper() not in ORDERS:
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return order.upper()


def with_memory_order(function: F, is_new: bool = False) -> F:
    """Return a function that is called with an ``order`` that is one of NumPy's; itself if it takes none.

    Parameters
    ----------
    function : callable
    is_new : bool, optional
        Whether it has no array whose order it could keep.
    """
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    options = function.__kwdefaults__ or {}
    if "order" in options:
        place, default = sys.maxsize, options["order"]
    elif "order" in positional:
        place = positional.index("order")
        default = (function.__defaults__ or ())[place - len(positional)]
    else:
        return function

    def chosen(order: Any) -> Any:
        found = memory_order(order, default)
        if is_new and found not in ("C", "F"):
            raise ValueError("only 'C' or 'F' order is permitted")
        return found

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if "order" in kwargs:
            kwargs["order"] = chosen(kwargs["order"])
        elif len(args) > place:
            args = (*args[:place], chosen(args[place]), *args[place + 1 :])
        return function(*args, **kwargs)

    return called  # type: ignore[return-value]
