"""Quantized types taken out of a program: values become the integers that hold them.

Dequantize, compute, quantize: so the specification defines every op on quantized tensors, and so each is written out.
Ops that move elements, and those whose regions say what is computed, work on the integers themselves. For verification
there is a second reading, in which values are the floats that the integers stand for.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir import (
    Function,
    Location,
    Module,
    Op,
    Region,
    TensorType,
    TupleType,
    Type,
    Value,
    tensor_type_of,
)
from numhlo.lowering.ir.errors import VerificationError
from numhlo.lowering.ir.quantized import QuantizedTensorType
from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.lowering.ops import (
    communication,
    comparison,
    control_flow,
    conversion,
    creation,
    elementwise,
    indexing,
    layout,
    tuples,
)
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.ops.quantized_rules import check_quantized
from numhlo.lowering.passes.function_copies import FunctionCopies
from numhlo.lowering.passes.legalizer import Builder, full_name
from numhlo.lowering.text.unregistered import unregistered

CONVERSIONS = frozenset({"stablehlo.uniform_quantize", "stablehlo.uniform_dequantize"})
"""Ops that are nothing but a change of type."""

MOVING = frozenset(
    {
        *(layout.BROADCAST_IN_DIM, layout.RESHAPE, layout.TRANSPOSE, layout.SLICE, layout.PAD, layout.CONCATENATE),
        *(layout.REVERSE, comparison.SELECT, indexing.GATHER, indexing.DYNAMIC_SLICE, indexing.DYNAMIC_UPDATE_SLICE),
    }
)
"""Ops whose results are operands' elements: they work on integers where all have one scale and zero point."""

KEEPING_SLICES = frozenset({layout.BROADCAST_IN_DIM, layout.RESHAPE, layout.TRANSPOSE, comparison.SELECT})
"""Those that leave elements in the slice whose scale they have, where a dimension has several; that is checked."""

PASSING = frozenset(
    {
        *(control_flow.CALL, control_flow.COMPOSITE, control_flow.OPTIMIZATION_BARRIER, conversion.BITCAST_CONVERT),
        *(communication.INFEED, communication.OUTFEED, communication.SEND, communication.RECV),
        *(communication.ALL_GATHER, communication.ALL_TO_ALL),
        *(communication.COLLECTIVE_BROADCAST, communication.COLLECTIVE_PERMUTE),
    }
)
"""Ops that pass values on, or their bits, as those with regions do; processes and hosts exchange the integers."""


def has_quantized(*functions: Function) -> bool:
    """Return whether one of the functions, or one that they reach, has a value of a quantized type."""
    return any(_is_quantized(value.type) for value in Module(functions).values())


def _is_quantized(type: Type) -> bool:
    if isinstance(type, TupleType):
        return any(map(_is_quantized, type.elements))
    return isinstance(type, QuantizedTensorType)


def _check(type: Type, where: Location) -> None:
    """Raise unless a type obeys its constraints."""
    if isinstance(type, TupleType):
        for element in type.elements:
            _check(element, where)
    if isinstance(type, QuantizedTensorType) and (rule := type.broken_constraint()):
        raise VerificationError(f"{type}: {rule}", where=where, why="StableHLO specification, Quantized types")


# -- arithmetic


def _combine(
    b: Builder, definition: Primitive, value: Value, type: QuantizedTensorType, parameters: Sequence[float]
) -> Value:
    """Apply an op to values and to scales or zero points, of which there is one, or one along an axis."""
    made, axes = np.array(parameters).astype(value.tensor.dtype), () if type.axis is None else (type.axis,)
    parameter = b.constant(made if axes else made[0])
    if not type.is_static:
        broadcasting = unregistered(f"chlo.broadcast_{definition.name}")
        return b.ops(broadcasting, value, parameter, results=[value.tensor], broadcast_dimensions=axes)[0]
    if type.shape:
        parameter = b.op(layout.BROADCAST_IN_DIM, parameter, result=value.tensor, broadcast_dimensions=axes)
    return b.op(definition, value, parameter)


def _convert(b: Builder, value: Value, dtype: np.dtype) -> Value:
    if value.tensor.dtype == dtype:
        return value
    return b.op(conversion.CONVERT, value, result=value.tensor.with_dtype(dtype))


def quantize(b: Builder, value: Value, type: QuantizedTensorType) -> Value:
    """Return the integers that floats become: scaled, moved, cut to storage, rounded to even."""
    value = _convert(b, value, type.expressed)
    scaled = _combine(b, elementwise.DIVIDE, value, type, type.scales)
    moved = _combine(b, elementwise.ADD, scaled, type, type.zero_points)
    low, high = (b.constant(np.array(n).astype(type.expressed)) for n in (type.least, type.greatest))
    rounded = b.op(elementwise.ROUND_NEAREST_EVEN, b.op(comparison.CLAMP, low, moved, high))
    return _convert(b, rounded, type.dtype)


def dequantize(b: Builder, value: Value, type: QuantizedTensorType) -> Value:
    """Return the floats that integers stand for; the difference from the zero point is exact."""
    wide = _convert(b, value, ELEMENT_TYPES["i64"])
    difference = _convert(b, _combine(b, elementwise.SUBTRACT, wide, type, type.zero_points), type.expressed)
    return _combine(b, elementwise.MULTIPLY, difference, type, type.scales)


# -- functions


class _Copier(FunctionCopies):
    """Copies functions with other types in place of the quantized ones."""

    @abstractmethod
    def type(self, type: Type) -> Type:
        """Return what takes the place of a type."""

    @abstractmethod
    def visit(self, b: Builder, op: Op, values: dict[Value, Value]) -> Sequence[Value]:
        """Append what takes the place of an op and return the results."""

    def _copy(self, source: Function) -> Function:
        for value in source.body.arguments:
            _check(value.type, source.location)
        builder = Builder(source.name, [self.type(t) for t in source.argument_types])
        values = dict(zip(source.body.arguments, builder.arguments, strict=True))
        self._fill(builder, source.body, values)
        returns = [values[v] for v in source.body.returns]
        return builder.finish(returns, visibility=source.visibility).described_as(source)

    def _fill(self, builder: Builder, source: Region, values: dict[Value, Value]) -> None:
        for op in source.ops:
            builder.location = op.location
            for value in op.results:
                _check(value.type, op.location)
            values.update(zip(op.results, self.visit(builder, op, values), strict=True))

    def append(
        self, b: Builder, op: Op, operands: Sequence[Value], types: Sequence[Type], values: dict[Value, Value]
    ) -> list[Value]:
        """Append a copy of an op with these operands and result types."""
        regions = [self._copy_region(b, region, values) for region in op.regions]
        attributes = {k: self.function(v) if isinstance(v, Function) else v for k, v in op.attributes.items()}
        return b.append(Op(op.definition, operands, attributes, regions, types, op.location))

    def _copy_region(self, b: Builder, source: Region, values: dict[Value, Value]) -> Region:
        for value in source.arguments:
            _check(value.type, b.location)

        def write(*arguments: Value) -> list[Value]:
            values.update(zip(source.arguments, arguments, strict=True))
            self._fill(b, source, values)
            return [values[v] for v in source.returns]

        return b.region([self.type(v.type) for v in source.arguments], write)


class _Expresser(_Copier):
    """Puts floats in place of quantized values, and rounds nothing: for what holds of types alone."""

    def type(self, type: Type) -> Type:
        if isinstance(type, TupleType):
            return TupleType(tuple([self.type(element) for element in type.elements]))
        return type.expressed_type if isinstance(type, QuantizedTensorType) else type

    def visit(self, b: Builder, op: Op, values: dict[Value, Value]) -> Sequence[Value]:
        check_quantized(op)
        operands, types = [values[v] for v in op.operands], [self.type(v.type) for v in op.results]
        if op.definition is creation.CONSTANT and [v.type for v in op.results] != types:
            return self._constant(b, op, types)
        if full_name(op) in CONVERSIONS:
            return b.ops(conversion.CONVERT, operands[0], results=types)
        touched = any(_is_quantized(v.type) for v in [*op.operands, *op.results])
        if op.definition is conversion.BITCAST_CONVERT and touched:
            before, after = (_stored(v.type) for v in (*op.operands, *op.results))
            bits = self.append(b, op, [_convert_like(b, operands[0], before)], [after], values)
            return [_convert_like(b, bits[0], types[0])]
        return self.append(b, op, operands, types, values)

    def _constant(self, b: Builder, op: Op, types: Sequence[Type]) -> Sequence[Value]:
        """Append what integers of storage stand for, in floats; an op that is not like that is left to its rule."""
        stored = op.attributes["value"]
        if len(types) != 1 or not isinstance(types[0], TensorType) or not isinstance(stored, np.ndarray):
            return self.append(b, op, [], types, {})
        type = op.results[0].tensor
        if (stored.shape, stored.dtype) != (type.shape, type.dtype):
            text = f"constant(): (C1) the value is a {tensor_type_of(stored)}, which does not hold a {type}"
            raise VerificationError(text, where=op.location, why="StableHLO specification, constant")
        return [b.constant(stored.astype(types[0].dtype))]


class _Integers(_Copier):
    """Puts integers in place of quantized values, and writes out what is computed."""

    def type(self, type: Type) -> Type:
        if isinstance(type, TupleType):
            return TupleType(tuple([self.type(element) for element in type.elements]))
        return _stored(type)

    def visit(self, b: Builder, op: Op, values: dict[Value, Value]) -> Sequence[Value]:
        operands, types = [values[v] for v in op.operands], [v.type for v in op.results]
        if op.definition is creation.CONSTANT or _keeps_integers(op):
            return self.append(b, op, operands, [self.type(t) for t in types], values)
        pairs = zip(operands, op.operands, strict=True)
        floats = [
            dequantize(b, value, source.type) if isinstance(source.type, QuantizedTensorType) else value
            for value, source in pairs
        ]
        if full_name(op) in CONVERSIONS:
            found: Sequence[Value] = floats
        else:
            made = [t.expressed_type if isinstance(t, QuantizedTensorType) else t for t in types]
            found = self.append(b, op, floats, made, values)
        return [
            quantize(b, value, type) if isinstance(type, QuantizedTensorType) else _convert_like(b, value, type)
            for value, type in zip(found, types, strict=True)
        ]


def _stored(type: Type) -> Type:
    """Return the type of the integers that hold quantized values."""
    return TensorType(type.shape, type.dtype) if isinstance(type, QuantizedTensorType) else type


def _convert_like(b: Builder, value: Value, type: Type) -> Value:
    return _convert(b, value, type.dtype) if isinstance(type, TensorType) else value


def _keeps_integers(op: Op) -> bool:
    """Return whether an op has nothing to compute with quantized values, or leaves that to its regions."""
    quantized = [v.type for v in [*op.operands, *op.results] if isinstance(v.type, QuantizedTensorType)]
    if op.regions or op.definition in PASSING or isinstance(op.definition, tuples.Grouping) or not quantized:
        return True
    if any(t.axis is not None for t in quantized) and op.definition not in KEEPING_SLICES:
        return False
    meanings = {(t.dtype, t.expressed, t.low, t.high, t.scales, t.zero_points) for t in quantized}
    return op.definition in MOVING and len(meanings) == 1


def legalize_quantized(function: Function) -> Function:
    """Return a function that means the same without quantized types; itself where it has none.

    Parameters
    ----------
    function : Function
        Left unchanged. Where it takes or gives quantized values, the result takes and gives integers of their storage
        types.

    Raises
    ------
    VerificationError
        If a quantized type breaks a constraint of the specification.
    """
    return _Integers().function(function) if has_quantized(function) else function


def express_module(module: Module) -> Module:
    """Return a module with floats in place of quantized values, for verification; itself where there are none."""
    if not has_quantized(*module.functions):
        return module
    expresser = _Expresser()
    result = Module([expresser.function(f) for f in module.functions], module.name)
    result.attributes = module.attributes
    return result
