"""Reading types: tensors by their text (each spelling once), tokens, tuples, and foreign ones, kept as text."""

from __future__ import annotations

import itertools
import math
import re
from functools import lru_cache

import numpy as np

from numhlo.lowering.ir import DYNAMIC, IndexTensorType, TensorType, TokenType, TupleType, Type
from numhlo.lowering.ir.quantized import QuantizedTensorType
from numhlo.lowering.ir.types import ELEMENT_TYPES, FLOATS, INTEGERS
from numhlo.lowering.text.foreign import BOUNDS, EncodedTensorType, Signature, foreign_type
from numhlo.lowering.text.lexer import LARGEST_INTEGER, Cursor

_SHAPE = re.compile(r"((?:(?:\d{1,19}|\?)x)*+)(.+)", re.ASCII | re.DOTALL)
_ENCODING = re.compile(r"([^,<>]*+(?:<[^<>]*+>)?+)\s*,\s*(.+)\Z", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*")
_SPACED_X = re.compile(r"(?<=[\d?])\s*x\s*|\s+x\s*")
_GAP = re.compile(r"\w\s+\w")
"""Two words: space may stand beside the ``x`` of a shape and beside brackets, and divides what else it is in."""
_INTEGER = re.compile(r"[su]?i(\d{1,8})\Z", re.ASCII)
_WIDEST_INTEGER = 2**24 - 1
_OTHER_SCALARS = frozenset({"index", "none", "tf32", "f80", "f128"})
"""Scalars of MLIR that StableHLO's ops do not compute with; also integers of any width, as `_INTEGER` has them."""
_SIGNED = {f"s{name}": name for name in ("i2", "i4", "i8", "i16", "i32", "i64")}
"""Signed integers by their names in the specification's grammar; MLIR calls them signless."""
_COMPLEX = re.compile(r"complex<([^<>]+)>\Z")
_FOREIGN_ELEMENT = re.compile(r"(?:vector<.+>|!.+)\Z", re.DOTALL)
_UNIFORM = "!quant.uniform<"
_QUANTIZED = re.compile(
    r"!quant\.uniform<(\w+)(?:<(-?\d{1,19}):(-?\d{1,19})>)?:(\w+)(?::(\d{1,9}))?,([^<>]+)>\Z", re.ASCII
)
_BLOCKED = re.compile(r"!quant\.uniform<\w+:\w+:\{[\d:,]+\},\{[^<>]+\}>\Z", re.ASCII)
"""Scales of blocks of several dimensions: MLIR has them, StableHLO does not."""
_STORAGE = re.compile(r"[su]?i?(\d{1,2})\Z|f8E\w+\Z", re.ASCII)
_WIDEST_STORAGE = 32
_QUANTUM = re.compile(r"(-?\d+\.\d*(?:[eE][-+]?\d+)?)(?::(-?\d{1,19}))?\Z", re.ASCII)
_BRACKETED = frozenset({"complex", "vector", "memref"})
_BARE_WORD = re.compile(r"\w+\Z")
_BOUND = re.compile(r"-?\d{1,19}\Z", re.ASCII)
_BOUNDS = re.compile(
    r"#stablehlo\.(?:bounds<([-\d?,\s]*)>|type_extensions<\s*bounds\s*=\s*\[([-\d?,\s]*)\]\s*>)\Z", re.DOTALL
)


_LONGEST_KEPT = 200
"""Characters of the longest types whose meaning is kept, which bounds the memory of all that are."""


def tensor_type_from_text(text: str) -> Type | None:
    """Return the type that ``text`` (``tensor<...>``) spells, or None where it spells none.

    Examples
    --------
    >>> print(tensor_type_from_text("tensor<2x?xf32>"), tensor_type_from_text("tensor<2xfloat>"))
    tensor<2x?xf32> None
    """
    return _kept_tensor_type(text) if len(text) <= _LONGEST_KEPT else _tensor_type(text)


def _tensor_type(text: str) -> Type | None:
    inner = " ".join(_COMMENT.sub("", text)[text.index("<") + 1 : -1].split())  # a search among many spaces is long
    encoded = _ENCODING.match(inner)
    body = _SPACED_X.sub("x", encoded[1] if encoded else inner)
    match = None if _GAP.search(body) else _SHAPE.match("".join(body.split()))
    if match is None:
        return None
    shape = tuple(DYNAMIC if n == "?" else int(n) for n in match[1].split("x")[:-1])
    dtype = ELEMENT_TYPES.get(_SIGNED.get(match[2], match[2]))
    if any(n > LARGEST_INTEGER for n in shape):
        return None
    kept = foreign_type(f"tensor<{' '.join(inner.split())}>")
    if match[2].startswith(_UNIFORM) and encoded is None:
        return kept if _BLOCKED.match(match[2]) else _quantized(shape, match[2], kept)
    if match[2] == "index" and encoded is None:
        return IndexTensorType(shape, ELEMENT_TYPES["i64"])
    if dtype is None:
        element = match[2] if shape else match[2].removeprefix("*x")
        held = is_scalar(element) and element != "none"
        return kept if held or _FOREIGN_ELEMENT.match(element) else None
    return TensorType(shape, dtype) if encoded is None else _encoded(shape, dtype, " ".join(encoded[2].split()))


_kept_tensor_type = lru_cache(maxsize=4096)(_tensor_type)


def is_scalar(name: str) -> bool:
    """Return whether MLIR has a scalar type of this name, be it one of StableHLO's or not.

    Examples
    --------
    >>> [is_scalar(name) for name in ("f32", "i9", "complex<i9>", "f17", "i99999999", "complex<index>")]
    [True, True, True, False, False, False]
    """
    integer, part = _INTEGER.match(name), _COMPLEX.match(name)
    if integer is not None:
        return int(integer[1]) <= _WIDEST_INTEGER
    if part is not None:
        return is_scalar(part[1]) and part[1] not in {"index", "none"}
    return name in ELEMENT_TYPES or name in _OTHER_SCALARS


def _encoded(shape: tuple[int, ...], dtype: np.dtype, encoding: str) -> Type | None:
    """Return a tensor's type with an encoding; bounds must be those of its unknown extents."""
    if _BARE_WORD.match(encoding) and not is_scalar(encoding) and encoding not in {"unit", "true", "false"}:
        return None
    found = _BOUNDS.match(encoding)
    if found is None:
        return None if encoding.startswith(BOUNDS) else EncodedTensorType(shape, dtype, encoding)
    bounds = (found[1] or found[2] or "").replace(" ", "").split(",")
    known = [bound not in {"?", "-1"} for bound in bounds]
    if len(bounds) != len(shape) or any(k and n != DYNAMIC for k, n in zip(known, shape, strict=True)):
        return None
    if not all(_BOUND.match(bound) and int(bound) <= LARGEST_INTEGER for bound in itertools.compress(bounds, known)):
        return None
    return EncodedTensorType(shape, dtype, f"{BOUNDS}{', '.join(bounds)}>")


def _quantized(shape: tuple[int, ...], element: str, kept: Type) -> Type | None:
    """Return a quantized tensor's type: ``kept`` where its storage is MLIR's alone, None where it is not even that."""
    match = _QUANTIZED.match(element)
    if match is None:
        return None
    storage, low, high, expressed, axis, parameters = match.groups()
    width, braced = _STORAGE.match(storage), parameters[0] == "{" and parameters[-1] == "}"
    found = [_QUANTUM.match(entry) for entry in parameters.strip("{}").split(",")]
    kind = ELEMENT_TYPES.get(expressed)
    if width is None or not 0 < int(width[1] or 8) <= _WIDEST_STORAGE or not all(found) or braced != (axis is not None):
        return None
    dtype = ELEMENT_TYPES.get(storage if "i" in storage else storage.replace("u", "ui"))
    if dtype not in INTEGERS or kind not in FLOATS:
        return kept if expressed in {"tf32", "f80", "f128"} or kind in FLOATS else None
    pairs = [(float(m[1]), int(m[2] or 0)) for m in found if m is not None]
    if not all(math.isfinite(scale) for scale, _ in pairs):
        return None  # 1.0e999: text has no infinite scale
    scales, zero_points = zip(*pairs, strict=True)
    limits = (None, None) if low is None else (int(low), int(high))
    return QuantizedTensorType(shape, dtype, kind, scales, zero_points, None if axis is None else int(axis), *limits)


class TypeParser(Cursor):
    """Reads types at the cursor."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self._types: dict[str, Type] = {}
        self.type_aliases: dict[str, int] = {}

    def parse_type(self) -> Type:
        """Read a type."""
        token = self.tokens[self.index]
        type = self._types.get(token)
        if type is not None:
            self.index += 1
            return type
        if token.startswith("tensor<"):
            type = tensor_type_from_text(token)
            if type is None:
                raise self.error("a tensor type")
            self._types[token] = type
            self.index += 1
            return type
        self.enter()
        type = self._parse_rare_type(token)
        self.depth -= 1
        return type

    def _parse_rare_type(self, token: str) -> Type:
        if token == "tensor":
            return self._parse_spaced_tensor()
        if token == "tuple":
            self.advance()
            return TupleType(tuple(self.parse_types("<", ">")))
        if token in {"!stablehlo.token", "!mhlo.token", "token"}:
            self.advance()
            return TokenType()
        if token in self.type_aliases:
            return self._parse_type_alias(token)
        if token[:1] == "!" and "." in token:
            return self._parse_foreign()
        if token[:1] == "!":
            raise self.complaint(f"type alias {token} is not defined")
        if is_scalar(token):
            return foreign_type(self.advance())
        if token in _BRACKETED:
            return self._parse_foreign()
        raise self.error("a type")

    def _parse_foreign(self) -> Type:
        first, name = self.index, self.advance()
        text = name + self.skip_balanced() if self.at("<") else name
        dialect, _, mnemonic = name.partition(".")
        known = {"!stablehlo": {"future"}, "!quant": {"uniform", "any", "calibrated"}}.get(dialect, {mnemonic})
        if mnemonic not in known or (mnemonic and text == name and dialect == "!stablehlo"):
            raise self.error("a type", first)
        plain = "".join(text.split())
        if name == "complex" and (_GAP.search(text) or not is_scalar(plain)):
            raise self.error("a complex type of floats or integers", first)
        if plain.startswith(_UNIFORM) and tensor_type_from_text(f"tensor<{plain}>") is None:
            raise self.error("a quantized type", first)
        return foreign_type(text)

    def _parse_spaced_tensor(self) -> Type:
        """Read a tensor type whose brackets hold more than the common things."""
        first = self.index
        self.advance()
        if not self.at("<"):
            raise self.error("'<'")
        depth = 0
        while True:
            token = self.advance()
            depth += (token == "<") - (token == ">")
            if depth == 0:
                break
            if not token or token[0] == "%":
                raise self.complaint("this tensor type has no closing '>'", first)
        type = tensor_type_from_text(self.text[self.starts[first] : self.starts[self.index - 1] + 1])
        if type is None:
            raise self.error("a tensor type", first)
        return type

    def _parse_type_alias(self, name: str) -> Type:
        type: Type = self.write_out(name, self.type_aliases[name], self.parse_type)
        return type

    def parse_types(self, opening: str = "(", closing: str = ")") -> list[Type]:
        """Read types between brackets."""
        self.expect(opening)
        types: list[Type] = []
        if self.accept(closing):
            return types
        types.append(self.parse_type())
        while self.accept(","):
            types.append(self.parse_type())
        self.expect(closing)
        return types

    def parse_function_type(self) -> Signature:
        """Read ``(types) -> types``."""
        arguments = self.parse_types()
        self.expect("->")
        results = self.parse_types() if self.at("(") else [self.parse_type()]
        return Signature(tuple(arguments), tuple(results))
