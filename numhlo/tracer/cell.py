"""The storage behind traced arrays: what several views of one array have in common.

What a write through a view does to it is in `trace`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numhlo.lowering.ir import Location, Region, Value, capture_location
from numhlo.lowering.ir.errors import MutationError
from numhlo.tracer.strides import Strides, contiguous_strides

if TYPE_CHECKING:
    from numhlo.tracer.trace import Trace


class Cell:
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
    twins : tuple of (Cell, int)
        What may be the same storage, as it was chosen by a traced condition, and its version then.
    """

    __slots__ = ("_strides", "is_array", "layout_read", "location", "name", "trace", "twins", "value", "version")

    def __init__(self, trace: Trace, value: Value, location: Location) -> None:
        self.trace = trace
        self.value = value
        self.version = 0
        self._strides: Strides | None = None
        self.layout_read = False
        self.is_array = value.owner.__class__ is Region
        self.location = location
        self.name = ""
        self.twins: tuple[tuple[Cell, int], ...] = ()

    def require_one_value(self) -> None:
        """Raise where what may be the same storage was written since.

        Raises
        ------
        MutationError
        """
        if any(cell.version != version for cell, version in self.twins):
            raise MutationError(
                f"an array {self.value.tensor.short()} is read that may be the one just written, or another one",
                where=capture_location(),
                why="an if on a traced condition chose which of them the name means",
                fix="copy in the branch: best = x.copy()",
            )

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
        type = self.value.tensor
        return contiguous_strides(type.shape, type.dtype.itemsize) if self._strides is None else self._strides

    @strides.setter
    def strides(self, strides: Strides | None) -> None:
        self._strides = strides
