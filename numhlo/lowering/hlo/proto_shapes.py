"""Shapes and literals of protos: element types by number, layouts, and elements in the order of memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.hlo.record import Shape, tuple_shape
from numhlo.lowering.hlo.shapes import PRIMITIVES
from numhlo.lowering.hlo.wire import Message, MessageWriter, WireError
from numhlo.lowering.ir import DYNAMIC, TensorType, TokenType, Type
from numhlo.lowering.ir.types import BOOL, COMPLEX, EXTENSIONS, INTEGERS
from numhlo.lowering.ops.bit_patterns import BIT_WIDTHS
from numhlo.lowering.text.foreign import BOUNDS, EncodedTensorType

NUMBERS = {
    "pred": 1, "s2": 26, "s4": 21, "s8": 2, "s16": 3, "s32": 4, "s64": 5, "u2": 27, "u4": 22, "u8": 6, "u16": 7,
    "u32": 8, "u64": 9, "f16": 10, "f32": 11, "bf16": 16, "f64": 12, "f8e5m2": 19, "f8e4m3": 28, "f8e4m3fn": 20,
    "f8e4m3b11fnuz": 23, "f8e3m4": 29, "f8e5m2fnuz": 24, "f8e4m3fnuz": 25, "f4e2m1fn": 32, "f8e8m0fnu": 33, "c64": 15,
    "c128": 18,
}  # fmt: skip
"""``PrimitiveType`` of element types."""

TUPLE, TOKEN = 13, 17
_DTYPES = {number: PRIMITIVES[name] for name, number in NUMBERS.items()}
_TYPE_NUMBERS = {dtype: number for number, dtype in _DTYPES.items()}

_BYTES = {
    "s2": 26, "s4": 21, "s8": 15, "s16": 17, "u2": 27, "u4": 22, "u8": 3, "u16": 16, "f16": 11, "bf16": 13,
    "f8e5m2": 19, "f8e4m3": 28, "f8e4m3fn": 20, "f8e4m3b11fnuz": 23, "f8e3m4": 29, "f8e5m2fnuz": 24, "f8e4m3fnuz": 25,
    "f4e2m1fn": 32, "f8e8m0fnu": 33,
}  # fmt: skip
_VARINTS = {"pred": 2, "s32": 4, "s64": 5, "u32": 6, "u64": 7}
_FLOATS = {"f32": 8, "f64": 9, "c64": 12, "c128": 18}
FIELDS: dict[np.dtype, int] = {PRIMITIVES[name]: field for name, field in {**_BYTES, **_VARINTS, **_FLOATS}.items()}
"""Where a literal has its elements, by their type: bytes, varints, or floats."""

_PACKED = frozenset(PRIMITIVES[name] for name in _BYTES)
_PART: dict[np.dtype, np.dtype] = {
    np.dtype(np.complex64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.float64),
}
DEEPEST = 64
"""Tuples of shapes may nest this deep."""


def read_shape(m: Message, depth: int = 0) -> Shape:
    """Return the shape that a ``ShapeProto`` says."""
    number = m.number(2)
    if number == TUPLE:
        if depth >= DEEPEST:
            raise WireError(f"tuples are nested deeper than {DEEPEST} levels")
        return tuple_shape(tuple([read_shape(part, depth + 1) for part in m.messages(4)]))
    if number == TOKEN:
        return Shape(TokenType())
    dtype = _DTYPES.get(number)
    if dtype is None:
        raise WireError(f"{number} is no element type that StableHLO has")
    extents, is_open = m.numbers(3), m.numbers(6)
    if any(extent < 0 and extent != -(1 << 63) for extent in extents):
        raise WireError(f"{extents} is no shape: extents are negative")
    layout = m.message(5).numbers(1) if m.has(5) else tuple(reversed(range(len(extents))))
    if sorted(layout) != list(range(len(extents))):
        raise WireError(f"{layout} is no layout of {len(extents)} dimensions")
    flags = [bool(flag) for flag in is_open] or [False] * len(extents)
    order = None if layout == tuple(reversed(range(len(extents)))) else layout
    return Shape(_array_type(extents, flags, dtype), order)


def _array_type(extents: Sequence[int], flags: Sequence[bool], dtype: np.dtype) -> Type:
    if len(flags) != len(extents):
        raise WireError("is_dynamic_dimension must have a value for each dimension")
    shape = tuple([DYNAMIC if flag or n < 0 else n for n, flag in zip(extents, flags, strict=True)])
    bounds = [str(n) if flag and n >= 0 else "?" for n, flag in zip(extents, flags, strict=True)]
    if all(bound == "?" for bound in bounds):
        return TensorType(shape, dtype)
    return EncodedTensorType(shape, dtype, f"{BOUNDS}{', '.join(bounds)}>")


def read_literal(m: Message) -> np.ndarray:
    """Return the array that a ``LiteralProto`` holds; its elements are in the order of its layout."""
    shape = read_shape(m.message(1))
    type = shape.type
    if not isinstance(type, TensorType) or not type.is_static:
        raise WireError(f"there are no constants of type {type}")
    flat = _elements(m, type.dtype)
    if flat.size != type.size:
        raise WireError(f"a constant of type {type} has {flat.size} elements")
    slowest_first = list(range(type.ndim)) if shape.layout is None else list(reversed(shape.layout))
    try:
        lying = flat.reshape([type.shape[k] for k in slowest_first])
    except ValueError:  # too many dimensions, or too large without elements
        raise WireError(f"NumPy has no arrays of the shape {list(type.shape)}") from None
    return np.array(lying.transpose([slowest_first.index(k) for k in range(type.ndim)]), order="C")


def _elements(m: Message, dtype: np.dtype) -> np.ndarray:
    field = FIELDS[dtype]
    if dtype in _PACKED:
        data = m.bytes(field)
        if len(data) % dtype.itemsize:
            raise WireError(f"field {field} must have elements of {dtype.itemsize} bytes")
        raw = np.frombuffer(data, f"<u{dtype.itemsize}").astype(f"u{dtype.itemsize}")
        return _widened(raw, dtype)
    if dtype in _PART or dtype.kind == "f":
        part = _PART.get(dtype, dtype)
        floats = m.floats(field, part)
        return floats.view(dtype) if floats.nbytes % dtype.itemsize == 0 else floats[:0].view(dtype)
    numbers = m.numbers(field)
    if dtype == BOOL:
        return np.array([bool(n) for n in numbers], bool)
    return np.array([n & 0xFFFFFFFFFFFFFFFF for n in numbers], np.uint64).astype(f"u{dtype.itemsize}").view(dtype)


def _widened(raw: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return elements of a type of whole bytes, or of 2 or 4 bits in the low ones of a byte each."""
    width = BIT_WIDTHS[dtype]
    if dtype not in INTEGERS & EXTENSIONS:
        return raw.view(dtype)
    low = (raw & ((1 << width) - 1)).astype(np.int16)
    is_signed = dtype.name.startswith("int")
    return np.where(low >= 1 << (width - 1), low - (1 << width), low).astype(dtype) if is_signed else low.astype(dtype)


# -- writing


def write_shape(shape: Shape) -> MessageWriter:
    """Return a ``ShapeProto``."""
    w = MessageWriter()
    if isinstance(shape.type, TokenType):
        return w.number(2, TOKEN)
    if not isinstance(shape.type, TensorType):
        return w.number(2, TUPLE).messages(4, [write_shape(element) for element in shape.elements])
    type = shape.type
    w.number(2, _TYPE_NUMBERS[type.dtype]).numbers(3, _upper_extents(type))
    if not type.is_static:
        w.numbers(6, [n == DYNAMIC for n in type.shape])
    return w.message(5, _layout(shape.layout, type.ndim))


def _upper_extents(type: TensorType) -> list[int]:
    bounds = ["?"] * type.ndim
    if isinstance(type, EncodedTensorType):
        bounds = type.encoding.removeprefix(BOUNDS).removesuffix(">").split(", ")
    return [n if n != DYNAMIC else int(bound) for n, bound in zip(type.shape, bounds, strict=True)]


def _layout(order: Sequence[int] | None, rank: int) -> MessageWriter:
    return MessageWriter().numbers(1, tuple(reversed(range(rank))) if order is None else order).number(16, 1)


def write_literal(array: np.ndarray) -> MessageWriter:
    """Return a ``LiteralProto``, row-major."""
    dtype = array.dtype
    w = MessageWriter().message(1, write_shape(Shape(TensorType(array.shape, dtype))))
    flat, field = np.ascontiguousarray(array).reshape(-1), FIELDS[dtype]
    if dtype in COMPLEX or dtype in (np.dtype(np.float32), np.dtype(np.float64)):
        part: np.dtype = _PART.get(dtype, dtype)
        return w.bytes(field, flat.view(part).astype(part.newbyteorder("<")).tobytes())
    if dtype in _PACKED:
        return w.bytes(field, _packed(flat, dtype))
    return w.numbers(field, [int(x) for x in flat])


def _packed(flat: np.ndarray, dtype: np.dtype) -> bytes:
    if dtype in INTEGERS & EXTENSIONS:
        return bytes([int(x) & ((1 << BIT_WIDTHS[dtype]) - 1) for x in flat])
    return flat.view(f"u{dtype.itemsize}").astype(f"<u{dtype.itemsize}").tobytes()
