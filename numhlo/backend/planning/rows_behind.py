"""What rounds of a loop compute for stacked results alone: of all rows behind the loop.

A round that stacks ``log(h) + x[i] / h`` and goes on with ``h`` stacks ``h`` instead; the rest is SIMD code over all
rows. That is done where one value of the round and rows of the loop's inputs are enough, so that no more is stored.
"""

from __future__ import annotations

from collections.abc import Mapping

from numhlo.backend.planning.rows_ahead import DEAR, FEWEST_ROWS, MOST_ELEMENTS, Rows, has_rows_ahead, is_moved
from numhlo.backend.planning.unwritten import is_unwritten
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.indexing import DYNAMIC_UPDATE_SLICE
from numhlo.lowering.ops.layout import RESHAPE
from numhlo.lowering.ops.primitive import make_op


def compute_rows_behind(region: Region) -> int:
    """Move what only stacked results need behind their loops, in a region that nobody else holds; return how many.

    Arrays that a loop fills are unwritten memory before. The ops that nothing needs then stay.
    """
    known: dict[Value, Value] = {}
    inside = 0
    ops: list[Op] = []
    for op in region.ops:
        if known:
            _rename(op, known)
        for body in op.regions:
            inside += compute_rows_behind(body)
        ops.append(op)
        if op.regions and has_rows_ahead(op):
            for number, operand in enumerate(op.operands):
                moved = _moved(op, number, ops) if is_unwritten(operand) else None
                if moved is not None:
                    known[op.results[number]] = moved
    region.ops = ops
    region.returns = [known.get(v, v) for v in region.returns]
    return inside + len(known)


def _rename(op: Op, known: Mapping[Value, Value]) -> None:
    """Let an op, and all in its regions, use other values for some."""
    op.operands = [known.get(v, v) for v in op.operands]
    for region in op.regions:
        region.returns = [known.get(v, v) for v in region.returns]
        for inner in region.ops:
            _rename(inner, known)


def _moved(loop: Op, number: int, after: list[Op]) -> Value | None:
    """Let a loop stack what a row is computed of, append what computes all rows, and return these; None if it can't."""
    body, result = loop.regions[1], loop.results[number]
    update, (count, *_) = body.returns[number].owner, result.tensor.shape
    if not isinstance(update, Op) or update.definition is not DYNAMIC_UPDATE_SLICE:
        return None
    array = update.operands[0]
    if array is not body.arguments[number] or count < FEWEST_ROWS or result.tensor.size > MOST_ELEMENTS:
        return None
    rows = Rows(loop, after)
    rows.note_all()
    row, index = update.operands[1:3]
    late = [op for op in _late_ops(body, update) if op.result not in rows.fixed]
    made = {op.result for op in late}
    used = dict.fromkeys(value for op in late for value in op.operands if value not in made)
    others = [value for value in used if not rows.is_fixed(value) and not rows.is_at(value, index, count)]
    if row not in made or len(others) != 1:
        return None
    (kept,) = others
    if kept.tensor.dtype != row.tensor.dtype or kept.tensor.size != row.tensor.size:
        return None
    stacked = make_op(RESHAPE, [result], results=[kept.tensor.with_shape((count, *kept.tensor.shape))])
    rows.take(kept, index, rows.make(stacked))
    for op in late:
        rows.note(op)
    if rows.costs[row] < DEAR:
        return None
    shaped = make_op(RESHAPE, [kept], results=[row.type])
    body.ops.insert(body.ops.index(update), shaped)
    update.operands[1] = shaped.result
    found = rows.make(make_op(RESHAPE, [rows.arrays[row]], results=[result.type]))
    rows.append(found)
    return found


def _late_ops(body: Region, update: Op) -> list[Op]:
    """Return the ops whose results nothing needs but the row that an update writes."""
    users: dict[Value, list[Op]] = {}
    for op in body.ops:
        for value in {*op.operands, *(free_values(op) if op.regions else ())}:
            users.setdefault(value, []).append(op)
    early = {*body.returns, update.operands[0], *update.operands[2:]}
    late = {update}
    for op in reversed(body.ops):
        if is_moved(op) and op.result not in early and late.issuperset(users.get(op.result, [None])):
            late.add(op)
    return [op for op in body.ops if op in late and op is not update]
