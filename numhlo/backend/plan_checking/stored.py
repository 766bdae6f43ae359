"""How many elements of a buffer launches store at most, by counting iterations; and which of them only copy."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from numhlo.backend.kernels import ir
from numhlo.backend.plan_checking.effects import effects_of, ir_of
from numhlo.backend.primitives.memory import address, number
from numhlo.backend.program import Kernel, Launch

COMBINING: Mapping[object, Callable[[int, int], int]] = {
    callee: callee for callee in (operator.add, operator.sub, operator.mul, operator.and_)
}


@lru_cache(maxsize=8192)
def _copies(kernel: Kernel) -> bool:
    """Return whether a kernel copies each unit's element of buffer 1 to buffer 0, and does nothing else."""
    lets = [s.value for s in ir_of(kernel).entry.body if isinstance(s, ir.Let)]
    match [s for s in ir_of(kernel).entry.body if not isinstance(s, ir.Let)]:
        case [
            ir.For(
                counter=counter,
                start=ir.Read(variable=ir.Variable(name="lo")),
                stop=ir.Read(variable=ir.Variable(name="hi")),
                body=[ir.Let(variable=element, value=ir.Load() as load), ir.Store() as store],
            )
        ] if all(isinstance(value, ir.Call) and value.callee is address for value in lets):
            buffers = store.pointer.type, load.pointer.type
            read = [node.variable for node in (store.value, store.index, load.index) if isinstance(node, ir.Read)]
            is_copy = store.storage == load.storage and not store.rounded
            return is_copy and buffers == (ir.Pointer(0), ir.Pointer(1)) and read == [element, counter, counter]
    return False


def copied_buffers(launch: Launch) -> tuple[int, int] | None:
    """Return the buffer that a launch copies, and the one that it copies it to, if that is all that it does."""
    if len(launch.buffers) == 2 and _copies(launch.kernel):
        return launch.buffers[1], launch.buffers[0]
    return None


def stored_elements(unit: Sequence[Launch], number: int) -> int | None:
    """Return how many elements of a buffer the kernels of some launches store at most; None if that can't be told."""
    counts = [_stored(launch, number) for launch in unit]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _stored(launch: Launch, number: int) -> int | None:
    """Return how many elements of a buffer a kernel stores at most; None if that can't be told."""
    places = {place for place, buffer in enumerate(launch.buffers) if buffer == number}
    if effects_of(launch.kernel).writes.isdisjoint(places):
        return 0
    kernel = ir_of(launch.kernel).entry
    _, _, _, first, end = kernel.parameters
    return _count(kernel.body, places, {first: 0, end: launch.extent}, launch.dims)


def _count(
    body: Sequence[ir.Statement], places: set[int], known: dict[ir.Variable, int], dims: Sequence[int]
) -> int | None:
    """Return how often statements store to some buffers, each store being of one element."""
    total = 0
    for statement in body:
        if isinstance(statement, ir.Let):
            value = _number(statement.value, known, dims)
            if value is not None:
                known[statement.variable] = value
        count = _stores(statement, places)
        inner = [_count(block, places, known, dims) for block in ir.blocks_of(statement)]
        for each in inner:
            count = None if count is None or each is None else count + each
        if count and isinstance(statement, ir.For | ir.While):
            iterations = _iterations(statement, known, dims)
            count = None if iterations is None else count * iterations
        if count is None:
            return None
        total += count
    return total


def _stores(statement: ir.Statement, places: set[int]) -> int | None:
    """Return how many elements a statement stores; None if it does something else with the pointers."""
    for node in ir.expressions(statement):
        if isinstance(node, ir.Call) and any(_points(operand, places) for operand in node.operands):
            return None
    return int(isinstance(statement, ir.Store) and _points(statement.pointer, places))


def _points(node: ir.Expression, places: set[int]) -> bool:
    return isinstance(node.type, ir.Pointer) and node.type.buffer in places


def _iterations(loop: ir.For | ir.While, known: Mapping[ir.Variable, int], dims: Sequence[int]) -> int | None:
    if isinstance(loop, ir.While):
        return None
    start, stop, step = (_number(bound, known, dims) for bound in (loop.start, loop.stop, loop.step))
    return None if start is None or stop is None or not step else len(range(start, stop, step))


def _number(node: ir.Expression, known: Mapping[ir.Variable, int], dims: Sequence[int]) -> int | None:
    """Return what an expression is, if it does not depend on where a loop is."""
    match node:
        case ir.Constant(value=int(value)):
            return value
        case ir.Read(variable=variable):
            return known.get(variable)
        case ir.Call(callee=callee, operands=(_, ir.Constant(value=int(place)))) if callee is number:
            return dims[place] if place < len(dims) else None
        case ir.Call(callee=callee, operands=(lhs, rhs)) if callee in COMBINING:
            left, right = _number(lhs, known, dims), _number(rhs, known, dims)
            return None if left is None or right is None else COMBINING[callee](left, right)
    return None
