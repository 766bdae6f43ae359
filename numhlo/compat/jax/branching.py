"""`jax.lax.cond` and `switch` in their older forms: one operand by keyword, and one operand for each branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import numhlo.lax
from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.bodies import body_of_arrays
from numhlo.compat.jax.transformations import eval_shape
from numhlo.compilation.disabling import is_disabled
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ControlFlowTypeError, DTypeError, NumhloError
from numhlo.tracer.core.arguments import ShapeDtypeStruct
from numhlo.tracer.core.trace import Tracer, current_trace
from numhlo.tracer.trees.pytrees import tree_flatten, tree_map

_NONE_GIVEN = object()


def _operands(name: str, given: tuple[Any, ...], operand: Any) -> tuple[Any, ...]:
    if operand is _NONE_GIVEN:
        return given
    if given:
        raise ArgumentError(
            f"{name}: operand= beside operands by position",
            where=capture_location(),
            fix="give all of them by position",
        )
    return (operand,)


@immutably
def cond(pred: Any, true_fun: Any, false_fun: Any, *operands: Any, operand: Any = _NONE_GIVEN) -> Any:
    """Call ``true_fun(*operands)`` if ``pred``, else ``false_fun(*operands)``.

    ``operand=x`` is one operand, and ``cond(pred, x, true_fun, y, false_fun)`` gives each branch its own.
    """
    _require_predicate(pred)
    if callable(false_fun) and len(operands) == 2 and callable(operands[1]):
        (mine, on_true), (other, on_false) = (true_fun, false_fun), operands
        first, second = body_of_arrays(on_true), body_of_arrays(on_false)
        return numhlo.lax.cond(pred, lambda x, _: first(x), lambda _, y: second(y), mine, other)
    given = _operands("cond", operands, operand)
    agree("cond", pred, (true_fun, false_fun), given)
    return numhlo.lax.cond(pred, body_of_arrays(true_fun), body_of_arrays(false_fun), *given)


def _require_predicate(pred: Any) -> None:
    dtype = getattr(pred, "dtype", None)
    if isinstance(pred, complex) or (dtype is not None and dtype.kind == "c"):
        raise DTypeError(
            "cond: Pred type must be either boolean or number, and it is complex",
            where=capture_location(),
            fix="compare it with something",
        )


def _stand_in(x: Any) -> Any:
    if not isinstance(x, Tracer):
        return x
    return ShapeDtypeStruct(x.shape, x.dtype, weak_type=bool(getattr(x, "weak_type", False)))


CHECKED: set[Any] = set()
"""Branches that gave the same types when they were traced for some types of operands."""

MOST_CHECKED = 10_000


def agree(name: str, chosen_by: Any, branches: Sequence[Callable[..., Any]], operands: tuple[Any, ...]) -> None:
    """Refuse branches that return different types where it is known which will run: that one alone will.

    They are traced once for the code of the branches, and for the types of operands.
    """
    if isinstance(chosen_by, Tracer) or is_disabled() or not all(map(callable, branches)):
        return
    if current_trace() is not None:
        operands = tree_map(_stand_in, operands)
    leaves, tree = tree_flatten(operands)
    types = [(np.shape(x), getattr(x, "dtype", type(x))) for x in leaves]
    key = (name, *[getattr(f, "__code__", f) for f in branches], tree, *types)
    try:
        if key in CHECKED:
            return
    except TypeError:  # what can't be a key is not checked each time
        return
    place = ShapeDtypeStruct((), np.dtype(np.int64 if name == "switch" else bool))
    choose: Callable[..., Any] = numhlo.lax.switch if name == "switch" else numhlo.lax.cond
    chosen = (list(branches),) if name == "switch" else tuple(branches)
    try:
        eval_shape(lambda place, *given: choose(place, *chosen, *given), place, *operands)
    except ControlFlowTypeError:
        raise
    except NumhloError:  # what numhlo can't trace, it may run
        return
    if len(CHECKED) < MOST_CHECKED:
        CHECKED.add(key)


@immutably
def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any, operand: Any = _NONE_GIVEN) -> Any:
    """Call ``branches[index](*operands)``, the index clamped; ``operand=x`` is one operand."""
    given = _operands("switch", operands, operand)
    if isinstance(branches, list | tuple) and len(branches) > 1:
        agree("switch", index, branches, given)
    bodies = [*map(body_of_arrays, branches)] if isinstance(branches, list | tuple) else branches
    return numhlo.lax.switch(index, bodies, *given)
