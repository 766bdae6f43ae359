"""Loops that carry values: `while_loop` and `fori_loop`.

Outside tracing a short loop runs as a Python loop over its body, a long one compiled. Inside, the body is traced once,
as the region of a ``while`` op; `fori_loop` makes one of counted form, from which the trip count can be read. The loop
owns its carry: what a body writes into it is not seen in the initial value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ControlFlowTypeError
from numhlo.lowering.ops import control_flow, elementwise
from numhlo.tracer.control_flow.bodies import (
    Body,
    CarryArguments,
    as_carry,
    copy_arrays,
    describe,
    is_known,
    known_value,
    promote,
    weak_argument,
    with_arrays,
)
from numhlo.tracer.control_flow.branches import require_scalar
from numhlo.tracer.control_flow.eager_loops import LONG, MISS, run_compiled
from numhlo.tracer.core.arguments import LeafType, is_number, leaf_type
from numhlo.tracer.core.bind import bind, bind1
from numhlo.tracer.core.callable_arguments import require_callable
from numhlo.tracer.core.operands import asarray, convert, result_dtype
from numhlo.tracer.core.promotion import usual_dtype
from numhlo.tracer.core.semantics import are_arrays_immutable
from numhlo.tracer.core.trace import Trace, current_trace
from numhlo.tracer.trees.pytree_paths import leaf_paths, structure_paths
from numhlo.tracer.trees.pytrees import PyTreeDef, tree_flatten, tree_unflatten


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any) -> Any:
    """Return ``val`` after ``while cond_fun(val): val = body_fun(val)``.

    Parameters
    ----------
    cond_fun : callable
        ``cond_fun(val) -> scalar bool``.
    body_fun : callable
        ``body_fun(val) -> val`` of the same structure and types; a Python scalar in ``init_val`` takes the dtype that
        the body gives it.
    init_val : pytree

    Returns
    -------
    pytree
        The last ``val``; of ``init_val``'s structure.

    Raises
    ------
    ControlFlowTypeError
        If the condition is no scalar bool, or the body changes the carry's structure, a shape, or narrows a dtype; the
        message names the leaf.
    MutationError
        If the body writes into an array that is not part of the carry.

    Examples
    --------
    >>> int(while_loop(lambda n: n < 100, lambda n: n * 2, 3))
    192
    """
    require_callable(cond_fun, "while_loop: cond_fun")
    require_callable(body_fun, "while_loop: body_fun")
    if current_trace() is None:
        return _while_outside(cond_fun, body_fun, init_val)
    carry = Carry("while_loop", init_val, body_fun)
    return carry.emit(cond_fun)


def _while_outside(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any) -> Any:
    """Run a loop outside tracing: its first iterations in Python, and if it is a long one, the others compiled."""
    value, before, iterations = copy_arrays(init_val), init_val, 0
    while _condition("while_loop", cond_fun(value)):
        value = body_fun(value)
        before = require_kept("while_loop", before, value)
        iterations += 1
        if iterations == LONG:
            rest = run_compiled(_while_program, (cond_fun, body_fun), (), (value,))
            if rest is not MISS:
                return as_carry(init_val, rest)
    return as_carry(init_val, value)


def _while_program(functions: tuple[Any, ...], _: tuple[Any, ...], value: Any) -> Any:
    cond_fun, body_fun = functions
    return while_loop(cond_fun, body_fun, value)


def _condition(what: str, result: Any) -> Any:
    """Return what a loop's condition gave; raise unless it is a bool."""
    if type(result) is not bool:
        require_scalar(result, f"{what}: the result of cond_fun", "b")
    return result


def fori_loop(
    lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any, *, unroll: int | bool | None = None
) -> Any:
    """Return ``val`` after ``for i in range(lower, upper): val = body_fun(i, val)``.

    Parameters
    ----------
    lower, upper : integer scalar
    body_fun : callable
        ``body_fun(i, val) -> val`` of the same structure and types; ``i`` acts as a Python int in promotion.
    init_val : pytree
    unroll : int or bool, optional
        True, or no less than the number of iterations, traces the body once for each of them (the bounds must then be
        concrete). Other numbers change nothing: compiled loops are unrolled where that pays.

    Returns
    -------
    pytree
        The last ``val``; of ``init_val``'s structure.

    Examples
    --------
    >>> int(fori_loop(0, 5, lambda i, total: total + i, 0))
    10
    """
    require_callable(body_fun, "fori_loop: body_fun")
    for bound in (lower, upper):
        require_scalar(bound, "fori_loop: a bound", "biu")
    if current_trace() is None:
        if int(upper) - int(lower) >= LONG:
            result = run_compiled(_for_program, (body_fun,), (), (lower, upper, init_val))
            if result is not MISS:
                return as_carry(init_val, result)
        value, before = copy_arrays(init_val), init_val
        for i in range(int(lower), int(upper)):
            value = body_fun(i, value)
            before = require_kept("fori_loop", before, value)
        return as_carry(init_val, value)
    if is_known(lower) and is_known(upper):
        lower, upper = int(known_value(lower)), int(known_value(upper))
        if unroll is True or (unroll and unroll >= upper - lower):
            value = with_arrays(init_val)
            for i in range(lower, upper):
                value = body_fun(with_arrays(i), value)
            return value
    whole = usual_dtype(np.int64)
    index_dtype = whole if isinstance(lower, int) and isinstance(upper, int) else result_dtype(lower, upper)
    first, last = (convert(asarray(b), index_dtype) for b in (lower, upper))
    index = LeafType(leaf_type(first).tensor, weak=index_dtype == whole)
    carry = Carry("fori_loop", init_val, body_fun, leading=(index, first))
    return carry.emit(lambda i, _: i < last)


def _for_program(functions: tuple[Any, ...], _: tuple[Any, ...], lower: Any, upper: Any, value: Any) -> Any:
    return fori_loop(lower, upper, functions[0], value)


class Carry:
    """A loop's carry: types that the body keeps, found by tracing it, and the ``while`` op.

    Parameters
    ----------
    what : str
        The public function's name.
    init : pytree
    body_fun : callable
        Takes the carry, behind the index where there is one.
    leading : (LeafType, array), optional
        Type and first value of a loop index, which the loop itself advances by one.
    """

    def __init__(
        self, what: str, init: Any, body_fun: Callable[..., Any], leading: tuple[LeafType, Any] | None = None
    ) -> None:
        self.what = what
        self.leaves, self.tree = tree_flatten(init)
        paths = leaf_paths(init)
        types = [leaf_type(x, f"init_val {p}".rstrip()) for x, p in zip(self.leaves, paths, strict=True)]
        self.index = leading
        self.scalars = [is_number(x) for x in self.leaves]
        self.types, self.body = find_carry_types(
            what, self.tree, types, self.scalars, lambda t: self._trace_body(body_fun, t)
        )

    def _arguments(self, trace: Trace, carried: CarryArguments) -> list[Any]:
        leading = [weak_argument(trace, self.index[0])] if self.index else []
        return [*leading, tree_unflatten(self.tree, carried.make(trace))]

    def _trace_body(self, body_fun: Callable[..., Any], carried: CarryArguments) -> Body:
        return Body("the body", lambda trace: body_fun(*self._arguments(trace, carried)))

    def emit(self, cond_fun: Callable[..., Any]) -> Any:
        """Emit the ``while`` op and return the final carry."""

        def condition(trace: Trace) -> Any:
            carried = CarryArguments(self.types, self.scalars)
            return asarray(_condition(self.what, cond_fun(*self._arguments(trace, carried))))

        test = Body("cond_fun", condition)
        region = self.body.region(self.types)
        operands = [convert(asarray(x), t.tensor.dtype) for x, t in zip(self.leaves, self.types, strict=True)]
        if self.index is not None:
            operands.insert(0, self.index[1])
            region.returns = [self._next_index(), *region.returns]
        results = bind(control_flow.WHILE, *operands, regions=[test.region(), region])
        results = results[1:] if self.index is not None else results
        for result, type in zip(results, self.types, strict=True):
            result.weak = type.weak
        return tree_unflatten(self.tree, results)

    def _next_index(self) -> Any:
        trace = self.body.trace
        with trace.resumed():
            index = trace.wrap(trace.region.arguments[0])
            return trace.read(bind1(elementwise.ADD, index, np.ones((), index.dtype)))


def find_carry_types(
    what: str,
    tree: PyTreeDef,
    types: list[LeafType],
    scalars: Sequence[bool],
    trace_body: Callable[[CarryArguments], Body],
    count: int = -1,
) -> tuple[list[LeafType], Body]:
    """Return the carry's types, widened until the body keeps them, and the body traced with those.

    Parameters
    ----------
    what : str
    tree : PyTreeDef
        The carry's structure.
    types : list of LeafType
        The initial value's types.
    scalars : sequence of bool
        Which of it are scalars.
    trace_body : callable
        Traces the body for given arguments; the first ``count`` of its results are the new carry (-1: all).

    Raises
    ------
    ControlFlowTypeError
        If the body changes the structure, a shape, or narrows a dtype.
    """
    while True:
        arguments = CarryArguments(types, scalars)
        body = trace_body(arguments)
        _require_same_structure(what, tree, body.tree if count < 0 else body.tree.children[0])
        after = body.types[: len(types)]
        wider = [_keep(what, tree, k, a, b) for k, (a, b) in enumerate(zip(types, after, strict=True))]
        if are_arrays_immutable():  # what had to be converted is no longer weak
            wider = [LeafType(w.tensor, w.weak and w.tensor == t.tensor) for w, t in zip(wider, types, strict=True)]
        if arguments.serve(wider):
            return wider, body
        types = wider


def require_kept(what: str, before: Any, after: Any) -> Any:
    """Raise where the first round of a loop that runs outside tracing changes the carry's type, as in a trace.

    Parameters
    ----------
    what : str
        The public function's name.
    before, after : pytree
        The carry; once it is looked at, ``before`` is `KEPT`, and later rounds are believed.

    Returns
    -------
    object
        `KEPT`, to be given as ``before`` of the next round.
    """
    if before is KEPT:
        return KEPT
    leaves, tree = tree_flatten(before)
    found, other = tree_flatten(after)
    _require_same_structure(what, tree, other)
    for number, (x, y) in enumerate(zip(leaves, found, strict=True)):
        _keep(what, tree, number, leaf_type(x), leaf_type(y))
    return KEPT


KEPT = object()
"""Stands for a carry whose type is known to be kept."""


def _require_same_structure(what: str, before: PyTreeDef, after: PyTreeDef) -> None:
    if before != after:
        raise ControlFlowTypeError(
            f"{what}: the body changes the structure of the carry",
            where=capture_location(),
            why=f"it takes {describe(before)} and returns {describe(after)}",
            fix="return what the body takes: the same containers with the same keys",
        )


def _keep(what: str, tree: PyTreeDef, number: int, before: LeafType, after: LeafType) -> LeafType:
    """Return the type under which a carried leaf goes through the body unchanged."""
    common = promote([before, after]) if before.tensor.shape == after.tensor.shape else None
    narrowed = common is not None and not (before.weak or after.weak) and common.tensor.dtype != after.tensor.dtype
    if common is None or narrowed or (are_arrays_immutable() and _becomes_another(before, after)):
        path = structure_paths(tree)[number]
        raise ControlFlowTypeError(
            f"{what}: the body changes the type of the carry{path and f' at {path}'}",
            where=capture_location(),
            why=f"it is {before} before the body and {after} after it",
            fix="start from the type that the body returns, or convert with .astype in the body",
        )
    return common


def _becomes_another(before: LeafType, after: LeafType) -> bool:
    """Return whether a carry becomes another dtype, which JAX refuses but for weak ones."""
    return not before.weak and before.tensor.dtype != after.tensor.dtype
