"""Derivatives with respect to sparse arrays: by their stored values alone, at the same places."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax import transformations
from numhlo.compat.jax.experimental.sparse.base import JAXSparse, refuse
from numhlo.tracer.trees.pytrees import tree_flatten, tree_leaves, tree_map, tree_structure, tree_unflatten


def is_sparse(x: Any) -> bool:
    """Return whether something is a sparse array."""
    return isinstance(x, JAXSparse)


def _values(x: Any) -> Any:
    return x.data if is_sparse(x) else x


def _with_values(x: Any, data: Any) -> Any:
    """Return a sparse array of other values, which may have leading axes: those of batches, then."""
    if not is_sparse(x):
        return data
    parts, tree = tree_flatten(x)
    lead = data.shape[: data.ndim - x.data.ndim]
    rest = [jnp.broadcast_to(p, (*lead, *p.shape)) for p in parts[1:]]
    return tree_unflatten(tree, [data, *rest])


def _sparse_aware(transformation: Callable[..., Any], what: str, has_value: bool = False) -> Callable[..., Any]:
    """Return a transformation that differentiates by the values of sparse arrays."""

    def public(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **options: Any) -> Any:
        numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

        @functools.wraps(fun)
        def derivative(*args: Any, **kwargs: Any) -> Any:
            chosen = tuple([args[k] for k in numbers])

            def of_values(values: Any) -> Any:
                own = tree_map(_with_values, chosen, values, is_leaf=is_sparse)
                given = list(args)
                for k, x in zip(numbers, own, strict=True):
                    given[k] = x
                return fun(*given, **kwargs)

            values = tree_map(_values, chosen, is_leaf=is_sparse)
            found = transformation(of_values, has_aux=has_aux, **options)(values)
            slopes, aux = found if has_aux and not has_value else (found, None)
            value, slopes = slopes if has_value else (None, slopes)
            if tree_structure(slopes) != tree_structure(values):
                refuse(f"{what} of a function with several results", "return one dense array")
            made = tree_map(_with_values, chosen, slopes, is_leaf=is_sparse)
            made = tuple([m for m in made if tree_leaves(m)])
            result = made[0] if len(made) == 1 else made
            if has_value:
                return value, result
            return (result, aux) if has_aux else result

        return derivative

    public.__name__ = public.__qualname__ = transformation.__name__
    public.__doc__ = f"Make a function that returns {what}; by the stored values of sparse arrays, at their places."
    return public


grad = _sparse_aware(transformations.grad, "the gradient")
value_and_grad = _sparse_aware(transformations.value_and_grad, "value and gradient", has_value=True)
jacfwd = _sparse_aware(transformations.jacfwd, "the Jacobian, column by column")
jacrev = _sparse_aware(transformations.jacrev, "the Jacobian, row by row")
jacobian = jacrev
