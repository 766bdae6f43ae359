"""Computing with values that are known while tracing, at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from numhlo.tracer.building import outside_traces


@contextmanager
def ensure_compile_time_eval() -> Iterator[None]:
    """Compute what stands in a block while tracing, so that its results are concrete arrays.

    Raises
    ------
    ConcretizationError
        In the block, where an operation takes a traced array whose value is not known.

    Notes
    -----
    Source: `jax.ensure_compile_time_eval`.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> import numhlo.numpy as n
    >>> @numhlo.jit
    ... def f(x):
    ...     with ensure_compile_time_eval():
    ...         steps = int(n.sum(n.arange(3)))
    ...     return x * steps
    >>> f(np.ones(2))
    Array([3., 3.])
    """
    with outside_traces():
        yield
