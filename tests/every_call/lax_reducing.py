"""A reducer of lax programs: leaves out and simplifies parts, as long as the program still fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tests.every_call.lax_syntax import (
    CARRYING,
    Body,
    Literal,
    Operand,
    Program,
    Statement,
    Var,
    bodies_in,
    carried,
    used_in,
)
from tests.every_call.lax_text import literal

Change = Callable[[Program], bool]
"""Changes a program in place; returns whether it did."""

Fails = Callable[[Program], bool]


def reduce_program(program: Program, fails: Fails, seconds: float = 60.0) -> Program:
    """Return a smaller program that fails as well.

    Parameters
    ----------
    program : Program
    fails : callable
        Tells whether a program fails in the way that is looked for.
    seconds : float, optional
        When to stop with the smallest one found so far.
    """
    end = time.monotonic() + seconds
    changed = True
    while changed and time.monotonic() < end:
        changed = False
        for make in (_results, _chunks, _statements, _inlined, _state, _simpler, _operands):
            number = 0
            while time.monotonic() < end:
                candidate = program.copy()
                change = next((c for k, c in enumerate(make(candidate)) if k == number), None)
                if change is None:
                    break
                change()
                tidy(candidate)
                if _weight(candidate) < _weight(program) and fails(candidate):
                    program, changed = candidate, True
                else:
                    number += 1
    return program


def _weight(program: Program) -> tuple[int, ...]:
    """Return a measure that each change has to make smaller."""
    count = size = names = iterations = 0
    for body in bodies_in(program.body):
        size += len(body.results) + len(body.parameters)
        for s in body.statements:
            count += 1
            operands = [*s.operands, *[x for b in s.bodies for x in b.results]]
            size += len(operands) + len(s.targets) + len(s.template) // 8
            names += sum(isinstance(x, Var) and int("".join(c for c in x.name if c.isdigit())) for x in operands)
            iterations += sum(x is not None for x in s.options.values())
    return (count, size, iterations, names)


def tidy(program: Program) -> None:
    """Drop statements that nothing uses, and parts of loops that nothing uses."""
    changed = True
    while changed:
        changed = False
        used = used_in(program.body)
        for body in bodies_in(program.body):
            kept = [s for s in body.statements if any(t in used for t in s.targets)]
            changed = changed or len(kept) < len(body.statements)
            body.statements = kept


def _results(program: Program) -> Iterator[Callable[[], object]]:
    """Leave a result out, keep one alone, or return what an earlier statement makes."""
    results = program.body.results
    for number in range(len(results)) if len(results) > 1 else ():
        yield lambda number=number: _keep(program, [results[number]])
    for number in range(len(results)) if len(results) > 2 else ():
        yield lambda number=number: _keep(program, results[:number] + results[number + 1 :])
    for statement in program.body.statements[:-1]:
        yield lambda made=statement.targets: _keep(program, list(made))


def _keep(program: Program, results: list[Operand]) -> None:
    program.body.results = results


def _statements(program: Program) -> Iterator[Callable[[], object]]:
    """Replace what a statement makes by another name of the type, or a constant."""
    for body, outer in _with_scopes(program.body, []):
        for number in reversed(range(len(body.statements))):
            statement = body.statements[number]
            before = [*outer, *body.parameters, *[t for s in body.statements[:number] for t in s.targets]]
            yield lambda b=body, s=statement, v=before: _remove(b, s, v)


def _chunks(program: Program) -> Iterator[Callable[[], object]]:
    """Replace what many statements at once make."""
    for body, outer in _with_scopes(program.body, []):
        count = len(body.statements)
        for length in (count // 2, count // 4):
            for start in range(0, count, length) if length > 1 else ():
                before = [*outer, *body.parameters, *[t for s in body.statements[:start] for t in s.targets]]
                chunk = body.statements[start : start + length]
                yield lambda b=body, c=chunk, v=before: [_remove(b, s, v) for s in reversed(c)]


def _with_scopes(body: Body, outer: list[Var]) -> Iterator[tuple[Body, list[Var]]]:
    yield body, outer
    known = [*outer, *body.parameters]
    for statement in body.statements:
        for inner in statement.bodies:
            yield from _with_scopes(inner, known)
        known = [*known, *statement.targets]


def _remove(body: Body, statement: Statement, before: list[Var]) -> None:
    body.statements.remove(statement)
    for target in statement.targets:
        own = [x for x in statement.operands if x in before or isinstance(x, Literal)]
        _replace(body, target, _stand_in(target, [*own, *reversed(before)]))


def _stand_in(target: Operand, others: list) -> Operand:
    found = [v for v in others if v is not target and v.type.fits(target.type)]
    return found[0] if found else literal(target.type)


def _replace(body: Body, old: Operand, new: Operand) -> None:
    for inner in bodies_in(body):
        inner.results = [new if x is old else x for x in inner.results]
        for statement in inner.statements:
            statement.operands = [new if x is old else x for x in statement.operands]


def _inlined(program: Program) -> Iterator[Callable[[], object]]:
    """Replace a statement with one body by the statements of the body, once."""
    for body in bodies_in(program.body):
        for statement in body.statements:
            if statement.kind in CARRYING or statement.kind in {"cond", "switch"}:
                yield lambda b=body, s=statement: _inline(b, s)


def _inline(body: Body, statement: Statement) -> None:
    inner, place = statement.bodies[0], body.statements.index(statement)
    skipped = CARRYING[statement.kind][1] if statement.kind in CARRYING else 0
    first = CARRYING[statement.kind][0] if statement.kind in CARRYING else 1
    body.statements[place : place + 1] = inner.statements
    for parameter in inner.parameters[:skipped]:
        _replace(body, parameter, literal(parameter.type))
    results = list(inner.results)
    count = carried(statement) if statement.kind in CARRYING else len(statement.operands) - 1
    starts = statement.operands[first : first + count]
    for parameter, start in zip(inner.parameters[skipped : skipped + count], starts, strict=True):
        results = [start if x is parameter else x for x in results]
        _replace(body, parameter, start)
    for parameter in inner.parameters[skipped + count :]:
        results = [literal(parameter.type) if x is parameter else x for x in results]
        _replace(body, parameter, literal(parameter.type))
    for target, result in zip(statement.targets, results, strict=True):
        fits = result.type.dtype == target.type.dtype and result.type.shape == target.type.shape
        _replace(body, target, result if fits else literal(target.type))


def _state(program: Program) -> Iterator[Callable[[], object]]:
    """Leave a part of a loop's state out, what it stacks, or what it goes through; or leave a part unchanged."""
    for body in bodies_in(program.body):
        for s in body.statements:
            if s.kind not in CARRYING:
                continue
            for number in range(carried(s)) if len(s.targets) > 1 and not s.options.get("tested") else ():
                yield lambda b=body, s=s, k=number: _drop_part(b, s, k)
            for number in range(carried(s), len(s.targets)):
                yield lambda b=body, s=s, k=number: _drop_stacked(b, s, k)
            for number in range(carried(s)):
                yield lambda s=s, k=number: _leave_unchanged(s, k)


def _drop_part(body: Body, s: Statement, number: int) -> None:
    at_operand, at_parameter = CARRYING[s.kind]
    start, inner = s.operands.pop(at_operand + number), s.bodies[0]
    parameter, target = inner.parameters.pop(at_parameter + number), s.targets.pop(number)
    inner.results.pop(number)
    s.options["carries"] -= 1
    s.options.pop("tested", None)
    _replace(body, parameter, start)
    _replace(body, target, start)


def _drop_stacked(body: Body, s: Statement, number: int) -> None:
    target = s.targets.pop(number)
    s.bodies[0].results.pop(number)
    _replace(body, target, literal(target.type))


def _leave_unchanged(s: Statement, number: int) -> None:
    inner = s.bodies[0]
    inner.results[number] = inner.parameters[CARRYING[s.kind][1] + number]


def _simpler(program: Program) -> Iterator[Callable[[], object]]:
    """Drop options: the number of unrolled iterations, the order, what else ends a loop."""
    for body in bodies_in(program.body):
        for s in body.statements:
            for name, plain in (("unroll", None), ("tested", None)):
                if s.options.get(name) not in {None, plain}:
                    yield lambda s=s, name=name: s.options.pop(name)
    parameters = program.body.parameters
    for number in range(len(parameters)):
        yield lambda k=number: _fill_parameter(program, k)


def _fill_parameter(program: Program, number: int) -> None:
    parameter = program.body.parameters[number]
    program.body.parameters = [p for p in program.body.parameters if p is not parameter]
    _replace(program.body, parameter, literal(parameter.type))


def _operands(program: Program) -> Iterator[Callable[[], object]]:
    """Use an earlier name in place of one, in a statement or among results."""
    for body, outer in _with_scopes(program.body, []):
        known = [*outer, *body.parameters]
        for s in body.statements:
            for number, old in enumerate(s.operands):
                yield from (_swapped(s.operands, number, v) for v in _earlier(old, known))
            known = [*known, *s.targets]
        for number, old in enumerate(body.results):
            yield from (_swapped(body.results, number, v) for v in _earlier(old, known))


def _earlier(old: Operand, known: list[Var]) -> list[Operand]:
    if isinstance(old, Literal):
        return []
    found: list[Operand] = [v for v in known if v is not old and v.type.fits(old.type)]
    return found[:3]


def _swapped(items: list[Operand], number: int, new: Operand) -> Callable[[], None]:
    def change() -> None:
        items[number] = new

    return change
