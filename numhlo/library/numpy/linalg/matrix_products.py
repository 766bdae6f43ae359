"""NumPy's generalized ufuncs matmul, matvec, vecmat and vecdot: products of the last axes, all others broadcast."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.library.numpy import axis_order, reshaping
from numhlo.library.numpy.linalg.products import conjugated, extents_differ
from numhlo.library.numpy.out_arrays import store
from numhlo.library.numpy.reductions import NO_VALUE
from numhlo.library.numpy.ufunc_calls import dtype_in_signature
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.building import (
    asarray,
    broadcast_shapes,
    broadcast_to_shape,
    contract,
    convert,
    expand,
    implements,
    loop_dtypes,
    shape_of,
)

__all__ = ["matmul", "matvec", "vecdot", "vecmat"]

Product = Callable[[Any, Any], Any]


def generalized(core: str, *functions: Any, eager: Callable[..., Any] | None = None) -> Callable[[Product], Any]:
    """Return a decorator that gives a product of two arrays of one dtype the options of NumPy's generalized ufuncs.

    Parameters
    ----------
    core : str
        NumPy's core signature: which axes an operand and the result have beside the broadcast ones.
    *functions : callable
        NumPy's functions of the same meaning; none where the installed NumPy lacks it.
    eager : callable, optional
        What runs outside tracing instead.
    """
    promoting = functions[0] if functions else np.matmul
    parts = core.partition("->")[0].strip("()").split("),(")
    needed = [sum(not axis.endswith("?") for axis in part.split(",")) for part in parts]

    def decorate(product: Product) -> Any:
        name = product.__name__

        def public(  # noqa: PLR0913 - NumPy's own
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
            _check_options(name, core, axes, axis, keepdims)
            if signature is not None and dtype is None:
                dtype = dtype_in_signature(signature)
            arrays = [asarray(x1), asarray(x2)]
            _check_axes(name, core, needed, arrays)
            wanted = None if dtype is None else np.dtype(dtype)
            loop = loop_dtypes(promoting, tuple(a.dtype for a in arrays), wanted, casting)
            x, y = (convert(a, d) for a, d in zip(arrays, loop, strict=False))
            if axis is not NO_VALUE:
                x, y = (axis_order.moveaxis(a, operator.index(axis), -1) for a in (x, y))
            result = product(x, y)
            if keepdims:
                result = reshaping.expand_dims(result, -1 if axis is NO_VALUE else axis)
            return store(name, result, out, True, casting)

        functools.update_wrapper(public, product)
        del public.__wrapped__  # type: ignore[attr-defined]  # the signature is the public one
        return implements(*functions, eager=eager)(public)

    return decorate


def _check_options(name: str, core: str, axes: Any, axis: Any, keepdims: bool) -> None:
    """Refuse the options that NumPy refuses for a core signature, and the one that has no traced meaning."""
    if axes is not NO_VALUE:
        raise UnsupportedError(
            f"{name} with axes=",
            where=capture_location(),
            why="the product is that of the last axes",
            fix="move the axes by moveaxis before and after",
        )
    if core != "(n),(n)->()" and (keepdims or axis is not NO_VALUE):
        option = "keepdims" if keepdims else "axis"
        raise TypeError(f"{name} does not support {option}: its signature {core} has more than one core dimension")


def _check_axes(name: str, core: str, needed: Sequence[int], arrays: Sequence[Any]) -> None:
    """Refuse arrays that lack axes which their part of the core signature, ``(n?,k)``, can't do without."""
    for k, (least, array) in enumerate(zip(needed, arrays, strict=True)):
        if array.ndim < least:
            raise ValueError(
                f"{name}: Input operand {k} does not have enough dimensions "
                f"(has {array.ndim}, gufunc core with signature {core} requires {least})"
            )


@generalized("(n?,k),(k,m?)->(n?,m?)", np.matmul)
def matmul(x: Any, y: Any) -> Any:
    """Return the matrix product; leading axes are batches and broadcast.

    Parameters
    ----------
    x1, x2 : array_like
        Of shapes ``(..., n, k)`` and ``(..., k, m)``; one-dimensional operands are vectors of extent ``k``.
    out : Array, optional
        Where the result is written.
    casting : str, optional
        NumPy's rule for the conversion of operands and result, "same_kind" unless given.
    dtype : dtype, optional
        In which the product is computed.
    signature : str or tuple of dtypes, optional
        ``dtype`` as part of a loop's signature: ``"dd->d"``.
    axes, axis, keepdims : optional
        Refused: the matrices are those of the last axes.
    order, subok : optional
        Without meaning: results are C-contiguous arrays.

    Returns
    -------
    Array
        Of shape ``(..., n, m)``; the axis of a vector operand is absent.

    Raises
    ------
    ShapeError
        If the contracted extents differ.
    DTypeError
        If ``dtype`` can't be had under ``casting``.
    UnsupportedError
        If ``axes`` is given.

    Examples
    --------
    >>> matmul(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    Array([3, 7])
    """
    left, right = shape_of(x), shape_of(y)
    inner = right[0] if len(right) == 1 else right[-2]
    if left[-1] != inner:
        raise extents_differ("matmul", x, y, left[-1], inner)
    if len(right) <= 2:
        return contract(x, y, ((len(left) - 1,), (0,)))
    if len(left) == 1:
        return contract(x, y, ((0,), (len(right) - 2,)))
    batch = broadcast_shapes(left[:-2], right[:-2], name="matmul")
    x = broadcast_to_shape(x, (*batch, *left[-2:]))
    y = broadcast_to_shape(y, (*batch, *right[-2:]))
    n = len(batch)
    return contract(x, y, ((n + 1,), (n,)), (range(n), range(n)))


def _eager_matvec(x1: Any, x2: Any, /, **options: Any) -> Any:
    return np.matmul(x1, np.asarray(x2)[..., None], **options)[..., 0]


def _eager_vecmat(x1: Any, x2: Any, /, **options: Any) -> Any:
    return np.matmul(conjugated(np.asarray(x1))[..., None, :], x2, **options)[..., 0, :]


def _where_numpy_has(name: str) -> list[Any]:
    """Return NumPy's function of that name, in a list that is empty where the installed NumPy is too old for it."""
    return [getattr(np, name)] if hasattr(np, name) else []


@generalized("(n),(n)->()", np.vecdot)
def vecdot(x: Any, y: Any) -> Any:
    """Return dot products of vectors along an axis, the first one conjugated.

    Parameters
    ----------
    x1, x2 : array_like
        Of shapes ``(..., n)``; the other axes broadcast.
    out : Array, optional
        Where the result is written.
    axis : int, optional
        The axis of the vectors, the last unless given.
    keepdims : bool, optional
        Keep that axis, with extent one.
    casting, dtype, signature, order, subok : optional
        As those of `matmul`.
    axes : optional
        Refused: the vectors are those of one axis.

    Returns
    -------
    Array
        Of the broadcast shape of the other axes.

    Examples
    --------
    >>> vecdot([[1, 2], [3, 4]], [1, 1])
    Array([3, 7])
    """
    if x.shape[-1] != y.shape[-1]:
        raise extents_differ("vecdot", x, y, x.shape[-1], y.shape[-1])
    shape = broadcast_shapes(x.shape, y.shape, name="vecdot")
    n = len(shape) - 1
    return contract(
        broadcast_to_shape(conjugated(x), shape), broadcast_to_shape(y, shape), ((n,), (n,)), (range(n), range(n))
    )


@generalized("(m,n),(n)->(m)", *_where_numpy_has("matvec"), eager=getattr(np, "matvec", _eager_matvec))
def matvec(x: Any, y: Any) -> Any:
    """Return products of matrices and vectors in the last axes.

    Parameters
    ----------
    x1, x2 : array_like
        Of shapes ``(..., m, n)`` and ``(..., n)``.
    out, casting, dtype, signature, axes, axis, keepdims, order, subok : optional
        As those of `matmul`.

    Returns
    -------
    Array
        Of shape ``(..., m)``.

    Examples
    --------
    >>> matvec([[1, 2], [3, 4]], [1, 1])
    Array([3, 7])
    """
    return reshaping.squeeze(matmul(x, expand(y, -1)), -1)


@generalized("(n),(n,m)->(m)", *_where_numpy_has("vecmat"), eager=getattr(np, "vecmat", _eager_vecmat))
def vecmat(x: Any, y: Any) -> Any:
    """Return products of vectors, conjugated, and matrices in the last axes.

    Parameters
    ----------
    x1, x2 : array_like
        Of shapes ``(..., n)`` and ``(..., n, m)``.
    out, casting, dtype, signature, axes, axis, keepdims, order, subok : optional
        As those of `matmul`.

    Returns
    -------
    Array
        Of shape ``(..., m)``.

    Examples
    --------
    >>> vecmat([1, 1], [[1, 2], [3, 4]])
    Array([4, 6])
    """
    return reshaping.squeeze(matmul(expand(conjugated(x), -2), y), -2)
