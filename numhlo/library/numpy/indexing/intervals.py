"""Slices with traced bounds that have the same number of elements by their form: ``a[i:-1]`` and ``a[i + 1:]``.

Their bounds are sums that differ by the same; so the elements of the one are those of the other, moved. As with indices
that are out of bounds, nothing is checked that depends on values: where NumPy would cut one of the slices at the end of
its array and not the other, or count one bound from the end, and raise for extents that differ, elements are taken from
the nearest places there are.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from numhlo.library.numpy.indexing.known_widths import linear_form
from numhlo.library.numpy.indexing.same_masks import is_same_value
from numhlo.lowering.ir import Value
from numhlo.tracer.building import (
    FUNCTIONS,
    Tracer,
    as_traced,
    broadcast_to_shape,
    current_trace,
    shape_of,
)
from numhlo.tracer.building import operations as b

__all__ = ["Interval"]

Form = Counter[Value | None]
"""The factors of the values that a number is a sum of, and under None a constant."""


class Interval(NamedTuple):
    """Neighbouring elements of an axis, between bounds of which one at least is traced.

    Attributes
    ----------
    start, end : array
        The bounds, counted from the start.
    extent : int
        That of the axis.
    first, stop : Counter
        The bounds as sums.
    """

    start: Any
    end: Any
    extent: int
    first: Form
    stop: Form

    @classmethod
    def of(cls, entry: slice, extent: int, start: Any, end: Any) -> Interval | None:
        """Return the interval of a slice of an axis, with bounds counted from the start; None where it has a step."""
        if entry.step not in (None, 1):
            return None
        return cls(start, end, extent, _form(entry.start, extent, 0), _form(entry.stop, extent, extent))

    def is_as_long_as(self, other: Interval) -> bool:
        """Return whether two intervals have as many elements by their form."""
        return _same_form(_difference(self.first, other.first), _difference(self.stop, other.stop))

    def is_same(self, other: Interval) -> bool:
        """Return whether two intervals of axes of one extent surely have the same elements."""
        same = _same_form(self.first, other.first) and _same_form(self.stop, other.stop)
        return same and self.extent == other.extent

    def moved(self, values: Any, other: Interval, extent: int) -> Tracer:
        """Return an array of some extent that has elements where this interval is, taken from where the other one is.

        A single element is repeated, as by NumPy: of a slice cut at the end of its array it may be the only one.
        """
        if other.extent == 0:
            return as_traced(broadcast_to_shape(b.constant(1, values), (extent, *shape_of(values)[1:])))
        first, source = _within(self.start, self.extent), _within(other.start, other.extent)
        last = b.maximum(b.subtract(b.subtract(_within(other.end, other.extent), source), 1), 0)
        first, source, last = (broadcast_to_shape(x, (extent,)) for x in (first, source, last))
        numbers = b.minimum(b.maximum(b.subtract(b.iota(extent), first), 0), last)
        return as_traced(FUNCTIONS[np.take](values, b.add(source, numbers), axis=0, mode="clip"))

    def reversed(self, values: Any) -> Tracer:
        """Return an array of which the elements between the bounds are in opposite order."""
        last = b.subtract(b.add(_within(self.start, self.extent), _within(self.end, self.extent)), 1)
        numbers = b.subtract(broadcast_to_shape(last, (self.extent,)), b.iota(self.extent))
        return as_traced(FUNCTIONS[np.take](values, numbers, axis=0, mode="clip"))


def _difference(one: Form, other: Form) -> Form:
    """Return a sum less another one, without what is in both."""
    found = Counter({value: number for value, number in one.items() if number})
    for value, number in other.items():
        found[_likeness(value, found)] -= number
    return Counter({value: number for value, number in found.items() if number})


def _same_form(one: Form, other: Form) -> bool:
    return not _difference(one, other)


def _likeness(value: Value | None, form: Form) -> Value | None:
    """Return the value of a sum that is surely equal to a value; this one if there is none."""
    if value is None or value in form:
        return value
    return next((other for other in form if other is not None and is_same_value(value, other)), value)


def _within(bound: Any, extent: int) -> Any:
    return b.minimum(b.maximum(bound, 0), extent)


def _form(bound: Any, extent: int, missing: int) -> Form:
    found: Form = Counter({None: missing})
    if isinstance(bound, Tracer):
        trace = current_trace()
        assert trace is not None
        found = Counter(linear_form(trace.read(bound)))
    elif bound is not None:
        found = Counter({None: int(bound)})
    if not any(number for value, number in found.items() if value is not None):
        number = found[None] + extent if found[None] < 0 else found[None]
        return Counter({None: max(0, min(number, extent))})
    return found
