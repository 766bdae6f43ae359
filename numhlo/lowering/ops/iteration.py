"""Formulas by repetition: a while loop over a whole tensor that ends when every element has converged."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from numhlo.lowering.ir import TensorType, Value
from numhlo.lowering.ops import control_flow, elementwise, layout, reduction
from numhlo.lowering.ops.formula import Formula, where

Step = Callable[[Formula, list[Formula]], tuple[list[Formula], Formula]]
BOOL = np.dtype(bool)


def iterate(active: Formula, start: Sequence[Formula], step: Step, limit: int) -> list[Formula]:
    """Repeat a step until no element is active.

    Parameters
    ----------
    active : Formula
        Booleans: elements to begin with; the others keep their start.
    start : sequence of Formula
        Of one type.
    step : callable
        ``step(k, values) -> (new values, where to go on)``, with ``k`` = 1, 2, ...
    limit : int
        How many steps are made at most; elements active then are NaN.
    """
    builder, like = active.builder, start[0]
    scalar = TensorType((), like.type.dtype)
    counter = builder.constant(np.zeros((), scalar.dtype))

    def wrap(values: Sequence[Value]) -> list[Formula]:
        return [Formula(builder, v) for v in values]

    def condition(count: Value, going: Value, *_: Value) -> list[Value]:
        below = Formula(builder, count) < float(limit)
        return [below.apply(elementwise.AND, _any(Formula(builder, going))).value]

    def body(count: Value, going: Value, *values: Value) -> list[Value]:
        number = Formula(builder, count) + 1.0
        wide = number.wrap(layout.BROADCAST_IN_DIM, number.value, result=like.type, broadcast_dimensions=())
        old, mask = wrap(values), Formula(builder, going)
        new, again = step(wide, old)
        kept = [where(mask, x, y).value for x, y in zip(new, old, strict=True)]
        return [number.value, mask.apply(elementwise.AND, again).value, *kept]

    inputs = [counter, active.value, *[x.value for x in start]]
    types = [v.type for v in inputs]
    regions = [builder.region(types, condition), builder.region(types, body)]
    _, left, *found = builder.ops(control_flow.WHILE, *inputs, regions=regions)
    return [where(Formula(builder, left), np.nan, x) for x in wrap(found)]


def _any(flags: Formula) -> Formula:
    """Return whether any element of a boolean tensor is true."""
    builder, shape = flags.builder, flags.type.shape
    if not shape:
        return flags
    scalar = TensorType((), BOOL)
    body = builder.region([scalar, scalar], lambda x, y: [builder.op(elementwise.OR, x, y)])
    false = builder.constant(np.zeros((), BOOL))
    (found,) = builder.ops(reduction.REDUCE, flags.value, false, regions=[body], dimensions=tuple(range(len(shape))))
    return Formula(builder, found)


def both(x: Formula, y: Formula) -> Formula:
    """Return where both conditions hold."""
    return x.apply(elementwise.AND, y)


def either(x: Formula, y: Formula) -> Formula:
    """Return where one condition holds at least."""
    return x.apply(elementwise.OR, y)


def negated(x: Formula) -> Formula:
    """Return where a condition does not hold."""
    return x.apply(elementwise.NOT)
