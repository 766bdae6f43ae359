"""The contracts of differentiation rules, and the walks that apply them.

Forward: every value carries its tangent, or None where it does not depend on what is differentiated (integers never
do). A *linear trace* collects tangent ops only: whatever a rule computes from primal values alone lands in the trace
around it. So the linear trace's body is linear in its explicit arguments, and its captures are the residuals.
Backward: such a body is transposed, op by op from the end, by the rules of `TRANSPOSE`.

- ``JVP`` rule: ``rule(op, primals, tangents, outputs) -> tangents of the results``; at least one tangent is not None.
- ``JOINT`` rule, for ops with bodies: ``rule(walker, op, primals, tangents, environment) -> (outputs, tangents)``.
- ``TRANSPOSE`` rule: ``rule(op, operands, cotangents) -> cotangents of the operands``; ``operands`` holds None for the
  linear ones, and the result None for the others. Cotangents of unused results are None.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Function, Op, Region, Value
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.ops.rule_table import RuleTable
from numhlo.lowering.passes.dead_ops import remove_dead_ops
from numhlo.lowering.passes.outlining import find_outlined
from numhlo.tracer.core.bind import bind1, bind_again
from numhlo.tracer.core.operands import full_of
from numhlo.tracer.core.replay import replay_op
from numhlo.tracer.core.trace import Trace
from numhlo.tracer.differentiation.tiles import Tiles

MOST_OPS = 2000
"""Ops that a program may have with all calls inlined, from where on callees are shared; that is a second of tracing."""


class Dual(NamedTuple):
    """A value and its tangent, None for zero."""

    primal: Any
    tangent: Any


Environment = dict[Value, Dual]
JvpRule = Callable[[Op, list[Any], list[Any], list[Any]], Sequence[Any]]
JointRule = Callable[["Walker", Op, list[Any], list[Any], Environment], tuple[Sequence[Any], Sequence[Any]]]
TransposeRule = Callable[[Op, list[Any], list[Any]], Sequence[Any]]
FOLDER = "numhlo/tracer/differentiation"
JVP: RuleTable[JvpRule] = RuleTable("differentiate", FOLDER)
JOINT: RuleTable[JointRule] = RuleTable("differentiate", FOLDER)
TRANSPOSE: RuleTable[TransposeRule] = RuleTable("transpose", FOLDER)


def is_differentiable(dtype: np.dtype) -> bool:
    """Return whether values of this dtype have tangents: floats and complex numbers."""
    return dtype.kind in "fcV"


def zeros_of(value: Value) -> Any:
    """Return zeros of a value's type."""
    return full_of(0, value.tensor.shape, value.tensor.dtype)


class Patch(NamedTuple):
    """A cotangent that is added to others in place, part by part, and not before it is needed.

    So reading or writing one element of an array costs no array, forwards or backwards.

    Attributes
    ----------
    alone : callable
        ``alone() ->`` the first part as an array.
    onto : list of callable
        ``onto[k](array) ->`` its sum with part ``k``.
    everywhere : bool
        The first part is not just zeros with a few other numbers.
    """

    alone: Callable[[], Any]
    onto: list[Callable[[Any], Any]]
    everywhere: bool = False

    def added_to(self, total: Any, first: int = 0) -> Any:
        """Return the sum of an array and all parts from the first."""
        for onto in self.onto[first:]:
            total = onto(total)
        return total


def whole(cotangent: Any) -> Any:
    """Return a cotangent as an array; None for zero."""
    if isinstance(cotangent, Tiles):
        return cotangent.whole()
    return cotangent.added_to(cotangent.alone(), 1) if isinstance(cotangent, Patch) else cotangent


def instantiate(tangent: Any, value: Value) -> Any:
    """Return a tangent, or zeros of its value's type."""
    return zeros_of(value) if tangent is None else whole(tangent)


def add_tangents(x: Any, y: Any) -> Any:
    """Return the sum of two tangents, either of which may be None."""
    if x is None or y is None:
        return y if x is None else x
    if isinstance(x, Tiles) or isinstance(y, Tiles):
        return _add_tiles(x, y)
    if isinstance(x, Patch) and isinstance(y, Patch):
        first, second = (y, x) if y.everywhere else (x, y)
        first.onto.extend(second.onto)
        return first
    if isinstance(y, Patch):
        return y.added_to(x)
    return x.added_to(y) if isinstance(x, Patch) else bind1(ops.ADD, x, y)


def _add_tiles(x: Any, y: Any) -> Any:
    """Return the sum of two cotangents of which one is in tiles."""
    tiles, other = (x, y) if isinstance(x, Tiles) else (y, x)
    if isinstance(other, Tiles):
        return tiles.absorb(other)
    if not isinstance(other, Patch):
        return tiles.plus(other)
    return add_tangents(Patch(tiles.whole, [tiles.onto], tiles.base is not None), other)


class Calls:
    """Which functions a walk differentiates once, however often they are called, and what became of them.

    Loops differentiate their bodies once, too, for all loops that have the same body.

    Parameters
    ----------
    function : Function
        What is walked.
    """

    def __init__(self, function: Function) -> None:
        self.shared = set(find_outlined(function, MOST_OPS))
        self.forward: dict[tuple[Function, tuple[bool, ...]], Any] = {}
        self.halves: dict[tuple[Function, tuple[bool, ...]], Any] = {}
        self.bodies: dict[tuple[Hashable, ...], Any] = {}


class Walker:
    """Runs a graph forward with tangents.

    Parameters
    ----------
    primal_trace, linear_trace : Trace, optional
        Where primal ops and tangent ops go; the current trace for both where left out (forward mode).
    saved : mapping of Value to array, optional
        What is known of the graph's values, and need not be computed.
    calls : Calls, optional
        Those of the walk around; found by the first function that is run.
    is_linear : bool, optional
        Whether the graph is linear in all that has tangents: the result of a forward rule.
    """

    def __init__(
        self,
        primal_trace: Trace | None = None,
        linear_trace: Trace | None = None,
        saved: Mapping[Value, Any] | None = None,
        calls: Calls | None = None,
        is_linear: bool = False,
    ) -> None:
        self.primal_trace = primal_trace
        self.linear_trace = linear_trace
        self.saved = saved or {}
        self.calls = calls
        self.is_linear = is_linear

    @property
    def linearizes(self) -> bool:
        """Return whether tangent ops go to a trace of their own."""
        return self.linear_trace is not None

    def within(
        self,
        primal_trace: Trace | None = None,
        linear_trace: Trace | None = None,
        saved: Mapping[Value, Any] | None = None,
    ) -> Walker:
        """Return a walker for a body inside of what this one walks."""
        return Walker(primal_trace, linear_trace, saved, self.calls, self.is_linear)

    def linearly(self) -> Walker:
        """Return a walker for a graph that is linear in its tangents, where forward rules give nothing new."""
        return Walker(self.primal_trace, self.linear_trace, self.saved, is_linear=True)

    def in_primal(self) -> AbstractContextManager[Any]:
        """Return a context in which ops go to the primal trace."""
        return nullcontext() if self.primal_trace is None else self.primal_trace.resumed()

    def function(self, function: Function, inputs: Sequence[Dual]) -> list[Dual]:
        """Run a function."""
        self.calls_in(function)
        return self.body(function.body, inputs, {})

    def calls_in(self, function: Function) -> Calls:
        """Return what the walk shares: found in a function that it begins with, or before."""
        if self.calls is None:
            self.calls = Calls(function)
        return self.calls

    def decomposition(
        self, op: Op, primals: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Run the ops that a composite stands for, and return its results and their tangents."""
        duals = [Dual(*pair) for pair in zip(primals, tangents, strict=True)]
        results = self.function(op.attributes["decomposition"], duals)
        return [d.primal for d in results], [d.tangent for d in results]

    def body(self, region: Region, inputs: Sequence[Dual], environment: Mapping[Value, Dual]) -> list[Dual]:
        """Run a body; values from outside are found in the environment."""
        inner: Environment = {v: environment[v] for v in free_values(region)}
        inner.update(zip(region.arguments, inputs, strict=True))
        for op in region.ops:
            inner.update(zip(op.results, self.op(op, inner), strict=True))
        return [inner[v] for v in region.returns]

    def op(self, op: Op, environment: Environment) -> list[Dual]:
        """Run one op."""
        duals = [environment[v] for v in op.operands]
        outer = free_values(op) if op.regions else []
        primals, tangents = [d.primal for d in duals], [d.tangent for d in duals]
        around = [environment[v].tangent for v in outer]
        active = bool([t for t in (*tangents, *around) if t is not None])
        joint = JOINT.find(op.definition)
        if active and joint is not None:
            outputs, results = joint(self, op, primals, tangents, environment)
            outputs = [self.saved.get(v, x) for v, x in zip(op.results, outputs, strict=True)]
            return [Dual(*pair) for pair in zip(outputs, results, strict=True)]
        outputs = self._primals(op, primals, environment, outer)
        if not active or not any(is_differentiable(v.tensor.dtype) for v in op.results):
            return [Dual(x, None) for x in outputs]
        results = JVP[op.definition](op, primals, tangents, list(outputs))
        return [Dual(*pair) for pair in zip(outputs, results, strict=True)]

    def _primals(self, op: Op, primals: list[Any], environment: Environment, outer: Sequence[Value]) -> Sequence[Any]:
        if self.saved and all(v in self.saved for v in op.results):
            return [self.saved[v] for v in op.results]
        if not op.regions:
            return bind_again(op, primals, self.primal_trace)
        with self.in_primal():
            return replay_op(op, primals, {v: environment[v].primal for v in outer})


def finish_linear(trace: Trace, results: Sequence[Any]) -> tuple[Region, list[Any]]:
    """Return a linear trace's body, which gives ``results``, and what it captured, without what nobody needs."""
    region = trace.region
    region.returns = [trace.read(x) for x in results]
    trace.open = False
    remove_dead_ops(region)
    used = {
        *region.returns,
        *[v for op in region.ops for v in (*op.operands, *(free_values(op) if op.regions else []))],
    }
    first = len(region.arguments) - len(trace.captures)
    kept = [k for k, v in enumerate(region.arguments[first:]) if v in used]
    region.arguments = [*region.arguments[:first], *[region.arguments[first + k] for k in kept]]
    return region, [trace.captures[k] for k in kept]


def transpose_body(
    region: Region, inputs: Sequence[Any], cotangents: Sequence[Any], totals: Mapping[int, Any] | None = None
) -> list[Any]:
    """Run a linear body backwards.

    Parameters
    ----------
    region : Region
        Uses nothing from outside.
    inputs : sequence
        The values of its arguments; None for those that it is linear in.
    cotangents : sequence
        One for each returned value; None for zero.
    totals : mapping of int to array, optional
        What the cotangents of some arguments are added to.

    Returns
    -------
    list
        A cotangent for each linear argument (None for zero; it may be a `Patch`), None for the others.
    """
    known: dict[Value, Any] = {}
    linear: set[Value] = set()
    for argument, given in zip(region.arguments, inputs, strict=True):
        if given is None:
            linear.add(argument)
        else:
            known[argument] = given
    steps = transpose_order(region, known, linear)
    gathered: dict[Value, Any] = {region.arguments[k]: total for k, total in (totals or {}).items()}
    for value, cotangent in zip(region.returns, cotangents, strict=True):
        if value in linear and cotangent is not None:
            gathered[value] = add_tangents(gathered.get(value), cotangent)
    for op in reversed(steps):
        pull_back(op, known, gathered)
    return [gathered.get(v) if v in linear else None for v in region.arguments]


def transpose_order(region: Region, known: dict[Value, Any], linear: set[Value]) -> list[Op]:
    """Run the ops of a body that don't depend on its linear arguments, and return the others."""
    steps = []
    for op in region.ops:
        outer = free_values(op) if op.regions else []
        if not (linear.isdisjoint(op.operands) and linear.isdisjoint(outer)):
            linear.update(op.results)
            steps.append(op)
        else:
            plain = {v: known[v] for v in outer}
            outputs = replay_op(op, [known[v] for v in op.operands], plain)
            known.update(zip(op.results, outputs, strict=True))
    return steps


def pull_back(op: Op, known: Mapping[Value, Any], gathered: dict[Value, Any]) -> None:
    """Add an op's contribution to its operands' cotangents."""
    operands = list(map(known.get, op.operands))
    cotangents = [gathered.pop(v, None) for v in op.results]
    tiling = TILING.find(op.definition)
    results = None if tiling is None or cotangents[0] is None else tiling(op, operands, cotangents[0])
    if results is not None:
        add_results(op, results, known, gathered)
        return
    cotangents = [whole(c) for c in cotangents]
    if all(c is None for c in cotangents):
        return
    adding = ADDING.find(op.definition)
    if adding is not None:
        used = [*op.operands, *free_values(op)] if op.regions else op.operands
        linear = [v for v in dict.fromkeys(used) if v not in known]
        totals = {v: whole(gathered.pop(v)) for v in linear if _is_everywhere(gathered.get(v))}
        for value, cotangent in adding(op, operands, cotangents, known, totals).items():
            gathered[value] = add_tangents(gathered.get(value), cotangent)
        return
    rule = TRANSPOSE.find(op.definition)
    if rule is None and op.definition in REFUSALS:
        raise REFUSALS[op.definition](op)
    if rule is None:
        raise UnsupportedError(
            f"the transpose of {op.definition.name}",
            where=op.location,
            why="it is not linear in its operands, and only linear functions have a transpose",
            fix="use vjp or grad for functions that are not linear",
        )
    results = rule(op, operands, cotangents)
    add_results(op, results, known, gathered)


def _is_everywhere(cotangent: Any) -> bool:
    if isinstance(cotangent, Tiles):
        return cotangent.base is not None
    return cotangent is not None and (not isinstance(cotangent, Patch) or cotangent.everywhere)


def add_results(op: Op, results: Sequence[Any], known: Mapping[Value, Any], totals: dict[Value, Any]) -> None:
    """Add what a transposition rule returned, one cotangent for each operand, to those of the linear operands."""
    for value, cotangent in zip(op.operands, results, strict=True):
        if cotangent is not None and value not in known:
            totals[value] = add_tangents(totals.get(value), cotangent)


AddingRule = Callable[[Op, list[Any], list[Any], Mapping[Value, Any], Mapping[Value, Any]], Mapping[Value, Any]]
ADDING: RuleTable[AddingRule] = RuleTable("transpose", FOLDER)
"""Transposition of ops with bodies: ``rule(op, operands, cotangents, known, totals) -> new totals``, where totals are
cotangents of linear values that the op uses, its operands and those from outside. So a body that reads one element of
an array adds to that element, and not an array to an array."""


REFUSALS: dict[Primitive, Callable[[Op], UnsupportedError]] = {}
"""The errors of ops that may be in linear graphs and have no transpose."""


TilingRule = Callable[[Op, list[Any], Any], Sequence[Any] | None]
TILING: RuleTable[TilingRule] = RuleTable("transpose", FOLDER)
"""Transposition of writes at places known while tracing: ``rule(op, operands, cotangent)``, where the cotangent may be
`Tiles` or a `Patch`, returns the operands' cotangents, or None where the rule of `TRANSPOSE` is to be taken."""


def linear_operand(op: Op, operands: Sequence[Any]) -> int:
    """Return which operand of a bilinear op is linear.

    Raises
    ------
    UnsupportedError
        If not exactly one is.
    """
    places = [k for k, x in enumerate(operands) if x is None]
    if len(places) != 1:
        raise UnsupportedError(f"{op.definition.name} is not linear in its operands together", where=op.location)
    return places[0]
