"""What a loop carries: the values of its variables, and the contents of the arrays that it changes in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import CellType, FunctionType
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import MutationError, UnsupportedError
from numhlo.tracer.autograph.lent_storage import KeptLeaves, LentStorage, can_be_lent
from numhlo.tracer.autograph.python_state import leaving_alone
from numhlo.tracer.autograph.undefined import Undefined
from numhlo.tracer.autograph.variables import Variables, is_traceable, written_and_bound
from numhlo.tracer.control_flow.branches import as_predicate
from numhlo.tracer.namespace.core import asarray
from numhlo.tracer.trace import Tracer
from numhlo.tracer.trees.pytrees import tree_leaves


class _ReplacedError(Exception):
    """A loop's body gives a variable other arrays than those that it changes in place."""

    def __init__(self, arrays: list[Tracer]) -> None:
        super().__init__()
        self.arrays = arrays


class _OwnFunctionError(Exception):
    """A loop's body makes a function in every round."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


def is_set(cell: CellType) -> bool:
    """Return whether a variable that functions share has a value."""
    try:
        cell.cell_contents  # noqa: B018 - an unset one raises
    except ValueError:
        return False
    return True


def _can_be_lent(x: Any) -> bool:
    leaves = tree_leaves(x)
    return bool(leaves) and all(map(can_be_lent, leaves))


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
    """

    def __init__(self, variables: Variables, what: str, *functions: Callable[..., Any]) -> None:
        self.variables, self.what = variables, what
        self.carried = variables.split()
        changed = {n: x for n, x in self.carried.items() if n in variables.in_place and _can_be_lent(x)}
        outer = [cell.cell_contents for f in functions for cell in f.__closure__ or () if is_set(cell)]
        seen = Counter(id(x.cell) for x in tree_leaves([*changed.values(), *outer]) if isinstance(x, Tracer))
        alone = {n for n, x in changed.items() if isinstance(x, Tracer) and x.steps and seen[id(x.cell)] == 1}
        # A view alone is carried without its base: there is less to look through.
        self.storage = LentStorage({n: x for n, x in changed.items() if n not in alone})
        self._sort()

    def _sort(self) -> None:
        """Tell arrays that are lent from values that are carried."""
        in_place = {n: x for n, x in self.carried.items() if n in self.variables.in_place}
        self.kept = {n: KeptLeaves(self.storage, x, x) for n, x in in_place.items()}

    def _values(self, found: dict[str, Any]) -> dict[str, Any]:
        """Return what is carried of the variables' values."""
        return {n: self.kept[n].rest(found[n]) if n in self.kept else found[n] for n in self.carried if self._has(n)}

    def _has(self, name: str) -> bool:
        return name not in self.kept or not self.kept[name].all

    def _joined(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the variables' values: those carried, and the arrays that are lent."""
        return {n: self.kept[n].joined(given.get(n, ())) if n in self.kept else given[n] for n in self.carried}

    def first(self) -> dict[str, Any]:
        """Return the state before the loop."""
        return {**self._values(self.carried), **self.storage.contents()}

    @contextmanager
    def _entered(self, given: dict[str, Any]) -> Iterator[list[Any]]:
        """Give the variables' values in the loop, in the trace of a body."""
        with self.storage.lent({n: given[n] for n in self.storage.cells}):
            yield self.variables.filled(self._joined(given))

    def test(self, test: Callable[..., Any]) -> Callable[..., Any]:
        """Return a loop's test as a function of the state."""

        def traced(given: dict[str, Any]) -> Any:
            with self._entered(given) as values:
                return self.storage.settled(as_predicate(asarray(test(*values))))

        return traced

    def step(self, body: Callable[..., Any]) -> Callable[..., Any]:
        """Return a loop's body as a function of the state."""

        def traced(given: dict[str, Any]) -> dict[str, Any]:
            with self._entered(given) as values:
                after = dict(zip(self.variables.names, body(*values), strict=True))
                replaced = {n: kept.replaced(after[n]) for n, kept in self.kept.items()}
                for name in self.variables.exchanged:
                    if replaced.get(name):
                        raise written_and_bound(self.what, name)
                if any(replaced.values()):
                    raise _ReplacedError([x for arrays in replaced.values() for x in arrays])
                self._refuse_change(after)
                self._refuse_lost_writes(values)
                return {**self.storage.settled(self._values(after)), **self.storage.contents()}

        return traced

    def after(self, loop: Callable[[], dict[str, Any]], alone: Sequence[Callable[..., Any]] = ()) -> tuple[Any, ...]:
        """Return the variables' values after a loop, of which some functions may change nothing of Python's.

        What its body says of them is known once it is traced: arrays in whose place it has others are carried as
        values, and what it writes into by other names is lent to it; functions that it makes are its own.
        """
        guard = leaving_alone(self.what, [*self.variables.values, *alone], self.variables.attributes())
        with guard if alone else nullcontext():
            found = self._traced(loop)
        self.storage.write({n: found[n] for n in self.storage.cells})
        return self.variables.results(self._joined(found), self.storage)

    def _traced(self, loop: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        while True:
            try:
                return loop()
            except _ReplacedError as error:
                self.storage.leave_out(error.arrays)
            except _OwnFunctionError as error:
                self._forget(error.name)
            except MutationError as error:
                if not self.storage.takes(error.storage):
                    raise
            self._sort()

    def _forget(self, name: str) -> None:
        """Let a variable have no value at the beginning of a round, nor after the loop."""
        variables = zip(self.variables.names, self.variables.values, strict=True)
        self.variables = self.variables.having([Undefined(n) if n == name else v for n, v in variables])

    def _refuse_lost_writes(self, given: list[Any]) -> None:
        """Raise where a round writes by another name into an array that it was given as a value: ``x, y = y, x``."""
        for name, value in zip(self.variables.names, given, strict=True):
            is_given_back = name in self.variables.in_place and isinstance(value, Tracer)
            arrays = tree_leaves(value) if name in self.carried and not is_given_back else ()
            if any(isinstance(x, Tracer) and x.cell.version and not self.storage.holds(x) for x in arrays):
                raise written_and_bound(self.what, name)

    def _refuse_change(self, after: dict[str, Any]) -> None:
        """Raise where a round changes a variable that can't be carried; what is new in it stays in it."""
        for name, before in zip(self.variables.names, self.variables.values, strict=True):
            changed = after[name] is not before and not isinstance(before, Undefined)
            carried = name in self.carried
            if changed and not carried and isinstance(before, FunctionType) and callable(after[name]):
                raise _OwnFunctionError(name)
            if (carried and not is_traceable(after[name])) or (not carried and changed):
                raise UnsupportedError(
                    f"{self.what} on a traced condition changes {name!r}, a {type(before).__name__}",
                    where=capture_location(),
                    why="only arrays, numbers and containers of them can be carried from one iteration to the next",
                    fix="make it an array, or leave it as it is in the loop",
                )
