"""``numhlo.map`` on all lanes at once, as a NumPy user would write it: loops go on with the lanes that are left.

Every lane gets the bits that it would get alone: ops work on stacked values, a lane takes part in a round or a branch
only if it would run it, and results are put back in their places. Next: `lane_rules` has the ops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from numhlo.backend.interim.lane_rules import Array, Call, NotStackedError, find_rule, plain_ufunc, stacked
from numhlo.backend.planning.expansion import expand
from numhlo.lowering.interpreter import BoundRegion, Plan, Plans, free_values
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops import creation
from numhlo.lowering.ops.back_edges import current_hook
from numhlo.lowering.ops.control_flow import CASE, COMPOSITE, IF, WHILE
from numhlo.lowering.ops.effects import op_has_effects
from numhlo.lowering.ops.loops import loop_body

FEW_LANES = 32
"""Lanes of a map that are run one after the other: NumPy takes as long for that many numbers as for one."""

BLOCK = 8192
"""Lanes at a time: stacked values stay in the processor's cache, and somebody can take over in between."""

MOST_ELEMENTS = 1 << 17
"""Of one value of all lanes that run at a time: a megabyte or less."""


def lanes_at_once(body: Region) -> int:
    """Return how many lanes of a body run at a time."""
    widest = max((v.tensor.size for op in body.walk() for v in op.results), default=1)
    return max(1, min(BLOCK, MOST_ELEMENTS // max(1, widest)))


class LaneRegion:
    """A region made ready for stacked values.

    Parameters
    ----------
    region : Region
    batched : sequence of bool
        Which arguments are stacked.
    outside : dict from Value to bool
        The values from outside that may be used, and whether they are stacked.
    plans : Plans

    Attributes
    ----------
    captured : list of Value
        What is used from outside; `run` takes it after the arguments.
    batched : list of bool
        Which inputs, arguments and captured values, are stacked.
    results : list of bool
        Which results are.
    """

    def __init__(self, region: Region, batched: Sequence[bool], outside: dict[Value, bool], plans: Plans) -> None:
        self.captured = free_values(region)
        self.batched = [*batched, *(outside[v] for v in self.captured)]
        inputs = [*region.arguments, *self.captured]
        self._slots = {value: slot for slot, value in enumerate(inputs)}
        self._stacked = dict(zip(inputs, self.batched, strict=True))
        self._constants: list[Array] = []
        self._calls: list[tuple[np.ufunc | None, Call | None, list[int], list[tuple[int, np.dtype]]]] = []
        constants = [op for op in region.ops if op.definition is creation.CONSTANT]
        for op in constants:
            self._slots[op.result] = len(self._slots)
            self._stacked[op.result] = False
            self._constants.append(op.attributes["value"])
        for op in region.ops:
            if op.definition is not creation.CONSTANT:
                self._add(op, plans)
        self._returns = [self._slots[v] for v in region.returns]
        self.results = [self._stacked[v] for v in region.returns]

    def _add(self, op: Op, plans: Plans) -> None:
        if op_has_effects(op):
            raise NotStackedError(f"{op.definition.name} has effects")
        inputs = [*op.operands, *free_values(op)]
        slots = [self._slots[v] for v in inputs]
        batched = any(self._stacked[v] for v in inputs)
        ufunc = plain_ufunc(op) if batched else None
        call = None if ufunc is not None else self._call(op, inputs, plans)
        for value in op.results:
            self._slots[value] = len(self._slots)
            self._stacked[value] = batched
        self._calls.append((ufunc, call, slots, [(self._slots[v], v.tensor.dtype) for v in op.results]))

    def _call(self, op: Op, inputs: Sequence[Value], plans: Plans) -> Call:
        """Return what does an op with its inputs."""
        batched = [self._stacked[v] for v in inputs]
        if not any(batched):
            return _same_for_all(op, plans)
        if op.definition is WHILE:
            return _Loop(op, batched, self._stacked, plans)
        if op.definition in (IF, CASE):
            return _Branches(op, batched, self._stacked, plans)
        if op.definition is COMPOSITE and op.attributes["name"] == "numhlo.map":
            return _InnerMap(op, batched, plans)
        return find_rule(op)(op, batched, plans)

    def run(self, lanes: int, inputs: Sequence[Array]) -> list[Array]:
        """Return the results for so many lanes, all stacked."""
        frame = [*inputs, *self._constants, *[None] * (len(self._slots) - len(inputs) - len(self._constants))]
        for ufunc, call, slots, outputs in self._calls:
            if ufunc is not None:
                frame[outputs[0][0]] = ufunc(*[frame[slot] for slot in slots])
                continue
            assert call is not None
            results = call(lanes, [frame[slot] for slot in slots])  # type: ignore[misc]
            for (slot, dtype), result in zip(outputs, results, strict=True):
                frame[slot] = result if result.dtype == dtype else np.asarray(result, dtype)
        found = []
        for slot, own in zip(self._returns, self.results, strict=True):
            array = frame[slot]
            assert array is not None
            found.append(array if own else stacked(array, lanes))
        return found

    def predicate(self, lanes: int, inputs: Sequence[Array]) -> Array:
        """Return the only result, a boolean for every lane."""
        return self.run(lanes, inputs)[0]


def _same_for_all(op: Op, plans: Plans) -> Call:
    """Return what does an op that no lane's values go into."""
    evaluate, attributes, count = op.definition.evaluate, plans.attributes(op), len(op.operands)
    free = free_values(op)
    regions = [Plan(region, plans) for region in op.regions]
    places = [[count + free.index(v) for v in plan.captured] for plan in regions]

    def call(_: int, arrays: Sequence[Array]) -> Sequence[Array]:
        bound = [BoundRegion(p, [arrays[k] for k in place]) for p, place in zip(regions, places, strict=True)]
        return [np.asarray(result) for result in evaluate(arrays[:count], attributes, bound)]

    return call


class _Inner:
    """A region of an op, and where its captured values are among the op's inputs."""

    def __init__(self, op: Op, number: int, batched: Sequence[bool], outside: dict[Value, bool], plans: Plans) -> None:
        first, free = len(op.operands), free_values(op)
        self.region = LaneRegion(op.regions[number], batched, outside, plans)
        self.places = [first + free.index(v) for v in self.region.captured]

    def inputs(self, state: Sequence[Array], arrays: Sequence[Array]) -> list[Array]:
        """Return the region's inputs."""
        return [*state, *[arrays[k] for k in self.places]]


class _Loop:
    """A while whose state is stacked: each round is run by the lanes whose condition holds."""

    def __init__(self, op: Op, batched: Sequence[bool], outside: dict[Value, bool], plans: Plans) -> None:
        count = self.count = len(op.operands)
        self.batched = list(batched)
        self.condition = _Inner(op, 0, [True] * count, outside, plans)
        self.body = _Inner(op, 1, [True] * count, outside, plans)

    def __call__(self, lanes: int, inputs: Sequence[Array]) -> Sequence[Array]:
        count, hook = self.count, current_hook()
        arrays = list(inputs)
        pairs = zip(arrays[:count], self.batched, strict=False)
        state = [a if own else stacked(a, lanes) for a, own in pairs]
        places = results = None
        while True:
            goes_on = self.condition.region.predicate(lanes, self.condition.inputs(state, arrays))
            if np.count_nonzero(goes_on) < lanes:
                left = np.flatnonzero(goes_on)
                if places is None:
                    if not len(left):
                        return state
                    places = np.arange(lanes)
                    results = [np.empty(s.shape, s.dtype) for s in state]
                done = np.flatnonzero(~goes_on)
                assert results is not None
                for result, part in zip(results, state, strict=True):
                    result[places[done]] = part[done]
                if not len(left):
                    return results
                places, lanes = places[left], len(left)
                state = [part[left] for part in state]
                for k in range(count, len(arrays)):
                    if self.batched[k]:
                        arrays[k] = arrays[k][left]
            state = self.body.region.run(lanes, self.body.inputs(state, arrays))
            if hook is not None:
                hook()


class _Branches:
    """An if or case: each branch is run by the lanes that take it."""

    def __init__(self, op: Op, batched: Sequence[bool], outside: dict[Value, bool], plans: Plans) -> None:
        self.batched = list(batched)
        self.two = op.definition is IF
        self.branches = [_Inner(op, k, [], outside, plans) for k in range(len(op.regions))]
        self.types = [v.tensor for v in op.results]

    def __call__(self, lanes: int, arrays: Sequence[Array]) -> Sequence[Array]:
        chosen = self._chosen(arrays[0])
        if not self.batched[0]:
            branch = self.branches[int(chosen)]
            return branch.region.run(lanes, branch.inputs((), arrays))
        results = [np.empty((lanes, *t.shape), t.dtype) for t in self.types]
        for number, branch in enumerate(self.branches):
            taking = np.flatnonzero(chosen == number)
            if len(taking) == lanes:
                return branch.region.run(lanes, branch.inputs((), arrays))
            if not len(taking):
                continue
            own = [a[taking] if stacks else a for a, stacks in zip(arrays, self.batched, strict=True)]
            for result, part in zip(results, branch.region.run(len(taking), branch.inputs((), own)), strict=True):
                result[taking] = part
        return results

    def _chosen(self, index: Array) -> Array:
        if self.two:
            return np.where(index, 0, 1)
        return np.where((index >= 0) & (index < len(self.branches)), index, len(self.branches) - 1)


class _InnerMap:
    """A map in a body: its lanes, in each of the lanes around it, are lanes like any others."""

    def __init__(self, op: Op, batched: Sequence[bool], plans: Plans) -> None:
        parameters = op.attributes["composite_attributes"]
        self.lanes, self.consts = parameters["lanes"], parameters["num_consts"]
        self.batched = list(batched)
        self.types = [v.tensor for v in op.results]
        body = expand(loop_body(op).body)
        own = [stacks or number >= self.consts for number, stacks in enumerate(batched)]
        self.region = LaneRegion(body, own, {}, plans)
        self.at_once = lanes_at_once(body)

    def __call__(self, lanes: int, arrays: Sequence[Array]) -> Sequence[Array]:
        count = lanes * self.lanes
        results = [np.empty((count, *t.shape[1:]), t.dtype) for t in self.types]
        pairs = list(zip(arrays, self.batched, strict=True))
        wide = [a if own else stacked(a, lanes) for a, own in pairs[self.consts :]]
        stacks = [a.reshape(count, *a.shape[2:]) for a in wide]
        for first in range(0, count, self.at_once):
            here = slice(first, min(first + self.at_once, count))
            around = np.arange(here.start, here.stop) // self.lanes
            consts = [a[around] if own else a for a, own in pairs[: self.consts]]
            parts = self.region.run(len(around), [*consts, *[a[here] for a in stacks]])
            for result, part in zip(results, parts, strict=True):
                result[here] = part
        return [r.reshape(lanes, *t.shape) for r, t in zip(results, self.types, strict=True)]


class StackedMap:
    """A ``numhlo.map`` that runs on all lanes at once.

    Parameters
    ----------
    op : Op
    plans : Plans

    Raises
    ------
    NotStackedError
        If the body has effects, or ops that can't work on stacked values.
    """

    def __init__(self, op: Op, plans: Plans) -> None:
        parameters = op.attributes["composite_attributes"]
        self.lanes, self.consts = parameters["lanes"], parameters["num_consts"]
        self.types = [v.tensor for v in op.results]
        body = expand(loop_body(op).body)
        batched = [number >= self.consts for number in range(len(body.arguments))]
        self.region = LaneRegion(body, batched, {}, plans)
        self.at_once = lanes_at_once(body)

    def run(self, arrays: Sequence[Array], poll: Callable[[], object]) -> list[Array]:
        """Return the results; ``poll`` is called between blocks of lanes."""
        results = [np.empty(t.shape, t.dtype) for t in self.types]
        consts, stacks = list(arrays[: self.consts]), arrays[self.consts :]
        with np.errstate(all="ignore"):
            for first in range(0, self.lanes, self.at_once):
                here = slice(first, min(first + self.at_once, self.lanes))
                parts = self.region.run(here.stop - first, [*consts, *[a[here] for a in stacks]])
                for result, part in zip(results, parts, strict=True):
                    result[here] = part
                poll()
        return results
