"""`jax.custom_batching`: functions that bring their batching rule along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.transformations import traced_immutably
from numhlo.tracer import custom_batching

__all__ = ["custom_vmap"]


class custom_vmap(custom_batching.custom_vmap):  # noqa: N801 - JAX's name
    """A function that `vmap` runs by a rule of its own; see `numhlo.custom_vmap`."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        super().__init__(traced_immutably(fun))

    def def_vmap(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Set the rule; returns it."""
        super().def_vmap(traced_immutably(rule))
        return rule

    def __call__(self, *args: Any) -> Any:
        """Call the function."""
        return immutably(super().__call__)(*args)
