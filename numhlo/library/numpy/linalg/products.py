"""Products of arrays: dot, tensordot and their kin, over one dot_general."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import reductions, reshaping
from numhlo.library.numpy.out_arrays import store
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import AxisOutOfBoundsError, ShapeError
from numhlo.tracer.building import (
    asarray,
    contract,
    convert,
    implements,
    normalize_axis,
    operand_names,
    reshape_to,
    result_dtype,
    shape_of,
    spelling,
)

__all__ = [
    "dot",
    "inner",
    "kron",
    "outer",
    "tensordot",
    "trace",
    "vdot",
]


def _promoted(a: Any, b: Any) -> tuple[Any, Any]:
    x, y = asarray(a), asarray(b)
    wanted = result_dtype(x, y)
    return convert(x, wanted), convert(y, wanted)


def extents_differ(name: str, x: Any, y: Any, left: int, right: int) -> ShapeError:
    """Return the error of two operands whose contracted extents are not one."""
    where = capture_location()
    names = operand_names(where, 2)
    sizes = [f"{size} ({names[k]})" if names else str(size) for k, size in enumerate((left, right))]
    return ShapeError(
        f"{name}: {spelling(x)} with {spelling(y)}",
        where=where,
        why=f"the contracted extents differ: {' against '.join(sizes)}",
        fix="transpose one of them, or reshape it",
    )


@implements(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """Return the product over the last axis of ``a`` and the second to last (or only) axis of ``b``.

    Parameters
    ----------
    a, b : array_like
        A scalar multiplies; the other axes do not broadcast, but follow each other in the result.
    out : Array, optional
        Where the result is written.

    Returns
    -------
    Array
        Of shape ``(*a.shape[:-1], *b.shape[:-2], *b.shape[-1:])`` and the common dtype.

    Raises
    ------
    ShapeError
        If the contracted extents differ.

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
        raise extents_differ("dot", x, y, shape_of(x)[-1], shape_of(y)[axis])
    return store("dot", contract(x, y, ((len(shape_of(x)) - 1,), (axis,))), out, exact=True)


def conjugated(x: Any) -> Any:
    """Return the complex conjugate; of real numbers, the array itself."""
    return ufuncs.conjugate(x) if x.dtype.kind == "c" else x


@implements(np.vdot)
def vdot(a: Any, b: Any, /) -> Any:
    """Return the dot product of flattened arrays, the first one conjugated.

    Parameters
    ----------
    a, b : array_like
        Of one size.

    Returns
    -------
    Array
        A scalar of the common dtype.

    Raises
    ------
    ShapeError
        If the sizes differ.

    Examples
    --------
    >>> vdot(np.array([1j]), np.array([2j]))
    Array(2.+0.j)
    """
    x, y = _promoted(a, b)
    x, y = reshape_to(x, (x.size,)), reshape_to(y, (y.size,))
    return dot(conjugated(x), y)


@implements(np.inner)
def inner(a: Any, b: Any, /) -> Any:
    """Return the product over the last axes.

    Parameters
    ----------
    a, b : array_like
        A scalar multiplies. Nothing is conjugated.

    Returns
    -------
    Array
        Of shape ``(*a.shape[:-1], *b.shape[:-1])``.

    Raises
    ------
    ShapeError
        If the last extents differ.

    Examples
    --------
    >>> inner(np.array([1, 2]), np.array([3, 4]))
    Array(11)
    """
    x, y = _promoted(a, b)
    if not shape_of(x) or not shape_of(y):
        return ufuncs.multiply(x, y)
    if shape_of(x)[-1] != shape_of(y)[-1]:
        raise extents_differ("inner", x, y, shape_of(x)[-1], shape_of(y)[-1])
    return contract(x, y, ((len(shape_of(x)) - 1,), (len(shape_of(y)) - 1,)))


@implements(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Any:
    """Return the outer product of flattened arrays.

    Parameters
    ----------
    a, b : array_like
    out : Array, optional
        Where the result is written.

    Returns
    -------
    Array
        Of shape ``(a.size, b.size)``.

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

    Parameters
    ----------
    a, b : array_like
    axes : int, or pair of (int or sequence of int), optional
        So many last axes of ``a`` and first ones of ``b``; or which of either.

    Returns
    -------
    Array
        The other axes of ``a``, then those of ``b``.

    Raises
    ------
    ShapeError
        If the contracted extents differ.

    Examples
    --------
    >>> tensordot(np.ones((2, 3)), np.ones((3, 2)), axes=1)
    Array([[3., 3.],
           [3., 3.]])
    """
    x, y = _promoted(a, b)
    left, right = len(shape_of(x)), len(shape_of(y))
    if isinstance(axes, int | np.integer):
        if axes > min(left, right):
            what = f"tensordot: {axes} axes of {spelling(x)} and {spelling(y)}"
            raise AxisOutOfBoundsError(what, where=capture_location(), why="an operand has fewer", fix="give axes=")
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
            raise extents_differ("tensordot", x, y, shape_of(x)[k], shape_of(y)[m])
    return contract(x, y, pair)


@implements(np.kron)
def kron(a: Any, b: Any) -> Any:
    """Return the Kronecker product.

    Parameters
    ----------
    a, b : array_like
        The one with fewer dimensions gets ones in front.

    Returns
    -------
    Array
        Whose extents are the products of theirs.

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

    Parameters
    ----------
    a : array_like
    offset : int, optional
        Positive above the main diagonal, negative below.
    axis1, axis2 : int, optional
        Rows and columns.
    dtype : dtype, optional
        In which is added up; int64 or uint64 by default for narrower integers.
    out : Array, optional
        Where the result is written.

    Returns
    -------
    Array
        Without the two axes.

    Examples
    --------
    >>> trace(np.array([[1, 2], [3, 4]]))
    Array(5)
    """
    return reductions.sum(reshaping.diagonal(a, offset, axis1, axis2), -1, dtype, out)
