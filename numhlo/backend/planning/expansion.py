"""Expands calls, barriers, small products, short sums and composites without a kernel: the planner sees plain ops.

The function is left as it is; where there is something to expand, its ops are copied. A callee's ops are copied for
every call, since values stand for one buffer each.
"""

from __future__ import annotations

import numpy as np

from numhlo.backend.emit.special import has_kernels, is_library_call
from numhlo.backend.emit.support import emits_element
from numhlo.backend.planning.complex_sums import expand_complex_sums, is_complex_sum
from numhlo.backend.planning.short_sums import expand_short_sum, is_short_sum
from numhlo.backend.planning.sliding import expand_sliding, is_sliding
from numhlo.backend.planning.small_products import expand_product, is_small
from numhlo.backend.planning.strided_updates import is_strided_update, strided_update
from numhlo.backend.planning.unwritten import filled_by, unwritten
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.contraction import DOT_GENERAL
from numhlo.lowering.ops.control_flow import CALL, COMPOSITE, OPTIMIZATION_BARRIER
from numhlo.lowering.ops.random_bits import RNG_BIT_GENERATOR
from numhlo.lowering.ops.random_bits_decompositions import three_fry
from numhlo.lowering.ops.reduction import REDUCE
from numhlo.lowering.passes.dead_ops import remove_dead_ops
from numhlo.lowering.passes.outlining import is_outlined

WHOLE_BYTES = frozenset(map(np.dtype, ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")))
"""Element types that random bits are made for in kernels."""


def expand(region: Region) -> Region:
    """Return a region without what is expanded: composites that have no kernel, and calls but of subroutines, too.

    Examples
    --------
    >>> region = Region()
    >>> expand(region) is region
    True
    """
    if not any(_is_expanded(op) or filled_by(op) for op in region.walk()):
        return region
    copy = _Copy({}).region(region)
    remove_dead_ops(copy)
    return copy


def _is_expanded(op: Op) -> bool:
    if op.definition is COMPOSITE:
        return not (emits_element(op) or has_kernels(op) or is_library_call(op))
    if op.definition is DOT_GENERAL:
        return is_small(op)
    if op.definition is REDUCE:
        return is_complex_sum(op) or is_short_sum(op)
    if is_sliding(op) or is_strided_update(op) or _is_three_fry(op):
        return True
    if op.definition is CALL:
        return not is_outlined(op.attributes["callee"])
    return op.definition is OPTIMIZATION_BARRIER


def _is_three_fry(op: Op) -> bool:
    """Return whether an op makes random bits that kernels can compute; narrower ones than bytes are left to NumPy."""
    if op.definition is not RNG_BIT_GENERATOR or op.attributes["rng_algorithm"] != "THREE_FRY":
        return False
    return op.results[1].tensor.dtype in WHOLE_BYTES


class _Copy:
    """Copies regions, replacing values."""

    def __init__(self, values: dict[Value, Value]) -> None:
        self.values = values

    def region(self, source: Region) -> Region:
        """Return a copy of a region."""
        target = Region([v.type for v in source.arguments])
        self.values.update(zip(source.arguments, target.arguments, strict=True))
        self.append(source, target)
        target.returns = [self.values.get(v, v) for v in source.returns]
        return target

    def append(self, source: Region, target: Region) -> None:
        """Append copies of a region's ops to another region."""
        for op in source.ops:
            operands = [self.values.get(v, v) for v in op.operands]
            for number in filled_by(op):
                operands[number] = unwritten(operands[number].type, target.ops.append)
            if _is_expanded(op):
                results = self._expanded(op, operands, target)
            else:
                target.ops.append(self._copied(op, operands))
                results = target.ops[-1].results
            self.values.update(zip(op.results, results, strict=True))

    def _copied(self, op: Op, operands: list[Value]) -> Op:
        regions, types = [self.region(inner) for inner in op.regions], [v.type for v in op.results]
        return Op(op.definition, operands, op.attributes, regions, types, op.location)

    def _expanded(self, op: Op, operands: list[Value], target: Region) -> list[Value]:
        if op.definition is OPTIMIZATION_BARRIER:
            return operands
        if op.definition is DOT_GENERAL:
            return [expand_product(op, operands, target.ops.append)]
        if op.definition is REDUCE and is_short_sum(op):
            return expand_short_sum(op, lambda value: self.values.get(value, value), target.ops.append)
        if op.definition is REDUCE:
            return expand_complex_sums(op, operands, target.ops.append)
        if is_sliding(op):
            return expand_sliding(op, operands, target.ops.append, self.region)
        if is_strided_update(op):
            update = op.operands[1].owner.operands[0]  # type: ignore[union-attr]
            return [strided_update(op, [operands[2], self.values.get(update, update)], target.ops.append)]
        if op.definition is RNG_BIT_GENERATOR:
            return self._inlined(three_fry(op.results[1].tensor).body, operands, target)
        callee = op.attributes["callee" if op.definition is CALL else "decomposition"].body
        return self._inlined(callee, operands, target)

    def _inlined(self, callee: Region, operands: list[Value], target: Region) -> list[Value]:
        inner = _Copy(dict(zip(callee.arguments, operands, strict=True)))
        inner.append(callee, target)
        return [inner.values.get(v, v) for v in callee.returns]
