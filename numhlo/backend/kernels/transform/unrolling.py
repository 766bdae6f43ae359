"""Loop unrolling under run-time dependence checks: eight iterations at a time, all their loads before all their stores.

``a[i, j] = min(a[i, j], a[i, k] + a[k, j])`` for each ``j``: nobody knows whether row ``k`` is the row that is written,
so LLVM goes one element at a time. Here the loop is versioned by tests of how far apart the places are; eight
iterations are then unrolled and jammed, and LLVM's SLP vectorizer makes SIMD code of them. An element that every
iteration reads is read once up to the iteration that writes it, and once more behind that: the loop is split there.

The loops are those of `counted_loops`, whose iterations only load, compute, and store: into places that go with the
counter, and at least once into an array that is read elsewhere too. What a branch writes over an element that was read
is written in any case, by a select.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from numhlo.backend import primitives
from numhlo.backend.kernels import ir
from numhlo.backend.kernels.transform.counted_loops import CountedLoop, counted_loop
from numhlo.backend.kernels.transform.places import Place, place_of
from numhlo.backend.kernels.transform.rewriting import (
    arithmetic,
    comparison,
    integer,
    key_of,
    loads_in,
    plus,
    rewritten,
    variables_in,
)
from numhlo.lowering.ir.records import record

TOGETHER = 8
"""Iterations that run at a time: what the largest SIMD registers hold of float64."""

MOST_STATEMENTS = 24
"""Statements of an iteration that is written out so often."""

WITHOUT_TURNS: Mapping[Any, Any] = {
    primitives.quick_minimum: primitives.minimum,
    primitives.quick_maximum: primitives.maximum,
}
"""Primitives for what waits for its turn, and what becomes SIMD code in their place."""

SIMD = frozenset(
    {
        *(primitives.add, primitives.subtract, primitives.multiply, primitives.negate, primitives.absolute),
        *(primitives.select, primitives.minimum, primitives.maximum, *WITHOUT_TURNS),
        *(primitives.to_f32, primitives.to_f64, primitives.to_i64),
    }
)
"""Primitives that LLVM makes SIMD instructions of."""

FLOAT_SIMD = SIMD | {primitives.divide, primitives.square_root}
"""Those of floats."""

Pairs = Sequence[tuple[Place, Place]]
"""Where is written, and where is read."""


def unroll_checked_loops(module: ir.Module) -> bool:
    """Unroll the loops of a module whose iterations may run together if places are far enough apart.

    Returns
    -------
    bool
        Whether there were any.
    """
    found = [_visit(function.body, None) for function in module.functions]
    return any(found)


def _visit(block: list[ir.Statement], around: ir.Statement | None) -> bool:
    changed = False
    done: list[ir.Statement] = []
    for statement in block:
        made = _unrolled(statement, done, around)
        if made is None:
            done.append(statement)
            for inner in ir.blocks_of(statement):
                changed |= _visit(inner, statement)
        else:
            done += made
            changed = True
    if changed:
        block[:] = done
    return changed


def _unrolled(
    statement: ir.Statement, before: Sequence[ir.Statement], around: ir.Statement | None
) -> list[ir.Statement] | None:
    """Return what takes the place of a loop whose iterations may run together; None where they never may, or anyway."""
    loop = counted_loop(statement, before, around)
    if loop is None:
        return None
    body = list(_without_branches(loop.body))
    if len(body) > MOST_STATEMENTS:
        return None
    found = _Iteration(loop.counter)
    if not found.read(body) or not found.is_simd():
        return None
    hazards = found.hazards()
    if hazards is None or not any(hazards):
        return None
    return _Versions(loop, found).write(*hazards)


class _Iteration:
    """What one iteration does.

    Attributes
    ----------
    definitions : dict from Variable to Expression
        In their order.
    stores : list of Store
    loaded, stored : list of (Expression, Place or None)
        Pointers, and where; None for what is no sum, or grows faster than the counter.
    """

    def __init__(self, counter: ir.Variable) -> None:
        self.counter = counter
        self.definitions: dict[ir.Variable, ir.Expression] = {}
        self.stores: list[ir.Store] = []
        self.loaded: list[tuple[ir.Load, Place | None]] = []
        self.stored: list[tuple[ir.Store, Place | None]] = []

    def read(self, body: Sequence[ir.Statement]) -> bool:
        """Take an iteration's statements; return whether they are definitions, with stores behind all loads."""
        for statement in body:
            match statement:
                case ir.Store():
                    if any(loads_in(value) for value in ir.values_of(statement)):
                        return False
                    self.stores.append(statement)
                    self.stored.append((statement, self.place(statement.index)))
                case ir.Let(variable=variable, value=value):
                    loads = loads_in(value)
                    if loads and (self.stores or loads != [value]):
                        return False
                    self.loaded += [(load, self.place(load.index)) for load in loads]
                    self.definitions[variable] = value
                case _:
                    return False
        return bool(self.stores)

    def place(self, index: ir.Expression) -> Place | None:
        """Return what a place is made of."""
        return place_of(index, self.counter, self.definitions)

    def is_simd(self) -> bool:
        """Return whether LLVM makes SIMD code of iterations that are written one behind the other."""
        values = [*self.definitions.values(), *[value for store in self.stores for value in ir.values_of(store)]]
        storages = [load.storage for load, _ in self.loaded] + [store.storage for store in self.stores]
        kinds = {storage.name[0] for storage in storages}
        known = FLOAT_SIMD if kinds == {"f"} else SIMD
        return kinds <= set("fiu") and all(_is_simd(value, known) for value in values)

    def hazards(self) -> tuple[Pairs, Pairs] | None:
        """Return which stores and loads may meet: those that keep their distance, and those of one element.

        None where iterations wait for each other whatever the distances, or nobody knows.
        """
        apart: list[tuple[Place, Place]] = []
        single: list[tuple[Place, Place]] = []
        for store, written in self.stored:
            if written is None or not written.counts:
                return None
            for load, read in self.loaded:
                same = _same_memory(store.pointer, load.pointer)
                if same is False:
                    continue
                if same is None or read is None:
                    return None
                if not read.counts:
                    single.append((written, read))
                elif not read.is_beside(written):
                    apart.append((written, read))
                elif 0 < written.number - read.number < TOGETHER:
                    return None
        return _different(apart), _different(single)

    def fixed(self) -> set[ir.Variable]:
        """Return the variables that are the same in all iterations up to one that writes what they are computed of."""
        found: set[ir.Variable] = set()
        for variable, value in self.definitions.items():
            own = {v for v in variables_in(value) if v is self.counter or v in self.definitions}
            if own <= found:
                found.add(variable)
        return found


def _is_simd(node: ir.Expression, known: frozenset[Any]) -> bool:
    match node:
        case ir.Call(callee=callee) if callee not in known and getattr(callee, "__module__", "") != "_operator":
            return False
        case ir.Logical() | ir.Conditional() | ir.Part():
            return False
    return all(_is_simd(operand, known) for operand in ir.operands_of(node))


def _same_memory(one: ir.Expression, other: ir.Expression) -> bool | None:
    """Return whether two pointers are the same; None where nobody knows, and False where they never meet."""
    if key_of(one) == key_of(other):
        return True
    left, right = one.type, other.type
    if not isinstance(left, ir.Pointer) or not isinstance(right, ir.Pointer):
        return None
    return None if left.buffer is None or right.buffer is None or left.buffer == right.buffer else False


def _different(pairs: Pairs) -> Pairs:
    return list({(store.key, load.key): (store, load) for store, load in pairs}.values())


class _Versions:
    """Writes a loop anew: from one iteration that writes what all read to the next, and there eight at a time."""

    def __init__(self, loop: CountedLoop, found: _Iteration) -> None:
        self.loop, self.found = loop, found
        self.counter = ir.Read(loop.counter)
        self.fixed = found.fixed()
        self.line = loop.line

    def write(self, apart: Pairs, single: Pairs) -> list[ir.Statement]:
        """Return the statements."""
        found, end = self.found, self.loop.end
        lines: list[ir.Statement] = []
        cut = ir.Variable("cut", ir.INT64, mutable=bool(single))
        piece: list[ir.Statement] = []
        stop: ir.Expression = ir.Read(cut)
        if single:
            piece.append(ir.Assign(cut, end, self.line))
        elif isinstance(end, ir.Constant) or (isinstance(end, ir.Read) and not end.variable.mutable):
            stop = end
        else:
            piece.append(ir.Let(cut, end, self.line))
        for store, load in single:
            split = self.let(lines, "split", arithmetic(operator.sub, load.expression(), store.expression()))
            inside = comparison(operator.le, self.counter, split), comparison(operator.lt, split, stop)
            nearer = ir.Assign(cut, plus(split, integer(1)), self.line)
            piece.append(ir.If(comparison(operator.and_, *inside), [nearer], [], self.line))
        piece += [ir.Let(v, value, self.line) for v, value in found.definitions.items() if v in self.fixed]
        tests: list[ir.Expression] = []
        for store, load in apart:
            distance = self.let(lines, "apart", arithmetic(operator.sub, store.expression(), load.expression()))
            ahead = comparison(operator.le, distance, integer(0))
            behind = comparison(operator.ge, distance, integer(TOGETHER))
            tests.append(comparison(operator.or_, ahead, behind))
        eight: ir.Statement = self.eight(stop)
        if tests:
            test = tests[0]
            for other in tests[1:]:
                test = comparison(operator.and_, test, other)
            eight = ir.If(test, [eight], [], self.line)
        piece += [eight, self.rest(stop)]
        return [*lines, ir.While(comparison(operator.lt, self.counter, end), piece, self.line)]

    def let(self, lines: list[ir.Statement], name: str, value: ir.Expression) -> ir.Expression:
        """Give a value a name in front of the loop."""
        if isinstance(value, ir.Constant):
            return value
        variable = ir.Variable(name, value.type)
        lines.append(ir.Let(variable, value, self.line))
        return ir.Read(variable)

    def rest(self, stop: ir.Expression) -> ir.While:
        """Return the loop of the iterations that are left, one at a time."""
        moving = [ir.Let(v, value, self.line) for v, value in self.found.definitions.items() if v not in self.fixed]
        body: list[ir.Statement] = [*moving, *self.found.stores, self.step(1)]
        return ir.While(comparison(operator.lt, self.counter, stop), body, self.line)

    def eight(self, stop: ir.Expression) -> ir.While:
        """Return the loop of eight iterations at a time, all loads before all stores."""
        copies = [self.copy(ahead) for ahead in range(TOGETHER)]
        body: list[ir.Statement] = [line for lines, _ in copies for line in lines]
        body += [line for _, lines in copies for line in lines]
        last = arithmetic(operator.sub, stop, integer(TOGETHER))
        return ir.While(comparison(operator.le, self.counter, last), [*body, self.step(TOGETHER)], self.line)

    def step(self, count: int) -> ir.Assign:
        """Return the counter's step."""
        return ir.Assign(self.loop.counter, plus(self.counter, integer(count)), self.line)

    def copy(self, ahead: int) -> tuple[list[ir.Statement], list[ir.Statement]]:
        """Return the definitions and the stores of the iteration so many iterations ahead."""
        own: dict[ir.Variable, ir.Expression] = {}
        own[self.loop.counter] = plus(self.counter, integer(ahead)) if ahead else self.counter

        def change(node: ir.Expression) -> ir.Expression | None:
            return own.get(node.variable) if isinstance(node, ir.Read) else None

        def simd(node: ir.Expression) -> ir.Expression | None:
            if isinstance(node, ir.Call) and node.callee in WITHOUT_TURNS:
                operands = tuple([rewritten(operand, simd) for operand in node.operands])
                return ir.Call(WITHOUT_TURNS[node.callee], operands, node.type)
            return change(node)

        definitions: list[ir.Statement] = []
        for variable, value in self.found.definitions.items():
            if variable not in self.fixed:
                made = ir.Variable(f"{variable.name}_{ahead}", variable.type)
                definitions.append(ir.Let(made, rewritten(value, simd), self.line))
                own[variable] = ir.Read(made)
        stores: list[ir.Statement] = [
            replace(
                store,
                pointer=rewritten(store.pointer, change),
                index=rewritten(store.index, change),
                value=rewritten(store.value, change),
            )
            for store in self.found.stores
        ]
        return definitions, stores


@record(slots=True)
class _Known:
    """What is known where a branch begins: definitions, loads among them, and what has been written into."""

    definitions: dict[ir.Variable, ir.Expression]
    stored: list[ir.Expression]


def _without_branches(body: Sequence[ir.Statement]) -> Iterator[ir.Statement]:
    """Yield statements: ``if c: store(p, i, x)`` as ``store(p, i, select(c, x, old))`` where old was loaded."""
    known = _Known({}, [])
    for statement in body:
        made = _stored_always(statement, known) if isinstance(statement, ir.If) else None
        for line in made or [statement]:
            if isinstance(line, ir.Store):
                known.stored.append(line.pointer)
            elif isinstance(line, ir.Let):
                known.definitions[line.variable] = line.value
            yield line


def _stored_always(branch: ir.If, known: _Known) -> list[ir.Statement] | None:
    """Return a branch that only writes an element, as statements that write it in any case; None if it is no such."""
    if not branch.then or branch.otherwise or not isinstance(branch.condition, ir.Read):
        return None
    *lines, store = branch.then
    if not isinstance(store, ir.Store) or any(_same_memory(store.pointer, p) is not False for p in known.stored):
        return None
    definitions = dict(known.definitions)
    for line in lines:
        if not isinstance(line, ir.Let) or loads_in(line.value):
            return None
        definitions[line.variable] = line.value
    wanted = key_of(store.pointer), key_of(store.index, definitions)
    for variable, value in known.definitions.items():
        if not isinstance(value, ir.Load) or value.storage is not store.storage:
            continue
        if (key_of(value.pointer), key_of(value.index, definitions)) == wanted:
            chosen = (branch.condition, store.value, ir.Read(variable))
            return [*lines, replace(store, value=ir.Call(primitives.select, chosen, store.value.type))]
    return None
