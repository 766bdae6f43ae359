"""Loops over lanes, rounds that know nothing of each other, as a NumPy user would write them: many rounds at once.

They come from maps whose lanes are no scalar code: round k looks at slices number k and writes slice number k of each
result. Next: `lanes` has the lanes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from numhlo.backend.interim.lane_rules import NotStackedError, can_be_stacked
from numhlo.backend.interim.lanes import FEW_LANES, LaneRegion, lanes_at_once
from numhlo.backend.interim.searches import QuickPlans
from numhlo.backend.planning.constants import with_constants
from numhlo.backend.program import Loop
from numhlo.lowering.analysis.loops import count_of
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region
from numhlo.lowering.ops.effects import op_has_effects
from numhlo.lowering.ops.indexing import DYNAMIC_UPDATE_SLICE


def suits_lanes(loop: Loop) -> bool:
    """Return whether a loop can be run on many lanes at once; where these are large, it does not pay."""
    if len(loop.state) != len(loop.op.operands):
        return False
    try:
        parts = LaneParts(loop)
    except NotStackedError:
        return False
    if lanes_at_once(parts.lane) <= FEW_LANES:
        return False
    return not op_has_effects(loop.op) and all(map(can_be_stacked, loop.op.regions[1].walk()))


class LaneParts:
    """What a loop over lanes consists of.

    Parameters
    ----------
    loop : Loop

    Attributes
    ----------
    counter, end : int
        Which part of the state counts the rounds, and up to where.
    results : list of int
        Which parts the rounds write slices of.
    given : list of int
        The others: what a lane takes.
    lane : Region
        From the counter and all that stays as it is to the slices.

    Raises
    ------
    NotStackedError
        If it is another loop, or has few rounds.
    """

    def __init__(self, loop: Loop) -> None:
        body = loop.op.regions[1]
        self.counter, self.end = _counted(loop.op)
        pairs = enumerate(zip(body.arguments, body.returns, strict=True))
        changed = [k for k, (before, after) in pairs if before is not after and k != self.counter]
        updates = {k: _written(loop.op, k, self.counter, self.end) for k in changed}
        self.results = list(updates)
        self.given = [k for k in range(len(body.arguments)) if k not in updates]
        self.lane = lane = Region()
        lane.arguments = [body.arguments[k] for k in self.given]
        outside = {value for value, _ in loop.inputs}
        rounds = [op for op in body.ops if op not in updates.values()]
        lane.ops = with_constants(rounds, {*outside, *body.arguments})
        lane.returns = [op.operands[1] for op in updates.values()]
        if not outside.issuperset(free_values(lane)):
            raise NotStackedError("a round reads what another one wrote")


class LaneLoop:
    """A loop over lanes, ready to run; an alternative to `rounds.Rounds`.

    Parameters
    ----------
    loop : Loop
        One that `suits_lanes`.
    """

    way = "a loop over lanes, on all lanes at once"

    def __init__(self, loop: Loop) -> None:
        self._parts = parts = LaneParts(loop)
        self._state = list(zip(loop.state, [v.tensor.shape for v in loop.op.operands], strict=True))
        self._inputs = list(loop.inputs)
        batched = [k == parts.counter for k in parts.given]
        self._lane = LaneRegion(parts.lane, batched, {value: False for value, _ in self._inputs}, QuickPlans())
        self._at_once = lanes_at_once(parts.lane)

    def run(self, view: Callable[[int], np.ndarray], go_on: Callable[[], object]) -> None:
        """Run the loop.

        Parameters
        ----------
        view : callable
            ``view(number)`` gives the array in a buffer, which may stand for a value of another shape.
        go_on : callable
            Is called after each block of lanes. If it raises, or something inside a lane does, the state is in its
            buffers, and the loop can be gone on with.
        """
        parts, state = self._parts, [view(number).reshape(shape) for number, shape in self._state]
        outside = {value: view(number).reshape(value.tensor.shape) for value, number in self._inputs}
        captured = [outside[value] for value in self._lane.captured]
        counter = state[parts.counter]
        with np.errstate(all="ignore"):
            while (first := int(counter[()])) < parts.end:
                places = np.arange(first, min(first + self._at_once, parts.end), dtype=counter.dtype)
                given = [places if k == parts.counter else state[k] for k in parts.given]
                for k, rows in zip(parts.results, self._lane.run(len(places), [*given, *captured]), strict=True):
                    state[k][first : first + len(places)] = rows.reshape(len(places), *state[k].shape[1:])
                counter[...] = first + len(places)
                go_on()


def _counted(op: Op) -> tuple[int, int]:
    """Return which part of a loop's state counts its rounds, and up to where.

    Raises
    ------
    NotStackedError
        If none does, or not far.
    """
    counted = count_of(op)
    end = None if counted is None or counted.reaches else counted.constant_limit
    if counted is None or end is None or end <= FEW_LANES or counted.constant_step != 1:
        raise NotStackedError("no loop over many lanes")
    return counted.position, end


def _written(op: Op, number: int, counter: int, lanes: int) -> Op:
    """Return the update that writes a round's slice of a part of the state.

    Raises
    ------
    NotStackedError
        If there is more to it.
    """
    body = op.regions[1]
    target, update = body.arguments[number], body.returns[number].owner
    if isinstance(update, Op) and update.definition is DYNAMIC_UPDATE_SLICE and update.operands[0] is target:
        _, part, first, *_ = update.operands
        shape = target.tensor.shape
        if part.tensor.shape == (1, *shape[1:]) and shape[0] == lanes and first is body.arguments[counter]:
            return update
    raise NotStackedError("a round does more than writing its slice")
