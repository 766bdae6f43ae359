"""The graph: Module > Function > Region > Op, with Values in SSA form.

This file knows the shape of a program and nothing about what an op means; that is `numhlo.lowering.ops`. A StableHLO
region has exactly one block, so `Region` is that block: its arguments, its ops, and the values that it returns (which
text spells as a `return` op). Ops of a region may use the values of the regions around it. Functions are referred to
by object, never by name: names are given when a module is printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from numhlo.lowering.ir.counted import counted
from numhlo.lowering.ir.location import UNKNOWN, Location
from numhlo.lowering.ir.types import TensorType, Type

if TYPE_CHECKING:
    from numhlo.lowering.ops.primitive import Primitive


class Value:
    """A value: the result of an op or the argument of a region. Equality is identity.

    Attributes
    ----------
    type : Type
    owner : Op or Region
    tensor : TensorType
        The type where it is a tensor's; other values lack the attribute.
    """

    __slots__ = ("owner", "tensor", "type")

    def __init__(self, type: Type, owner: Op | Region) -> None:
        self.type = type
        self.owner = owner
        if isinstance(type, TensorType):
            self.tensor = type

    def __repr__(self) -> str:
        return f"<value of type {self.type}>"


class Substitution(dict[Value, Value]):
    """Values that take the place of others; a value without one stands for itself.

    Examples
    --------
    >>> kept = Region([TensorType((), np.dtype(bool))]).arguments[0]
    >>> Substitution()[kept] is kept
    True
    """

    def __missing__(self, value: Value) -> Value:
        return value


class Op:
    """One use of a primitive: operands in, results out.

    Attributes
    ----------
    definition : Primitive
        What the op is.
    operands, results : list of Value
    attributes : dict
        Plain Python values: int, float, bool, str, tuples, NumPy arrays, dimension-number records, `Function`.
    regions : sequence of Region
        A list where there are any.
    location : Location
        The user's line.
    """

    __slots__ = (
        "attributes",
        "definition",
        "location",
        "operands",
        "regions",
        "results",
    )

    def __init__(
        self,
        definition: Primitive,
        operands: Sequence[Value],
        attributes: Mapping[str, Any],
        regions: Sequence[Region],
        result_types: Sequence[Type],
        location: Location = UNKNOWN,
    ) -> None:
        self.definition = definition
        self.operands = [*operands]
        self.attributes = {**attributes}
        self.regions: Sequence[Region] = [*regions] if regions else ()
        if len(result_types) == 1:  # nearly always, and a loop is a call of its own
            self.results = [Value(result_types[0], self)]
        else:
            self.results = [Value(t, self) for t in result_types]
        self.location = location

    @property
    def result(self) -> Value:
        """Return the only result."""
        (value,) = self.results
        return value

    def __repr__(self) -> str:
        operands = ", ".join(str(v.type) for v in self.operands)
        results = ", ".join(str(v.type) for v in self.results)
        return f"<{self.definition.name}({operands}) -> ({results})>"


class Region:
    """The one block of a region: arguments, ops in order, returned values.

    Attributes
    ----------
    arguments, returns : list of Value
    ops : list of Op
    argument_locations : sequence of Location
        As text gives them: one an argument, or none at all.
    return_location : Location
    """

    __slots__ = ("__weakref__", "argument_locations", "arguments", "ops", "return_location", "returns")

    def __init__(self, argument_types: Sequence[Type] = ()) -> None:
        self.arguments = [Value(t, self) for t in argument_types]
        self.ops: list[Op] = []
        self.returns: list[Value] = []
        self.argument_locations: Sequence[Location] = ()
        self.return_location = UNKNOWN

    def __repr__(self) -> str:
        arguments, results = (", ".join(str(v.type) for v in values) for values in (self.arguments, self.returns))
        return f"<region ({arguments}) -> ({results}), {counted(len(self.ops), 'op')}>"

    def add_argument(self, type: Type) -> Value:
        """Append an argument and return it."""
        value = Value(type, self)
        self.arguments.append(value)
        return value

    def walk(self) -> Iterator[Op]:
        """Yield every op, outer before inner, in program order."""
        stack: list[Iterator[Op]] = [iter(self.ops)]
        while stack:
            for op in stack[-1]:
                yield op
                if op.regions:
                    stack += [iter(region.ops) for region in reversed(op.regions)]
                    break
            else:
                stack.pop()


class Function:
    """A named, closed function: its body uses no value from outside.

    Attributes
    ----------
    name : str
        A wish; the printer makes names unique.
    body : Region
    visibility : str
        ``"public"``, ``"private"`` or ``""``.
    argument_attributes, result_attributes : list of dict
        Attribute dictionaries as text carries them (`jax.result_info`, ...), one an argument or result.
    """

    __slots__ = (
        "__weakref__",
        "argument_attributes",
        "attributes",
        "body",
        "location",
        "name",
        "result_attributes",
        "visibility",
    )

    def __init__(self, name: str, body: Region | None = None, *, visibility: str = "private") -> None:
        self.name = name
        self.body = Region() if body is None else body
        self.visibility = visibility
        self.location = UNKNOWN
        self.attributes: dict[str, Any] = {}
        self.argument_attributes: list[dict[str, Any]] = []
        self.result_attributes: list[dict[str, Any]] = []

    @property
    def argument_types(self) -> list[Type]:
        """Return the arguments' types."""
        return [v.type for v in self.body.arguments]

    @property
    def result_types(self) -> list[Type]:
        """Return the results' types."""
        return [v.type for v in self.body.returns]

    def described_as(self, source: Function) -> Function:
        """Return this function with the location and the attributes of another one, which it is a copy of."""
        self.location, self.attributes = source.location, source.attributes
        self.argument_attributes, self.result_attributes = source.argument_attributes, source.result_attributes
        return self

    def callees(self) -> list[Function]:
        """Return the functions that ops of the body refer to, each once, in order of first use."""
        found: dict[int, Function] = {}
        for op in self.body.walk():
            for attribute in op.attributes.values() if op.attributes else ():
                kind: Any = type(attribute)
                if not _may_hold(kind) or (kind is tuple and _PLAIN.issuperset(map(type, attribute))):
                    continue  # nearly all attributes: most graphs are walked because they might refer to functions
                for function in functions_in(attribute):
                    found.setdefault(id(function), function)
        return list(found.values())

    def reached(self) -> list[Function]:
        """Return the functions that this one reaches, each once, callees before callers, itself last."""
        found: dict[Function, None] = {}
        path = {self: iter(self.callees())}
        while path:
            function = next(reversed(path))
            callee = next((f for f in path[function] if f not in found and f not in path), None)
            if callee is None:
                found[function] = None
                del path[function]
            else:
                path[callee] = iter(callee.callees())
        return list(found)

    def __repr__(self) -> str:
        arguments = ", ".join(map(str, self.argument_types))
        results = ", ".join(map(str, self.result_types))
        return f"<function @{self.name}({arguments}) -> ({results})>"


_PLAIN = frozenset({int, bool, str, float, type(None), np.ndarray})
"""Types of attributes that hold no function."""


@cache
def _may_hold(kind: type) -> bool:
    """Return whether attributes of a type may hold a function."""
    return issubclass(kind, Function | tuple | list | Mapping)


def functions_in(attribute: Any) -> Iterator[Function]:
    """Yield the functions that an attribute's value holds: itself, or in a list or dictionary.

    Examples
    --------
    >>> f = Function("f", Region())
    >>> [g.name for g in functions_in((1, [f], {"a": f}))]
    ['f', 'f']
    """
    if isinstance(attribute, Function):
        yield attribute
    elif isinstance(attribute, tuple | list):
        for item in attribute:
            yield from functions_in(item)
    elif isinstance(attribute, Mapping):
        for item in attribute.values():
            yield from functions_in(item)


class Module:
    """A program: functions that can be called from outside, and all that they reach.

    Attributes
    ----------
    functions : list of Function
        Those of modules inside, too, behind its own.
    modules : list of Module
        Those that text has inside; calls stay within each.
    """

    __slots__ = ("attributes", "functions", "location", "modules", "name")

    def __init__(self, functions: Sequence[Function], name: str = "") -> None:
        self.functions = list(functions)
        self.modules: list[Module] = []
        self.name = name
        self.attributes: dict[str, Any] = {}
        self.location = UNKNOWN

    def __repr__(self) -> str:
        return f"<module @{self.name}: {', '.join(map(repr, self.functions))}>"

    @property
    def main(self) -> Function:
        """Return the function named main, else the first public one, else the first."""
        for function in self.functions:
            if function.name == "main":
                return function
        for function in self.functions:
            if function.visibility == "public":
                return function
        return self.functions[0]

    def reachable(self) -> list[Function]:
        """Return all functions, each once, callers before callees."""
        found: dict[int, Function] = {}
        stack = list(reversed(self.functions))
        while stack:
            function = stack.pop()
            if id(function) not in found:
                found[id(function)] = function
                stack.extend(reversed(function.callees()))
        return list(found.values())

    def values(self) -> Iterator[Value]:
        """Yield every value of all functions: arguments of theirs and of regions, and ops' results."""
        for function in self.reachable():
            yield from function.body.arguments
            for op in function.body.walk():
                yield from op.results
                for region in op.regions:
                    yield from region.arguments
