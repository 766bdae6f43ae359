"""`custom_vmap`: functions that bring their batching rule along, as one composite (see `custom_rules`)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

from numhlo.library.transformations.custom_call_arguments import pair_of
from numhlo.lowering.ir import Op, capture_location
from numhlo.lowering.ir.derivative_errors import MissingRuleError
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, UnsupportedError
from numhlo.tracer.building import (
    CustomRule,
    Lanes,
    PyTreeDef,
    Walker,
    asarray,
    bind_with_rule,
    current_trace,
    require_callable,
    run_traced,
    shape_of,
    tree_flatten,
    tree_unflatten,
)
from numhlo.tracer.building.derivatives import Dual, spread_prefix, stage_leaves

P = ParamSpec("P")
R = TypeVar("R")
Rule = TypeVar("Rule", bound=Callable[..., Any])


class custom_vmap(Generic[P, R]):  # noqa: N801 - JAX's name, used as a decorator
    """A function that `vmap` runs by a rule of its own.

    Parameters
    ----------
    fun : callable
        Takes and returns pytrees of arrays, by position.

    Raises
    ------
    ArgumentError
        If there is no rule when `vmap` needs one, or the rule returns something else than it must.

    Notes
    -----
    Derivatives are those of the function's own ops, not of the rule's.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> @custom_vmap
    ... def double(x):
    ...     return x * 2
    >>> @double.def_vmap
    ... def double_many(axis_size, in_batched, x):
    ...     print("once for", axis_size)
    ...     return x * 2, in_batched[0]
    >>> vmap(double)(np.array([1.0, 2.0]))
    once for 2
    Array([2., 4.])
    """

    def __init__(self, fun: Callable[P, R]) -> None:
        require_callable(fun, "custom_vmap: fun")
        functools.update_wrapper(self, fun)
        self.fun: Callable[..., R] = fun
        self.rule: Callable[..., Any] | None = None

    def __repr__(self) -> str:
        return f"<custom_vmap {self.fun!r}>"

    def def_vmap(self, rule: Rule) -> Rule:
        """Set the rule by which `vmap` runs the function; a decorator.

        Parameters
        ----------
        rule : callable
            ``rule(axis_size, in_batched, *args) -> (out, out_batched)``. Batched arrays have the examples along their
            first axis; ``in_batched`` and ``out_batched`` say which are, in trees like the arguments' and the result's
            (or a prefix of it).

        Returns
        -------
        callable
            ``rule``.
        """
        self.rule = rule
        return rule

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; in a trace, as one op that brings the rule along."""
        if current_trace() is None:
            return self.fun(*args)
        leaves, tree = tree_flatten(args)
        name = getattr(self.fun, "__name__", "function")
        staged = stage_leaves(lambda *arrays: run_traced(self.fun, *tree_unflatten(tree, arrays)), leaves, name)
        operands = [*map(asarray, leaves), *staged.captures]
        rule = _VmapRule(self, tree, staged.out_tree)
        result: R = staged.tree_of(bind_with_rule("numhlo.custom_vmap", staged.function, operands, rule))
        return result


class _VmapRule(CustomRule[Walker]):
    """Runs the user's rule on lanes."""

    def __init__(self, owner: custom_vmap, in_tree: PyTreeDef, out_tree: PyTreeDef) -> None:
        self.owner, self.in_tree, self.out_tree = owner, in_tree, out_tree

    def differentiate(
        self, walker: Walker, op: Op, primals: list[Any], tangents: list[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Differentiate the function's ops."""
        duals = [Dual(*pair) for pair in zip(primals, tangents, strict=True)]
        results = walker.function(op.attributes["decomposition"], duals)
        return [d.primal for d in results], [d.tangent for d in results]

    def batch(self, op: Op, operands: Sequence[Lanes], size: int) -> list[Lanes]:
        """Call the rule, and check what it returns."""
        name = op.attributes["decomposition"].name
        if self.owner.rule is None:
            raise MissingRuleError(
                f"{name} is a custom_vmap function without a rule",
                where=op.location,
                fix="give it one with def_vmap",
            )
        count = self.in_tree.num_leaves
        if any(x.mapped for x in operands[count:]):
            raise UnsupportedError(
                f"vmap of {name}, where an array from around it differs by example",
                where=op.location,
                why="its rule knows of arguments only",
                fix="pass the array as an argument",
            )
        batched = list(tree_unflatten(self.in_tree, [x.mapped for x in operands[:count]]))
        args = tree_unflatten(self.in_tree, [x.array for x in operands[:count]])
        both = run_traced(self.owner.rule, size, batched, *args)
        what = f"the result of the rule of the custom_vmap function {name}"
        result, which = pair_of(both, what, "the result, and which of its arrays are batched")
        leaves, tree = tree_flatten(result)
        if tree != self.out_tree:
            raise ArgumentError(
                f"the rule of the custom_vmap function {name} returned {tree}",
                where=capture_location(),
                why=f"the function returns {self.out_tree}",
            )
        flags = [bool(flag) for flag in spread_prefix(which, result, "out_batched")]
        found = [Lanes(asarray(x), flag) for x, flag in zip(leaves, flags, strict=True)]
        for lane, value in zip(found, op.results, strict=True):
            wanted = (size, *value.tensor.shape) if lane.mapped else value.tensor.shape
            if shape_of(lane.array) != wanted:
                raise ShapeError(
                    f"the rule of the custom_vmap function {name} returned an array of shape "
                    f"{list(shape_of(lane.array))}, where {list(wanted)} is meant",
                    where=capture_location(),
                )
        return found
