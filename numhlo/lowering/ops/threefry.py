"""Random bits of keys as composites: ``numhlo.threefry2x32``, ``numhlo.random_bits`` and ``numhlo.random_split``.

A key is two uint32 words. The bits of an array are Threefry 2x32 of each element's number in row-major order, high and
low word, under the key: every element can be computed by itself, and none depends on how many there are. The layout is
that of JAX's ``threefry2x32`` with ``jax_threefry_partitionable``, and is fixed: the same key gives the same bits in
every version.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from numhlo.lowering.ir import Function, TensorType, Value
from numhlo.lowering.ops import conversion, creation, elementwise, layout
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.composites import CompositeDefinition, register
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.counter_based import GROUPS, PARITY, ROTATIONS, threefry2x32
from numhlo.lowering.ops.primitive import Arrays, RegionFunction

U32, U64 = np.dtype(np.uint32), np.dtype(np.uint64)
KEY = TensorType((2,), U32)


class Writer(FunctionBuilder):
    """Writes formulas of unsigned integers of one shape."""

    def __init__(self, name: str, types: Sequence[TensorType], shape: Sequence[int]) -> None:
        super().__init__(name, types)
        self.shape = tuple(shape)

    def constant_like(self, number: int, dtype: np.dtype) -> Value:
        """Return a tensor of one number."""
        return self.spread(self.constant(np.asarray(number, dtype)))

    def spread(self, scalar: Value) -> Value:
        """Return a scalar as a tensor."""
        result = TensorType(self.shape, scalar.tensor.dtype)
        return self.op(layout.BROADCAST_IN_DIM, scalar, result=result, broadcast_dimensions=())

    def cast(self, x: Value, dtype: np.dtype) -> Value:
        """Return integers in another dtype."""
        return x if x.tensor.dtype == dtype else self.op(conversion.CONVERT, x, result=x.tensor.with_dtype(dtype))

    def word(self, key: Value, number: int) -> Value:
        """Return a word of a key as a tensor."""
        part = self.op(layout.SLICE, key, start_indices=(number,), limit_indices=(number + 1,), strides=(1,))
        return self.spread(self.op(layout.RESHAPE, part, result=TensorType((), U32)))

    def numbers(self) -> tuple[Value, Value]:
        """Return the high and the low word of each element's number, in row-major order."""
        total = None
        for axis, extent in enumerate(self.shape):
            place = self.op(creation.IOTA, result=TensorType(self.shape, U64), iota_dimension=axis)
            stride = math.prod(self.shape[axis + 1 :])
            step = self.op(elementwise.MULTIPLY, place, self.constant_like(stride, U64)) if stride != 1 else place
            if extent != 1 or total is None:
                total = step if total is None else self.op(elementwise.ADD, total, step)
        if total is None:
            total = self.constant_like(0, U64)
        high = self.op(elementwise.SHIFT_RIGHT_LOGICAL, total, self.constant_like(32, U64))
        return self.cast(high, U32), self.cast(total, U32)

    def hash(self, key: Value) -> tuple[Value, Value]:
        """Return the two words that Threefry makes of each element's number."""
        high, low = self.numbers()
        operands = [self.word(key, 0), self.word(key, 1), high, low]
        type = TensorType(self.shape, U64)
        packed = self.ops(COMPOSITE, *operands, results=[type], **make_threefry2x32(type.shape))[0]
        first = self.op(elementwise.SHIFT_RIGHT_LOGICAL, packed, self.constant_like(32, U64))
        return self.cast(first, U32), self.cast(packed, U32)


def make_threefry2x32(shape: tuple[int, ...]) -> dict[str, Any]:
    """Return the attributes of the composite that hashes counters.

    Its operands are four uint32 tensors of one shape, key and counter; its result is uint64, the first word on top.

    Examples
    --------
    >>> make_threefry2x32((3,))["decomposition"]
    <function @threefry2x32(tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<3xui64>)>
    """
    return {
        "name": "numhlo.threefry2x32",
        "composite_attributes": {},
        "decomposition": _threefry2x32(shape),
        "version": 0,
    }


@lru_cache(maxsize=256)
def _threefry2x32(shape: tuple[int, ...]) -> Function:
    w = Writer("threefry2x32", [TensorType(shape, U32)] * 4, shape)
    first, second, x, y = w.arguments

    def rotated(value: Value, distance: int) -> Value:
        left = w.op(elementwise.SHIFT_LEFT, value, w.constant_like(distance, U32))
        right = w.op(elementwise.SHIFT_RIGHT_LOGICAL, value, w.constant_like(32 - distance, U32))
        return w.op(elementwise.OR, left, right)

    parity = w.op(elementwise.XOR, w.op(elementwise.XOR, first, second), w.constant_like(PARITY, U32))
    keys = [first, second, parity]
    x, y = w.op(elementwise.ADD, x, first), w.op(elementwise.ADD, y, second)
    for group in range(GROUPS):
        for distance in ROTATIONS[group % 2]:
            x = w.op(elementwise.ADD, x, y)
            y = w.op(elementwise.XOR, x, rotated(y, distance))
        x = w.op(elementwise.ADD, x, keys[(group + 1) % 3])
        tweak = w.op(elementwise.ADD, keys[(group + 2) % 3], w.constant_like(group + 1, U32))
        y = w.op(elementwise.ADD, y, tweak)
    high = w.op(elementwise.SHIFT_LEFT, w.cast(x, U64), w.constant_like(32, U64))
    return w.finish([w.op(elementwise.OR, high, w.cast(y, U64))])


def make_random_bits(shape: tuple[int, ...], width: int) -> dict[str, Any]:
    """Return the attributes of the composite that makes an array of random bits from a key.

    Parameters
    ----------
    shape : tuple of int
    width : {8, 16, 32, 64}
        Of an element: up to 32 bits are the exclusive or of both words, 64 bits are both.

    Examples
    --------
    >>> make_random_bits((3,), 32)["decomposition"]
    <function @random_bits(tensor<2xui32>) -> (tensor<3xui32>)>
    """
    return {
        "name": "numhlo.random_bits",
        "composite_attributes": {"shape": shape, "width": width},
        "decomposition": _random_bits(shape, width),
        "version": 0,
    }


@lru_cache(maxsize=256)
def _random_bits(shape: tuple[int, ...], width: int) -> Function:
    w = Writer("random_bits", [KEY], shape)
    first, second = w.hash(w.arguments[0])
    if width == 64:
        high = w.op(elementwise.SHIFT_LEFT, w.cast(first, U64), w.constant_like(32, U64))
        return w.finish([w.op(elementwise.OR, high, w.cast(second, U64))])
    return w.finish([w.cast(w.op(elementwise.XOR, first, second), np.dtype(f"u{width // 8}"))])


def make_random_split(shape: tuple[int, ...]) -> dict[str, Any]:
    """Return the attributes of the composite that makes an array of keys from one.

    Examples
    --------
    >>> make_random_split((3,))["decomposition"]
    <function @random_split(tensor<2xui32>) -> (tensor<3x2xui32>)>
    """
    return {
        "name": "numhlo.random_split",
        "composite_attributes": {"shape": shape},
        "decomposition": _random_split(shape),
        "version": 0,
    }


@lru_cache(maxsize=256)
def _random_split(shape: tuple[int, ...]) -> Function:
    w = Writer("random_split", [KEY], shape)
    words = [w.op(layout.RESHAPE, word, result=TensorType((*shape, 1), U32)) for word in w.hash(w.arguments[0])]
    return w.finish([w.op(layout.CONCATENATE, *words, dimension=len(shape))])


def _hash(key: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.arange(math.prod(shape), dtype=U64).reshape(shape)
    high, low = (numbers >> np.uint64(32)).astype(U32), numbers.astype(U32)
    return threefry2x32(key[0], key[1], high, low)


def _joined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    joined: np.ndarray = (first.astype(U64) << np.uint64(32)) | second.astype(U64)
    return joined


def evaluate_threefry2x32(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Hash counters."""
    return [_joined(*threefry2x32(*arrays))]


def evaluate_random_bits(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Hash each element's number."""
    parameters = attributes["composite_attributes"]
    first, second = _hash(arrays[0], tuple(parameters["shape"]))
    width = parameters["width"]
    return [_joined(first, second) if width == 64 else (first ^ second).astype(f"u{width // 8}")]


def evaluate_random_split(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Hash each key's number."""
    return [np.stack(_hash(arrays[0], tuple(attributes["composite_attributes"]["shape"])), axis=-1)]


DEFINITIONS = [
    register(CompositeDefinition(f"numhlo.{name}", evaluate, operands, 1, text))
    for name, evaluate, operands, text in (
        ("threefry2x32", evaluate_threefry2x32, 4, "Threefry 2x32 in 20 rounds of counters under keys."),
        ("random_bits", evaluate_random_bits, 1, "Random bits of a key, an unsigned integer for each element."),
        ("random_split", evaluate_random_split, 1, "New keys from one."),
    )
]
