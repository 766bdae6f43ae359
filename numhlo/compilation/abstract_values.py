"""Abstract values: whether a value of a program is known while it is traced.

Four kinds, each of which may be all that the one before it is: known (Python's own values, static arguments, shapes),
a container whose structure is known, a traced array, and a traced array whose length may be traced as well, such as
``x[x > 0]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from numhlo.tracer.core.arguments import ShapeDtypeStruct
from numhlo.tracer.core.trace import Tracer

KNOWN, CONTAINER, TRACED, UNSIZED = range(4)

SOMETHING: Any = object()
"""In the place of a known value that the interpretation did not compute."""

MASK: Any = object()
"""In the place of the value of an array of bools."""

_NUMBERS = (bool, int, float, complex, np.generic, np.ndarray, Tracer, ShapeDtypeStruct)


class Abstract:
    """What is known of a value.

    Parameters
    ----------
    kind : int
    object : object, optional
        The value where it is known, the node of a function that the program defines, or the class of a container.
    inside : Abstract, optional
        What may be in a container.
    items : tuple of Abstract, optional
        What is in a tuple, in order.
    owner : Abstract, optional
        The object whose method a function is.
    frame : object, optional
        The call that defined a function.
    """

    __slots__ = ("_inside", "frame", "items", "kind", "object", "owner")

    def __init__(
        self,
        kind: int,
        object: Any = SOMETHING,
        inside: Abstract | None = None,
        *,
        items: tuple[Abstract, ...] | None = None,
        owner: Abstract | None = None,
        frame: Any = None,
    ) -> None:
        self.kind, self.object, self._inside, self.items = kind, object, inside, items
        self.owner, self.frame = owner, frame

    @property
    def inside(self) -> Abstract:
        """Return what one gets who iterates over the value or takes an item of it."""
        if self.kind >= TRACED:
            return ARRAY
        if self._inside is None:
            self._inside = join_all(self.items or ())
        return self._inside

    @property
    def is_traced(self) -> bool:
        """Return whether the value itself may be traced."""
        return self.kind >= TRACED

    @property
    def holds_traced(self) -> bool:
        """Return whether the value, or something in it, may be traced."""
        return self.kind >= TRACED or (self.kind == CONTAINER and self.inside.holds_traced)

    def is_like(self, other: Abstract) -> bool:
        """Return whether nothing tells two values apart."""
        if self is other:
            return True
        if self.kind != other.kind or self.object is not other.object or self.owner is not other.owner:
            return False
        if self.kind != CONTAINER:
            return True
        mine, others = self.items or (), other.items or ()
        if len(mine) != len(others) or not all(x.is_like(y) for x, y in zip(mine, others, strict=True)):
            return False
        return self.inside.is_like(other.inside)


CONSTANT = Abstract(KNOWN)
ARRAY = Abstract(TRACED)
SELECTED = Abstract(UNSIZED)
CHOICE = Abstract(TRACED, MASK)


def known(x: Any) -> Abstract:
    """Return the abstract value of one that is known."""
    return Abstract(KNOWN, x)


def join(first: Abstract, second: Abstract) -> Abstract:
    """Return what a value is that may be either of two.

    Examples
    --------
    >>> join(ARRAY, CONSTANT).is_traced
    True
    """
    if first.is_like(second):
        return first
    if first.is_traced or second.is_traced:
        return first if first.kind >= second.kind else second
    if first.kind == second.kind == KNOWN:
        return CONSTANT
    cls = next(x.object for x in (first, second) if x.kind == CONTAINER)
    if first.items and second.items and len(first.items) == len(second.items):
        return Abstract(CONTAINER, cls, items=tuple(map(join, first.items, second.items)))
    return Abstract(CONTAINER, cls, join(first.inside, second.inside))


def join_all(values: Iterable[Abstract]) -> Abstract:
    """Return what a value is that may be any of some; a constant where there are none."""
    found: Abstract | None = None
    for value in values:
        found = value if found is None else join(found, value)
    return CONSTANT if found is None else found


def container(inside: Abstract, cls: Any = SOMETHING) -> Abstract:
    """Return a container of any number of values."""
    return Abstract(CONTAINER, cls, inside)


def tuple_of(*items: Abstract) -> Abstract:
    """Return a tuple."""
    return Abstract(CONTAINER, tuple, items=items)


def of_argument(x: Any) -> Abstract:
    """Return what is known of an argument that is not static: its structure, but not its arrays and numbers.

    Examples
    --------
    >>> of_argument([1.0, None]).holds_traced, of_argument("mean").holds_traced
    (True, False)
    """
    if isinstance(x, _NUMBERS):
        return ARRAY
    if x is None or isinstance(x, str | bytes):
        return known(x)
    if isinstance(x, Mapping):
        return container(join_all(map(of_argument, x.values())), type(x))
    if isinstance(x, list | tuple):
        return Abstract(CONTAINER, type(x), items=tuple(map(of_argument, x)))
    return container(ARRAY, type(x))
