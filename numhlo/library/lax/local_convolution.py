"""Convolutions whose kernel is another one at every place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from numhlo.library.lax.window_arguments import conv_dimension_numbers
from numhlo.library.lax.windows import conv_general_dilated_patches
from numhlo.library.numpy import axis_order
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError
from numhlo.tracer.building import asarray, contract, runs_anywhere, shape_of

__all__ = ["conv_general_dilated_local"]


@runs_anywhere
def conv_general_dilated_local(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    filter_shape: Sequence[int],
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    precision: Any = None,
) -> Any:
    """Return a convolution with a kernel of its own at every place of the result: a locally connected layer.

    Parameters
    ----------
    lhs : array_like
        Batch, features, and spatial dimensions.
    rhs : array_like
        Output features; input features times the window's elements, channel by channel and row-major; the result's
        spatial dimensions.
    window_strides : sequence of int
    padding : str or sequence of (int, int)
        ``"VALID"``, ``"SAME"``, or widths before and after each spatial dimension.
    filter_shape : sequence of int
        The window's extents.
    lhs_dilation, rhs_dilation : sequence of int, optional
    dimension_numbers : optional
        As for `conv_general_dilated`.
    precision : optional
        Accepted and ignored.

    Returns
    -------
    Array
        Of the operands' dtype.

    Raises
    ------
    ShapeError
        If the kernel's shape is not what the windows need.

    Notes
    -----
    Source: `jax.lax.conv_general_dilated_local`.

    Examples
    --------
    >>> import numpy as np
    >>> x, kernels = np.ones((1, 1, 3)), np.array([[[1.0, 5.0], [2.0, 7.0]]])
    >>> conv_general_dilated_local(x, kernels, (1,), "VALID", (2,))
    Array([[[ 3., 12.]]])
    """
    x, kernel = asarray(lhs), asarray(rhs)
    sizes = tuple(map(int, filter_shape))
    spec = conv_dimension_numbers(shape_of(x), shape_of(kernel), dimension_numbers)
    patches = conv_general_dilated_patches(
        x, sizes, window_strides, padding, lhs_dilation, rhs_dilation, spec, precision
    )
    patches = axis_order.transpose(patches, spec.out_spec)
    kernel = axis_order.transpose(kernel, spec.rhs_spec)
    places = shape_of(patches)[2:]
    wanted = (shape_of(x)[spec.lhs_spec[1]] * math.prod(sizes), *places)
    if shape_of(kernel)[1:] != wanted:
        raise ShapeError(
            f"conv_general_dilated_local: a kernel of {shape_of(kernel)} for windows {sizes}",
            where=capture_location(),
            why=f"behind its output features it must have {wanted}: each window's elements, and the result's places",
            fix="give every place of the result a kernel",
        )
    spatial = range(2, 2 + len(places))
    result = contract(kernel, patches, ((1,), (1,)), (spatial, spatial))  # places, output features, batch
    order = (len(places) + 1, len(places), *range(len(places)))
    found = axis_order.transpose(result, order)
    return axis_order.transpose(found, [spec.out_spec.index(k) for k in range(len(order))])
