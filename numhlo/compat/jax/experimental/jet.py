"""`jax.experimental.jet`: derivatives of higher order along a curve, by forward derivatives of forward derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.compat.jax.transformations import jvp
from numhlo.compat.jax.tree_util import tree_flatten, tree_leaves, tree_map, tree_structure, tree_unflatten

__all__ = ["jet"]


def jet(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    series: Sequence[Any],
    factorial_scaled: bool = True,
    **options: Any,
) -> tuple[Any, Any]:
    """Return a function's value where a curve begins, and its derivatives along the curve.

    Parameters
    ----------
    fun : callable
        Takes and returns pytrees of arrays.
    primals : sequence of pytree
        Where the curve begins, for each argument.
    series : sequence of sequence of pytree
        For each argument the curve's derivatives, the first first.
    factorial_scaled : bool, optional
        Whether series, given and returned, are derivatives; else they are the Taylor series' coefficients.
    **options
        Accepted, as by JAX.

    Returns
    -------
    value, series
        The series in the result's structure, each leaf a list.

    Raises
    ------
    ValueError
        If the arguments' series differ in length, or in structure from the arguments.

    Examples
    --------
    >>> value, (first, second) = jet(lambda x: x**3, (2.0,), ((1.0, 0.0),))
    >>> float(value), float(first), float(second)
    (8.0, 12.0, 12.0)
    """
    orders = {len(terms) for terms in series}
    if len(orders) != 1:
        raise ValueError("jet terms have inconsistent lengths for different arguments")
    (order,) = orders
    for primal, terms in zip(primals, series, strict=True):
        if any(tree_structure(term) != tree_structure(primal) for term in terms):
            raise ValueError("a term of a series has another structure than the argument that it belongs to")

    def coefficient(k: int) -> float:
        return 1.0 / math.factorial(k) if factorial_scaled else 1.0

    def curve(t: Any) -> Any:
        """Return the function at a place of the curve, by Horner's rule."""

        def place(x: Any, *terms: Any) -> Any:
            total: Any = 0.0
            for k, term in reversed([*enumerate(terms, 1)]):
                total = (total + coefficient(k) * jnp.asarray(term)) * t
            return jnp.asarray(x) + total

        return fun(*[tree_map(place, primal, *terms) for primal, terms in zip(primals, series, strict=True)])

    dtype = jnp.result_type(*[jnp.asarray(x).dtype for x in tree_leaves(list(primals))])
    zero, one = jnp.zeros((), dtype), jnp.ones((), dtype)

    def derivatives(g: Callable[[Any], Any], k: int) -> list[Any]:
        """Return the derivatives of orders 0 to ``k``."""
        functions = [g]
        for _ in range(k):
            functions.append(_slope_of(functions[-1], one))
        return [f(zero) for f in functions]

    value, *found = derivatives(curve, order)
    leaves, tree = tree_flatten(value)
    rows = [tree_leaves(term) for term in found]
    scaled = [
        [row[number] * (1.0 if factorial_scaled else 1.0 / math.factorial(k)) for k, row in enumerate(rows, 1)]
        for number in range(len(leaves))
    ]
    return value, tree_unflatten(tree, scaled)


def _slope_of(f: Callable[[Any], Any], one: Any) -> Callable[[Any], Any]:
    return lambda t: jvp(f, (t,), (one,))[1]


__getattr__ = _refusing(__name__)
