"""The ``reduce`` op: any number of inputs, any axes, any body.

Bodies of one associative op on integers run as a NumPy reduction; float sums and products follow `reduction_order`; any
other body made of elementwise ops combines neighbours, whole arrays at a time, so it keeps the elements' order. What is
left runs element by element.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, Type
from numhlo.lowering.ir.types import BOOL, COMPLEX, FLOATS, INTEGERS, NARROW_FLOATS, SIGNED
from numhlo.lowering.ops.dtype_table import NARROW_INTEGERS
from numhlo.lowering.ops.extents import declared_or, in_range, is_unique, same_shape
from numhlo.lowering.ops.primitive import Arrays, Attribute, Primitive, RegionFunction, Signature
from numhlo.lowering.ops.reduction_order import reduce_in_order
from numhlo.lowering.ops.region_function import (
    body_element_types,
    full,
    is_alike,
    promoted,
    region_of,
    single_op,
    takes_arrays,
)


class Reduction(Primitive):
    """An op that combines elements along axes."""

    __slots__ = ()


ORDERED = {"add": (np.add, FLOATS | COMPLEX), "multiply": (np.multiply, FLOATS)}
"""Bodies whose bits depend on the order, and for which element types that order is specified."""

EXACT = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""Bodies whose bits do not depend on the order, for booleans and integers."""


def _largest(array: np.ndarray) -> np.ndarray:
    """Return the maximum along the last axis; NaN propagates and 0.0 is greater than -0.0."""
    wide = array.astype(np.float32) if array.dtype in NARROW_FLOATS else array
    result = np.asarray(np.maximum.reduce(wide, axis=-1))
    zeros = result == 0
    if np.any(zeros):  # NumPy's maximum may be either of two zeros
        positive = np.any((wide == 0) & ~np.signbit(wide), axis=-1)
        result = np.where(zeros, np.where(positive, wide.dtype.type(0), -wide.dtype.type(0)), result)
    largest: np.ndarray = result.astype(array.dtype, copy=False)
    return largest


def _smallest(array: np.ndarray) -> np.ndarray:
    """Return the minimum along the last axis."""
    wide = array.astype(np.float32) if array.dtype in NARROW_FLOATS else array
    smallest: np.ndarray = np.negative(_largest(np.negative(wide))).astype(array.dtype, copy=False)
    return smallest


EXTREMES = {"maximum": _largest, "minimum": _smallest}
"""Bodies that choose an element, for floats."""


def infer_reduce(signature: Signature) -> Sequence[Type]:
    """Check (C1) to (C6); (C7), (C8) results lack the reduced axes and have the body's element types."""
    require = signature.require
    tensors = signature.tensors
    count = len(tensors) // 2
    require(len(tensors) % 2 == 0 and count > 0, "(C3) needs as many initial values as inputs, at least one")
    inputs, inits = tensors[:count], tensors[count:]
    shape = inputs[0].shape
    axes: tuple[int, ...] = signature.attributes["dimensions"]
    require(all(same_shape(t.shape, shape) for t in inputs), "(C1) inputs must have one shape")
    require(
        all(init.shape == () and is_alike(init.dtype, t.dtype) for t, init in zip(inputs, inits, strict=True)),
        "(C2) initial values must be scalars of the inputs' element types",
    )
    require(in_range(axes, len(shape)), f"(C4) dimensions {list(axes)} must be axes of the inputs")
    require(is_unique(axes), f"(C5) dimensions {list(axes)} must not repeat")
    elements = body_element_types(signature, [t.dtype for t in tensors], "C6")
    kept = tuple(n for axis, n in enumerate(shape) if axis not in axes)
    return declared_or(signature, [TensorType(kept, element) for element in elements])


def evaluate_reduce(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Reduce along ``dimensions``; without elements, results are the initial values."""
    (body,) = regions
    count = len(arrays) // 2
    region = region_of(body)
    arrays = promoted(arrays, region)
    dtypes = [a.dtype for a in arrays[:count]]
    axes = sorted(attributes["dimensions"])
    inputs = [reduced_last(a, axes) for a in arrays[:count]]
    inits = arrays[count:]
    shape = inputs[0].shape[:-1]
    if inputs[0].shape[-1] == 0:
        return full(tuple(inits), shape)
    op = single_op(region)
    name, dtype = ("", dtypes[0]) if op is None else (op.definition.name, dtypes[0])
    if name in ORDERED and dtype in ORDERED[name][1]:
        return [_ordered(ORDERED[name][0], inputs[0], inits[0])]
    if name in EXACT and dtype in INTEGERS | {BOOL}:
        return [_exact(EXACT[name], inputs[0], inits[0])]
    if name in EXTREMES and dtype in FLOATS:
        largest = EXTREMES[name](inputs[0])
        return full(body(np.broadcast_to(inits[0], shape), largest), shape)
    if takes_arrays(region):
        return full(body(*full(tuple(inits), shape), *neighbours(body, inputs)), shape)
    return _one_by_one(body, inputs, inits)


def reduced_last(array: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """Return ``array`` with ``axes`` moved last and flattened, row-major.

    Examples
    --------
    >>> reduced_last(np.zeros((2, 3, 4)), [0, 2]).shape
    (3, 8)
    """
    kept = [axis for axis in range(array.ndim) if axis not in axes]
    shape = [array.shape[axis] for axis in kept]
    return array.transpose([*kept, *axes]).reshape(*shape, math.prod(array.shape[axis] for axis in axes))


def _ordered(ufunc: np.ufunc, array: np.ndarray, init: np.ndarray) -> np.ndarray:
    dtype = array.dtype
    if dtype in NARROW_FLOATS:
        array, init = array.astype(np.float32), init.astype(np.float32)
    return np.asarray(ufunc(init, reduce_in_order(ufunc, array))).astype(dtype, copy=False)


def _exact(ufunc: np.ufunc, array: np.ndarray, init: np.ndarray) -> np.ndarray:
    dtype = array.dtype
    if dtype in NARROW_INTEGERS:  # wrapping in 8 bits, and then to fewer, is wrapping once
        wide = np.dtype(np.int8 if dtype in SIGNED else np.uint8)
        array, init = array.astype(wide), init.astype(wide)
    reduced = ufunc.reduce(array, axis=-1, dtype=array.dtype)
    return np.asarray(ufunc(init, reduced)).astype(dtype, copy=False)


def neighbours(body: RegionFunction, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Return ``arrays`` reduced along the last axis by combining neighbours until one is left."""
    while (n := arrays[0].shape[-1]) > 1:
        even, odd = [a[..., 0 : n - 1 : 2] for a in arrays], [a[..., 1:n:2] for a in arrays]
        combined = full(body(*even, *odd), odd[0].shape)
        if n % 2:
            combined = [np.concatenate([c, a[..., n - 1 :]], axis=-1) for c, a in zip(combined, arrays, strict=True)]
        arrays = combined
    return [a[..., 0] for a in arrays]


def _one_by_one(body: RegionFunction, arrays: list[np.ndarray], inits: list[np.ndarray]) -> list[np.ndarray]:
    """Return ``arrays`` reduced along the last axis, element after element, starting from the initial values."""
    shape = arrays[0].shape[:-1]
    results = [np.empty(shape, a.dtype) for a in arrays]
    for index in np.ndindex(shape):
        state: tuple[np.ndarray, ...] = tuple(inits)
        for k in range(arrays[0].shape[-1]):
            state = body(*state, *[a[(*index, k, ...)] for a in arrays])
        for result, value in zip(results, state, strict=True):
            result[index] = value
    return results


REDUCE = Reduction(
    "reduce",
    infer_reduce,
    evaluate_reduce,
    ("*inputs", "*init_values"),
    (Attribute("dimensions", "array<i64>"),),
    regions=("body",),
)
