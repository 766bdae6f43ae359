"""How the dialect builtin encodes its attributes and types, locations apart, and the dialect quant its types.

Source: MLIR's BuiltinDialectBytecode and QuantDialectBytecode. Values are those that text of the same attribute gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.lowering.bytecode.cursor import ByteCursor
from numhlo.lowering.bytecode.decoder import Decoder, attribute_code, type_code
from numhlo.lowering.ir import Function, IndexTensorType, TensorType, TupleType, Type
from numhlo.lowering.ir.types import BOOL, ELEMENT_TYPES, FLOATS
from numhlo.lowering.text.dense_printer import print_dense_body
from numhlo.lowering.text.foreign import UNIT, DenseArray, ForeignAttribute, Signature, foreign_type

DIALECT = "builtin"
_INT64, _FLOAT64 = ELEMENT_TYPES["i64"], ELEMENT_TYPES["f64"]
SIGNEDNESS = ("i", "si", "ui")
"""How the names of integer types begin, by the two low bits of their encoding."""
WIDEST_INTEGER = 2**24 - 1
"""Bits of MLIR's widest integer type."""
_SCALARS = {
    1: "index", 3: "bf16", 4: "f16", 5: "f32", 6: "f64", 7: "f80", 8: "f128", 12: "none", 21: "tf32", 22: "f8E5M2",
    23: "f8E4M3", 24: "f8E4M3FN", 25: "f8E5M2FNUZ", 26: "f8E4M3FNUZ", 27: "f8E4M3B11FNUZ", 28: "f8E3M4",
    29: "f4E2M1FN", 30: "f6E2M3FN", 31: "f6E3M2FN", 32: "f8E8M0FNU",
}  # fmt: skip
"""Scalar types without parameters, by code."""

BLOB = 0
"""The kind of resources that are bytes."""


def integer_value(bits: int, type: Type, cursor: ByteCursor) -> Any:
    """Return what text gives for an integer of a type: int for i64, bool for i1, a NumPy scalar for other widths."""
    name = str(type)
    dtype = ELEMENT_TYPES.get(name)
    if dtype == BOOL:
        return bool(bits & 1)
    width = integer_width(name, cursor)
    is_negative = bits >> (width - 1) and not name.startswith("u")
    value = bits - (1 << width) if is_negative else bits
    if dtype is None:
        return ForeignAttribute(f"{value} : {name}")
    return value if dtype == _INT64 else dtype.type(value)


def integer_width(name: str, cursor: ByteCursor) -> int:
    """Return the bits of an integer type, by its name."""
    digits = name.lstrip("siu")
    if name == "index":
        return 64
    if not digits.isdigit() or "i" not in name or int(digits) == 0:
        cursor.fail(f"an integer can't be of type {name}")
    return int(digits)


def float_value(decoder: Decoder, cursor: ByteCursor, type: Type) -> Any:
    """Read a float of a type: a Python float of f64, a NumPy scalar of other types."""
    dtype = ELEMENT_TYPES.get(str(type))
    if dtype not in FLOATS or dtype is None:
        cursor.fail(f"a float can't be of type {type}")
    bits = decoder.read_bits(cursor, 8 * dtype.itemsize)
    value = np.array(bits, f"u{dtype.itemsize}").view(dtype)[()]
    return value.item() if dtype == _FLOAT64 else value


def elements(decoder: Decoder, cursor: ByteCursor, type: Type) -> Any:
    """Read the elements of a tensor: an array, or text where NumPy has no such elements."""
    if not isinstance(type, IndexTensorType):
        return decoder.read_array(cursor, type)
    plain = TensorType(type.shape, _INT64)
    return ForeignAttribute(f"dense<{print_dense_body(decoder.read_array(cursor, plain))}> : {type}")


# -- attributes


@attribute_code(DIALECT, 0)
def decode_array(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode an array of attributes."""
    return decoder.read_attributes(cursor)


@attribute_code(DIALECT, 1)
def decode_dictionary(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a dictionary."""
    return {decoder.read_string(cursor): decoder.read_attribute(cursor) for _ in range(cursor.count())}


@attribute_code(DIALECT, 2)
def decode_string(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a string."""
    return decoder.container.string(cursor)


@attribute_code(DIALECT, 3)
def decode_typed_string(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a string with a type, which says nothing."""
    found = decoder.container.string(cursor)
    decoder.read_type(cursor)
    return found


@attribute_code(DIALECT, 4)
def decode_symbol(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a symbol: a function, where it is one's."""
    name = decoder.read_string(cursor)
    return decoder.find_function(name) or decoder.parse(f"@{_quoted(name)}")


@attribute_code(DIALECT, 5)
def decode_path(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode symbols inside each other."""
    root = decoder.read_string(cursor)
    inner = decoder.read_attributes(cursor)
    names = [f"@{_quoted(item.name)}" if isinstance(item, Function) else str(item) for item in inner]
    return ForeignAttribute("::".join([f"@{_quoted(root)}", *names]))


def _quoted(name: str) -> str:
    is_plain = name.isascii() and name.replace("_", "a").isidentifier()
    return name if is_plain else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


@attribute_code(DIALECT, 6)
def decode_type_attribute(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a type that is an attribute."""
    return decoder.read_type(cursor)


@attribute_code(DIALECT, 7)
def decode_unit(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode the attribute that says something by being there."""
    return UNIT


@attribute_code(DIALECT, 8)
def decode_integer(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode an integer."""
    type = decoder.read_type(cursor)
    return integer_value(decoder.read_bits(cursor, integer_width(str(type), cursor)), type, cursor)


@attribute_code(DIALECT, 9)
def decode_float(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a float."""
    return float_value(decoder, cursor, decoder.read_type(cursor))


@attribute_code(DIALECT, 16)
def decode_resource(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a constant whose elements are a resource."""
    type = decoder.read_type(cursor)
    number, keys = cursor.number(), decoder.container.resource_keys
    if number >= len(keys):
        cursor.fail(f"there is no resource {number}, the file has {len(keys)}")
    found = decoder.container.resources[keys[number]]
    if not isinstance(type, TensorType) or isinstance(type, IndexTensorType) or not type.is_static:
        cursor.fail(f"a constant can't be of type {type}")
    if found.kind != BLOB:
        cursor.fail(f"the resource {keys[number]} holds no bytes")
    content = ByteCursor(decoder.container.data, found.start, found.end, "resources")
    alignment = content.number()
    size = content.number()
    content.align(alignment)
    start = content.skip(size)
    plain = TensorType(type.shape, type.dtype)
    if size != plain.nbytes:
        content.fail(f"{size} bytes in the resource, where {plain} takes {plain.nbytes}")
    return decoder.array(content, plain, start, start + size)


@attribute_code(DIALECT, 17)
def decode_dense_array(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode an array of numbers of one type."""
    element = str(decoder.read_type(cursor))
    size = cursor.number()
    length = cursor.number()
    start = cursor.skip(length)
    dtype = ELEMENT_TYPES.get(element.removeprefix("s") if element.startswith("si") else element)
    if dtype is None or length != size * dtype.itemsize:
        cursor.fail(f"{length} bytes can't be {size} elements of type {element}")
    values = np.frombuffer(decoder.container.data, dtype, size, start) if size else np.empty(0, dtype)
    return DenseArray(values.tolist(), element)


@attribute_code(DIALECT, 18)
def decode_dense(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a constant of integers, floats or complex numbers."""
    return elements(decoder, cursor, decoder.read_type(cursor))


# -- types


def _scalar(name: str) -> Any:
    return lambda decoder, cursor: foreign_type(name)


for _code, _name in _SCALARS.items():
    type_code(DIALECT, _code)(_scalar(_name))


@type_code(DIALECT, 0)
def decode_integer_type(decoder: Decoder, cursor: ByteCursor) -> Type:
    """Decode an integer type."""
    number = cursor.number()
    if number & 3 == 3 or number >> 2 > WIDEST_INTEGER:
        cursor.fail(f"there is no integer type {number}")
    return foreign_type(f"{SIGNEDNESS[number & 3]}{number >> 2}")


@type_code(DIALECT, 2)
def decode_function_type(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a function type."""
    return Signature(decoder.read_types(cursor), decoder.read_types(cursor))


@type_code(DIALECT, 9)
def decode_complex_type(decoder: Decoder, cursor: ByteCursor) -> Type:
    """Decode a complex type."""
    return foreign_type(f"complex<{decoder.read_type(cursor)}>")


@type_code(DIALECT, 13)
def decode_tensor_type(decoder: Decoder, cursor: ByteCursor) -> Type:
    """Decode a tensor type."""
    shape = cursor.signed_numbers()
    return decoder.tensor_type(cursor, shape, decoder.read_type(cursor))


@type_code(DIALECT, 14)
def decode_encoded_tensor_type(decoder: Decoder, cursor: ByteCursor) -> Type:
    """Decode a tensor type with an encoding."""
    encoding = str(decoder.read_attribute(cursor))
    shape = cursor.signed_numbers()
    return decoder.tensor_type(cursor, shape, decoder.read_type(cursor), encoding)


@type_code(DIALECT, 10)
def decode_memref_type(decoder: Decoder, cursor: ByteCursor) -> Type:
    """Decode the type of a buffer, whose layout must be the usual one."""
    shape = cursor.signed_numbers()
    element, layout = decoder.read_type(cursor), str(decoder.read_attribute(cursor))
    names = ", ".join(f"d{k}" for k in range(len(shape)))
    if layout != f"affine_map<({names}) -> ({names})>":
        cursor.fail(f"a buffer's layout {layout} is not known")
    decoder.tensor_type(cursor, shape, element)
    return buffer_type(shape, element)


def buffer_type(shape: tuple[int, ...], element: Type) -> Type:
    """Return the type of a buffer, which is kept as text."""
    return foreign_type(f"memref<{''.join('?x' if n < 0 else f'{n}x' for n in shape)}{element}>")


@type_code(DIALECT, 15)
def decode_tuple_type(decoder: Decoder, cursor: ByteCursor) -> Type:
    """Decode a tuple type."""
    return TupleType(decoder.read_types(cursor))


@type_code(DIALECT, 18)
def decode_unranked_tensor_type(decoder: Decoder, cursor: ByteCursor) -> Type:
    """Decode the type of tensors of any shape."""
    return foreign_type(f"tensor<*x{decoder.read_type(cursor)}>")


# -- quantized types


def quantized_element(
    cursor: ByteCursor,
    flags: int,
    types: tuple[Type, Type],
    limits: tuple[int, int],
    quanta: list[tuple[float, int]],
    axis: int | None = None,
) -> Type:
    """Return a quantized element type of a storage and an expressed type, with one scale and zero point, or several."""
    storage, expressed = map(str, types)
    width = integer_width(storage, cursor)
    is_signed = bool(flags & 1)
    whole = (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)
    bounds = "" if limits == whole else f"<{limits[0]}:{limits[1]}>"
    pairs = [f"{_decimal(scale)}{f':{zero}' if zero else ''}" for scale, zero in quanta]
    head = f"{'i' if is_signed else 'u'}{width}{bounds}:{expressed}"
    if axis is None:
        return foreign_type(f"!quant.uniform<{head}, {pairs[0]}>")
    return foreign_type(f"!quant.uniform<{head}:{axis}, {{{', '.join(pairs)}}}>")


def _decimal(scale: float) -> str:
    """Return a float with a point, as text has it."""
    mantissa, e, exponent = repr(scale).partition("e")
    return f"{mantissa}{'' if '.' in mantissa or not e else '.0'}{e}{exponent}"


@type_code("quant", 4)
def decode_uniform_type(decoder: Decoder, cursor: ByteCursor) -> Type:
    """Decode a quantized type of one scale."""
    flags = cursor.number()
    types = decoder.read_type(cursor), decoder.read_type(cursor)
    scale, zero = decoder.read_double(cursor), cursor.signed()
    return quantized_element(cursor, flags, types, (cursor.signed(), cursor.signed()), [(scale, zero)])


@type_code("quant", 5)
def decode_per_axis_type(decoder: Decoder, cursor: ByteCursor) -> Type:
    """Decode a quantized type of a scale for each slice along a dimension."""
    flags = cursor.number()
    types = decoder.read_type(cursor), decoder.read_type(cursor)
    axis, limits = cursor.number(), (cursor.signed(), cursor.signed())
    scales = [decoder.read_double(cursor) for _ in range(cursor.count())]
    zeros = cursor.signed_numbers()
    if len(zeros) != len(scales) or not scales:
        cursor.fail("there must be as many zero points as scales")
    return quantized_element(cursor, flags, types, limits, list(zip(scales, zeros, strict=True)), axis)
