"""`lax.composite`: a user's function as one named op, with the function itself as its decomposition."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DataDependentShapeError, MutationError
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.passes.legalize_composites import overridden, override_of
from numhlo.tracer.building import (
    Tracer,
    asarray,
    bind,
    leaf_type,
    runs_anywhere,
    trace_pytree_function,
    tree_flatten,
    tree_leaves,
    tree_unflatten,
)

__all__ = ["composite"]


def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """Return a function that stands in a program as one ``stablehlo.composite`` op of a name.

    Parameters
    ----------
    decomposition : callable
        What the op means. Positional arguments are the op's operands, pytrees of arrays; keyword arguments are its
        attributes, plain values, left out where None.
    name : str
        With a namespace: ``"my_library.tangent"``.
    version : int, optional

    Returns
    -------
    callable
        Batched and differentiated as the decomposition is.

    Raises
    ------
    ArgumentError
        When called with a traced array as an attribute.
    MutationError
        When called, if the decomposition writes into an argument.

    Notes
    -----
    Source: StableHLO specification, "composite".

    Examples
    --------
    >>> import numhlo, numpy as np
    >>> @functools.partial(composite, name="my.scaled")
    ... def scaled(x, /, *, factor):
    ...     return factor * x
    >>> scaled(np.array([1.0, 2.0]), factor=3)
    Array([3., 6.])
    >>> "stablehlo.composite" in numhlo.jit(lambda x: scaled(x, factor=3)).lower(1.0).as_text()
    True
    """

    @functools.wraps(decomposition)
    @runs_anywhere
    def apply(*args: Any, **attributes: Any) -> Any:
        if any(isinstance(x, Tracer) for x in tree_leaves(attributes)):
            raise ArgumentError(
                f"composite {name}: a traced array as an attribute",
                where=capture_location(),
                why="attributes are fixed while tracing",
                fix="pass it as a positional argument",
            )
        leaves, tree = tree_flatten(args)
        traced = trace_pytree_function(
            name.rpartition(".")[2],
            lambda inner: decomposition(*tree_unflatten(tree, inner), **attributes),
            [leaf_type(x) for x in leaves],
        )
        if traced.written:
            raise MutationError(
                f"composite {name}: its decomposition writes into an argument",
                where=capture_location(),
                fix="copy the argument first",
            )
        if traced.cuts:
            raise DataDependentShapeError(
                f"composite {name}: the length of a result depends on values",
                where=capture_location(),
                why="its decomposition is an operation, whose results have shapes that are known",
                fix="return the mask beside the whole array",
            )
        operands = [*[asarray(x) for x in leaves], *traced.captures]
        function = traced.function
        meaning = override_of(name, version)
        if meaning is not None:
            types = [v.tensor for v in function.body.arguments]
            function = overridden(meaning, types, attributes, [v.tensor for v in function.body.returns])
        options = {
            "name": name,
            "composite_attributes": {key: value for key, value in attributes.items() if value is not None},
            "decomposition": function,
            "version": version,
        }
        results = bind(COMPOSITE, *operands, attributes=options, results=function.result_types)
        return tree_unflatten(traced.out_tree, results)

    return apply
