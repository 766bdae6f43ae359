"""Loop rolling: stores of neighbours in memory that are computed alike become one loop.

What an iteration of a loop computes of a state with many like variables is written out for each. Where those of
neighbours differ only in their places, and in constants, one store in a loop with a counter takes the place of all:
LLVM makes SIMD code of it, and has less to read.

The state lies in two halves of an array on the stack that are read and written in turn (`_Halves` says how that is
recognized), so what an iteration loads is the same before and behind its stores. They stay in their order, from one
end to the other, as loads of the next iteration are: a load of a vector waits until all stores to it have reached the
cache.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import field
from itertools import count, groupby

from numhlo.backend import primitives
from numhlo.backend.kernels import ir
from numhlo.backend.kernels.effects import effects_of
from numhlo.backend.kernels.transform.rewriting import integer, key_of, loads_in, own_part, plus, rewritten
from numhlo.lowering.ir.records import record

LEAST = 8
"""Neighbours that are worth a loop."""

MOST_PARTS = 32
"""Definitions that are put together for one of them."""

MOST_USES = 2
"""Variables that are used more often are computed once, before the loop."""

LITERALS = frozenset(
    {primitives.to_f32, primitives.to_f64, primitives.f32_from_bits, primitives.f64_from_bits},
)
"""Calls that are literals, where they are of literals."""


def roll_stores(module: ir.Module) -> bool:
    """Make loops of the stores of neighbours that are computed alike.

    Returns
    -------
    bool
        Whether there were any.
    """
    found = [_FunctionRolling(function).run() for function in module.functions]
    return any(found)


@record(frozen=True, slots=True)
class _Halves:
    """An array on the stack of which an iteration of a loop reads one half and writes the other.

    ``there = DISTANCE - here`` in each iteration, and ``here`` is never assigned but 0 and, after the stores,
    ``there``: so one is 0 and the other ``DISTANCE``, and places below it in one half are none in the other.
    """

    pointer: ir.Variable
    here: ir.Variable
    there: ir.Variable
    distance: int


@record(slots=True)
class _Formula:
    """How one neighbour is computed.

    Attributes
    ----------
    kind : hashable
        What neighbours must have in common.
    constants : list of Expression
        What is the same in all iterations, in order.
    """

    kind: Hashable = None
    constants: list[ir.Expression] = field(default_factory=list)


class _FunctionRolling:
    """Looks through a function for loops whose iterations end with such stores."""

    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.arrays = {
            s.variable: s.value.operands
            for s in function.body
            if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.callee is primitives.stack_array
        }
        self.changed = False

    def run(self) -> bool:
        """Roll what can be rolled, and return whether anything was."""
        if self.arrays:
            self.block(self.function.body)
        return self.changed

    def block(self, statements: list[ir.Statement]) -> None:
        """Go through a block and those inside it."""
        for statement in list(statements):
            for inner in ir.blocks_of(statement):
                self.block(inner)
            if isinstance(statement, ir.While | ir.For):
                self.iteration(statement.body)

    def iteration(self, body: list[ir.Statement]) -> None:
        """Roll the stores of a loop's iteration."""
        for run in list(_runs(body)):
            halves = self.halves(body, run)
            if halves is not None:
                self.roll(body, run, halves)

    def halves(self, body: list[ir.Statement], run: Sequence[ir.Store]) -> _Halves | None:
        """Return the array that stores go to, None if it is not of that kind."""
        pointer, index = run[0].pointer, run[0].index
        assert isinstance(pointer, ir.Read)
        there = _base(index)
        made = next((s.value for s in body if isinstance(s, ir.Let) and s.variable is there), None)
        if pointer.variable not in self.arrays or not isinstance(made, ir.Call) or made.callee is not operator.sub:
            return None
        distance, here = made.operands
        if not isinstance(here, ir.Read) or not here.variable.mutable:
            return None
        if not isinstance(distance, ir.Constant) or not isinstance(distance.value, int):
            return None
        found = _Halves(pointer.variable, here.variable, there, distance.value)
        return found if self._are_apart(found, body, run) else None

    def _are_apart(self, found: _Halves, body: list[ir.Statement], run: Sequence[ir.Store]) -> bool:
        """Return whether what the iteration loads of its half is the same before and behind the stores."""
        before = body[: body.index(run[0])]
        own = set(map(id, run))
        for statement in ir.walk(self.function.body):
            if isinstance(statement, ir.Assign) and statement.variable is found.here:
                value = statement.value
                is_there = isinstance(value, ir.Read) and value.variable is found.there
                if not is_there and not (isinstance(value, ir.Constant) and value.value == 0):
                    return False
            for node in ir.expressions(statement):
                if isinstance(node, ir.Call) and any(_reads(operand, found.pointer) for operand in node.operands):
                    return False
        for statement in ir.walk(body):
            if (
                isinstance(statement, ir.Store)
                and id(statement) not in own
                and _reads(statement.pointer, found.pointer)
            ):
                return False
        if any(isinstance(s, ir.Assign) and s.variable is found.here for s in ir.walk(before)):
            return False
        return all(0 <= _number(store.index) < found.distance for store in run)

    def roll(self, body: list[ir.Statement], run: Sequence[ir.Store], halves: _Halves) -> None:
        """Make loops of a run of stores where that is worth it."""
        reading = _Reading(body, halves)
        formulas = [reading.formula(store.value, _number(store.index)) for store in run]
        kinds = [place if formula is None else formula.kind for place, formula in enumerate(formulas)]
        start = body.index(run[0])
        made: list[ir.Statement] = []
        for _, group in groupby(range(len(run)), kinds.__getitem__):
            alike = list(group)
            found = [formula for formula in (formulas[k] for k in alike) if formula is not None]
            loop = self.loop(body, [run[k] for k in alike], found, reading) if len(found) >= LEAST else None
            made += [run[k] for k in alike] if loop is None else [loop]
        if len(made) < len(run):
            self.changed = True
            body[start : start + len(run)] = made

    def loop(
        self, body: list[ir.Statement], stores: Sequence[ir.Store], alike: Sequence[_Formula], reading: _Reading
    ) -> ir.For | None:
        """Return the loop for some stores; None where constants differ that are none everywhere."""
        first, line, halves = _number(stores[0].index), stores[0].line, reading.halves
        columns: list[Sequence[ir.Expression]] = list(zip(*[formula.constants for formula in alike], strict=True))
        differ = [len({key_of(constant) for constant in column}) > 1 for column in columns]
        known = {s.variable for s in self.function.body if isinstance(s, ir.Let)}
        if any(
            d and not all(_is_constant(c, known) for c in column) for d, column in zip(differ, columns, strict=True)
        ):
            return None
        storage = stores[0].storage
        place = ir.Variable("place", ir.INT64)
        counter = ir.Read(place)
        loop = ir.For(place, integer(first), integer(first + len(stores)), integer(1), [], line)
        loaded: dict[Hashable, ir.Read] = {}

        def load(pointer: ir.Variable, index: ir.Expression) -> ir.Read:
            node = ir.Load(storage, ir.Read(pointer), index, stores[0].value.type)
            key = key_of(node)
            if key not in loaded:
                variable = ir.Variable("x", node.type)
                loop.body.append(ir.Let(variable, node, line))
                loaded[key] = ir.Read(variable)
            return loaded[key]

        def element(step: int) -> ir.Read:
            return load(halves.pointer, plus(plus(ir.Read(halves.here), counter), integer(step)))

        def constant(number: int) -> ir.Expression:
            if not differ[number]:
                return columns[number][0]
            behind = ir.Call(operator.sub, (counter, integer(first)), ir.INT64)
            return load(self.table(halves.pointer, columns[number], stores[0]), behind)

        value = reading.rolled(stores[0].value, first, element, constant)
        index = plus(ir.Read(halves.there), counter)
        loop.body.append(ir.Store(storage, ir.Read(halves.pointer), index, value, stores[0].rounded, line))
        return loop

    def table(self, beside: ir.Variable, column: Sequence[ir.Expression], store: ir.Store) -> ir.Variable:
        """Return a new array on the stack that holds constants, filled as soon as all of them are known."""
        top = self.function.body
        size = self.arrays[beside][1]
        found = ir.Variable("table", beside.type)
        needed = {node.variable for node in column if isinstance(node, ir.Read)}
        made = ir.Call(primitives.stack_array, (integer(len(column)), size), found.type)
        array = ir.Let(found, made, store.line)
        last = max(k for k, s in enumerate(top) if isinstance(s, ir.Let) and s.variable in self.arrays)
        top.insert(last + 1, array)
        self.arrays[found] = made.operands
        stores = [
            ir.Store(store.storage, ir.Read(found), integer(k), constant, store.rounded, store.line)
            for k, constant in enumerate(column)
        ]
        known = [k for k, s in enumerate(top) if isinstance(s, ir.Let) and (s is array or s.variable in needed)]
        top[max(known) + 1 : max(known) + 1] = stores
        return found


def _runs(body: list[ir.Statement]) -> Iterator[Sequence[ir.Store]]:
    """Yield stores one behind the other that go to neighbours: places of an array that a variable and a number give."""
    run: list[ir.Store] = []
    for statement in body:
        fits = isinstance(statement, ir.Store) and isinstance(statement.pointer, ir.Read) and _is_place(statement.index)
        if not fits or (run and not _follows(run[-1], statement)):
            if len(run) >= LEAST:
                yield run
            run = []
        if fits and isinstance(statement, ir.Store):
            run.append(statement)
    if len(run) >= LEAST:
        yield run


def _follows(last: ir.Store, statement: ir.Statement) -> bool:
    """Return whether a store is of the next neighbour."""
    if not isinstance(statement, ir.Store) or _beside(statement) != _beside(last):
        return False
    return _number(statement.index) == _number(last.index) + 1


def _beside(store: ir.Store) -> Hashable:
    """Return what is equal for stores of neighbours."""
    return key_of(store.pointer), _base(store.index), store.storage.name, store.rounded


def _is_place(index: ir.Expression) -> bool:
    match index:
        case ir.Call(callee=operator.add, operands=(ir.Read(), ir.Constant(value=int()))):
            return True
        case _:
            return False


def _number(index: ir.Expression) -> int:
    """Return the number that is added in a place."""
    assert isinstance(index, ir.Call)
    constant = index.operands[1]
    assert isinstance(constant, ir.Constant)
    assert isinstance(constant.value, int)
    return constant.value


def _base(index: ir.Expression) -> ir.Variable:
    """Return the variable that the number is added to."""
    assert isinstance(index, ir.Call)
    variable = index.operands[0]
    assert isinstance(variable, ir.Read)
    return variable.variable


def _reads(node: ir.Expression, variable: ir.Variable) -> bool:
    return isinstance(node, ir.Read) and node.variable is variable


def _is_constant(node: ir.Expression, known: Collection[ir.Variable]) -> bool:
    """Return whether an expression is a literal, or a variable of the start of the kernel."""
    return _is_literal(node) or (isinstance(node, ir.Read) and node.variable in known)


def _is_literal(node: ir.Expression) -> bool:
    return isinstance(node, ir.Call) and node.callee in LITERALS and isinstance(node.operands[0], ir.Constant)


class _Reading:
    """What an iteration's values are computed of.

    Attributes
    ----------
    state : dict from Variable to int
        Variables that are loaded from the half that is read, and from which place.
    """

    def __init__(self, body: list[ir.Statement], halves: _Halves) -> None:
        self.halves = halves
        self.definitions = {s.variable: s.value for s in body if isinstance(s, ir.Let)}
        self.assigned = set[ir.Variable]().union(*[effects_of(statement).assigns for statement in body])
        self.inside = {s.variable for s in ir.walk(body) if isinstance(s, ir.Let)}
        nodes = [node for statement in ir.walk(body) for node in ir.expressions(statement)]
        self.uses = Counter(node.variable for node in nodes if isinstance(node, ir.Read))
        self.state = {
            variable: _number(value.index)
            for variable, value in self.definitions.items()
            if isinstance(value, ir.Load) and _reads(value.pointer, halves.pointer) and self._is_own(value.index)
        }

    def _is_own(self, index: ir.Expression) -> bool:
        return _is_place(index) and _base(index) is self.halves.here and 0 <= _number(index) < self.halves.distance

    def is_part(self, node: ir.Expression) -> bool:
        """Return whether an expression is a variable that only few others need, and may as well be computed later."""
        if not isinstance(node, ir.Read) or node.variable in self.state or self.uses[node.variable] > MOST_USES:
            return False
        value = self.definitions.get(node.variable)
        return value is not None and not loads_in(value) and effects_of(value).is_pure

    def formula(self, value: ir.Expression, place: int) -> _Formula | None:
        """Return how a value is computed that is to be stored at a place; None where that is too long, or unclear."""
        found = _Formula()
        parts = 0

        def kind_of(node: ir.Expression) -> Hashable:
            nonlocal parts
            while self.is_part(node):
                assert isinstance(node, ir.Read)
                parts += 1
                if parts > MOST_PARTS:
                    raise _UnclearError
                node = self.definitions[node.variable]
            if isinstance(node, ir.Read) and node.variable in self.state:
                return "state", self.state[node.variable] - place
            if isinstance(node, ir.Read) and node.variable in self.assigned:
                raise _UnclearError
            if _is_literal(node) or (isinstance(node, ir.Read) and node.variable not in self.inside):
                found.constants.append(node)
                return "constant", node.type
            if isinstance(node, ir.Load):
                raise _UnclearError
            operands = tuple([kind_of(operand) for operand in ir.operands_of(node)])
            return type(node), node.type, own_part(node), operands

        try:
            found.kind = kind_of(value)
        except _UnclearError:
            return None
        return found

    def rolled(
        self,
        value: ir.Expression,
        first: int,
        element: Callable[[int], ir.Expression],
        constant: Callable[[int], ir.Expression],
    ) -> ir.Expression:
        """Return the value of a place, of elements so many places further on and constants by their number."""
        numbers = count()

        def change(node: ir.Expression) -> ir.Expression | None:
            if self.is_part(node):
                assert isinstance(node, ir.Read)
                return rewritten(self.definitions[node.variable], change)
            if isinstance(node, ir.Read) and node.variable in self.state:
                return element(self.state[node.variable] - first)
            if _is_literal(node) or (isinstance(node, ir.Read) and node.variable not in self.inside):
                return constant(next(numbers))
            return None

        return rewritten(value, change)


class _UnclearError(Exception):
    """A value of which nobody knows how to compute it later."""
