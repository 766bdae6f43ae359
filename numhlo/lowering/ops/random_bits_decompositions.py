"""rng_bit_generator by Threefry in terms of plain ops and the hash: its bits are computed where they are used."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from numhlo.lowering.ir import Function, TensorType, Value
from numhlo.lowering.ops import conversion, creation, elementwise, layout
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.random_bits import split_place
from numhlo.lowering.ops.threefry import U32, U64, Writer, make_threefry2x32

STATE = TensorType((2,), U64)


@lru_cache(maxsize=256)
def three_fry(output: TensorType) -> Function:
    """Return the function that maps a state to the next one and to an array of random bits.

    Parameters
    ----------
    output : TensorType
        Of integers or floats of 8 to 64 bits.

    Examples
    --------
    >>> three_fry(TensorType((3,), np.dtype("uint32")))
    <function @three_fry(tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)>
    """
    shape, width = output.shape, 8 * output.dtype.itemsize
    place = split_place(shape) if shape else 0
    half = shape if width == 64 else tuple((n + 1) // 2 if k == place else n for k, n in enumerate(shape)) or (1,)
    w = Writer("three_fry", [STATE], half)
    key, start = (_element(w, number) for number in (0, 1))
    first, second = _hashed(w, key, start)
    steps = w.op(creation.CONSTANT, value=np.array([0, math.prod(half)], U64))
    after = w.op(elementwise.ADD, w.arguments[0], steps)
    if width == 64:
        high = w.op(elementwise.SHIFT_LEFT, w.cast(second, U64), w.constant_like(32, U64))
        words = w.op(elementwise.OR, high, w.cast(first, U64))
    else:
        words = w.cast(_joined(w, first, second, shape, place), np.dtype(f"u{width // 8}"))
    if words.tensor != output:
        words = w.op(conversion.BITCAST_CONVERT, words, result=output)
    return w.finish([after, words])


def _element(w: Writer, number: int) -> Value:
    part = w.op(layout.SLICE, w.arguments[0], start_indices=(number,), limit_indices=(number + 1,), strides=(1,))
    return w.spread(w.op(layout.RESHAPE, part, result=TensorType((), U64)))


def _hashed(w: Writer, key: Value, start: Value) -> tuple[Value, Value]:
    """Return both words of the hash of each element's number, counted from ``start``."""
    high, low = w.numbers()
    shifted = w.op(elementwise.SHIFT_LEFT, w.cast(high, U64), w.constant_like(32, U64))
    counters = w.op(elementwise.ADD, start, w.op(elementwise.OR, shifted, w.cast(low, U64)))
    operands = [word for x in (key, counters) for word in _words(w, x)]
    result = TensorType(w.shape, U64)
    (packed,) = w.ops(COMPOSITE, *operands, results=[result], **make_threefry2x32(w.shape))
    second, first = _words(w, packed)
    return first, second


def _words(w: Writer, x: Value) -> tuple[Value, Value]:
    """Return the low and the high word."""
    high = w.op(elementwise.SHIFT_RIGHT_LOGICAL, x, w.constant_like(32, U64))
    return w.cast(x, U32), w.cast(high, U32)


def _joined(w: Writer, first: Value, second: Value, shape: tuple[int, ...], place: int) -> Value:
    """Return the two words side by side along a dimension, cut to the shape."""
    if not shape:
        return w.op(layout.RESHAPE, first, result=TensorType((), U32))
    half = w.shape
    paired = TensorType((*half[: place + 1], 1, *half[place + 1 :]), U32)
    parts = [w.op(layout.RESHAPE, x, result=paired) for x in (first, second)]
    both = w.op(layout.CONCATENATE, *parts, dimension=place + 1)
    whole = tuple(2 * n if k == place else n for k, n in enumerate(half))
    flat = w.op(layout.RESHAPE, both, result=TensorType(whole, U32))
    if whole == shape:
        return flat
    return w.op(layout.SLICE, flat, start_indices=(0,) * len(shape), limit_indices=shape, strides=(1,) * len(shape))
