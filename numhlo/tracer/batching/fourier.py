"""Batching of Fourier transforms: lanes are one more leading dimension."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import fourier
from numhlo.tracer.batching.table import BATCHING, Environment, Lanes, all_mapped
from numhlo.tracer.core.bind import bind


@BATCHING.register(fourier.FFT)
def _batch_fft(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    return all_mapped(bind(op.definition, operands[0].array, attributes=op.attributes))
