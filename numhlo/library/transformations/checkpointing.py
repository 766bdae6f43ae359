"""`checkpoint`: a function whose intermediate values are computed again on the way back, instead of kept."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from numhlo.library.transformations.checkpoint_policies import Policy, checkpoint_policies
from numhlo.tracer.building import (
    asarray,
    bind_with_rule,
    current_trace,
    require_callable,
    run_traced,
    tree_flatten,
    tree_unflatten,
)
from numhlo.tracer.building.derivatives import Checkpoint, stage_leaves

P = ParamSpec("P")
R = TypeVar("R")


def checkpoint(
    fun: Callable[P, R],
    *,
    prevent_cse: bool = True,
    policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (),
) -> Callable[P, R]:
    """Return ``fun`` with a derivative that computes intermediate values again instead of keeping them.

    Parameters
    ----------
    fun : callable
        Takes and returns pytrees of arrays.
    prevent_cse : bool, optional
        Keep the optimizer from finding out that values are computed twice.
    policy : callable, optional
        What is kept all the same: one of `checkpoint_policies`, or a function of an op as described there.
    static_argnums : int or sequence of int, optional
        Positional arguments that are no arrays.

    Returns
    -------
    callable
        Same arguments and results.

    Notes
    -----
    Policies see the ops of ``fun``, and those of branches, loops and jitted functions in it; of a loop, what every step
    made is kept. They do not see bodies of loops of unknown length; nor, in a program of thousands of ops, of a jitted
    function that is called several times.
    Source: Griewank and Walther, "Revolve", ACM TOMS 26(1), 2000; here with one level.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> float(numhlo.grad(checkpoint(lambda x: np.sin(np.sin(x))))(0.0))
    1.0
    """
    require_callable(fun, "checkpoint: fun")
    if policy is checkpoint_policies.everything_saveable:
        return fun
    fixed = {static_argnums} if isinstance(static_argnums, int) else set(static_argnums)

    @functools.wraps(fun)
    def checkpointed(*args: P.args, **kwargs: P.kwargs) -> R:
        if current_trace() is None:
            return fun(*args, **kwargs)
        places = [k for k in range(len(args)) if k not in fixed and k - len(args) not in fixed]
        leaves, tree = tree_flatten(([args[k] for k in places], kwargs))

        def of_arrays(*arrays: Any) -> Any:
            chosen, named = tree_unflatten(tree, arrays)
            values = dict(zip(places, chosen, strict=True))
            return run_traced(fun, *[values.get(k, x) for k, x in enumerate(args)], **named)

        staged = stage_leaves(of_arrays, leaves, getattr(fun, "__name__", "function"))
        operands = [*map(asarray, leaves), *staged.captures]
        results = bind_with_rule("numhlo.checkpoint", staged.function, operands, Checkpoint(prevent_cse, policy))
        result: R = staged.tree_of(results)
        return result

    return checkpointed


remat = checkpoint
