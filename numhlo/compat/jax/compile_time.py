"""Blocks that compute at once while tracing, under JAX's rules: what depends on traced arrays is traced as outside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.tracer.core.trace import Trace, Tracer, current_trace, outside_traces
from numhlo.tracer.trees.pytrees import tree_leaves

OPEN: list[object] = []
"""Blocks that are open, in any thread; nearly always none."""

_around: ScopedValue[Trace | None] = ScopedValue(None)
"""The trace around the block that is open in this thread."""


@contextmanager
def ensure_compile_time_eval() -> Iterator[None]:
    """Compute what stands in a block while tracing, so that its results are concrete arrays.

    What takes traced arrays is traced as it is outside of the block; see `numhlo.ensure_compile_time_eval`.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> @jax.jit
    ... def f(x):
    ...     with jax.ensure_compile_time_eval():
    ...         steps = int(jax.numpy.arange(3).sum())
    ...         twice = jax.numpy.add(x, x)
    ...     return twice * steps
    >>> float(f(1.0))
    6.0
    """
    mark = object()
    OPEN.append(mark)
    try:
        with _around.bound(current_trace() or _around.get()), outside_traces():
            yield
    finally:
        OPEN.remove(mark)


def around_blocks() -> AbstractContextManager[Any]:
    """Return a block for what computes nothing: the trace around blocks is current, whose arrays it may close over."""
    trace = _around.get() if OPEN and current_trace() is None else None
    return nullcontext() if trace is None or not trace.open else trace.resumed()


def home_of(arrays: Sequence[Any]) -> Trace | None:
    """Return the innermost open trace that traced arrays belong to; None where there are none, or one is current."""
    if current_trace() is not None:
        return None
    homes = [x.home for x in arrays if isinstance(x, Tracer) and x.home.open]
    return next((t for t in homes if all(t.is_inside(other) for other in homes)), None)


def home_of_arguments(args: Any, kwargs: Any) -> Trace | None:
    """Return the innermost open trace that traced arrays among arguments belong to, as `home_of` does."""
    return home_of(tree_leaves((args, kwargs)))
