"""What NumPy's ufuncs have as methods, traced: ``reduce``, ``accumulate``, ``reduceat``, ``outer`` and ``at``.

Only ufuncs whose order of combination doesn't matter for the mathematical result can be reduced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import AxisOutOfBoundsError, UnsupportedError
from numhlo.tracer.namespace import cumulative, reductions, segments
from numhlo.tracer.namespace import elementwise as ufuncs
from numhlo.tracer.namespace.advanced_indexing import COMBINERS
from numhlo.tracer.namespace.at import update_in_place
from numhlo.tracer.namespace.axis_order import moveaxis
from numhlo.tracer.namespace.core import asarray, convert, reshape_to, result_dtype, shape_of
from numhlo.tracer.namespace.elementwise import METHODS, Ufunc, store
from numhlo.tracer.namespace.index_items import as_traced
from numhlo.tracer.namespace.indexing import take
from numhlo.tracer.trace import Tracer

REDUCTIONS: dict[Ufunc, Callable[..., Any]] = {
    ufuncs.add: reductions.sum,
    ufuncs.multiply: reductions.prod,
    ufuncs.maximum: reductions.max,
    ufuncs.minimum: reductions.min,
    ufuncs.logical_and: reductions.all,
    ufuncs.logical_or: reductions.any,
    ufuncs.bitwise_and: reductions.bitwise_and_reduce,
    ufuncs.bitwise_or: reductions.bitwise_or_reduce,
    ufuncs.bitwise_xor: reductions.bitwise_xor_reduce,
}
RUNNING: dict[Ufunc, str] = {
    ufuncs.add: "cumsum",
    ufuncs.multiply: "cumprod",
    ufuncs.maximum: "cummax",
    ufuncs.minimum: "cummin",
}
SEGMENTS: dict[Ufunc, Callable[..., Any]] = {
    ufuncs.add: segments.segment_sum,
    ufuncs.multiply: segments.segment_prod,
    ufuncs.maximum: segments.segment_max,
    ufuncs.minimum: segments.segment_min,
}


def _reduce(
    ufunc: Ufunc,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = reductions.NO_VALUE,
    where: Any = True,
) -> Any:
    found = REDUCTIONS.get(ufunc)
    if found is None:
        _refuse(ufunc, "reduce")
    options: dict[str, Any] = {"axis": axis, "out": out, "keepdims": keepdims, "where": where}
    if dtype is not None:
        options["dtype"] = dtype
    if initial is not reductions.NO_VALUE:
        options["initial"] = initial
    return found(asarray(array), **options)


def _accumulate(ufunc: Ufunc, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    kind = RUNNING.get(ufunc)
    if kind is None:
        _refuse(ufunc, "accumulate")
    return cumulative.running(kind, array, axis, dtype, out)


def _reduceat(ufunc: Ufunc, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    combine = SEGMENTS.get(ufunc)
    if combine is None:
        _refuse(ufunc, "reduceat")
    given = indices.concretize("reduceat's indices", "pass constants") if isinstance(indices, Tracer) else indices
    starts = np.asarray(given, np.int64)
    rows = moveaxis(asarray(array), axis, 0)
    extent = shape_of(rows)[0]
    outside = starts[(starts < 0) | (starts >= extent)]
    if outside.size:
        raise AxisOutOfBoundsError(
            f"index {outside[0]} out-of-bounds in {ufunc.__name__}.reduceat [0, {extent})", where=capture_location()
        )
    ends = np.append(starts[1:], extent)
    lengths = np.where(ends > starts, ends - starts, 1)  # as NumPy: an index that is not below the next stands alone
    first = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    chosen = take(rows, first + np.arange(lengths.sum()), axis=0)
    wanted = ufunc.ufunc.reduceat(np.zeros(1, result_dtype(array)), [0], dtype=dtype).dtype
    result = combine(convert(chosen, wanted), np.repeat(np.arange(len(starts)), lengths), len(starts))
    result = moveaxis(result, 0, axis)
    return result if out is None else store(f"{ufunc.__name__}.reduceat", result, out)


def _outer(ufunc: Ufunc, A: Any, B: Any, **options: Any) -> Any:
    x, y = asarray(A), asarray(B)
    column = reshape_to(x, (*shape_of(x), *[1] * len(shape_of(y))))
    return ufunc(column, y, **options)


def _at(ufunc: Ufunc, a: Any, indices: Any, b: Any = None) -> None:
    if not isinstance(a, Tracer):
        store(f"{ufunc.__name__}.at", b, a)
    if ufunc is ufuncs.subtract:
        update_in_place(a, indices, b, "subtract")
    elif ufunc.__name__ in COMBINERS:
        update_in_place(a, indices, b, {"maximum": "maximum", "minimum": "minimum"}.get(ufunc.__name__, ufunc.__name__))
    elif ufunc.nin == 1:
        a[indices] = ufunc(as_traced(a)[indices])  # type: ignore[index]
    else:
        _refuse(ufunc, "at")


def _refuse(ufunc: Ufunc, method: str) -> NoReturn:
    raise UnsupportedError(
        f"numpy.{ufunc.__name__}.{method} of a traced array",
        where=capture_location(),
        why="the result would depend on the order in which elements are combined",
        fix="write the loop with lax.scan, or compute it outside the traced function",
    )


METHODS.update(reduce=_reduce, accumulate=_accumulate, reduceat=_reduceat, outer=_outer, at=_at)
