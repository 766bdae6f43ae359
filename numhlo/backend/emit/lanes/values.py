"""Which values of a lane's code differ from lane to lane, and whether that code is worth SIMD instructions.

Knows regions only; `lanes.blocks` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numhlo.backend.emit.elementwise import COSTS
from numhlo.backend.emit.reduction import emits_reduction
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.scalar_code import MOST_ELEMENTS, MOVING, NotScalarError
from numhlo.backend.emit.support import emits_element
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ops import creation, elementwise
from numhlo.lowering.ops.control_flow import CASE, COMPOSITE, IF, WHILE
from numhlo.lowering.ops.cumulative import COMBINERS
from numhlo.lowering.ops.reduction import REDUCE

CONTROL = frozenset({WHILE, IF, CASE})
PLAIN = MOVING | {creation.CONSTANT, creation.IOTA}
CHEAP = 24
"""Operations of a branch that are rather done for all lanes than asked about."""

COMPLEX = frozenset(
    {
        elementwise.ADD,
        elementwise.SUBTRACT,
        elementwise.MULTIPLY,
        elementwise.NEGATE,
        elementwise.REAL,
        elementwise.IMAG,
        elementwise.COMPLEX,
    }
)
"""Ops on complex numbers that become SIMD code; comparisons and choices do not."""


RUNNING = frozenset(f"numhlo.{name}" for name in COMBINERS)
"""Composites that add, multiply or compare the few elements of a lane, one after the other."""


def check_vectorizable(region: Region, inside: bool = False) -> None:
    """Raise unless LLVM makes SIMD code of all that lanes may do in a loop or branch of theirs.

    What every lane does anyway, once, is no worse in a block.

    Raises
    ------
    NotScalarError
        Where one lane after the other is the better way.
    """
    for value in region.arguments:
        _check_type(value)
    for op in region.ops:
        for value in op.results:
            _check_type(value)
        if op.definition in CONTROL:
            for inner in op.regions:
                check_vectorizable(inner, inside=True)
        elif op.definition is REDUCE and emits_reduction(op):
            check_vectorizable(op.regions[0], inside)
        elif not (op.definition in PLAIN or (_is_simd(op) if inside else emits_element(op))):
            raise NotScalarError(f"{op.definition.name} is no SIMD code")


def _check_type(value: Value) -> None:
    type = value.type
    if not isinstance(type, TensorType) or type.size > MOST_ELEMENTS:
        raise NotScalarError("a lane has a large array")
    if REGISTERS[type.dtype].narrow:
        raise NotScalarError(f"{type.dtype} is rounded after every op")


def _is_simd(op: Op) -> bool:
    if not emits_element(op) and not (op.definition is COMPOSITE and op.attributes["name"] in RUNNING):
        return False
    kinds = {REGISTERS[v.tensor.dtype].kind for v in (*op.operands, *op.results)}
    if "c" in kinds:
        return op.definition in COMPLEX
    if op.definition in (elementwise.DIVIDE, elementwise.REMAINDER):
        return op.definition is elementwise.DIVIDE and kinds == {"f"}
    return True


def differing_values(region: Region, arguments: Iterable[Value]) -> set[Value]:
    """Return the values, in regions inside too, that may differ from lane to lane if some arguments do."""
    found = set(arguments)
    for op in region.ops:
        if op.definition is WHILE:
            _add_loop(op, found)
        elif any(v in found for v in (*op.operands, *(free_values(op) if op.regions else ()))):
            found.update(op.results)
            for inner in op.regions:
                found |= differing_values(inner, found)
    return found


def _add_loop(op: Op, found: set[Value]) -> None:
    condition, body = op.regions
    differs = [v in found for v in op.operands]
    while True:
        arguments = [v for region in op.regions for v, flag in zip(region.arguments, differs, strict=True) if flag]
        inside = differing_values(condition, {*found, *arguments}) | differing_values(body, {*found, *arguments})
        stops = condition.returns[0] in inside
        after = [
            flag or new in inside or (stops and new is not old)
            for flag, new, old in zip(differs, body.returns, body.arguments, strict=True)
        ]
        if after == differs:
            break
        differs = after
    found |= inside
    found.update(v for v, flag in zip(op.results, differs, strict=True) if flag)


def branching(region: Region, differing: set[Value]) -> bool:
    """Return whether lanes may go different ways, or go round a loop."""
    return any(op.definition in CONTROL and any(v in differing for v in op.results) for op in region.ops)


def kept_values(region: Region, differing: set[Value]) -> set[Value]:
    """Return the differing values that are used in another loop over lanes than the one that computes them.

    Loops and branches stand between loops over lanes, and have some of their own.
    """
    kept = {v for v in region.arguments if v in differing}
    made: dict[Value, int] = {}
    number = 0

    def use(values: Iterable[Value], here: int) -> None:
        kept.update(v for v in values if v in made and made[v] != here and v in differing)

    for op in region.ops:
        if is_divergent(op, differing):
            number += 1
            use((*op.operands, *free_values(op)), -1)
            kept.update(v for v in op.results if v in differing)
            for inner in op.regions:
                kept |= kept_values(inner, differing)
        else:
            use((*op.operands, *(free_values(op) if op.regions else ())), number)
            made.update(dict.fromkeys(op.results, number))
    use(region.returns, number)
    return kept


def is_divergent(op: Op, differing: set[Value]) -> bool:
    """Return whether an op is a loop or a branch that some lanes may take and others not, and that is worth asking."""
    if op.definition not in CONTROL or not any(v in differing for v in op.results):
        return False
    return op.definition is WHILE or not all(cost(region.ops) <= CHEAP for region in op.regions)


def cost(ops: Sequence[Op]) -> float:
    """Return how many operations a lane takes for some ops; loops count as going round once, and branches fully."""
    total = 0.0
    for op in ops:
        if op.regions:
            total += sum(cost(region.ops) for region in op.regions)
            total += (CHEAP + 1) * (op.definition is WHILE)  # never cheap
        elif op.definition not in PLAIN:
            total += sum(v.tensor.size for v in op.results) * _cost_of(op)
    return total


def _cost_of(op: Op) -> int:
    if op.definition is not COMPOSITE:
        return COSTS.get(op.definition, 1)
    return 1 if op.attributes["name"] in RUNNING else COSTS[elementwise.EXPONENTIAL]
