"""What each check asks of an op that has run: nan, inf, overflow, bounds.

A rule sees the op, its operands and its results, and says what is wrong with the first element that is. It refuses to
know where the run is: that is `numhlo.lowering.checking`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ir.errors import AxisOutOfBoundsError, IntegerOverflowError, InvalidValueError, NumhloError
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import contraction, conversion, elementwise, indexing, layout
from numhlo.lowering.ops.comparison import SELECT
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.lowering.ops.gather import start_positions
from numhlo.lowering.ops.primitive import RESULT_TYPES, Primitive
from numhlo.lowering.ops.reduction import REDUCE
from numhlo.lowering.ops.region_function import ELEMENTWISE_FAMILIES, single_op


@record(frozen=True, slots=True)
class Found:
    """What is wrong."""

    what: str


@record(frozen=True, slots=True)
class Check:
    """One check.

    Attributes
    ----------
    find : callable
        ``find(op, operands, results)`` returns what is wrong, or None.
    error : type
        What is raised then.
    """

    find: Callable[[Op, Sequence[Any], Sequence[Any]], Found | None]
    error: type[NumhloError]


def find_nan(op: Op, operands: Sequence[Any], results: Sequence[Any]) -> Found | None:
    """Return where an op made NaN of numbers."""
    return _find_value(op, operands, results, np.isnan, "nan")


def find_inf(op: Op, operands: Sequence[Any], results: Sequence[Any]) -> Found | None:
    """Return where an op made an infinity of finite numbers."""
    return _find_value(op, operands, results, np.isinf, "inf")


def _find_value(
    op: Op, operands: Sequence[Any], results: Sequence[Any], test: Callable[[Any], Any], name: str
) -> Found | None:
    if op.definition is conversion.BITCAST_CONVERT:
        return None  # bits, of which a later op may choose others
    for result in results:
        if not _is_float(result):
            continue
        bad = np.asarray(test(result))
        if not bad.any():
            continue
        had = [np.asarray(test(x)) for x in operands if _is_float(x)]
        if type(op.definition).__name__ in ELEMENTWISE_FAMILIES and all(h.shape == bad.shape for h in had):
            for h in had:
                bad = bad & ~h
        elif any(h.any() for h in had):
            continue
        if bad.any():
            return Found(f"{name} {_at(bad, result)}{_made_of(bad, operands)}")
    return None


def _is_float(array: Any) -> bool:
    """Return whether an array may hold NaN; ml_dtypes' floats call themselves void, as do its integers."""
    if not isinstance(array, np.ndarray):
        return False
    return array.dtype.kind in "fc" or (array.dtype.kind == "V" and "float" in array.dtype.name)


def _at(bad: np.ndarray, result: np.ndarray) -> str:
    shown = TensorType(result.shape, result.dtype).short()
    return f"at {_first(bad)} of {shown}" if result.ndim else f"in a {shown}"


def _first(bad: np.ndarray) -> list[int]:
    return [int(k) for k in np.unravel_index(int(np.argmax(bad)), bad.shape)]


def _made_of(bad: np.ndarray, operands: Sequence[Any]) -> str:
    """Return the operands' elements behind the first bad one, where they correspond."""
    arrays = [x for x in operands if isinstance(x, np.ndarray)]
    if not arrays or any(x.shape != bad.shape for x in arrays):
        return ""
    place = tuple(_first(bad))
    return f", of {', '.join(str(x[place]) for x in arrays)}"


def find_overflow(op: Op, operands: Sequence[Any], results: Sequence[Any]) -> Found | None:
    """Return where signed integer arithmetic, a sum or a product of integers, or a conversion left its type's range.

    The exact result is computed in floating point: it and one that has wrapped are far apart. Arithmetic of integers
    without sign is meant to wrap.
    """
    if not results or not isinstance(results[0], np.ndarray) or results[0].dtype.kind not in "iu":
        return None
    (result,) = results[:1]
    exact = _exact_result(op, operands, result)
    if exact is None:
        return None
    half = 2.0 ** (8 * result.dtype.itemsize - 1)
    difference = np.abs(np.asarray(exact, np.float64) - result.astype(np.float64))
    bad = np.asarray(~(difference < half))
    if not bad.any():
        return None
    value = np.asarray(exact, np.float64)[tuple(_first(bad))]
    spelled = f"{value:.0f}" if abs(value) < 1e15 else f"{value:g}"
    return Found(f"{spelled} is no {result.dtype.name}, {_at(bad, result)}{_made_of(bad, operands)}")


def _exact_result(op: Op, operands: Sequence[Any], result: np.ndarray) -> Any:
    """Return an op's results as floats, nearly exact; None for an op that is not checked."""
    definition = op.definition
    if definition is conversion.CONVERT:
        source = np.asarray(operands[0])
        exact = None if source.dtype.kind in "cb" else np.trunc(source.astype(np.float64))
    elif result.dtype.kind == "u":
        exact = None  # arithmetic without sign is meant to wrap
    elif definition in EXACT:
        with np.errstate(all="ignore"):
            exact = EXACT[definition](*[np.asarray(x, np.float64) for x in operands])
    elif definition is REDUCE:
        exact = _exact_reduction(op, operands)
    elif definition in (contraction.DOT_GENERAL, contraction.DOT):
        exact = _exact_product(op, operands)
    elif definition is COMPOSITE:
        exact = _exact_running(op, operands)
    else:
        exact = None
    return exact


def _exact_reduction(op: Op, operands: Sequence[Any]) -> Any:
    combiner = single_op(op.regions[0])
    reducers = {elementwise.ADD: np.add, elementwise.MULTIPLY: np.multiply}
    if len(operands) != 2 or combiner is None or combiner.definition not in reducers:
        return None
    ufunc = reducers[combiner.definition]
    axes = tuple(op.attributes["dimensions"])
    with np.errstate(all="ignore"):
        return ufunc(ufunc.reduce(np.asarray(operands[0], np.float64), axis=axes), float(operands[1]))


def _exact_product(op: Op, operands: Sequence[Any]) -> Any:
    floats = TensorType(op.results[0].tensor.shape, np.dtype(np.float64))
    arrays = [np.asarray(x, np.float64) for x in operands]
    with np.errstate(all="ignore"):
        return op.definition.evaluate(arrays, {**op.attributes, RESULT_TYPES: [floats]}, ())[0]


def _exact_running(op: Op, operands: Sequence[Any]) -> Any:
    """Return a running sum or product; None for another composite."""
    kind = op.attributes["name"].removeprefix("numhlo.")
    if kind not in ("cumsum", "cumprod"):
        return None
    numbers = op.attributes["composite_attributes"]
    axis, ufunc = numbers["axis"], np.add if kind == "cumsum" else np.multiply
    order = -1 if numbers["reverse"] else 1
    source = np.moveaxis(np.asarray(operands[0], np.float64), axis, 0)[::order]
    with np.errstate(all="ignore"):
        return np.moveaxis(ufunc.accumulate(source, axis=0)[::order], 0, axis)


def _quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the quotient, rounded to zero; 0 for a division by zero, which is no overflow."""
    found: np.ndarray = np.trunc(np.divide(x, y, out=np.zeros(np.shape(x)), where=y != 0))
    return found


EXACT: Mapping[Primitive, Callable[..., Any]] = {
    elementwise.ADD: np.add,
    elementwise.SUBTRACT: np.subtract,
    elementwise.MULTIPLY: np.multiply,
    elementwise.DIVIDE: _quotient,
    elementwise.NEGATE: np.negative,
    elementwise.ABS: np.abs,
    elementwise.POWER: np.power,
}
"""Ops on signed integers that may leave their type's range, as floats."""


def find_out_of_bounds(op: Op, operands: Sequence[Any], results: Sequence[Any]) -> Found | None:
    """Return an index that lies outside the array that an op reads or writes."""
    starts, sizes, shape = _windows(op, operands)
    definition = op.definition
    for axis, start in starts.items():
        last = shape[axis] - sizes[axis]
        bad = np.asarray((start < 0) | (start > last))
        if definition is indexing.SCATTER:
            bad = bad & (start != indexing.BEYOND)
        if bad.any():
            value = int(np.asarray(start).reshape(-1)[int(np.argmax(bad))])
            if value < 0 and _counts_from_the_end(_index_along(op, axis), shape[axis]):
                value -= shape[axis]  # as it was written: -4 along an axis of 3 elements, which became -1
            return Found(f"index {value} is outside axis {axis} of length {shape[axis]}")
    return None


def _windows(op: Op, operands: Sequence[Any]) -> tuple[Mapping[int, Any], Sequence[int], Sequence[int]]:
    """Return where the windows that an op reads or writes start, along the axes where that is given; their sizes."""
    definition, attributes = op.definition, op.attributes
    if definition is indexing.DYNAMIC_SLICE:
        return dict(enumerate(operands[1:])), attributes["slice_sizes"], operands[0].shape
    if definition is indexing.DYNAMIC_UPDATE_SLICE:
        return dict(enumerate(operands[2:])), operands[1].shape, operands[0].shape
    if definition is indexing.GATHER:
        numbers = attributes["dimension_numbers"]
        starts = start_positions(operands[1], numbers.index_vector_dim, numbers.start_index_map, ())
        return starts, attributes["slice_sizes"], operands[0].shape
    if definition is indexing.SCATTER:
        return _scatter_windows(op, operands)
    return {}, (), ()


def _index_along(op: Op, axis: int) -> tuple[Value, int, int]:
    """Return the indices that an op takes along an axis: which ones of how many that an array holds together."""
    if op.definition is indexing.DYNAMIC_SLICE:
        return op.operands[1 + axis], 0, 1
    if op.definition is indexing.DYNAMIC_UPDATE_SLICE:
        return op.operands[2 + axis], 0, 1
    if op.definition is indexing.GATHER:
        axes = tuple(op.attributes["dimension_numbers"].start_index_map)
        return op.operands[1], axes.index(axis), len(axes)
    axes = tuple(op.attributes["scatter_dimension_numbers"].scatter_dims_to_operand_dims)
    return op.operands[len(op.operands) // 2], axes.index(axis), len(axes)


PASSED_ON = frozenset({layout.RESHAPE, layout.BROADCAST_IN_DIM, layout.TRANSPOSE, layout.SLICE, conversion.CONVERT})


def _counts_from_the_end(index: tuple[Value, int, int], extent: int) -> bool:
    """Return whether negative indices had the extent added: ``select(i < 0, i + extent, i)``."""
    value, number, count = index
    op = value.owner
    while isinstance(op, Op) and op.definition is not SELECT:
        if op.definition is layout.CONCATENATE and len(op.operands) == count:
            op = op.operands[number].owner
        elif op.definition in PASSED_ON:
            op = op.operands[0].owner
        else:
            return False
    added = op.operands[1].owner if isinstance(op, Op) else None
    if not isinstance(op, Op) or not isinstance(added, Op) or added.definition is not elementwise.ADD:
        return False
    return op.operands[2] in added.operands and any(_is_number(v, extent) for v in added.operands)


def _is_number(value: Value, number: int) -> bool:
    op = value.owner
    while isinstance(op, Op) and op.definition in PASSED_ON:
        op = op.operands[0].owner
    return isinstance(op, Op) and op.definition is CONSTANT and bool(np.all(op.attributes["value"] == number))


def _scatter_windows(op: Op, operands: Sequence[Any]) -> tuple[Mapping[int, Any], Sequence[int], Sequence[int]]:
    numbers = op.attributes["scatter_dimension_numbers"]
    count = len(operands) // 2
    shape, indices, update = operands[0].shape, operands[count], operands[count + 1]
    sizes = numbers.window(len(shape), update.shape)
    starts = start_positions(indices, numbers.index_vector_dim, numbers.scatter_dims_to_operand_dims, ())
    return starts, sizes, shape


CHECKS: Mapping[str, Check] = {
    "nan": Check(find_nan, InvalidValueError),
    "inf": Check(find_inf, InvalidValueError),
    "bounds": Check(find_out_of_bounds, AxisOutOfBoundsError),
    "overflow": Check(find_overflow, IntegerOverflowError),
}
"""Every check by its name."""
