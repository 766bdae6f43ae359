"""Sums of products by Einstein's convention, two arrays at a time."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.library.numpy import axis_order, reductions, reshaping
from numhlo.library.numpy.out_arrays import store
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError
from numhlo.tracer.building import (
    FUNCTIONS,
    as_traced,
    asarray,
    broadcast_to_shape,
    contract,
    convert,
    implements,
    memory_order,
    require_casting,
    result_dtype,
    shape_of,
    traces_narrow_floats,
)

__all__ = [
    "einsum",
    "einsum_path",
]


@traces_narrow_floats
@implements(np.einsum)
def einsum(
    subscripts: Any, /, *operands: Any, out: Any = None, optimize: Any = True, dtype: Any = None, **options: Any
) -> Any:
    """Return the Einstein sum that a subscripts string describes, contracted pair by pair.

    Parameters
    ----------
    subscripts : str
        Labels of all axes: ``"ij,jk->ik"``. An ellipsis stands for axes that broadcast; without the arrow, labels that
        occur once are those of the result, in alphabetical order. Or operands and lists of integers in turn.
    *operands : array_like
    out : Array, optional
        Where the result is written.
    optimize : bool, str or path, optional
        The order of contraction, as of `einsum_path`; pairs in the greedy order unless a path or method is given.
    dtype : dtype, optional
        In which is computed; by default the common one. Ignored, as by NumPy, where nothing is summed or multiplied.
    **options
        NumPy's ``casting``, "safe" unless given; and ``order``, without a meaning while tracing.

    Returns
    -------
    Array

    Raises
    ------
    DTypeError
        If ``casting`` forbids the conversion to ``dtype``.
    ShapeError
        If a label has two extents, neither of which is 1.
    ValueError
        If the subscripts do not fit the operands.

    Examples
    --------
    >>> einsum("ij->j", np.array([[1, 2], [3, 4]]))
    Array([4, 6])
    """
    memory_order(options.get("order"))
    for name in options.keys() - {"casting", "order"}:
        raise TypeError(f"einsum() got an unexpected keyword argument {name!r}")
    if not isinstance(subscripts, str):
        subscripts, operands = _from_sublists(subscripts, operands)
    arrays = [asarray(x) for x in operands]
    inputs, output = _parse_subscripts(subscripts, [len(shape_of(x)) for x in arrays])
    only_seen = len(arrays) == 1 and out is None and set(inputs[0]) == set(output)  # a view, whose dtype is the array's
    wanted = result_dtype(*arrays) if dtype is None or only_seen else np.dtype(dtype)
    require_casting("einsum", arrays, wanted, options.get("casting", "safe"))
    arrays = [convert(x, wanted) for x in arrays]
    terms = [_sum_diagonals(as_traced(x), labels) for x, labels in zip(arrays, inputs, strict=True)]
    for first, second in _contraction_order(subscripts, arrays, optimize):
        left, right = terms[first], terms[second]
        terms = [t for k, t in enumerate(terms) if k not in (first, second)]
        kept = set(output) | {label for _, labels in terms for label in labels}
        terms.append(_contract_pair(left, right, kept))
    array, labels = _sum_out(*terms[0], set(output))
    return store("einsum", axis_order.transpose(array, [labels.index(k) for k in output]), out, exact=True)


def einsum_path(subscripts: Any, *operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """Return the order in which `einsum` contracts its operands, and a description; only their shapes matter.

    Parameters
    ----------
    subscripts : str
        As those of `einsum`.
    *operands : array_like
        They may be traced.
    optimize : bool, str or path, optional
    einsum_call : bool, optional
        NumPy's own.

    Returns
    -------
    tuple of list and str

    Examples
    --------
    >>> einsum_path("ij,jk,k->i", np.ones((2, 3)), np.ones((3, 4)), np.ones(4))[0]
    ['einsum_path', (1, 2), (0, 1)]
    """
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
        if x.shape[first] != x.shape[second]:
            raise ValueError(
                f"dimensions in operand {labels!r} for collapsing index '{label}' don't match "
                f"({x.shape[first]} != {x.shape[second]})"
            )
        x = reshaping.diagonal_view(x, 0, first, second, writable=True)
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
