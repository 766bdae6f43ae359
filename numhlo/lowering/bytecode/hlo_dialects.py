"""How the dialects stablehlo, mhlo, chlo and vhlo encode their attributes and types.

Source: the enumerations of codes in StableHLO's StablehloBytecode, ChloBytecode and VhloBytecode. vhlo has versioned
copies of builtin's attributes and types, too. All become what text of StableHLO gives; values of enumerations of vhlo
become those of stablehlo, which have the same names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numhlo.lowering.bytecode.builtin import (
    buffer_type,
    decode_array,
    decode_complex_type,
    decode_dense,
    decode_dictionary,
    decode_encoded_tensor_type,
    decode_float,
    decode_function_type,
    decode_integer,
    decode_per_axis_type,
    decode_string,
    decode_tensor_type,
    decode_tuple_type,
    decode_type_attribute,
    decode_uniform_type,
    decode_unranked_tensor_type,
)
from numhlo.lowering.bytecode.cursor import ByteCursor, MalformedError
from numhlo.lowering.bytecode.decoder import OPEN_EXTENT, Decode, Decoder, attribute_code, type_code
from numhlo.lowering.ir import TokenType, Type
from numhlo.lowering.ops.dimension_numbers import (
    ChannelHandle,
    ConvolutionDimensionNumbers,
    DotAlgorithm,
    DotDimensionNumbers,
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
)
from numhlo.lowering.text.foreign import BOUNDS, ForeignAttribute, foreign_type

API_VERSIONS = (
    "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI",
)  # fmt: skip
"""How vhlo calls the numbers that ``api_version`` of a custom call may be."""

ENUMERATIONS: dict[str, tuple[str, ...]] = {
    "comparison_direction": ("EQ", "NE", "GE", "GT", "LE", "LT"),
    "comparison_type": ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"),
    "api_version": API_VERSIONS,
    "fft_type": ("FFT", "IFFT", "RFFT", "IRFFT"),
    "precision": ("DEFAULT", "HIGH", "HIGHEST"),
    "rng_algorithm": ("DEFAULT", "THREE_FRY", "PHILOX"),
    "rng_distribution": ("", "UNIFORM", "NORMAL"),
    "transpose": ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),
    "result_accuracy_mode": ("DEFAULT", "HIGHEST", "TOLERANCE"),
}
"""Every enumeration's values in the order of their numbers."""

VHLO_ENUMERATIONS = {
    3: "comparison_direction", 4: "comparison_type", 5: "api_version", 7: "fft_type", 11: "precision",
    12: "rng_algorithm", 13: "rng_distribution", 16: "transpose", 19: "result_accuracy_mode",
}  # fmt: skip
"""Enumerations of vhlo by the code of their attribute."""

STABLEHLO_ENUMERATIONS = {
    2: "comparison_direction", 3: "comparison_type", 6: "fft_type", 8: "precision", 9: "rng_algorithm",
    10: "rng_distribution", 12: "transpose", 16: "result_accuracy_mode",
}  # fmt: skip
CHLO_ENUMERATIONS = {0: "comparison_direction", 1: "comparison_type"}

VHLO_SCALARS = {
    0: "i1", 2: "bf16", 3: "f16", 4: "f32", 5: "f64", 6: "f8E4M3FN", 7: "f8E5M2", 9: "index", 10: "i4", 11: "i8",
    12: "i16", 13: "i32", 14: "i64", 15: "ui4", 16: "ui8", 17: "ui16", 18: "ui32", 19: "ui64", 26: "!shape.witness",
    27: "f8E4M3FNUZ", 28: "f8E5M2FNUZ", 29: "f8E4M3B11FNUZ", 31: "i2", 32: "ui2", 33: "none", 34: "tf32", 35: "f8E4M3",
    36: "f8E3M4", 37: "f4E2M1FN", 38: "f6E2M3FN", 39: "f6E3M2FN", 40: "f8E8M0FNU",
}  # fmt: skip
"""Scalar types of vhlo by code, in StableHLO's spelling."""


# -- enumerations


def _enumeration(dialect: str, name: str) -> Decode:
    values = ENUMERATIONS[name]

    def decode(decoder: Decoder, cursor: ByteCursor) -> Any:
        number = cursor.number()
        if number >= len(values) or not values[number]:
            cursor.fail(f"{name} has no value {number}")
        if name == "result_accuracy_mode":
            return ForeignAttribute(f"#{dialect}.{name}<{values[number]}>")
        return ForeignAttribute(f"#{dialect}<{name} {values[number]}>")

    return decode


def _version_number(decoder: Decoder, cursor: ByteCursor) -> Any:
    number = cursor.number()
    if number >= len(API_VERSIONS):
        cursor.fail(f"custom calls have no version {number}")
    return number


for _dialect, _spelled, _table in (
    ("stablehlo", "stablehlo", STABLEHLO_ENUMERATIONS),
    ("vhlo", "stablehlo", VHLO_ENUMERATIONS),
    ("chlo", "chlo", CHLO_ENUMERATIONS),
    ("mhlo", "mhlo", STABLEHLO_ENUMERATIONS),
):
    for _code, _name in _table.items():
        _decode = _version_number if _name == "api_version" else _enumeration(_spelled, _name)
        attribute_code(_dialect, _code)(_decode)


# -- records


def _hlo_code(code: int) -> Callable[[Decode], Decode]:
    """Register a function for a code that stablehlo and mhlo share."""

    def register(decode: Decode) -> Decode:
        attribute_code("mhlo", code)(decode)
        return attribute_code("stablehlo", code)(decode)

    return register


@_hlo_code(1)
def decode_channel(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a channel."""
    return ChannelHandle(cursor.signed(), cursor.signed())


@_hlo_code(4)
def decode_convolution(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode dimension numbers of a convolution: a batch, a feature and spatial dimensions, three times."""
    parts: list[Any] = []
    for _ in range(3):
        parts += [cursor.signed(), cursor.signed(), cursor.signed_numbers()]
    return convolution_numbers(cursor, *parts)


def convolution_numbers(cursor: ByteCursor, *parts: Any) -> ConvolutionDimensionNumbers:
    """Return dimension numbers of a convolution whose dimensions are each there once."""
    numbers = ConvolutionDimensionNumbers(*parts)
    for dimensions in (numbers.input, numbers.kernel, numbers.output):
        if sorted(dimensions) != list(range(len(dimensions))):
            cursor.fail(f"the dimensions {list(dimensions)} of a convolution are not each there once")
    return numbers


@_hlo_code(5)
def decode_dot(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode dimension numbers of a product."""
    return DotDimensionNumbers(*[cursor.signed_numbers() for _ in range(4)])


def _gather_numbers(cursor: ByteCursor) -> list[Any]:
    """Read three lists and a number; five lists where dimensions of batches are there, which older files lack."""
    start = cursor.place
    for lists in (5, 3):
        cursor.place = start
        try:
            found: list[Any] = [cursor.signed_numbers() for _ in range(lists)]
            found.append(cursor.signed())
        except MalformedError:
            continue
        if cursor.is_at_end:
            return found if lists == 5 else [*found[:2], (), (), *found[2:]]
    return cursor.fail("these are no dimension numbers")


@_hlo_code(7)
def decode_gather(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode dimension numbers of a gather."""
    return GatherDimensionNumbers(*_gather_numbers(cursor))


@_hlo_code(11)
def decode_scatter(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode dimension numbers of a scatter."""
    return ScatterDimensionNumbers(*_gather_numbers(cursor))


@_hlo_code(13)
def decode_bounds(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode how large unknown extents can be."""
    bounds = ", ".join("?" if n == OPEN_EXTENT else str(n) for n in cursor.signed_numbers())
    return ForeignAttribute(f"{BOUNDS}{bounds}>")


@_hlo_code(14)
def decode_alias(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode which operand a result shares its memory with."""
    output, operand, inner = cursor.signed_numbers(), cursor.signed(), cursor.signed_numbers()
    return ForeignAttribute(
        f"#stablehlo.output_operand_alias<output_tuple_indices = {list(output)}, operand_index = {operand}, "
        f"operand_tuple_indices = {list(inner)}>"
    )


@attribute_code("stablehlo", 15)
def decode_algorithm(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode the algorithm of a product."""
    types = [str(decoder.read_type(cursor)) for _ in range(3)]
    counts = [cursor.signed() for _ in range(3)]
    return DotAlgorithm(types[0], types[1], types[2], counts[0], counts[1], counts[2], bool(cursor.byte()))


def _accuracy(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode how accurate a result must be."""
    absolute, relative, ulps = decoder.read_double(cursor), decoder.read_double(cursor), cursor.signed()
    mode = decoder.read_attribute(cursor)
    return accuracy(absolute, relative, ulps, str(mode).rpartition("<")[2].rstrip(">"))


def accuracy(absolute: float, relative: float, ulps: int, mode: str) -> ForeignAttribute:
    """Return the attribute as text has it, without what is zero."""
    parts = [f"{name} = {value:e}" if float(f"{value:e}") == value else f"{name} = {value!r}"
             for name, value in (("atol", absolute), ("rtol", relative)) if value]  # fmt: skip
    parts += [f"ulps = {ulps}"] if ulps else []
    parts.append(f"mode = #stablehlo.result_accuracy_mode<{mode}>")
    return ForeignAttribute(f"#stablehlo.result_accuracy<{', '.join(parts)}>")


attribute_code("stablehlo", 17)(_accuracy)


# -- types of stablehlo and mhlo


def decode_token(decoder: Decoder, cursor: ByteCursor) -> Type:
    """Decode the type of tokens."""
    return TokenType()


def decode_future(decoder: Decoder, cursor: ByteCursor) -> Type:
    """Decode the type of what an asynchronous op will return."""
    return foreign_type(f"!stablehlo.future<{', '.join(map(str, decoder.read_types(cursor)))}>")


type_code("stablehlo", 0)(decode_token)
type_code("mhlo", 0)(decode_token)
type_code("stablehlo", 1)(decode_future)


# -- vhlo's copies


@attribute_code("vhlo", 2)
def decode_boolean(decoder: Decoder, cursor: ByteCursor) -> Any:
    """Decode a boolean."""
    return bool(cursor.number())


for _code, _decode in {
    1: decode_array, 6: decode_dictionary, 8: decode_float, 9: decode_integer, 10: decode_alias, 14: decode_string,
    15: decode_dense, 17: decode_type_attribute, 18: decode_bounds, 20: _accuracy,
}.items():  # fmt: skip
    attribute_code("vhlo", _code)(_decode)


def _scalar(name: str) -> Decode:
    return lambda decoder, cursor: foreign_type(name)


for _code, _name in VHLO_SCALARS.items():
    type_code("vhlo", _code)(_scalar(_name))


@type_code("vhlo", 41)
def decode_buffer(decoder: Decoder, cursor: ByteCursor) -> Type:
    """Decode the type of a buffer."""
    shape = cursor.signed_numbers()
    element = decoder.read_type(cursor)
    decoder.tensor_type(cursor, shape, element)
    return buffer_type(shape, element)


for _code, _decode in {
    1: decode_complex_type, 8: decode_function_type, 20: decode_tensor_type, 21: decode_encoded_tensor_type,
    22: decode_token, 23: decode_tuple_type, 24: decode_uniform_type, 25: decode_unranked_tensor_type,
    30: decode_per_axis_type, 42: decode_future,
}.items():  # fmt: skip
    type_code("vhlo", _code)(_decode)
