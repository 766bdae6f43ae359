"""The storage behind traced arrays: what several views of one array have in common.

What a write through a view does to it is in `trace`.
"""

from __future__ import annotations

from itertools import count
from typing import Any, Generic, Protocol

from numhlo.lowering.ir import Location, Region, TensorType, Value
from numhlo.lowering.ir.type_variables import TypeVar
from numhlo.lowering.ops.strides import Strides, contiguous_strides

TraceT = TypeVar("TraceT", default=Any)
"""What owns a cell: `numhlo.tracer.core.trace.Trace`."""

_serials = count()


def cells_so_far() -> int:
    """Return a number that cells made from now on have at least, and those made before do not reach."""
    return next(_serials)


class Order(Protocol):
    """What says how an array lies in memory."""

    def strides(self, type: TensorType) -> Strides:
        """Return the strides of an array of a type."""
        ...


class Cell(Generic[TraceT]):
    """The storage behind a traced array and its views: the value that it holds now, in the trace that owns it.

    Attributes
    ----------
    trace : Trace
    value : Value
    version : int
        Number of writes so far.
    layout_read : bool
        Whether tracing asked for `strides`, or whether it is a scalar, and so depends on that.
    is_array : bool
        Made as an array: where it has no dimensions, NumPy has a 0-d array there and not an immutable scalar.
    location : Location
    name : str
        What an argument is called in messages: ``argument x of f``; empty for other arrays.
    serial : int
        Cells are numbered in the order in which they are made.
    is_observed : bool
        The caller of the traced function sees what it holds in the end: it is an argument's.
    is_tied : bool
        A name may mean it or other storage: some trace has `ties` of it.
    order : Order or None
        What its strides follow, if that may be another order than C's.
    """

    __slots__ = (
        "_strides",
        "is_array",
        "is_observed",
        "is_tied",
        "layout_read",
        "location",
        "name",
        "order",
        "serial",
        "trace",
        "value",
        "version",
    )

    def __init__(self, trace: TraceT, value: Value, location: Location) -> None:
        self.trace = trace
        self.value = value
        self.version = 0
        self._strides: Strides | None = None
        self.order: Order | None = None
        self.layout_read = False
        self.is_array = value.owner.__class__ is Region
        self.location = location
        self.name = ""
        self.serial = next(_serials)
        self.is_observed = self.is_tied = False

    def origin(self, here: Location) -> str:
        """Return where the array comes from, for messages; empty where that is ``here``."""
        if self.name:
            return f" (it belongs to {self.name})"
        place = self.location.describe()
        return "" if place == here.describe() else f" (it comes from {place})"

    @property
    def strides(self) -> Strides:
        """Return the array's strides in memory, on which it hangs whether reshaping it gives a view."""
        self.layout_read = True
        if self._strides is not None:
            return self._strides
        type = self.value.tensor
        if self.order is not None:
            self._strides = self.order.strides(type)
            return self._strides
        return contiguous_strides(type.shape, type.dtype.itemsize)

    @strides.setter
    def strides(self, strides: Strides | None) -> None:
        self._strides = strides

    @property
    def is_laid_out_by_default(self) -> bool:
        """Return whether nothing was said of its strides."""
        return self._strides is None

    @property
    def is_in_order(self) -> bool:
        """Return whether it is C-contiguous, as far as was said; this asks for nothing."""
        type = self.value.tensor
        return self._strides is None or self._strides == contiguous_strides(type.shape, type.dtype.itemsize)
