"""The steps of a program, ready to run in Python on a frame's buffers: op by op, as plain Python, or on all lanes.

All ways give the same bits; which one a step takes is a matter of time only, and decided here. Next: `numpy_engine`
walks the steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol, TypeAlias

import numpy as np

from numhlo.backend.interim.lane_loops import LaneLoop, suits_lanes
from numhlo.backend.interim.lane_rules import NotStackedError
from numhlo.backend.interim.lanes import FEW_LANES, StackedMap
from numhlo.backend.interim.loops import PlainLoop
from numhlo.backend.interim.rounds import Rounds, suits_rounds
from numhlo.backend.interim.translation import Translation
from numhlo.backend.interim.typed import NotPlainError
from numhlo.backend.program import Buffer, Launch, Loop
from numhlo.backend.runtime.frame import Frame
from numhlo.backend.runtime.rows_in_pieces import by_rows
from numhlo.backend.runtime.sums_in_pieces import in_pieces
from numhlo.backend.runtime.whole_products import whole_products
from numhlo.lowering.interpreter import Plan, Plans
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ir.errors import InternalError
from numhlo.lowering.ops.back_edges import at_back_edges, current_hook
from numhlo.lowering.ops.comparison import COMPARE
from numhlo.lowering.ops.control_flow import COMPOSITE, WHILE
from numhlo.lowering.ops.creation import CONSTANT

SECONDS_PER_LINE = 5e-6
"""A third of what translating and compiling a line of a kernel takes: few loops that go on so long end soon after."""

MANY_ROUNDS = 64
"""Rounds of a counted loop from which on plain Python is faster, translating included."""

Places: TypeAlias = Sequence[tuple[Value, int]]


class StepPlan(Protocol):
    """A step, ready to run."""

    @property
    def way(self) -> str:
        """Return how the step runs, for reports."""
        ...

    def run(self, frame: Frame, buffers: Sequence[Buffer]) -> None:
        """Compute the outputs from the inputs."""
        ...


class OpsPlan:
    """The ops of one step, op by op."""

    __slots__ = ("inputs", "outputs", "plan")
    way = "op by op"

    def __init__(self, ops: Sequence[Op], inputs: Places, outputs: Places, plans: Plans) -> None:
        region = Region()
        region.returns = [value for value, _ in outputs]
        region.ops = by_rows(
            in_pieces(whole_products(ops, region.returns), region.returns, plans), region.returns, plans
        )
        self.plan = Plan(region, plans)
        numbers = dict(inputs)
        missing = [v for v in self.plan.captured if v not in numbers]
        if missing:
            raise InternalError(f"{ops[0]!r} reads a value that is in no buffer: {missing[0].type}")
        self.inputs = [(numbers[value], value.tensor.shape) for value in self.plan.captured]
        self.outputs = [number for _, number in outputs]

    def run(self, frame: Frame, buffers: Sequence[Buffer]) -> None:
        """Compute the outputs from the inputs, all before any is written: they may share memory."""
        arrays = []
        for number, shape in self.inputs:
            view = frame.view(number, buffers[number])
            arrays.append(view if view.shape == shape else view.reshape(shape))
        with np.errstate(all="ignore"):
            results = self.compute(arrays)
        views = [frame.view(number, buffers[number]) for number in self.outputs]
        if len(views) > 1:
            results = [result.copy() if _overlaps(result, views) else result for result in results]
        for view, result in zip(views, results, strict=True):
            if view.size:
                view[...] = result.reshape(view.shape)  # a buffer may stand for a value of another shape

    def compute(self, arrays: list[np.ndarray]) -> Sequence[np.ndarray]:
        """Return the outputs."""
        return self.plan.run(arrays)


def _overlaps(result: np.ndarray, views: Sequence[np.ndarray]) -> bool:
    return not result.flags.owndata and any(np.may_share_memory(result, view) for view in views)


class SlowLoopError(Exception):
    """A loop goes round longer than it takes to make plain Python of its kernel."""


class LoopPlan:
    """A loop of scalar code: op by op for a moment, then as plain Python.

    Parameters
    ----------
    launches : sequence of Launch
        The loop's own and, before it, copies of the arrays that it updates in place.
    plans : Plans

    Attributes
    ----------
    loop : PlainLoop or None
        Once it is translated.
    refusal : str
        Why it can't be.
    """

    __slots__ = ("_copies", "_ops", "_plans", "launches", "loop", "refusal")

    def __init__(self, launches: Sequence[Launch], plans: Plans) -> None:
        self.launches = launches
        self.loop: PlainLoop | None = None
        self.refusal = ""
        self._plans = plans
        self._ops: OpsPlan | None = None
        self._copies: list[tuple[int, int]] = []

    def run(self, frame: Frame, buffers: Sequence[Buffer]) -> None:
        """Run the loop; what was done op by op is dropped where that turns out to be the slow way."""
        if self.loop is None and not self.refusal:
            if has_many_rounds(self.launches[0].ops):
                self.translate()
            else:
                try:
                    with at_back_edges(self._impatience()):
                        self._by_ops().run(frame, buffers)
                    return
                except SlowLoopError:
                    self.translate()
        if self.loop is None:
            self._by_ops().run(frame, buffers)
            return
        for source, target in self._copies:
            flat = frame.view(source, buffers[source]).reshape(-1)
            frame.view(target, buffers[target]).reshape(-1)[...] = flat
        launch = self.launches[-1]
        arrays = [frame.view(number, buffers[number]) for number in launch.buffers]
        self.loop.run(arrays, launch.dims, launch.extent, current_hook() or _go_on)

    @property
    def way(self) -> str:
        """Return how the loop runs, for reports."""
        if self.loop is not None:
            return "as plain Python made of the kernel"
        return f"op by op ({self.refusal})" if self.refusal else "op by op"

    def translate(self) -> None:
        """Make plain Python of the loop, if it can be."""
        try:
            loop = PlainLoop(self.launches[-1].kernel)
            self._copies = [_copied(launch) for launch in self.launches[:-1]]
            self.loop = loop
        except NotPlainError as reason:
            self.refusal = str(reason)

    def _by_ops(self) -> OpsPlan:
        if self._ops is None:
            first = self.launches[0]
            self._ops = OpsPlan(first.ops, first.inputs, first.outputs, self._plans)
        return self._ops

    def _impatience(self) -> Callable[[], None]:
        """Return a hook that raises after the time that translating the kernel may take."""
        outer = current_hook() or _go_on
        end = time.perf_counter() + SECONDS_PER_LINE * self.launches[-1].kernel.lines

        def hook() -> None:
            outer()
            if time.perf_counter() > end:
                raise SlowLoopError

        return hook


def has_many_rounds(ops: Sequence[Op]) -> bool:
    """Return whether a loop counts up to a large constant; a guess, which nothing but time depends on."""
    if not ops or ops[-1].definition is not WHILE:
        return False
    for test in ops[-1].regions[0].ops:
        owners = [v.owner for v in test.operands] if test.definition is COMPARE else []
        limits = [o.attributes["value"] for o in owners if isinstance(o, Op) and o.definition is CONSTANT]
        if any(limit.dtype.kind in "iu" and limit.size == 1 and limit >= MANY_ROUNDS for limit in limits):
            return True
    return False


def _copied(launch: Launch) -> tuple[int, int]:
    """Return the buffer that a launch reads and the one that it writes: all it does is copy."""
    (target,) = Translation(launch.kernel.source).stored
    return launch.buffers[1 - target], launch.buffers[target]


def _go_on() -> None:
    """Do nothing: nobody is waiting for this loop."""


class MapPlan(OpsPlan):
    """A launch of a ``numhlo.map``, on all lanes at once; what its kernel computes before comes first."""

    __slots__ = ("map", "places")
    way = "op by op on all lanes at once"

    def __init__(self, launch: Launch, plans: Plans) -> None:
        *before, op = launch.ops
        super().__init__(before, launch.inputs, [(v, -1) for v in op.operands], plans)
        self.outputs = [number for _, number in launch.outputs]
        self.map = StackedMap(op, plans)
        numbers = {value: number for number, value in enumerate(op.results)}
        self.places = [numbers[value] for value, _ in launch.outputs]

    def compute(self, arrays: list[np.ndarray]) -> Sequence[np.ndarray]:
        """Return the outputs."""
        results = self.map.run(super().compute(arrays), current_hook() or _go_on)
        return [results[k] for k in self.places]


class RoundsPlan:
    """A kernel that does all rounds of a loop: round by round, or many rounds at once."""

    __slots__ = ("rounds",)

    def __init__(self, loop: Loop) -> None:
        self.rounds = LaneLoop(loop) if suits_lanes(loop) else Rounds(loop)

    @property
    def way(self) -> str:
        """Return how the loop runs, for reports."""
        return self.rounds.way

    def run(self, frame: Frame, buffers: Sequence[Buffer]) -> None:
        """Run the loop on the buffers of its state."""
        self.rounds.run(lambda number: frame.view(number, buffers[number]), current_hook() or _go_on)


class PartsPlan:
    """Launches that one kernel does, one after the other, each with those that go on with it.

    Parameters
    ----------
    launches : sequence of Launch
    plans : Plans
    """

    __slots__ = ("parts",)
    way = "op by op"

    def __init__(self, launches: Sequence[Launch], plans: Plans) -> None:
        starts = [k for k, launch in enumerate(launches) if not launch.follows]
        self.parts = [make_plan(launches[a:b], plans) for a, b in pairwise([*starts, len(launches)])]

    def run(self, frame: Frame, buffers: Sequence[Buffer]) -> None:
        """Run the launches."""
        for part in self.parts:
            part.run(frame, buffers)


def lanes_of(launch: Launch) -> int:
    """Return how many lanes a launch's ``numhlo.map`` has, 0 if it is none; its units may be blocks of lanes."""
    op = launch.ops[-1] if launch.ops else None
    if op is None or op.definition is not COMPOSITE or op.attributes["name"] != "numhlo.map":
        return 0
    lanes: int = op.attributes["composite_attributes"]["lanes"]
    return lanes


def make_plan(launches: Sequence[Launch], plans: Plans) -> StepPlan:
    """Return the plan of launches that belong together: the way that is fastest in Python."""
    step = launches[0]
    if step.parts:
        return PartsPlan(step.parts, plans)
    if lanes_of(step) > FEW_LANES:
        try:
            return MapPlan(step, plans)
        except NotStackedError:
            pass  # the body has effects, or ops that can't be stacked: lane by lane, then
    if step.loop is not None and (suits_rounds(step.loop) or suits_lanes(step.loop)):
        return RoundsPlan(step.loop)
    if launches[-1].scalar:
        return LoopPlan(launches, plans)
    return OpsPlan(step.ops, step.inputs, step.outputs, plans)
