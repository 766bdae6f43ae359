"""What a function is but for its sizes: a key that it shares with the same function of other shapes.

Extents, the numbers of slices and padding, and constants that kernels get at run time are told apart only by which of
them are equal. All else is part of the key. `with_unknowns` gives the function with unknowns in place of these numbers.
Next: `recipes`, which keeps plans by such keys.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.backend.emit.registers import REGISTERS, bits_as_number, is_plain
from numhlo.backend.emit.sizes import UnknownScalar
from numhlo.lowering.ir import Function, Op, Region, TensorType, Type, Value

SMALL = tuple(range(-1, 17))
"""Numbers that are part of a key: programs treat small extents in ways of their own."""

OF_SIZES = frozenset({"start_indices", "limit_indices", "slice_sizes", "edge_padding_low", "edge_padding_high"})
"""Attributes whose numbers follow from extents."""

COUNTS = frozenset({"length", "lanes"})
"""Of composites: extents of what they go through."""

MOST_BYTES = 1024
"""Larger constants have no key."""

_PLAIN = frozenset({int, bool, str, float, type(None)})


class KeylessError(Exception):
    """Part of a function can't be told apart by a key."""


def carries_bits(value: Any) -> bool:
    """Return whether a constant comes to kernels as a number at run time, and so differs between shapes."""
    if value.size != 1:
        return False
    register = REGISTERS.get(value.dtype)
    return register is not None and register.kind in "iuf" and not is_plain(value.reshape(-1)[0], register)


class Describer:
    """Makes the key of one function.

    Parameters
    ----------
    slots : mapping from int to int
        ``slots[n]`` stands for a size ``n``.
    """

    def __init__(self, slots: Mapping[int, int]) -> None:
        self.slots = slots
        self.parts: list[Hashable] = []
        self._values: dict[Value, int] = {}
        self._functions: dict[Function, int] = {}

    def function(self, function: Function) -> None:
        """Append what tells a function apart; one that was met before is a number."""
        number = self._functions.get(function)
        if number is not None:
            self.parts.append(number)
            return
        self._functions[function] = len(self._functions)
        self.parts += function.attributes
        self.region(function.body)

    def region(self, region: Region) -> None:
        """Append what tells a region apart."""
        parts, values, slots = self.parts, self._values, self.slots
        for value in region.arguments:
            values[value] = len(values)
            parts.append(self._type(value.type))
        parts.append(len(region.ops))
        for op in region.ops:
            parts.append(op.definition)
            parts.append(tuple([values[v] for v in op.operands]))
            for name, attribute in op.attributes.items():
                if name in OF_SIZES:
                    parts += [slots[n] for n in attribute]
                else:
                    self._attribute(name, attribute)
            for value in op.results:
                values[value] = len(values)
                type = value.type
                if isinstance(type, TensorType):
                    parts.append((type.dtype.num, *[slots[n] for n in type.shape]))
                else:
                    parts.append(type)
            for inner in op.regions:
                self.region(inner)
        parts.append(tuple([values[v] for v in region.returns]))

    def _type(self, type: Type) -> Hashable:
        return (type.dtype.num, *[self.slots[n] for n in type.shape]) if isinstance(type, TensorType) else type

    def _attribute(self, name: Hashable, attribute: Any) -> None:
        self.parts.append(name)
        if name in COUNTS and type(attribute) is int:
            self.parts.append(self.slots[attribute])
            return
        kind: Any = type(attribute)
        if kind in _PLAIN:
            self.parts.append((kind, attribute))
        elif kind is np.ndarray:
            self._array(attribute)
        elif isinstance(attribute, Function):
            self.function(attribute)
        elif isinstance(attribute, Mapping):
            self.parts.append(len(attribute))
            for key, item in attribute.items():
                self._attribute(key, item)
        elif isinstance(attribute, tuple | list):
            self.parts += [kind, len(attribute)]
            for item in attribute:
                self._attribute(None, item)
        elif type(attribute).__module__.startswith("numhlo.lowering."):
            self.parts += [kind, attribute]
        else:  # a user's object, which must not be kept alive
            raise KeylessError

    def _array(self, array: np.ndarray) -> None:
        if carries_bits(array):
            self.parts += (array.dtype.num, array.shape, self.slots[_bits(array)])
        elif array.nbytes <= MOST_BYTES:
            self.parts += (array.dtype.num, array.shape, array.tobytes())
        else:
            raise KeylessError


def _bits(array: np.ndarray) -> int:
    return bits_as_number(array.reshape(-1)[0], REGISTERS[array.dtype])


class _Copy:
    """Copies functions, with unknowns for sizes."""

    def __init__(self, unknowns: Mapping[int, int]) -> None:
        self.unknowns = unknowns
        self._values: dict[Value, Value] = {}
        self._functions: dict[Function, Function] = {}

    def function(self, source: Function) -> Function:
        found = self._functions.get(source)
        if found is None:
            found = self._functions[source] = Function(source.name, visibility=source.visibility)
            found.attributes = source.attributes
            found.body = self.region(source.body)
        return found

    def region(self, source: Region) -> Region:
        target = Region([self._type(v.type) for v in source.arguments])
        self._values.update(zip(source.arguments, target.arguments, strict=True))
        for op in source.ops:
            operands = [self._values[v] for v in op.operands]
            attributes = {name: self._attribute(name, value) for name, value in op.attributes.items()}
            regions = [self.region(inner) for inner in op.regions]
            copy = Op(op.definition, operands, attributes, regions, [self._type(v.type) for v in op.results])
            copy.location = op.location
            self._values.update(zip(op.results, copy.results, strict=True))
            target.ops.append(copy)
        target.returns = [self._values[v] for v in source.returns]
        return target

    def _type(self, type: Type) -> Type:
        if not isinstance(type, TensorType):
            return type
        return TensorType(tuple([self.unknowns[n] for n in type.shape]), type.dtype)

    def _attribute(self, name: Any, value: Any) -> Any:
        if name in OF_SIZES:
            return tuple([self.unknowns[n] for n in value])
        if name in COUNTS and type(value) is int:
            return self.unknowns[value]
        if type(value) is np.ndarray:
            return UnknownScalar(value, self.unknowns[_bits(value)]) if carries_bits(value) else value
        if isinstance(value, Function):
            return self.function(value)
        if isinstance(value, Mapping):
            return {key: self._attribute(key, item) for key, item in value.items()}
        if isinstance(value, tuple | list) and any(isinstance(item, Function | np.ndarray) for item in value):
            return type(value)([self._attribute(None, item) for item in value])
        return value


def with_unknowns(function: Function, unknowns: Mapping[int, int]) -> Function:
    """Return a copy of a function with ``unknowns[n]`` for every size ``n``."""
    return _Copy(unknowns).function(function)


def key_of(function: Function, slots: Mapping[int, int], more: Sequence[Hashable]) -> Hashable:
    """Return the key of a function, with ``slots[n]`` for every size ``n``; None where it has none.

    Parameters
    ----------
    function : Function
    slots : mapping from int to int
    more : sequence
        What else is part of the key.
    """
    describer = Describer(slots)
    try:
        describer.function(function)
        key = (*more, *describer.parts)
        hash(key)
    except (KeylessError, TypeError):
        return None
    return key
