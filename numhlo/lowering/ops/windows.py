"""The ops ``reduce_window`` and ``select_and_scatter``: what pooling, its gradient and running sums are made of.

All windows of an array are an array too, a view that overlaps itself; a reduction over windows is a ``reduce`` of
that, with its order of combination and its rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, Type
from numhlo.lowering.ir.types import BOOL, FLOATS
from numhlo.lowering.ops.extents import declared_or, same_shape
from numhlo.lowering.ops.primitive import Arrays, Attribute, Primitive, RegionFunction, Signature
from numhlo.lowering.ops.reduction import evaluate_reduce
from numhlo.lowering.ops.region_function import (
    body_element_types,
    full,
    is_alike,
    is_promotable,
    promoted,
    region_of,
    takes_arrays,
)
from numhlo.lowering.ops.window_geometry import (
    PADDING,
    STRIDES,
    Windows,
    as_pairs,
    check_padding,
    check_positive,
    ones_or,
    pad_array,
    windows_of,
)

MOST_ELEMENTS = 1 << 22
"""Elements of windows that are looked at together; windows that overlap hold many more than the array has."""


class Windowed(Primitive):
    """An op that slides a window over its operands."""

    __slots__ = ()


def windows_from(attributes: Mapping[str, Any], rank: int) -> Windows:
    """Return an op's attributes as windows, defaults filled in."""
    sizes = ones_or(attributes["window_dimensions"], rank)
    return Windows(
        sizes,
        ones_or(attributes["window_strides"], rank),
        as_pairs(attributes["padding"], rank),
        ones_or(attributes.get("base_dilations"), rank),
        ones_or(attributes.get("window_dilations"), rank),
    )


def infer_reduce_window(signature: Signature) -> Sequence[Type]:
    """Check (C1) to (C13); (C14), (C15) results have an element for each window, (C16) of the body's types."""
    require = signature.require
    tensors = signature.tensors
    count = len(tensors) // 2
    require(len(tensors) % 2 == 0 and count > 0, "(C1) needs as many initial values as inputs, at least one")
    inputs, inits = tensors[:count], tensors[count:]
    shape = inputs[0].shape
    require(all(same_shape(t.shape, shape) for t in inputs), "(C2) inputs must have one shape")
    pairs = zip(inputs, inits, strict=True)
    fits = all(init.shape == () and is_alike(init.dtype, t.dtype) for t, init in pairs)
    require(fits, "(C3) initial values must be scalars of the inputs' element types")
    rank = len(shape)
    for name, size_rule, sign_rule in (
        ("window_dimensions", "C4", "C5"),
        ("window_strides", "C6", "C7"),
        ("base_dilations", "C8", "C9"),
        ("window_dilations", "C10", "C11"),
    ):
        check_positive(signature, name, rank, size_rule, sign_rule)
    check_padding(signature, rank, "C12")
    elements = body_element_types(signature, [t.dtype for t in tensors], "C13")
    counts = windows_from(signature.attributes, rank).counts(shape)
    return declared_or(signature, [TensorType(counts, element) for element in elements])


def evaluate_reduce_window(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Reduce every window of the padded inputs; a part of the windows at a time."""
    count = len(arrays) // 2
    arrays = promoted(arrays, region_of(regions[0]))
    inputs, inits = arrays[:count], arrays[count:]
    rank = inputs[0].ndim
    windows = windows_from(attributes, rank)
    counts = windows.counts(inputs[0].shape)
    parts = [windows_of(pad_array(x, init, windows), windows, counts) for x, init in zip(inputs, inits, strict=True)]
    axes = {"dimensions": tuple(range(rank, 2 * rank))}
    if rank == 0 or counts[0] <= 1 or parts[0].size <= MOST_ELEMENTS:
        return list(evaluate_reduce([*parts, *inits], axes, regions))
    step = max(1, MOST_ELEMENTS * counts[0] // parts[0].size)
    pieces = [
        evaluate_reduce([*[p[k : k + step] for p in parts], *inits], axes, regions) for k in range(0, counts[0], step)
    ]
    return [np.concatenate(piece) for piece in zip(*pieces, strict=True)]


def _takes(operand: TensorType, other: TensorType) -> bool:
    """Return whether both have one element type; as floats, be it of another precision."""
    return operand.dtype == other.dtype or {operand.dtype, other.dtype} <= FLOATS


def infer_select_and_scatter(signature: Signature) -> Sequence[Type]:
    """Check (C1) to (C10); (C11) the result has the operand's shape, (C12) of the element type of ``scatter``."""
    require = signature.require
    operand, source, init = signature.tensors
    rank = operand.ndim
    require(_takes(operand, source), "(C1) operand and source must have one element type")
    fits = init.shape == () and _takes(operand, init)
    require(fits, "(C3) the initial value must be a scalar of the operand's element type")
    check_positive(signature, "window_dimensions", rank, "C4", "C5")
    check_positive(signature, "window_strides", rank, "C6", "C7")
    check_padding(signature, rank, "C8")
    counts = windows_from(signature.attributes, rank).counts(operand.shape)
    require(same_shape(source.shape, counts), f"(C2) source must have an element for each window: {list(counts)}")
    require(len(signature.regions) == 2, "needs two regions")
    select, scatter = signature.regions
    scalar = TensorType((), operand.dtype)
    taken, returned = [v.type for v in select.arguments], [v.type for v in select.returns]
    fits = taken == [scalar, scalar] and returned == [TensorType((), BOOL)]
    require(fits, f"(C9) select must take two scalars of type {scalar} and return tensor<i1>")
    types = [v.type for v in scatter.arguments], [v.type for v in scatter.returns]
    element = types[1][0] if types[1] else None
    require(
        isinstance(element, TensorType)
        and element.shape == ()
        and types == ([element, element], [element])
        and all(is_promotable(t.dtype, element.dtype) for t in signature.tensors),
        f"(C10) scatter must take two scalars that {scalar} promotes to and return one",
    )
    assert isinstance(element, TensorType)
    return declared_or(signature, [operand.with_dtype(element.dtype)])


def evaluate_select_and_scatter(
    arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> Arrays:
    """Combine each element of the source into the element that its window selects.

    Windows see no padding: one without elements selects nothing.
    """
    operand, source, init = arrays
    select, scatter = regions
    source, init = promoted((source, init), region_of(scatter))
    windows = windows_from(attributes, operand.ndim)
    chosen = selected_elements(operand, windows, select)
    result = np.full(operand.shape, init, init.dtype)
    flat, values = result.reshape(-1), source.ravel()
    for place, value in zip(chosen.ravel().tolist(), values, strict=True):
        if place >= 0:
            (flat[place],) = scatter(flat[place, ...], np.asarray(value))
    return (result,)


def selected_elements(operand: np.ndarray, windows: Windows, select: RegionFunction) -> np.ndarray:
    """Return the flat index in ``operand`` of each window's selected element; -1 where it has none.

    Elements are compared in order: ``select(chosen, next)`` says whether the one chosen so far stays.
    """
    counts = windows.counts(operand.shape)
    numbers = np.arange(operand.size).reshape(operand.shape)
    places = windows_of(pad_array(numbers, np.asarray(-1), windows), windows, counts)
    values = windows_of(pad_array(operand, np.zeros((), operand.dtype), windows), windows, counts)
    size = math.prod(windows.sizes)
    places, values = places.reshape(-1, size), values.reshape(-1, size)
    chosen, best = np.full(len(places), -1), np.zeros(len(places), operand.dtype)
    for k in range(size):
        place, value = places[:, k], values[:, k]
        stays = _apply(select, best, value)
        takes = (place >= 0) & ((chosen < 0) | ~stays)
        chosen, best = np.where(takes, place, chosen), np.where(takes, value, best)
    return chosen.reshape(counts)


def _apply(select: RegionFunction, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    if takes_arrays(region_of(select)):
        return full(select(first, second), first.shape)[0]
    kept = [bool(select(np.asarray(a), np.asarray(b))[0]) for a, b in zip(first, second, strict=True)]
    return np.array(kept, np.bool_)


REDUCE_WINDOW = Windowed(
    "reduce_window",
    infer_reduce_window,
    evaluate_reduce_window,
    ("*inputs", "*init_values"),
    (
        Attribute("window_dimensions", "array<i64>"),
        STRIDES,
        Attribute("base_dilations", "array<i64>", None),
        Attribute("window_dilations", "array<i64>", None),
        PADDING,
    ),
    regions=("body",),
)
SELECT_AND_SCATTER = Windowed(
    "select_and_scatter",
    infer_select_and_scatter,
    evaluate_select_and_scatter,
    ("operand", "source", "init_value"),
    (Attribute("window_dimensions", "array<i64>", None), STRIDES, PADDING),
    regions=("select", "scatter"),
)
