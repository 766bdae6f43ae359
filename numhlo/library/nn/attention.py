"""Attention: values weighted by how well their keys match a query."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.library.lax.products import dot_general
from numhlo.library.lax.structure import transpose
from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.scipy.special import widely_used as special
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.annotations import STOP_GRADIENT, make_annotation
from numhlo.tracer.building import (
    asarray,
    bind1,
    broadcast_to_shape,
    convert,
    expand,
    reshape_to,
    runs_anywhere,
    shape_of,
    spelling,
)
from numhlo.tracer.building import operations as b

__all__ = ["dot_product_attention"]


def _four_axes(x: Any) -> Any:
    shape = shape_of(x)
    return reshape_to(x, (*[1] * (4 - len(shape)), *shape))


def _refuse(name: str, array: Any, why: str) -> None:
    raise ShapeError(f"dot_product_attention: {name} is {spelling(array)}", where=capture_location(), why=why)


def _check(query: Any, key: Any, value: Any) -> None:
    for name, x in (("query", query), ("key", key), ("value", value)):
        if len(shape_of(x)) not in (3, 4):
            _refuse(name, x, "it has 3 or 4 axes: batch (optional), length, heads, features")
        if x.dtype != key.dtype:
            raise DTypeError(
                f"dot_product_attention: {name} is {spelling(x)}, and key {spelling(key)}",
                where=capture_location(),
                fix="convert them to one dtype",
            )
    q, k, v = (shape_of(_four_axes(x)) for x in (query, key, value))
    if v != k:
        _refuse("value", value, f"it must have the shape of key, {list(shape_of(key))}")
    if (q[0], q[3]) != (k[0], k[3]):
        _refuse("query", query, f"its batch and features must be those of key, {list(shape_of(key))}")
    if k[2] == 0 or q[2] % k[2]:
        _refuse("query", query, f"its number of heads must be a multiple of key's, which is {k[2]}")


@runs_anywhere
def dot_product_attention(  # noqa: PLR0913 - JAX's signature
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """Return ``softmax(scale query key^T + bias) value``: multi-head, multi-query or grouped-query attention.

    Parameters
    ----------
    query : float array, shape ([b,] t, n, h)
        Batch, length, heads, features.
    key, value : float array, shape ([b,] s, k, h)
        The number of heads ``k`` divides ``n``; each serves ``n / k`` heads of queries.
    bias : array, optional
        Added to the scaled products; broadcasts to ``(b, n, t, s)``.
    mask : bool array, optional
        Where products count; broadcasts to ``(b, n, t, s)``.
    scale : float, optional
        ``1 / sqrt(h)`` by default.
    is_causal : bool, optional
        Whether a query sees keys of its own position and before only.
    query_seq_lengths, key_value_seq_lengths : array of int, shape (b,), optional
        How many positions of each batch element are there; results of other queries are 0.
    local_window_size : int or (int, int), optional
        How many keys before and after its own position a query sees.
    implementation : str, optional
        ``"xla"`` or None, which mean the same.
    return_residual : bool, optional
        Whether to return what the softmax divided by, too.

    Returns
    -------
    array, shape ([b,] t, n, h)
        Of the dtype of ``key``; products of narrow floats, and their softmax, are computed in float32.
    residual : array, shape ([b,] t, n)
        Only if ``return_residual``: the logarithm of the sum of exponentials, a constant for derivatives.

    Raises
    ------
    ShapeError, DTypeError
        If shapes or dtypes do not fit.

    Notes
    -----
    Source: Vaswani et al., "Attention is all you need", 2017. A query that sees no key gets the mean of all values.

    Examples
    --------
    >>> keys = np.eye(2).reshape(2, 1, 2)
    >>> dot_product_attention(2000 * keys, keys, keys, is_causal=True).reshape(2, 2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if implementation not in (None, "xla"):
        raise ArgumentError(
            f"dot_product_attention(implementation={implementation!r})", where=capture_location(), fix="leave it out"
        )
    q, k, v = (asarray(x) for x in (query, key, value))
    _check(q, k, v)
    shape, dtype = shape_of(q), k.dtype
    q, k, v = map(_four_axes, (q, k, v))
    logits = _products(q, k, scale, bias)
    visible = _visible(logits, is_causal, local_window_size, query_seq_lengths, key_value_seq_lengths)
    if mask is not None:
        visible.append(_grouped(asarray(mask, np.dtype(bool)), shape_of(k)[2], shape_of(q)[2]))
    for seen in visible:
        lowest = -0.7 * float(b.finfo(logits.dtype).max)  # far below any product, yet no infinity, which gives NaN
        logits = b.select(broadcast_to_shape(seen, shape_of(logits)), logits, lowest)
    weights = convert(special.softmax(logits, -1), dtype)
    found = dot_general(weights, v, (((4,), (1,)), ((0, 1), (0, 2))), preferred_element_type=dtype)
    result = reshape_to(transpose(found, (0, 2, 1, 3, 4)), shape_of(q))
    if query_seq_lengths is not None:
        there = _before(shape_of(q)[1], query_seq_lengths)
        result = b.select(broadcast_to_shape(expand(there, 2, 3), shape_of(result)), result, 0)
    result = reshape_to(result, shape)
    if not return_residual:
        return result
    sums = transpose(convert(special.logsumexp(logits, -1), dtype), (0, 2, 1, 3))
    return result, _constant(reshape_to(sums, shape[:-1]))


def _constant(x: Any) -> Any:
    """Return ``x``, a constant for derivatives."""
    type = TensorType(shape_of(x), x.dtype)
    attributes = make_annotation(STOP_GRADIENT, type)
    return bind1(control_flow.COMPOSITE, x, attributes=attributes, results=[type])


def _products(q: Any, k: Any, scale: float | None, bias: Any) -> Any:
    """Return scaled products of queries and keys, as (b, k, t, g, s).

    Batch axes come first, then what the query alone has, then what the key alone has.
    """
    batch, length, heads, features = shape_of(q)
    groups = shape_of(k)[2]
    wide = k.dtype if k.dtype == np.float64 else np.dtype(np.float32)
    grouped = reshape_to(q, (batch, length, groups, heads // groups, features))
    products = dot_general(grouped, k, (((4,), (3,)), ((0, 2), (0, 2))), preferred_element_type=wide)
    logits = b.multiply(products, 1 / math.sqrt(features) if scale is None else float(scale))
    if bias is None:
        return logits
    return convert(ufuncs.add(logits, _grouped(asarray(bias), groups, heads)), wide)


def _grouped(x: Any, groups: int, heads: int) -> Any:
    """Return an operand of shape (b, n, t, s), any of them 1, as (b, k, t, g, s)."""
    batch, own, length, width = shape_of(_four_axes(x))
    if own not in (1, heads):
        _refuse("bias or mask", x, f"its axis of heads must be {heads} or 1")
    split = (batch, groups, heads // groups, length, width) if own != 1 else (batch, 1, 1, length, width)
    return transpose(reshape_to(x, split), (0, 1, 3, 2, 4))


def _before(length: int, counts: Any) -> Any:
    """Return which positions of each batch element are there."""
    limits = asarray(counts)
    shape = (shape_of(limits)[0], length)
    positions = b.iota_along(shape, 1)
    return b.less(positions, broadcast_to_shape(reshape_to(convert(limits, np.int64), (shape[0], 1)), shape))


def _visible(logits: Any, is_causal: bool, window: int | tuple[int, int] | None, queries: Any, keys: Any) -> list[Any]:
    """Return masks, each of which broadcasts to (b, k, t, g, s), by position."""
    _, _, length, _, width = shape_of(logits)
    offset = np.arange(length)[:, None, None] - np.arange(width)  # how far a key lies before its query
    masks = [offset >= 0] if is_causal else []
    if window is not None:
        before, after = (window, window) if isinstance(window, int) else window
        masks.append((offset <= before) & (offset >= -after))
    found: list[Any] = [asarray(m[None, None]) for m in masks]
    if queries is not None:
        there = _before(length, queries)
        found.append(reshape_to(there, (shape_of(there)[0], 1, length, 1, 1)))
    if keys is not None:
        there = _before(width, keys)
        found.append(reshape_to(there, (shape_of(there)[0], 1, 1, 1, width)))
    return found
