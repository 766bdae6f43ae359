"""How functions of SciPy's take their operands: as traced arrays, and floats for what is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.library.numpy import array_methods, families
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.building import as_traced, asarray, convert

MEANINGS = (families, array_methods)
"""What gives NumPy's functions, and methods, a meaning on traced arrays: this folder uses them by NumPy's names."""


def traced(x: Any) -> Any:
    """Return an array as a traced one."""
    return as_traced(asarray(x))


def converted(x: Any, dtype: np.dtype) -> Any:
    """Return an array as a traced one of a dtype."""
    return as_traced(convert(x, dtype))


def floating(x: Any) -> Any:
    """Return an array as a traced one of floats or complex numbers: of float64 where it is of integers."""
    array = traced(x)
    return array if array.dtype.kind in "fcV" else converted(array, np.dtype(np.float64))


def choice(function: str, option: str, value: Any, choices: Sequence[Any]) -> Any:
    """Return an option's value.

    Raises
    ------
    ArgumentError
        If it is none of the choices.
    """
    if value not in choices:
        known = ", ".join(map(str, choices))
        raise ArgumentError(f"{function}({option}={value!r})", where=capture_location(), fix=f"use one of {known}")
    return value


def along_last(function: str, x: Any, axis: int) -> Any:
    """Return an array with an axis moved to the end.

    Raises
    ------
    ArgumentError
        If the array has no dimensions.
    """
    if not x.ndim:
        raise ArgumentError(f"{function} of an array without dimensions", where=capture_location(), fix="give a line")
    return np.moveaxis(x, axis, -1)
