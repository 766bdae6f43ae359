"""Differentiation of random numbers: there is none; `rng` is refused, and bits have no tangent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numhlo.lowering.ir import Op
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import random_bits
from numhlo.tracer.differentiation.table import JVP


@JVP.register(random_bits.RNG)
def _jvp_rng(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    raise UnsupportedError(
        "the derivative of rng by its bounds",
        where=op.location,
        why="it draws anew each time it runs",
        fix="draw between 0 and 1 (or with mean 0 and deviation 1), then scale and shift",
    )
