"""Running totals of contiguous elements, in place, where their order has no effect: integers, minima and maxima.

A loop that carries a total waits for every step. Vectors of elements are totalled by themselves, in few steps, and
wait for each other once a vector.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from numhlo.backend.primitives.arithmetic import add, maximum, minimum, multiply
from numhlo.backend.primitives.storage import STORAGES, storage_name
from numhlo.lowering.ir.records import record


@record(frozen=True)
class Running:
    """``word(pointer, first, count, total)`` replaces elements by totals that begin with ``total``; returns the last.

    There are ``count`` (at least 0) elements from index ``first`` on, of the type of ``total``.

    Attributes
    ----------
    name : str
        ``add``, ``multiply``, ``maximum`` or ``minimum``; floats have the last two.
    """

    name: str

    def __call__(self, pointer: int, first: int, count: int, total: Any) -> Any:
        """Return the last total."""
        dtype = total.dtype
        elements = STORAGES[storage_name(dtype)].view(pointer + int(first) * dtype.itemsize, int(count))
        elements[:] = list(accumulate(elements, FUNCTIONS[self.name], initial=total))[1:]
        return elements[-1] if count > 0 else total


FUNCTIONS = {"add": add, "multiply": multiply, "maximum": maximum, "minimum": minimum}

running_add, running_multiply = Running("add"), Running("multiply")
running_maximum, running_minimum = Running("maximum"), Running("minimum")
