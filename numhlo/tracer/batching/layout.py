"""Batching of shape and data movement: attributes shifted by the lane axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, Type
from numhlo.lowering.ops import layout
from numhlo.tracer.batching.table import BATCHING, Environment, Lanes, all_mapped, spread
from numhlo.tracer.core.bind import bind
from numhlo.tracer.core.operands import broadcast_to_shape, full_of, reshape_to, shape_of
from numhlo.tracer.core.operations import select


def _shifted(axes: Sequence[int]) -> tuple[int, ...]:
    return tuple(a + 1 for a in axes)


def _wide(op: Op, size: int) -> list[Type]:
    return [v.tensor.with_shape((size, *v.tensor.shape)) for v in op.results]


def _rebind(op: Op, operands: Sequence[Any], size: int, **changed: Any) -> Sequence[Lanes]:
    results = _wide(op, size) if op.definition.explicit_result else None
    return all_mapped(bind(op.definition, *operands, attributes={**op.attributes, **changed}, results=results))


@BATCHING.register(layout.BROADCAST_IN_DIM)
def _batch_broadcast(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    dims = (0, *_shifted(op.attributes["broadcast_dimensions"]))
    return _rebind(op, [operands[0].array], size, broadcast_dimensions=dims)


@BATCHING.register(layout.RESHAPE)
def _batch_reshape(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    return _rebind(op, [operands[0].array], size)


@BATCHING.register(layout.TRANSPOSE)
def _batch_transpose(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    return _rebind(op, [operands[0].array], size, permutation=(0, *_shifted(op.attributes["permutation"])))


@BATCHING.register(layout.REVERSE)
def _batch_reverse(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    return _rebind(op, [operands[0].array], size, dimensions=_shifted(op.attributes["dimensions"]))


@BATCHING.register(layout.SLICE)
def _batch_slice(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    old = op.attributes
    return _rebind(
        op,
        [operands[0].array],
        size,
        start_indices=(0, *old["start_indices"]),
        limit_indices=(size, *old["limit_indices"]),
        strides=(1, *old["strides"]),
    )


@BATCHING.register(layout.CONCATENATE)
def _batch_concatenate(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    return _rebind(op, [spread(x, size) for x in operands], size, dimension=op.attributes["dimension"] + 1)


@BATCHING.register(layout.PAD)
def _batch_pad(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    """Pad lanes alike; a padding value that differs by lane is put in by a select."""
    operand, value = operands
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    widths = {name: (0, *op.attributes[name]) for name in names}
    array = spread(operand, size)
    if not value.mapped:
        return _rebind(op, [array, value.array], size, **widths)
    shape = (size, *op.results[0].tensor.shape)
    zero = np.zeros((), op.results[0].tensor.dtype)
    (padded,) = bind(layout.PAD, array, zero, attributes=widths)
    inside = full_of(True, shape_of(array), np.bool_)
    (mask,) = bind(layout.PAD, inside, np.zeros((), np.bool_), attributes=widths)
    filler = broadcast_to_shape(reshape_to(value.array, (size,) + (1,) * (len(shape) - 1)), shape)
    return [Lanes(select(mask, padded, filler), True)]
