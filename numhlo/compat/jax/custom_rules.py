"""`custom_jvp`, `custom_vjp` and `custom_gradient` under JAX's rules: functions and rules see immutable arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.transformations import traced_immutably
from numhlo.library.transformations import custom_backward, custom_forward
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.derivative_errors import MissingRuleError
from numhlo.lowering.ir.errors import DTypeError
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.trees.pytrees import tree_leaves

P = ParamSpec("P")
R = TypeVar("R")
Rule = TypeVar("Rule", bound=Callable[..., Any])


def _without_rule(what: str, kind: str, function: Any) -> MissingRuleError:
    name = getattr(function, "__name__", "function")
    return MissingRuleError(
        f"No {what} defined for {kind} function {name} using def{what.lower()}.",
        where=capture_location(),
        fix=f"give it one with def{what.lower()}",
    )


def _of_equal_dtypes(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Return a rule whose tangents have their results' dtypes, if these are floats; Python's floats have any."""

    @functools.wraps(rule)
    def checked(*args: Any) -> Any:
        both = rule(*args)
        leaves = [tree_leaves(x) for x in both] if isinstance(both, tuple | list) and len(both) == 2 else [[], []]
        for result, tangent in zip(*leaves, strict=False):
            wanted, found = getattr(result, "dtype", None), getattr(tangent, "dtype", type(tangent))
            if wanted is None or wanted.kind not in "fc" or found in (float, complex, wanted):
                continue
            if isinstance(tangent, Tracer | np.ndarray | np.generic | int):
                raise DTypeError(
                    f"Custom JVP rule must produce primal and tangent outputs with corresponding shapes and dtypes. "
                    f"Expected {wanted} but got {found}",
                    where=capture_location(),
                    fix="convert the tangent",
                )
        return both

    return checked


class custom_jvp(custom_forward.custom_jvp[P, R]):  # noqa: N801 - JAX's name
    """A function with a forward derivative of its own; see `numhlo.custom_jvp`."""

    def __init__(
        self, fun: Callable[P, R], nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()
    ) -> None:
        super().__init__(traced_immutably(fun), nondiff_argnums, nondiff_argnames)

    def defjvp(self, jvp: Rule, symbolic_zeros: bool = False) -> Rule:
        """Set the rule; returns it."""
        super().defjvp(_of_equal_dtypes(traced_immutably(jvp)), symbolic_zeros)
        return jvp

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        if self.jvp is None:
            raise _without_rule("JVP", "custom_jvp", self)
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
        if self.fwd is None:
            raise _without_rule("VJP", "custom_vjp", self)
        return immutably(super().__call__)(*args, **kwargs)


def custom_gradient(fun: Callable[P, tuple[R, Any]]) -> Callable[P, R]:
    """Return a function whose gradient comes with its result; see `numhlo.custom_gradient`."""
    return immutably(custom_backward.custom_gradient(traced_immutably(fun)))
