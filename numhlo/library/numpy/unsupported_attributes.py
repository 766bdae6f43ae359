"""What ndarrays and their kin can do and traced arrays can't, and what to write instead."""

from __future__ import annotations

import functools
from typing import Any, NoReturn

import numpy as np

from numhlo.library.numpy import number_methods, reductions
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import MutationError
from numhlo.tracer.building import Tracer, are_arrays_immutable

ABSENT = {
    **dict.fromkeys(
        ["data", "ctypes", "__array_interface__", "__array_struct__"],
        "a traced array has no memory yet; pass the array to what needs it outside, or by pure_callback",
    ),
    **dict.fromkeys(
        ["to_numpy", "values", "columns", "iloc", "loc", "index"],
        "arguments of pandas are arrays inside: leave out .to_numpy() and .values; for columns pass dict(frame)",
    ),
    **dict.fromkeys(["append", "extend"], "use numpy.append or numpy.concatenate, which return a new array"),
    "ptp": "NumPy's arrays have it no more; write numpy.ptp(x)",
    "base": "a traced array has no memory yet, and is no view of another to ask for",
    **dict.fromkeys(["getfield", "setfield"], "use view(dtype)"),
    **dict.fromkeys(
        ["resize", "setflags", "byteswap", "newbyteorder"], "a traced array's memory can't be changed; make a new array"
    ),
    **dict.fromkeys(
        ["tofile", "dump", "dumps"], "its value is not known while tracing; return it, and save it outside"
    ),
}
"""Attributes of ndarrays that traced arrays lack, and why."""


def absent(self: Tracer, name: str) -> Any:
    """Return an attribute of a number's; raise the error for any other, with advice where it is a known one."""
    found = number_methods.find(self, name)
    if found is not None:
        return found
    if name == "ptp" and are_arrays_immutable():  # a method of JAX's arrays, which NumPy's have no more
        return functools.partial(reductions.ptp, self)
    why = f": {ABSENT[name]}" if name in ABSENT else ""
    error = AttributeError(f"traced array {self.aval.short()} has no attribute {name!r}{why}", name=name, obj=self)
    error.is_numpys = not hasattr(np.ndarray, name)  # type: ignore[attr-defined]
    raise error


def delete(self: Tracer, index: Any) -> NoReturn:
    """Raise the error for ``del x[index]``."""
    raise MutationError(
        f"del of elements of a traced array {self.aval.short()}",
        where=capture_location(),
        why="arrays have a fixed number of elements, as in NumPy",
        fix="write x = numpy.delete(x, index)",
    )
