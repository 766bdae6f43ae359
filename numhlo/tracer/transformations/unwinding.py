"""Going back through a loop whose number of steps is known only when it has run.

The last steps are on a tape, if there is one; states before them are computed again, from a fixed number of states that
are spread evenly, on two levels. `checkpointed_loops` makes such loops.
Source: Griewank and Walther, "Revolve", ACM TOMS 26(1), 2000.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numhlo.lowering.ir import Function, Op
from numhlo.tracer.control_flow.loops import fori_loop
from numhlo.tracer.core import operations as b
from numhlo.tracer.core.arrangement import dynamic_row, with_dynamic_row
from numhlo.tracer.core.custom_rules import LinearRule
from numhlo.tracer.core.operands import full_of, shape_of
from numhlo.tracer.core.replay import replay_function
from numhlo.tracer.differentiation.loops import Loop, split_loop
from numhlo.tracer.differentiation.table import Walker, instantiate
from numhlo.tracer.transformations.differentiating import LinearMap, apply_transposed, linearize_function


class Tape:
    """What the last steps of a loop made, a row for each: of step n, row n modulo the number of rows.

    Parameters
    ----------
    loop : Loop
        With as many steps as there are rows.
    active : list of bool
        Which arguments of its body have tangents.
    """

    def __init__(self, loop: Loop, active: list[bool]) -> None:
        self.loop, self.halves = loop, split_loop(Walker(), loop, active, {})

    def empty(self) -> list[Any]:
        """Return the rows before the first step."""
        types = [v.tensor for v in self.halves.primal.body.returns[self.loop.num_carries :]]
        return [full_of(0, (self.loop.length, *t.shape), t.dtype) for t in types]

    def record(self, arrays: list[Any], rows: list[Any], number: Any) -> tuple[list[Any], list[Any]]:
        """Run the body, and return the new carries and rows."""
        results = replay_function(self.halves.primal, arrays)
        made, place = results[self.loop.num_carries :], number % self.loop.length
        rows = [with_dynamic_row(r, x, place) for r, x in zip(rows, made, strict=True)]
        return results[: self.loop.num_carries], rows

    def once(self, consts: list[Any]) -> list[Any]:
        """Return what is the same for all steps."""
        return replay_function(self.halves.hoisted, consts)

    def step(self, once: list[Any], rows: list[Any], number: Any) -> LinearMap:
        """Return the derivative of a step, from what `once` returned and the rows."""
        place = number % self.loop.length
        row = [dynamic_row(r, place) for r in rows]
        found = {"once": once, "output": [None] * self.loop.num_carries + row}
        flags = self.halves.out_active
        residuals = [found[kind][k] for kind, k in self.halves.sources]
        return LinearMap(self.halves.linear, residuals, [k for k, f in enumerate(flags) if f])


class Unwinding(LinearRule):
    """Runs a loop backwards: the steps on the tape, and before them those of states that are computed again."""

    def __init__(self, body: Function, num_consts: int, active: list[bool], states: int, tape: Tape | None) -> None:
        self.body, self.num_consts, self.active, self.states, self.tape = body, num_consts, active, states, tape
        self.fixed, self.moving = sum(active[:num_consts]), sum(active)

    def transpose(self, op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
        """Return the cotangents of the active constants and initial values."""
        total = len(self.active)
        consts, inits, count = operands[: self.num_consts], operands[self.num_consts : total], operands[total]
        moving = [v for v, a in zip(self.body.body.arguments, self.active, strict=True) if a]
        given = [*[None] * self.fixed, *cotangents]
        state = [instantiate(c, v) for c, v in zip(given, moving, strict=True)]
        if self.tape is not None:
            state = self._unwind(self.tape, operands[total + 1 : -self.moving], count, state)
            count = b.maximum(count - self.tape.loop.length, 0)

        def step(carries: list[Any]) -> list[Any]:
            return replay_function(self.body, [*consts, *carries])

        def pull(carries: list[Any], state: list[Any]) -> list[Any]:
            return self._pull(linearize_function(self.body, [*consts, *carries], self.active)[1], state)

        found = _go_back(step, pull, inits, count, state, self.states, levels=2)
        return [None] * (len(operands) - self.moving) + found

    def _unwind(self, tape: Tape, kept: list[Any], count: Any, state: list[Any]) -> list[Any]:
        """Go back through the steps on the tape."""
        first = len(tape.halves.hoisted.body.returns)
        once, rows = kept[:first], kept[first:]

        def back(i: Any, state: list[Any]) -> list[Any]:
            return self._pull(tape.step(once, rows, count - 1 - i), state)

        return list(fori_loop(0, b.minimum(count, tape.loop.length), back, state))

    def _pull(self, linear: LinearMap, state: list[Any]) -> list[Any]:
        """Go back through one step: sums of constants and cotangents of carries."""
        back = iter(state[self.fixed :])
        given = [next(back) if a else None for a in self.active[self.num_consts :]]
        return apply_transposed(linear, given, self.moving, state[: self.fixed])


def _go_back(
    step: Callable[[list[Any]], list[Any]],
    pull: Callable[[list[Any], list[Any]], list[Any]],
    first: list[Any],
    count: Any,
    state: list[Any],
    slots: int,
    levels: int,
) -> list[Any]:
    """Pull ``state`` back through ``count`` steps from ``first``, keeping ``slots`` states on each level.

    Without levels, each state is computed from the first one.
    """

    def ahead(carries: list[Any], steps: Any) -> list[Any]:
        found: list[Any] = fori_loop(0, steps, lambda _, c: step(c), carries)
        return found

    if not levels:
        return list(fori_loop(0, count, lambda i, s: pull(ahead(first, count - 1 - i), s), state))
    stride = b.maximum((count + (slots - 1)) // slots, 1)
    used = (count + (stride - 1)) // stride
    kept = [full_of(0, (slots, *shape_of(x)), x.dtype) for x in first]

    def keep(k: Any, pair: Any) -> Any:
        carries, rows = pair
        rows = [with_dynamic_row(r, x, k) for r, x in zip(rows, carries, strict=True)]
        return [ahead(carries, b.minimum(stride, count - k * stride)), rows]

    _, kept = fori_loop(0, used, keep, [first, kept])

    def back(i: Any, state: list[Any]) -> list[Any]:
        k = used - 1 - i
        carries = [dynamic_row(r, k) for r in kept]
        steps = b.minimum(stride, count - k * stride)
        return _go_back(step, pull, carries, steps, state, slots, levels - 1)

    return list(fori_loop(0, used, back, state))
