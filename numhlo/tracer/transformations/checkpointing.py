"""`checkpoint`: a function whose intermediate values are computed again on the way back, instead of kept.

Forward, the function is a composite. Its derivative is one, too, with the function's arguments for residuals; only when
that is transposed is the function linearized, behind a barrier, lest common subexpressions bring back what was dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numhlo.lowering.ir import Function, Op, TensorType, Value
from numhlo.lowering.ops import control_flow
from numhlo.tracer.core.bind import bind, trace_function
from numhlo.tracer.core.custom_rules import CustomRule, LinearRule, bind_with_rule
from numhlo.tracer.core.operands import shape_of
from numhlo.tracer.core.replay import replay_op
from numhlo.tracer.differentiation.table import MOST_OPS, Dual, Walker
from numhlo.tracer.transformations.checkpoint_policies import Policy, wanted_values
from numhlo.tracer.transformations.differentiating import apply_transposed, linearize_function
from numhlo.tracer.transformations.saving import run_and_save
from numhlo.tracer.transformations.separate_calls import separate_calls


class Checkpoint(CustomRule[Walker]):
    """Differentiates a checkpointed function: its linear half starts from the arguments."""

    def __init__(self, prevent_cse: bool, policy: Policy | None = None) -> None:
        self.prevent_cse, self.policy = prevent_cse, policy

    def differentiate(
        self, walker: Walker, op: Op, primals: list[Any], tangents: list[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Run the function, and its derivative as a composite of arguments, saved values and tangents."""
        function: Function = op.attributes["decomposition"]
        if not walker.linearizes:
            results = walker.function(function, [Dual(*pair) for pair in zip(primals, tangents, strict=True)])
            return [d.primal for d in results], [d.tangent for d in results]
        function = function if self.policy is None else separate_calls(function, MOST_OPS)
        wanted = wanted_values(function, self.policy)
        with walker.in_primal():
            if wanted:
                outputs, found = run_and_save(function.body, primals, {}, frozenset(wanted))
                wanted = [v for v in wanted if v in found]
                saved = [found[v] for v in wanted]
            else:
                outputs, saved = replay_op(op, primals, {}), []
        active = [t is not None for t in tangents]
        known = [*primals, *saved]
        kept: list[int] = []

        def derivative(*arrays: Any) -> list[Any]:
            slopes = iter(arrays[len(known) :])
            duals = [Dual(x, next(slopes) if a else None) for x, a in zip(arrays, active, strict=False)]
            given = dict(zip(wanted, arrays[len(primals) :], strict=False))
            results = Walker(saved=given).function(function, duals)
            kept.extend(k for k, d in enumerate(results) if d.tangent is not None)
            return [results[k].tangent for k in kept]

        types = [TensorType(shape_of(x), x.dtype) for x in known]
        moving = [v.type for v, a in zip(op.operands, active, strict=True) if a]
        linear, _ = trace_function(f"derivative_{function.name}", derivative, [*types, *moving])
        rule = _Recompute(function, active, kept, wanted, self.prevent_cse)
        operands = [*known, *[t for t in tangents if t is not None]]
        slopes = dict(zip(kept, bind_with_rule("numhlo.checkpoint_derivative", linear, operands, rule), strict=True))
        return outputs, [slopes.get(k) for k in range(len(outputs))]

    def batched(self, size: int) -> CustomRule:
        """Return the rule itself: it takes the function from the op."""
        return self


class _Recompute(LinearRule):
    """Linearizes the function on the way back, and transposes that."""

    def __init__(
        self, function: Function, active: list[bool], kept: list[int], wanted: list[Value], prevent_cse: bool
    ) -> None:
        self.function, self.active, self.kept, self.wanted = function, active, kept, wanted
        self.prevent_cse = prevent_cse

    def transpose(self, op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
        """Return the cotangents of the tangents."""
        count = len(self.active)
        known = operands[: count + len(self.wanted)]
        if self.prevent_cse and known:
            known = bind(control_flow.OPTIMIZATION_BARRIER, *known)
        saved = dict(zip(self.wanted, known[count:], strict=True))
        _, linear = linearize_function(self.function, known[:count], self.active, saved)
        pulled: list[Any] = [None] * len(self.function.result_types)
        for k, cotangent in zip(self.kept, cotangents, strict=True):
            pulled[k] = cotangent
        return [None] * len(known) + apply_transposed(linear, pulled, sum(self.active))
