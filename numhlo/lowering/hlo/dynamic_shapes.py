"""Instructions of arrays whose extents are known only when the program runs, up to a bound."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.hlo.record import Instruction
from numhlo.lowering.hlo.tables import WRITE, Bundle, reads
from numhlo.lowering.hlo.translator import Translator
from numhlo.lowering.hlo.writer import Writer
from numhlo.lowering.ir import Op
from numhlo.lowering.ops import dynamic_shapes, layout


def _axis(t: Translator, i: Instruction) -> int:
    dimensions: tuple[int, ...] = i.attributes["dimensions"]
    if len(dimensions) != 1:
        raise t.complaint(i, f"{i.opcode} has one dimension")
    return dimensions[0]


@reads("get-dimension-size", needs="dimensions")
def read_get_dimension_size(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Return an extent."""
    return t.one(i, dynamic_shapes.GET_DIMENSION_SIZE, *t.arrays(i, operands, 1), dimension=_axis(t, i))


@reads("set-dimension-size", needs="dimensions")
def read_set_dimension_size(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Keep the first elements of a dimension."""
    x, size = t.arrays(i, operands, 2)
    axis = _axis(t, i)
    return t.one(i, dynamic_shapes.SET_DIMENSION_SIZE, x, size, result=t.array_type(i), dimension=axis)


@reads("dynamic-reshape")
def read_dynamic_reshape(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Give elements a shape that the operands say."""
    arrays = t.arrays(i, operands)
    if not arrays or any(size.tensor.shape != () for size in arrays[1:]):
        raise t.complaint(i, "dynamic-reshape takes an array, and a scalar for each extent")
    type = t.array_type(i)
    if len(arrays) != type.ndim + 1:
        raise t.complaint(i, f"dynamic-reshape takes {type.ndim} extents, not {len(arrays) - 1}")
    if not type.ndim:
        return t.one(i, layout.RESHAPE, arrays[0], result=type)
    sizes = [t.one(i, layout.RESHAPE, size, result=size.tensor.with_shape((1,))) for size in arrays[1:]]
    shape = t.one(i, layout.CONCATENATE, *sizes, dimension=0)
    return t.one(i, dynamic_shapes.DYNAMIC_RESHAPE, arrays[0], shape, result=type)


# -- writing


@WRITE.register(dynamic_shapes.GET_DIMENSION_SIZE)
def write_get_dimension_size(w: Writer, op: Op) -> None:
    """Write the dimension."""
    w.write(op, "get-dimension-size", op.operands, [f"dimensions={{{op.attributes['dimension']}}}"])


@WRITE.register(dynamic_shapes.SET_DIMENSION_SIZE)
def write_set_dimension_size(w: Writer, op: Op) -> None:
    """Write the dimension."""
    w.write(op, "set-dimension-size", op.operands, [f"dimensions={{{op.attributes['dimension']}}}"])
