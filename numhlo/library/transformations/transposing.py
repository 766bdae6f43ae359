"""`linear_transpose`, and `fwd_and_bwd`: reverse mode as two functions, with what they share as arrays between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numhlo.lowering.ir import TensorType
from numhlo.tracer.building import (
    ShapeDtypeStruct,
    asarray,
    require_callable,
    run_traced,
    shape_of,
    tree_flatten,
    tree_unflatten,
)
from numhlo.tracer.building.derivatives import (
    LinearMap,
    Residuals,
    Staged,
    apply_transposed,
    arrays_like,
    ends_its_blocks,
    instantiate,
    linearize_function,
    opened,
    require_inexact,
    sealed_pair,
    stage,
    stage_leaves,
    transformation,
    transpose_body,
)


def linear_transpose(fun: Callable[..., Any], *primals: Any) -> Callable[..., tuple[Any, ...]]:
    """Return the transpose of a linear function.

    Parameters
    ----------
    fun : callable
        Linear in its arguments together; takes and returns pytrees of arrays.
    *primals : pytrees of arrays or ShapeDtypeStruct
        Only their shapes and dtypes count.

    Returns
    -------
    callable
        Takes a cotangent of ``fun``'s result, returns a tuple of cotangents, one for each argument.

    Raises
    ------
    UnsupportedError
        If the function is not linear.

    Examples
    --------
    >>> import numpy as np
    >>> turned = linear_transpose(lambda x: 2 * x[:2], ShapeDtypeStruct((3,), np.dtype(float)))
    >>> turned(np.ones(2))
    (Array([2., 2., 0.]),)
    """
    require_callable(fun, "linear_transpose: fun")
    leaves, tree = tree_flatten(primals)
    types = [
        TensorType(tuple(x.shape), x.dtype)
        if isinstance(x, ShapeDtypeStruct)
        else TensorType(shape_of(x), asarray(x).dtype)
        for x in leaves
    ]
    require_inexact([ShapeDtypeStruct(t.shape, t.dtype) for t in types], "linear_transpose")

    @ends_its_blocks
    def transposed(cotangents: Any) -> tuple[Any, ...]:
        with transformation() as done:

            def body(arguments: list[Any]) -> Any:
                return run_traced(fun, *tree_unflatten(tree, arguments))

            staged = stage(getattr(fun, "__name__", "function"), body, types, [None] * len(types))
            results = [v.tensor for v in staged.function.body.returns]
            given = arrays_like(staged.out_tree, results, cotangents, "linear_transpose: a cotangent", "results")
            region = staged.function.body
            found = transpose_body(region, [None] * len(types) + list(staged.captures), given)
            arrays = [instantiate(c, v) for c, v in zip(found, region.arguments[: len(types)], strict=False)]
            turned: tuple[Any, ...] = done(tree_unflatten(tree, arrays))
            return turned

    return transposed


def fwd_and_bwd(
    fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool = False, jitted: bool = True
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return ``fun`` as two functions: forward, which also gives residuals, and backward, which takes them.

    Parameters
    ----------
    fun : callable
    argnums : int or sequence of int
        Which positional arguments to differentiate with respect to.
    has_aux : bool, optional
        ``fun`` returns a pair, whose second part is handed through.
    jitted : bool, optional
        Taken for compatibility: wrap the functions in `jit` where they are to be compiled.

    Returns
    -------
    fwd : callable
        ``fwd(*args) -> (result, residuals)``, or ``(result, residuals, aux)``.
    bwd : callable
        ``bwd(residuals, cotangents) ->`` the gradient, a tuple if ``argnums`` is a sequence.

    Examples
    --------
    >>> fwd, bwd = fwd_and_bwd(lambda x: x * x, 0)
    >>> y, residuals = fwd(3.0)
    >>> float(y), float(bwd(residuals, 1.0))
    (9.0, 6.0)
    """
    require_callable(fun, "fwd_and_bwd: fun")
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @ends_its_blocks
    def forward(*args: Any) -> Any:
        leaves, tree = tree_flatten(tuple(args[k] for k in places))
        require_inexact(leaves, "fwd_and_bwd")

        def of_chosen(*arrays: Any) -> Any:
            given = list(args)
            for k, v in zip(places, tree_unflatten(tree, arrays), strict=True):
                given[k] = v
            result = run_traced(fun, *given)
            return sealed_pair(result, "fwd_and_bwd") if has_aux else (result, None)

        with transformation() as done:
            staged: Staged = stage_leaves(of_chosen, leaves, getattr(fun, "__name__", "function"))
            active = [True] * len(leaves) + [False] * len(staged.captures)
            results, linear = linearize_function(staged.function, [*map(asarray, leaves), *staged.captures], active)
            value, aux = tree_unflatten(staged.out_tree, results)
            _, out_tree = tree_flatten(value)
            types = tuple(v.tensor for v in staged.function.body.returns)
            static = (linear.function, tuple(linear.outputs), len(leaves), tree, out_tree, types)
            kept = Residuals([asarray(x) for x in linear.residuals], static)
            return opened(done((value, kept, aux) if has_aux else (value, kept)))

    @ends_its_blocks
    def backward(residuals: Residuals, cotangents: Any) -> Any:
        function, outputs, count, tree, out_tree, types = residuals.static
        with transformation() as done:
            given = arrays_like(out_tree, types, cotangents, "fwd_and_bwd: a cotangent", "results")
            linear = LinearMap(function, residuals.arrays, list(outputs))
            padded: list[Any] = [*given, *[None] * (len(types) - len(given))]
            found = tree_unflatten(tree, apply_transposed(linear, padded, count))
            return done(found[0] if isinstance(argnums, int) else found)

    return forward, backward
