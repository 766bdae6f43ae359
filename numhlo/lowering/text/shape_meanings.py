"""What ops of the dialects arith, tensor and shape mean, in ops of StableHLO: programs whose shapes are computed.

TensorFlow and torch-mlir write them around StableHLO's dynamic ops. An ``index`` becomes a scalar of int64, a
``tensor<2xindex>`` or ``!shape.shape`` a vector of int64, a scalar ``i32`` a tensor of no dimension; a witness becomes
nothing, since ops on what doesn't fit refuse by themselves. How these ops are spelled is `shape_forms`'.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from numhlo.lowering.ir import DYNAMIC, UNKNOWN, IndexTensorType, Op, Region, TensorType, Type, Value
from numhlo.lowering.ir.counted import counted
from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.lowering.ops import comparison, conversion, creation, dynamic_shapes, elementwise, indexing, layout
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.extents import same_type
from numhlo.lowering.ops.primitive import Primitive, make_op
from numhlo.lowering.text.foreign import foreign_type
from numhlo.lowering.text.parse_types import tensor_type_from_text

if TYPE_CHECKING:
    from numhlo.lowering.text.parser import Parser

INT64 = ELEMENT_TYPES["i64"]
INDEX = TensorType((), INT64)
UNRANKED = "tensor<*x"
WITNESS = foreign_type("!shape.witness")
_HELD = {"index": INDEX, "!shape.size": INDEX, "!shape.shape": TensorType((DYNAMIC,), INT64)}

Meaning = Callable[["Writer", Sequence[Value], Mapping[str, Any], Sequence[Type]], Sequence[Value]]
"""``meaning(writer, operands, attributes, declared result types) -> values``."""


MOST_EXTENTS = 1024
"""Extents of a shape that is computed with: each takes an op or more."""


def held_as(type: Type) -> Type:
    """Return the type of the value that stands for one of a type of these dialects; other types as they are.

    Examples
    --------
    >>> print(held_as(foreign_type("index")), held_as(foreign_type("f32")), held_as(IndexTensorType((2,), INT64)))
    tensor<i64> tensor<f32> tensor<2xi64>
    """
    if isinstance(type, IndexTensorType):
        return TensorType(type.shape, INT64)
    name = str(type)
    if name in ELEMENT_TYPES:
        return TensorType((), ELEMENT_TYPES[name])
    return _HELD.get(name, type)


def held_type(text: str) -> TensorType | None:
    """Return the type of the value that stands for one of the type that is spelled so; None where there is none."""
    spelled = tensor_type_from_text(text) if text.startswith("tensor<") else foreign_type(text)
    type = None if spelled is None else held_as(spelled)
    return type if isinstance(type, TensorType) else None


def stands_for(value: Value, type: Type) -> bool:
    """Return whether a value can be what text calls a value of a type."""
    return same_type(value.type, held_as(type)) or str(type).startswith(UNRANKED)


class Writer(FunctionBuilder):
    """Appends ops where the parser is, in the place of the one that it reads."""

    def __init__(self, parser: Parser, index: int) -> None:
        self.parser, self.index = parser, index

    def ops(
        self,
        definition: Primitive,
        *operands: Value,
        regions: Sequence[Region] = (),
        results: Sequence[Type] | None = None,
        **attributes: Any,
    ) -> list[Value]:
        """Append an op and return its results."""
        place = self.parser.location(self.index)
        return self.append(make_op(definition, operands, attributes, regions, results, place))

    def append(self, op: Op) -> list[Value]:
        """Append an op, which has the place that the parser is about to read."""
        op.location = UNKNOWN
        self.parser.ops.append(op)
        return op.results

    def require(self, holds: bool, what: str) -> None:
        """Complain at the op's place unless something holds."""
        if not holds:
            raise self.parser.complaint(what, self.index)

    def vector(self, *extents: int) -> Value:
        """Return a shape that is known."""
        return self.constant(np.array(extents, INT64))

    def reshape(self, x: Value, *shape: int) -> Value:
        """Return ``x`` in another shape, itself where it has this one."""
        type = x.tensor.with_shape(shape)
        return x if x.tensor.shape == shape else self.op(layout.RESHAPE, x, result=type)

    def join(self, parts: Sequence[Value]) -> Value:
        """Return vectors end to end."""
        return parts[0] if len(parts) == 1 else self.op(layout.CONCATENATE, *parts, dimension=0)

    def part(self, x: Value, start: int, limit: int) -> Value:
        """Return a part of a vector."""
        return self.op(layout.SLICE, x, start_indices=(start,), limit_indices=(limit,), strides=(1,))

    def convert(self, x: Value, dtype: np.dtype) -> Value:
        """Return ``x`` as another type."""
        type = TensorType(x.tensor.shape, dtype)
        return x if x.type == type else self.op(conversion.CONVERT, x, result=type)

    def extent(self, x: Value, axis: int) -> Value:
        """Return an extent of ``x`` as a scalar."""
        n = x.tensor.shape[axis]
        if n != DYNAMIC:
            return self.constant(np.int64(n))
        return self.convert(self.op(dynamic_shapes.GET_DIMENSION_SIZE, x, dimension=axis), INT64)

    def rank(self, shape: Value) -> int:
        """Return how many extents a shape has."""
        (count,) = shape.tensor.shape
        if count == DYNAMIC:
            raise self.parser.complaint("a shape of unknown rank can't be computed with", self.index)
        if count > MOST_EXTENTS:
            raise self.parser.complaint(f"a shape of {count} extents: there may be {MOST_EXTENTS}", self.index)
        return count

    def number(self, x: Value, wanted: int) -> int:
        """Return an index that must be known, counted from the front of ``wanted`` things."""
        while isinstance(x.owner, Op) and x.owner.definition in {conversion.CONVERT, layout.RESHAPE}:
            (x,) = x.owner.operands
        if not isinstance(x.owner, Op) or x.owner.definition is not creation.CONSTANT:
            raise self.parser.complaint("which dimension is meant must be a constant", self.index)
        found = int(np.asarray(x.owner.attributes["value"]).reshape(()))
        if not -wanted <= found <= wanted:
            raise self.parser.complaint(f"there are {wanted} dimensions, not {found}", self.index)
        return found + wanted if found < 0 else found

    def witness(self) -> Value:
        """Return what says that something holds: nothing but these dialects takes it."""
        return Value(WITNESS, Region())


def arithmetic(definition: Primitive, *, unsigned: bool = False) -> Meaning:
    """Return the meaning of an op on numbers of one type."""

    def meaning(w: Writer, operands: Sequence[Value], *_: Any) -> Sequence[Value]:
        wanted = len(definition.operands)
        w.require(len(operands) == wanted, f"there must be {wanted} operands, not {len(operands)}")
        dtype = operands[0].tensor.dtype
        wide = np.dtype(f"u{dtype.name}") if unsigned and dtype.kind == "i" else dtype
        return [w.convert(w.op(definition, *[w.convert(x, wide) for x in operands]), dtype)]

    return meaning


def constant(w: Writer, operands: Sequence[Value], attributes: Mapping[str, Any], results: Any) -> Sequence[Value]:
    """Take StableHLO's own."""
    return [w.constant(attributes["value"])]


def compare(w: Writer, operands: Sequence[Value], attributes: Mapping[str, Any], results: Any) -> Sequence[Value]:
    """Compare integers, as signed ones or not."""
    w.require(len(operands) == 2, f"there must be 2 operands, not {len(operands)}")
    predicate, dtype = attributes["predicate"], operands[0].tensor.dtype
    wide = np.dtype(f"u{dtype.name}") if predicate[0] == "u" and dtype.kind == "i" else dtype
    direction = predicate.upper() if len(predicate) == 2 else predicate[1:].upper()
    x, y = (w.convert(v, wide) for v in operands)
    return [w.op(comparison.COMPARE, x, y, comparison_direction=direction)]


def select(w: Writer, operands: Sequence[Value], *_: Any) -> Sequence[Value]:
    """Choose."""
    w.require(len(operands) == 3, f"there must be 3 operands, not {len(operands)}")
    return [w.op(comparison.SELECT, *operands)]


def cast(w: Writer, operands: Sequence[Value], attributes: Any, results: Sequence[Type]) -> Sequence[Value]:
    """Convert numbers; what is known of a shape stays known."""
    (x,), (type,) = operands, results
    if str(type).startswith(UNRANKED):
        return [x]
    if not isinstance(type, TensorType):
        raise w.parser.complaint(f"nothing can be cast to {type} here", w.index)
    if type.dtype == x.tensor.dtype and (x in w.parser.standing or x.type == type):
        return [x]
    return [w.op(conversion.CONVERT, x, result=type)]


def extent(w: Writer, operands: Sequence[Value], *_: Any) -> Sequence[Value]:
    """Return the extent of a tensor along a dimension."""
    x, axis = operands
    return [w.extent(x, w.number(axis, x.tensor.ndim))]


def rank(w: Writer, operands: Sequence[Value], *_: Any) -> Sequence[Value]:
    """Return how many dimensions a tensor has."""
    return [w.constant(np.int64(operands[0].tensor.ndim))]


def count_extents(w: Writer, operands: Sequence[Value], *_: Any) -> Sequence[Value]:
    """Return how many extents a shape has."""
    return [w.constant(np.int64(w.rank(operands[0])))]


def element(w: Writer, operands: Sequence[Value], *_: Any) -> Sequence[Value]:
    """Return one element, as a scalar."""
    x, *places = operands
    if not places:
        return [x]
    sizes = (1,) * len(places)
    return [w.reshape(w.op(indexing.DYNAMIC_SLICE, x, *places, slice_sizes=sizes))]


def from_elements(w: Writer, operands: Sequence[Value], attributes: Any, results: Sequence[Type]) -> Sequence[Value]:
    """Return scalars as a tensor."""
    type = results[0] if results else TensorType((len(operands),), INT64)
    if not isinstance(type, TensorType) or (type.is_static and type.size != len(operands)):
        raise w.parser.complaint(f"{type} is not made of {counted(len(operands), 'element')}", w.index)
    if not operands:
        return [w.constant(np.zeros(type.shape, type.dtype))]
    return [w.reshape(w.join([w.reshape(x, 1) for x in operands]), *type.shape)]


def shape_of(w: Writer, operands: Sequence[Value], *_: Any) -> Sequence[Value]:
    """Return the extents of a tensor."""
    (x,) = operands
    if x.tensor.is_static:
        return [w.vector(*x.tensor.shape)]
    return [w.join([w.reshape(w.extent(x, axis), 1) for axis in range(x.tensor.ndim)])]


def known_shape(w: Writer, operands: Any, attributes: Mapping[str, Any], results: Any) -> Sequence[Value]:
    """Return a shape that is written down."""
    extents = attributes["shape"]
    if not isinstance(extents, tuple) or not all(isinstance(n, int | np.integer) for n in extents):
        raise w.parser.complaint("a shape is a list of integers", w.index)
    return [w.vector(*[int(n) for n in extents])]


def broadcast(w: Writer, operands: Sequence[Value], *_: Any) -> Sequence[Value]:
    """Return the shape that tensors of these shapes have together: of two extents the one that is not 1."""
    count = max(w.rank(x) for x in operands)
    wide = [w.join([w.vector(*[1] * (count - w.rank(x))), x]) if w.rank(x) < count else x for x in operands]
    ones = w.vector(*[1] * count)

    def pair(x: Value, y: Value) -> Value:
        return w.op(comparison.SELECT, w.op(comparison.COMPARE, x, ones, comparison_direction="EQ"), y, x)

    return [reduce(pair, wide)]


def split(w: Writer, operands: Sequence[Value], *_: Any) -> Sequence[Value]:
    """Return the extents before a place, and the others."""
    shape, place = operands
    count = w.rank(shape)
    k = w.number(place, count)
    return [w.part(shape, 0, k), w.part(shape, k, count)]


def concatenate(w: Writer, operands: Sequence[Value], *_: Any) -> Sequence[Value]:
    """Return the extents of one shape and then those of another."""
    return [w.join(operands)]


def one_extent(w: Writer, operands: Sequence[Value], *_: Any) -> Sequence[Value]:
    """Return an extent of a shape."""
    shape, place = operands
    k = w.number(place, w.rank(shape))
    return [w.reshape(w.part(shape, k, k + 1))]


def size(w: Writer, operands: Sequence[Value], *_: Any) -> Sequence[Value]:
    """Return the product of a shape's extents."""
    (shape,) = operands
    parts = [w.reshape(w.part(shape, k, k + 1)) for k in range(w.rank(shape))]
    return [reduce(lambda x, y: w.op(elementwise.MULTIPLY, x, y), parts, w.constant(np.int64(1)))]


def same(w: Writer, operands: Sequence[Value], *_: Any) -> Sequence[Value]:
    """Return the operand, which is the same thing by another name."""
    return [operands[0]]


def fits(w: Writer, *_: Any) -> Sequence[Value]:
    """Return a witness: ops on what does not fit refuse by themselves."""
    return [w.witness()]
