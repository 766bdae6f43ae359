"""Reductions within segments: elements along the first axis that carry one number are combined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.lax.arguments import GatherScatterMode
from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.segments import combine_segments
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DataDependentShapeError, DTypeError
from numhlo.tracer.building import as_traced, asarray, convert, runs_anywhere, spelling
from numhlo.tracer.building import operations as b

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]

COMBINED = {"segment_sum": "add", "segment_prod": "multiply", "segment_max": "maximum", "segment_min": "minimum"}
"""How an element of a segment is combined with the others."""


def _number_of_segments(name: str, ids: Any, num_segments: int | None) -> int:
    if num_segments is None:
        known = as_traced(ids).concrete
        if known is None:
            raise DataDependentShapeError(
                f"{name} of traced segment numbers {spelling(ids)}",
                where=capture_location(),
                why="the number of segments would depend on the greatest of them",
                fix="pass num_segments=",
            )
        return int(known.max(initial=-1)) + 1
    if num_segments < 0:
        raise ArgumentError(f"{name}(num_segments={num_segments})", where=capture_location(), fix="pass 0 or more")
    return int(num_segments)


def _segment(name: str, data: Any, segment_ids: Any, num_segments: int | None, bucket: int | None, mode: Any) -> Any:
    values, ids = asarray(data), asarray(segment_ids)
    if ids.dtype.kind not in "iu":
        raise DTypeError(
            f"{name}: segment numbers are {spelling(ids)}", where=capture_location(), fix="convert them to integers"
        )
    count = _number_of_segments(name, ids, num_segments)
    index = as_traced(convert(ids, np.int64))
    clips = GatherScatterMode.of(mode) is GatherScatterMode.CLIP and count > 0
    # scatter counts negative places from the end, and drops what lies behind it
    index = advanced.bound(index, count, "clip") if clips else b.select(b.less(index, 0), count, index)
    return combine_segments(COMBINED[name], values, index, count, bucket)


def _named(name: str, what: str, empty: str, example: str) -> Callable[..., Any]:
    def rule(
        data: Any,
        segment_ids: Any,
        num_segments: int | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        bucket_size: int | None = None,
        mode: Any = None,
    ) -> Any:
        return _segment(name, data, segment_ids, num_segments, bucket_size, mode)

    rule.__name__ = rule.__qualname__ = name
    rule.__doc__ = _DOCUMENTATION.format(name=name, what=what, empty=empty, example=example)
    return runs_anywhere(rule)


_DOCUMENTATION = """Return the {what} of each segment: of the elements along the first axis that carry its number.

    Parameters
    ----------
    data : array, shape (n, ...)
    segment_ids : array of int, shape (n,)
        The segment of each element; elements whose segment does not exist are dropped.
    num_segments : int, optional
        How many segments there are, ``max(segment_ids) + 1`` by default; required while tracing.
    indices_are_sorted, unique_indices : bool, optional
        Promises about ``segment_ids``, which nothing depends on.
    bucket_size : int, optional
        Combine so many neighbours at a time, then the results: smaller rounding errors.
    mode : optional
        ``"clip"`` moves elements of missing segments to the nearest one.

    Returns
    -------
    array, shape (num_segments, ...)
        Of ``data``'s dtype; {empty} for segments without elements.

    Raises
    ------
    DataDependentShapeError
        If ``segment_ids`` is traced and ``num_segments`` left out.
    DTypeError
        If ``segment_ids`` are no integers.

    Examples
    --------
    >>> {name}(np.array([5, 2, 3, 4]), np.array([0, 2, 2, 0]), num_segments=3)
    {example}
    """

LEAST = "-9223372036854775808"
segment_sum = _named("segment_sum", "sum", "0", "Array([9, 0, 5])")
segment_prod = _named("segment_prod", "product", "1", "Array([20,  1,  6])")
segment_max = _named("segment_max", "greatest element", "the least number", f"Array([ 5, {LEAST},  3])")
segment_min = _named("segment_min", "least element", "the greatest number", "Array([ 4, 9223372036854775807, 2])")
