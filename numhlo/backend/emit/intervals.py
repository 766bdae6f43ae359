"""What integers and truth values can be, as far as their makers tell: counters of loops, above all.

An index within its array needs no clamping, a comparison that always holds no instruction. Kernels serve many shapes,
so LLVM doesn't know extents and can't find that out itself. Bounds are those of exact arithmetic: what could wrap
around has its type's. `interval_arithmetic` has the rules; `scalar_code`, `scalar_indexing` and `scalar_scatter` ask.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from numhlo.backend.emit.interval_arithmetic import COMPARISONS, RULES, TRUTH, Interval, union
from numhlo.backend.emit.registers import REGISTERS
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops import comparison, control_flow, creation, elementwise
from numhlo.lowering.ops.effects import op_has_effects

MOST_CONSTANTS = 64
"""Elements of a constant that are looked at."""

MOST_ALTERNATIVES = 8
"""Values of which branches choose one, that are looked at."""

MOST_STEPS = 40
"""From a value to its operands, to theirs, and so on: how far to look."""


class Intervals:
    """Intervals of values. Loops must be entered before what is in them is asked for.

    Examples
    --------
    >>> from numhlo.lowering.ops.primitive import make_op
    >>> three = make_op(creation.CONSTANT, (), {"value": np.array([3, 5])}).result
    >>> Intervals().of(make_op(elementwise.ADD, [three, three]).result)
    Interval(low=6, high=10)
    """

    def __init__(self) -> None:
        self._known: dict[Value, Interval | None] = {}
        self._below: dict[Value, list[Value]] = {}
        self._outside: dict[Value, Value] = {}
        self._rounds: dict[Op, int] = {}
        self.never_looks = False
        """Whether all loops whose rounds are known are so few that none looks whether the user wants to stop."""
        self._steps = 0

    def of(self, value: Value) -> Interval | None:
        """Return the interval of a value's elements; None for what is neither integer nor truth value."""
        if value not in self._known:
            self._steps += 1
            whole = whole_type(value.tensor.dtype)
            self._known[value] = whole if whole is None or self._steps > MOST_STEPS else self._find(value, whole)
            self._steps -= 1
        return self._known[value]

    def enter(self, loop: Op) -> None:
        """Take what a while's condition says about the values that count, and what its body leaves unchanged."""
        condition, body = loop.regions
        for number, (argument, returned) in enumerate(zip(body.arguments, body.returns, strict=True)):
            if returned is argument:
                found = self.of(loop.operands[number])
                self._known[argument] = self._known[condition.arguments[number]] = found
                outside = self._original(loop.operands[number])
                self._outside[argument] = self._outside[condition.arguments[number]] = outside
        tests = list(conjuncts(condition.returns[0]))
        for _ in range(2):  # what bounds a counter may be one itself
            rounds = [self._enter_counter(loop, test) for test in tests]
        most = min([n for n in rounds if n is not None], default=None)
        if most is not None:
            self._rounds[loop] = most
        for number, argument in enumerate(body.arguments):
            step = self._step(loop, number)
            if most is not None and step is not None and argument not in self._known:
                self._follow(loop, number, step, most)
        for number, argument in enumerate(body.arguments):
            if argument not in self._known and whole_type(argument.tensor.dtype) is not None:
                self._choose(loop, number)

    def rounds_of(self, loop: Op) -> float:
        """Return how often a loop that was entered goes round at most, infinity where that is not known."""
        return self._rounds.get(loop, math.inf)

    def _original(self, value: Value) -> Value:
        """Return what a value is outside the loops that leave it unchanged."""
        return self._outside.get(value, value)

    def _enter_counter(self, loop: Op, test: Op) -> int | None:
        """Note the interval of a counter that a comparison bounds; return the most rounds, None if it bounds none."""
        direction = test.attributes["comparison_direction"]
        if direction not in _MIRRORED:
            return None
        condition, body = loop.regions
        lhs, rhs = test.operands
        rounds = None
        for value, limit, towards in ((lhs, rhs, direction), (rhs, lhs, _MIRRORED[direction])):
            counter, end = self._solved(value, self.of(limit), towards)
            if counter not in condition.arguments or end is None:
                continue
            number = condition.arguments.index(counter)
            if counter is value and towards == "LT":
                self._below.setdefault(body.arguments[number], []).append(self._original(limit))
            step = self._step(loop, number)
            if step is not None and (counter is value or self._stays_exact(loop, number, step, end, value)):
                rounds = self._count(loop, number, step, end, towards) or rounds
        return rounds

    def _solved(self, value: Value, end: Interval | None, direction: str) -> tuple[Value, Interval | None]:
        """Return the value that is squared, or moved by a constant, to give another, and its end; or that one."""
        op = value.owner
        if end is None or direction[0] != "L" or not isinstance(op, Op) or len(op.operands) != 2:
            return value, end
        lhs, rhs = op.operands
        if op.definition is elementwise.MULTIPLY and lhs is rhs and end.high >= 0:
            gap = 0 if direction[1] == "E" else 1  # x * x < end where x < 1 + isqrt(end - 1), for x >= 0
            return lhs, Interval(0, math.isqrt(max(end.high - gap, 0)) + gap)
        moved = self.of(rhs)
        if op.definition is elementwise.ADD and moved is not None and moved.only is not None:
            return lhs, Interval(end.low - moved.low, end.high - moved.low)
        return value, end

    def _stays_exact(self, loop: Op, number: int, step: Interval, end: Interval, value: Value) -> bool:
        """Return whether what is compared doesn't wrap around for any counter up to the first beyond the end."""
        first, whole = self.of(loop.operands[number]), whole_type(value.tensor.dtype)
        op = value.owner
        if first is None or whole is None or first.low < 0 or step.low < 0 or not isinstance(op, Op):
            return False
        counter = Interval(first.low, max(first.high, end.high + step.high))
        other = counter if op.operands[0] is op.operands[1] else self.of(op.operands[1])
        found = RULES[op.definition](counter, other)
        return found is not None and found.within(*whole)

    def _count(self, loop: Op, number: int, step: Interval, end: Interval, direction: str) -> int | None:
        """Note the interval of the state's value ``number``, which moves by ``step`` until it is past ``end``."""
        first = self.of(loop.operands[number])
        if first is None:
            return None
        gap = 0 if direction[1] == "E" else 1
        if direction[0] == "L" and step.low >= 0:
            inside, least = Interval(first.low, max(end.high - gap, first.low)), step.low
        elif direction[0] == "G" and step.high <= 0:
            inside, least = Interval(min(end.low + gap, first.high), first.high), -step.high
        else:
            return None
        if not self._define(loop, number, inside, step) or least == 0:
            return None
        return (inside.high - inside.low) // least + 1

    def _follow(self, loop: Op, number: int, step: Interval, rounds: int) -> None:
        """Note the interval of a value of the state that every round moves by ``step``, ``rounds`` times at most."""
        first = self.of(loop.operands[number])
        if first is not None:
            low, high = (min(0, (rounds - 1) * step.low), max(0, (rounds - 1) * step.high))
            self._define(loop, number, Interval(first.low + low, first.high + high), step)

    def _define(self, loop: Op, number: int, inside: Interval, step: Interval) -> bool:
        """Note what a value of the state can be in the body; return False where a step further might wrap around."""
        whole = whole_type(loop.operands[number].tensor.dtype)
        first = self.of(loop.operands[number])
        around = Interval(inside.low + min(0, step.low), inside.high + max(0, step.high))
        if whole is None or first is None or not around.within(*whole):
            return False
        condition, body = loop.regions
        self._known[body.arguments[number]] = inside
        self._known[condition.arguments[number]] = self._known[loop.results[number]] = union(around, first)
        return True

    def _choose(self, loop: Op, number: int) -> None:
        """Note the interval of a value of the state that a round keeps, or exchanges for what doesn't hang on it."""
        condition, body = loop.regions
        argument = body.arguments[number]
        chosen = set(_alternatives(body.returns[number])) - {argument}
        if len(chosen) > MOST_ALTERNATIVES or not all(self._is_independent(v, body) for v in chosen):
            return
        found = [self.of(v) for v in (loop.operands[number], *chosen)]
        known = [part for part in found if part is not None]
        for value in (argument, condition.arguments[number], loop.results[number]):
            self._known[value] = union(*known)

    def _is_independent(self, value: Value, body: Region) -> bool:
        """Return whether a value's interval can be found before those of the state that is not known yet."""
        waiting = [value]
        for found in waiting:
            op = found.owner
            if found in self._known:
                continue
            if found in body.arguments or len(waiting) > MOST_STEPS:
                return False
            if isinstance(op, Op):
                if op.regions:
                    return False
                waiting += op.operands
        return True

    def _step(self, loop: Op, number: int) -> Interval | None:
        """Return what a round adds to the state's value ``number``; nothing in rounds that keep it."""
        body = loop.regions[1]
        steps = [self._step_to(v, body.arguments[number]) for v in _alternatives(body.returns[number])]
        known = [step for step in steps if step is not None]
        return union(*known) if len(known) == len(steps) <= MOST_ALTERNATIVES else None

    def _step_to(self, value: Value, argument: Value) -> Interval | None:
        advance = value.owner
        if value is argument:
            return Interval(0, 0)
        if not isinstance(advance, Op) or argument not in advance.operands:
            return None
        if advance.definition is elementwise.ADD:
            lhs, rhs = advance.operands
            return None if lhs is rhs else self.of(rhs if lhs is argument else lhs)
        if advance.definition is elementwise.SUBTRACT and advance.operands[0] is argument:
            taken = self.of(advance.operands[1])
            return None if taken is None else Interval(-taken.high, -taken.low)
        return None

    def chosen(self, op: Op) -> Value | None:
        """Return the operand that an op's result always equals, if there is one."""
        if op.definition is comparison.SELECT:
            predicate = self.of(op.operands[0])
            number = None if predicate is None else predicate.only
            return None if number is None else op.operands[1 if number else 2]
        if op.definition in (elementwise.MINIMUM, elementwise.MAXIMUM):
            lhs, rhs = op.operands
            return self._smaller(lhs, rhs, least=op.definition is elementwise.MINIMUM)
        if op.definition is comparison.CLAMP:
            low, operand, high = map(self.of, op.operands)
            if operand is None or low is None or high is None:
                return None
            return op.operands[1] if operand.within(low.high, high.low) else None
        return None

    def _smaller(self, lhs: Value, rhs: Value, *, least: bool) -> Value | None:
        """Return the one of two values that is never greater than the other, or never less, if there is one."""
        one, other = self.of(lhs), self.of(rhs)
        if one is None or other is None:
            return None
        if one.high <= other.low:
            return lhs if least else rhs
        if other.high <= one.low:
            return rhs if least else lhs
        return None

    def needed_ops(self, region: Region, results: Sequence[Value] | None = None) -> list[Op]:
        """Return the ops that results depend on, all of a region's unless some are given.

        What is needed only where an index is out of bounds is not among them.
        """
        needed = set(region.returns if results is None else results)
        found = []
        for op in reversed(region.ops):
            if not needed.isdisjoint(op.results) or op_has_effects(op):
                found.append(op)
                chosen = self.chosen(op)
                needed.update([*op.operands, *free_values(op)] if chosen is None else [chosen])
        return found[::-1]

    def _find(self, value: Value, types: Interval) -> Interval:
        op = value.owner
        if not isinstance(op, Op):
            return types
        if op.definition is creation.CONSTANT:
            array: np.ndarray = op.attributes["value"]
            return Interval(int(array.min()), int(array.max())) if 0 < array.size <= MOST_CONSTANTS else types
        if op.definition is comparison.COMPARE:
            return self._compared(op)
        if op.definition is comparison.SELECT:
            return self._selected(op, types)
        if op.definition in (control_flow.IF, control_flow.CASE):
            sides = [self.of(region.returns[op.results.index(value)]) for region in op.regions]
            return union(*[side for side in sides if side is not None])
        if op.definition is creation.IOTA:
            found = Interval(0, max(0, value.tensor.shape[op.attributes["iota_dimension"]] - 1))
            return found if found.within(*types) else types
        return self._by_rule(op, types)

    def _by_rule(self, op: Op, types: Interval) -> Interval:
        """Return what follows from the intervals of an op's operands, or its type's own."""
        rule = RULES.get(op.definition)
        operands = [self.of(v) for v in op.operands] if rule is not None else [None]
        result = None if rule is None or None in operands else rule(*operands)
        if result is None or not result.within(*types):
            return types
        if op.definition is elementwise.SUBTRACT and self._is_below(op.operands[1], op.operands[0]):
            return Interval(max(result.low, 1), max(result.high, 1))
        return result

    def _is_below(self, counter: Value, limit: Value) -> bool:
        """Return whether a value counts in a loop that goes on while it is below another."""
        return self._original(limit) in self._below.get(self._original(counter), ())

    def _compared(self, op: Op) -> Interval:
        lhs, rhs = map(self.of, op.operands)
        if lhs is None or rhs is None:
            return TRUTH
        always, never = COMPARISONS[op.attributes["comparison_direction"]](lhs, rhs)
        return Interval(int(always), int(not never))

    def _selected(self, op: Op, types: Interval) -> Interval:
        """Return the union of both sides, each under what the predicate says about it."""
        predicate, *sides = op.operands
        known = self.of(predicate)
        found = [self._under(side, predicate, holds) for side, holds in zip(sides, (True, False), strict=True)]
        chosen = None if known is None else known.only
        if chosen is not None:
            found = [found[0 if chosen else 1]]
        return types if None in found else union(*[f for f in found if f is not None])

    def _under(self, value: Value, predicate: Value, holds: bool) -> Interval | None:
        """Return a value's interval where a comparison, with it or with what it is a fixed distance from, holds."""
        plain, test = self.of(value), predicate.owner
        if plain is None or not isinstance(test, Op) or test.definition is not comparison.COMPARE:
            return plain
        compared, bound = test.operands
        limit, within = self.of(bound), self.of(compared)
        direction = test.attributes["comparison_direction"]
        if limit is None or within is None or direction not in ("LT", "GE"):
            return plain
        if (direction == "LT") is holds:
            narrowed = Interval(within.low, min(within.high, limit.high - 1))
        else:
            narrowed = Interval(max(within.low, limit.low), within.high)
        if narrowed.low > narrowed.high:
            return plain
        if value is compared:
            return narrowed
        op = value.owner
        if not isinstance(op, Op) or op.definition is not elementwise.ADD or op.operands[0] is not compared:
            return plain
        moved = RULES[elementwise.ADD](narrowed, self.of(op.operands[1]) or plain)
        types = whole_type(value.tensor.dtype)
        return moved if moved is not None and types is not None and moved.within(*types) else plain


def whole_type(dtype: np.dtype) -> Interval | None:
    """Return all that a type can hold, None where it is neither integer nor truth value.

    Examples
    --------
    >>> whole_type(np.dtype("int8"))
    Interval(low=-128, high=127)
    """
    register = REGISTERS[dtype]
    if register.kind == "b":
        return TRUTH
    if register.kind == "u":
        return Interval(0, (1 << register.bits) - 1)
    return Interval(-(1 << (register.bits - 1)), (1 << (register.bits - 1)) - 1) if register.kind == "i" else None


def conjuncts(value: Value) -> Iterator[Op]:
    """Yield the comparisons that all hold where a truth value is true."""
    op = value.owner
    if not isinstance(op, Op):
        return
    if op.definition is comparison.COMPARE:
        if op.attributes["comparison_direction"] == "NE" and _is_false(op.operands[1]):
            yield from conjuncts(op.operands[0])
        yield op
    elif op.definition is elementwise.AND:
        for operand in op.operands:
            yield from conjuncts(operand)


def _is_false(value: Value) -> bool:
    op = value.owner
    return isinstance(op, Op) and op.definition is creation.CONSTANT and not np.any(op.attributes["value"])


def _alternatives(value: Value) -> Iterator[Value]:
    """Yield the values of which selections and branches choose a value, each once."""
    waiting, seen = [value], {value}
    for found in waiting:
        op, choices = found.owner, list[Value]()
        if isinstance(op, Op) and op.definition is comparison.SELECT:
            choices = op.operands[1:]
        elif isinstance(op, Op) and op.definition in (control_flow.IF, control_flow.CASE):
            choices = [region.returns[op.results.index(found)] for region in op.regions]
        else:
            yield found
        waiting += [x for x in dict.fromkeys(choices) if x not in seen]
        seen.update(choices)


_MIRRORED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}
