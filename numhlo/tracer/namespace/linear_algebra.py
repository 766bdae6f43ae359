"""Products of arrays: matmul, dot, tensordot, einsum and their kin, over one dot_general."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ShapeError
from numhlo.lowering.ops import contraction
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers
from numhlo.tracer.bind import bind1
from numhlo.tracer.namespace import elementwise as ufuncs
from numhlo.tracer.namespace import manipulation, reductions
from numhlo.tracer.namespace.core import (
    FUNCTIONS,
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
from numhlo.tracer.namespace.index_items import as_traced
from numhlo.tracer.namespace.source_names import operand_names

__all__ = [
    "dot",
    "einsum",
    "einsum_path",
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


@implements(np.matmul)
def matmul(x1: Any, x2: Any, /, out: Any = None, *, dtype: Any = None, **options: Any) -> Any:
    """Return the matrix product; leading axes are batches and broadcast.

    Examples
    --------
    >>> matmul(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    Array([3, 7])
    """
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
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1, **options: Any) -> Any:
    """Return dot products of vectors along an axis, the first one conjugated.

    Examples
    --------
    >>> vecdot([[1, 2], [3, 4]], [1, 1])
    Array([3, 7])
    """
    x, y = _promoted(x1, x2)
    x, y = manipulation.moveaxis(x, axis, -1), manipulation.moveaxis(y, axis, -1)
    if x.shape[-1] != y.shape[-1]:
        raise _mismatch("vecdot", x, y, x.shape[-1], y.shape[-1])
    shape = broadcast_shapes(x.shape, y.shape, name="vecdot")
    n = len(shape) - 1
    x, y = broadcast_to_shape(_conjugate(x), shape), broadcast_to_shape(y, shape)
    return contract(x, y, ((n,), (n,)), (range(n), range(n)))


def _eager_matvec(x1: Any, x2: Any, /, **options: Any) -> Any:
    return np.matmul(x1, np.asarray(x2)[..., None], **options)[..., 0]


def _eager_vecmat(x1: Any, x2: Any, /, **options: Any) -> Any:
    return np.matmul(np.conjugate(x1)[..., None, :], x2, **options)[..., 0, :]


@implements(*[f for f in (getattr(np, "matvec", None),) if f], eager=_eager_matvec)
def matvec(x1: Any, x2: Any, /, **options: Any) -> Any:
    """Return products of matrices and vectors in the last axes.

    Examples
    --------
    >>> matvec([[1, 2], [3, 4]], [1, 1])
    Array([3, 7])
    """
    product = matmul(x1, expand(asarray(x2), -1), **options)
    return manipulation.squeeze(product, -1)


@implements(*[f for f in (getattr(np, "vecmat", None),) if f], eager=_eager_vecmat)
def vecmat(x1: Any, x2: Any, /, **options: Any) -> Any:
    """Return products of vectors, conjugated, and matrices in the last axes.

    Examples
    --------
    >>> vecmat([1, 1], [[1, 2], [3, 4]])
    Array([4, 6])
    """
    product = matmul(expand(_conjugate(asarray(x1)), -2), x2, **options)
    return manipulation.squeeze(product, -2)


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


@implements(np.einsum)
def einsum(
    subscripts: Any, /, *operands: Any, out: Any = None, optimize: Any = True, dtype: Any = None, **options: Any
) -> Any:
    """Return the Einstein sum that a subscripts string describes, contracted pair by pair.

    Examples
    --------
    >>> einsum("ij->j", np.array([[1, 2], [3, 4]]))
    Array([4, 6])
    """
    if not isinstance(subscripts, str):
        subscripts, operands = _from_sublists(subscripts, operands)
    arrays = [asarray(x) for x in operands]
    wanted = result_dtype(*arrays) if dtype is None else np.dtype(dtype)
    arrays = [convert(x, wanted) for x in arrays]
    inputs, output = _parse_subscripts(subscripts, [len(shape_of(x)) for x in arrays])
    terms = [_sum_diagonals(as_traced(x), labels) for x, labels in zip(arrays, inputs, strict=True)]
    for first, second in _contraction_order(subscripts, arrays, optimize):
        left, right = terms[first], terms[second]
        terms = [t for k, t in enumerate(terms) if k not in (first, second)]
        kept = set(output) | {label for _, labels in terms for label in labels}
        terms.append(_contract_pair(left, right, kept))
    array, labels = _sum_out(*terms[0], set(output))
    return store("einsum", manipulation.transpose(array, [labels.index(k) for k in output]), out, True)


def einsum_path(subscripts: Any, *operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """Return the order in which `einsum` contracts its operands, and a description; only their shapes matter."""
    shapes = [np.broadcast_to(np.empty(()), shape_of(asarray(x))) for x in operands]
    return np.einsum_path(subscripts, *shapes, optimize=optimize, einsum_call=einsum_call)  # type: ignore[arg-type]


FUNCTIONS[np.einsum_path] = einsum_path


def _from_sublists(first: Any, rest: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    parts = [first, *rest]
    operands, lists = parts[0 : len(parts) // 2 * 2 : 2], parts[1::2]
    text = ",".join(_spell_labels(labels) for labels in lists)
    return (f"{text}->{_spell_labels(parts[-1])}" if len(parts) % 2 else text), tuple(operands)


def _spell_labels(labels: Sequence[Any]) -> str:
    return "".join("..." if k is Ellipsis else string.ascii_letters[k] for k in labels)


def _parse_subscripts(subscripts: str, ranks: list[int]) -> tuple[list[str], str]:
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ranks):
        raise ValueError("number of einsum subscripts must be equal to the number of operands")
    spare = [c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in text]
    widths = [
        rank - len(term.replace("...", "")) if "..." in term else 0 for term, rank in zip(inputs, ranks, strict=True)
    ]
    width = max(widths, default=0)
    broadcast = "".join(reversed(spare[:width]))
    inputs = [t.replace("...", broadcast[width - w :]) for t, w in zip(inputs, widths, strict=True)]
    for term, rank in zip(inputs, ranks, strict=True):
        if len(term) != rank:
            raise ValueError(f"einstein sum subscripts string {term!r} does not match the operand's {rank} dimensions")
    counted = "".join(inputs)
    implied = broadcast + "".join(sorted(c for c in set(counted) - set(broadcast) if counted.count(c) == 1))
    output = right.replace("...", broadcast) if arrow else implied
    unknown = set(output) - set(counted)
    if unknown:
        raise ValueError(
            f"einstein sum subscripts string included output subscript {sorted(unknown)[0]!r} "
            "which never appeared in an input"
        )
    return inputs, output


def _contraction_order(subscripts: str, arrays: list[Any], optimize: Any) -> list[tuple[int, int]]:
    if len(arrays) < 3:
        return [(0, 1)] if len(arrays) == 2 else []
    shapes = [np.broadcast_to(np.empty(()), shape_of(x)) for x in arrays]
    path = np.einsum_path(subscripts, *shapes, optimize="greedy" if optimize in (True, False) else optimize)[0][1:]
    pairs: list[tuple[int, int]] = []
    for step in path:
        places = sorted(step)
        pairs.append((places[0], places[1])) if len(places) == 2 else pairs.extend((0, 1) for _ in places[1:])
    return pairs


def _sum_diagonals(x: Any, labels: str) -> tuple[Any, str]:
    while len(set(labels)) < len(labels):
        label = next(c for c in labels if labels.count(c) > 1)
        first = labels.index(label)
        second = labels.index(label, first + 1)
        x = manipulation.diagonal(x, 0, first, second)
        labels = "".join(c for k, c in enumerate(labels) if k not in (first, second)) + label
    return x, labels


def _sum_out(x: Any, labels: str, kept: set[str]) -> tuple[Any, str]:
    axes = tuple(k for k, c in enumerate(labels) if c not in kept)
    if not axes:
        return x, labels
    return reductions.sum(x, axes, x.dtype), "".join(c for c in labels if c in kept)


def _contract_pair(left: tuple[Any, str], right: tuple[Any, str], kept: set[str]) -> tuple[Any, str]:
    x, a = _sum_out(*left, kept | set(right[1]))
    y, b = _sum_out(*right, kept | set(left[1]))
    x, y = _match_units(x, a, y, b)
    shared = [c for c in a if c in b]
    batch = [c for c in shared if c in kept]
    summed = [c for c in shared if c not in kept]
    places = [([a.index(c) for c in group], [b.index(c) for c in group]) for group in (summed, batch)]
    result = contract(x, y, (places[0][0], places[0][1]), (places[1][0], places[1][1]))
    labels = "".join(batch) + "".join(c for c in a if c not in shared) + "".join(c for c in b if c not in shared)
    return result, labels


def _match_units(x: Any, a: str, y: Any, b: str) -> tuple[Any, Any]:
    """Broadcast axes of extent 1 against the other operand's axis of the same label."""
    extents: dict[str, int] = {}
    for labels, shape in ((a, shape_of(x)), (b, shape_of(y))):
        for label, extent in zip(labels, shape, strict=True):
            known = extents.setdefault(label, extent)
            if known != extent and 1 not in (known, extent):
                raise ShapeError(f"einsum: label {label!r} has extents {known} and {extent}", where=capture_location())
            extents[label] = max(known, extent) if known != extent else known
    wide = [tuple(extents[c] for c in labels) for labels in (a, b)]
    return broadcast_to_shape(x, wide[0]), broadcast_to_shape(y, wide[1])
