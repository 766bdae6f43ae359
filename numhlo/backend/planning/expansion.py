"""Expands calls, barriers, small products, short sums, sizes that are compared, and composites without a kernel.

The planner sees plain ops. The function is left as it is; where there is something to expand, or to put into another
order, its ops are copied. A callee's ops are copied for every call, since values stand for one buffer each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from numhlo.backend.emit.special import has_kernels, is_library_call
from numhlo.backend.emit.support import emits_element
from numhlo.backend.planning.affine_gathers import is_affine_gather, windows_of_gather
from numhlo.backend.planning.bit_widths import PATTERNS, changes_width, expand_width_change
from numhlo.backend.planning.compared_sizes import expand_size_comparison, is_size_comparison
from numhlo.backend.planning.complex_sums import expand_complex_sums, is_complex_sum
from numhlo.backend.planning.filled import WRITES, filled, filling_of, uses_of
from numhlo.backend.planning.late_operands import EXTREMES, is_chained, put_late_operands_last
from numhlo.backend.planning.reached import JOINED
from numhlo.backend.planning.rows_ahead import compute_rows_ahead, has_rows_ahead
from numhlo.backend.planning.rows_behind import compute_rows_behind
from numhlo.backend.planning.seams import cut_at_seams, has_seams
from numhlo.backend.planning.short_sums import expand_short_sum, is_short_sum
from numhlo.backend.planning.sinking import sunk_into
from numhlo.backend.planning.sliding import SLIDING, expand_sliding, is_sliding
from numhlo.backend.planning.small_products import expand_product, product_pattern
from numhlo.backend.planning.straight_lanes import is_straight, straighten
from numhlo.backend.planning.strided_updates import is_strided_update, strided_update
from numhlo.backend.planning.unwritten import filled_by, unwritten
from numhlo.lowering.ir import Op, Region, Substitution, Value
from numhlo.lowering.ops.comparison import COMPARE, SELECT
from numhlo.lowering.ops.contraction import DOT_GENERAL
from numhlo.lowering.ops.control_flow import CALL, CASE, COMPOSITE, IF, OPTIMIZATION_BARRIER, WHILE
from numhlo.lowering.ops.conversion import BITCAST_CONVERT
from numhlo.lowering.ops.indexing import GATHER
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.ops.random_bits import RNG_BIT_GENERATOR
from numhlo.lowering.ops.random_bits_decompositions import philox, three_fry
from numhlo.lowering.ops.reduction import REDUCE
from numhlo.lowering.passes.dead_ops import remove_dead_ops
from numhlo.lowering.passes.outlining import is_outlined


def expand(region: Region) -> Region:
    """Return a region without what is expanded: composites that have no kernel, and calls but of subroutines, too.

    Examples
    --------
    >>> region = Region()
    >>> expand(region) is region
    True
    """
    if not any(map(_is_changed, region.walk())):
        return region
    copy = _Copy({})
    expanded = copy.region(region)
    moved = 0
    if any(op.regions for op in expanded.ops):
        moved = compute_rows_ahead(expanded) + compute_rows_behind(expanded)
    if moved or copy.drops:
        remove_dead_ops(expanded)
    put_late_operands_last(expanded)
    if cut_at_seams(expanded):
        remove_dead_ops(expanded)
    return expanded


def _is_changed(op: Op) -> bool:
    if op.definition not in _LOOKED_AT:
        return False
    changed = _expansion(op) or filled_by(op) or sunk_into(op) or is_chained(op) or has_rows_ahead(op)
    return bool(changed) or has_seams(op) or (op.definition in WRITES and filling_of(op) is not None)


def _is_plain_composite(op: Op) -> bool:
    """Return whether a composite's decomposition takes its place."""
    return is_straight(op) or not (emits_element(op) or has_kernels(op) or is_library_call(op))


def _is_hash(op: Op) -> bool:
    """Return whether an op makes random bits that kernels can compute: not of floats that they hold as wider ones."""
    output = op.results[1].tensor
    return output.dtype in PATTERNS and (op.attributes["rng_algorithm"] == "THREE_FRY" or output.size > 0)


EXPANDED: dict[Primitive, Callable[[Op], bool | Region | None]] = {
    COMPOSITE: _is_plain_composite,
    DOT_GENERAL: product_pattern,
    REDUCE: lambda op: is_complex_sum(op) or is_short_sum(op),
    **dict.fromkeys(SLIDING, is_sliding),
    GATHER: is_affine_gather,
    SELECT: is_strided_update,
    COMPARE: is_size_comparison,
    RNG_BIT_GENERATOR: _is_hash,
    BITCAST_CONVERT: changes_width,
    CALL: lambda op: not is_outlined(op.attributes["callee"]),
    OPTIMIZATION_BARRIER: lambda op: True,
}
"""Which uses of these ops are expanded, or to what; of others, none is."""

_LOOKED_AT = frozenset([*EXPANDED, *JOINED, *EXTREMES, *WRITES, WHILE, IF, CASE])
"""The only ops that `_is_changed` may hold of: most regions of unrolled loops have none, and are not copied."""


def _expansion(op: Op) -> bool | Region | None:
    """Return whether an op is expanded, or what to."""
    asked = EXPANDED.get(op.definition)
    return asked is not None and asked(op)


class _Copy:
    """Copies regions, replacing values.

    Attributes
    ----------
    drops : bool
        Some operand was left out on the way: what made it may have no use any more.
    """

    def __init__(self, values: Mapping[Value, Value]) -> None:
        self.values = Substitution(values)
        self.drops = False
        self._constants: dict[Region, dict[Op, Value]] = {}

    def region(self, source: Region, sunk: Sequence[Op] = ()) -> Region:
        """Return a copy of a region, with copies of some ops from outside at its beginning."""
        target = Region([v.type for v in source.arguments])
        self.values.update(zip(source.arguments, target.arguments, strict=True))
        for op in sunk:
            target.ops.append(self._copied(op, self._replaced(op.operands)))
            self.values[op.result] = target.ops[-1].result
        self.append(source, target)
        target.returns = self._replaced(source.returns)
        return target

    def _replaced(self, values: Sequence[Value]) -> list[Value]:
        return list(map(self.values.__getitem__, values))

    def append(self, source: Region, target: Region) -> None:
        """Append copies of a region's ops to another region."""
        constants = self._constants.setdefault(target, {})
        uses = cache(lambda: uses_of(source))
        for op in source.ops:
            operands = self._replaced(op.operands)
            if op.definition not in _LOOKED_AT and not op.regions:  # most
                copy = self._copied(op, operands)
                target.ops.append(copy)
                for value, copied in zip(op.results, copy.results, strict=True):
                    self.values[value] = copied
                continue
            for number in filled_by(op) if op.regions else ():
                operands[number] = unwritten(operands[number].type, target.ops.append)
                self.drops = True
            expansion = _expansion(op)
            filling = filling_of(op, uses) if op.definition in WRITES else None
            if filling is not None:
                results = [filled(filling, self.values, op.result, target.ops.append)]
                self.drops = True
            elif isinstance(expansion, Region):
                results = [expand_product(expansion, operands, op.location, target, constants)]
            elif expansion:
                results = self._expanded(op, operands, target)
                self.drops = True
            else:
                copy = self._copied(op, operands)
                target.ops.append(copy)
                results = copy.results
            self.values.update(zip(op.results, results, strict=True))

    def _copied(self, op: Op, operands: list[Value]) -> Op:
        regions: Sequence[Region] = ()
        if op.regions:
            sunk = sunk_into(op)
            copy = _Copy(self.values) if sunk else self  # outside, the values are what they were
            self.drops = self.drops or bool(sunk)
            regions = [copy.region(inner, sunk) for inner in op.regions]
        return Op(op.definition, operands, op.attributes, regions, [v.type for v in op.results], op.location)

    def _expanded(self, op: Op, operands: list[Value], target: Region) -> list[Value]:
        if op.definition is OPTIMIZATION_BARRIER:
            return operands
        if op.definition is COMPARE:
            return expand_size_comparison(op, self.values.__getitem__, target.ops.append)
        if op.definition is REDUCE:
            return self._summed(op, operands, target)
        if op.definition is BITCAST_CONVERT or is_straight(op):
            write = expand_width_change if op.definition is BITCAST_CONVERT else straighten
            return write(op, operands, target.ops.append)
        if is_affine_gather(op) or is_strided_update(op):
            return [self._seen(op, operands, target)]
        if is_sliding(op):
            return expand_sliding(op, operands, target.ops.append, self.region)
        if op.definition is RNG_BIT_GENERATOR:
            state, output = (v.tensor for v in op.results)
            by_hash = three_fry(output) if op.attributes["rng_algorithm"] == "THREE_FRY" else philox(state, output)
            return self._inlined(by_hash.body, operands, target)
        callee = op.attributes["callee" if op.definition is CALL else "decomposition"].body
        return self._inlined(callee, operands, target)

    def _seen(self, op: Op, operands: list[Value], target: Region) -> Value:
        """Return what reads or writes a regular part of an array."""
        if not is_strided_update(op):
            return windows_of_gather(op, operands[0], target.ops.append)
        update = op.operands[1].owner.operands[0]  # type: ignore[union-attr]
        return strided_update(op, [operands[2], self.values[update]], target.ops.append)

    def _summed(self, op: Op, operands: list[Value], target: Region) -> list[Value]:
        if is_short_sum(op):
            return expand_short_sum(op, self.values.__getitem__, target.ops.append)
        return expand_complex_sums(op, operands, target.ops.append)

    def _inlined(self, callee: Region, operands: list[Value], target: Region) -> list[Value]:
        inner = _Copy(dict(zip(callee.arguments, operands, strict=True)))
        inner.append(callee, target)
        return inner._replaced(callee.returns)
