"""Types of HLO: the names of element types, arrays with layouts, tuples, tokens; read and written."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from numhlo.lowering.hlo.lexer import HloCursor
from numhlo.lowering.hlo.record import Shape, tuple_shape
from numhlo.lowering.ir import DYNAMIC, TensorType, TokenType, TupleType, Type
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.lowering.text.foreign import BOUNDS, EncodedTensorType
from numhlo.lowering.text.lexer import LARGEST_INTEGER

_SIGNS = {"i": "s", "ui": "u"}
_NAMES = {
    "i1": "pred",
    "complex<f32>": "c64",
    "complex<f64>": "c128",
    **{f"{sign}{n}": f"{_SIGNS[sign]}{n}" for sign in _SIGNS for n in (2, 4, 8, 16, 32, 64)},
}
PRIMITIVES: dict[str, np.dtype] = {_NAMES.get(name, name.lower()): dtype for name, dtype in ELEMENT_TYPES.items()}
"""HLO's names of element types, and the NumPy dtypes that hold them."""

_SPELLING = {dtype: name for name, dtype in PRIMITIVES.items()}
_ARRAY = re.compile(r"([a-z]\w*)\[([^\]]*)\](?:\{([\d,\s]*)(:[^{}]*)?\})?\Z", re.ASCII)
_EXTENT = re.compile(r"(<=)?(\d{1,19})\Z", re.ASCII)
_AXIS = re.compile(r"\d{1,4}\Z", re.ASCII)
_LAYOUT_REST = re.compile(r":[A-Z(#][\w\s(),*:+#-]*\Z", re.ASCII)
"""What may stand behind the dimensions of a layout: tiles, element bits, a memory space. Values don't depend on it."""


def is_shape(token: str) -> bool:
    """Return whether a token begins a type.

    Examples
    --------
    >>> is_shape("f32[2]{0}"), is_shape("("), is_shape("add")
    (True, True, False)
    """
    return token == "(" or "[" in token[1:]


class ShapeParser(HloCursor):
    """Reads types at the cursor."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self._shapes: dict[str, Shape] = {}

    def parse_shape(self) -> Shape:
        """Read an array's type, a tuple's, or ``token[]``."""
        token = self.tokens[self.index]
        shape = self._shapes.get(token)
        if shape is not None:
            self.index += 1
            return shape
        if token == "(":
            return self._parse_tuple()
        shape = self._shapes[token] = self._array(token)
        self.index += 1
        return shape

    def _parse_tuple(self) -> Shape:
        self.enter()
        self.expect("(")
        elements: list[Shape] = []
        while not self.accept(")"):
            if elements:
                self.expect(",")
            elements.append(self.parse_shape())
        self.depth -= 1
        return tuple_shape(tuple(elements))

    def parse_shapes(self) -> tuple[Shape, ...]:
        """Read types in braces."""
        found: list[Shape] = []
        self.expect("{")
        while not self.accept("}"):
            if found:
                self.expect(",")
            found.append(self.parse_shape())
        return tuple(found)

    def _array(self, token: str) -> Shape:
        match = _ARRAY.match(token)
        if match is None:
            raise self.error("a type, such as f32[2,3]{1,0}")
        name, inner, axes, rest = match.groups()
        if name == "token" and not inner.strip():
            return Shape(TokenType())
        dtype = PRIMITIVES.get(name)
        if dtype is None:
            raise self.complaint(f"{name} is no element type: they are {', '.join(PRIMITIVES)}, and token[]")
        shape, bounds = self._extents(inner)
        layout = self._layout(axes, len(shape)) if axes is not None else None
        if rest is not None and not _LAYOUT_REST.match(rest):
            raise self.complaint(f"{rest} is no part of a layout: tiles T(8,128), bits E(4), a memory space S(1)")
        is_bounded = any(bound is not None for bound in bounds)
        spelled = ", ".join(["?" if bound is None else str(bound) for bound in bounds])
        type = EncodedTensorType(shape, dtype, f"{BOUNDS}{spelled}>") if is_bounded else TensorType(shape, dtype)
        return Shape(type, layout)

    def _extents(self, text: str) -> tuple[tuple[int, ...], list[int | None]]:
        """Return extents, and the largest of those that are known only when the program runs."""
        shape: list[int] = []
        bounds: list[int | None] = []
        for part in text.split(",") if text.strip() else ():
            word = "".join(part.split())
            match = _EXTENT.match(word)
            if word != "?" and (match is None or int(match[2]) > LARGEST_INTEGER):
                raise self.complaint(f"{part.strip() or 'nothing'} is no extent of a dimension")
            is_open = match is None or match[1] is not None
            shape.append(DYNAMIC if match is None or is_open else int(match[2]))
            bounds.append(int(match[2]) if match is not None and is_open else None)
        return tuple(shape), bounds

    def _layout(self, text: str, rank: int) -> tuple[int, ...] | None:
        words = [word.strip() for word in text.split(",")] if text.strip() else []
        axes = tuple([int(word) if _AXIS.match(word) else -1 for word in words])
        if not axes and rank:
            return None
        if sorted(axes) != list(range(rank)):
            raise self.complaint(f"a layout of {rank} dimensions must hold each of them once")
        return None if axes == tuple(reversed(range(rank))) else axes


def spell(type: Type, layout: Sequence[int] | None = None) -> str:
    """Return HLO's name of a type.

    Parameters
    ----------
    type : Type
    layout : sequence of int, optional
        From minor to major; left out where it is not given.

    Raises
    ------
    UnsupportedError
        If HLO has no such type.

    Examples
    --------
    >>> spell(TensorType((2, 3), np.dtype("float32")), (0, 1)), spell(TupleType((TokenType(),)))
    ('f32[2,3]{0,1}', '(token[])')
    """
    if isinstance(type, TokenType):
        return "token[]"
    if isinstance(type, TupleType):
        return f"({', '.join([spell(element) for element in type.elements])})"
    if not hasattr(type, "dtype"):  # one that is kept as text
        raise UnsupportedError(f"HLO has no type {type}")
    if type.dtype not in _SPELLING or not _is_plain(type):
        raise UnsupportedError(f"HLO has no type {type}")
    axes = "" if layout is None else f"{{{','.join(map(str, layout))}}}"
    return f"{_SPELLING[type.dtype]}[{','.join(_spelled_extents(type))}]{axes}"


def _is_plain(type: TensorType) -> bool:
    """Return whether a tensor is one of numbers and not of what stands for others: indices and quantized numbers."""
    return type.__class__ is TensorType or (isinstance(type, EncodedTensorType) and type.encoding.startswith(BOUNDS))


def _spelled_extents(type: TensorType) -> list[str]:
    bounds = ["?"] * type.ndim
    if isinstance(type, EncodedTensorType):
        bounds = type.encoding.removeprefix(BOUNDS).removesuffix(">").split(", ")
    if any(extent == DYNAMIC and bound == "?" for extent, bound in zip(type.shape, bounds, strict=True)):
        raise UnsupportedError(
            f"HLO has no type {type}",
            why="its extents are known, or have a largest value",
            fix="export the program for known shapes",
        )
    return [
        f"<={bound}" if extent == DYNAMIC else str(extent) for extent, bound in zip(type.shape, bounds, strict=True)
    ]
