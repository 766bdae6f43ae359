"""`custom_jvp`: functions that bring their forward derivative along.

While tracing, such a function is one composite whose decomposition is the function itself, with a rule beside it (see
`custom_rules`). The rule is linearized like any other function, so it serves both directions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from numhlo.library.transformations.custom_call_arguments import (
    CustomFunction,
    arrays_around,
    bind_call,
    flatten_like,
    of_types,
    pair_of,
    prepare,
    refuse_captured,
    run_rule,
    still,
)
from numhlo.library.transformations.symbolic_zeros import Flags
from numhlo.lowering.ir import Op, capture_location
from numhlo.lowering.ir.derivative_errors import MissingRuleError
from numhlo.tracer.building import (
    CustomRule,
    Walker,
    asarray,
    batched_axis,
    current_trace,
    full_of,
    replay_function,
    tree_unflatten,
    vmap,
)
from numhlo.tracer.building.derivatives import Dual, is_differentiable, stage_leaves

P = ParamSpec("P")
R = TypeVar("R")
Rule = TypeVar("Rule", bound=Callable[..., Any])

FlatRule = Callable[..., Any]


class custom_jvp(CustomFunction[P, R]):  # noqa: N801 - JAX's name, used as a decorator
    """A function with a forward derivative of its own.

    Parameters
    ----------
    fun : callable
        Takes and returns pytrees of arrays.
    nondiff_argnums, nondiff_argnames : sequence, optional
        Arguments that are not differentiated: functions, options; the rule gets them first.

    Raises
    ------
    ArgumentError
        If no rule has been given when a derivative is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.tracer.transformations.differentiating import grad
    >>> @custom_jvp
    ... def clipped(x):
    ...     return np.clip(x, 0, 1)
    >>> @clipped.defjvp
    ... def clipped_jvp(primals, tangents):
    ...     return clipped(*primals), tangents[0]  # straight through
    >>> float(grad(clipped)(3.0))
    1.0
    """

    jvp: Callable[..., Any] | None = None
    symbolic_zeros: bool = False

    def defjvp(self, jvp: Rule, symbolic_zeros: bool = False) -> Rule:
        """Set the rule of the derivative; a decorator.

        Parameters
        ----------
        jvp : callable
            ``jvp(*nondiff, primals, tangents) -> (primals_out, tangents_out)``: the result and its tangent, of the same
            structure and shapes. Tangents that are zero are passed as zeros, those of integers as zeros of their dtype.
        symbolic_zeros : bool, optional
            Pass such tangents as `SymbolicZero` instead; the rule may return such, too.

        Returns
        -------
        callable
            ``jvp``.
        """
        self.jvp, self.symbolic_zeros = jvp, symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Set a rule for each argument; the tangent of the result is their sum.

        Parameters
        ----------
        *jvps : callable or None
            ``jvp(tangent, ans, *primals) -> tangent_out`` by one argument; None for no dependence.
        """
        call: Callable[..., Any] = self

        def rule(*arguments: Any) -> tuple[Any, Any]:
            *fixed, primals, tangents = arguments
            answer: Any = call(*fixed, *primals)
            parts = [f(t, answer, *primals) for f, t in zip(jvps, tangents, strict=True) if f is not None]
            total = parts[0] if parts else 0 * answer
            for part in parts[1:]:
                total = total + part
            return answer, total

        self.jvp = rule

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; in a trace, as one op that brings the rule along."""
        if current_trace() is None:
            return self.fun(*args, **kwargs)
        call = prepare(self.fun, self.nondiff, args, kwargs)
        staged = stage_leaves(call.fun, call.leaves, getattr(self.fun, "__name__", "function"))

        around, flags = arrays_around(self.jvp, *call.fixed), Flags(self.symbolic_zeros)

        def rule(primals: list[Any], tangents: list[Any], now: list[Any]) -> tuple[list[Any], list[Any]]:
            if self.jvp is None:
                raise MissingRuleError(
                    f"{staged.function.name} is a custom_jvp function without a rule",
                    where=capture_location(),
                    fix="give it one with defjvp",
                )
            trees = tree_unflatten(call.tree, primals), tree_unflatten(call.tree, flags.told(tangents))
            both = run_rule(self.jvp, [*call.fixed, *trees], around, now)
            what = f"of the jvp rule of {staged.function.name}"
            outputs, slopes = pair_of(both, f"the result {what}", "the function's result, and its tangent")
            found = [asarray(x) for x in flatten_like(staged.out_tree, outputs, f"the first result {what}")]
            moved = flatten_like(staged.out_tree, slopes, f"the second result {what}")
            return found, of_types(moved, found, f"a tangent {what}")

        made = _JvpRule(rule, len(call.leaves), len(around), flags)
        result: R = bind_call("numhlo.custom_jvp", call, staged, made, around)
        return result


class _JvpRule(CustomRule[Walker]):
    """Differentiates by ``rule(primals, tangents, arrays around it) -> (outputs, tangents)``, all flat."""

    def __init__(self, rule: FlatRule, count: int, num_around: int, flags: Flags) -> None:
        self.rule, self.count, self.num_around, self.flags = rule, count, num_around, flags

    def differentiate(
        self, walker: Walker, op: Op, primals: list[Any], tangents: list[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Run the rule; where tangents are collected, linearize it in them: it is linear in these already.

        What such a rule calls with tangents is linear, too, maybe the function itself (``f(*primals), f(*tangents)``):
        its own ops are differentiated then, for its rule would call it again.
        """
        if walker.is_linear:
            return walker.decomposition(op, primals, tangents)
        first = len(primals) - self.num_around
        refuse_captured(op, "the derivative", self.count, tangents[:first])
        now = still(primals[first:], tangents[first:])
        types = [v.tensor for v in op.operands[: self.count]]
        given = primals[: self.count]
        number = len(op.results)

        def run(*arrays: Any) -> list[Any]:
            self.flags.moving = [t is not None for t in tangents[: self.count]]
            outputs, slopes = self.rule(list(arrays[: self.count]), list(arrays[self.count :]), now)
            return [*outputs, *slopes]

        with walker.in_primal():
            zeros = [full_of(0, t.shape, t.dtype) for t in types]
            filled = [z if t is None or walker.linearizes else t for z, t in zip(zeros, tangents, strict=False)]
            staged = stage_leaves(run, [*given, *filled], f"jvp_{op.attributes['decomposition'].name}")
        if walker.linearizes:
            duals = [Dual(x, None) for x in given]
            duals += [Dual(z, t) for z, t in zip(zeros, tangents, strict=False)]
            results = walker.linearly().function(staged.function, [*duals, *[Dual(c, None) for c in staged.captures]])
            return [d.primal for d in results[:number]], [d.tangent for d in results[number:]]
        found = replay_function(staged.function, [*given, *filled, *staged.captures])
        slopes = [t if is_differentiable(t.dtype) else None for t in found[number:]]
        return found[:number], slopes

    def batched(self, size: int) -> CustomRule:
        """Return the rule on lanes."""
        return _JvpRule(
            vmap(self.rule, axis_name=batched_axis(), axis_size=size), self.count, self.num_around, self.flags
        )
