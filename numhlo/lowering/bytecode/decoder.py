"""Decoding attributes, types and locations of bytecode into the values that reading text gives for them.

This file knows tables: each attribute and each type is decoded when it is first used, and kept. How a dialect
encodes its own is in the file named after it, in functions that register themselves in `ATTRIBUTES` and `TYPES`.
What a dialect does not encode is text, and is read as text. Attributes hold others by number, so a small file can
stand for a large value: `MOST_TIMES_LARGER` bounds that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.lowering.bytecode.container import Container, Encoded
from numhlo.lowering.bytecode.cursor import ByteCursor, MalformedError
from numhlo.lowering.ir import DYNAMIC, Function, TensorType, Type
from numhlo.lowering.ir.errors import NumhloError
from numhlo.lowering.ir.types import BOOL, ELEMENT_TYPES
from numhlo.lowering.text.dense_parser import DenseError, array_of_bytes
from numhlo.lowering.text.foreign import ForeignType
from numhlo.lowering.text.lexer import DEEPEST
from numhlo.lowering.text.parse_attributes import AttributeParser
from numhlo.lowering.text.parse_types import tensor_type_from_text

MOST_VALUES = 1 << 16
MOST_TIMES_LARGER = 16
"""Attributes that one may hold, all that they hold in turn included: so many, and so many times the file's bytes."""

OPEN_EXTENT = -(1 << 63)
"""How an extent is written that is not known."""

_NOTHING: Any = object()

Decode = Callable[["Decoder", ByteCursor], Any]
ATTRIBUTES: dict[tuple[str, int], Decode] = {}
"""By dialect and code: the function that reads an attribute from behind its code."""
TYPES: dict[tuple[str, int], Decode] = {}
"""The same for types."""


def attribute_code(dialect: str, code: int) -> Callable[[Decode], Decode]:
    """Register a function as the one that reads a dialect's attributes of a code."""

    def register(decode: Decode) -> Decode:
        ATTRIBUTES[dialect, code] = decode
        return decode

    return register


def type_code(dialect: str, code: int) -> Callable[[Decode], Decode]:
    """Register a function as the one that reads a dialect's types of a code."""

    def register(decode: Decode) -> Decode:
        TYPES[dialect, code] = decode
        return decode

    return register


class Decoder:
    """Decodes what a container holds, each thing once.

    Attributes
    ----------
    functions : dict
        By name: those that symbols mean, in the module that is being read.
    place : int
        Where the op stands that is being read, for messages.
    """

    def __init__(self, container: Container) -> None:
        self.container = container
        self.functions: dict[str, Function] = {}
        self.place = -1
        self._attributes: list[Any] = [_NOTHING] * len(container.attributes)
        self._weights = [0] * len(container.attributes)
        self._types: list[Any] = [_NOTHING] * len(container.types)
        self._depth = 0
        self._weight = 0
        self._symbolic: set[int] = set()
        self._meets_symbols = False
        self._heaviest = MOST_VALUES + MOST_TIMES_LARGER * len(container.data)

    def forget_symbols(self, functions: dict[str, Function]) -> None:
        """Let symbols mean other functions from now on."""
        self.functions = functions
        for number in self._symbolic:
            self._attributes[number] = _NOTHING
        self._symbolic.clear()

    def find_function(self, name: str) -> Function | None:
        """Return the function that a symbol means now, if it means one."""
        self._meets_symbols = True
        return self.functions.get(name)

    # -- by number

    def attribute(self, number: int) -> Any:
        """Return the value of an attribute."""
        if number >= len(self._attributes):
            self._missing(number, "attribute", len(self._attributes))
        value = self._attributes[number]
        if value is _NOTHING:
            outer, self._weight, met, self._meets_symbols = self._weight, 1, self._meets_symbols, False
            value = self._attributes[number] = self._decode(self.container.attributes[number], ATTRIBUTES, "attribute")
            self._weights[number] = self._weight
            if self._meets_symbols:
                self._symbolic.add(number)
            self._weight, self._meets_symbols = outer, met
        if number in self._symbolic:
            self._meets_symbols = True
        self._weight += self._weights[number]
        if self._weight > self._heaviest:
            raise MalformedError(
                "attributes hold each other too often", "attributes and types", self.container.attributes[number].start
            )
        return value

    def type(self, number: int) -> Type:
        """Return a type."""
        if number >= len(self._types):
            self._missing(number, "type", len(self._types))
        found = self._types[number]
        if found is _NOTHING:
            found = self._types[number] = self._decode(self.container.types[number], TYPES, "type")
        kept: Type = found
        return kept

    def _missing(self, number: int, kind: str, size: int) -> None:
        raise MalformedError(f"there is no {kind} {number}, the file has {size}", "IR", self.place)

    def _decode(self, encoded: Encoded, table: dict[tuple[str, int], Decode], kind: str) -> Any:
        cursor = ByteCursor(self.container.data, encoded.start, encoded.end, "attributes and types")
        self._depth += 1
        if self._depth > DEEPEST:
            cursor.fail(f"nested deeper than {DEEPEST} levels")
        if encoded.is_custom:
            code = cursor.number()
            decode = table.get((encoded.dialect, code))
            if decode is None:
                cursor.fail(f"{kind} {code} of the dialect {encoded.dialect} is not known")
            value = decode(self, cursor)
        else:
            value = self._decode_text(cursor, kind)
        if not cursor.is_at_end:
            cursor.fail(f"the {kind} ends before its bytes do")
        self._depth -= 1
        return value

    def _decode_text(self, cursor: ByteCursor, kind: str) -> Any:
        """Read what stands as text."""
        start = cursor.place
        text = cursor.terminated()
        try:
            return self.parse(text.decode(), kind)
        except (NumhloError, UnicodeDecodeError) as error:
            what = getattr(error, "what", "it is not UTF-8").partition("\n")[0]
            raise MalformedError(f"the text of this {kind} can't be read: {what}", cursor.section, start) from None

    def parse(self, text: str, kind: str = "attribute") -> Any:
        """Return the attribute or the type that a text spells."""
        parser = AttributeParser(text, "<bytecode>")
        parser.functions = self.functions
        self._meets_symbols |= "@" in text
        value = parser.parse_attribute() if kind == "attribute" else parser.parse_type()
        if parser.token:
            raise parser.error("the end of the text")
        return value

    # -- what the encodings of all dialects are made of

    def read_attribute(self, cursor: ByteCursor) -> Any:
        """Read an attribute's number, and return its value."""
        number = cursor.number()
        if number >= len(self._attributes):
            cursor.fail(f"there is no attribute {number}, the file has {len(self._attributes)}")
        return self.attribute(number)

    def read_attributes(self, cursor: ByteCursor) -> tuple[Any, ...]:
        """Read a count and so many attributes."""
        return tuple([self.read_attribute(cursor) for _ in range(cursor.count())])

    def read_type(self, cursor: ByteCursor) -> Type:
        """Read a type's number, and return the type."""
        number = cursor.number()
        if number >= len(self._types):
            cursor.fail(f"there is no type {number}, the file has {len(self._types)}")
        return self.type(number)

    def read_types(self, cursor: ByteCursor) -> tuple[Type, ...]:
        """Read a count and so many types."""
        return tuple([self.read_type(cursor) for _ in range(cursor.count())])

    def read_string(self, cursor: ByteCursor) -> str:
        """Read an attribute that must be a string."""
        value = self.read_attribute(cursor)
        if not isinstance(value, str):
            cursor.fail("a string is expected here")
        return value

    def read_tuple(self, cursor: ByteCursor) -> tuple[Any, ...]:
        """Read an attribute that must be an array of attributes."""
        value = self.read_attribute(cursor)
        if not isinstance(value, tuple):
            cursor.fail("an array is expected here")
        return value

    def read_bits(self, cursor: ByteCursor, width: int) -> int:
        """Read the bits of an integer or a float of a known width."""
        if width <= 8:
            bits = cursor.byte()
        elif width <= 64:
            bits = cursor.signed()
        else:
            words = [cursor.signed() for _ in range(cursor.count())]
            bits = sum((word & (1 << 64) - 1) << 64 * place for place, word in enumerate(words))
        return bits & (1 << width) - 1

    def read_double(self, cursor: ByteCursor) -> float:
        """Read a float of 64 bits."""
        return float(np.array(self.read_bits(cursor, 64), np.uint64).view(np.float64))

    def tensor_type(self, cursor: ByteCursor, shape: tuple[int, ...], element: Type, encoding: str = "") -> Type:
        """Return a tensor type of extents as they are written."""
        extents = tuple([DYNAMIC if n == OPEN_EXTENT else n for n in shape])
        if any(n < DYNAMIC or (n == DYNAMIC and m != OPEN_EXTENT) for n, m in zip(extents, shape, strict=True)):
            cursor.fail(f"a tensor can't be of shape {list(shape)}")
        dtype = ELEMENT_TYPES.get(str(element)) if isinstance(element, ForeignType) else None
        if dtype is not None and not encoding:
            return TensorType(extents, dtype)
        sizes = "".join(f"{'?' if n == DYNAMIC else n}x" for n in extents)
        type = tensor_type_from_text(f"tensor<{sizes}{element}{', ' if encoding else ''}{encoding}>")
        if type is None:
            cursor.fail(f"there is no type tensor<{sizes}{element}{', ' if encoding else ''}{encoding}>")
        return type

    def read_array(self, cursor: ByteCursor, type: Type) -> np.ndarray:
        """Read a blob: the elements of a tensor of a type."""
        if not isinstance(type, TensorType) or not type.is_static:
            cursor.fail(f"a constant can't be of type {type}")
        start = cursor.skip(cursor.number())
        return self.array(cursor, TensorType(type.shape, type.dtype), start, cursor.place)

    def array(self, cursor: ByteCursor, type: TensorType, start: int, end: int) -> np.ndarray:
        """Return the elements that a range of the file holds: a view of the file's bytes where they are aligned.

        Booleans are eight to a byte, and a byte of ones is all of them.
        """
        data = memoryview(self.container.data)[start:end]
        if type.dtype == BOOL and len(data) == (type.size + 7) // 8 and bytes(data[:2]) not in _ALL_ALIKE:
            bits = np.unpackbits(np.frombuffer(data, np.uint8), count=type.size, bitorder="little").view(BOOL)
            data = memoryview(bits.tobytes())
        try:
            return array_of_bytes(data, type)
        except DenseError as error:
            raise MalformedError(error.what, cursor.section, start) from None


_ALL_ALIKE = (b"\0", b"\xff")
"""Bytes that stand for any number of equal booleans."""
