"""A function cut in two: its primal half, which also gives residuals, and its linear half, which takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from numhlo.lowering.ir import Function, TensorType, Value
from numhlo.tracer.core.bind import trace_closed
from numhlo.tracer.core.trace import Trace, current_trace
from numhlo.tracer.differentiation.table import Dual, Walker, finish_linear, instantiate


class Halves(NamedTuple):
    """The two halves.

    Attributes
    ----------
    primal : Function
        Returns what the function does, then the residuals.
    linear : Function
        Takes tangents of the arguments that have one, then the residuals; returns those of ``out_active`` results.
    out_active : list of bool
    """

    primal: Function
    linear: Function
    out_active: list[bool]


def split_function(
    walker: Walker,
    function: Function,
    active: Sequence[bool],
    wanted: Mapping[int, bool] | None = None,
    kept: Mapping[Value, TensorType] | None = None,
) -> Halves:
    """Trace the primal half, and inside it the linear half, whose captures are the residuals.

    Parameters
    ----------
    walker : Walker
    function : Function
    active : sequence of bool
        Which arguments have tangents.
    wanted : mapping of int to bool, optional
        Whether results have tangents, where that is not to depend on what is found.
    kept : mapping of Value to TensorType, optional
        Values of the body that the primal half gets as arguments more, and need not compute.
    """
    arguments, values, kept = function.body.arguments, function.body.returns, kept or {}
    linear_types = [v.type for v, a in zip(arguments, active, strict=True) if a]
    box: list[Any] = []

    def run(*given: Any) -> list[Any]:
        arrays, saved = given[: len(arguments)], dict(zip(kept, given[len(arguments) :], strict=True))
        trace = current_trace()
        assert trace is not None
        with Trace(trace, linear=True).resumed() as inner:
            extra = iter([inner.argument(t) for t in linear_types])
            duals = [Dual(x, next(extra) if a else None) for x, a in zip(arrays, active, strict=True)]
            outputs = walker.within(trace, inner, saved).function(function, duals)
            flags = [(wanted or {}).get(k, d.tangent is not None) for k, d in enumerate(outputs)]
            results = [instantiate(d.tangent, v) for d, v, f in zip(outputs, values, flags, strict=True) if f]
            linear, captures = finish_linear(inner, results)
        box.extend((Function(f"linear_{function.name}", linear), flags))
        return [*[d.primal for d in outputs], *captures]

    primal = trace_closed(f"primal_{function.name}", run, [*[v.type for v in arguments], *kept.values()])
    return Halves(primal, *box)
