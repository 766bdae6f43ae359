"""What NumPy's ufuncs have as methods, traced: ``reduce``, ``accumulate``, ``outer`` and ``at``.

Only ufuncs whose order of combination doesn't matter for the mathematical result can be reduced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.namespace import cumulative, reductions
from numhlo.tracer.namespace import elementwise as ufuncs
from numhlo.tracer.namespace.advanced_indexing import COMBINERS
from numhlo.tracer.namespace.at import update_in_place
from numhlo.tracer.namespace.core import asarray, reshape_to, shape_of
from numhlo.tracer.namespace.elementwise import METHODS, Ufunc, store
from numhlo.tracer.namespace.index_items import as_traced
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


METHODS.update(reduce=_reduce, accumulate=_accumulate, outer=_outer, at=_at)
