"""Runs a function op by op and stops at the first op that makes what it should not: `CheckedInterpreter`.

It knows where the run is: which round of which loop, which lane of which map. What is asked of each op is in
`numhlo.lowering.check_rules`. The bodies of reductions, sorts and scatters are not looked into: their op is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from numhlo.lowering.check_rules import CHECKS, Found
from numhlo.lowering.interpreter import Interpreter, Plans
from numhlo.lowering.ir import Function, Op, Region
from numhlo.lowering.ir.errors import NumhloError
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.primitive import Arrays, EvaluateRule, RegionFunction
from numhlo.lowering.ops.region_function import StructuredFunction

BODIES = frozenset({control_flow.WHILE, control_flow.IF, control_flow.CASE})
"""Ops whose regions are run as programs of their own."""
LOOPS = {"numhlo.scan": "step", "numhlo.map": "lane"}
"""Composites that run their body many times, and what each time is called."""


class CheckedPlans(Plans):
    """Plans whose ops are checked when they are run.

    Parameters
    ----------
    checks : iterable of str
        Names in `CHECKS`.
    """

    __slots__ = ("_checks", "_path")

    def __init__(self, checks: frozenset[str]) -> None:
        super().__init__()
        self._checks = [(name, CHECKS[name]) for name in sorted(checks)]
        self._path: list[Place] = []

    def inner(self, op: Op) -> Plans:
        """Return the plans for an op's regions."""
        return self if op.definition in BODIES else Plans()

    def rule(self, op: Op) -> EvaluateRule:
        """Return what runs an op and looks at its results."""
        evaluate = op.definition.evaluate

        def checked(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Any:
            with self._inside(op) as place:
                if place is not None:
                    regions = [*regions[:-1], place.counted(regions[-1])] if regions else regions
                    attributes = place.counted_attributes(attributes)
                results = evaluate(arrays, attributes, regions)
            for name, check in self._checks:
                found = check.find(op, arrays, results)
                if found is not None:
                    raise self._error(op, name, found, check.error)
            return results

        return checked

    def reset(self) -> None:
        """Forget where the last run was."""
        self._path.clear()

    @contextmanager
    def _inside(self, op: Op) -> Iterator[Place | None]:
        """Keep a place on the path while an op runs that runs its body many times."""
        word = "round" if op.definition is control_flow.WHILE else LOOPS.get(op.attributes.get("name", ""))
        if word is None:
            yield None
            return
        place = Place(op, word)
        self._path.append(place)
        yield place
        self._path.pop()

    def _error(self, op: Op, name: str, found: Found, error: type[NumhloError]) -> NumhloError:
        where = [place.describe() for place in reversed(self._path)]
        return error(
            f"{op.definition.name}: {found.what}",
            where=op.location,
            why="; ".join([*where, f"it is checked for {name}"]),
        )


class Place:
    """Where a run is in one loop."""

    __slots__ = ("number", "op", "word")

    def __init__(self, op: Op, word: str) -> None:
        self.op, self.word, self.number = op, word, -1

    def describe(self) -> str:
        """Return the place in words."""
        return f"in {self.word} {self.number} of the loop at {self.op.location.describe()}"

    def counted(self, body: Callable[..., Any]) -> Callable[..., Any]:
        """Return a body that counts how often it is run, from 0."""

        def run(*arrays: np.ndarray) -> Any:
            self.number += 1
            return body(*arrays)

        return run

    def counted_attributes(self, attributes: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a composite's attributes with a decomposition whose body counts."""
        decomposition = attributes.get("decomposition")
        if not isinstance(decomposition, StructuredFunction):
            return attributes
        return {**attributes, "decomposition": _Counting(decomposition, self)}


class _Counting:
    """A function whose inner functions count how often they are run."""

    def __init__(self, function: StructuredFunction, place: Place) -> None:
        self._structured, self._place, self.function = function, place, function.function

    @property
    def region(self) -> Region:
        """Return the function's body."""
        return self.function.body

    def bind(self, function: Function) -> Callable[..., Any]:
        """Return another function as a callable that counts."""
        return self._place.counted(self._structured.bind(function))

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the function's results."""
        return self._structured(*arrays)


class CheckedInterpreter:
    """A function ready to run, checked.

    Parameters
    ----------
    function : Function
        As traced: optimization may move, join or drop what is to be found.
    checks : frozenset of str
        Names in `CHECKS`.

    Examples
    --------
    >>> CheckedInterpreter(Function("nothing"), frozenset({"nan"}))([])
    []
    """

    def __init__(self, function: Function, checks: frozenset[str]) -> None:
        self._function, self._checks = function, checks
        self._idle: list[tuple[CheckedPlans, Interpreter]] = []

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the function's results; they may share memory with ``arrays``, which are never written.

        Raises
        ------
        InvalidValueError, IntegerOverflowError, AxisOutOfBoundsError
            At the first op where a check finds something.
        """
        try:
            plans, run = self._idle.pop()
        except IndexError:
            plans = CheckedPlans(self._checks)
            run = Interpreter(self._function, plans)
        try:
            return run(arrays)
        finally:
            plans.reset()
            self._idle.append((plans, run))
