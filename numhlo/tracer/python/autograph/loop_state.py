"""What a loop carries: the values of its variables, and the contents of the arrays that it changes in place.

Which variables mean which arrays in every iteration is found in `loop_slots`.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from types import CellType, FunctionType
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import MutationError, UnsupportedError
from numhlo.tracer.control_flow.bodies import own_arrays, weak_argument
from numhlo.tracer.control_flow.branches import as_predicate
from numhlo.tracer.core.arguments import is_number, leaf_type
from numhlo.tracer.core.cell import Cell
from numhlo.tracer.core.numpy_functions import FUNCTIONS
from numhlo.tracer.core.operands import asarray
from numhlo.tracer.core.orders import Either, Same
from numhlo.tracer.core.ties import BY_LOOP, make_stale, stale_cells, tie, tie_exactly
from numhlo.tracer.core.trace import Trace, Tracer, current_trace
from numhlo.tracer.python.autograph.lent_storage import LentStorage, can_be_lent
from numhlo.tracer.python.autograph.loop_slots import ALONE, KEPT, TURNED, VALUE, Again, Slot, Slots
from numhlo.tracer.python.autograph.memory import is_array, on_cell, unchecked, whole
from numhlo.tracer.python.autograph.mismatches import refuse_iterations, refuse_selections
from numhlo.tracer.python.autograph.python_state import leaving_alone
from numhlo.tracer.python.autograph.raising import leaves_no_raise
from numhlo.tracer.python.autograph.undefined import Undefined
from numhlo.tracer.python.autograph.variables import Variables, is_traceable
from numhlo.tracer.trees.pytrees import tree_flatten, tree_leaves, tree_unflatten

TURN = "iterations"
"""What counts the iterations of a loop whose arrays exchange their names, up to when they have them again."""


class _OwnFunctionError(Exception):
    """A loop's body makes a function in every iteration."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class UnsizedChangeError(UnsupportedError):
    """A loop's body gives a variable other elements of unknown number in every iteration.

    Attributes
    ----------
    variable : str
    """

    def __init__(self, variable: str, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.variable = variable


def is_set(cell: CellType) -> bool:
    """Return whether a variable that functions share has a value."""
    try:
        cell.cell_contents  # noqa: B018 - an unset one raises
    except ValueError:
        return False
    return True


class LoopState:
    """What a loop carries: its variables' values, and the contents of the arrays that it changes in place.

    Parameters
    ----------
    variables : Variables
        Before the loop.
    what : str
        What to call the loop in messages.
    *functions : callable
        The loop's test and body.
    since : int, optional
        Numbers of cells that iterations before these have made are at least so; None where there may be no iteration.
    is_patient : bool, optional
        More iterations may be traced before the loop, so that variables mean the same in all that follow.
    kept : collection of str, optional
        Variables that are expected to mean the same memory after the loop as before.
    """

    def __init__(
        self,
        variables: Variables,
        what: str,
        *functions: Callable[..., Any],
        since: int | None = None,
        is_patient: bool = False,
        kept: Collection[str] = (),
    ) -> None:
        self.variables, self.what = variables, what
        self.carried = variables.split()
        flat = {name: tree_flatten(value) for name, value in self.carried.items()}
        self.leaves = {name: leaves for name, (leaves, _) in flat.items()}
        self.trees = {name: tree for name, (_, tree) in flat.items()}
        self.slots = Slots(self.leaves, variables.in_place.union(kept), since, is_patient=is_patient)
        outer = [cell.cell_contents for f in functions for cell in f.__closure__ or () if is_set(cell)]
        self._find_alone(tree_leaves(outer))
        written = [s for s in self.slots.of(KEPT) if s.name in variables.in_place and can_be_lent(s.before)]
        self.storage = LentStorage({f"{s.name} {s.number}": s.before for s in written})
        self._ends: dict[Slot, Any] = {}
        self._stale: set[Cell] = set()
        """Storage from before the loop that an iteration may write into by a name of which that is not known."""

    def _find_alone(self, outer: Sequence[Any]) -> None:
        """Carry views that are the only names of what they show without their bases: there is less to look through."""
        seen = Counter(x.cell for x in [*[s.before for s in self.slots.all], *outer] if isinstance(x, Tracer))
        for slot in self.slots.of(KEPT):
            is_whole = slot.before is self.carried[slot.name]
            is_written = slot.name in self.variables.in_place and can_be_lent(slot.before)
            if is_whole and is_written and slot.before.steps and seen[slot.before.cell] == 1:
                slot.kind = ALONE

    def _places(self) -> dict[tuple[str, int], Slot]:
        """Return the slots whose leaves are not carried under their variables' names."""
        shared = [slot for group in self.slots.groups() if len(group) > 1 for slot in group]
        return {(s.name, s.number): s for s in (*self.slots.of(KEPT), *shared)}

    def _values(self, found: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """Return what is carried under the variables' names: a variable's value if all of it is."""
        elsewhere = self._places()
        carried: dict[str, Any] = {}
        for name, leaves in found.items():
            rest = [x for k, x in enumerate(leaves) if (name, k) not in elsewhere]
            if len(rest) == len(leaves):
                carried[name] = tree_unflatten(self.trees[name], leaves)
            elif rest:
                carried[name] = rest
        return carried

    def _joined(self, given: dict[str, Any]) -> dict[str, list[Any]]:
        """Return the variables' leaves, from what is carried."""
        elsewhere = self._places()
        groups = {s: k for k, group in enumerate(self.slots.groups()) for s in group}
        joined: dict[str, list[Any]] = {}
        for name, before in self.leaves.items():
            rest = iter(tree_leaves(given.get(name, ())))
            found = joined[name] = []
            for k, leaf in enumerate(before):
                slot = elsewhere.get((name, k))
                if slot is None:
                    found.append(next(rest))
                else:
                    found.append(leaf if slot.kind is KEPT else on_cell(given[f"memory {groups[slot]}"].cell, leaf))
        return joined

    def _contents(self, leaves: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """Return what is carried, storage left out, of the variables' leaves."""
        shared = {}
        for k, group in enumerate(self.slots.groups()):
            if len(group) > 1:
                shared[f"memory {k}"] = unchecked(whole(leaves[group[0].name][group[0].number].cell))
        own = {name: [unchecked(x) for x in found] for name, found in leaves.items()}
        return {**self._values(own), **shared}

    def first(self) -> dict[str, Any]:
        """Return the state before the loop."""
        turn = {TURN: np.zeros((), np.int64)} if self.slots.of(TURNED) else {}
        return {**self._contents(self.leaves), **self.storage.contents(), **turn}

    @contextmanager
    def _entered(self, given: dict[str, Any]) -> Iterator[tuple[list[Any], dict[Slot, Any]]]:
        """Give the variables' values in the loop, in the trace of a body."""
        with self.storage.lent({n: given[n] for n in self.storage.cells}):
            joined = self._joined(given)
            entered = {slot: joined[slot.name][slot.number] for slot in self.slots.all}
            self._tie_entered(entered)
            self._lay_out_entered(entered)
            values = {n: tree_unflatten(self.trees[n], found) for n, found in joined.items()}
            yield self.variables.filled(values), entered

    def forgotten(self) -> list[Any]:
        """Return the variables' values for an iteration that is traced and forgotten."""
        carried = {(slot.name, slot.number) for slot in self.slots.of(VALUE, ALONE)}
        trace = _current()
        values = {}
        for name, found in self.leaves.items():
            own = [
                x if is_array(x) and (name, k) not in carried else own_arrays(trace, unchecked(x))
                for k, x in enumerate(found)
            ]
            values[name] = tree_unflatten(self.trees[name], own)
        return self.variables.filled(values)

    def _lay_out_entered(self, entered: dict[Slot, Any]) -> None:
        """Note that what is carried lies in memory as it did before, as far as that is known."""
        for slot in self.slots.of(VALUE, ALONE, TURNED):
            cell = entered[slot].cell
            if is_array(slot.before) and cell is not slot.before.cell:
                before = slot.before if not entered[slot].steps else whole(slot.before.cell)
                cell.order = Either([before, *slot.others]) if slot.others else Same(before)

    @contextmanager
    def unknown(self) -> Iterator[list[Any]]:
        """Give the variables' values in some iteration, of which nothing is known, in the trace of a body."""
        leaves, tree = tree_flatten(self.first())
        trace = _current()
        given = [weak_argument(trace, leaf_type(x), is_scalar=is_number(x)) for x in leaves]
        with self._entered(tree_unflatten(tree, given)) as (values, _):
            yield values

    def _tie_entered(self, entered: dict[Slot, Any]) -> None:
        trace = _current()
        make_stale(trace, self._stale, BY_LOOP)
        done: set[Slot] = set()
        for group in self.slots.groups():
            slot = group[0]
            near = {entered[s].cell for s in slot.near if s in done and s.kind is VALUE}
            tie(trace, entered[slot].cell, slot.may_be | near, BY_LOOP, stale=slot.is_stale)
            done.update(group)
        for slot in self.slots.of(ALONE):
            tie_exactly(trace, entered[slot].cell, [slot.before.cell], BY_LOOP)
        for slot in self.slots.of(TURNED):
            tie_exactly(trace, entered[slot].cell, [s.before.cell for s in self.slots.cycle(slot)], BY_LOOP)

    def test(self, test: Callable[..., Any]) -> Callable[..., Any]:
        """Return a loop's test as a function of the state."""

        def traced(given: dict[str, Any]) -> Any:
            with self._entered(given) as (values, _):
                return self.storage.settled(as_predicate(asarray(test(*values))))

        return traced

    def step(self, body: Callable[..., Any]) -> Callable[..., Any]:
        """Return a loop's body as a function of the state."""

        def traced(given: dict[str, Any]) -> dict[str, Any]:
            with self._entered(given) as (values, entered), leaves_no_raise(self.what):
                after = dict(zip(self.variables.names, body(*values), strict=True))
                self._refuse_change(after)
                turn = {TURN: (given[TURN] + 1) % self.slots.turns} if TURN in given else {}
                return {**self.storage.settled(self._settled(after, entered)), **self.storage.contents(), **turn}

        return traced

    def _settled(self, after: dict[str, Any], entered: dict[Slot, Any]) -> dict[str, Any]:
        """Return what is carried to the next iteration, once the variables mean then what was assumed of them."""
        flat = {name: tree_flatten(after[name]) for name in self.carried}
        other = [name for name, (_, tree) in flat.items() if tree != self.trees[name]]
        kept = [slot for slot in self.slots.of(KEPT, ALONE) if slot.name in other]
        if kept:
            self.slots.force(kept)
            raise Again
        refuse_iterations(self.what, self.carried, self.carried, after)
        leaves = {name: found for name, (found, _) in flat.items()}
        self._turned = {slot for slot in self.slots.of(TURNED) if entered[slot].cell.version}
        self.slots.settle(entered, {slot: leaves[slot.name][slot.number] for slot in self.slots.all})
        self._ends = {slot: leaves[slot.name][slot.number] for slot in self.slots.of(VALUE)}
        stale = stale_cells(_current(), self.slots.mark)
        if not stale <= self._stale:
            self._stale |= stale
            raise Again
        return self._contents(leaves)

    def after(
        self,
        loop: Callable[[], dict[str, Any]],
        alone: Sequence[Callable[..., Any]] = (),
        resolved: Mapping[Slot, Any] | None = None,
    ) -> tuple[Any, ...]:
        """Return the variables' values after a loop, of which some functions may change nothing of Python's.

        What its body says of them is known once it is traced: arrays in whose place it has others are carried as
        """
        guard = leaving_alone(self.what, [*self.variables.values, *alone], self.variables.attributes())
        with guard if alone else nullcontext():
            found = self._traced(loop)
        self.storage.write({n: found[n] for n in self.storage.cells if n in self.storage.changed})
        joined = self._joined(found)
        self._put_back(found, {slot: joined[slot.name][slot.number] for slot in self.slots.of(TURNED)})
        self._lay_out_results({slot: joined[slot.name][slot.number] for slot in self.slots.of(VALUE)})
        self._tie_results({slot: joined[slot.name][slot.number] for slot in self.slots.of(VALUE)})
        for slot, known in (resolved or {}).items():
            joined[slot.name][slot.number] = known
        for slot in self.slots.of(ALONE):
            slot.before[...] = joined[slot.name][slot.number]
            joined[slot.name][slot.number] = slot.before
        self.variables = self.variables.having(self.variables.unrun())
        return self.variables.finished({n: tree_unflatten(self.trees[n], x) for n, x in joined.items()})

    def _put_back(self, found: dict[str, Any], results: dict[Slot, Any]) -> None:
        """Put into arrays that exchanged their names what was written last into each one's memory."""
        for slot in results:
            cycle = self.slots.cycle(slot)
            if not self._turned.isdisjoint(cycle):
                names = [next(s for s in cycle if self.slots.after_turns(s, k) is slot) for k in range(len(cycle))]
                new = results[names[0]]
                for k, name in enumerate(names[1:], 1):
                    new = FUNCTIONS[np.where](found[TURN] % len(cycle) == k, results[name], new)
                whole(slot.before.cell).assign(new)
        for slot, result in results.items():
            tie(_current(), result.cell, [s.before.cell for s in self.slots.cycle(slot)], BY_LOOP, through=False)

    def _lay_out_results(self, results: dict[Slot, Any]) -> None:
        """Note that what the loop leaves lies as an iteration left it, or as it did before where there may be none."""
        for slot, result in results.items():
            end: Any = self._ends.get(slot)
            if is_array(end) and result.cell is not slot.before.cell and not result.steps and not end.steps:
                result.cell.order = Same(end) if self.slots.since is not None else Either([slot.before, end])

    def _tie_results(self, results: dict[Slot, Any]) -> None:
        """Note what the arrays that the loop made may be, and which others a name in it may have written into."""
        trace = _current()
        make_stale(trace, self._stale, BY_LOOP)
        done: set[Slot] = set()
        for group in self.slots.groups():
            slot = group[0]
            cell = results[slot].cell
            near = {results[s].cell for s in slot.near if s in done and s.kind is VALUE}
            tie(trace, cell, slot.may_be | near, BY_LOOP, stale=slot.is_stale)
            done.update(group)

    def _traced(self, loop: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        while True:
            self.storage.changed.clear()
            try:
                return loop()
            except Again:
                self._lend_again()
            except _OwnFunctionError as error:
                self._forget(error.name)
            except MutationError as error:
                if error.is_undecided and self.slots.keep_all():
                    self._lend_again()
                    continue
                if not self.storage.takes(error.storage):
                    raise
                for slot in self.slots.of(ALONE):
                    slot.kind = KEPT if slot.before.cell is error.storage else ALONE

    def _lend_again(self) -> None:
        """Lend the storage of the arrays that are kept now, and of no others but what other names write into."""
        kept = {s.before.cell for s in self.slots.of(KEPT)}
        mine = {s.before.cell for s in self.slots.of(KEPT) if s.name in self.variables.in_place}
        self.storage.leave_out({s.before.cell for s in self.slots.all} - kept)
        for cell in mine:
            self.storage.takes(cell)

    def _forget(self, name: str) -> None:
        """Let a variable have no value at the beginning of an iteration, nor after the loop."""
        variables = zip(self.variables.names, self.variables.values, strict=True)
        self.variables = self.variables.having([Undefined(n) if n == name else v for n, v in variables])

    def _refuse_change(self, after: dict[str, Any]) -> None:
        """Raise where an iteration changes a variable that can't be carried; what is new in it stays in it."""
        for name, before in zip(self.variables.names, self.variables.values, strict=True):
            changed = after[name] is not before and not isinstance(before, Undefined)
            carried = name in self.carried
            if changed and not carried and isinstance(before, FunctionType) and callable(after[name]):
                raise _OwnFunctionError(name)
            if (carried and not is_traceable(after[name])) or (not carried and changed):
                refuse_selections(
                    self.what, name, before, after[name], error=functools.partial(UnsizedChangeError, name)
                )
                raise UnsupportedError(
                    f"{self.what} on a traced condition changes {name!r}, a {type(before).__name__}",
                    where=capture_location(),
                    why="only arrays, numbers and containers of them can be carried from one iteration to the next",
                    fix="make it an array, or leave it as it is in the loop",
                )


def _current() -> Trace:
    trace = current_trace()
    assert trace is not None
    return trace
