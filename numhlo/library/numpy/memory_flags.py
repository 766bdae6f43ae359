"""``x.flags`` of a traced array: how it would lie in memory, by the strides that NumPy would give it."""

from __future__ import annotations

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.building import Tracer, are_contiguous, strides_of

LETTERS = {"C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable", "A": "aligned"}


class MemoryFlags:
    """What `numpy.ndarray.flags` says; nothing of it can be changed.

    Parameters
    ----------
    array : Tracer
    """

    __slots__ = ("aligned", "c_contiguous", "contiguous", "f_contiguous", "fnc", "forc", "fortran", "owndata")

    def __init__(self, array: Tracer) -> None:
        shape, strides, itemsize = array.shape, strides_of(array), array.dtype.itemsize
        self.c_contiguous = self.contiguous = are_contiguous(shape, strides, itemsize)
        self.f_contiguous = are_contiguous(shape[::-1], strides[::-1], itemsize)
        self.fnc = self.fortran = self.f_contiguous and not self.c_contiguous
        self.forc = self.f_contiguous or self.c_contiguous
        self.aligned, self.owndata = True, not array.steps

    @property
    def writeable(self) -> bool:
        """Return True: a traced array is a copy, or is checked when it is written into."""
        return True

    @writeable.setter
    def writeable(self, value: bool) -> None:
        """Raise: nothing of it can be changed."""
        raise UnsupportedError(
            "assignment to the flags of a traced array",
            where=capture_location(),
            why="it has no memory yet to protect",
            fix="leave it out, or set the flag of what the traced function returns",
        )

    def __setitem__(self, name: str, value: bool) -> None:
        self.writeable = value

    def __getitem__(self, name: str) -> bool:
        return bool(getattr(self, LETTERS.get(name, name.lower())))
