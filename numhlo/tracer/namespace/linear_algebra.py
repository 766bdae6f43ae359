"""Products of arrays: matmul, dot, tensordot, einsum and their kin, over one dot_general."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ShapeError, UnsupportedError
from numhlo.lowering.ops import contraction
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers
from numhlo.tracer.bind import bind1
from numhlo.tracer.namespace import elementwise as ufuncs
from numhlo.tracer.namespace import manipulation, reductions
from numhlo.tracer.namespace.core import (
    asarray,
    broadcast_shapes,
    broadcast_to_shape,
    convert,
    expand,
    implements,
    normalize_axis,
    reshape_to,
    result_dtype,
    shape_of,
    spelling,
)
from numhlo.tracer.namespace.elementwise import store
from numhlo.tracer.namespace.reductions import NO_VALUE
from numhlo.tracer.namespace.source_names import operand_names

__all__ = [
    "dot",
    "inner",
    "kron",
    "matmul",
    "matvec",
    "outer",
    "tensordot",
    "trace",
    "vdot",
    "vecdot",
    "vecmat",
]


def contract(
    x: Any,
    y: Any,
    contracting: tuple[Sequence[int], Sequence[int]],
    batching: tuple[Sequence[int], Sequence[int]] = ((), ()),
) -> Any:
    """Return the dot_general of two arrays of one dtype: batch axes, then ``x``'s free axes, then ``y``'s."""
    numbers = DotDimensionNumbers(
        lhs_batching_dimensions=tuple(batching[0]),
        rhs_batching_dimensions=tuple(batching[1]),
        lhs_contracting_dimensions=tuple(contracting[0]),
        rhs_contracting_dimensions=tuple(contracting[1]),
    )
    left, right = shape_of(x), shape_of(y)
    shape = [left[k] for k in batching[0]]
    shape += [n for k, n in enumerate(left) if k not in batching[0] and k not in contracting[0]]
    shape += [n for k, n in enumerate(right) if k not in batching[1] and k not in contracting[1]]
    attributes = {"dot_dimension_numbers": numbers, "precision_config": ("DEFAULT", "DEFAULT")}
    result = TensorType(tuple(shape), x.dtype)
    if x.dtype.kind == "b":
        wide = bind1(
            contraction.DOT_GENERAL,
            convert(x, np.int32),
            convert(y, np.int32),
            attributes=attributes,
            results=[result.with_dtype(np.dtype(np.int32))],
        )
        return ufuncs.not_equal(wide, 0)
    return bind1(contraction.DOT_GENERAL, x, y, attributes=attributes, results=[result])


def _promoted(a: Any, b: Any, dtype: Any = None) -> tuple[Any, Any]:
    x, y = asarray(a), asarray(b)
    wanted = result_dtype(x, y) if dtype is None else np.dtype(dtype)
    return convert(x, wanted), convert(y, wanted)


def _mismatch(name: str, x: Any, y: Any, left: int, right: int) -> ShapeError:
    where = capture_location()
    names = operand_names(where, 2)
    sizes = [f"{size} ({names[k]})" if names else str(size) for k, size in enumerate((left, right))]
    return ShapeError(
        f"{name}: {spelling(x)} with {spelling(y)}",
        where=where,
        why=f"the contracted extents differ: {' against '.join(sizes)}",
        fix="transpose one of them, or reshape it",
    )


def _require_plain(name: str, axes: Any, axis: Any, signature: Any) -> None:
    """Refuse the options of generalized ufuncs that have no traced meaning."""
    if axes is not NO_VALUE or axis is not NO_VALUE or signature is not None:
        raise UnsupportedError(
            f"{name} with axes=, axis= or signature=",
            where=capture_location(),
            why="the vectors and matrices are the last axes",
            fix="move the axes by moveaxis, and ask for a dtype by dtype=",
        )


@implements(np.matmul)
def matmul(  # noqa: PLR0913 - NumPy's own
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    axes: Any = NO_VALUE,
    axis: Any = NO_VALUE,
    keepdims: bool = False,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
    subok: bool = True,
    signature: Any = None,
) -> Any:
    """Return the matrix product; leading axes are batches and broadcast.

    Examples
    --------
    >>> matmul(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    Array([3, 7])
    """
    _require_plain("matmul", axes, axis, signature)
    x, y = _promoted(x1, x2, dtype)
    left, right = shape_of(x), shape_of(y)
    if not left or not right:
        raise ValueError("matmul: Input operand does not have enough dimensions (use multiply for scalars)")
    row, column = len(left) == 1, len(right) == 1
    inner = right[0] if column else right[-2]
    if left[-1] != inner:
        raise _mismatch("matmul", x, y, left[-1], inner)
    if len(left) <= 2 and len(right) <= 2:
        return store("matmul", contract(x, y, ((len(left) - 1,), (0,))), out, True)
    if column:
        return store("matmul", contract(x, y, ((len(left) - 1,), (0,))), out, True)
    if row:
        return store("matmul", contract(x, y, ((0,), (len(right) - 2,))), out, True)
    return store("matmul", _batched(x, y), out, True)


def _batched(x: Any, y: Any) -> Any:
    left, right = shape_of(x), shape_of(y)
    if len(right) == 2:
        return contract(x, y, ((len(left) - 1,), (0,)))
    batch = broadcast_shapes(left[:-2], right[:-2], name="matmul")
    x = broadcast_to_shape(x, (*batch, *left[-2:]))
    y = broadcast_to_shape(y, (*batch, *right[-2:]))
    n = len(batch)
    return contract(x, y, ((n + 1,), (n,)), (range(n), range(n)))


@implements(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """Return the product over the last axis of ``a`` and the second to last (or only) axis of ``b``.

    Examples
    --------
    >>> dot(np.array([1, 2]), np.array([3, 4]))
    Array(11)
    """
    x, y = _promoted(a, b)
    if not shape_of(x) or not shape_of(y):
        return ufuncs.multiply(x, y, out=out)
    axis = max(len(shape_of(y)) - 2, 0)
    if shape_of(x)[-1] != shape_of(y)[axis]:
        raise _mismatch("dot", x, y, shape_of(x)[-1], shape_of(y)[axis])
    return store("dot", contract(x, y, ((len(shape_of(x)) - 1,), (axis,))), out, True)


def _conjugate(x: Any) -> Any:
    return ufuncs.conjugate(x) if x.dtype.kind == "c" else x


@implements(np.vdot)
def vdot(a: Any, b: Any, /) -> Any:
    """Return the dot product of flattened arrays, the first one conjugated.

    Examples
    --------
    >>> vdot(np.array([1j]), np.array([2j]))
    Array(2.+0.j)
    """
    x, y = _promoted(a, b)
    x, y = reshape_to(x, (x.size,)), reshape_to(y, (y.size,))
    return dot(_conjugate(x), y)


@implements(np.vecdot)
def vecdot(  # noqa: PLR0913 - NumPy's own
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    axes: Any = NO_VALUE,
    axis: Any = NO_VALUE,
    keepdims: bool = False,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
    subok: bool = True,
    signature: Any = None,
) -> Any:
    """Return dot products of vectors along an axis, the first one conjugated.

    Examples
    --------
    >>> vecdot([[1, 2], [3, 4]], [1, 1])
    Array([3, 7])
    """
    _require_plain("vecdot", axes, NO_VALUE, signature)
    axis = -1 if axis is NO_VALUE else axis
    x, y = _promoted(x1, x2, dtype)
    x, y = manipulation.moveaxis(x, axis, -1), manipulation.moveaxis(y, axis, -1)
    if x.shape[-1] != y.shape[-1]:
        raise _mismatch("vecdot", x, y, x.shape[-1], y.shape[-1])
    shape = broadcast_shapes(x.shape, y.shape, name="vecdot")
    n = len(shape) - 1
    x, y = broadcast_to_shape(_conjugate(x), shape), broadcast_to_shape(y, shape)
    result = contract(x, y, ((n,), (n,)), (range(n), range(n)))
    return store("vecdot", manipulation.expand_dims(result, axis) if keepdims else result, out, True)


def _eager_matvec(x1: Any, x2: Any, /, **options: Any) -> Any:
    return np.matmul(x1, np.asarray(x2)[..., None], **options)[..., 0]


def _eager_vecmat(x1: Any, x2: Any, /, **options: Any) -> Any:
    return np.matmul(np.conjugate(x1)[..., None, :], x2, **options)[..., 0, :]


@implements(*[f for f in (getattr(np, "matvec", None),) if f], eager=_eager_matvec)
def matvec(  # noqa: PLR0913 - NumPy's own
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    axes: Any = NO_VALUE,
    axis: Any = NO_VALUE,
    keepdims: bool = False,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
    subok: bool = True,
    signature: Any = None,
) -> Any:
    """Return products of matrices and vectors in the last axes.

    Examples
    --------
    >>> matvec([[1, 2], [3, 4]], [1, 1])
    Array([3, 7])
    """
    _require_plain("matvec", axes, axis, signature)
    product = matmul(x1, expand(asarray(x2), -1), dtype=dtype)
    return store("matvec", manipulation.squeeze(product, -1), out, True)


@implements(*[f for f in (getattr(np, "vecmat", None),) if f], eager=_eager_vecmat)
def vecmat(  # noqa: PLR0913 - NumPy's own
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    axes: Any = NO_VALUE,
    axis: Any = NO_VALUE,
    keepdims: bool = False,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
    subok: bool = True,
    signature: Any = None,
) -> Any:
    """Return products of vectors, conjugated, and matrices in the last axes.

    Examples
    --------
    >>> vecmat([1, 1], [[1, 2], [3, 4]])
    Array([4, 6])
    """
    _require_plain("vecmat", axes, axis, signature)
    product = matmul(expand(_conjugate(asarray(x1)), -2), x2, dtype=dtype)
    return store("vecmat", manipulation.squeeze(product, -2), out, True)


@implements(np.inner)
def inner(a: Any, b: Any, /) -> Any:
    """Return the product over the last axes.

    Examples
    --------
    >>> inner(np.array([1, 2]), np.array([3, 4]))
    Array(11)
    """
    x, y = _promoted(a, b)
    if not shape_of(x) or not shape_of(y):
        return ufuncs.multiply(x, y)
    if shape_of(x)[-1] != shape_of(y)[-1]:
        raise _mismatch("inner", x, y, shape_of(x)[-1], shape_of(y)[-1])
    return contract(x, y, ((len(shape_of(x)) - 1,), (len(shape_of(y)) - 1,)))


@implements(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Any:
    """Return the outer product of flattened arrays.

    Examples
    --------
    >>> outer(np.array([1, 2]), np.array([3, 4]))
    Array([[3, 4],
           [6, 8]])
    """
    x, y = asarray(a), asarray(b)
    return ufuncs.multiply(reshape_to(x, (x.size, 1)), reshape_to(y, (1, y.size)), out=out)


@implements(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Return the product summed over the given axes.

    Examples
    --------
    >>> tensordot(np.ones((2, 3)), np.ones((3, 2)), axes=1)
    Array([[3., 3.],
           [3., 3.]])
    """
    x, y = _promoted(a, b)
    left, right = len(shape_of(x)), len(shape_of(y))
    if isinstance(axes, int | np.integer):
        pair = (tuple(range(left - int(axes), left)), tuple(range(int(axes))))
    else:
        first, second = axes
        listed = [(e,) if isinstance(e, int | np.integer) else tuple(e) for e in (first, second)]
        pair = (
            tuple(normalize_axis(int(k), left) for k in listed[0]),
            tuple(normalize_axis(int(k), right) for k in listed[1]),
        )
    for k, m in zip(*pair, strict=True):
        if shape_of(x)[k] != shape_of(y)[m]:
            raise _mismatch("tensordot", x, y, shape_of(x)[k], shape_of(y)[m])
    return contract(x, y, pair)


@implements(np.kron)
def kron(a: Any, b: Any) -> Any:
    """Return the Kronecker product.

    Examples
    --------
    >>> kron(np.array([1, 2]), np.array([1, 1]))
    Array([1, 1, 2, 2])
    """
    x, y = asarray(a), asarray(b)
    ndim = max(x.ndim, y.ndim)
    first = (1,) * (ndim - x.ndim) + shape_of(x)
    second = (1,) * (ndim - y.ndim) + shape_of(y)
    wide = ufuncs.multiply(
        reshape_to(x, tuple(n for e in first for n in (e, 1))), reshape_to(y, tuple(n for e in second for n in (1, e)))
    )
    return reshape_to(wide, tuple(n * m for n, m in zip(first, second, strict=True)))


@implements(np.trace)
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """Return the sum along diagonals.

    Examples
    --------
    >>> trace(np.array([[1, 2], [3, 4]]))
    Array(5)
    """
    return reductions.sum(manipulation.diagonal(a, offset, axis1, axis2), -1, dtype, out)
