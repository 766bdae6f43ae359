"""Layouts of programs' arguments and results: a program of transposed arrays, which lie in C's order, computes them.

Inside it there are transpositions, as kernels can take part in them; outside, arrays are seen through their strides.
So an argument that lies as the program wants it is not copied, and a result is written in its layout, where it can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Function, TensorType, Value
from numhlo.lowering.ir.errors import UnsupportedError, VerificationError
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.control_flow import CALL
from numhlo.lowering.ops.layout import TRANSPOSE
from numhlo.lowering.ops.memory_layouts import Layout

MODE = "mhlo.layout_mode"
"""The attribute of arguments and results that says their layout, as XLA's programs have it."""

UNSAID = ("default", "auto")
"""Modes that ask for nothing: C's order."""

Orders = Sequence[tuple[int, ...] | None]
"""For each array the dimensions from the slowest to the fastest; None for C's order."""


def orders_of(function: Function) -> tuple[Orders, Orders]:
    """Return the orders that a function's attributes ask for, of its arguments and of its results.

    Raises
    ------
    UnsupportedError
        If a layout has tiles.
    VerificationError
        If a layout is none of the array's.
    """
    groups = (
        ("argument", function.argument_types, function.argument_attributes),
        ("result", function.result_types, function.result_attributes),
    )
    found = [
        [_order(function, f"{what} {k}", type, _at(attributes, k)) for k, type in enumerate(types)]
        for what, types, attributes in groups
    ]
    others = [type for _, types, _ in groups for type in types if not isinstance(type, TensorType)]
    if others and any(order is not None for group in found for order in group):
        raise UnsupportedError(
            f"@{function.name}: layouts beside a {others[0]}",
            where=function.location,
            fix="take tuples apart, so that each array is an argument or a result",
        )
    return found[0], found[1]


def _at(attributes: Sequence[Mapping[str, Any]], number: int) -> Any:
    return attributes[number].get(MODE) if number < len(attributes) else None


def _order(function: Function, what: str, type: Any, mode: Any) -> tuple[int, ...] | None:
    if mode is None or mode in UNSAID:
        return None
    layout = Layout.parse(str(mode))
    rank = type.ndim if isinstance(type, TensorType) else -1
    if layout.ndim != rank:
        raise VerificationError(
            f"@{function.name}: the layout {mode} of {what}, which is a {type}",
            where=function.location,
            why=f"{MODE} has each dimension once, from the fastest to the slowest",
        )
    return order_of(layout)


def order_of(layout: Layout | None) -> tuple[int, ...] | None:
    """Return the order of a layout; None for C's."""
    return None if layout is None or layout.is_row_major else layout.major_to_minor


def transposed(array: np.ndarray, order: tuple[int, ...] | None) -> np.ndarray:
    """Return an array as the program takes it."""
    return array if order is None else array.transpose(order)


def restored(array: Any, order: tuple[int, ...] | None) -> Any:
    """Return an array that the program gave with its own dimensions."""
    return array if order is None else array.transpose(np.argsort(order))


def in_memory_order(function: Function, arguments: Orders, results: Orders) -> Function:
    """Return a function of transposed arrays, which gives transposed arrays; itself where all are in C's order.

    Parameters
    ----------
    function : Function
        Of static shapes.
    arguments, results : sequence of tuple of int
    """
    if not any(order is not None for order in (*arguments, *results)):
        return function
    types = [_permuted(v.tensor, order) for v, order in zip(function.body.arguments, arguments, strict=True)]
    builder = FunctionBuilder(function.name, types)
    inverse = [None if order is None else tuple(np.argsort(order).tolist()) for order in arguments]
    given = [_transpose(builder, x, order) for x, order in zip(builder.arguments, inverse, strict=True)]
    found = builder.ops(CALL, *given, callee=function, results=function.result_types)
    returned = [_transpose(builder, x, order) for x, order in zip(found, results, strict=True)]
    return builder.finish(returned, visibility=function.visibility)


def _permuted(type: TensorType, order: tuple[int, ...] | None) -> TensorType:
    return type if order is None else type.with_shape(tuple(type.shape[axis] for axis in order))


def _transpose(builder: FunctionBuilder, x: Value, order: tuple[int, ...] | None) -> Value:
    return x if order is None else builder.op(TRANSPOSE, x, permutation=order)
