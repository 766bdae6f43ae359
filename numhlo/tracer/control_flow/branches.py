"""Branches: `cond` and `switch`.

A branch whose predicate has a value now is simply called: outside tracing always, inside it where the predicate does
not depend on a traced argument. Otherwise each branch is traced once and only the chosen one runs. A branch owns its
operands: what it writes into them is not seen outside. Loops are in `loops` and `scan`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ControlFlowTypeError
from numhlo.lowering.ops import comparison, control_flow
from numhlo.lowering.ops.primitive import Primitive
from numhlo.tracer.control_flow.bodies import Body, as_results, copy_arrays, is_known, known_value, own_arrays, unify
from numhlo.tracer.core.bind import bind, bind1
from numhlo.tracer.core.callable_arguments import require_callable
from numhlo.tracer.core.operands import convert, result_dtype, shape_of
from numhlo.tracer.core.trace import current_trace
from numhlo.tracer.trees.pytrees import tree_unflatten

BRANCHES_FIRST = "pass functions, then their operands: cond(pred, lambda x: x, lambda x: -x, x)"
"""What to write where something else stands in a branch's place."""


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """Call ``true_fun(*operands)`` if ``pred``, else ``false_fun(*operands)``.

    Parameters
    ----------
    pred : scalar
        Anything but a bool counts as true where it is not zero.
    true_fun, false_fun : callable
        Their results must have one structure and equal shapes; dtypes are promoted.
    *operands : pytree

    Returns
    -------
    pytree
        What the branch returns.

    Raises
    ------
    ControlFlowTypeError
        If the predicate is not a scalar, or the branches' results don't fit together.
    MutationError
        If a branch writes into an array that is not among its operands.

    Examples
    --------
    >>> float(cond(True, lambda x: x + 1, lambda x: x - 1, 2.0))
    3.0
    """
    require_callable(true_fun, "cond: true_fun", fix=BRANCHES_FIRST)
    require_callable(false_fun, "cond: false_fun", fix=BRANCHES_FIRST)
    require_scalar(pred, "cond: the predicate")
    if is_known(pred):
        return _call_now(true_fun if known_value(pred) else false_fun, operands)
    branches = [("true_fun", true_fun), ("false_fun", false_fun)]
    return _emit_branches("cond", control_flow.IF, as_predicate(pred), branches, operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Call ``branches[index](*operands)``; the index is clamped into range.

    Parameters
    ----------
    index : integer scalar
    branches : sequence of callable
        Their results must have one structure and equal shapes; dtypes are promoted.
    *operands : pytree

    Returns
    -------
    pytree
        What the branch returns.

    Raises
    ------
    ArgumentError
        If there is no branch.
    ControlFlowTypeError
        If the index is not an integer scalar, or the branches' results don't fit together.

    Examples
    --------
    >>> int(switch(7, [lambda x: x, lambda x: -x], 3))
    -3
    """
    if not branches:
        raise ArgumentError("switch: no branches", where=capture_location(), fix="give at least one")
    for number, branch in enumerate(branches):
        require_callable(branch, f"switch: branch {number}", fix=BRANCHES_FIRST)
    require_scalar(index, "switch: the index", "biu")
    if len(branches) == 1 or is_known(index):
        number = int(known_value(index)) if len(branches) > 1 else 0
        return _call_now(branches[min(max(number, 0), len(branches) - 1)], operands)
    named = [(f"branch {k}", branch) for k, branch in enumerate(branches)]
    wide = convert(index, np.int64)
    inside = bind1(comparison.CLAMP, np.int64(0), wide, np.int64(len(branches) - 1))
    return _emit_branches("switch", control_flow.CASE, convert(inside, np.int32), named, operands)


def _call_now(branch: Callable[..., Any], operands: Sequence[Any]) -> Any:
    trace = current_trace()
    if trace is None:
        return as_results(branch(*copy_arrays(operands)))
    return branch(*own_arrays(trace, operands))


def _emit_branches(
    what: str,
    definition: Primitive,
    selector: Any,
    branches: Sequence[tuple[str, Callable[..., Any]]],
    operands: Sequence[Any],
) -> Any:
    def trace_branch(name: str, branch: Callable[..., Any]) -> Body:
        return Body(name, lambda trace: branch(*own_arrays(trace, operands)))

    bodies = [trace_branch(name, branch) for name, branch in branches]
    types = unify(bodies, what)
    results = bind(definition, selector, regions=[b.region(types) for b in bodies])
    for result, type in zip(results, types, strict=True):
        result.weak = type.weak
    return tree_unflatten(bodies[0].tree, results)


def require_scalar(x: Any, what: str, kinds: str = "biufc") -> None:
    """Raise `ControlFlowTypeError` unless ``x`` is a scalar of one of the dtype kinds."""
    shape, dtype = shape_of(x), result_dtype(x)
    if shape != () or dtype.kind not in kinds:
        wanted = {"biu": "an integer scalar", "b": "a bool scalar"}.get(kinds, "a scalar")
        fix = {"biu": "use an integer", "b": "compare it: x != 0"}.get(kinds, "use a number")
        if shape != ():
            fix = "reduce it first, with .all() or .any(), or use where()"
        raise ControlFlowTypeError(
            f"{what} must be {wanted}, got {dtype.name}[{','.join(map(str, shape))}]", where=capture_location(), fix=fix
        )


def as_predicate(x: Any) -> Any:
    """Return a scalar as a bool: whether it is not zero."""
    return x if x.dtype == np.bool_ else x != 0
