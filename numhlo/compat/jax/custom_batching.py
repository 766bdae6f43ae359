"""`jax.custom_batching`: functions that bring their batching rule along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from numhlo.compat.jax import lax
from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.transformations import traced_immutably
from numhlo.library.transformations import custom_batching
from numhlo.tracer.trees.pytrees import tree_flatten, tree_leaves, tree_map, tree_unflatten

P = ParamSpec("P")
R = TypeVar("R")
Rule = TypeVar("Rule", bound=Callable[..., Any])

__all__ = ["custom_vmap", "sequential_vmap"]


class custom_vmap(custom_batching.custom_vmap[P, R]):  # noqa: N801 - JAX's name
    """A function that `vmap` runs by a rule of its own; see `numhlo.custom_vmap`."""

    def __init__(self, fun: Callable[P, R]) -> None:
        super().__init__(traced_immutably(fun))

    def def_vmap(self, rule: Rule) -> Rule:
        """Set the rule; returns it."""
        super().def_vmap(traced_immutably(rule))
        return rule

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        return immutably(super().__call__)(*args, **kwargs)


def sequential_vmap(f: Callable[..., R]) -> custom_vmap[..., R]:
    """Return a function that `vmap` runs as a loop, one example after the other, instead of all at once.

    Parameters
    ----------
    f : callable
        Takes and returns pytrees of arrays, by position.

    Returns
    -------
    custom_vmap

    Examples
    --------
    >>> from numhlo.compat.jax import numpy as jnp, vmap
    >>> vmap(sequential_vmap(jnp.sum))(jnp.ones((2, 3)))
    Array([3., 3.], dtype=float...)
    """
    made = custom_vmap(f)

    @made.def_vmap
    def in_turn(axis_size: int, in_batched: Any, *args: Any) -> tuple[Any, Any]:
        leaves, tree = tree_flatten(args)
        flags = tree_leaves(in_batched)
        mapped = [x for x, flag in zip(leaves, flags, strict=True) if flag]

        def one(examples: Any) -> Any:
            rest = iter(examples)
            return f(*tree_unflatten(tree, [next(rest) if flag else x for x, flag in zip(leaves, flags, strict=True)]))

        results = lax.map(one, mapped)
        return results, tree_map(lambda _: True, results)

    return made
