"""Shapes that operations of `jax.lax` give, of shapes alone; and values about values: tokens, dtypes, stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax.dtypes import canonicalize_dtype
from numhlo.lax import padtype_to_pads
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, OperandError
from numhlo.tracer.trees.pytrees import tree_leaves

Extents = Sequence[int]


def _misfit(what: str) -> OperandError:
    return OperandError(what, where=capture_location())


def _stride(extent: int, window: int, stride: int) -> int:
    return max(0, (int(extent) - int(window)) // int(stride) + 1)


def conv_shape_tuple(
    lhs_shape: Extents, rhs_shape: Extents, strides: Extents, pads: Any, batch_group_count: int = 1
) -> tuple[int, ...]:
    """Return a convolution's shape, of operands' with batch and features first.

    Parameters
    ----------
    lhs_shape, rhs_shape : sequence of int
    strides : sequence of int
    pads : str or sequence of (int, int)
    batch_group_count : int, optional

    Raises
    ------
    OperandError
        If the padding does not fit.

    Examples
    --------
    >>> conv_shape_tuple((1, 3, 8), (5, 3, 3), (2,), "SAME")
    (1, 5, 4)
    """
    inner, window = tuple(map(int, lhs_shape[2:])), tuple(map(int, rhs_shape[2:]))
    pairs = padtype_to_pads(inner, window, strides, pads) if isinstance(pads, str) else pads
    if len(pairs) != len(inner):
        raise _misfit(f"Wrong number of explicit pads for convolution: expected {len(inner)}, got {len(pairs)}.")
    padded = [n + low + high for n, (low, high) in zip(inner, pairs, strict=True)]
    if any(n < 0 for n in padded):
        raise _misfit(f"Negative padding is larger than the size of the corresponding dimension: {pairs} for {inner}")
    outer = tuple(_stride(n, w, s) for n, w, s in zip(padded, window, strides, strict=True))
    return (int(lhs_shape[0]) // batch_group_count, int(rhs_shape[0]), *outer)


def conv_general_permutations(dimension_numbers: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return the orders that bring the operands and the result of a convolution to batch and features first.

    Parameters
    ----------
    dimension_numbers : sequence of three str

    Raises
    ------
    OperandError
        If these are no names of dimensions.

    Examples
    --------
    >>> conv_general_permutations(("NHWC", "HWIO", "NHWC"))
    ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    kernel = dimension_numbers[1]
    own = ("NC", "OI", "NC")
    spatial = [set(spec) - set(pair) for spec, pair in zip(dimension_numbers, own, strict=True)]
    for spec, pair in zip(dimension_numbers, own, strict=True):
        if any(spec.count(c) != 1 for c in pair) or len(set(spec)) != len(spec):
            raise _misfit(f"convolution dimension_numbers {spec!r} must contain {pair[0]!r} and {pair[1]!r} once")
    if not spatial[0] == spatial[1] == spatial[2]:
        raise _misfit(f"convolution dimension_numbers must have the same spatial characters, got {dimension_numbers}")
    order = [c for c in kernel if c not in "OI"]
    return tuple(
        tuple(spec.index(c) for c in [*pair, *order]) for spec, pair in zip(dimension_numbers, own, strict=True)
    )


def _canonical(lhs: Extents, rhs: Extents, dimension_numbers: Sequence[str]) -> tuple[list[int], list[int], Any]:
    perms = conv_general_permutations(dimension_numbers)
    return [lhs[k] for k in perms[0]], [rhs[k] for k in perms[1]], np.argsort(perms[2])


def conv_general_shape_tuple(
    lhs_shape: Extents, rhs_shape: Extents, window_strides: Extents, padding: Any, dimension_numbers: Sequence[str]
) -> tuple[int, ...]:
    """Return a convolution's shape; see `conv_shape_tuple`."""
    lhs, rhs, back = _canonical(lhs_shape, rhs_shape, dimension_numbers)
    found = conv_shape_tuple(lhs, rhs, window_strides, padding)
    return tuple(found[k] for k in back)


def conv_transpose_shape_tuple(
    lhs_shape: Extents, rhs_shape: Extents, window_strides: Extents, padding: Any, dimension_numbers: Sequence[str]
) -> tuple[int, ...]:
    """Return the shape of a convolution with a dilated operand; see `lax.conv_transpose`.

    Examples
    --------
    >>> conv_transpose_shape_tuple((1, 4, 3), (3, 5, 3), (2,), "SAME", ("NWC", "WOI", "NWC"))
    (1, 8, 5)
    """
    lhs, rhs, back = _canonical(lhs_shape, rhs_shape, dimension_numbers)
    inner, window = lhs[2:], rhs[2:]
    if isinstance(padding, str):
        totals = [_transposed_padding(k, s, padding) for k, s in zip(window, window_strides, strict=True)]
    else:
        totals = [int(np.sum(pair)) for pair in padding]
    outer = [(n - 1) * s - k + 2 + t for n, k, s, t in zip(inner, window, window_strides, totals, strict=True)]
    found = (lhs[0], rhs[0], *outer)
    return tuple(int(found[k]) for k in back)


def _transposed_padding(window: int, stride: int, padding: str) -> int:
    if padding == "SAME":
        return window + stride - 2
    if padding == "VALID":
        return window + stride - 2 + max(window - stride, 0)
    raise _misfit(f"padding {padding!r}, which is to be 'SAME' or 'VALID'")


def reduce_window_shape_tuple(
    operand_shape: Extents,
    window_dimensions: Extents,
    window_strides: Extents,
    padding: Sequence[tuple[int, int]],
    base_dilation: Extents | None = None,
    window_dilation: Extents | None = None,
) -> tuple[int, ...]:
    """Return the shape of a reduction over windows.

    Examples
    --------
    >>> reduce_window_shape_tuple((5, 6), (2, 3), (1, 2), ((0, 0), (1, 1)))
    (4, 3)
    """
    extents = _dilated(operand_shape, base_dilation)
    windows = _dilated(window_dimensions, window_dilation)
    padded = [n + low + high for n, (low, high) in zip(extents, padding, strict=True)]
    return tuple(_stride(n, w, s) for n, w, s in zip(padded, windows, window_strides, strict=True))


def _dilated(extents: Extents, dilation: Extents | None) -> list[int]:
    steps = [1] * len(extents) if dilation is None else dilation
    return [(n - 1) * d + 1 if n else 0 for n, d in zip(extents, steps, strict=True)]


def broadcast_to_rank(x: Any, rank: int) -> Any:
    """Return an array with leading axes of extent 1, so that there are ``rank`` axes.

    Examples
    --------
    >>> broadcast_to_rank(np.ones(3), 2).shape
    (1, 3)
    """
    array = jnp.asarray(x)
    if array.ndim > rank:
        raise _misfit(f"broadcast_to_rank of {array.shape} to {rank} axes")
    return array.reshape((*[1] * (rank - array.ndim), *array.shape))


def shape_as_value(shape: Extents) -> Any:
    """Return a shape as an array.

    Examples
    --------
    >>> shape_as_value((2, 3))
    array([2, 3], dtype=int...)
    """
    return np.asarray(shape, np.int32 if all(n < 2**31 for n in shape) else np.int64)


def dtype(x: Any) -> Any:
    """Return the dtype that a value has as an array.

    Raises
    ------
    ArgumentError
        If there is no value.

    Examples
    --------
    >>> dtype(True)
    dtype('bool')
    """
    if x is None:
        raise ArgumentError("Invalid argument to dtype: None.", where=capture_location())
    return canonicalize_dtype(jnp.result_type(x))


def stage(x: Any) -> Any:
    """Return a value as an array."""
    return jnp.asarray(x)


class Token:
    """What orders effects: here they happen in the order that they are written in."""

    def __repr__(self) -> str:
        return "Token()"

    def block_until_ready(self) -> Token:
        """Return the token."""
        return self


def create_token(_: Any = None) -> Token:
    """Return a token."""
    return Token()


def after_all(*operands: Any) -> Token:
    """Return a token that comes after others.

    Raises
    ------
    OperandError
        If they are no tokens.
    """
    if not all(isinstance(x, Token) for x in operands):
        raise _misfit("Arguments to after_all must be tokens")
    return Token()


def dce_sink(val: Any, *, prevent_mlir_dce: bool = False) -> None:
    """Do nothing with values: what is not used is not computed."""
    del prevent_mlir_dce
    tree_leaves(val)
