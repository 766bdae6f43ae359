"""rng_bit_generator in terms of plain ops: its bits are computed where they are used.

Threefry is a composite that kernels know; Philox is written out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from numhlo.lowering.ir import Function, TensorType, Value
from numhlo.lowering.ops import comparison, conversion, creation, elementwise, layout
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.counter_based import PHILOX_MULTIPLIERS, PHILOX_ROUNDS, PHILOX_WEYL
from numhlo.lowering.ops.dtype_table import NARROW_INTEGERS
from numhlo.lowering.ops.random_bits import split_place
from numhlo.lowering.ops.threefry import U32, U64, Writer, make_threefry2x32

STATE = TensorType((2,), U64)


@lru_cache(maxsize=256)
def three_fry(output: TensorType) -> Function:
    """Return the function that maps a state to the next one and to an array of random bits.

    Parameters
    ----------
    output : TensorType
        Of integers, or floats of 16 to 64 bits that have the bits of registers.

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
        words = _wide(w, first, second)
    else:
        words = w.cast(_joined(w, first, second, shape, place), np.dtype(f"u{width // 8}"))
    return w.finish([after, _seen_as(w, words, output)])


def _seen_as(w: Writer, words: Value, output: TensorType) -> Value:
    """Return words of a type's width as elements of the type; of 2 and 4 bits the lowest ones of a byte."""
    if words.tensor == output:
        return words
    if output.dtype in NARROW_INTEGERS:
        return w.cast(words, output.dtype)
    return w.op(conversion.BITCAST_CONVERT, words, result=output)


@lru_cache(maxsize=256)
def philox(state: TensorType, output: TensorType) -> Function:
    """Return the function that maps a state of Philox to the next one and to an array of random bits.

    Parameters
    ----------
    state : TensorType
        Of two or three words.
    output : TensorType
        As of `three_fry`, with elements.

    Examples
    --------
    >>> philox(TensorType((3,), U64), TensorType((5,), np.dtype("uint32")))
    <function @philox(tensor<3xui64>) -> (tensor<3xui64>, tensor<5xui32>)>
    """
    width = 8 * output.dtype.itemsize
    count = output.size * (2 if width == 64 else 1)
    blocks = -(-count // 4)
    w = Writer("philox", [state], (blocks,))
    key, low = _element(w, 0), _element(w, 1)
    high = _element(w, 2) if state.shape[0] > 2 else key
    counters = w.op(elementwise.ADD, low, w.op(creation.IOTA, result=TensorType((blocks,), U64), iota_dimension=0))
    carried = w.op(elementwise.ADD, high, _is_less(w, counters, low))
    hashed = _philox_words(w, [*_words(w, counters), *_words(w, carried)], _words(w, key))
    if width == 64:
        hashed = [_wide(w, hashed[k], hashed[k + 1]) for k in (0, 2)]
    element = TensorType((blocks, 1), hashed[0].tensor.dtype)
    columns = [w.op(layout.RESHAPE, x, result=element) for x in hashed]
    both = w.op(layout.CONCATENATE, *columns, dimension=1)
    flat = w.op(layout.RESHAPE, both, result=element.with_shape((blocks * len(columns),)))
    cut = w.op(layout.SLICE, flat, start_indices=(0,), limit_indices=(output.size,), strides=(1,))
    shaped = w.op(layout.RESHAPE, cut, result=element.with_shape(output.shape))
    words = w.cast(shaped, np.dtype(f"u{width // 8}"))
    return w.finish([_after_philox(w, state, blocks), _seen_as(w, words, output)])


def _after_philox(w: Writer, state: TensorType, blocks: int) -> Value:
    """Return the state, its counter counted up by the blocks that were used."""
    parts = [
        w.op(layout.SLICE, w.arguments[0], start_indices=(k,), limit_indices=(k + 1,), strides=(1,))
        for k in range(state.shape[0])
    ]
    steps = w.op(creation.CONSTANT, value=np.array([blocks], U64))
    end = w.op(elementwise.ADD, parts[1], steps)
    after = [parts[0], end]
    if len(parts) > 2:
        after.append(w.op(elementwise.ADD, parts[2], _is_less(w, end, parts[1])))
    return w.op(layout.CONCATENATE, *after, dimension=0)


def _is_less(w: Writer, x: Value, y: Value) -> Value:
    """Return 1 where ``x < y``, which is where a sum has wrapped, else 0."""
    less = w.op(comparison.COMPARE, x, y, comparison_direction="LT", compare_type="UNSIGNED")
    return w.op(conversion.CONVERT, less, result=x.tensor)


def _philox_words(w: Writer, counter: Sequence[Value], key: Sequence[Value]) -> list[Value]:
    a, b, c, d = counter
    for turn in range(PHILOX_ROUNDS):
        keys = [
            w.op(elementwise.ADD, k, w.constant_like(turn * weyl & 0xFFFFFFFF, U32))
            for k, weyl in zip(key, PHILOX_WEYL, strict=True)
        ]
        products = [
            w.op(elementwise.MULTIPLY, w.cast(x, U64), w.constant_like(m, U64))
            for x, m in zip((a, c), PHILOX_MULTIPLIERS, strict=True)
        ]
        (low0, high0), (low1, high1) = (_words(w, product) for product in products)
        a = w.op(elementwise.XOR, w.op(elementwise.XOR, high1, b), keys[0])
        c = w.op(elementwise.XOR, w.op(elementwise.XOR, high0, d), keys[1])
        b, d = low1, low0
    return [a, b, c, d]


def _wide(w: Writer, low: Value, high: Value) -> Value:
    """Return words of 64 bits."""
    above = w.op(elementwise.SHIFT_LEFT, w.cast(high, U64), w.constant_like(32, U64))
    return w.op(elementwise.OR, above, w.cast(low, U64))


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
