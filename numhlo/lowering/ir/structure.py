"""Structural identity: one key for all programs that differ in nothing but names and locations.

Ops, operands, attributes, constants' bits, types, regions and callees count; names of values and of private functions,
and locations, do not. Two calls of one function and calls of two equal functions are the same. Linear in the size of
the program: every function is read once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from numhlo.lowering.ir.graph import Function, Module, Op, Region, Value
from numhlo.lowering.ir.types import Type

RECURSION = "recursion"
"""Stands for a function that is still being read: StableHLO has no recursion, but text may."""


def structural_key(program: Function | Module) -> str:
    """Return a key that equal programs share and different ones do not (128 bits of BLAKE2b, in hexadecimal).

    Parameters
    ----------
    program : Function or Module
        Of a module, the functions that can be called from outside count with their names, and all that they reach.

    Examples
    --------
    >>> structural_key(Function("f")) == structural_key(Function("g"))
    True
    """
    digests: dict[Function, str] = {}
    if isinstance(program, Function):
        return _digest_all(program, digests)
    public = [f for f in program.functions if f.visibility != "private" or f is program.main]
    named = sorted((f.name, _digest_all(f, digests)) for f in public)
    return _digest([f"{_spell(program.attributes, digests)} {named}"])


def structurally_equal(first: Function | Module, second: Function | Module) -> bool:
    """Return whether two programs have the same structure; see `structural_key`."""
    return structural_key(first) == structural_key(second)


def _digest(parts: Iterable[str]) -> str:
    return blake2b("\n".join(parts).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _digest_all(root: Function, digests: dict[Function, str]) -> str:
    """Return a function's digest, computing those of its callees first, without recursion."""
    stack = [root]
    while stack:
        function = stack[-1]
        if function in digests and digests[function] != RECURSION:
            stack.pop()
            continue
        waiting = [f for f in function.callees() if f not in digests] if function not in digests else []
        digests[function] = RECURSION
        if waiting:
            stack.extend(waiting)
        else:
            stack.pop()
            digests[function] = _FunctionReader(digests).read(function)
    return digests[root]


class _FunctionReader:
    """Spells one function, with values replaced by the order of their definition."""

    def __init__(self, digests: Mapping[Function, str]) -> None:
        self.digests = digests
        self.parts: list[str] = []
        self._numbers: dict[Value, int] = {}
        self._types: dict[Type, str] = {}

    def read(self, function: Function) -> str:
        self._read_region(function.body)
        for attributes in (function.attributes, *function.argument_attributes, *function.result_attributes):
            self.parts.append(_spell(attributes, self.digests))
        return _digest(self.parts)

    def _number(self, values: Sequence[Value]) -> str:
        numbers = self._numbers
        return ",".join([str(numbers.setdefault(value, len(numbers))) for value in values])

    def _spell_types(self, values: Sequence[Value]) -> str:
        return ",".join([self._types.get(v.type) or self._types.setdefault(v.type, str(v.type)) for v in values])

    def _read_region(self, region: Region) -> None:
        self.parts.append(f"{{{self._number(region.arguments)}:{self._spell_types(region.arguments)}")
        for op in region.ops:
            self._read_op(op)
        self.parts.append(f"}}{self._number(region.returns)}")

    def _read_op(self, op: Op) -> None:
        operands, types = self._number(op.operands), self._spell_types(op.results)
        attributes = _spell(op.attributes, self.digests) if op.attributes else "{}"
        name = f"{op.definition.dialect}.{op.definition.name}"
        self.parts.append(f"{name}({operands}){attributes}:{types}={self._number(op.results)}")
        for region in op.regions:
            self._read_region(region)


def _spell(value: Any, digests: Mapping[Function, str]) -> str:
    """Return text that is the same for equal attribute values and for no others."""
    match value:
        case Mapping():
            items = (f"{name!r}:{_spell(item, digests)}" for name, item in sorted(value.items()) if item is not None)
            return f"{{{','.join(items)}}}"
        case tuple() | list():
            return f"({','.join([_spell(item, digests) for item in value])})"
        case np.ndarray():
            return _spell_array(value)
        case Function():
            return f"@{digests.get(value, RECURSION)}"
        case float():
            return value.hex()
        case np.generic():
            return f"{value.dtype.name}:{value.tobytes().hex()}"
        case str():
            return repr(value)
        case _:
            return f"{type(value).__name__}:{value}"


def _spell_array(array: np.ndarray) -> str:
    """Return dtype, shape and a digest of the elements' bits; broadcast arrays are never filled in."""
    distinct = array[tuple(slice(None, 1) if stride == 0 else slice(None) for stride in array.strides)]
    data = np.ascontiguousarray(distinct)
    if data.size > 1:
        rows = data.reshape(-1, 1).view(np.uint8)
        data = data.reshape(-1)[:1] if bool((rows == rows[0]).all()) else np.ascontiguousarray(array)
    return f"{array.dtype.name}{array.shape}:{blake2b(data.tobytes(), digest_size=16).hexdigest()}"
