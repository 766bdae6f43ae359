"""`while` loops that count: ``while i < n`` with a known ``i`` that goes up by one is a loop over a range.

How many iterations are left is found by asking the test of all of them, where it looks at integers that go up by the
same in each, and at what stays as it is; else by running the loop's numbers alone (`loop_numbers`), as of ``t += dt``
or ``while True: if k >= n: break``. Otherwise the loop is run as Python runs it.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.core.cell import cells_so_far
from numhlo.tracer.core.trace import Tracer, current_trace
from numhlo.tracer.python.autograph.long_loops import FEWEST, LONG, PATIENCE, Rest, cost_since, step_of, unrolling
from numhlo.tracer.python.autograph.loop_numbers import run_alone
from numhlo.tracer.python.autograph.loop_state import is_set
from numhlo.tracer.python.autograph.undefined import Undefined
from numhlo.tracer.python.autograph.variables import Variables

MOST_ITERATIONS = 100_000
"""How many iterations a test is asked of."""

ENOUGH = 100
"""How many operations must have been traced before an iteration is traced once more, to run its numbers alone."""

_CHANGING = (bool, float, complex, str)
"""Values of Python's, beside integers, on which a test may hang."""


class _Shape(Undefined):
    """An array of which a test may know the shape."""

    def __init__(self, array: Tracer) -> None:
        super().__init__("an array")
        self.shape, self.ndim, self.size, self.dtype = array.shape, array.ndim, array.size, array.dtype

    def __len__(self) -> int:
        return self.shape[0]


class LongWhile:
    """Watches the iterations of a loop whose test is known, and makes a loop of the graph of those that are left.

    Parameters
    ----------
    test, body : callable
        Take the variables' values.
    """

    def __init__(self, test: Callable[..., Any], body: Callable[..., Any]) -> None:
        self.test, self.body = test, body
        self._trace = current_trace()
        self._before = 0 if self._trace is None else len(self._trace.region.ops)
        self._cost = self._seen_cost = self._done = 0
        self._seen: list[Sequence[Any]] = []
        self._versions = _versions(test)
        self._is_open = self._trace is not None and not self._trace.concrete
        self._since, self._patience, self._is_unsettled = cells_so_far(), PATIENCE, False

    def goes_on(self, variables: Variables) -> tuple[Any, ...] | None:
        """Return the variables' values after the loop, once the iterations left are a loop of the graph; else None."""
        self._seen = [*self._seen[-2:], variables.values]
        if not self._is_open or current_trace() is not self._trace:
            return None
        assert self._trace is not None
        self._cost += cost_since(self._trace, self._before)
        self._before = len(self._trace.region.ops)
        if not self._cost:
            return None  # all of it is known so far
        self._done += 1
        if not self._is_unsettled and not self._is_due():
            return None
        self._is_open = self._is_unsettled or self._cost < LONG
        steps = self._steps(variables.names) if self._versions == _versions(self.test) else {}
        count = self._count(variables, steps) if steps else 0
        alone = None if count or self._cost < ENOUGH else self._alone(variables)
        if alone is not None:
            count, ends = alone
        unrolled = unrolling.get()
        if unrolled is not None and unrolled.takes(self._done + count):
            self._is_open = False
            return None
        if count < FEWEST or self._cost * count < LONG * self._done:
            return None
        rest: Rest
        if alone is None:
            rest = _RestOfWhile(count, self.body, steps, variables, self._since, is_patient=self._patience > 0)
        else:
            rest = _RestOfNumbers(count, self.body, ends, variables, self._since, is_patient=self._patience > 0)
        found = rest.tried()
        self._is_unsettled = rest.is_unsettled
        self._patience -= rest.is_unsettled
        return found

    def _is_due(self) -> bool:
        """Return whether those left are looked at after this one: the third, and where there was so much to do."""
        limits = [limit for limit in (ENOUGH, LONG) if self._seen_cost < limit <= self._cost]
        self._seen_cost = self._cost if self._done >= 3 else 0
        return self._done == 3 or (self._done > 3 and bool(limits))

    def _alone(self, variables: Variables) -> tuple[int, dict[str, Any]] | None:
        """Return how many iterations are left, and the numbers after them, where the numbers say so by themselves."""
        if self._versions != _versions(self.test):
            return None
        try:
            holds = self.test(*variables.values)
        except Exception:  # noqa: BLE001 - raised again where Python asks
            return None
        if isinstance(holds, Tracer | Undefined) or not holds:
            return None
        return run_alone(self.test, self.body, variables, self._since)

    def _steps(self, names: Sequence[str]) -> dict[str, int]:
        """Return by how much integers change in an iteration; nothing where other values of Python's change."""
        steps: dict[str, int] = {}
        for name, *values in zip(names, *self._seen, strict=True):
            first, second, third = values
            if all(type(v) is int for v in values):
                if second - first != third - second:
                    return {}
                steps[name] = third - second
            elif isinstance(third, _CHANGING) and not (type(second) is type(third) and second == third):
                return {}
        return {name: step for name, step in steps.items() if step}

    def _count(self, variables: Variables, steps: dict[str, int]) -> int:
        """Return how many iterations are left; 0 where that can't be told."""
        if steps.keys().isdisjoint(_looked_at(self.test.__code__, tuple(variables.names))):
            return 0  # as `while True`: what goes up does not end it
        values: dict[str, Any] = dict(zip(variables.names, map(_asked, variables.values), strict=True))
        for count in range(MOST_ITERATIONS):
            try:
                holds = self.test(*values.values())
            except Exception:  # noqa: BLE001 - it needs more than is known here
                return 0
            if isinstance(holds, Tracer | Undefined):
                return 0
            if not holds:
                return count
            for name, step in steps.items():
                values[name] += step
        return 0


def _asked(x: Any) -> Any:
    """Return what a test sees of a variable: nothing that an iteration may change."""
    if isinstance(x, Tracer):
        return _Shape(x)
    return Undefined("a container") if isinstance(x, list | dict | set | tuple) else x


@lru_cache(maxsize=1024)
def _looked_at(test: CodeType, names: Sequence[str]) -> frozenset[str]:
    """Return which variables a test takes it looks at, by its code."""
    own = test.co_varnames[: test.co_argcount]
    seen = {name for step in dis.get_instructions(test) for name in _names_of(step)}
    return frozenset(name for name, called in zip(names, own, strict=True) if called in seen)


def _names_of(step: dis.Instruction) -> Sequence[Any]:
    return step.argval if isinstance(step.argval, tuple) else (step.argval,)


def _versions(test: Callable[..., Any]) -> list[int]:
    """Return how often the arrays were written into that a test looks at by itself."""
    cells = [cell.cell_contents for cell in test.__closure__ or () if is_set(cell)]
    return [x.cell.version for x in cells if isinstance(x, Tracer)]


class _RestOfWhile(Rest):
    """The iterations of a `while` that are left."""

    def __init__(
        self,
        count: int,
        body: Callable[..., Any],
        steps: dict[str, int],
        variables: Variables,
        since: int,
        *,
        is_patient: bool,
    ) -> None:
        self.steps = steps
        known = dict(zip(variables.names, variables.values, strict=True))
        self.first = {name: known[name] for name in steps}
        super().__init__(
            range(count),
            body,
            lambda k: tuple(self.first[n] + k * s for n, s in steps.items()),
            variables,
            since,
            is_patient=is_patient,
        )

    def _counted(self, k: Any) -> tuple[Any, ...]:
        return tuple(self.first[name] + k * step for name, step in self.steps.items())

    def run(self, item: Any, values: Sequence[Any]) -> tuple[Any, ...]:
        """Run the body with the integers that an iteration has."""
        given = dict(zip(self.variables.names, values, strict=True))
        given.update(zip(self.steps, item, strict=True))
        found: tuple[Any, ...] = self.body(*given.values())
        after = dict(zip(self.variables.names, found, strict=True))
        if any(_change(given[n], after[n]) != step for n, step in self.steps.items()):
            raise UnsupportedError("a while loop whose counters do not count")
        return found

    def values(self) -> tuple[Any, ...]:
        """Return the variables' values afterwards."""
        found = dict(zip(self.variables.names, super().values(), strict=True))
        found.update({n: self.first[n] + step * len(self.iterations) for n, step in self.steps.items()})
        return tuple(found.values())


class _RestOfNumbers(Rest):
    """The iterations of a `while` that are left, of which its numbers say how many."""

    def __init__(
        self,
        count: int,
        body: Callable[..., Any],
        ends: Mapping[str, Any],
        variables: Variables,
        since: int,
        *,
        is_patient: bool,
    ) -> None:
        super().__init__(range(count), body, lambda index: index, variables, since, is_patient=is_patient)
        self.ends = ends

    def run(self, item: Any, values: Sequence[Any]) -> tuple[Any, ...]:
        """Run the body, which takes no number of the iteration."""
        found: tuple[Any, ...] = self.body(*values)
        return found


def _change(before: Any, after: Any) -> int | None:
    if not isinstance(before, Tracer):
        return after - before if type(after) is int else None
    trace = current_trace()
    assert trace is not None
    return step_of(trace, trace.read(before), after)
