"""What `out=` and `where=` of NumPy's functions do: results are written into an array that is there."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from numhlo.tracer.building import (
    Tracer,
    asarray,
    broadcast_to_shape,
    convert,
    current_trace,
    require_array,
    select,
    shape_of,
    spelling,
)


def store(
    name: str, result: Any, target: Any, where: Any = True, casting: str = "same_kind", *, exact: bool = False
) -> Any:
    """Write ``result`` into ``target`` where ``out=`` and ``where=`` ask; ufuncs alone fill a target that is larger."""
    if target is None and where is True:
        return result
    if isinstance(target, tuple) and len(target) == 1:
        target = target[0]
    _check_target(name, result, target, casting)
    own = shape_of(result)
    aligned = target.shape[max(target.ndim - len(own), 0) :]
    if own != target.shape and (exact or [n for n, t in zip(own, aligned, strict=False) if n in (1, t)] != [*own]):
        raise ShapeError(
            f"{name}: cannot write {spelling(result)} into out of {spelling(target)}",
            where=capture_location(),
            why="an out array is never broadcast",
            fix=f"pass out of shape {list(shape_of(result))}",
        )
    value = broadcast_to_shape(convert(result, target.dtype), target.shape)
    if where is not True:
        mask = broadcast_to_shape(asarray(where, np.dtype(bool)), target.shape)
        value = select(mask, value, target)
    trace = current_trace()
    assert trace is not None
    target.assign(value if isinstance(value, Tracer) else trace.wrap(trace.read(value)))
    return target


def _check_target(name: str, result: Any, target: Any, casting: str) -> None:
    if target is None:
        raise ArgumentError(
            f"{name}(where=mask) without out=",
            where=capture_location(),
            why="elements outside the mask would be uninitialized memory",
            fix=f"pass out=, or write where(mask, {name}(...), other)",
        )
    if isinstance(target, np.ndarray):
        raise UnsupportedError(
            f"{name}: writing a traced array into a concrete one",
            where=capture_location(),
            why="an array that plain NumPy made is not part of the traced program, so it can't take a traced value",
            fix="make it with numhlo.numpy (zeros, empty, ...), or pass it to the traced function as an argument",
        )
    if not isinstance(target, Tracer):
        raise TypeError(f"{name}(): return arrays must be of ArrayType, got {type(target).__name__}")
    require_array(target, f"{name}: out")
    if not np.can_cast(result.dtype, target.dtype, casting):  # type: ignore[arg-type]
        raise DTypeError(
            f"{name}: cannot cast output from {result.dtype} to {target.dtype} with casting rule {casting!r}",
            where=capture_location(),
            fix=f"use an out array of dtype {result.dtype}, or casting='unsafe'",
        )
