"""Differentiation of Fourier transforms, which are linear."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import fourier, layout
from numhlo.tracer.core import matrices as m
from numhlo.tracer.core import operations as b
from numhlo.tracer.core.bind import bind1
from numhlo.tracer.core.operands import broadcast_to_shape, shape_of
from numhlo.tracer.core.replay import replay_op
from numhlo.tracer.differentiation.table import JVP, TRANSPOSE


@JVP.register(fourier.FFT)
def _jvp_fft(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    return replay_op(op, tangents, {})


@TRANSPOSE.register(fourier.FFT)
def _transpose_fft(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    """Transform again: the matrices of FFT and IFFT are symmetric; RFFT and IRFFT leave half of one out."""
    (c,) = cotangents
    kind, lengths = op.attributes["fft_type"], tuple(op.attributes["fft_length"])
    if kind == "RFFT":
        rank, missing = len(shape_of(c)), lengths[-1] - shape_of(c)[-1]
        widths = {
            "edge_padding_low": (0,) * rank,
            "edge_padding_high": (*[0] * (rank - 1), missing),
            "interior_padding": (0,) * rank,
        }
        whole = bind1(layout.PAD, c, np.zeros((), c.dtype), attributes=widths)
        return [b.real(m.fourier_transform(whole, "FFT", lengths))]
    if kind == "IRFFT":
        return [_transpose_irfft(c, lengths)]
    return [m.fourier_transform(c, kind, lengths)]


def _transpose_irfft(c: Any, lengths: tuple[int, ...]) -> Any:
    """Return the conjugate of the transform; every coefficient but the first and a middle one counts twice."""
    transformed = m.fourier_transform(c, "RFFT", lengths)
    weights = np.full(shape_of(transformed)[-1], 2 / math.prod(lengths))
    weights[0] /= 2
    if lengths[-1] % 2 == 0:
        weights[-1] /= 2
    scale = broadcast_to_shape(weights.astype(transformed.dtype), shape_of(transformed))
    return m.conjugate(b.multiply(transformed, scale))
