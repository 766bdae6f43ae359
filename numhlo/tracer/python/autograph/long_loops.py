"""Loops over known ranges that would be long unrolled: after some iterations the others become a loop of the graph.

Python's own rules hold for the first iterations, and for all of them where the body needs to know the number of its
iteration (it makes lists, chooses layers of a network, slices by it), computes with Python's integers, which have no
end, or fails at the last iteration: an index out of bounds raises in the iteration and on the line where Python raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ir.errors import ConcretizationError, UnsupportedError
from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.lowering.ops import comparison, control_flow, elementwise, indexing
from numhlo.tracer.control_flow.loops import fori_loop
from numhlo.tracer.core.bind import new_trace
from numhlo.tracer.core.cell import Cell, cells_so_far
from numhlo.tracer.core.semantics import strict_integer_powers
from numhlo.tracer.core.trace import Trace, Tracer, current_trace
from numhlo.tracer.python.autograph.exchanges import Period, period
from numhlo.tracer.python.autograph.loop_slots import MovedError, Slot, Slots, UnsettledError
from numhlo.tracer.python.autograph.loop_state import LoopState, UnsizedChangeError
from numhlo.tracer.python.autograph.python_state import PythonState
from numhlo.tracer.python.autograph.undefined import Undefined
from numhlo.tracer.python.autograph.variables import Variables

LONG = 1000
"""How many operations may be left to unroll."""

REGION = 20
"""How many operations one with regions counts for, beside those in it: each has kernels of its own."""

WRITE = 30
"""How many operations an element that is written alone counts for: it is a kernel of its own, or a step of a list."""

DERIVED = 3
"""How many operations a derivative in reverse mode has for one of the function."""

FEWEST = 8
"""How many iterations must be left, so that a loop pays."""

TRIALS = 2

PATIENCE = 4
"""Iterations that may be traced in addition, until names mean the same after an iteration as before it."""

MOST_UNROLLED = 1000
"""Iterations of known loops that are traced one by one where only so names mean known arrays in the end."""


class Unrolling:
    """How many iterations of known loops may still be traced one by one, inner loops' included."""

    def __init__(self) -> None:
        self.left = MOST_UNROLLED

    def takes(self, count: int) -> bool:
        """Return whether a loop of some iterations is unrolled."""
        if count > self.left:
            return False
        self.left -= count
        return True


unrolling: ScopedValue[Unrolling | None] = ScopedValue(None)
"""Unrolls known loops that would be loops of the graph, if there is one."""

_in_rest: ScopedValue[bool] = ScopedValue(False)
"""Whether a body is being traced for all iterations of a loop over a known range."""


def must_be_counted() -> bool:
    """Return whether loops inside must have known bounds: reverse-mode derivatives of others don't exist."""
    trace = current_trace()
    while _in_rest.get() and trace is not None:
        if trace.differentiates:
            return True
        trace = trace.parent
    return False


class LongLoop:
    """Watches the iterations of a loop over a known range, and makes a loop of the graph of those that are left.

    Parameters
    ----------
    iterations : range
    body : callable
        Takes the index and the variables' values; returns these.
    item : callable, optional
        Returns what the body takes in the index's place.
    """

    def __init__(
        self, iterations: range, body: Callable[..., Any], item: Callable[[Any], Any] = lambda index: index
    ) -> None:
        self.iterations, self.body, self.item = iterations, body, item
        trace = current_trace()
        unrolled = unrolling.get()
        is_unrolled = unrolled is not None and unrolled.takes(len(iterations))
        self.trials = 0 if is_unrolled or trace is None or trace.concrete else TRIALS
        self.patience, self._since = PATIENCE, cells_so_far()
        self._trace = trace
        self._before = 0 if trace is None else len(trace.region.ops)
        self._cost = 0

    def goes_on(self, done: int, variables: Variables) -> tuple[Any, ...] | None:
        """Return the variables' values after the loop, once those left are a loop of the graph; else None.

        Parameters
        ----------
        done : int
            How many iterations were traced.
        variables : Variables
            As they are after these.
        """
        left = len(self.iterations) - done
        if not self.trials or left < FEWEST or current_trace() is not self._trace:
            return None
        assert self._trace is not None
        self._cost += cost_since(self._trace, self._before)
        self._before = len(self._trace.region.ops)
        cost = self._cost * DERIVED if self._trace.differentiates else self._cost
        if cost * left < LONG * done:
            return None
        rest = Rest(self.iterations[done:], self.body, self.item, variables, self._since, is_patient=self.patience > 0)
        found = rest.tried()
        if rest.is_unsettled:
            self.patience -= 1
        else:
            self.trials -= 1
        return found


def cost_since(trace: Trace | None, before: int) -> int:
    """Return how many operations a trace has more than before, those with regions for many."""
    return 0 if trace is None else _cost(trace.region.ops[before:])


def _cost(ops: Sequence[Op]) -> int:
    return sum(1 + WRITE * _writes_element(op) + sum(REGION + _cost(r.ops) for r in op.regions) for op in ops)


def _writes_element(op: Op) -> bool:
    return op.definition is indexing.DYNAMIC_UPDATE_SLICE and op.operands[1].tensor.size == 1


class Rest:
    """The iterations of a loop that are left, as a loop of the graph.

    Parameters
    ----------
    iterations : range
    body, item : callable
    variables : Variables
    since : int
        Numbers of cells that the iterations before have made are at least so.
    is_patient : bool, optional
        Another iteration may be traced first, so that variables mean the same in all that follow.

    Attributes
    ----------
    is_unsettled : bool
        That would help.
    ends : mapping
        Values after all iterations, of variables of which they are known, by name.
    """

    def __init__(
        self,
        iterations: range,
        body: Callable[..., Any],
        item: Callable[[Any], Any],
        variables: Variables,
        since: int,
        *,
        is_patient: bool = False,
    ) -> None:
        self.iterations, self.body, self.item, self.variables = iterations, body, item, variables
        self.since, self.is_patient, self.is_unsettled = since, is_patient, False
        self.constants: dict[str, Any] = {}
        self.ends: Mapping[str, Any] = {}
        self.state = PythonState([*variables.values, body], variables.attributes())

    def tried(self) -> tuple[Any, ...] | None:
        """Return the variables' values afterwards; None, and nothing has happened, if it can't be such a loop."""
        if self.state.draws or not self.state.whole:
            return None
        try:
            with strict_integer_powers.bound(True), _in_rest.bound(True):
                return self.values()
        except UnsettledError:
            self.is_unsettled = True
        except Exception:  # noqa: BLE001 - whatever the reason: the next iteration, traced as Python runs it, has its say
            pass
        self.state.put_back()
        return None

    def values(self) -> tuple[Any, ...]:
        """Return the variables' values afterwards."""
        self.variables.check("a for")
        state = LoopState(self.variables, "a for", self.body, since=self.since, is_patient=self.is_patient)
        resolved: dict[Slot, Any] = {}
        while True:
            try:
                return self._values(state, resolved)
            except UnsizedChangeError as error:
                self.state.put_back()
                return self._without(error.variable)
            except MovedError as error:
                self.state.put_back()
                found = self._period(state.slots)
                if found is not None and not found.written.isdisjoint(_cells(error.slots, found)):
                    return self._in_turns(found.length)
                state.slots.force(error.slots)
                if found is not None:
                    resolved.update({slot: found.meaning(slot, len(self.iterations)) for slot in error.slots})

    def _without(self, variable: str) -> tuple[Any, ...]:
        """Return the variables' values afterwards, one of which no iteration takes from the one before.

        It may be a slice with traced bounds, of which the last iteration leaves the one that is seen after the loop.
        """
        pairs = zip(self.variables.names, self.variables.values, strict=True)
        variables = self.variables.having([Undefined(n) if n == variable else x for n, x in pairs])
        rest = Rest(self.iterations[:-1], self.body, self.item, variables, self.since, is_patient=self.is_patient)
        return self.run(self.item(self.iterations[-1]), rest.values())

    def _period(self, slots: Slots) -> Period | None:
        """Return after how many iterations names mean the same again."""
        found = period(self.variables, slots, lambda k, values: self.run(self.item(self.iterations[k]), values))
        self.state.put_back()
        if found is not None and found.first and self.is_patient:
            raise UnsettledError
        return found

    def _in_turns(self, turns: int) -> tuple[Any, ...]:
        """Return the variables' values afterwards: as many iterations are one as arrays take to come back."""
        whole, step = len(self.iterations) // turns * turns, self.iterations.step
        if whole < FEWEST * turns:
            raise UnsupportedError("too few iterations of a loop that exchanges arrays")

        def item(index: Any) -> Any:
            return tuple(self.item(index + step * k if k else index) for k in range(turns))

        def body(items: Any, *values: Any) -> Any:
            for each in items:
                values = self.run(each, values)
            return values

        values = Rest(self.iterations[:whole:turns], body, item, self.variables, self.since).values()
        for index in self.iterations[whole:]:
            values = self.run(self.item(index), values)
        return values

    def run(self, item: Any, values: Sequence[Any]) -> tuple[Any, ...]:
        """Run the body in an iteration; return the variables' values after it."""
        found: tuple[Any, ...] = self.body(item, *values)
        return found

    def _values(self, state: LoopState, resolved: Mapping[Slot, Any]) -> tuple[Any, ...]:
        start, stride = self.iterations.start, self.iterations.step

        def turn(k: Any, given: dict[str, Any]) -> dict[str, Any]:
            index = k if stride == 1 else start + k * stride
            after: dict[str, Any] = state.step(lambda *values: self._turned(index, values))(given)
            return after

        def loop() -> dict[str, Any]:
            self._probe_last(state)
            first = start if stride == 1 else 0
            found: dict[str, Any] = fori_loop(first, first + len(self.iterations), turn, state.first())
            if self.state.has_changed():
                raise UnsupportedError("a loop whose body changes Python objects")
            return found

        found = dict(zip(self.variables.names, state.after(loop, resolved=resolved), strict=True))
        return tuple({**found, **self.constants, **self.ends}.values())

    def _probe_last(self, state: LoopState) -> None:
        """Trace the last iteration as Python runs it: where its index is out of bounds this raises."""
        with new_trace(closed=False), state.storage.lent():
            self.run(self.item(self.iterations[-1]), state.forgotten())

    def _turned(self, index: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the variables' values after an iteration, and note which of Python's values it leaves alone."""
        item, last = self.item(index), self.item(self.iterations[-1])
        found = self.run(item, values)
        trace = current_trace()
        assert trace is not None
        self.constants = {}
        counted = [(x, y) for x, y in zip(_parts(item), _parts(last), strict=True) if type(y) is int]
        counters: dict[str, Value] = {}
        for name, before, given, after in zip(self.variables.names, self.variables.values, values, found, strict=True):
            places = [y for x, y in counted if after is x]
            if places:
                self.constants[name] = places[0]
            elif type(before) in (int, float, bool) and type(after) is type(before) and after == before:
                self.constants[name] = before
            elif type(before) is int and isinstance(given, Tracer):
                counters[name] = trace.read(given)
                step = step_of(trace, counters[name], after)
                if step is not None:
                    self.constants[name] = before + step * len(self.iterations)
        known = frozenset(counters.values())
        for name, after in zip(self.variables.names, found, strict=True):
            if name in counters and name not in self.ends and not _Counting(known).stays_small(trace, after):
                raise ConcretizationError(f"the Python int {name!r} may outgrow 64 bits")
        return found


def _cells(slots: Sequence[Slot], found: Period) -> set[Cell]:
    """Return the cells of what slots mean in a period."""
    return {x.cell for meanings in found.meanings for slot in slots if isinstance(x := meanings[slot], Tracer)}


def _parts(item: Any) -> tuple[Any, ...]:
    """Return what is in an item, tuples in tuples taken apart."""
    return tuple(x for part in item for x in _parts(part)) if type(item) is tuple else (item,)


def step_of(trace: Trace, old: Value, new: Any) -> int | None:
    """Return the constant that an iteration adds to an integer; None where there is none."""
    op = trace.read(new).owner if isinstance(new, Tracer) else None
    if not isinstance(op, Op) or op.definition not in (elementwise.ADD, elementwise.SUBTRACT) or old not in op.operands:
        return None
    place, sign = op.operands.index(old), 1 if op.definition is elementwise.ADD else -1
    known = trace.values.find(op.operands[1 - place])
    return None if known is None or (place and sign < 0) else sign * int(known)


class _Counting:
    """Tells whether integers that a loop carries in Python's place grow by steps only.

    Parameters
    ----------
    carried : set of Value
    """

    def __init__(self, carried: frozenset[Value]) -> None:
        self._carried = carried
        self._found: dict[Value, str] = {}

    def stays_small(self, trace: Trace, x: Any) -> bool:
        """Return whether a new value is an old one and a number of steps, or does not come from one."""
        return not isinstance(x, Tracer) or self._kind(trace.read(x)) != "any"

    def _kind(self, value: Value) -> str:
        """Return ``"free"`` of the carried integers, ``"steps"`` away from one, or ``"any"``."""
        known = self._found.get(value)
        if known is None:
            known = self._found[value] = "steps" if value in self._carried else self._kind_of_result(value)
        return known

    def _kind_of_result(self, value: Value) -> str:
        op = value.owner
        if not isinstance(op, Op):
            return "free"
        number = op.results.index(value)
        if op.definition is control_flow.WHILE:
            kinds = [self._kind(x) for x in op.operands]
            body = op.regions[1]
            inner = _Counting(self._carried | {a for a, k in zip(body.arguments, kinds, strict=True) if k != "free"})
            return _joined(kinds[number], inner._kind(body.returns[number]))
        if op.regions:
            return _joined(*[self._kind(region.returns[number]) for region in op.regions])
        kinds = [self._kind(x) for x in op.operands]
        if op.definition is comparison.SELECT:
            return _joined(*kinds[1:])
        if op.definition in (elementwise.ADD, elementwise.SUBTRACT):
            return "any" if kinds == ["steps", "steps"] else _joined(*kinds)
        if op.definition in (elementwise.REMAINDER, elementwise.MINIMUM, elementwise.MAXIMUM):
            return _joined(*kinds)
        return "free" if set(kinds) <= {"free"} or value.tensor.dtype.kind != "i" else "any"


def _joined(*kinds: str) -> str:
    return next((kind for kind in ("any", "steps") if kind in kinds), "free")
