"""`jax.make_jaxpr`: the program that a function becomes, as a jaxpr."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from numhlo.compat.jax.avals import ShapedArray, aval_of_type
from numhlo.compat.jax.equations import closed_jaxpr
from numhlo.compat.jax.jaxprs import ClosedJaxpr
from numhlo.library.einops_backend import register_einops_backend
from numhlo.tracer.core.arguments import ShapeDtypeStruct, leaf_type
from numhlo.tracer.core.named_axes import named_axis
from numhlo.tracer.core.semantics import immutable_arrays
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.python.function_tracing import trace_pytree_function
from numhlo.tracer.python.plain_numpy import run_traced
from numhlo.tracer.trees.pytrees import tree_flatten, tree_unflatten


def trace_to_jaxpr(
    fun: Callable[..., Any], leaves: Sequence[Any], axis_env: Sequence[tuple[Any, int]] = ()
) -> tuple[ClosedJaxpr, Any, list[ShapedArray]]:
    """Return the program of a function of flat arguments, the results' structure, and their abstract values.

    Parameters
    ----------
    fun : callable
        Takes a list of arrays; returns any pytree.
    leaves : sequence of array_like
    axis_env : sequence of (name, size), optional
    """

    def body(arrays: list[Tracer]) -> Any:
        return run_traced(fun, arrays)

    with ExitStack() as stack:
        stack.enter_context(immutable_arrays())
        for name, size in axis_env:
            stack.enter_context(named_axis(name, size))
        types = [leaf_type(x, f"{k} of make_jaxpr") for k, x in enumerate(leaves)]
        register_einops_backend()
        traced = trace_pytree_function(getattr(fun, "__name__", "function"), body, types)
    closed = closed_jaxpr(traced.function, traced.captures, [t.weak for t in types], traced.out_weak)
    values = traced.function.body.returns[: len(traced.out_weak)]
    avals = [aval_of_type(v.tensor).update(weak_type=w) for v, w in zip(values, traced.out_weak, strict=True)]
    closed.jaxpr.outvars = closed.jaxpr.outvars[: len(avals)]
    return closed, traced.out_tree, avals


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: Sequence[tuple[Any, int]] | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """Return a function that gives the program that ``fun`` becomes.

    Parameters
    ----------
    fun : callable
    static_argnums : int or sequence of int, optional
        Arguments that are no arrays.
    axis_env : sequence of (name, size), optional
        Named axes around the function.
    return_shape : bool, optional
        Also return the shapes and dtypes of results.

    Returns
    -------
    callable
        Takes what ``fun`` takes; gives a `ClosedJaxpr`. Its equations are of JAX's primitives where an operation of
        StableHLO means the same; the others are called ``stablehlo.`` and the operation's name.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> jax.make_jaxpr(lambda x: jax.numpy.sin(x))(jax.numpy.float32(1.0)).eqns[0].primitive
    sin
    """
    numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)

    @functools.wraps(fun)
    def show(*args: Any, **kwargs: Any) -> Any:
        static = {n % len(args) for n in numbers}
        dynamic = [x for k, x in enumerate(args) if k not in static]
        leaves, tree = tree_flatten((dynamic, kwargs))

        def flat(arrays: list[Any]) -> Any:
            given, named = tree_unflatten(tree, arrays)
            rest = iter(given)
            return fun(*[x if k in static else next(rest) for k, x in enumerate(args)], **named)

        flat.__name__ = getattr(fun, "__name__", "function")
        closed, out_tree, avals = trace_to_jaxpr(flat, leaves, axis_env or ())
        if not return_shape:
            return closed
        shapes = [ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals]
        return closed, tree_unflatten(out_tree, shapes)

    return show
