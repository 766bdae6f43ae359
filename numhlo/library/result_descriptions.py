"""How users say what results are: by shapes and dtypes, or by a function of those of the inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from numhlo.lowering.ir import TensorType, capture_location, element_spelling
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.building import ShapeDtypeStruct


class Described(NamedTuple):
    """The types of results, and whether there is one that is no tuple."""

    types: list[TensorType]
    single: bool


def described(what: str, result: Any, arrays: Sequence[Any], options: Mapping[str, Any] | None = None) -> Described:
    """Return the types that a description gives for some inputs.

    Parameters
    ----------
    what : str
        Whose results they are, for messages.
    result : ShapeDtypeStruct, or tuple of them, or callable
        A callable gets the inputs' shapes and dtypes, and options by keyword.
    arrays : sequence of array
    options : mapping, optional
    """
    if callable(result) and not hasattr(result, "shape"):
        result = result(*[ShapeDtypeStruct(x.shape, x.dtype) for x in arrays], **(options or {}))
    single = hasattr(result, "shape") or not isinstance(result, tuple | list)
    return Described([_type(what, one) for one in ([result] if single else result)], single)


def _type(what: str, one: Any) -> TensorType:
    if not (hasattr(one, "shape") and hasattr(one, "dtype")):
        raise ArgumentError(
            f"{what}: a result described by {one!r}",
            where=capture_location(),
            fix="describe each result by a ShapeDtypeStruct(shape, dtype), or by an array like it",
        )
    shape, dtype = tuple(one.shape), np.dtype(one.dtype)
    if any(extent < 0 for extent in shape):
        raise ArgumentError(
            f"{what}: a result of shape {shape}",
            where=capture_location(),
            fix="extents are not negative",
        )
    element_spelling(dtype)  # raises where there are no such arrays
    return TensorType(shape, dtype)
