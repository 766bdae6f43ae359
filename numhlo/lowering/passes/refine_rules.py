"""Ops that take a shape as an operand, as those that have it as an attribute; for shapes that are known by then.

JAX writes some of them as custom calls, since StableHLO has no such op: windows, random bits and the largest elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import (
    control_flow,
    convolution,
    creation,
    elementwise,
    indexing,
    layout,
    random_bits,
    ranking,
    windows,
)
from numhlo.lowering.ops.dynamic_shapes import checked_size
from numhlo.lowering.ops.primitive import make_op
from numhlo.lowering.passes.legalizer import Builder

Known = Callable[[int | Value], tuple[int, ...]]
"""``known(k)``: the value of operand k, or of any other value, as a tuple of ints."""

Rule = Callable[[Builder, Op, Sequence[Value], Known], Sequence[Value]]
RULES: dict[str, Rule] = {}


def _rule(name: str) -> Callable[[Rule], Rule]:
    def add(rule: Rule) -> Rule:
        RULES[f"stablehlo.{name}"] = rule
        return rule

    return add


@_rule("get_dimension_size")
def _dimension_size(b: Builder, op: Op, operands: Sequence[Value], known: Known) -> Sequence[Value]:
    return [b.constant(np.int32(operands[0].tensor.shape[op.attributes["dimension"]]))]


@_rule("dynamic_reshape")
def _reshape(b: Builder, op: Op, operands: Sequence[Value], known: Known) -> Sequence[Value]:
    return [b.op(layout.RESHAPE, operands[0], result=operands[0].tensor.with_shape(known(1)))]


@_rule("dynamic_broadcast_in_dim")
def _broadcast(b: Builder, op: Op, operands: Sequence[Value], known: Known) -> Sequence[Value]:
    axes, result = op.attributes["broadcast_dimensions"], operands[0].tensor.with_shape(known(1))
    return [b.op(layout.BROADCAST_IN_DIM, operands[0], result=result, broadcast_dimensions=axes)]


@_rule("dynamic_iota")
def _iota(b: Builder, op: Op, operands: Sequence[Value], known: Known) -> Sequence[Value]:
    result = op.result.tensor.with_shape(known(0))
    return [b.op(creation.IOTA, result=result, iota_dimension=op.attributes["iota_dimension"])]


@_rule("rng")
def _rng(b: Builder, op: Op, operands: Sequence[Value], known: Known) -> Sequence[Value]:
    is_open = not op.result.tensor.is_static
    result = op.result.tensor.with_shape(known(2)) if is_open else op.result.tensor
    return [b.op(random_bits.RNG, *operands, result=result, **op.attributes)]


@_rule("dynamic_pad")
def _pad(b: Builder, op: Op, operands: Sequence[Value], known: Known) -> Sequence[Value]:
    low, high, interior = known(2), known(3), known(4)
    amounts = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": interior}
    return b.append(make_op(layout.PAD, operands[:2], amounts, location=op.location))


@_rule("real_dynamic_slice")
def _slice(b: Builder, op: Op, operands: Sequence[Value], known: Known) -> Sequence[Value]:
    try:
        bounds = {"start_indices": known(1), "limit_indices": known(2), "strides": known(3)}
    except UnsupportedError:
        added = _added(operands[2], operands[1])
        if added is None or set(known(3)) - {1}:
            raise
        return _moving_window(b, operands, known(added))
    return b.append(make_op(layout.SLICE, operands[:1], bounds, location=op.location))


def _added(total: Value, part: Value) -> Value | None:
    """Return what is added to ``part`` to give ``total``; None where that is not how it is made."""
    made = total.owner
    if not isinstance(made, Op) or made.definition is not elementwise.ADD or part not in made.operands:
        return None
    return made.operands[1 if made.operands[0] is part else 0]


def _moving_window(b: Builder, operands: Sequence[Value], sizes: tuple[int, ...]) -> Sequence[Value]:
    """Return the window of known sizes that begins where a value says, as inside of loops that exporters write."""
    starts = []
    for k in range(len(sizes)):
        place = b.op(layout.SLICE, operands[1], start_indices=(k,), limit_indices=(k + 1,), strides=(1,))
        starts.append(b.op(layout.RESHAPE, place, result=place.tensor.with_shape(())))
    return [b.op(indexing.DYNAMIC_SLICE, operands[0], *starts, slice_sizes=sizes)]


@_rule("dynamic_gather")
def _gather(b: Builder, op: Op, operands: Sequence[Value], known: Known) -> Sequence[Value]:
    attributes = {k: v for k, v in op.attributes.items() if v is not None}
    return [b.op(indexing.GATHER, *operands[:2], slice_sizes=known(2), **attributes)]


@_rule("set_dimension_size")
def _set_size(b: Builder, op: Op, operands: Sequence[Value], known: Known) -> Sequence[Value]:
    shape, axis = operands[0].tensor.shape, op.attributes["dimension"]
    size = checked_size(known(1)[0], shape[axis])
    limits = tuple(size if k == axis else n for k, n in enumerate(shape))
    bounds = {"start_indices": (0,) * len(shape), "limit_indices": limits, "strides": (1,) * len(shape)}
    return b.append(make_op(layout.SLICE, operands[:1], bounds, location=op.location))


@_rule("dynamic_conv")
def _convolution(b: Builder, op: Op, operands: Sequence[Value], known: Known) -> Sequence[Value]:
    padding = np.array(known(2), np.int64).reshape(-1, 2)
    given = {k: v for k, v in op.attributes.items() if v is not None}
    attributes = {**convolution.CONVOLUTION.defaults, **given, "padding": padding}
    shape = convolution.convolution_shape(attributes, *[v.tensor.shape for v in operands[:2]])
    result = op.result.tensor.with_shape(tuple(shape))  # its element type may be another than the operands'
    return b.ops(convolution.CONVOLUTION, *operands[:2], results=[result], **attributes)


@_rule("custom_call @stablehlo.dynamic_reduce_window")
def _windows(b: Builder, op: Op, operands: Sequence[Value], known: Known) -> Sequence[Value]:
    (computation,) = op.attributes["called_computations"]
    count = 2 * len(op.results)
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    attributes: dict[str, Any] = {name: known(count + k) for k, name in enumerate(names)}
    padding = np.array(known(count + 4), np.int64).reshape(-1, 2)
    return b.ops(windows.REDUCE_WINDOW, *operands[:count], regions=[computation.body], padding=padding, **attributes)


@_rule("custom_call @stablehlo.dynamic_rng_bit_generator")
def _random_bits(b: Builder, op: Op, operands: Sequence[Value], known: Known) -> Sequence[Value]:
    state, bits = (v.tensor for v in op.results)
    algorithm = str(op.attributes["rng_algorithm"]).removeprefix("#stablehlo<rng_algorithm ").removesuffix(">")
    types = [state, bits.with_shape(known(1))]
    return b.ops(random_bits.RNG_BIT_GENERATOR, operands[0], results=types, rng_algorithm=algorithm)


@_rule("custom_call @stablehlo.dynamic_top_k")
def _top_k(b: Builder, op: Op, operands: Sequence[Value], known: Known) -> Sequence[Value]:
    (k,) = known(1)
    return top_k(b, operands[0], k)


def top_k(b: Builder, operand: Value, k: int) -> Sequence[Value]:
    """Name the k largest elements of the last axis, and where they are."""
    attributes = ranking.make_top_k(operand.tensor, k)
    types = attributes["decomposition"].result_types
    return b.ops(control_flow.COMPOSITE, operand, results=types, **attributes)
