"""`jax.lax.cond` and `switch` in their older forms: one operand by keyword, and one operand for each branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numhlo.lax
from numhlo.compat.jax.arrays import immutably
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError

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
    if callable(false_fun) and len(operands) == 2 and callable(operands[1]):
        (mine, on_true), (other, on_false) = (true_fun, false_fun), operands
        return numhlo.lax.cond(pred, lambda x, _: on_true(x), lambda _, y: on_false(y), mine, other)
    return numhlo.lax.cond(pred, true_fun, false_fun, *_operands("cond", operands, operand))


@immutably
def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any, operand: Any = _NONE_GIVEN) -> Any:
    """Call ``branches[index](*operands)``, the index clamped; ``operand=x`` is one operand."""
    return numhlo.lax.switch(index, branches, *_operands("switch", operands, operand))
