"""Instructions whose positions are data: dynamic-slice, dynamic-update-slice, gather, scatter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from numhlo.lowering.hlo.layout import braced
from numhlo.lowering.hlo.record import Instruction
from numhlo.lowering.hlo.reduction import one_or_tuple
from numhlo.lowering.hlo.tables import WRITE, Bundle, reads
from numhlo.lowering.hlo.translator import Translator, attribute
from numhlo.lowering.hlo.writer import Writer
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import indexing, layout
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers, ScatterDimensionNumbers


def _starts(t: Translator, i: Instruction, given: Sequence[Value], rank: int) -> list[Value]:
    """Return one scalar for each dimension; older texts have one vector of them."""
    if len(given) != 1 or given[0].tensor.ndim != 1:
        return list(given)
    (vector,) = given
    if vector.tensor.shape != (rank,):
        raise t.complaint(i, f"the start indices must be {rank}, one for each dimension")
    starts = []
    for k in range(rank):
        part = t.one(i, layout.SLICE, vector, start_indices=(k,), limit_indices=(k + 1,), strides=(1,))
        starts.append(t.one(i, layout.RESHAPE, part, result=vector.tensor.with_shape(())))
    return starts


@reads("dynamic-slice", needs="dynamic_slice_sizes")
def read_dynamic_slice(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Take a part that begins where the operands say."""
    arrays = t.arrays(i, operands)
    if not arrays:
        raise t.complaint(i, "dynamic-slice takes an array and start indices")
    starts = _starts(t, i, arrays[1:], arrays[0].tensor.ndim)
    return t.one(i, indexing.DYNAMIC_SLICE, arrays[0], *starts, slice_sizes=i.attributes["dynamic_slice_sizes"])


@reads("dynamic-update-slice")
def read_dynamic_update_slice(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Replace a part that begins where the operands say."""
    arrays = t.arrays(i, operands)
    if len(arrays) < 2:
        raise t.complaint(i, "dynamic-update-slice takes an array, an update and start indices")
    starts = _starts(t, i, arrays[2:], arrays[0].tensor.ndim)
    return t.one(i, indexing.DYNAMIC_UPDATE_SLICE, *arrays[:2], *starts)


GATHER = [item.name for item in fields(GatherDimensionNumbers)]
SCATTER = [item.name for item in fields(ScatterDimensionNumbers)]
"""The dimension numbers, which have the same names in HLO."""


@reads("gather", needs="slice_sizes index_vector_dim", may=f"{' '.join(GATHER)} indices_are_sorted")
def read_gather(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Take parts that begin where an array says."""
    numbers = GatherDimensionNumbers(**{name: i.attributes[name] for name in GATHER if name in i.attributes})
    return t.one(
        i,
        indexing.GATHER,
        *t.arrays(i, operands, 2),
        dimension_numbers=numbers,
        slice_sizes=i.attributes["slice_sizes"],
        indices_are_sorted=attribute(i, "indices_are_sorted", False),
    )


@reads("scatter", needs="to_apply index_vector_dim", may=f"{' '.join(SCATTER)} indices_are_sorted unique_indices")
def read_scatter(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Combine elements with those at positions that an array says."""
    arrays = t.arrays(i, operands)
    if len(arrays) < 3 or len(arrays) % 2 == 0:
        raise t.complaint(i, "scatter takes arrays, indices, and as many updates as arrays")
    numbers = ScatterDimensionNumbers(**{name: i.attributes[name] for name in SCATTER if name in i.attributes})
    results = t.make(
        i,
        indexing.SCATTER,
        *arrays,
        regions=[t.region(i, i.attributes["to_apply"])],
        scatter_dimension_numbers=numbers,
        indices_are_sorted=attribute(i, "indices_are_sorted", False),
        unique_indices=attribute(i, "unique_indices", False),
    )
    return one_or_tuple(results)


# -- writing


@WRITE.register(indexing.DYNAMIC_SLICE)
def write_dynamic_slice(w: Writer, op: Op) -> None:
    """Write the sizes."""
    w.write(op, "dynamic-slice", op.operands, [f"dynamic_slice_sizes={braced(op.attributes['slice_sizes'])}"])


@WRITE.register(indexing.DYNAMIC_UPDATE_SLICE)
def write_dynamic_update_slice(w: Writer, op: Op) -> None:
    """Write the operands."""
    w.write(op, "dynamic-update-slice", op.operands)


def _numbers(record: GatherDimensionNumbers | ScatterDimensionNumbers, optional: Sequence[str]) -> list[str]:
    """Return the dimension numbers; pairs of dimensions that advance together only where there are any."""
    parts = []
    for item in fields(record):
        value = getattr(record, item.name)
        if item.name not in optional or value:
            parts.append(f"{item.name}={value if isinstance(value, int) else braced(value)}")
    return parts


def _promises(op: Op) -> list[str]:
    return [f"{name}=true" for name in ("indices_are_sorted", "unique_indices") if op.attributes.get(name)]


@WRITE.register(indexing.GATHER)
def write_gather(w: Writer, op: Op) -> None:
    """Write the dimension numbers and the sizes."""
    numbers = _numbers(op.attributes["dimension_numbers"], ("operand_batching_dims", "start_indices_batching_dims"))
    sizes = f"slice_sizes={braced(op.attributes['slice_sizes'])}"
    w.write(op, "gather", op.operands, [*numbers, sizes, *_promises(op)])


@WRITE.register(indexing.SCATTER)
def write_scatter(w: Writer, op: Op) -> None:
    """Write the dimension numbers and what combines."""
    optional = ("input_batching_dims", "scatter_indices_batching_dims")
    numbers = _numbers(op.attributes["scatter_dimension_numbers"], optional)
    w.write(op, "scatter", op.operands, [*numbers, *_promises(op), f"to_apply={w.region(op, op.regions[0])}"])
