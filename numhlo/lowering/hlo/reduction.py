"""Instructions that combine or order elements by a computation: reduce, map, sort; and topk."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.hlo.layout import braced
from numhlo.lowering.hlo.record import Instruction
from numhlo.lowering.hlo.tables import WRITE, Bundle, reads
from numhlo.lowering.hlo.translator import Translator, attribute
from numhlo.lowering.hlo.writer import Writer
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.lowering.ops import deprecated, reduction, sorting
from numhlo.lowering.text.unregistered import unregistered

TOP_K = unregistered("chlo.top_k")


def one_or_tuple(results: Sequence[Value]) -> Bundle:
    """Return a result as it is, several as a tuple."""
    return results[0] if len(results) == 1 else tuple(results)


@reads("reduce", needs="dimensions to_apply")
def read_reduce(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Combine elements along dimensions."""
    arrays = t.arrays(i, operands)
    if not arrays or len(arrays) % 2:
        raise t.complaint(i, "reduce takes as many initial values as arrays")
    region = t.region(i, i.attributes["to_apply"])
    results = t.make(i, reduction.REDUCE, *arrays, regions=[region], dimensions=i.attributes["dimensions"])
    return one_or_tuple(results)


@reads("map", needs="to_apply", may="dimensions")
def read_map(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Apply a computation to elements."""
    arrays = t.arrays(i, operands)
    if not arrays:
        raise t.complaint(i, "map takes at least one array")
    dimensions = attribute(i, "dimensions", tuple(range(arrays[0].tensor.ndim)))
    return t.one(i, deprecated.MAP, *arrays, regions=[t.region(i, i.attributes["to_apply"])], dimensions=dimensions)


@reads("sort", needs="dimensions to_apply", may="is_stable")
def read_sort(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Order elements along a dimension."""
    dimensions = i.attributes["dimensions"]
    if len(dimensions) != 1:
        raise t.complaint(i, "sort has one dimension")
    arrays = t.arrays(i, operands)
    region, stable = t.region(i, i.attributes["to_apply"]), attribute(i, "is_stable", False)
    results = t.make(i, sorting.SORT, *arrays, regions=[region], dimension=dimensions[0], is_stable=stable)
    return one_or_tuple(results)


@reads("topk", needs="k", may="largest")
def read_topk(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Return the k largest elements along the last dimension, and where they are."""
    (x,) = t.arrays(i, operands, 1)
    k = i.attributes["k"]
    if not attribute(i, "largest", True):
        raise t.complaint(i, "topk of the smallest elements has no meaning in StableHLO")
    return top_k(t, i, x, k)


def top_k(t: Translator, i: Instruction, x: Value, k: int) -> Bundle:
    """Append a top_k."""
    if x.tensor.ndim == 0 or k < 0:
        raise t.complaint(i, f"{i.opcode} takes an array of at least one dimension, and k that is not negative")
    values = x.tensor.with_shape((*x.tensor.shape[:-1], k))
    results = [values, values.with_dtype(ELEMENT_TYPES["i32"])]
    return tuple(t.make(i, TOP_K, x, results=results, k=k))


# -- writing


@WRITE.register(reduction.REDUCE)
def write_reduce(w: Writer, op: Op) -> None:
    """Write the dimensions and the reducer."""
    dims = f"dimensions={braced(op.attributes['dimensions'])}"
    w.write(op, "reduce", op.operands, [dims, f"to_apply={w.region(op, op.regions[0])}"])


@WRITE.register(deprecated.MAP)
def write_map(w: Writer, op: Op) -> None:
    """Write the dimensions and the computation."""
    dims = f"dimensions={braced(op.attributes['dimensions'])}"
    w.write(op, "map", op.operands, [dims, f"to_apply={w.region(op, op.regions[0])}"])


@WRITE.register(sorting.SORT)
def write_sort(w: Writer, op: Op) -> None:
    """Write the dimension and the comparator."""
    dimension = op.attributes["dimension"] % max(op.operands[0].tensor.ndim, 1)
    stable = ["is_stable=true"] if op.attributes["is_stable"] else []
    names = [f"dimensions={{{dimension}}}", *stable, f"to_apply={w.region(op, op.regions[0])}"]
    w.write(op, "sort", op.operands, names)
