"""What a `for` goes through: Python's iterator, and where it can be had, the item of an iteration that is traced."""

from __future__ import annotations

import builtins
import itertools
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.python.plain_numpy import exchanged_callee
from numhlo.tracer.python.special_methods import iterated
from numhlo.tracer.python.stand_ins import holder

ENDLESS = (itertools.count, itertools.cycle)
"""Iterators that surely have no end."""


def is_range(maker: Any) -> bool:
    """Return whether what a loop calls is Python's `range`, or Numba's, whose iterations may run side by side."""
    name = (getattr(maker, "__module__", None), getattr(maker, "__name__", None))
    return maker is builtins.range or name == ("numba.misc.special", "prange")


class Items:
    """``enumerate(x)``, ``zip(x, y)`` or ``reversed(x)``, as it is written, or what goes by that name.

    Parameters
    ----------
    maker : callable
    arguments : sequence
        Which may be such themselves.
    options : mapping
    """

    def __init__(self, maker: Any, arguments: Sequence[Any], options: Mapping[str, Any]) -> None:
        self.maker, self.arguments, self.options = maker, arguments, options

    def made(self) -> Any:
        """Return what Python makes of it."""
        return exchanged_callee(self.maker)(*map(made, self.arguments), **self.options)

    def length(self) -> int | None:
        """Return the number of items, where all have numbers."""
        lengths = [length(x) for x in (self.arguments[:1] if self.maker is builtins.enumerate else self.arguments)]
        known = [n for n in lengths if n is not None]
        if self.maker not in (builtins.enumerate, builtins.zip, builtins.reversed) or len(known) < len(lengths):
            return None
        return min(known, default=None)

    def item(self, k: Any) -> Any:
        """Return an item by its number, which may be traced."""
        first, *rest = self.arguments
        if self.maker is builtins.enumerate:
            start = rest[0] if rest else self.options.get("start", 0)
            return start + k, item(first, k)
        if self.maker is builtins.reversed:
            count = self.length()
            assert count is not None
            return item(first, count - 1 - k)
        return tuple(item(x, k) for x in self.arguments)


def made(x: Any) -> Any:
    """Return what is iterated over in an object's place."""
    return iterated(x.made() if isinstance(x, Items) else x)


def iterations(x: Any) -> Iterable[Any]:
    """Return the items, one after the other."""
    found: Iterable[Any] = made(x)
    return found


def length(x: Any) -> int | None:
    """Return the number of items; None where these have no numbers."""
    if isinstance(x, Items):
        return x.length()
    if isinstance(x, Tracer | np.ndarray):
        return x.shape[0] if x.shape else None
    return len(x) if type(x) in (range, list, tuple) else None


def item(x: Any, k: Any) -> Any:
    """Return an item by its number, which may be traced; a list's only by one that is known."""
    if isinstance(x, Items):
        return x.item(k)
    is_traced = isinstance(k, Tracer)
    if isinstance(x, range) and is_traced:
        return x.start + k * x.step
    if type(x) in (list, tuple) and is_traced:
        raise ConcretizationError("an item of a list by a traced index", where=capture_location())
    return (holder(x) if isinstance(x, np.ndarray) else x)[k]


def is_drawn(x: Any) -> bool:
    """Return whether items are taken from an iterator, which has fewer of them afterwards."""
    return any(map(is_drawn, x.arguments)) if isinstance(x, Items) else hasattr(type(x), "__next__")


def may_be_endless(x: Any) -> bool:
    """Return whether items are taken from iterators of which nothing says how many they give.

    Examples
    --------
    >>> import itertools
    >>> may_be_endless(itertools.count()), may_be_endless(iter([1]))
    (True, False)
    """
    if isinstance(x, Items):
        sources = x.arguments if x.maker is builtins.zip else x.arguments[:1]
        return all(map(may_be_endless, sources))
    return hasattr(type(x), "__next__") and operator.length_hint(x, -1) < 0
