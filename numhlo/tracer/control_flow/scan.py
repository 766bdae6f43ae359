"""Loops over slices of stacked arrays: `scan`, `map` and `associative_scan`.

`scan` and `map` become the composites ``numhlo.scan`` and ``numhlo.map``, whose decomposition is a ``while`` that calls
the one copy of the body; outside tracing short ones run as Python loops, long ones compiled. Carries follow the rules
of `loops`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Function, capture_location
from numhlo.lowering.ir.errors import ArgumentError, ControlFlowTypeError
from numhlo.lowering.ops import control_flow, loops
from numhlo.tracer.control_flow.bodies import (
    Body,
    CarryArguments,
    as_carry,
    copy_arrays,
    describe,
    of_type,
    promote,
    weak_argument,
    with_arrays,
)
from numhlo.tracer.control_flow.eager_loops import LONG, MISS, run_compiled
from numhlo.tracer.control_flow.loops import KEPT, find_carry_types, require_kept
from numhlo.tracer.core.arguments import LeafType, is_number, leaf_type
from numhlo.tracer.core.array import Array
from numhlo.tracer.core.bind import bind
from numhlo.tracer.core.callable_arguments import require_callable
from numhlo.tracer.core.numpy_functions import FUNCTIONS
from numhlo.tracer.core.operands import asarray, convert, shape_of
from numhlo.tracer.core.trace import Trace, current_trace
from numhlo.tracer.trees.pytree_paths import leaf_paths
from numhlo.tracer.trees.pytrees import PyTreeDef, tree_flatten, tree_map, tree_structure, tree_unflatten


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """Carry a value over the slices of arrays, and stack what each step gives.

    Parameters
    ----------
    f : callable
        ``f(carry, x) -> (carry, y)``; the new carry has the structure and types of the old one.
    init : pytree
        The first carry.
    xs : pytree, optional
        Arrays that are sliced along their first axis.
    length : int, optional
        Number of steps; needed where there are no arrays.
    reverse : bool, optional
        Go from the last slice to the first; outputs stay at their inputs' places.
    unroll : int or bool, optional
        True, or no less than the number of steps, traces ``f`` once for each step. Other numbers change nothing:
        compiled loops are unrolled where that pays.

    Returns
    -------
    carry, ys : pytree

    Raises
    ------
    ArgumentError
        If the arrays' first axes and ``length`` disagree, or there is nothing to tell the length from.
    ControlFlowTypeError
        If ``f`` does not return a pair, or changes the carry's type; the message names the leaf.

    Examples
    --------
    >>> total, running = scan(lambda c, x: (c + x, c + x), 0, np.array([1, 2, 3]))
    >>> running.tolist()
    [1, 3, 6]
    """
    require_callable(f, "scan: f")
    leaves, tree = tree_flatten(xs)
    steps = slice_count("scan", xs, length)
    if current_trace() is None and steps >= LONG:
        result = run_compiled(_scan_program, (f,), (steps, bool(reverse)), (init, xs))
        if result is not MISS:
            return as_carry(init, result[0]), result[1]
    if current_trace() is None or unroll is True or (unroll > 1 and unroll >= steps > 0):
        return _scan_in_python(f, init, leaves, tree, steps, reverse)
    slices = _slice_types("scan", xs, leaves)
    init_leaves, init_tree = tree_flatten(init)
    init_paths = leaf_paths(init)
    carry = [leaf_type(x, f"init {p}".rstrip()) for x, p in zip(init_leaves, init_paths, strict=True)]

    scalars = [is_number(x) for x in init_leaves]

    def trace_body(carried: CarryArguments) -> Body:
        def step(trace: Trace) -> Any:
            before = tree_unflatten(init_tree, carried.make(trace))
            return _require_pair(f(before, _slices(trace, tree, slices)))

        return Body("the body", step, closed=True)

    carry, body = find_carry_types("scan", init_tree, carry, scalars, trace_body, len(carry))
    outputs = body.types[len(carry) :]
    start = [convert(asarray(x), t.tensor.dtype) for x, t in zip(init_leaves, carry, strict=True)]
    attributes = {"length": steps, "num_carries": len(carry), "reverse": bool(reverse)}
    results = _emit_loop("numhlo.scan", f, body, [*carry, *outputs], [*start, *leaves], attributes)
    for result, type in zip(results, carry, strict=False):
        result.weak = type.weak
    stacked = [of_type(x, t) for x, t in zip(results[len(carry) :], outputs, strict=True)]
    ys = tree_unflatten(body.tree.children[1], stacked)
    return tree_unflatten(init_tree, results[: len(carry)]), ys


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """Apply ``f`` to every slice of arrays along their first axis, and stack the results.

    Parameters
    ----------
    f : callable
        Must not depend on the order of the slices.
    xs : pytree
    batch_size : int, optional
        A hint that changes no result: lanes are grouped where that pays.

    Returns
    -------
    pytree
        What ``f`` returns, with one more axis in front.

    Raises
    ------
    ArgumentError
        If the arrays' first axes differ, or there are no arrays.

    Examples
    --------
    >>> map(lambda x: x * x, np.arange(4)).tolist()
    [0, 1, 4, 9]
    """
    if batch_size is not None and batch_size < 1:
        raise ArgumentError(
            f"map: batch_size is {batch_size}", where=capture_location(), fix="use a positive number, or None"
        )
    require_callable(f, "map: f")
    leaves, tree = tree_flatten(xs)
    lanes = slice_count("map", xs, None)
    if current_trace() is None:
        result = run_compiled(_map_program, (f,), (), (xs,)) if lanes >= LONG else MISS
        if result is not MISS:
            return result
        return _scan_in_python(lambda _, x: (None, f(x)), None, leaves, tree, lanes, False)[1]
    slices = _slice_types("map", xs, leaves)
    body = Body("the body", lambda trace: f(_slices(trace, tree, slices)), closed=True)
    results = _emit_loop("numhlo.map", f, body, body.types, leaves, {"lanes": lanes})
    return tree_unflatten(body.tree, [of_type(x, t) for x, t in zip(results, body.types, strict=True)])


def _scan_program(functions: tuple[Any, ...], statics: tuple[Any, ...], init: Any, xs: Any) -> Any:
    length, reverse = statics
    return scan(functions[0], init, xs, length, reverse)


def _map_program(functions: tuple[Any, ...], _: tuple[Any, ...], xs: Any) -> Any:
    return map(functions[0], xs)


def _slices(trace: Trace, tree: PyTreeDef, types: Sequence[LeafType]) -> Any:
    """Return the arguments for a step's part of the arrays: elements are scalars."""
    return tree_unflatten(tree, [weak_argument(trace, t, is_scalar=True) for t in types])


def _emit_loop(
    name: str, f: Any, body: Body, results: Sequence[LeafType], operands: Sequence[Any], attributes: dict[str, Any]
) -> list[Any]:
    """Emit a scan or map composite; what the body captured goes in front, as constants of the loop."""
    region = body.region(results)
    hidden = len(body.trace.captures)
    explicit = len(region.arguments) - hidden
    region.arguments = [*region.arguments[explicit:], *region.arguments[:explicit]]
    function = Function(getattr(f, "__name__", "body").strip("<>"), region)
    attributes = {**attributes, "num_consts": hidden}
    if name == "numhlo.scan":
        steps, carries, reverse = attributes["length"], attributes["num_carries"], attributes["reverse"]
        decomposition = loops.make_scan(function, steps, hidden, carries, reverse)
    else:
        decomposition = loops.make_map(function, attributes["lanes"], hidden)
    return bind(
        control_flow.COMPOSITE,
        *body.trace.captures,
        *[asarray(x) for x in operands],
        attributes={"name": name, "composite_attributes": attributes, "decomposition": decomposition},
        results=decomposition.result_types,
    )


def _require_pair(result: Any) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        raise ControlFlowTypeError(
            f"scan: the body returns {describe(tree_structure(result))}",
            where=capture_location(),
            why="it must return a pair: the new carry, and what to stack",
            fix="return (carry, None) where there is nothing to stack",
        )
    return result


def slice_count(what: str, xs: Any, length: int | None) -> int:
    """Return the number of slices that all arrays have."""
    leaves = tree_flatten(xs)[0]
    paths = leaf_paths(xs)
    found = {} if length is None else {"length": int(length)}
    if length is not None and found["length"] < 0:
        raise ArgumentError(f"{what}: length={length}", where=capture_location(), fix="give a length of 0 or more")
    for x, path in zip(leaves, paths, strict=True):
        shape = shape_of(x)
        if not shape:
            raise ArgumentError(
                f"{what}: xs{path} is a scalar",
                where=capture_location(),
                why="arrays are sliced along their first axis",
                fix="let the body capture it instead of passing it in xs",
            )
        found[f"xs{path}"] = shape[0]
    if not found:
        raise ArgumentError(
            f"{what}: no arrays to slice", where=capture_location(), fix="pass xs" + (" or length" * (what == "scan"))
        )
    if len(set(found.values())) > 1:
        shown = ", ".join(f"{name} has {n}" for name, n in found.items())
        raise ArgumentError(
            f"{what}: the numbers of slices differ",
            where=capture_location(),
            why=shown,
            fix="make the first axes equal",
        )
    return next(iter(found.values()))


def _slice_types(what: str, xs: Any, leaves: Sequence[Any]) -> list[LeafType]:
    types = [leaf_type(x, f"{what} xs{p}").tensor for x, p in zip(leaves, leaf_paths(xs), strict=True)]
    return [LeafType(t.with_shape(t.shape[1:])) for t in types]


def _scan_in_python(
    f: Callable[[Any, Any], Any], carry: Any, leaves: Sequence[Any], tree: PyTreeDef, steps: int, reverse: bool
) -> tuple[Any, Any]:
    """Run the steps one after the other; inside a trace too, where each is traced on its own."""
    tracing = current_trace() is not None
    if not tracing:
        carry, leaves = copy_arrays(carry), [np.asarray(x).view(Array) for x in leaves]
    carry = with_arrays(carry) if tracing else carry
    if steps == 0:
        return _scan_nothing(f, carry, leaves, tree)
    ys: list[Any] = [None] * steps
    init = carry
    before = KEPT if tracing else init
    for k in reversed(range(steps)) if reverse else range(steps):
        carry, y = _require_pair(f(carry, tree_unflatten(tree, [x[k] for x in leaves])))
        before = require_kept("scan", before, carry)
        ys[k] = y if tracing else copy_arrays(y)
    return (carry if tracing else as_carry(init, carry)), tree_map(_stacked, *ys)


def _stacked(*rows: Any) -> Any:
    """Return what the steps gave as one array; Python's numbers take the dtype of the others, as in a trace."""
    types = {LeafType(t.tensor.with_shape(()), t.weak) for t in [leaf_type(r) for r in rows]}
    common = promote(list(types))
    return of_type(FUNCTIONS[np.stack]([convert(asarray(r), common.tensor.dtype) for r in rows]), common)


def _scan_nothing(f: Callable[[Any, Any], Any], carry: Any, leaves: Sequence[Any], tree: PyTreeDef) -> tuple[Any, Any]:
    """Return an empty scan's results: the body runs once on zeros, to see what it would stack."""
    tracing = current_trace() is not None
    zeros = tree_unflatten(tree, [np.zeros(x.shape[1:], x.dtype) for x in leaves])
    _, y = _require_pair(f(carry if tracing else copy_arrays(carry), zeros))
    empty = tree_map(lambda leaf: np.empty((0, *shape_of(leaf)), asarray(leaf).dtype).view(Array), y)
    return (carry if tracing else as_carry(carry, carry)), empty
