"""NumPy's functions of ``x[mask]`` with a traced mask, by name: what they give without the number of elements.

Functions of each element are computed on the whole array; sums and extremes leave out what the mask does. Operators and
the plain reductions are the class's own, in `selected`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import reductions
from numhlo.library.numpy.cumulative import cumsum
from numhlo.library.numpy.indexing.selected import ANYWHERE, CALLS, Selected, covariance, first_ones, worst
from numhlo.library.numpy.joining import stack
from numhlo.tracer.building import FUNCTIONS, Unsized, as_traced, convert, expand, reshape_to
from numhlo.tracer.building import operations as b

EACH = (
    np.angle, np.around, np.clip, np.fix, np.full_like, np.imag, np.isclose, np.nan_to_num, np.ones_like, np.real,
    np.round, np.sinc, np.where, np.zeros_like,
)  # fmt: skip
"""What is computed of each element, and of others that meet it."""

BY_TABLE = (np.digitize, np.interp, np.isin)
"""What is computed of each element by tables, which are no elements."""

AFTER_TABLE = (np.polyval, np.searchsorted, np.take)
"""The same, of functions whose first argument is the table."""

traced = FUNCTIONS.__getitem__
METHODS = ("argmax", "argmin", "clip", "conj", "conjugate", "cumsum", "dot", "flatten", "ravel", "round")


def _each(function: Any) -> Callable[..., Any]:
    def call(chosen: Selected, *args: Any, **options: Any) -> Selected:
        if options.get("out") is not None:
            chosen.refuse()
        others = {name: chosen.whole(value) for name, value in options.items()}
        return chosen.with_values(traced(function)(chosen.values, *map(chosen.whole, args), **others))

    return call


def _by_table(function: Any) -> Callable[..., Any]:
    return lambda chosen, *tables, **options: chosen.with_values(traced(function)(chosen.values, *tables, **options))


def _after_table(function: Any) -> Callable[..., Any]:
    def call(chosen: Selected, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return a function of elements by a table; positions that are left out are the first."""
        tables = (x for k, x in enumerate((*args, *options.values())) if not (k == 1 and x is chosen))
        if len(args) < 2 or args[1] is not chosen or any(isinstance(x, Unsized) for x in tables):
            chosen.refuse()
        values = b.select(chosen.whole_mask, chosen.values, 0) if function is np.take else chosen.values
        if function is np.take and options.keys() - {"mode"}:
            chosen.refuse()
        return chosen.with_values(traced(function)(args[0], values, *args[2:], **options))

    return call


def _select(chosen: Selected, args: tuple[Any, ...], options: dict[str, Any]) -> Selected:
    conditions, choices, *default = (*args, *options.values())
    lists = ([chosen.whole(x) for x in items] for items in (conditions, choices))
    return chosen.with_values(traced(np.select)(*lists, *map(chosen.whole, default)))


def _piecewise(chosen: Selected, conditions: Any, functions: Any, *args: Any, **options: Any) -> Selected:
    whole = [chosen.whole(x) for x in (conditions if isinstance(conditions, list | tuple) else [conditions])]
    return chosen.with_values(traced(np.piecewise)(chosen.values, whole, functions, *args, **options))


def _where(chosen: Selected, args: tuple[Any, ...], options: dict[str, Any]) -> Selected:
    return chosen.with_values(traced(np.where)(*map(chosen.whole, args)))


def _pairs(chosen: Selected, y: Any) -> Selected:
    """Return elements beside others, in rows of two."""
    _require_numbers(chosen)
    return chosen.with_values(stack([chosen.values, chosen.whole(y)], -1))


def _covariance(chosen: Selected, y: Any = None, **options: Any) -> Any:
    if options.keys() - {"ddof", "bias"}:
        chosen.refuse()
    ddof, bias = options.get("ddof"), options.get("bias", False)
    if y is not None:
        return covariance(_pairs(chosen, y), ddof=ddof, bias=bias)
    _require_numbers(chosen)
    return chosen.var(ddof=(0 if bias else 1) if ddof is None else ddof)


def _correlation(chosen: Selected, y: Any) -> Any:
    found = covariance(_pairs(chosen, y))
    deviations = ufuncs.sqrt(as_traced(reshape_to(found, (4,)))[::3])  # type: ignore[index]
    return ufuncs.divide(found, ufuncs.multiply(expand(deviations, 1), expand(deviations, 0)))


def _least_squares(chosen: Selected, right: Any, rcond: Any = None) -> Any:
    """Return the solution of equations some of which are left out: a row of zeros changes nothing."""
    if chosen.ndim != 2 or not isinstance(right, Selected) or not chosen.matches(right):
        chosen.refuse()
    return traced(np.linalg.lstsq)(chosen.filled(), right.filled(), rcond)


def _require_numbers(chosen: Selected) -> None:
    """Refuse rows."""
    if chosen.ndim != 1:
        chosen.refuse()


def _place_of_extreme(kind: str) -> Callable[..., Any]:
    search: Any = np.argmax if kind == "max" else np.argmin

    def call(chosen: Selected, axis: int | None = None) -> Any:
        """Return which of the elements is the greatest or least, the first of equals."""
        _require_numbers(chosen)
        found = traced(search)(b.select(chosen.whole_mask, chosen.values, worst(kind, chosen.dtype)))
        before: Any = as_traced(cumsum(reshape_to(chosen.mask, (chosen.mask.size,))))
        return ufuncs.maximum(before[found] - 1, 0)  # an element left out is found first where all are the worst

    return call


def _running_sum(chosen: Selected, axis: int | None = None) -> Selected:
    """Return the sums up to each element."""
    _require_numbers(chosen)
    flat = reshape_to(b.select(chosen.whole_mask, chosen.values, 0), (chosen.mask.size,))
    return chosen.with_values(reshape_to(cumsum(flat), chosen.mask.shape))


def _running_product(chosen: Selected, axis: int | None = None) -> Selected:
    """Return the products up to each element."""
    _require_numbers(chosen)
    flat = reshape_to(b.select(chosen.whole_mask, chosen.values, 1), (chosen.mask.size,))
    return chosen.with_values(reshape_to(traced(np.cumprod)(flat), chosen.mask.shape))


def _sorted(chosen: Selected, axis: int = -1) -> Selected:
    """Return the elements sorted: what is left out comes last, as NaN do."""
    _require_numbers(chosen)
    last = np.nan if chosen.dtype.kind in "fc" else worst("min", chosen.dtype)
    flat = reshape_to(b.select(chosen.whole_mask, chosen.values, last), (chosen.mask.size,))
    return first_ones(chosen.spread, traced(np.sort)(flat), reductions.sum(chosen.mask))


def _differences(chosen: Selected) -> Selected:
    """Return the differences of elements that follow each other."""
    _require_numbers(chosen)
    if chosen.mask.size < 2:
        chosen.refuse()
    line, count, _, _ = chosen.as_result()
    return first_ones(chosen.spread, traced(np.diff)(line), ufuncs.subtract(count, 1))


def _histogram(
    chosen: Selected, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Any]:
    """Return how many elements are in each bin: the whole array's, where those left out have no weight."""
    _require_numbers(chosen)
    if np.ndim(bins) == 0 and range is None:
        range = (chosen.min(), chosen.max())
    weight = np.ones(chosen.mask.shape, np.int64) if weights is None else chosen.whole(weights)
    counted = b.select(chosen.mask, weight, 0)
    counts, edges = traced(np.histogram)(chosen.values, bins, range, density, counted)
    return counts if density or weights is not None else convert(counts, np.int64), edges


def _without_nan(name: str) -> Callable[..., Any]:
    def call(chosen: Selected, *args: Any, **options: Any) -> Any:
        _require_numbers(chosen)
        return getattr(chosen[ufuncs.logical_not(ufuncs.isnan(chosen))], name)(*args, **options)

    return call


def _average(chosen: Selected, axis: Any = None, weights: Any = None) -> Any:
    if weights is None:
        return chosen.mean(axis)
    _require_numbers(chosen)
    weight = chosen.with_values(chosen.whole(weights))
    return ufuncs.multiply(chosen, weight).sum() / weight.sum()


def _product(chosen: Selected, other: Any) -> Any:
    return chosen @ other


def _product_of_conjugate(chosen: Selected, other: Any) -> Any:
    _require_numbers(chosen)
    return ufuncs.conjugate(chosen) @ other


def _fit(chosen: Selected, y: Any, deg: int, *, w: Any = None) -> Any:
    """Return a polynomial's coefficients by least squares, where those left out have no weight."""
    _require_numbers(chosen)
    flat = (chosen.mask.size,)
    weights = convert(reshape_to(chosen.mask, flat), np.float64)
    if w is not None:
        weights = b.select(reshape_to(chosen.mask, flat), reshape_to(convert(chosen.whole(w), np.float64), flat), 0.0)
    return traced(np.polyfit)(reshape_to(chosen.values, flat), reshape_to(chosen.whole(y), flat), deg, w=weights)


def _as_array(chosen: Selected, dtype: Any = None, *, copy: bool | None = None, order: str = "K") -> Selected:
    """Return the elements in another dtype; they are never written in place, so that none need be copied."""
    return chosen if dtype is None else chosen.astype(dtype)


def _in_order(chosen: Selected, order: str = "C") -> Selected:
    """Return the elements, of which there is one order."""
    return chosen


CALLS.update(
    {function.__name__: _each(function) for function in EACH},
    **{function.__name__: _by_table(function) for function in BY_TABLE},
    **{f"nan{name}": _without_nan(name) for name in ("sum", "mean", "max", "min", "prod", "std", "var")},
    **dict.fromkeys(("array", "asarray", "asanyarray", "ascontiguousarray"), _as_array),
    **dict.fromkeys(("copy", "flatten", "ravel"), _in_order),
    allclose=lambda chosen, *args, **options: CALLS["isclose"](chosen, *args, **options).all(),
    argmax=_place_of_extreme("max"),
    argmin=_place_of_extreme("min"),
    average=_average,
    conj=ufuncs.conjugate,
    corrcoef=_correlation,
    cov=_covariance,
    lstsq=_least_squares,
    piecewise=_piecewise,
    conjugate=ufuncs.conjugate,
    count_nonzero=lambda chosen: ufuncs.not_equal(chosen, 0).sum(),
    cumprod=_running_product,
    cumsum=_running_sum,
    diff=_differences,
    dot=_product,
    histogram=_histogram,
    inner=_product,
    polyfit=_fit,
    sort=_sorted,
    ptp=lambda chosen: ufuncs.subtract(chosen.max(), chosen.min()),
    vdot=_product_of_conjugate,
)


ANYWHERE.update({function.__name__: _after_table(function) for function in AFTER_TABLE}, select=_select, where=_where)


def _attach() -> None:
    """Give `Selected` the methods of arrays that are functions here."""
    for name in METHODS:
        setattr(Selected, name, lambda self, *args, _name=name, **options: CALLS[_name](self, *args, **options))
    for name in ("real", "imag"):
        setattr(Selected, name, property(CALLS[name]))


_attach()
