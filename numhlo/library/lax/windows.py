"""Convolutions and reductions over windows, under JAX's names. They run outside tracing too."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.library.lax.operands import of_one_width
from numhlo.library.lax.reductions import combining
from numhlo.library.lax.window_arguments import ConvDimensionNumbers, conv_dimension_numbers, numbers, padding_pairs
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, OperandError
from numhlo.lowering.ops import convolution, layout, windows
from numhlo.lowering.ops.dimension_numbers import ConvolutionDimensionNumbers
from numhlo.lowering.ops.window_geometry import as_array, dilated
from numhlo.tracer.building import (
    as_dtype,
    asarray,
    bind,
    bind1,
    convert,
    runs_anywhere,
    shape_of,
    spelling,
    tree_flatten,
    tree_unflatten,
)

__all__ = [
    "conv", "conv_general_dilated", "conv_general_dilated_patches",
    "conv_transpose", "conv_with_general_padding", "reduce_window",
]  # fmt: skip


@runs_anywhere
def conv_general_dilated(  # noqa: PLR0913 - the signature is JAX's
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Return the convolution of an array with a kernel: products of windows and kernel, summed.

    Parameters
    ----------
    lhs, rhs : array
        Input and kernel, of one dtype and one number of dimensions.
    window_strides : sequence of int
        One for each spatial dimension.
    padding : str or sequence of (int, int)
        ``"SAME"``, ``"VALID"``, ``"SAME_LOWER"``, or widths before and after each spatial dimension.
    lhs_dilation, rhs_dilation : sequence of int, optional
        Distances between elements of the input, and of the kernel.
    dimension_numbers : optional
        None for ``("NCHW", "OIHW", "NCHW")`` and its like, three such strings, or a `ConvDimensionNumbers`.
    feature_group_count, batch_group_count : int, optional
    precision : optional
        Accepted and ignored: products are computed in the operands' precision at least.
    preferred_element_type : dtype, optional
        Of the result.

    Returns
    -------
    Array
        Of ``preferred_element_type``, or the operands' dtype.

    Raises
    ------
    DTypeError
        If the operands differ in dtype.
    OperandError, ArgumentError, VerificationError
        If shapes, strides or dimension numbers do not fit.

    Notes
    -----
    StableHLO specification, section ``convolution``.

    Examples
    --------
    >>> image, kernel = np.ones((1, 1, 4, 4)), np.ones((1, 1, 3, 3))
    >>> conv_general_dilated(image, kernel, (1, 1), "VALID")[0, 0]
    Array([[9., 9.],
           [9., 9.]])
    """
    x, y = map(asarray, of_one_width(lhs, rhs))
    if x.dtype != y.dtype:
        raise DTypeError(
            f"convolution: operands {spelling(x)} and {spelling(y)} differ in dtype", where=capture_location()
        )
    spec = conv_dimension_numbers(shape_of(x), shape_of(y), dimension_numbers)
    count = len(shape_of(x)) - 2
    strides = numbers(window_strides, count, "window_strides")
    kernel_dilation = numbers(rhs_dilation, count, "rhs_dilation")
    inputs = [shape_of(x)[d] for d in spec.lhs_spec[2:]]
    reach = [dilated(shape_of(y)[d], n) for d, n in zip(spec.rhs_spec[2:], kernel_dilation, strict=True)]
    attributes = {
        "dimension_numbers": _record(spec),
        "window_strides": strides,
        "padding": as_array(padding_pairs(padding, inputs, reach, strides)),
        "lhs_dilation": numbers(lhs_dilation, count, "lhs_dilation"),
        "rhs_dilation": kernel_dilation,
        "window_reversal": (False,) * count,
        "feature_group_count": int(feature_group_count),
        "batch_group_count": int(batch_group_count),
        "precision_config": ("DEFAULT", "DEFAULT"),
    }
    results = None
    wanted = as_dtype(preferred_element_type, x.dtype)
    if wanted != x.dtype:
        shape = convolution.convolution_shape(attributes, shape_of(x), shape_of(y))
        results = [TensorType(shape, wanted)]
    return bind1(convolution.CONVOLUTION, x, y, attributes=attributes, results=results)


def _record(spec: ConvDimensionNumbers) -> ConvolutionDimensionNumbers:
    lhs, rhs, out = spec
    return ConvolutionDimensionNumbers(
        lhs[0], lhs[1], tuple(lhs[2:]), rhs[1], rhs[0], tuple(rhs[2:]), out[0], out[1], tuple(out[2:])
    )


def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Return the convolution of ``NCHW`` input with an ``OIHW`` kernel.

    Parameters
    ----------
    lhs, rhs : array_like
        Of shapes ``(N, C, ...)`` and ``(O, C, ...)``, and one dtype.
    window_strides, padding, precision, preferred_element_type : optional
        As those of `conv_general_dilated`.

    Returns
    -------
    Array
        Of shape ``(N, O, ...)``.

    Examples
    --------
    >>> conv(np.ones((1, 1, 3)), np.ones((1, 1, 2)), (1,), "VALID")
    Array([[[2., 2.]]])
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, precision=precision, preferred_element_type=preferred_element_type
    )


def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Any,
    rhs_dilation: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Return the convolution of ``NCHW`` input with an ``OIHW`` kernel, both perhaps dilated.

    Parameters
    ----------
    lhs, rhs : array_like
        Of shapes ``(N, C, ...)`` and ``(O, C, ...)``, and one dtype.
    window_strides, padding, lhs_dilation, rhs_dilation, precision, preferred_element_type : optional
        As those of `conv_general_dilated`.

    Returns
    -------
    Array
        Of shape ``(N, O, ...)``.

    Examples
    --------
    >>> conv_with_general_padding(np.ones((1, 1, 3)), np.ones((1, 1, 2)), (1,), ((0, 0),), (1,), (2,))
    Array([[[2.]]])
    """
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    return conv_general_dilated(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, **options)


LAYOUTS = {2: ("NC", "IO", "NC"), 3: ("NHC", "HIO", "NHC"), 4: ("NHWC", "HWIO", "NHWC"), 5: ("NHWDC", "HWDIO", "NHWDC")}
"""The layouts that `conv_transpose` assumes, by the number of dimensions."""


@runs_anywhere
def conv_transpose(  # noqa: PLR0913 - JAX's signature
    lhs: Any,
    rhs: Any,
    strides: Sequence[int],
    padding: Any,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Any:
    """Return a transposed convolution: the input is dilated by the strides.

    Parameters
    ----------
    lhs, rhs : array
    strides : sequence of int
        How much longer the output is, for each spatial dimension.
    padding : str or sequence of (int, int)
        That of the convolution it transposes, ``"SAME"`` or ``"VALID"``; widths are used as they are.
    rhs_dilation : sequence of int, optional
    dimension_numbers : optional
        None for ``("NHWC", "HWIO", "NHWC")`` and its like.
    transpose_kernel : bool, optional
        Reverse the kernel and exchange its features: the gradient of a convolution with it.
    precision, preferred_element_type : optional
    use_consistent_padding : bool, optional
        Take widths, too, as padding of the convolution that it transposes.

    Returns
    -------
    Array
        Its extents are those that the convolution's input had, with "SAME" ``extent * stride``.

    Raises
    ------
    OperandError
        If ``dimension_numbers`` is needed and left out.
    ArgumentError
        If ``padding`` is another.

    Examples
    --------
    >>> conv_transpose(np.ones((1, 2, 1)), np.ones((2, 1, 1)), (2,), "SAME")[0, :, 0]
    Array([1., 1., 1., 1.])
    """
    x, y = asarray(lhs), asarray(rhs)
    ndim = len(shape_of(x))
    if dimension_numbers is None:
        if ndim not in LAYOUTS:
            raise OperandError(
                f"lax.conv_transpose of {spelling(x)}", where=capture_location(), fix="give dimension_numbers"
            )
        dimension_numbers = LAYOUTS[ndim]
    spec = conv_dimension_numbers(shape_of(x), shape_of(y), dimension_numbers)
    factors = numbers(strides, ndim - 2, "strides")
    dilation = numbers(rhs_dilation, ndim - 2, "rhs_dilation")
    pads = padding
    if isinstance(padding, str) or use_consistent_padding:
        kinds = [padding] * (ndim - 2) if isinstance(padding, str) else padding
        reach = [dilated(shape_of(y)[d], n) for d, n in zip(spec.rhs_spec[2:], dilation, strict=True)]
        pads = [_transposed_pads(k, s, kind) for k, s, kind in zip(reach, factors, kinds, strict=True)]
    if transpose_kernel:
        out, features = spec.rhs_spec[:2]
        y = bind1(layout.REVERSE, y, attributes={"dimensions": tuple(sorted(spec.rhs_spec[2:]))})
        order = list(range(ndim))
        order[out], order[features] = features, out
        y = bind1(layout.TRANSPOSE, y, attributes={"permutation": tuple(order)})
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    return conv_general_dilated(x, y, (1,) * (ndim - 2), pads, factors, dilation, spec, **options)


def _transposed_pads(size: int, stride: int, padding: Any) -> tuple[int, int]:
    if not isinstance(padding, str):
        low, high = padding
        return size - 1 - low, size - 1 - high
    kind = padding.upper()
    if kind == "SAME":
        total = size + stride - 2
        low = size - 1 if stride > size - 1 else -(-total // 2)
    elif kind == "VALID":
        total, low = size + stride - 2 + max(size - stride, 0), size - 1
    else:
        raise ArgumentError(
            f"lax.conv_transpose: padding={padding!r}", where=capture_location(), fix="use SAME, VALID or widths"
        )
    return low, total - low


@runs_anywhere
def conv_general_dilated_patches(
    lhs: Any,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Return the windows that a convolution would multiply, as features: channel by channel, row-major.

    Parameters
    ----------
    lhs : array_like
    filter_shape : sequence of int
        The window's extents.
    window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, precision, preferred_element_type : optional
        As those of `conv_general_dilated`.

    Returns
    -------
    Array
        With ``channels * prod(filter_shape)`` features.

    Examples
    --------
    >>> conv_general_dilated_patches(np.arange(4.0).reshape(1, 1, 4), (2,), (1,), "VALID")[0]
    Array([[0., 1., 2.],
           [1., 2., 3.]])
    """
    x = asarray(lhs)
    sizes = tuple(map(int, filter_shape))
    spec = conv_dimension_numbers(shape_of(x), (1, 1, *sizes), dimension_numbers)
    channels, count = shape_of(x)[spec.lhs_spec[1]], math.prod(sizes)
    kernel = np.tile(np.eye(count).astype(x.dtype), (channels, 1)).reshape(channels * count, 1, *sizes)
    kernel = np.moveaxis(kernel, range(len(sizes) + 2), spec.rhs_spec)
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    return conv_general_dilated(
        x, kernel, window_strides, padding, lhs_dilation, rhs_dilation, spec, feature_group_count=channels, **options
    )


@runs_anywhere
def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Any = None,
    padding: Any = "VALID",
    base_dilation: Any = None,
    window_dilation: Any = None,
) -> Any:
    """Return the elements of every window combined by a function of two scalars, in any order.

    Parameters
    ----------
    operand, init_value : array, or pytree of arrays
        Arrays of one shape; scalars that change no other one when they are combined with it: windows see them where
        they reach beyond the array.
    computation : callable
        Takes two scalars (or pytrees of scalars) and returns one.
    window_dimensions, window_strides : sequence of int
        One for each dimension; strides are 1 where they are left out.
    padding : str or sequence of (int, int), optional
        ``"VALID"``, ``"SAME"``, ``"SAME_LOWER"``, or widths before and after each dimension.
    base_dilation, window_dilation : sequence of int, optional

    Returns
    -------
    Array, or pytree of Array
        One element for each window.

    Raises
    ------
    VerificationError, ArgumentError
        If windows, strides or padding do not fit.

    Notes
    -----
    StableHLO specification, section ``reduce_window``.

    Examples
    --------
    >>> import numhlo.numpy  # gives traced arrays their operators
    >>> reduce_window(np.array([3, 1, 4, 1, 5]), 0, lambda x, y: x + y, (2,))
    Array([4, 5, 5, 6])
    """
    leaves, tree = tree_flatten(operand)
    arrays = [asarray(x) for x in leaves]
    initial = [convert(asarray(i), a.dtype) for i, a in zip(tree_flatten(init_value)[0], arrays, strict=True)]
    shape = shape_of(arrays[0])
    sizes = numbers(window_dimensions, len(shape), "window_dimensions")
    strides = numbers(window_strides, len(shape), "window_strides")
    dilation = numbers(window_dilation, len(shape), "window_dilation")
    reach = list(map(dilated, sizes, dilation))

    region = combining(computation, arrays, tree)
    attributes = {
        "window_dimensions": sizes,
        "window_strides": strides,
        "base_dilations": numbers(base_dilation, len(shape), "base_dilation"),
        "window_dilations": dilation,
        "padding": as_array(padding_pairs(padding, shape, reach, strides)),
    }
    results = bind(windows.REDUCE_WINDOW, *arrays, *initial, attributes=attributes, regions=[region])
    return tree_unflatten(tree, results)
