"""Reductions, running combinations and sorting under JAX's names.

They run outside tracing too. Products are in `products`, elementwise operations in `elementwise`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.lax.operands import document
from numhlo.library.numpy import searching
from numhlo.library.numpy.axis_order import moveaxis
from numhlo.library.numpy.cumulative import accumulate
from numhlo.library.numpy.sorting import order_keys, precedes
from numhlo.lowering.ir import Region, TensorType, capture_location
from numhlo.lowering.ir.errors import DTypeError, OperandError
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops import reduction
from numhlo.lowering.ops import sorting as sorting_ops
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.cumulative import initial_value
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.ops.ranking import make_top_k
from numhlo.tracer.building import (
    PyTreeDef,
    as_dtype,
    asarray,
    bind,
    broadcast_to_shape,
    convert,
    expand,
    normalize_axes,
    normalize_axis,
    reduce_with,
    runs_anywhere,
    shape_of,
    spelling,
    trace_region,
    tree_flatten,
    tree_unflatten,
)
from numhlo.tracer.building import operations as b

__all__ = [
    "argmax", "argmin", "cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum",
    "reduce", "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_prod", "reduce_sum", "reduce_xor", "sort",
    "sort_key_val", "top_k",
]  # fmt: skip

_INDEX = """
Parameters
----------
operand : array_like
    Of real numbers or booleans; the first NaN wins.
axis : int
index_dtype : dtype
    An integer one.

Returns
-------
Array
    Of ``index_dtype``, without the axis.

Raises
------
ValueError
    If the axis has no elements.
DTypeError
    If ``index_dtype`` is none of integers.
"""


_RUNNING = {
    "Parameters": "operand : array_like\naxis : int, optional\nreverse : bool, optional\n    Start at the end.",
    "Returns": "Array\n    Of the operand's shape and dtype; NaN stays from its place on.",
}


def _reduced(kind: str) -> dict[str, str]:
    """Return what all docstrings of reductions say; of nothing they give their neutral element."""
    bits = kind in ("AND", "OR", "XOR")
    takes = "integers or booleans" if bits else "numbers or booleans"
    neutral = {"cumsum": "0", "cumprod": "1", "AND": "all ones"}.get(kind, "0" if bits else "the dtype's other extreme")
    return {
        "Parameters": f"operand : array_like\n    Of {takes}.\naxes : sequence of int",
        "Returns": f"Array\n    Without the axes, of the operand's dtype; {neutral} for reductions over nothing.",
        "Notes": "StableHLO specification, section ``reduce``.",
    }


def _reduction(name: str, op: Primitive, kind: str, documentation: str, *example: str) -> Callable[..., Any]:
    def rule(operand: Any, axes: Sequence[int]) -> Any:
        array = asarray(operand)
        if kind in ("AND", "OR", "XOR"):
            neutral: Any = kind == "AND" if array.dtype.kind == "b" else (-1 if kind == "AND" else 0)
            initial = np.asarray(neutral).astype(array.dtype)
        else:
            initial = initial_value(kind, array.dtype)
        initial = initial + initial.dtype.type(0) if kind == "cumsum" and array.dtype.kind != "b" else initial
        return reduce_with(op, array, initial, normalize_axes(tuple(axes), len(shape_of(array))))

    return runs_anywhere(document(rule, name, documentation, _reduced(kind), *example))


reduce_sum = _reduction(
    "reduce_sum",
    ops.ADD,
    "cumsum",
    "Return the sum over axes, in the operand's dtype.",
    "np.array([[1, 2], [3, 4]]), (0,)",
    "Array([4, 6])",
)
reduce_prod = _reduction(
    "reduce_prod",
    ops.MULTIPLY,
    "cumprod",
    "Return the product over axes, in the operand's dtype.",
    "np.array([[1, 2], [3, 4]]), (1,)",
    "Array([ 2, 12])",
)
reduce_max = _reduction(
    "reduce_max",
    ops.MAXIMUM,
    "cummax",
    "Return the greatest element over axes.",
    "np.array([[1.0, np.nan], [3.0, 4.0]]), (1,)",
    "Array([nan,  4.])",
)
reduce_min = _reduction(
    "reduce_min",
    ops.MINIMUM,
    "cummin",
    "Return the least element over axes.",
    "np.array([[1, 2], [3, 4]]), (0, 1)",
    "Array(1)",
)
reduce_and = _reduction(
    "reduce_and",
    ops.AND,
    "AND",
    "Return the bitwise and over axes.",
    "np.array([[True, False], [True, True]]), (1,)",
    "Array([False,  True])",
)
reduce_or = _reduction(
    "reduce_or", ops.OR, "OR", "Return the bitwise or over axes.", "np.array([0b100, 0b001]), (0,)", "Array(5)"
)
reduce_xor = _reduction(
    "reduce_xor",
    ops.XOR,
    "XOR",
    "Return the bitwise exclusive or over axes.",
    "np.array([0b110, 0b011]), (0,)",
    "Array(5)",
)


@runs_anywhere
def reduce(operands: Any, init_values: Any, computation: Callable[[Any, Any], Any], dimensions: Sequence[int]) -> Any:
    """Return operands combined along dimensions by a function of two pytrees of scalars, in any order.

    Parameters
    ----------
    operands : pytree of array_like
        Of one shape.
    init_values : pytree of scalars
        One for each operand, and neutral: how often each is combined is unspecified.
    computation : callable
        Takes two pytrees of scalars and returns one; it must be associative.
    dimensions : sequence of int
        Negative ones count from the last.

    Returns
    -------
    pytree of Array
        Of the operands' dtypes, without the dimensions.

    Notes
    -----
    StableHLO specification, section ``reduce``.

    Examples
    --------
    >>> import numhlo.numpy  # gives traced arrays their operators
    >>> reduce(np.array([3, 1, 2]), 0, lambda x, y: x + y, (0,))
    Array(6)
    """
    leaves, tree = tree_flatten(operands)
    arrays = [asarray(x) for x in leaves]
    initial = [convert(asarray(i), a.dtype) for i, a in zip(tree_flatten(init_values)[0], arrays, strict=True)]

    region = combining(computation, arrays, tree)
    places = normalize_axes(tuple(dimensions), len(shape_of(arrays[0])))
    return tree_unflatten(
        tree, bind(reduction.REDUCE, *arrays, *initial, attributes={"dimensions": places}, regions=[region])
    )


def combining(computation: Callable[[Any, Any], Any], arrays: list[Any], tree: PyTreeDef) -> Region:
    """Return the region that combines two elements of each array: two trees of scalars into one."""

    def body(*scalars: Any) -> list[Any]:
        count = len(arrays)
        sides = [tree_unflatten(tree, scalars[:count]), tree_unflatten(tree, scalars[count:])]
        results = tree_flatten(computation(sides[0], sides[1]))[0]
        return [convert(r, a.dtype) for r, a in zip(results, arrays, strict=True)]

    return trace_region(body, [TensorType((), a.dtype) for a in arrays * 2])


@runs_anywhere
@described(_INDEX)
def argmax(operand: Any, axis: int, index_dtype: Any) -> Any:
    """Return the index of the greatest element along an axis, the first of equals.

    Examples
    --------
    >>> argmax(np.array([1.0, 9.0, 9.0]), 0, "int32")
    Array(1, dtype=int32)
    """
    return convert(searching.argmax(operand, axis), _index_dtype(index_dtype))


@runs_anywhere
@described(_INDEX)
def argmin(operand: Any, axis: int, index_dtype: Any) -> Any:
    """Return the index of the least element along an axis, the first of equals.

    Examples
    --------
    >>> argmin(np.array([1.0, 0.0, 0.0]), 0, "int32")
    Array(1, dtype=int32)
    """
    return convert(searching.argmin(operand, axis), _index_dtype(index_dtype))


def _index_dtype(index_dtype: Any) -> np.dtype:
    wanted = as_dtype(index_dtype)
    if wanted.kind not in "iu":
        raise DTypeError(
            f"index_dtype={wanted}", where=capture_location(), why="places are integers", fix="give an integer dtype"
        )
    return wanted


def _running(name: str, documentation: str, *example: str) -> Callable[..., Any]:
    def rule(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        array = asarray(operand)
        return accumulate(name, array, normalize_axis(axis, len(shape_of(array))), reverse)

    return document(rule, name, documentation, _RUNNING, *example)


cumsum = _running(
    "cumsum",
    "Return the running sum along an axis, in the operand's dtype.",
    "np.array([1, 2, 3]), reverse=True",
    "Array([6, 5, 3])",
)
cumprod = _running(
    "cumprod",
    "Return the running product along an axis, in the operand's dtype.",
    "np.array([1, 2, 3])",
    "Array([1, 2, 6])",
)
cummax = _running("cummax", "Return the running maximum along an axis.", "np.array([1, 3, 2])", "Array([1, 3, 3])")
cummin = _running("cummin", "Return the running minimum along an axis.", "np.array([3, 1, 2])", "Array([3, 1, 1])")


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Return the running ``log(sum(exp(x)))`` along an axis, relative to the greatest element.

    Parameters
    ----------
    operand : array_like
        Of floats.
    axis : int, optional
    reverse : bool, optional
        Start at the end.

    Returns
    -------
    Array
        Of the operand's shape and dtype.

    Examples
    --------
    >>> cumlogsumexp(np.array([1000.0, 1000.0]))
    Array([1000.        , 1000.69314718])
    """
    array = asarray(operand)
    place = normalize_axis(axis, len(shape_of(array)))
    high = reduce_max(b.real(array) if array.dtype.kind == "c" else array, (place,))
    safe = b.select(b.is_finite(high), high, 0.0)
    wide = convert(broadcast_to_shape(expand(safe, place), shape_of(array)), array.dtype)
    return b.add(b.log(cumsum(b.exp(b.subtract(array, wide)), place, reverse)), wide)


@runs_anywhere
def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Return arrays sorted along a dimension by the first ``num_keys`` of them; NaN last.

    Parameters
    ----------
    operand : array_like, or sequence of array_like
        Of one shape.
    dimension : int, optional
        Along which is sorted, the last by default.
    is_stable : bool, optional
        Keep the order of equal elements.
    num_keys : int, optional
        How many of the arrays decide, the first before the second; the others are moved with them.

    Returns
    -------
    Array, or tuple of Array
        In rising order; -0.0 and 0.0 are equal, and complex numbers are ordered by real part, then imaginary part.

    Notes
    -----
    StableHLO specification, section ``sort``.

    Examples
    --------
    >>> sort((np.array([3, 1, 2]), np.array([10, 20, 30])))
    (Array([1, 2, 3]), Array([20, 30, 10]))
    """
    single = not isinstance(operand, tuple | list)
    arrays = [asarray(x) for x in ([operand] if single else operand)]
    place = normalize_axis(dimension, len(shape_of(arrays[0])))
    keys = [key for array in arrays[:num_keys] for key in order_keys(array)]
    count = 2 * len(keys)
    types = [TensorType((), x.dtype) for x in (*keys, *arrays) for _ in (0, 1)]
    region = trace_region(lambda *sides: [precedes("LT", sides[:count])], types)
    attributes = {"dimension": place, "is_stable": is_stable}
    results = bind(sorting_ops.SORT, *keys, *arrays, attributes=attributes, regions=[region])[len(keys) :]
    return results[0] if single else tuple(results)


def sort_key_val(keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> tuple[Any, Any]:
    """Return keys sorted along a dimension, and values moved with them.

    Parameters
    ----------
    keys, values : array_like
        Of one shape.
    dimension : int, optional
        The last by default.
    is_stable : bool, optional
        Keep the order of equal keys.

    Returns
    -------
    tuple of two Arrays

    Examples
    --------
    >>> sort_key_val(np.array([2, 1]), np.array([20.0, 10.0]))
    (Array([1, 2]), Array([10., 20.]))
    """
    if shape_of(asarray(keys)) != shape_of(asarray(values)):
        raise OperandError(
            f"sort_key_val of keys {spelling(keys)} and values {spelling(values)}",
            where=capture_location(),
            why="there is one value to each key",
        )
    first, second = sort((keys, values), dimension, is_stable)
    return first, second


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Any, Any]:
    """Return the ``k`` largest elements along an axis in falling order, and their indices (int32).

    Parameters
    ----------
    operand : array_like
        Of real numbers; NaN counts as greatest.
    k : int
        At most the extent of the axis.
    axis : int, optional
        The last by default.

    Returns
    -------
    tuple of two Arrays
        With extent ``k`` along the axis; of equal elements the one with the lower index comes first.

    Raises
    ------
    DTypeError
        If the operand is complex.

    Examples
    --------
    >>> top_k(np.array([3, 9, 5]), 2)
    (Array([9, 5]), Array([1, 2], dtype=int32))
    """
    array = asarray(operand)
    if array.dtype.kind == "c":
        raise DTypeError(f"lax.top_k of {spelling(array)}", where=capture_location(), fix="order by real part")
    place = normalize_axis(axis, len(shape_of(array)))
    last = moveaxis(array, place, -1) if place != len(shape_of(array)) - 1 else array
    type = TensorType(shape_of(last), last.dtype)
    attributes = make_top_k(type, k)
    found = bind(COMPOSITE, last, attributes=attributes, results=attributes["decomposition"].result_types)
    values, indices = found if last is array else [moveaxis(x, -1, place) for x in found]
    return values, indices
