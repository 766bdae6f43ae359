"""Runs a loop that takes several steps round by round, its state in Python: what does not change is computed once.

Step by step every value of a round would go through a buffer. Here only the state does, at the end or when somebody
wants to go on with it in machine code. An array that rounds renew a window of is written in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.backend.interim.searches import QuickPlans
from numhlo.backend.planning.constants import with_constants
from numhlo.backend.planning.plan import has_loops
from numhlo.backend.program import Loop
from numhlo.lowering.interpreter import Plan, free_values
from numhlo.lowering.ir import Function, Op, Region, Value
from numhlo.lowering.ops.comparison import COMPARE
from numhlo.lowering.ops.composites import COMPOSITES
from numhlo.lowering.ops.control_flow import COMPOSITE, WHILE
from numhlo.lowering.ops.effects import op_has_effects
from numhlo.lowering.ops.elementwise import ADD, DIVIDE, MAXIMUM, MINIMUM, MULTIPLY, SUBTRACT
from numhlo.lowering.ops.indexing import DYNAMIC_UPDATE_SLICE, window_of
from numhlo.lowering.ops.primitive import Arrays, EvaluateRule, RegionFunction

FRESH = frozenset({ADD, SUBTRACT, MULTIPLY, DIVIDE, MAXIMUM, MINIMUM, COMPARE})
"""Ops whose results never share memory with their operands."""


def suits_rounds(loop: Loop) -> bool:
    """Return whether a loop can be run round by round: none inside it, and nothing that must not be done twice."""
    if len(loop.state) != len(loop.op.operands) or op_has_effects(loop.op):
        return False
    return not any(_goes_round(op) for region in loop.op.regions for op in region.walk())


def _goes_round(op: Op) -> bool:
    """Return whether NumPy runs an op in rounds; of a composite that it knows it does not look at the decomposition."""
    if op.definition is COMPOSITE and op.attributes["name"] in COMPOSITES:
        return op.attributes["name"] in ("numhlo.map", "numhlo.scan")
    return op.definition is WHILE or any(has_loops(a.body) for a in op.attributes.values() if isinstance(a, Function))


class _Plans(QuickPlans):
    """Plans that know which updates may write into their operand."""

    __slots__ = ("in_place",)

    def __init__(self, in_place: set[Op]) -> None:
        super().__init__()
        self.in_place = in_place

    def rule(self, op: Op) -> EvaluateRule:
        """Return what evaluates an op."""
        return _update if op in self.in_place else super().rule(op)


def _update(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Write a window into an array that nobody else has."""
    operand, update, *starts = arrays
    operand[window_of(operand.shape, update.shape, starts)] = update
    return (operand,)


class Rounds:
    """A loop, ready to run.

    Parameters
    ----------
    loop : Loop
        One that `suits_rounds`.
    """

    way = "round by round"

    def __init__(self, loop: Loop) -> None:
        condition, body = loop.op.regions
        self._numbers, self._inputs = loop.state, list(loop.inputs)
        pairs = list(zip(body.arguments, body.returns, strict=True))
        same = {argument: k for k, (argument, returned) in enumerate(pairs) if argument is returned}
        given = {*(value for value, _ in self._inputs), *same}
        inside = [*condition.ops, *body.ops]
        fixed = with_constants(inside, {*given, *condition.arguments, *body.arguments})[: -len(inside)]
        for value in (*condition.returns, *body.returns):
            if isinstance(value.owner, Op) and not value.owner.operands and value.owner not in {*inside, *fixed}:
                fixed.append(value.owner)
        tests = _varying(condition, condition.arguments, fixed)
        steps = _varying(body, [argument for argument in body.arguments if argument not in same], fixed)
        in_place: set[Op] = set()
        self._moved = [
            k
            for k, (argument, returned) in enumerate(pairs)
            if argument not in same and not _renews_windows(steps, body.returns, argument, returned, in_place)
        ]
        plans = _Plans(in_place)
        self._test = Plan(_part(condition.arguments, tests, condition.returns), plans)
        self._body = Plan(_part(body.arguments, steps, body.returns), plans)
        made = {value for op in fixed for value in op.results}
        wanted = dict.fromkeys([*self._test.captured, *self._body.captured])
        self._made = [value for value in wanted if value in made]
        self._fixed = Plan(_part([], fixed, self._made), plans)
        self._same = same

    def run(self, view: Callable[[int], np.ndarray], go_on: Callable[[], object]) -> None:
        """Run the loop.

        Parameters
        ----------
        view : callable
            ``view(number)`` gives the array in a buffer, which may stand for a value of another shape.
        go_on : callable
            Is called after each round. If it raises, the state is in its buffers, and the loop can be gone on with.
        """
        shapes = [argument.tensor.shape for argument in self._body.region.arguments]
        start = [view(number).reshape(shape) for number, shape in zip(self._numbers, shapes, strict=True)]
        outside = {value: view(number).reshape(value.tensor.shape) for value, number in self._inputs}
        outside.update((value, start[k]) for value, k in self._same.items())
        state = start
        with np.errstate(all="ignore"):
            outside.update(zip(self._made, self._fixed.run(_taken(self._fixed, outside)), strict=True))
            of_test, of_body = _taken(self._test, outside), _taken(self._body, outside)
            try:
                while self._test.run([*state, *of_test])[0]:
                    state = [*self._body.run([*state, *of_body])]
                    go_on()
            finally:
                self._keep(state, start)

    def _keep(self, state: Sequence[np.ndarray], targets: Sequence[np.ndarray]) -> None:
        """Put the state into its buffers; parts of it may lie in another part's place."""
        for target, array in [(targets[k], state[k].copy()) for k in self._moved]:
            target[...] = array


def _taken(plan: Plan, outside: Mapping[Value, np.ndarray]) -> list[np.ndarray]:
    return [outside[value] for value in plan.captured]


def _part(arguments: Sequence[Value], ops: Sequence[Op], returns: Sequence[Value]) -> Region:
    """Return a region of ops that belong to another one."""
    region = Region()
    region.arguments, region.ops, region.returns = list(arguments), list(ops), list(returns)
    return region


def _varying(region: Region, changing: Iterable[Value], fixed: list[Op]) -> list[Op]:
    """Return the ops whose results differ from round to round, and append the others to ``fixed``."""
    different = set(changing)
    found = []
    for op in region.ops:
        if any(value in different for value in (*op.operands, *free_values(op))):
            different.update(op.results)
            found.append(op)
        else:
            fixed.append(op)
    return found


def _renews_windows(
    ops: Sequence[Op], returns: Sequence[Value], argument: Value, returned: Value, found: set[Op]
) -> bool:
    """Return whether a part of the state may be written in place: by updates, after the last look at what they change.

    Parameters
    ----------
    ops : sequence of Op
        Of a round.
    returns : sequence of Value
        The whole state after it.
    argument, returned : Value
        The part, before and after the round.
    found : set of Op
        The updates are added to it.
    """
    chain: list[Op] = []
    value = returned
    while value is not argument:
        op = value.owner
        if not isinstance(op, Op) or op.definition is not DYNAMIC_UPDATE_SLICE:
            return False
        chain.insert(0, op)
        value = op.operands[0]
    version = {argument: 0}  # of what a value is, or looks at
    done = 0
    for op in ops:
        seen = [version[v] for v in (*op.operands, *free_values(op)) if v in version]
        if any(number < done for number in seen):
            return False
        if done < len(chain) and op is chain[done]:
            done += 1
            version[op.result] = done
        elif seen and op.definition not in FRESH:
            version.update((value, min(seen)) for value in op.results)
    if not chain or [value for value in returns if value in version] != [returned]:
        return False
    found.update(chain)
    return True
