"""Reductions of large arrays that nothing else needs, computed a piece of the results at a time.

A kernel computes each element where it reduces it. Op by op all of them would lie in memory: 800 MB for a correlation
of a million numbers with a hundred. In pieces they stay in a cache, and have the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.interpreter import Plan, Plans
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ir.types import NARROW_FLOATS
from numhlo.lowering.ops.elementwise import Elementwise
from numhlo.lowering.ops.primitive import Arrays, RegionFunction, Signature, Unlisted
from numhlo.lowering.ops.reduction import ORDERED, REDUCE, evaluate_reduce
from numhlo.lowering.ops.reduction_order import BLOCK, reduce_across_in_order
from numhlo.lowering.ops.region_function import region_of, single_op

LARGE = 1 << 22
"""Elements from which on an array is not made as a whole."""

PIECE = 1 << 17
"""Elements that are made at a time."""


def infer_given(signature: Signature) -> Sequence[TensorType]:
    """Return the type that an op was made with."""
    return [signature.result_tensor()]


def _evaluate(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Reduce piece after piece; elements are made with the reduced dimensions first, so that they are taken by rows."""
    *leaves, init = arrays
    plan, along, step = attributes["plan"], attributes["axis"], attributes["step"]
    ndim, reduced = leaves[0].ndim, sorted(attributes["dimensions"])
    kept = [d for d in range(ndim) if d not in reduced]
    axis = len(reduced) + kept.index(along)
    turned = [leaf.transpose([*reduced, *kept]) for leaf in leaves]
    before = (slice(None),) * axis
    results = []
    for start in range(0, turned[0].shape[axis], step):
        (piece,) = plan.run([leaf[(*before, slice(start, start + step))] for leaf in turned])
        results.append(_reduce_first(np.asarray(piece), len(reduced), init, regions))
    return [np.concatenate(results, axis=kept.index(along))]


def _reduce_first(array: np.ndarray, count: int, init: np.ndarray, regions: Sequence[RegionFunction]) -> np.ndarray:
    """Return an array reduced along its first dimensions, as many as ``count``."""
    shape, length = array.shape[count:], math.prod(array.shape[:count])
    op = single_op(region_of(regions[0]))
    ufunc, dtypes = ORDERED.get("" if op is None else op.definition.name, (np.add, frozenset()))
    if array.dtype in dtypes - NARROW_FLOATS and 0 < length <= BLOCK:
        total = ufunc(init, reduce_across_in_order(ufunc, array.reshape(length, -1)))
        return np.asarray(total).reshape(shape)
    (found,) = evaluate_reduce([array, init], {"dimensions": tuple(range(count))}, regions)
    return np.asarray(found)


IN_PIECES = Unlisted("reduce_in_pieces", infer_given, _evaluate, ("*operands",), (), ("body",), True)


def in_pieces(ops: Sequence[Op], kept: Collection[Value], plans: Plans) -> list[Op]:
    """Return ops that compute the same values, without large arrays that only reductions need.

    Parameters
    ----------
    ops : sequence of Op
    kept : collection of Value
        What is needed of them.
    plans : Plans
    """
    reductions = {op for op in ops if _is_large(op)}
    if not reductions:
        return list(ops)
    inner = _inner(ops, set(kept), reductions)
    result = []
    for op in ops:
        if op in reductions and op.operands[0].owner in inner:
            result.append(_piecewise(op, ops, inner, plans))
        elif op not in inner:
            result.append(op)
    return result


def _is_large(op: Op) -> bool:
    if op.definition is not REDUCE or len(op.operands) != 2:
        return False
    type = op.operands[0].tensor
    return type.size >= LARGE and any(n > 1 and d not in op.attributes["dimensions"] for d, n in enumerate(type.shape))


def _inner(ops: Sequence[Op], kept: Collection[Value], reductions: Collection[Op]) -> set[Op]:
    """Return elementwise ops whose results are only needed for reductions."""
    outside = set(kept)
    inner: set[Op] = set()
    for op in reversed(ops):
        if op in reductions:
            outside.add(op.operands[1])
        elif _is_plain(op) and not outside & set(op.results):
            inner.add(op)
        else:
            outside.update(op.operands)
    return inner


def _is_plain(op: Op) -> bool:
    return isinstance(op.definition, Elementwise) and {v.tensor.shape for v in op.operands} == {op.result.tensor.shape}


def _piecewise(op: Op, ops: Sequence[Op], inner: Collection[Op], plans: Plans) -> Op:
    """Return the op that makes the elements of a reduction as it goes along the longest dimension that is kept."""
    dimensions, shape = op.attributes["dimensions"], op.operands[0].tensor.shape
    needed, region = {op.operands[0]}, Region()
    for step in reversed(ops):
        if step in inner and needed & set(step.results):
            needed.update(step.operands)
            region.ops.insert(0, step)
    region.returns = [op.operands[0]]
    plan = Plan(region, plans)
    axis = max((d for d in range(len(shape)) if d not in dimensions), key=shape.__getitem__)
    many = max(1, PIECE * shape[axis] // op.operands[0].tensor.size)
    attributes = {"dimensions": dimensions, "plan": plan, "axis": axis, "step": many}
    made = Op(IN_PIECES, [*plan.captured, op.operands[1]], attributes, op.regions, [op.result.type], op.location)
    made.results = op.results
    return made
