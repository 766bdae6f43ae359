"""Instructions that move elements, to static positions; and those that only say where elements lie in memory.

Values do not depend on layouts, but for ``bitcast``, which reads one array's memory as another array: in the order of
memory the elements are the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.hlo.record import Instruction
from numhlo.lowering.hlo.tables import WRITE, Bundle, reads
from numhlo.lowering.hlo.translator import Translator, attribute
from numhlo.lowering.hlo.writer import Writer
from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ops import conversion, deprecated, layout
from numhlo.lowering.ops.bit_patterns import BIT_WIDTHS


@reads("broadcast", may="dimensions")
def read_broadcast(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Repeat elements along new dimensions."""
    (x,) = t.arrays(i, operands, 1)
    type, places = t.array_type(i), attribute(i, "dimensions", ())
    fits = len(places) == x.tensor.ndim and all(
        0 <= place < type.ndim and extent == type.shape[place]
        for extent, place in zip(x.tensor.shape, places, strict=True)
    )
    if not fits:
        raise t.complaint(i, "dimensions must name a dimension of the result, as large, for each of the operand's")
    return t.one(i, layout.BROADCAST_IN_DIM, x, result=type, broadcast_dimensions=places)


@reads("reshape", may="inferred_dimension")
def read_reshape(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Give the elements another shape."""
    return t.one(i, layout.RESHAPE, *t.arrays(i, operands, 1), result=t.array_type(i))


@reads("transpose", needs="dimensions")
def read_transpose(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Reorder dimensions."""
    return t.one(i, layout.TRANSPOSE, *t.arrays(i, operands, 1), permutation=i.attributes["dimensions"])


@reads("reverse", needs="dimensions")
def read_reverse(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Reverse dimensions."""
    return t.one(i, layout.REVERSE, *t.arrays(i, operands, 1), dimensions=i.attributes["dimensions"])


@reads("slice", needs="slice")
def read_slice(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Take a part."""
    parts = i.attributes["slice"]
    starts, limits, strides = (tuple([part[k] for part in parts]) for k in range(3))
    (x,) = t.arrays(i, operands, 1)
    return t.one(i, layout.SLICE, x, start_indices=starts, limit_indices=limits, strides=strides)


@reads("pad", may="padding")
def read_pad(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Put elements around and between; the padding of a scalar is nothing."""
    x, filler = t.arrays(i, operands, 2)
    parts = attribute(i, "padding", ())
    low, high, interior = (tuple([part[k] for part in parts]) for k in range(3))
    names: dict[str, Any] = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": interior}
    return t.one(i, layout.PAD, x, filler, **names)


@reads("concatenate", needs="dimensions")
def read_concatenate(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Put arrays one behind the other."""
    dimensions = i.attributes["dimensions"]
    if len(dimensions) != 1:
        raise t.complaint(i, "concatenate has one dimension")
    return t.one(i, layout.CONCATENATE, *t.arrays(i, operands), dimension=dimensions[0])


@reads("copy", may="cross_program_prefetch_index")
def read_copy(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Return the operand: a copy has another layout, not other values."""
    return _only(t, i, operands)


@reads("domain", may="domain")
def read_domain(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Return the operand: a domain says where shardings end."""
    return _only(t, i, operands)


def _only(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    if len(operands) != 1:
        raise t.complaint(i, f"{i.opcode} takes one operand, not {len(operands)}")
    return operands[0]


@reads("bitcast")
def read_bitcast(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Read memory as another array: to the order of memory, to the other type and shape, and back from that order."""
    (x,) = t.arrays(i, operands, 1)
    target, before, after = t.array_type(i), i.operands[0].shape, t.shape(i)
    order = None if before is None else before.layout
    source = x.tensor
    if not (source.is_static and target.is_static) or _bits(source) != _bits(target):
        raise t.complaint(i, f"a bitcast of {source} to {target}: both must take the same memory")
    if order is not None:
        x = t.one(i, layout.TRANSPOSE, x, permutation=tuple(reversed(order)))
    lying = target if after.layout is None else target.with_shape(_permuted(target.shape, after.layout))
    x = _reread(t, i, x, lying)
    if after.layout is None:
        return x
    slowest_first = tuple(reversed(after.layout))
    return t.one(i, layout.TRANSPOSE, x, permutation=tuple(int(k) for k in np.argsort(slowest_first)))


def _permuted(shape: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    return tuple([shape[k] for k in reversed(order)])


def _bits(type: TensorType) -> int:
    width = BIT_WIDTHS[type.dtype]
    return type.size * (8 if width == 1 else width)


def _reread(t: Translator, i: Instruction, x: Value, target: TensorType) -> Value:
    """Return row-major elements as those of another type and shape."""
    source = x.tensor
    if source.dtype == target.dtype:
        return x if source.shape == target.shape else t.one(i, layout.RESHAPE, x, result=target)
    old, new = BIT_WIDTHS[source.dtype], BIT_WIDTHS[target.dtype]
    if 1 in (old, new):
        raise t.complaint(i, f"a bitcast of {source} to {target}: booleans have no bits to be read as numbers")
    if old < new:
        x = t.one(i, layout.RESHAPE, x, result=source.with_shape((target.size, new // old)))
    flat = target.with_shape((target.size,) if old < new else (source.size, *([old // new] if old > new else [])))
    if old >= new and source.ndim != 1:
        x = t.one(i, layout.RESHAPE, x, result=source.with_shape((math.prod(source.shape),)))
    x = t.one(i, conversion.BITCAST_CONVERT, x, result=flat)
    return x if flat.shape == target.shape else t.one(i, layout.RESHAPE, x, result=target)


# -- writing


def braced(numbers: Sequence[int]) -> str:
    """Return ``{0,1}``.

    Examples
    --------
    >>> braced((0, 1)), braced(())
    ('{0,1}', '{}')
    """
    return f"{{{','.join(map(str, numbers))}}}"


@WRITE.register(layout.BROADCAST_IN_DIM)
def write_broadcast(w: Writer, op: Op) -> None:
    """Write new dimensions; those of extent 1 that are stretched are taken away first."""
    (operand,) = op.operands
    source, target, places = operand.tensor, op.result.tensor, op.attributes["broadcast_dimensions"]
    if source == target and tuple(places) == tuple(range(source.ndim)):
        w.alias(op.result, operand)
        return
    kept = [k for k, place in enumerate(places) if source.shape[k] == target.shape[place]]
    name = w.name(operand)
    if len(kept) < source.ndim:
        name = w.line("reshape", w.spell(source.with_shape(tuple([source.shape[k] for k in kept]))), [name])
    w.write(op, "broadcast", [name], [f"dimensions={braced([places[k] for k in kept])}"])


@WRITE.register(deprecated.BROADCAST)
def write_old_broadcast(w: Writer, op: Op) -> None:
    """Write new dimensions in front."""
    (operand,) = op.operands
    rank = op.result.tensor.ndim
    w.write(op, "broadcast", [operand], [f"dimensions={braced(range(rank - operand.tensor.ndim, rank))}"])


@WRITE.register(layout.RESHAPE)
def write_reshape(w: Writer, op: Op) -> None:
    """Write the shape, which is the result's."""
    w.write(op, "reshape", op.operands)


@WRITE.register(layout.TRANSPOSE)
def write_transpose(w: Writer, op: Op) -> None:
    """Write the permutation."""
    w.write(op, "transpose", op.operands, [f"dimensions={braced(op.attributes['permutation'])}"])


@WRITE.register(layout.REVERSE)
def write_reverse(w: Writer, op: Op) -> None:
    """Write the dimensions."""
    w.write(op, "reverse", op.operands, [f"dimensions={braced(op.attributes['dimensions'])}"])


@WRITE.register(layout.SLICE)
def write_slice(w: Writer, op: Op) -> None:
    """Write starts, limits and strides."""
    names = ("start_indices", "limit_indices", "strides")
    parts = zip(*[op.attributes[name] for name in names], strict=True)
    w.write(op, "slice", op.operands, [f"slice={{{', '.join([f'[{a}:{b}:{c}]' for a, b, c in parts])}}}"])


@WRITE.register(layout.PAD)
def write_pad(w: Writer, op: Op) -> None:
    """Write low, high and interior padding."""
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    parts = list(zip(*[op.attributes[name] for name in names], strict=True))
    if not parts:
        w.alias(op.result, op.operands[0])
        return
    w.write(op, "pad", op.operands, [f"padding={'x'.join([f'{a}_{b}_{c}' for a, b, c in parts])}"])


@WRITE.register(layout.CONCATENATE)
def write_concatenate(w: Writer, op: Op) -> None:
    """Write the dimension."""
    w.write(op, "concatenate", op.operands, [f"dimensions={braced([op.attributes['dimension']])}"])
