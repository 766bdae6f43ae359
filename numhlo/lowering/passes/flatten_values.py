"""Tuples, tokens and futures taken out of a program: a tuple becomes its elements, a token nothing at all.

What an asynchronous pair begins is done at once, so a future becomes the values that it will have.

Effects happen in program order, so the order that tokens ask for is there without them. Functions, regions, loops and
calls take and give the elements one by one. `flatten` and `rebuild` do the same to the values of a caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numhlo.lowering.ir import Function, Module, Op, Region, TokenType, TupleType, Type, Value
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ops import communication, tuples
from numhlo.lowering.ops.asynchronous import DONE, FUTURE, START, is_asynchronous
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.passes.function_copies import FunctionCopies
from numhlo.lowering.text.foreign import ForeignType


def leaf_types(type: Type) -> list[Type]:
    """Return what is left of a type: a tuple's elements, flat; of a token nothing.

    Examples
    --------
    >>> leaf_types(TupleType((TokenType(), TupleType(()))))
    []
    """
    if isinstance(type, TupleType):
        return [leaf for element in type.elements for leaf in leaf_types(element)]
    return [] if isinstance(type, TokenType) else [type]


def flatten(value: Any, type: Type) -> list[Any]:
    """Return the arrays of a caller's value: tuples flat, None for a token.

    Raises
    ------
    ArgumentError
        If the value's tuples are not the type's.

    Examples
    --------
    >>> flatten(None, TokenType())
    []
    """
    if isinstance(type, TokenType):
        if value is not None:
            raise ArgumentError(f"a token is None, not {value!r}")
        return []
    if not isinstance(type, TupleType):
        return [value]
    count = len(type.elements)
    if not isinstance(value, tuple) or len(value) != count:
        found = f"{len(value)} of them" if isinstance(value, tuple) else f"a {value.__class__.__qualname__}"
        raise ArgumentError(f"an argument must be a tuple of {count} values, not {found}", why=f"it is a {type}")
    return [leaf for item, element in zip(value, type.elements, strict=True) for leaf in flatten(item, element)]


def rebuild(leaves: Iterator[Any], type: Type) -> Any:
    """Return the caller's value of a type, made of the next ``leaves``."""
    if isinstance(type, TupleType):
        return tuple([rebuild(leaves, element) for element in type.elements])
    return None if isinstance(type, TokenType) else next(leaves)


def has_groups(function: Function) -> bool:
    """Return whether a function, or one that it reaches, has a value that is a tuple, a token or a future."""
    values = Module([function]).values()
    return any(isinstance(v.type, TupleType | TokenType) or _is_future(v.type) for v in values)


def _is_future(type: Type) -> bool:
    return isinstance(type, ForeignType) and type.text.startswith(FUTURE)


class _Flattener(FunctionCopies):
    """Copies functions with the elements in place of tuples."""

    def _copy(self, source: Function) -> Function:
        builder = FunctionBuilder(source.name, _flat(source.argument_types))
        values: dict[Value, list[Value]] = {}
        _bind(values, source.body.arguments, builder.arguments)
        self._fill(builder, source.body, values)
        result = builder.finish(_leaves(values, source.body.returns), visibility=source.visibility)
        result.location, result.attributes = source.location, source.attributes
        return result

    def _fill(self, builder: FunctionBuilder, source: Region, values: dict[Value, list[Value]]) -> None:
        for op in source.ops:
            if op.definition is tuples.GET_TUPLE_ELEMENT:
                values[op.result] = _element(op, values[op.operands[0]])
            elif isinstance(op.definition, tuples.Grouping):
                values[op.result] = _leaves(values, op.operands)
            elif is_asynchronous(op, START):
                (region,) = op.regions
                _bind(values, region.arguments, _leaves(values, op.operands))
                self._fill(builder, region, values)
                values[op.result] = _leaves(values, region.returns)
            elif is_asynchronous(op, DONE):
                _bind(values, op.results, _leaves(values, op.operands))
            else:
                _bind(values, op.results, builder.append(self._copy_op(builder, op, values)))

    def _copy_op(self, builder: FunctionBuilder, op: Op, values: dict[Value, list[Value]]) -> Op:
        regions = [self._copy_region(builder, region, values) for region in op.regions]
        attributes = {k: self.function(v) if isinstance(v, Function) else v for k, v in op.attributes.items()}
        types = _flat([v.type for v in op.results])
        if isinstance(op.definition, communication.Communication) and len(types) < len(op.results):
            attributes[communication.WITHOUT_TOKEN] = True
        return Op(op.definition, _leaves(values, op.operands), attributes, regions, types, op.location)

    def _copy_region(self, builder: FunctionBuilder, source: Region, values: dict[Value, list[Value]]) -> Region:
        def write(*arguments: Value) -> list[Value]:
            _bind(values, source.arguments, arguments)
            self._fill(builder, source, values)
            return _leaves(values, source.returns)

        return builder.region(_flat([v.type for v in source.arguments]), write)


def _flat(types: Sequence[Type]) -> list[Type]:
    return [leaf for type in types for leaf in leaf_types(type)]


def _leaves(values: dict[Value, list[Value]], given: Sequence[Value]) -> list[Value]:
    return [leaf for value in given for leaf in values[value]]


def _bind(values: dict[Value, list[Value]], sources: Sequence[Value], leaves: Sequence[Value]) -> None:
    rest = iter(leaves)
    for value in sources:
        values[value] = [next(rest) for _ in leaf_types(value.type)]


def _element(op: Op, leaves: list[Value]) -> list[Value]:
    type, index = op.operands[0].type, op.attributes["index"]
    assert isinstance(type, TupleType)
    counts = [len(leaf_types(element)) for element in type.elements]
    first = sum(counts[:index])
    return leaves[first : first + counts[index]]


def flatten_values(function: Function) -> Function:
    """Return a function that means the same without tuples and tokens; itself where it has none.

    Parameters
    ----------
    function : Function
        Left unchanged.

    Examples
    --------
    >>> from numhlo.lowering.ir import TensorType
    >>> import numpy as np
    >>> flatten_values(Function("f", Region([TupleType((TensorType((), np.dtype("int32")), TokenType()))])))
    <function @f(tensor<i32>) -> ()>
    """
    return _Flattener().function(function) if has_groups(function) else function
