"""Products of sparse arrays: element by element, contractions, and contractions at some places alone."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax import lax
from numhlo.compat.jax.experimental.sparse.base import broadcast_shape, misfit, refuse
from numhlo.compat.jax.experimental.sparse.elements import StoredElements, extract, places, summed, update_layout
from numhlo.compat.jax.transformations import vmap


class Contraction(NamedTuple):
    """What `lax.dot_general`'s dimension numbers say.

    Attributes
    ----------
    lhs, rhs : tuple of int
        Axes that are summed over.
    lhs_batch, rhs_batch : tuple of int
    """

    lhs: tuple[int, ...]
    rhs: tuple[int, ...]
    lhs_batch: tuple[int, ...]
    rhs_batch: tuple[int, ...]

    def require_equal(self, name: str, lhs: Sequence[int], rhs: Sequence[int]) -> None:
        """Raise where extents differ.

        Raises
        ------
        ShapeError
            If they do.
        """
        for left, right in zip((*self.lhs, *self.lhs_batch), (*self.rhs, *self.rhs_batch), strict=True):
            if lhs[left] != rhs[right]:
                raise misfit(f"{name}: {tuple(lhs)} and {tuple(rhs)} differ along axes {left} and {right}")


def contraction(dimension_numbers: Any) -> Contraction:
    """Return dimension numbers as tuples of integers."""
    (lhs, rhs), (lhs_batch, rhs_batch) = dimension_numbers
    axes = [tuple(map(operator.index, x)) for x in (lhs, rhs, lhs_batch, rhs_batch)]
    if len(axes[0]) != len(axes[1]) or len(axes[2]) != len(axes[3]):
        raise misfit(f"dimension numbers {dimension_numbers} name different numbers of axes")
    return Contraction(*axes)


def bcoo_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Return the product of arrays, of which one or both are sparse, summed over axes.

    Parameters
    ----------
    lhs, rhs : BCOO or array_like
    dimension_numbers : tuple
        ``((lhs axes, rhs axes), (lhs batch, rhs batch))``, as `lax.dot_general` has them.
    precision, out_sharding : optional
        Accepted.
    preferred_element_type : dtype_like, optional
        The result's.

    Returns
    -------
    Array, or BCOO where both are sparse

    Raises
    ------
    UnsupportedError
        If dense axes are summed over, or batch axes are not those of the sparse array.
    ShapeError
        If the axes differ in extent.
    """
    del precision, out_sharding
    numbers = contraction(dimension_numbers)
    if isinstance(lhs, StoredElements) and isinstance(rhs, StoredElements):
        return _sparse_product(lhs, rhs, numbers, preferred_element_type)
    if isinstance(lhs, StoredElements):
        return _dense_product(lhs, jnp.asarray(rhs), numbers, preferred_element_type)
    if not isinstance(rhs, StoredElements):
        return lax.dot_general(lhs, rhs, dimension_numbers, preferred_element_type=preferred_element_type)
    swapped = Contraction(numbers.rhs, numbers.lhs, numbers.rhs_batch, numbers.lhs_batch)
    found = _dense_product(rhs, jnp.asarray(lhs), swapped, preferred_element_type)
    first, own = len(numbers.lhs_batch), rhs.ndim - len(numbers.rhs)
    return jnp.transpose(found, (*range(first), *range(own, found.ndim), *range(first, own)))


def _dense_product(lhs: Any, rhs: Any, numbers: Contraction, wanted: Any) -> Any:
    numbers.require_equal("bcoo_dot_general", lhs.shape, rhs.shape)
    n, last = lhs.n_batch, lhs.n_batch + lhs.n_sparse
    if any(d >= n for d in numbers.lhs_batch):
        refuse(f"bcoo_dot_general with batch axes {numbers.lhs_batch}", f"{n} axes of the sparse array are of batches")
    if any(d >= last for d in numbers.lhs):
        refuse("bcoo_dot_general: contracting over dense dimensions", "use bcoo_update_layout(m, n_dense=0)")
    dtype = wanted or jnp.result_type(lhs.data, rhs)
    pairs = dict(zip((*numbers.lhs_batch, *numbers.lhs), (*numbers.rhs_batch, *numbers.rhs), strict=True))
    free = [k for k in range(rhs.ndim) if k not in pairs.values()]
    at = places(lhs.indices, lhs.shape)
    met = sorted(pairs)
    rows = jnp.transpose(rhs, [*[pairs[k] for k in met], *free])
    if met:
        index = tuple([at[k] for k in met])
        rows = rows.at[index].get(mode="fill", fill_value=0)  # (*batch or 1, nse or 1, *free)
    lead = n + 1 if met else 0
    rows = rows.reshape((*rows.shape[:lead], *[1] * (n + 1 - lead), *[1] * lhs.n_dense, *rows.shape[lead:]))
    data = lhs.data.reshape((*lhs.data.shape, *[1] * len(free)))
    terms = (data * rows).astype(dtype)
    kept = [k for k in range(last) if k not in numbers.lhs]
    order = [*numbers.lhs_batch, *[k for k in kept if k not in numbers.lhs_batch]]
    shape = [*[lhs.shape[k] for k in order], *lhs.shape[last:], *[rhs.shape[k] for k in free]]
    if not order:
        terms = jnp.broadcast_to(terms, (*lhs.shape[:n], lhs.nse, *terms.shape[n + 1 :]))
        return terms.sum(tuple(range(n + 1)), dtype=dtype)
    if len(order) == n and not any(k >= n for k in order):
        terms = jnp.broadcast_to(terms, (*lhs.shape[:n], *terms.shape[n:])).sum(n, dtype=dtype)
        return jnp.transpose(terms, [*order, *range(n, terms.ndim)])
    wide = (*lhs.shape[:n], lhs.nse)
    terms = jnp.broadcast_to(terms, (*wide, *terms.shape[n + 1 :]))
    return jnp.zeros(shape, dtype).at[tuple([jnp.broadcast_to(at[k], wide) for k in order])].add(terms)


def _sparse_product(lhs: Any, rhs: Any, numbers: Contraction, wanted: Any) -> Any:
    numbers.require_equal("bcoo_dot_general", lhs.shape, rhs.shape)
    if lhs.n_dense or rhs.n_dense:
        refuse("the product of sparse arrays with dense axes", "use bcoo_update_layout(m, n_dense=0)")
    for mat, axes, batch in ((lhs, numbers.lhs, numbers.lhs_batch), (rhs, numbers.rhs, numbers.rhs_batch)):
        if any(k >= mat.n_batch for k in batch) or any(k < mat.n_batch for k in axes):
            refuse(
                f"the product of sparse arrays over axes {axes}, batches {batch} of {mat}",
                "use bcoo_update_layout",
                "sums go over sparse axes, and batches are batch axes",
            )
    free = [
        [k for k in range(m.n_batch) if k not in b] for m, b in ((lhs, numbers.lhs_batch), (rhs, numbers.rhs_batch))
    ]
    if free[1] and lhs.n_sparse > len(numbers.lhs):
        raise misfit("bcoo_spdot_general: cannot have unused batch dims on rhs with unused sparse dims on lhs.")
    rest = [
        [k for k in range(m.n_sparse) if k + m.n_batch not in axes]
        for m, axes in ((lhs, numbers.lhs), (rhs, numbers.rhs))
    ]
    extents = [m.sparse_shape[k] for m, own in ((lhs, rest[0]), (rhs, rest[1])) for k in own]
    nse = min((lhs.nse if rest[0] else 1) * (rhs.nse if rest[1] else 1), math.prod(extents))
    met = [[k - m.n_batch for k in axes] for m, axes in ((lhs, numbers.lhs), (rhs, numbers.rhs))]

    def one(left: Any, left_at: Any, right: Any, right_at: Any) -> tuple[Any, Any]:
        x = left_at[:, np.asarray(met[0], int)], right_at[:, np.asarray(met[1], int)]
        ends = jnp.asarray([lhs.sparse_shape[k] for k in met[0]], left_at.dtype)
        alike = (x[0][:, None] == x[1][None, :]).all(-1) & (x[0] < ends).all(-1)[:, None]
        terms = jnp.where(alike, left[:, None] * right[None, :], 0)
        columns = [left_at[:, k][:, None] for k in rest[0]] + [right_at[:, k][None, :] for k in rest[1]]
        dtype = jnp.result_type(left_at, right_at)
        wide = [jnp.broadcast_to(c, alike.shape).astype(dtype).ravel() for c in columns]
        rows = jnp.stack(wide, -1) if wide else jnp.zeros((terms.size, 0), dtype)
        return summed(terms.ravel(), rows, extents, nse)

    for _ in free[1]:
        one = vmap(one, in_axes=(None, None, 0, 0))
    for _ in free[0]:
        one = vmap(one, in_axes=(0, 0, None, None))
    for _ in numbers.lhs_batch:
        one = vmap(one)
    parts = [
        jnp.transpose(x, (*order, *range(m.n_batch, x.ndim)))
        for m, order in ((lhs, (*numbers.lhs_batch, *free[0])), (rhs, (*numbers.rhs_batch, *free[1])))
        for x in whole(m)
    ]
    data, indices = one(*parts)
    dtype = wanted or jnp.result_type(lhs.data, rhs.data)
    first = [*[lhs.shape[k] for k in (*numbers.lhs_batch, *free[0])], *[rhs.shape[k] for k in free[1]]]
    return lhs.like(data.astype(dtype), indices, (*first, *extents))


def whole(mat: Any, n_batch: int | None = None) -> tuple[Any, Any]:
    """Return values and places with their batch axes in full."""
    n = mat.n_batch if n_batch is None else n_batch
    batch = mat.shape[:n]
    return (
        jnp.broadcast_to(mat.data, (*batch, *mat.data.shape[n:])),
        jnp.broadcast_to(mat.indices, (*batch, *mat.indices.shape[n:])),
    )


def bcoo_dot_general_sampled(A: Any, B: Any, indices: Any, *, dimension_numbers: Any) -> Any:
    """Return a contraction of dense arrays at places alone.

    Parameters
    ----------
    A, B : Array
    indices : (*batch, nse, n) Array
    dimension_numbers : tuple
        As those of `lax.dot_general`.

    Returns
    -------
    (*batch, nse, *dense) Array
        Values of a `BCOO` of these places.
    """
    lhs, rhs, at = jnp.asarray(A), jnp.asarray(B), jnp.asarray(indices)
    numbers = contraction(dimension_numbers)
    is_plain = not numbers.lhs_batch and at.ndim == 2 and at.shape[-1] == 2
    if is_plain and lhs.ndim - len(numbers.lhs) == rhs.ndim - len(numbers.rhs) == 1:
        numbers.require_equal("bcoo_dot_general_sampled", lhs.shape, rhs.shape)
        rows = jnp.transpose(lhs, [*[k for k in range(lhs.ndim) if k not in numbers.lhs], *numbers.lhs])
        columns = jnp.transpose(rhs, [*[k for k in range(rhs.ndim) if k not in numbers.rhs], *numbers.rhs])
        terms = _rows(rows, at[:, 0]) * _rows(columns, at[:, 1])
        return terms.sum(tuple(range(1, terms.ndim)), dtype=terms.dtype) if terms.ndim > 1 else terms
    return extract(at, lax.dot_general(lhs, rhs, dimension_numbers))


def _rows(array: Any, at: Any) -> Any:
    return array.at[at].get(mode="fill", fill_value=0)


def bcoo_multiply_dense(sp_mat: Any, v: Any) -> Any:
    """Return the values of the product of a sparse and a dense array, element by element, at the sparse one's places.

    Parameters
    ----------
    sp_mat : BCOO
    v : array_like
        Of its shape, or one that is broadcast to it.

    Raises
    ------
    UnsupportedError
        If the product would have another shape.
    """
    factor: Any = v if isinstance(v, int | float | complex) else jnp.asarray(v)
    if not getattr(factor, "ndim", 0):
        return sp_mat.data * factor
    if broadcast_shape(factor.shape, sp_mat.shape) != sp_mat.shape:
        refuse(
            f"the product of a sparse array {sp_mat.shape} and a dense one {factor.shape}",
            "use m.todense() * x",
            "it would have another shape than the sparse one",
        )
    wide = factor.reshape((*[1] * (sp_mat.ndim - factor.ndim), *factor.shape))
    if wide.shape == sp_mat.shape:
        return sp_mat.data * extract(sp_mat.indices, wide)
    at = places(sp_mat.indices, sp_mat.shape)
    at = tuple([0 if n == 1 else k for k, n in zip(at, wide.shape, strict=False)])
    found = wide[at]
    lead = sp_mat.n_batch + 1 if any(not isinstance(k, int) for k in at) else 0
    found = found.reshape((*[1] * (sp_mat.n_batch + 1 - lead), *found.shape))
    return sp_mat.data * found


def bcoo_multiply_sparse(lhs: Any, rhs: Any) -> Any:
    """Return the product of two sparse arrays, element by element.

    Parameters
    ----------
    lhs, rhs : BCOO
        Of as many axes, as many of them dense.

    Returns
    -------
    BCOO
        Of as many stored elements as there are pairs, of which those that meet come first.
    """
    if lhs.ndim != rhs.ndim:
        raise misfit(f"bcoo_multiply_sparse: arrays must have same number of dimensions, got {lhs.shape}, {rhs.shape}")
    if lhs.n_dense != rhs.n_dense:
        refuse("the product of sparse arrays with different numbers of dense axes", "use bcoo_update_layout")
    shape = broadcast_shape(lhs.shape, rhs.shape)
    n = min(lhs.n_batch, rhs.n_batch)
    lhs, rhs = (update_layout(m, n_batch=n) if m.n_batch > n else m for m in (lhs, rhs))
    ends = shape[n : n + lhs.n_sparse]
    one = _meeting(lhs.sparse_shape, rhs.sparse_shape, ends)
    for k in reversed(range(n)):
        axes = [None if m.shape[k] == 1 != shape[k] else 0 for m in (lhs, rhs)]
        one = _over_batch(one, axes)
    data, indices = one(*whole(lhs), *whole(rhs))
    return lhs.like(data, indices, shape)


def _over_batch(function: Any, axes: Sequence[int | None]) -> Any:
    mapped = vmap(function, in_axes=(axes[0], axes[0], axes[1], axes[1]))

    def over(left: Any, left_at: Any, right: Any, right_at: Any) -> Any:
        given = [
            x[0] if a is None else x
            for x, a in zip((left, left_at, right, right_at), (axes[0], axes[0], axes[1], axes[1]), strict=True)
        ]
        return mapped(*given)

    return over


def _meeting(left_shape: Sequence[int], right_shape: Sequence[int], ends: Sequence[int]) -> Any:
    """Return the function that multiplies elements that meet, of one batch."""
    both = [k for k, (a, b) in enumerate(zip(left_shape, right_shape, strict=True)) if a != 1 and b != 1]

    def one(left: Any, left_at: Any, right: Any, right_at: Any) -> tuple[Any, Any]:
        inside = [
            (at < jnp.asarray(shape, at.dtype)).all(-1)
            for at, shape in ((left_at, left_shape), (right_at, right_shape))
        ]
        alike = (left_at[:, None, np.asarray(both, int)] == right_at[None, :, np.asarray(both, int)]).all(-1)
        alike = alike & inside[0][:, None] & inside[1][None, :]
        counts = left_at.shape[0], right_at.shape[0]
        i, j = jnp.nonzero(alike, size=counts[0] * counts[1], fill_value=counts)
        data = _rows(left, i) * _rows(right, j)
        fills = max(ends, default=0)
        pair = [at.at[k].get(mode="fill", fill_value=fills) for at, k in ((left_at, i), (right_at, j))]
        return data, jnp.maximum(*pair)

    return one


def bcoo_conv_general_dilated(  # noqa: PLR0913 - JAX's parameters
    lhs: Any,
    rhs: Any,
    *,
    window_strides: Any = None,
    padding: Any = "VALID",
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Return the correlation of two signals ``(1, 1, n)``, of which one or both are sparse.

    Parameters
    ----------
    lhs, rhs : BCOO or Array
    padding : str or sequence of (int, int)
    window_strides, lhs_dilation, rhs_dilation, feature_group_count, batch_group_count : optional
        Those of `lax.conv_general_dilated`, which must be 1.
    dimension_numbers, precision, preferred_element_type, out_sharding : optional
        Accepted.

    Raises
    ------
    UnsupportedError
        If there are several batches or features, strides or dilations.
    """
    del dimension_numbers, precision, preferred_element_type, out_sharding
    others = [n for option in (window_strides, lhs_dilation, rhs_dilation) if option is not None for n in option]
    if lhs.ndim != 3 or rhs.ndim != 3 or {*lhs.shape[:2], *rhs.shape[:2]} != {1}:
        refuse(f"bcoo convolution of {lhs.shape} and {rhs.shape}", "give both as (1, 1, n)")
    if {*others, feature_group_count, batch_group_count} != {1}:
        refuse("bcoo convolution with strides, dilations or groups", "use m.todense()")
    sizes = lhs.shape[2], rhs.shape[2]
    low, high = lax.padtype_to_pads(sizes[:1], sizes[1:], (1,), padding)[0] if isinstance(padding, str) else padding[0]
    (left, left_at), (right, right_at) = _signal(lhs), _signal(rhs)
    data = (left[:, None] * right[None, :]).ravel()
    at = (left_at[:, None] + (low - right_at)[None, :]).ravel()
    count = max(0, sizes[0] + low + high - sizes[1] + 1)
    data, at = jnp.where(at < 0, 0, data), jnp.where(at < 0, 0, at)
    sparse: Any = lhs if isinstance(lhs, StoredElements) else rhs
    return sparse.like(data[None, None], at[None, None, :, None], (1, 1, count))


def _signal(x: Any) -> tuple[Any, Any]:
    if not isinstance(x, StoredElements):
        return jnp.asarray(x)[0, 0], jnp.arange(x.shape[-1], dtype="int32")
    mat = update_layout(x, n_batch=2, n_dense=0)
    data, at = (part[0, 0] for part in whole(mat))
    return jnp.where(at[:, 0] < x.shape[-1], data, 0), at[:, 0]
