"""A call of a function that brings its derivative along: its arguments taken apart, its rules' results checked."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

from numhlo.library.transformations.symbolic_zeros import SymbolicZero
from numhlo.lowering.ir import Op, capture_location
from numhlo.lowering.ir.derivative_errors import ClosureDerivativeError
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.tracer.building import (
    CustomRule,
    PyTreeDef,
    Tracer,
    asarray,
    bind_with_rule,
    closed_over,
    convert,
    full_of,
    require_callable,
    run_traced,
    shape_of,
    stand_in,
    standing_in,
    tree_flatten,
    tree_map,
    tree_unflatten,
)
from numhlo.tracer.building.derivatives import Staged, is_float0

P = ParamSpec("P")
R = TypeVar("R")


class CustomCall(NamedTuple):
    """One call of a function with custom derivatives, its differentiable arguments flattened.

    Attributes
    ----------
    fun : callable
        ``fun(*arrays)``, of the flat differentiable arguments.
    fixed : list
        The others.
    leaves : list
    tree : PyTreeDef
        Of the tuple of differentiable arguments.
    """

    fun: Callable[..., Any]
    fixed: list[Any]
    leaves: list[Any]
    tree: PyTreeDef


class CustomFunction(Generic[P, R]):
    """What `custom_jvp` and `custom_vjp` have in common: a function, and which arguments are not differentiated.

    Attributes
    ----------
    fun : callable
    nondiff : frozenset of int or str
        Positions and names of arguments.
    """

    def __init__(
        self,
        fun: Callable[P, R],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None:
        require_callable(fun, f"{type(self).__name__}: fun")
        functools.update_wrapper(self, fun)
        self.fun: Callable[..., R] = fun
        self.nondiff: frozenset[int | str] = frozenset([*nondiff_argnums, *nondiff_argnames])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.fun!r}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; in a trace, as one op that brings its rule along."""
        raise NotImplementedError


def prepare(
    fun: Callable[..., Any], nondiff: frozenset[int | str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> CustomCall:
    """Bind a call's arguments to positions and part them."""
    if kwargs or any(isinstance(n, str) for n in nondiff) or getattr(inspect.unwrap(fun), "__defaults__", None):
        bound = inspect.signature(fun).bind(*args, **kwargs)
        bound.apply_defaults()
        names, args, kwargs = list(bound.signature.parameters), bound.args, bound.kwargs
        if kwargs:
            raise ArgumentError(
                f"{getattr(fun, '__name__', 'the function')}: keyword-only arguments {', '.join(kwargs)}",
                where=capture_location(),
                why="rules of derivatives take arguments by position",
                fix="make them positional parameters",
            )
        nondiff = frozenset(names.index(n) if isinstance(n, str) else n for n in nondiff)
    numbers = {n % len(args) for n in nondiff if isinstance(n, int)}
    chosen = [k for k in range(len(args)) if k not in numbers]
    leaves, tree = tree_flatten(tuple(args[k] for k in chosen))

    def of_arrays(*arrays: Any) -> Any:
        values = dict(zip(chosen, tree_unflatten(tree, arrays), strict=True))
        return run_traced(fun, *[values.get(k, x) for k, x in enumerate(args)])

    return CustomCall(of_arrays, [args[k] for k in sorted(numbers)], leaves, tree)


def arrays_around(*rules: Any) -> list[Tracer]:
    """Return the traced arrays, still to be read, that rules close over."""
    return [x for x in closed_over(rules, Tracer) if x.home.open]


def run_rule(rule: Callable[..., Any], args: Sequence[Any], around: Sequence[Tracer], now: Sequence[Any]) -> Any:
    """Call a rule with what stands now for the arrays around it."""

    def read(x: Any) -> Any:
        return stand_in(x) if isinstance(x, Tracer) and not x.home.open else x

    with standing_in(around, now):
        return tree_map(read, run_traced(rule, *args))


def bind_call(name: str, call: CustomCall, staged: Staged, rule: CustomRule, around: Sequence[Tracer]) -> Any:
    """Apply a staged call as one op that brings a rule along, with the arrays around the rule as last operands."""
    for array in around:
        staged.function.body.add_argument(array.aval)
    operands = [*map(asarray, call.leaves), *staged.captures, *around]
    results = bind_with_rule(name, staged.function, operands, rule)
    return staged.tree_of(results)


def still(arrays: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    """Return the arrays around a rule; None for those that have tangents, so that it must not read them."""
    return [x if t is None else None for x, t in zip(arrays, tangents, strict=True)]


def refuse_captured(op: Op, name: str, count: int, tangents: Sequence[Any]) -> None:
    """Raise where an array that the function read has a tangent and is none of the ``count`` arguments."""
    if any(t is not None for t in tangents[count:]):
        raise ClosureDerivativeError(
            f"{name} of {op.attributes['decomposition'].name}, with respect to an array from around it",
            where=op.location,
            why="its rule knows of arguments only",
            fix="pass the array as an argument, or use closure_convert",
        )


def pair_of(value: Any, what: str, parts: str) -> tuple[Any, Any]:
    """Return what a rule returned, which must be a pair; ``parts`` says of what."""
    if isinstance(value, tuple | list) and len(value) == 2:
        return value[0], value[1]
    raise ArgumentError(
        f"{what} is a {type(value).__name__}, where a pair is meant",
        where=capture_location(),
        fix=f"return a pair: {parts}",
    )


def flatten_like(tree: PyTreeDef, value: Any, what: str) -> list[Any]:
    """Return the leaves of a value that must have a given structure."""
    leaves, found = tree_flatten(value)
    if found != tree:
        raise ArgumentError(
            f"{what} has the structure {found}", where=capture_location(), why=f"it must have that of {tree}"
        )
    return leaves


def of_types(leaves: Sequence[Any], like: Sequence[Any], what: str) -> list[Any]:
    """Return arrays of the given ones' dtypes; None, `FLOAT0` and `SymbolicZero` give zeros.

    Raises
    ------
    ShapeError
        If a shape differs.
    """
    found = []
    for leaf, model in zip(leaves, like, strict=True):
        none = leaf is None or isinstance(leaf, SymbolicZero) or is_float0(leaf)
        array = full_of(0, shape_of(model), model.dtype) if none else convert(asarray(leaf), model.dtype)
        if shape_of(array) != shape_of(model):
            raise ShapeError(
                f"{what} has shape {list(shape_of(array))}, where {list(shape_of(model))} is meant",
                where=capture_location(),
                why="it has a number for each element of what it belongs to",
                fix="return an array of that shape, or None for zeros",
            )
        found.append(array)
    return found
