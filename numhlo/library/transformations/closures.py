"""`closure_convert`: what a function uses from around it, made its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numhlo.library.transformations.custom_call_arguments import flatten_like
from numhlo.tracer.building import asarray, replay_function, require_callable, run_traced, tree_flatten, tree_unflatten
from numhlo.tracer.building.derivatives import ends_its_blocks, stage_leaves, transformation


@ends_its_blocks
def closure_convert(fun: Callable[..., Any], *example_args: Any) -> tuple[Callable[..., Any], list[Any]]:
    """Return ``fun`` with the arrays that it uses from around it as further arguments, and these arrays.

    Parameters
    ----------
    fun : callable
    *example_args : pytrees of arrays
        Of the types that it will be called with.

    Returns
    -------
    converted : callable
        ``converted(*args, *arrays)``.
    arrays : list

    Examples
    --------
    >>> closure_convert(lambda x: x + 1, 2.0)[1]
    []
    """
    require_callable(fun, "closure_convert: fun")
    leaves, tree = tree_flatten(example_args)
    with transformation() as finish:
        staged = stage_leaves(lambda *arrays: run_traced(fun, *tree_unflatten(tree, arrays)), leaves)
        captures = finish(list(staged.captures))

    @ends_its_blocks
    def converted(*args: Any) -> Any:
        given = flatten_like(tree, args[: len(args) - len(captures)], "the arguments of a converted function")
        with transformation() as done:
            results = replay_function(staged.function, [*map(asarray, given), *args[len(args) - len(captures) :]])
            return done(staged.tree_of(results))

    return converted, captures
