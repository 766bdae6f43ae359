"""Batching of random numbers: each lane draws by itself."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import random_bits
from numhlo.tracer.batching.control_flow import map_lanes
from numhlo.tracer.batching.table import BATCHING, Environment, Lanes


@BATCHING.register(random_bits.RNG_BIT_GENERATOR, random_bits.RNG)
def _batch_random(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    return map_lanes(op, operands, size, environment)
