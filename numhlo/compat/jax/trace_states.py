"""Where tracing stands, as libraries ask for it: the current trace, effects, and the innermost trace of arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numhlo.compat.jax.avals import ShapedArray, abstract_token
from numhlo.tracer.core.trace import Trace, Tracer, current_trace, outside_traces

__all__ = [
    "AbstractToken", "Effect", "Effects", "OpaqueTraceState", "TraceTag", "find_top_trace", "get_opaque_trace_state",
    "no_effects", "primal_dtype_to_tangent_dtype", "set_current_trace", "take_current_trace",
    "unsafe_am_i_under_a_jit_DO_NOT_USE",
]  # fmt: skip

AbstractToken = type(abstract_token)


class Effect:
    """What an equation does beside giving results."""


Effects = set[Effect]
no_effects: frozenset[Effect] = frozenset()


class TraceTag:
    """What tells traces of one transformation from those of another."""


class OpaqueTraceState:
    """Where tracing stands: equal to another as long as no function is entered or left.

    Parameters
    ----------
    trace : Trace or None
    """

    def __init__(self, trace: Trace | None) -> None:
        self._trace = trace

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpaqueTraceState) and self._trace is other._trace

    def __hash__(self) -> int:
        return id(self._trace)

    def __repr__(self) -> str:
        return f"<trace state: {'none' if self._trace is None else id(self._trace)}>"


def get_opaque_trace_state(convention: str = "") -> OpaqueTraceState:
    """Return where tracing stands.

    Examples
    --------
    >>> get_opaque_trace_state() == get_opaque_trace_state()
    True
    """
    return OpaqueTraceState(current_trace())


def unsafe_am_i_under_a_jit_DO_NOT_USE() -> bool:  # noqa: N802 - JAX's name
    """Return whether a function is being traced whose values are not known.

    Examples
    --------
    >>> unsafe_am_i_under_a_jit_DO_NOT_USE()
    False
    """
    trace = current_trace()
    return trace is not None and not trace.root.concrete


def find_top_trace(xs: Iterable[Any]) -> Trace | None:
    """Return the innermost trace that traced arrays belong to; the current one where there are none."""
    homes = [x.home for x in xs if isinstance(x, Tracer)]
    return next((t for t in homes if all(t.is_inside(other) for other in homes)), current_trace())


class take_current_trace:  # noqa: N801 - JAX's name
    """Block with the current trace, outside of it."""

    def __enter__(self) -> Trace | None:
        self._trace = current_trace()
        self._outside = outside_traces()
        self._outside.__enter__()
        return self._trace

    def __exit__(self, *exception: Any) -> None:
        self._outside.__exit__(*exception)


class set_current_trace:  # noqa: N801 - JAX's name
    """Block in which a trace is the current one.

    Parameters
    ----------
    trace : Trace or None
    check_leaks : bool, optional
        Accepted: leaks are found where they are used.
    """

    def __init__(self, trace: Trace | None, check_leaks: bool = False) -> None:
        self._block: Any = outside_traces() if trace is None else trace.resumed()

    def __enter__(self) -> None:
        self._block.__enter__()

    def __exit__(self, *exception: Any) -> None:
        self._block.__exit__(*exception)


def primal_dtype_to_tangent_dtype(dtype: Any) -> Any:
    """Return the dtype that tangents have: float0 for integers.

    Examples
    --------
    >>> primal_dtype_to_tangent_dtype("float32")
    dtype('float32')
    """
    return ShapedArray((), dtype).to_tangent_aval().dtype
