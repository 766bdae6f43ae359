"""`custom_jvp`, `custom_vjp` and `custom_gradient` under JAX's rules: functions and rules see immutable arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.transformations import traced_immutably
from numhlo.library.transformations import custom_backward, custom_forward

P = ParamSpec("P")
R = TypeVar("R")
Rule = TypeVar("Rule", bound=Callable[..., Any])


class custom_jvp(custom_forward.custom_jvp[P, R]):  # noqa: N801 - JAX's name
    """A function with a forward derivative of its own; see `numhlo.custom_jvp`."""

    def __init__(
        self, fun: Callable[P, R], nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()
    ) -> None:
        super().__init__(traced_immutably(fun), nondiff_argnums, nondiff_argnames)

    def defjvp(self, jvp: Rule, symbolic_zeros: bool = False) -> Rule:
        """Set the rule; returns it."""
        super().defjvp(traced_immutably(jvp), symbolic_zeros)
        return jvp

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        return immutably(super().__call__)(*args, **kwargs)


class custom_vjp(custom_backward.custom_vjp[P, R]):  # noqa: N801 - JAX's name
    """A function with a backward derivative of its own; see `numhlo.custom_vjp`."""

    def __init__(
        self, fun: Callable[P, R], nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()
    ) -> None:
        super().__init__(traced_immutably(fun), nondiff_argnums, nondiff_argnames)

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Set the rules."""
        super().defvjp(traced_immutably(fwd), traced_immutably(bwd), symbolic_zeros, optimize_remat)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        return immutably(super().__call__)(*args, **kwargs)


def custom_gradient(fun: Callable[P, tuple[R, Any]]) -> Callable[P, R]:
    """Return a function whose gradient comes with its result; see `numhlo.custom_gradient`."""
    return immutably(custom_backward.custom_gradient(traced_immutably(fun)))
