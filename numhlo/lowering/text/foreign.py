"""Attributes and types that are kept as text, because nothing here computes with them.

Exporters decorate programs with attributes of other dialects (shardings, layouts) and a few types that have no NumPy
dtype. They are parsed into these records, survive every pass, and are printed back as they were read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import cast

from numhlo.lowering.ir import UNKNOWN, IndexTensorType, Location, TensorType, TupleType, Type
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.extents import same_shape


@record(frozen=True, slots=True)
class ForeignAttribute:
    """An attribute kept as its text, such as ``#sdy.sharding<@mesh, [{"x"}]>``."""

    text: str

    def __str__(self) -> str:
        return self.text


@record(frozen=True, slots=True)
class ForeignLine:
    """An op at the top of a module, kept as its text: ``sdy.mesh @mesh = <["x"=2]>``; its place makes no difference."""

    text: str
    location: Location = field(default=UNKNOWN, compare=False)

    def __str__(self) -> str:
        return self.text


UNIT = ForeignAttribute("unit")
"""The attribute that says something by being there: a name alone in a dictionary."""


class DenseArray(tuple[int | float | bool, ...]):
    """A tuple that came as ``array<TYPE: ...>``, which text tells apart from ``[...]``.

    Examples
    --------
    >>> DenseArray((1, 2), "i64").element
    'i64'
    """

    element: str

    def __new__(cls, values: Iterable[int | float | bool], element: str) -> DenseArray:
        """Make a tuple of ``values`` whose elements text spells as ``element``."""
        array = super().__new__(cls, values)
        array.element = element
        return array


@record(frozen=True, slots=True)
class ForeignType:
    """A type kept as its text, such as ``tensor<4xi9>``."""

    text: str

    def __str__(self) -> str:
        return self.text


def foreign_type(text: str) -> Type:
    """Return a type that is kept as text.

    `Type` does not list it, so that rules need not think of it: they ask for tensors, and refuse others with an error.
    """
    return cast("Type", ForeignType(text))


def unknown_part(type: Type) -> str:
    """Return the part of a type that no op of StableHLO makes, or nothing.

    Futures are what asynchronous ops return.

    Examples
    --------
    >>> unknown_part(foreign_type("tensor<2xi9>")), unknown_part(foreign_type("!stablehlo.future<tensor<f32>>"))
    ('tensor<2xi9>', '')
    """
    if isinstance(type, TupleType):
        return next(filter(None, map(unknown_part, type.elements)), "")
    text = str(type) if isinstance(type, ForeignType | IndexTensorType) else ""
    return "" if text.startswith("!stablehlo.future<") else text


BOUNDS = "#stablehlo.bounds<"
"""How the encoding begins that says how large unknown extents can be."""


@record(frozen=True, slots=True)
class EncodedTensorType(TensorType):
    """A tensor type with an encoding, kept as text: ``tensor<?x3xf32, #stablehlo.bounds<8, ?>>``."""

    encoding: str = ""

    def __str__(self) -> str:
        return f"{TensorType.__str__(self)[:-1]}, {self.encoding}>"

    def holds(self, shape: Sequence[int]) -> bool:
        """Return whether a shape is within the bounds, where the encoding is that."""
        if not self.encoding.startswith(BOUNDS):
            return True
        limits = self.encoding.removeprefix(BOUNDS).removesuffix(">").split(", ")
        return all(not limit.isdigit() or n <= int(limit) for n, limit in zip(shape, limits, strict=True))


def can_be(type: TensorType, shape: Sequence[int]) -> bool:
    """Return whether values of a type can have a shape: its extents where they are known, else within its bounds.

    Examples
    --------
    >>> import numpy as np
    >>> type = EncodedTensorType((-1, 3), np.dtype("float32"), "#stablehlo.bounds<4, ?>")
    >>> can_be(type, (4, 3)), can_be(type, (5, 3)), can_be(type, (4, 2))
    (True, False, False)
    """
    return same_shape(type.shape, shape) and (not isinstance(type, EncodedTensorType) or type.holds(shape))


@record(frozen=True, slots=True)
class Signature:
    """A function type: ``(tensor<f32>) -> (tensor<f32>, tensor<i32>)``."""

    arguments: tuple[Type, ...]
    results: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.arguments))}) -> ({', '.join(map(str, self.results))})"
