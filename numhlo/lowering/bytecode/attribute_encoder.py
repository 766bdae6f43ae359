"""Attributes as they are written: from the Python values that ops hold, in vhlo's encoding and in builtin's.

What vhlo has no encoding of, attributes of other dialects above all, stands in it as the other dialect has it.
MLIR's own writer does the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from numhlo.lowering.bytecode.hlo_dialects import API_VERSIONS, ENUMERATIONS, VHLO_ENUMERATIONS
from numhlo.lowering.bytecode.replica_groups import (
    VHLO_AXES,
    VHLO_AXIS,
    VHLO_MESH,
    VHLO_MESH_AXIS,
    VHLO_SUB_AXIS,
    mesh_taken_apart,
    taken_apart,
)
from numhlo.lowering.bytecode.tables import (
    ATTRIBUTE,
    NUMBER,
    OPTIONAL,
    RAW,
    SIGNED,
    STRING,
    TEXT,
    TYPE,
    Field,
    Node,
    Tables,
    number,
    signed,
)
from numhlo.lowering.bytecode.type_encoder import TypeEncoder, double, require_version
from numhlo.lowering.bytecode.vhlo_table import MESH_AXES, Version
from numhlo.lowering.ir import Function, TensorType, TokenType, TupleType
from numhlo.lowering.ir.errors import NumhloError, UnsupportedError
from numhlo.lowering.ir.types import BOOL, ELEMENT_TYPES, FLOATS, element_spelling
from numhlo.lowering.text.attribute_printer import print_name, print_value
from numhlo.lowering.text.dense_printer import SMALL_INTEGER_MASK, is_splat
from numhlo.lowering.text.foreign import BOUNDS, UNIT, DenseArray, ForeignAttribute, ForeignType, Signature
from numhlo.lowering.text.parse_attributes import AttributeParser

_ENUM_CODES = {name: code for code, name in VHLO_ENUMERATIONS.items()}
_ENUM = re.compile(r"#\w+(?:<(\w+) |\.(\w+)<)(\w+)>\Z")
_NUMBER_OF = re.compile(r"(-?\d+) : ((?:[su]?i)\d+|index)\Z")
_INDICES = re.compile(r"dense<(.*)> : tensor<((?:\d+x)*)index>\Z", re.DOTALL)
_ALIAS = re.compile(
    r"#\w+\.output_operand_alias<output_tuple_indices=\[([\d,]*)\],operand_index=(\d+),operand_tuple_indices=\[([\d,]*)\]>"
)
_DECIMAL = r"(-?\d+\.\d*(?:[eE][-+]?\d+)?)"
_ACCURACY = re.compile(
    rf"#\w+\.result_accuracy<(?:atol={_DECIMAL},)?(?:rtol={_DECIMAL},)?(?:ulps=(-?\d+),)?mode=[^<]*<(\w+)>>"
)
_TYPES = (TensorType, TokenType, TupleType, ForeignType, Signature)


def integer_bytes(value: int, width: int) -> bytes:
    r"""Return an integer, or the bits of a float, of a width as it is written.

    Examples
    --------
    >>> integer_bytes(-1, 8), integer_bytes(-1, 64), integer_bytes(3, 32)
    (b'\xff', b'\x03', b'\r')
    """
    bits = value & (1 << width) - 1
    if width <= 8:
        return bytes([bits])
    if width <= 64:
        return signed(bits - (1 << 64) if bits >> 63 else bits)
    words = [bits >> 64 * k & (1 << 64) - 1 for k in range((width + 63) // 64)]
    return number(len(words)) + b"".join([signed(word - (1 << 64) if word >> 63 else word) for word in words])


def blob(array: np.ndarray) -> bytes:
    """Return the bytes of a constant's elements: one element where all are the same, booleans eight to a byte."""
    array = np.asarray(array)
    if array.size and is_splat(array):
        array = array[(slice(0, 1),) * array.ndim].reshape(1)
        if array.dtype == BOOL:
            return b"\xff" if array[0] else b"\0"
    if array.dtype == BOOL:
        return np.packbits(array.ravel(), bitorder="little").tobytes()
    if array.dtype in SMALL_INTEGER_MASK:
        return (array.view(np.uint8) & SMALL_INTEGER_MASK[array.dtype]).tobytes()
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def is_float(value: Any) -> bool:
    """Return whether a number is a float: Python's, NumPy's or one of ml_dtypes'."""
    return isinstance(value, float) or value.dtype in FLOATS


def _width(name: str) -> int:
    return 64 if name == "index" else int(name.lstrip("siu"))


class AttributeEncoder:
    """Makes nodes of attributes.

    Parameters
    ----------
    tables : Tables
    types : TypeEncoder
    target : tuple of int
        The version of StableHLO that must be able to read the file.
    symbol : callable
        Returns the name that a function has in the file.
    """

    def __init__(self, tables: Tables, types: TypeEncoder, target: Version, symbol: Callable[[Function], str]) -> None:
        self._tables, self._types, self._target, self._symbol = tables, types, target, symbol

    def _node(self, dialect: str, code: int, *fields: Field) -> int:
        return self._tables.attribute(Node(dialect, code, fields))

    # -- vhlo: what ops of StableHLO hold

    def integer(self, value: int, type: str = "i64") -> int:
        """Return the first number of an integer."""
        return self._node(
            "vhlo", 9, (TYPE, self._types.vhlo_scalar(type)), (RAW, integer_bytes(int(value), _width(type)))
        )

    def boolean(self, value: bool) -> int:
        """Return the first number of a boolean."""
        return self._node("vhlo", 2, (NUMBER, int(value)))

    def string(self, value: str) -> int:
        """Return the first number of a string."""
        return self._node("vhlo", 14, (STRING, value))

    def number(self, value: Any, type: str) -> int:
        """Return the first number of a float."""
        dtype = ELEMENT_TYPES[type]
        bits = int(np.asarray(value, dtype).reshape(1).view(f"u{dtype.itemsize}")[0])
        return self._node(
            "vhlo", 8, (TYPE, self._types.vhlo_scalar(type)), (RAW, integer_bytes(bits, 8 * dtype.itemsize))
        )

    def enumeration(self, name: str, value: str) -> int:
        """Return the first number of a value of an enumeration."""
        values = ENUMERATIONS[name]
        if value not in values:
            raise UnsupportedError(f"{name} has no value {value}")
        return self._node("vhlo", _ENUM_CODES[name], (NUMBER, values.index(value)))

    def api_version(self, value: int) -> int:
        """Return the first number of the version of a custom call."""
        if not 0 <= value < len(API_VERSIONS):
            raise UnsupportedError(f"custom calls have no api_version {value}")
        return self._node("vhlo", _ENUM_CODES["api_version"], (NUMBER, int(value)))

    def array(self, members: Iterable[int]) -> int:
        """Return the first number of an array of attributes."""
        return self._listed("vhlo", 1, members)

    def _listed(self, dialect: str, code: int, members: Iterable[int]) -> int:
        listed = [(ATTRIBUTE, member) for member in members]
        return self._node(dialect, code, (NUMBER, len(listed)), *listed)

    def type(self, type: Any) -> int:
        """Return the first number of a type that is an attribute."""
        return self._node("vhlo", 17, (TYPE, self._types.vhlo(type)))

    def scalar_type(self, name: str) -> int:
        """Return the first number of an element type that is an attribute."""
        return self._node("vhlo", 17, (TYPE, self._types.vhlo_scalar(name)))

    def tensor(self, array: np.ndarray, element: str = "") -> int:
        """Return the first number of a constant."""
        shape = [(NUMBER, array.ndim), *[(SIGNED, extent) for extent in array.shape]]
        scalar = self._types.vhlo_scalar(element or element_spelling(array.dtype))
        type = self._tables.type(Node("vhlo", 20, (*shape, (TYPE, scalar))))
        data = blob(array)
        return self._node("vhlo", 15, (TYPE, type), (NUMBER, len(data)), (RAW, data))

    def integers(self, values: Iterable[int]) -> int:
        """Return the first number of a list of integers."""
        return self.tensor(np.array([*values], np.int64))

    def booleans(self, values: Iterable[bool]) -> int:
        """Return the first number of a list of booleans."""
        return self.tensor(np.array([*values], np.bool_))

    def dictionary(self, entries: Mapping[str, Any]) -> int:
        """Return the first number of a dictionary."""
        pairs = [(self.string(name), self.value(value)) for name, value in sorted(entries.items()) if value is not None]
        fields = [(ATTRIBUTE, member) for pair in pairs for member in pair]
        return self._node("vhlo", 6, (NUMBER, len(pairs)), *fields)

    def accuracy(self, given: ForeignAttribute | None) -> int:
        """Return the first number of how accurate a result must be."""
        match = _ACCURACY.match("".join(given.text.split())) if given is not None else None
        if given is not None and match is None:
            raise UnsupportedError(f"{given} can't be written")
        absolute, relative, ulps, mode = match.groups() if match is not None else (None, None, None, "DEFAULT")
        parts: list[Field] = [
            (RAW, double(float(absolute or 0))),
            (RAW, double(float(relative or 0))),
            (SIGNED, int(ulps or 0)),
        ]
        return self._node("vhlo", 20, *parts, (ATTRIBUTE, self.enumeration("result_accuracy_mode", mode)))

    # -- vhlo: values of no declared kind

    def value(self, value: Any) -> int:
        """Return the first number of an attribute of no declared kind."""
        for types, encode in _VALUES:
            if isinstance(value, types):
                return encode(self, value)
        if isinstance(value, _TYPES):
            return self.type(value)
        if isinstance(value, ForeignAttribute):
            return self._foreign(value)
        return self.builtin(value)

    def _scalar(self, value: np.generic) -> int:
        name = element_spelling(value.dtype)
        return self.number(value, name) if value.dtype in FLOATS else self.integer(int(value), name)

    def _dense_array(self, value: DenseArray) -> int:
        if value.element not in {"i1", "i64"}:
            return self.builtin(value)
        return self.booleans(map(bool, value)) if value.element == "i1" else self.integers(map(int, value))

    def _foreign(self, value: ForeignAttribute) -> int:
        """Return the first number of an attribute that is kept as text."""
        enum, whole, indices = _ENUM.match(value.text), _NUMBER_OF.match(value.text), _INDICES.match(value.text)
        alias = _ALIAS.match("".join(value.text.split()))
        name = (enum[1] or enum[2]) if enum is not None else ""
        if enum is not None and value.text.startswith("#stablehlo") and name in ENUMERATIONS:
            return self.enumeration(name, enum[3])
        if whole is not None and whole[2] == "index":
            return self.integer(int(whole[1]), "index")
        if indices is not None:
            shape = "".join(f"{n}x" for n in indices[2].split("x")[:-1])
            array = AttributeParser(f"dense<{indices[1]}> : tensor<{shape}i64>", "<attribute>").parse_dense()[0]
            return self.tensor(array, "index")
        if alias is not None:
            lists = [[int(n) for n in alias[k].split(",") if n] for k in (1, 3)]
            first, last = ([(NUMBER, len(items)), *[(SIGNED, n) for n in items]] for items in lists)
            return self._node("vhlo", 10, *first, (SIGNED, int(alias[2])), *last)
        if value.text.startswith("#stablehlo.result_accuracy<"):
            return self.accuracy(value)
        if value.text.startswith(BOUNDS):
            return self._tables.attribute(self._types.bounds(value.text))
        if value.text.startswith("#stablehlo.replica_group_mesh_axes<"):
            require_version("groups of processes by axes of a mesh", MESH_AXES, self._target)
            return self._mesh_axes(value.text)
        if value.text.startswith(("#stablehlo.", "#stablehlo<")):
            raise UnsupportedError(f"portable artifacts have no attribute {value}")
        return self.builtin(value)

    def _mesh_axes(self, text: str) -> int:
        """Return the first number of groups of processes by axes of a mesh."""
        found = taken_apart(text)
        if found is None:
            raise UnsupportedError(f"{text} can't be written")
        mesh, axes = found
        members = []
        for name, before, size in axes:
            part = [(SIGNED, int(before)), (SIGNED, int(size))] if size else []
            inner = [(ATTRIBUTE, self._node("vhlo", VHLO_SUB_AXIS, *part))] if size else []
            members.append(self._node("vhlo", VHLO_AXIS, (ATTRIBUTE, self.string(name)), (NUMBER, len(inner)), *inner))
        return self._node("vhlo", VHLO_AXES, (ATTRIBUTE, self._mesh(mesh)), (ATTRIBUTE, self.array(members)))

    def _mesh(self, text: str) -> int:
        """Return the first number of a mesh, or of the name of one."""
        if text.startswith("@"):
            return self.string(AttributeParser(text, "<mesh>").parse_symbol())
        found = mesh_taken_apart(text)
        if found is None:
            raise UnsupportedError(f"{text} can't be written")
        axes = [
            self._node("vhlo", VHLO_MESH_AXIS, (ATTRIBUTE, self.string(name)), (SIGNED, size))
            for name, size in found[0]
        ]
        devices = self.tensor(AttributeParser(found[1], "<mesh>").parse_dense()[0]) if found[1] else -1
        return self._node("vhlo", VHLO_MESH, (ATTRIBUTE, self.array(axes)), (OPTIONAL, devices))

    # -- builtin: what modules and ops of other dialects hold

    def builtin(self, value: Any) -> int:
        """Return the first number of an attribute in builtin's encoding, or as text."""
        for types, encode in _BUILTIN_VALUES:
            if isinstance(value, types):
                return encode(self, value)
        if isinstance(value, ForeignAttribute) and value == UNIT:
            return self.unit()
        if isinstance(value, _TYPES):
            return self._node("builtin", 6, (TYPE, self._types.builtin(value)))
        if isinstance(value, ForeignAttribute):
            return self.text(value.text)
        try:
            return self.text(print_value(value, lambda function: f"@{print_name(self._symbol(function))}"))
        except NumhloError as error:
            raise UnsupportedError(f"{value!r} can't be written as an attribute") from error

    def text(self, text: str) -> int:
        """Return the first number of an attribute that is written as text."""
        dialect = re.match(r"#(\w+)", text)
        return self._node("builtin" if dialect is None else dialect[1], TEXT, (RAW, text))

    def unit(self) -> int:
        """Return the first number of the attribute that says something by being there."""
        return self._node("builtin", 7)

    def plain_string(self, value: str) -> int:
        """Return the first number of a string in builtin's encoding."""
        return self._node("builtin", 2, (STRING, value))

    def _builtin_integer(self, value: Any) -> int:
        name = "i64" if isinstance(value, int) else element_spelling(value.dtype)
        name = "i1" if isinstance(value, bool | np.bool_) else name
        data = integer_bytes(int(value), _width(name))
        return self._node("builtin", 8, (TYPE, self._types.builtin_scalar(name)), (RAW, data))

    def _builtin_float(self, value: Any) -> int:
        dtype = ELEMENT_TYPES["f64"] if isinstance(value, float) and not isinstance(value, np.generic) else value.dtype
        bits = int(np.asarray(value, dtype).reshape(1).view(f"u{dtype.itemsize}")[0])
        scalar = self._types.builtin_scalar(element_spelling(dtype))
        return self._node("builtin", 9, (TYPE, scalar), (RAW, integer_bytes(bits, 8 * dtype.itemsize)))

    def _builtin_symbol(self, value: Function) -> int:
        return self._node("builtin", 4, (ATTRIBUTE, self.plain_string(self._symbol(value))))

    def builtin_dictionary(self, entries: Mapping[str, int]) -> int:
        """Return the first number of a dictionary of attributes that have numbers."""
        fields = [
            (ATTRIBUTE, member) for name in sorted(entries) for member in (self.plain_string(name), entries[name])
        ]
        return self._node("builtin", 1, (NUMBER, len(entries)), *fields)

    def _builtin_mapping(self, value: Mapping[str, Any]) -> int:
        return self.builtin_dictionary({k: self.builtin(item) for k, item in value.items() if item is not None})

    def _builtin_array(self, value: np.ndarray) -> int:
        type = self._types.builtin(TensorType(value.shape, value.dtype))
        data = blob(value)
        return self._node("builtin", 18, (TYPE, type), (NUMBER, len(data)), (RAW, data))

    def _builtin_numbers(self, value: DenseArray) -> int:
        dtype = ELEMENT_TYPES[value.element.removeprefix("s") if value.element.startswith("si") else value.element]
        data = np.array(value, dtype).tobytes()
        scalar = self._types.builtin_scalar(value.element)
        return self._node("builtin", 17, (TYPE, scalar), (NUMBER, len(value)), (NUMBER, len(data)), (RAW, data))


_Encode = Callable[[AttributeEncoder, Any], int]

_VALUES: tuple[tuple[Any, _Encode], ...] = (
    ((bool, np.bool_), lambda e, v: e.boolean(bool(v))),
    ((int,), lambda e, v: e.integer(v)),
    ((np.generic,), AttributeEncoder._scalar),
    ((float,), lambda e, v: e.number(v, "f64")),
    ((str,), AttributeEncoder.string),
    ((DenseArray,), AttributeEncoder._dense_array),
    ((tuple, list), lambda e, v: e.array([e.value(item) for item in v])),
    ((Mapping,), AttributeEncoder.dictionary),
    ((Function,), lambda e, v: e.string(e._symbol(v))),
    ((np.ndarray,), AttributeEncoder.tensor),
)

_BUILTIN_VALUES: tuple[tuple[Any, _Encode], ...] = (
    ((bool, int), AttributeEncoder._builtin_integer),
    ((np.generic, float), lambda e, v: e._builtin_float(v) if is_float(v) else e._builtin_integer(v)),
    ((str,), AttributeEncoder.plain_string),
    ((DenseArray,), AttributeEncoder._builtin_numbers),
    ((tuple, list), lambda e, v: e._listed("builtin", 0, [e.builtin(item) for item in v])),
    ((Mapping,), AttributeEncoder._builtin_mapping),
    ((Function,), AttributeEncoder._builtin_symbol),
    ((np.ndarray,), AttributeEncoder._builtin_array),
)
