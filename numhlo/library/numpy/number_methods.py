"""Methods that numbers of Python's and scalars of NumPy's have and arrays lack: ``x.is_integer()``, ``n.bit_length()``.

What stands for a number finds them where an attribute is missing; arrays lack them still (`absent_attributes`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError
from numhlo.tracer.building import FUNCTIONS, Tracer, convert


def _of_python(x: Any) -> Any:
    x.weak = True
    return x


def _is_integer(x: Tracer) -> Any:
    floats = FUNCTIONS[np.isfinite](x) & (FUNCTIONS[np.floor](x) == x)
    return _of_python(floats)


def _bit_count(x: Tracer) -> Any:
    return _of_python(convert(FUNCTIONS[np.bitwise_count](x), np.int64))


def _bit_length(x: Tracer) -> Any:
    bits = convert(FUNCTIONS[np.absolute](x), np.uint64)
    for shift in (1, 2, 4, 8, 16, 32):  # all bits below the highest one are set, and counted
        bits = bits | (bits >> np.uint64(shift))
    return _bit_count(bits)


NEED_VALUES = {"f": ("hex", "as_integer_ratio"), "i": ("to_bytes", "as_integer_ratio")}
"""Methods of Python's numbers that give text, bytes, or integers of any length."""


def _refusing(x: Tracer, name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **options: Any) -> Any:
        raise ConcretizationError(
            f"{name}() of a traced number {x.aval.short()}",
            where=capture_location(),
            why="its value is not known while tracing",
            fix="return the number, and ask for it outside the traced function",
        )

    return refuse


def find(x: Tracer, name: str) -> Callable[[], Any] | Any | None:
    """Return a method or an attribute of a number's; None where it has none of that name.

    Parameters
    ----------
    x : Tracer
        Any array: only what stands for a number has any.
    name : str
    """
    if not x.is_scalar or x.dtype.kind not in "iuf":
        return None
    if x.weak and name in NEED_VALUES.get(x.dtype.kind, ()):
        return _refusing(x, name)
    if x.dtype.kind == "f":
        return (lambda: _is_integer(x)) if name == "is_integer" else None
    if name == "bit_length" and x.weak:
        return lambda: _bit_length(x)
    return {"is_integer": lambda: True, "bit_count": lambda: _bit_count(x), "numerator": x, "denominator": 1}.get(name)
