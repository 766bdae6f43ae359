"""Products of a vector with all runs of another: convolve and correlate."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy.rearranging import flip
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ops import convolution
from numhlo.lowering.ops.dimension_numbers import ConvolutionDimensionNumbers
from numhlo.tracer.building import as_traced, asarray, bind1, convert, implements, reshape_to, result_dtype

__all__ = ["convolve", "correlate"]


PLAIN_CONVOLUTION = {
    "dimension_numbers": ConvolutionDimensionNumbers(0, 1, (2,), 1, 0, (2,), 0, 1, (2,)),
    "window_strides": (1,),
    "lhs_dilation": (1,),
    "rhs_dilation": (1,),
    "window_reversal": (False,),
    "feature_group_count": 1,
    "batch_group_count": 1,
    "precision_config": ("DEFAULT", "DEFAULT"),
}
"""Of one channel and one dimension, with neither strides nor dilation."""

MODES = {0: "valid", 1: "same", 2: "full"}


def _slide(name: str, a: Any, v: Any, mode: Any) -> Any:
    """Return the dot products of a vector with all runs of a longer, padded one."""
    first, second = as_traced(asarray(a)), as_traced(asarray(v))
    first, second = (as_traced(reshape_to(x, (1,))) if x.ndim == 0 else x for x in (first, second))
    if first.ndim != 1 or second.ndim != 1:
        raise ValueError("object too deep for desired array")
    if 0 in (first.size, second.size):
        raise ValueError(f"{'a' if first.size == 0 else 'v'} cannot be empty")
    wanted = result_dtype(first, second)
    kind = MODES.get(mode, mode)
    m = second.size
    if kind not in ("full", "same", "valid"):
        raise ArgumentError(f"{name}(mode={mode!r})", where=capture_location(), fix="use full, same or valid")
    low = {"full": m - 1, "same": m // 2, "valid": 0}[kind]
    high = {"full": m - 1, "same": m - 1 - m // 2, "valid": 0}[kind]
    # sums of truth values are counted first: more than 0 of them is true
    summed = np.dtype(np.int64) if wanted.kind == "b" else wanted
    lhs, rhs = (reshape_to(convert(x, summed), (1, 1, x.size)) for x in (first, second))
    attributes = {**PLAIN_CONVOLUTION, "padding": np.array([[low, high]])}
    found = bind1(convolution.CONVOLUTION, lhs, rhs, attributes=attributes)
    return convert(reshape_to(found, (first.size + low + high - m + 1,)), wanted)


@implements(np.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    """Return the discrete convolution of two vectors.

    Parameters
    ----------
    a, v : array_like
        Vectors; a scalar counts as one element.
    mode : "full", "same" or "valid", optional
        All sums, as many as the longer vector has elements, or those of full overlap only.

    Returns
    -------
    Array
        Of the common dtype.

    Raises
    ------
    ValueError
        If a vector is empty, or has more than one dimension.
    ArgumentError
        If ``mode`` is another.

    Examples
    --------
    >>> convolve([1.0, 2.0], [1.0, 1.0])
    Array([1., 3., 2.])
    """
    first, second = as_traced(asarray(a)), as_traced(asarray(v))
    if second.size > first.size:
        first, second = second, first
    return _slide("convolve", first, flip(second) if second.ndim else second, mode)


@implements(np.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """Return the cross-correlation of two vectors, the second one conjugated.

    Parameters
    ----------
    a, v : array_like
        Vectors.
    mode : "valid", "same" or "full", optional
        As that of `convolve`.

    Returns
    -------
    Array
        Of the common dtype.

    Raises
    ------
    ValueError
        If a vector is empty, or is none.
    ArgumentError
        If ``mode`` is another.

    Examples
    --------
    >>> correlate([1, 2, 3], [0, 1], "full")
    Array([1, 2, 3, 0])
    """
    first, second = as_traced(asarray(a)), as_traced(asarray(v))
    if 0 in (first.ndim, second.ndim):
        raise ValueError("object of too small depth for desired array")
    second = ufuncs.conjugate(second) if second.dtype.kind == "c" else second
    if second.size > first.size:
        swapped = _slide("correlate", second, first, mode)
        return flip(swapped)
    return _slide("correlate", first, second, mode)
