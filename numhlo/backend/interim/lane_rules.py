"""How ops work on all lanes at once: values of lanes are stacked along a first axis, others are as they are.

A rule takes an op and says for its stacked operands what does it: ``call(lanes, arrays) -> results``, all of them
stacked. Elementwise ops need next to nothing for that; layout ops get an axis more; what has no rule here runs lane by
lane. Loops and branches are in `lanes`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from numhlo.backend.emit.support import emits_element
from numhlo.lowering.interpreter import BoundRegion, Plan, Plans, free_values
from numhlo.lowering.ir import Op, TensorType
from numhlo.lowering.ir.types import COMPLEX
from numhlo.lowering.ops import comparison, conversion, elementwise, indexing, layout
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.cumulative import COMBINERS
from numhlo.lowering.ops.dtype_table import ufunc_of
from numhlo.lowering.ops.factorizations import MEANINGS
from numhlo.lowering.ops.linear_algebra import CHOLESKY
from numhlo.lowering.ops.primitive import RESULT_TYPES, Primitive
from numhlo.lowering.ops.reduction import REDUCE
from numhlo.lowering.ops.region_function import ELEMENTWISE_FAMILIES
from numhlo.lowering.ops.sorting import SORT

Array: TypeAlias = np.ndarray
Call: TypeAlias = Callable[[int, Sequence[Array]], Sequence[Array]]
Rule: TypeAlias = Callable[[Op, Sequence[bool], Plans], Call]


class NotStackedError(Exception):
    """Something that can't work on lanes, not even one by one; the text says why."""


RULES: dict[Primitive, Rule] = {}
"""Ops with a rule of their own."""

COMPOSITE_RULES: dict[str, Rule] = {}
"""Composites with a rule of their own."""

BROADCASTING = frozenset(
    {
        elementwise.ADD,
        elementwise.SUBTRACT,
        elementwise.MULTIPLY,
        elementwise.DIVIDE,
        elementwise.REMAINDER,
        elementwise.MAXIMUM,
        elementwise.MINIMUM,
        elementwise.AND,
        elementwise.OR,
        elementwise.XOR,
        comparison.COMPARE,
        comparison.SELECT,
        comparison.CLAMP,
    }
)
"""Ops whose `evaluate` broadcasts by itself: what is the same for all lanes need not be repeated."""


def stacked(array: Array, lanes: int) -> Array:
    """Return a value that is the same for all lanes, once for each."""
    return np.broadcast_to(array, (lanes, *array.shape))


def find_rule(op: Op) -> Rule:
    """Return the rule for an op without loops and branches.

    Raises
    ------
    NotStackedError
        If it is about something else than tensors.
    """
    rule = RULES.get(op.definition)
    if rule is not None:
        return rule
    if op.definition is COMPOSITE and op.attributes["name"] in COMPOSITE_RULES:
        return COMPOSITE_RULES[op.attributes["name"]]
    if type(op.definition).__name__ in ELEMENTWISE_FAMILIES or (op.definition is COMPOSITE and emits_element(op)):
        return _elementwise
    if not can_be_stacked(op):
        raise NotStackedError(f"{op.definition.name} is about something else than tensors")
    return _one_by_one


def plain_ufunc(op: Op) -> np.ufunc | None:
    """Return the ufunc that does an op, whichever of its operands are stacked; None where it takes more than that."""
    shapes = {v.tensor.shape for v in op.operands if isinstance(v.type, TensorType)}
    if len(shapes) != 1 or op.regions or len(op.results) != 1:
        return None
    if op.definition is comparison.COMPARE:
        ordered = op.attributes["compare_type"] == "TOTALORDER" or op.operands[0].tensor.dtype in COMPLEX
        return None if ordered else comparison.DIRECTIONS[op.attributes["comparison_direction"]]
    return ufunc_of(op.definition.evaluate, op.operands[0].tensor.dtype)


def can_be_stacked(op: Op) -> bool:
    """Return whether an op is about tensors: what has no rule takes one lane after the other then."""
    return all(isinstance(v.type, TensorType) for v in (*op.operands, *op.results))


def _stacked_types(op: Op, lanes: int) -> list[TensorType]:
    return [v.tensor.with_shape((lanes, *v.tensor.shape)) for v in op.results]


def _elementwise(op: Op, batched: Sequence[bool], plans: Plans) -> Call:
    evaluate, attributes = op.definition.evaluate, dict(plans.attributes(op))
    rank = 1 + max(v.tensor.ndim for v in op.operands)
    repeat = op.definition not in BROADCASTING
    adapt: list[tuple[int, bool, tuple[int, ...]]] = []
    for number, (value, own) in enumerate(zip(op.operands, batched, strict=True)):
        shape = value.tensor.shape
        if not own or len(shape) < rank - 1:
            adapt.append((number, own, (1,) * (rank - 1 - len(shape)) + shape))

    def call(lanes: int, arrays: Sequence[Array]) -> Sequence[Array]:
        if adapt:
            arrays = list(arrays)
            for number, own, shape in adapt:
                array = arrays[number].reshape((lanes if own else 1, *shape))
                arrays[number] = np.broadcast_to(array, (lanes, *shape)) if repeat and not own else array
        return evaluate(arrays, attributes, ())

    return call


def _bitcast(op: Op, batched: Sequence[bool], plans: Plans) -> Call:
    return _with_attributes(op, lambda lanes: {RESULT_TYPES: _stacked_types(op, lanes)})


def _with_attributes(op: Op, change: Callable[[int], dict[str, Any]]) -> Call:
    evaluate, attributes = op.definition.evaluate, op.attributes
    return lambda lanes, arrays: evaluate(arrays, {**attributes, **change(lanes)}, ())


def _reshape(op: Op, batched: Sequence[bool], plans: Plans) -> Call:
    shape = op.result.tensor.shape
    return lambda lanes, arrays: (arrays[0].reshape((lanes, *shape)),)


def _broadcast_in_dim(op: Op, batched: Sequence[bool], plans: Plans) -> Call:
    dims = (0, *(d + 1 for d in op.attributes["broadcast_dimensions"]))
    return _with_attributes(op, lambda lanes: {"broadcast_dimensions": dims, RESULT_TYPES: _stacked_types(op, lanes)})


def _transpose(op: Op, batched: Sequence[bool], plans: Plans) -> Call:
    order = (0, *(d + 1 for d in op.attributes["permutation"]))
    return lambda lanes, arrays: (arrays[0].transpose(order),)


def _slice(op: Op, batched: Sequence[bool], plans: Plans) -> Call:
    names = ("start_indices", "limit_indices", "strides")
    bounds = [slice(*bound) for bound in zip(*(op.attributes[name] for name in names), strict=True)]
    place = (slice(None), *bounds)
    return lambda lanes, arrays: (arrays[0][place],)


def _concatenate(op: Op, batched: Sequence[bool], plans: Plans) -> Call:
    axis = op.attributes["dimension"] + 1

    def call(lanes: int, arrays: Sequence[Array]) -> Sequence[Array]:
        parts = [a if own else stacked(a, lanes) for a, own in zip(arrays, batched, strict=True)]
        return (np.concatenate(parts, axis=axis),)

    return call


def _window(
    starts: Sequence[Array], batched: Sequence[bool], shape: Sequence[int], sizes: Sequence[int]
) -> tuple[Array, ...]:
    """Return index arrays, ``(lanes or 1, *sizes)`` when broadcast, of the window that begins at each lane's starts."""
    rank = len(sizes)
    places = []
    for axis, (start, own, extent, size) in enumerate(zip(starts, batched, shape, sizes, strict=True)):
        limit = extent - size
        known = np.minimum(start, np.uint64(limit)) if start.dtype == np.uint64 else start
        first = np.clip(known.astype(np.int64), 0, limit).reshape((-1 if own else 1, *(1,) * rank))
        places.append(first + np.arange(size).reshape((1, size, *(1,) * (rank - 1 - axis))) if size != 1 else first)
    return tuple(places)


def _lane_numbers(lanes: int, rank: int) -> Array:
    return np.arange(lanes).reshape((lanes, *(1,) * rank))


def _dynamic_slice(op: Op, batched: Sequence[bool], plans: Plans) -> Call:
    sizes, shape = op.attributes["slice_sizes"], op.operands[0].tensor.shape

    def call(lanes: int, arrays: Sequence[Array]) -> Sequence[Array]:
        operand, *starts = arrays
        places = _window(starts, batched[1:], shape, sizes)
        if batched[0]:
            places = (_lane_numbers(lanes, len(sizes)), *places)
        return (operand[places].reshape((lanes, *sizes)),)

    return call


def _dynamic_update_slice(op: Op, batched: Sequence[bool], plans: Plans) -> Call:
    shape, sizes = (v.tensor.shape for v in op.operands[:2])

    def call(lanes: int, arrays: Sequence[Array]) -> Sequence[Array]:
        operand, update, *starts = arrays
        result = operand.copy() if batched[0] else stacked(operand, lanes).copy()
        places = _window(starts, batched[2:], shape, sizes)
        result[(_lane_numbers(lanes, len(sizes)), *places)] = update
        return (result,)

    return call


def _reduce(op: Op, batched: Sequence[bool], plans: Plans) -> Call:
    count = len(op.results)
    plan = Plan(op.regions[0], plans)
    if plan.captured or any(batched[count:]):
        return _one_by_one(op, batched, plans)
    attributes = {**op.attributes, "dimensions": tuple(d + 1 for d in op.attributes["dimensions"])}
    body, evaluate = BoundRegion(plan, []), plans.rule(op)

    def call(lanes: int, arrays: Sequence[Array]) -> Sequence[Array]:
        inputs = [a if own else stacked(a, lanes) for a, own in zip(arrays[:count], batched, strict=False)]
        return evaluate([*inputs, *arrays[count:]], attributes, [body])

    return call


def _sort(op: Op, batched: Sequence[bool], plans: Plans) -> Call:
    plan = Plan(op.regions[0], plans)
    if plan.captured:
        return _one_by_one(op, batched, plans)
    attributes = {**op.attributes, "dimension": op.attributes["dimension"] + 1}
    body, evaluate = BoundRegion(plan, []), plans.rule(op)

    def call(lanes: int, arrays: Sequence[Array]) -> Sequence[Array]:
        inputs = [a if own else stacked(a, lanes) for a, own in zip(arrays, batched, strict=True)]
        return evaluate(inputs, attributes, [body])

    return call


def _cumulative(op: Op, batched: Sequence[bool], plans: Plans) -> Call:
    parameters = op.attributes["composite_attributes"]
    attributes = {**op.attributes, "composite_attributes": {**parameters, "axis": parameters["axis"] + 1}}
    evaluate = plans.rule(op)
    return lambda lanes, arrays: evaluate(arrays, attributes, ())


def _matrices(op: Op, batched: Sequence[bool], plans: Plans) -> Call:
    """Return what factors a stack more of matrices: one after the other, as it always does."""
    evaluate, attributes = plans.rule(op), plans.attributes(op)

    def call(lanes: int, arrays: Sequence[Array]) -> Sequence[Array]:
        return evaluate(
            [a if own else stacked(a, lanes) for a, own in zip(arrays, batched, strict=True)], attributes, ()
        )

    return call


def _reverse(op: Op, batched: Sequence[bool], plans: Plans) -> Call:
    axes = tuple(d + 1 for d in op.attributes["dimensions"])
    return lambda lanes, arrays: (np.flip(arrays[0], axes),)


def _one_by_one(op: Op, batched: Sequence[bool], plans: Plans) -> Call:
    """Return what does an op lane by lane; it takes what regions use from outside after the operands."""
    evaluate, attributes, count = plans.rule(op), plans.attributes(op), len(op.operands)
    free = free_values(op)
    regions = [Plan(region, plans) for region in op.regions]
    places = [[count + free.index(v) for v in plan.captured] for plan in regions]

    def call(lanes: int, arrays: Sequence[Array]) -> Sequence[Array]:
        results = [np.empty(t.shape, t.dtype) for t in _stacked_types(op, lanes)]
        for lane in range(lanes):
            inputs = [a[lane, ...] if own else a for a, own in zip(arrays, batched, strict=True)]
            bound = [BoundRegion(p, [inputs[k] for k in place]) for p, place in zip(regions, places, strict=True)]
            for result, part in zip(results, evaluate(inputs[:count], attributes, bound), strict=True):
                result[lane] = part
        return results

    return call


RULES.update(
    {
        conversion.BITCAST_CONVERT: _bitcast,
        layout.RESHAPE: _reshape,
        layout.BROADCAST_IN_DIM: _broadcast_in_dim,
        layout.TRANSPOSE: _transpose,
        layout.SLICE: _slice,
        layout.CONCATENATE: _concatenate,
        layout.REVERSE: _reverse,
        indexing.DYNAMIC_SLICE: _dynamic_slice,
        indexing.DYNAMIC_UPDATE_SLICE: _dynamic_update_slice,
        CHOLESKY: _matrices,
        REDUCE: _reduce,
        SORT: _sort,
    }
)
COMPOSITE_RULES.update({f"numhlo.{name}": _cumulative for name in COMBINERS})
COMPOSITE_RULES.update({f"numhlo.{name}": _matrices for name in MEANINGS})
