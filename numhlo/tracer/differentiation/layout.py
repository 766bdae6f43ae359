"""Differentiation of shape and data movement: all linear, each transposed by the movement back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import layout
from numhlo.tracer.core.bind import bind1
from numhlo.tracer.core.operands import reshape_to
from numhlo.tracer.core.replay import replay_op
from numhlo.tracer.differentiation.elementwise import sum_to
from numhlo.tracer.differentiation.indexing import patch_window
from numhlo.tracer.differentiation.table import JVP, TRANSPOSE, Patch, instantiate
from numhlo.tracer.differentiation.tiles import MUCH, Tiles, slab_axis


@JVP.register(layout.BROADCAST_IN_DIM, layout.RESHAPE, layout.TRANSPOSE, layout.REVERSE, layout.SLICE)
def _jvp_movement(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    return replay_op(op, tangents, {})


@JVP.register(layout.CONCATENATE, layout.PAD)
def _jvp_joining(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    return replay_op(op, [instantiate(t, v) for t, v in zip(tangents, op.operands, strict=True)], {})


@TRANSPOSE.register(layout.BROADCAST_IN_DIM)
def _transpose_broadcast(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    source, result = op.operands[0].tensor, op.results[0].tensor
    dims = op.attributes["broadcast_dimensions"]
    kept = {d for k, d in enumerate(dims) if source.shape[k] == result.shape[d]}
    total = sum_to(cotangents[0], tuple(d for d in range(result.ndim) if d not in kept))
    order = sorted(range(len(dims)), key=lambda k: dims[k])
    if order != list(range(len(dims))):
        total = reshape_to(total, tuple(source.shape[k] for k in order))
        total = bind1(layout.TRANSPOSE, total, attributes={"permutation": tuple(int(k) for k in np.argsort(order))})
    return [reshape_to(total, source.shape)]


@TRANSPOSE.register(layout.RESHAPE)
def _transpose_reshape(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    return [reshape_to(cotangents[0], op.operands[0].tensor.shape)]


@TRANSPOSE.register(layout.TRANSPOSE)
def _transpose_transpose(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    inverse = tuple(int(k) for k in np.argsort(op.attributes["permutation"]))
    return [bind1(layout.TRANSPOSE, cotangents[0], attributes={"permutation": inverse})]


@TRANSPOSE.register(layout.REVERSE)
def _transpose_reverse(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    return [bind1(layout.REVERSE, cotangents[0], attributes=op.attributes)]


def pad_with_zeros(x: Any, low: Sequence[int], high: Sequence[int], interior: Sequence[int]) -> Any:
    """Return an array padded with zeros."""
    attributes = {
        "edge_padding_low": tuple(low),
        "edge_padding_high": tuple(high),
        "interior_padding": tuple(interior),
    }
    return bind1(layout.PAD, x, np.zeros((), x.dtype), attributes=attributes)


@TRANSPOSE.register(layout.SLICE)
def _transpose_slice(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    starts, strides = op.attributes["start_indices"], op.attributes["strides"]
    extents, sizes = op.operands[0].tensor.shape, op.results[0].tensor.shape
    spans = [(n - 1) * s + 1 if n else 0 for n, s in zip(sizes, strides, strict=True)]
    high = [n - a - span for n, a, span in zip(extents, starts, spans, strict=True)]

    def padded() -> Any:
        return pad_with_zeros(cotangents[0], starts, high, [s - 1 for s in strides])

    if spans == list(sizes) and (axis := slab_axis(op.operands[0].tensor, sizes, starts)) is not None:
        tiles = Tiles(op.operands[0].tensor, sizes, axis=axis)
        tiles.add(starts, cotangents[0])
        return [tiles]
    if spans != list(sizes) or MUCH * math.prod(sizes) > math.prod(extents):
        return [padded()]
    window = patch_window(op.operands[0], [np.int64(a) for a in starts], cotangents[0])
    return [window._replace(alone=padded) if isinstance(window, Patch) else window]


@TRANSPOSE.register(layout.PAD)
def _transpose_pad(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    low, high = op.attributes["edge_padding_low"], op.attributes["edge_padding_high"]
    interior = op.attributes["interior_padding"]
    (c,) = cotangents
    operand = pad_with_zeros(c, [-n for n in low], [-n for n in high], [0] * len(low))
    if any(interior):
        attributes = {
            "start_indices": (0,) * len(low),
            "limit_indices": operand.shape,
            "strides": tuple(n + 1 for n in interior),
        }
        operand = bind1(layout.SLICE, operand, attributes=attributes)
    if operands[1] is not None:
        return [operand, None]
    every = tuple(range(op.results[0].tensor.ndim))
    inside = sum_to(operand, every)
    return [operand, sum_to(c, every) - inside]


@TRANSPOSE.register(layout.CONCATENATE)
def _transpose_concatenate(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    axis = op.attributes["dimension"]
    shape = op.results[0].tensor.shape
    parts, offset = [], 0
    for value, known in zip(op.operands, operands, strict=True):
        end = offset + value.tensor.shape[axis]
        attributes = {
            "start_indices": tuple(offset if k == axis else 0 for k in range(len(shape))),
            "limit_indices": tuple(end if k == axis else n for k, n in enumerate(shape)),
            "strides": (1,) * len(shape),
        }
        parts.append(bind1(layout.SLICE, cotangents[0], attributes=attributes) if known is None else None)
        offset = end
    return parts
