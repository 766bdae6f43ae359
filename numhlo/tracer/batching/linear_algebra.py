"""Batching of linear algebra: lanes are one more leading dimension."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import factorizations, linear_algebra
from numhlo.tracer.batching.table import BATCHING, Environment, Lanes, all_mapped, spread
from numhlo.tracer.core.bind import bind


@BATCHING.register(linear_algebra.CHOLESKY, linear_algebra.TRIANGULAR_SOLVE)
def _batch_matrices(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    return all_mapped(bind(op.definition, *[spread(x, size) for x in operands], attributes=op.attributes))


def batch_factorization(op: Op, operands: list[Lanes], size: int) -> Sequence[Lanes]:
    """Batch a composite of `factorizations`."""
    types = [v.tensor.with_shape((size, *v.tensor.shape)) for v in op.operands]
    name = op.attributes["name"].removeprefix("numhlo.")
    attributes = factorizations.make(name, types, **op.attributes["composite_attributes"])
    results = attributes["decomposition"].result_types
    return all_mapped(bind(op.definition, *[spread(x, size) for x in operands], attributes=attributes, results=results))
