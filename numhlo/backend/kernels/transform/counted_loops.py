"""Loops that count by one up to a limit, and change no other variable, in the forms that writers give them."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from numhlo.backend import primitives
from numhlo.backend.kernels import ir
from numhlo.backend.kernels.effects import effects_of
from numhlo.backend.kernels.transform.rewriting import is_integer, key_of, variables_in
from numhlo.lowering.ir.records import record


@record(frozen=True, slots=True)
class CountedLoop:
    """A loop whose iterations may be counted: it runs as ``while counter < end`` does.

    Attributes
    ----------
    counter : Variable
        An int64 that is one more in each iteration; no iteration assigns anything else.
    end : Expression
        A literal, or a variable that no iteration changes, perhaps converted.
    body : list of Statement
        An iteration, without the test and the counter's step.
    line : int
    """

    counter: ir.Variable
    end: ir.Expression
    body: list[ir.Statement]
    line: int


def counted_loop(
    statement: ir.Statement, before: Sequence[ir.Statement], around: ir.Statement | None
) -> CountedLoop | None:
    """Return what is known of a loop, None if it is not of this kind.

    ``while True: if not i < n: break; ...; i = i + 1`` is, and so is ``while True: if i == stop: break; ...`` inside
    ``while i < n: stop = min(i + strip, n); ...``, where the counter can't begin behind the limit.

    Parameters
    ----------
    statement : Statement
    before : sequence of Statement
        What stands before it in its block.
    around : Statement or None
        What its block is a part of.
    """
    if not isinstance(statement, ir.While) or not _is_true(statement.condition):
        return None
    test = next((k for k, inner in enumerate(statement.body) if not isinstance(inner, ir.Let)), None)
    if test is None:
        return None
    defined = {inner.variable: inner.value for inner in statement.body[:test] if isinstance(inner, ir.Let)}
    way_out = statement.body[test]
    if not isinstance(way_out, ir.If) or way_out.otherwise or [type(s) for s in way_out.then] != [ir.Break]:
        return None
    found = _limit(way_out.condition, defined, before, around)
    rest = statement.body[test + 1 :]
    if found is None or any(variables_in(v) & defined.keys() for s in ir.walk(rest) for v in ir.values_of(s)):
        return None
    counter, end = found
    effects = [effects_of(inner) for inner in (*statement.body[:test], *rest)]
    if any(e.leaves or e.other for e in effects) or {v for e in effects for v in e.assigns} != {counter}:
        return None
    body = _without_step(rest, counter)
    if body is None or variables_in(end) & defined.keys():
        return None
    return CountedLoop(counter, end, body, statement.line)


def _is_true(node: ir.Expression) -> bool:
    return isinstance(node, ir.Constant) and node.value is True


def _limit(
    condition: ir.Expression,
    defined: dict[ir.Variable, ir.Expression],
    before: Sequence[ir.Statement],
    around: ir.Statement | None,
) -> tuple[ir.Variable, ir.Expression] | None:
    """Return the counter, and what it stays below, of a loop that ends where a condition holds."""
    match condition:
        case ir.Not(operand=operand):
            while isinstance(operand, ir.Read) and operand.variable in defined:
                operand = defined[operand.variable]
            return _compared(operand, operator.lt)
        case ir.Call(callee=operator.eq):
            found = _compared(condition, operator.eq)
            return found if found is not None and _begins_before(*found, before, around) else None
        case _:
            return None


def _compared(node: ir.Expression, callee: object) -> tuple[ir.Variable, ir.Expression] | None:
    match node:
        case ir.Call(callee=own, operands=(ir.Read(variable=counter), end)) if own is callee and _is_plain(end):
            return (counter, end) if counter.mutable and counter.type == end.type == ir.INT64 else None
        case _:
            return None


def _is_plain(node: ir.Expression) -> bool:
    """Return whether an expression is a literal or a variable, perhaps converted."""
    if isinstance(node, ir.Call) and node.callee is primitives.to_i64:
        return _is_plain(node.operands[0])
    return isinstance(node, ir.Constant | ir.Read)


def _begins_before(
    counter: ir.Variable, end: ir.Expression, before: Sequence[ir.Statement], around: ir.Statement | None
) -> bool:
    """Return whether a limit is that of a strip, which begins below it: ``while i < n: stop = min(i + strip, n)``."""
    if not isinstance(around, ir.While) or len(before) != 1:
        return False
    whole = _compared(around.condition, operator.lt)
    match before[0], end:
        case ir.Let(variable=stop, value=ir.Call(callee=least, operands=(ahead, limit))), ir.Read(variable=read):
            if read is not stop or least is not min or whole is None or whole[0] is not counter:
                return False
            return key_of(limit) == key_of(whole[1]) and _is_ahead(ahead, counter)
        case _:
            return False


def _is_ahead(node: ir.Expression, counter: ir.Variable) -> bool:
    """Return whether a value is the counter and a positive number."""
    match node:
        case ir.Call(callee=operator.add, operands=(ir.Read(variable=variable), ir.Constant(value=int(strip)))):
            return variable is counter and strip > 0
        case _:
            return False


def _without_step(body: list[ir.Statement], counter: ir.Variable) -> list[ir.Statement] | None:
    """Return an iteration without the counter's step, which is its last statement; None where it is something else."""
    if not body or not isinstance(body[-1], ir.Assign) or body[-1].variable is not counter:
        return None
    last, rest = body[-1], body[:-1]
    if any(isinstance(s, ir.Assign) for s in ir.walk(rest)):
        return None
    made = next((s for s in rest if isinstance(s, ir.Let) and _reads(last.value, s.variable)), None)
    if not _is_step(last.value if made is None else made.value, counter):
        return None
    others = [s for s in rest if s is not made]
    if made is None or any(made.variable in variables_in(v) for s in ir.walk(others) for v in ir.values_of(s)):
        return rest
    return others


def _reads(node: ir.Expression, variable: ir.Variable) -> bool:
    return isinstance(node, ir.Read) and node.variable is variable


def _is_step(node: ir.Expression, counter: ir.Variable) -> bool:
    match node:
        case ir.Call(callee=callee, operands=(ir.Read(variable=variable), amount)):
            while isinstance(amount, ir.Call) and amount.callee is primitives.to_i64:
                (amount,) = amount.operands
            is_sum = callee is operator.add or callee is primitives.add
            return is_sum and variable is counter and is_integer(amount, 1)
        case _:
            return False
