"""Types as they are written: in vhlo's encoding, and in builtin's for ops of other dialects.

A type that vhlo or the version that is written for lacks is refused by name.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence

from numhlo.lowering.bytecode.builtin import SIGNEDNESS
from numhlo.lowering.bytecode.decoder import OPEN_EXTENT
from numhlo.lowering.bytecode.hlo_dialects import VHLO_SCALARS
from numhlo.lowering.bytecode.tables import ATTRIBUTE, NUMBER, RAW, SIGNED, TEXT, TYPE, Field, Node, Tables, signed
from numhlo.lowering.bytecode.vhlo_table import BUFFERS, FUTURES, NEW_TYPES, PER_AXIS, Version
from numhlo.lowering.ir import DYNAMIC, IndexTensorType, TensorType, TokenType, TupleType, Type
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ir.quantized import QuantizedTensorType
from numhlo.lowering.ir.types import SIGNED as SIGNED_DTYPES
from numhlo.lowering.ir.types import element_spelling
from numhlo.lowering.text.foreign import BOUNDS, EncodedTensorType, ForeignType, Signature
from numhlo.lowering.text.parse_attributes import AttributeParser

_VHLO_CODES = {name: code for code, name in VHLO_SCALARS.items()}
_BUILTIN_CODES = {"index": 1, "bf16": 3, "f16": 4, "f32": 5, "f64": 6, "f80": 7, "f128": 8, "none": 12}
"""Scalar types that every version of MLIR knows by a code; the others are written as text."""
_INTEGER = re.compile(r"([su]?i)(\d+)\Z", re.ASCII)
_COMPLEX = re.compile(r"complex<(.+)>\Z")
_BUFFER = re.compile(r"memref<((?:(?:\d+|\?)x)*)([^,<>]+(?:<[^<>]+>)?)>\Z", re.ASCII)
_FUTURE = re.compile(r"!stablehlo\.future<(.*)>\Z", re.DOTALL)


def version_text(version: Version) -> str:
    """Return a version as text."""
    return ".".join(map(str, version))


def require_version(what: str, since: Version, target: Version) -> None:
    """Refuse what a version of StableHLO does not have.

    Raises
    ------
    UnsupportedError
        Naming it, and the first version that has it.
    """
    if since > target:
        raise UnsupportedError(
            f"version {version_text(target)} of StableHLO does not have {what}",
            why=f"it came with {version_text(since)}",
            fix=f'write for a version that has it: serialize("{version_text(since)}")',
        )


def double(value: float) -> bytes:
    """Return a float of 64 bits as it is written."""
    return signed(int.from_bytes(struct.pack("<d", value), "little", signed=True))


def extents(shape: Sequence[int]) -> list[Field]:
    """Return the fields of a shape."""
    return [(NUMBER, len(shape)), *[(SIGNED, OPEN_EXTENT if n == DYNAMIC else n) for n in shape]]


class TypeEncoder:
    """Makes nodes of types.

    Parameters
    ----------
    tables : Tables
    target : tuple of int
        The version of StableHLO that must be able to read the file.
    """

    def __init__(self, tables: Tables, target: Version) -> None:
        self._tables, self._target = tables, target
        self._vhlo: dict[object, int] = {}
        self._builtin: dict[object, int] = {}

    # -- vhlo

    def vhlo(self, type: Type | ForeignType | Signature) -> int:
        """Return the first number of a type in vhlo's encoding."""
        found = self._vhlo.get(type)
        if found is None:
            found = self._vhlo[type] = self._tables.type(self._vhlo_node(type))
        return found

    def vhlo_scalar(self, name: str) -> int:
        """Return the first number of an element type in vhlo's encoding."""
        found = self._vhlo.get(name)
        if found is None:
            found = self._vhlo[name] = self._tables.type(self._vhlo_scalar_node(name))
        return found

    def _vhlo_scalar_node(self, name: str) -> Node:
        require_version(f"the type {name}", NEW_TYPES.get(name, (0, 9, 0)), self._target)
        part = _COMPLEX.match(name)
        if part is not None:
            return Node("vhlo", 1, ((TYPE, self.vhlo_scalar(part[1])),))
        if name not in _VHLO_CODES:
            raise UnsupportedError(f"portable artifacts have no type {name}")
        return Node("vhlo", _VHLO_CODES[name])

    def _list(self, types: Iterable[Type]) -> list[Field]:
        numbers = [self.vhlo(type) for type in types]
        return [(NUMBER, len(numbers)), *[(TYPE, number) for number in numbers]]

    def _vhlo_node(self, type: Type | ForeignType | Signature) -> Node:
        if isinstance(type, TensorType):
            return self._vhlo_tensor(type)
        if isinstance(type, Signature):
            return Node("vhlo", 8, (*self._list(type.arguments), *self._list(type.results)))
        if isinstance(type, TokenType):
            return Node("vhlo", 22)
        if isinstance(type, ForeignType):
            return self._vhlo_foreign(str(type))
        return Node("vhlo", 23, tuple(self._list(type.elements)))

    def _vhlo_tensor(self, type: TensorType) -> Node:
        element = self._vhlo_element(type)
        if not isinstance(type, EncodedTensorType):
            return Node("vhlo", 20, (*extents(type.shape), (TYPE, element)))
        if not type.encoding.startswith(BOUNDS):
            raise UnsupportedError(f"portable artifacts have no type {type}")
        encoding = self._tables.attribute(self.bounds(type.encoding))
        return Node("vhlo", 21, ((ATTRIBUTE, encoding), *extents(type.shape), (TYPE, element)))

    def bounds(self, encoding: str) -> Node:
        """Return the node of how large unknown extents can be."""
        items = encoding.removeprefix(BOUNDS).removesuffix(">").split(", ")
        sizes = [int(item) if item.lstrip("-").isdigit() else DYNAMIC for item in items if item]
        return Node("vhlo", 18, tuple(extents(sizes)))

    def _vhlo_element(self, type: TensorType) -> int:
        if isinstance(type, QuantizedTensorType):
            return self._tables.type(self._vhlo_quantized(type))
        return self.vhlo_scalar("index" if isinstance(type, IndexTensorType) else element_spelling(type.dtype))

    def _vhlo_quantized(self, type: QuantizedTensorType) -> Node:
        storage = self.vhlo_scalar(element_spelling(type.dtype).removeprefix("u"))
        head: list[Field] = [
            (NUMBER, int(type.dtype in SIGNED_DTYPES)),
            (TYPE, storage),
            (TYPE, self.vhlo_scalar(element_spelling(type.expressed))),
        ]
        limits: list[Field] = [(SIGNED, type.least), (SIGNED, type.greatest)]
        if type.axis is None:
            quantum: list[Field] = [(RAW, double(type.scales[0])), (SIGNED, type.zero_points[0])]
            return Node("vhlo", 24, (*head, *quantum, *limits))
        require_version("quantization along an axis", PER_AXIS, self._target)
        count: Field = (NUMBER, len(type.scales))
        scales: list[Field] = [count, *[(RAW, double(scale)) for scale in type.scales]]
        zeros: list[Field] = [count, *[(SIGNED, zero) for zero in type.zero_points]]
        return Node("vhlo", 30, (*head, (NUMBER, type.axis), *limits, *scales, *zeros))

    def _vhlo_foreign(self, text: str) -> Node:
        """Return the node of a type that is kept as text."""
        future, buffer = _FUTURE.match(text), _BUFFER.match(text)
        if future is not None:
            require_version("types of futures", FUTURES, self._target)
            return Node("vhlo", 42, tuple(self._list(self._parsed(f"({future[1]})"))))
        if buffer is not None:
            require_version("types of buffers", BUFFERS, self._target)
            sizes = [DYNAMIC if n == "?" else int(n) for n in buffer[1].split("x")[:-1]]
            return Node("vhlo", 41, (*extents(sizes), (TYPE, self.vhlo_scalar(buffer[2]))))
        if text.startswith("tensor<*x"):
            return Node("vhlo", 25, ((TYPE, self.vhlo_scalar(text[len("tensor<*x") : -1])),))
        return self._vhlo_scalar_node(text)

    def _parsed(self, text: str) -> list[Type]:
        return AttributeParser(text, "<type>").parse_types()

    # -- builtin

    def builtin(self, type: Type | ForeignType | Signature) -> int:
        """Return the first number of a type in builtin's encoding, or its dialect's; as text where that is no other."""
        found = self._builtin.get(type)
        if found is None:
            found = self._builtin[type] = self._tables.type(self._builtin_node(type))
        return found

    def builtin_scalar(self, name: str) -> int:
        """Return the first number of an element type in builtin's encoding."""
        found = self._builtin.get(name)
        if found is None:
            found = self._builtin[name] = self._tables.type(self._builtin_scalar_node(name))
        return found

    def _builtin_scalar_node(self, name: str) -> Node:
        integer, part = _INTEGER.match(name), _COMPLEX.match(name)
        if integer is not None:
            return Node("builtin", 0, ((NUMBER, int(integer[2]) << 2 | SIGNEDNESS.index(integer[1])),))
        if part is not None:
            return Node("builtin", 9, ((TYPE, self.builtin_scalar(part[1])),))
        if name in _BUILTIN_CODES:
            return Node("builtin", _BUILTIN_CODES[name])
        return _as_text(name)

    def _builtin_list(self, types: Iterable[Type]) -> list[Field]:
        numbers = [self.builtin(type) for type in types]
        return [(NUMBER, len(numbers)), *[(TYPE, number) for number in numbers]]

    def _builtin_node(self, type: Type | ForeignType | Signature) -> Node:
        if isinstance(type, Signature):
            return Node("builtin", 2, (*self._builtin_list(type.arguments), *self._builtin_list(type.results)))
        if isinstance(type, TupleType):
            return Node("builtin", 15, tuple(self._builtin_list(type.elements)))
        if isinstance(type, TensorType) and not isinstance(type, QuantizedTensorType | EncodedTensorType):
            name = "index" if isinstance(type, IndexTensorType) else element_spelling(type.dtype)
            return Node("builtin", 13, (*extents(type.shape), (TYPE, self.builtin_scalar(name))))
        text = str(type)
        is_scalar = _INTEGER.match(text) or _COMPLEX.match(text) or text in _BUILTIN_CODES
        return self._builtin_scalar_node(text) if is_scalar else _as_text(text)


def _as_text(text: str) -> Node:
    """Return the node of a type that is written as text."""
    dialect = text[1:].partition(".")[0] if text[:1] == "!" else "builtin"
    return Node(dialect, TEXT, ((RAW, text),))
