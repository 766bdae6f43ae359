"""``x[mask]`` with a traced mask: elements whose number is not known, as the whole array and the mask.

Its length depends on values, so it can't be an array. What most programs do with it needs no length: elementwise
functions, reductions, and assignment to the same mask, ``x[m] *= 2``, ``y[m] = np.log(x[m])``, ``x[m].mean()``. These
are computed on the whole array and chosen by the mask. Everything else raises, and says what to write instead.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import moments, reductions
from numhlo.library.numpy.axis_order import moveaxis
from numhlo.library.numpy.cumulative import cumsum
from numhlo.library.numpy.indexing.same_masks import are_same
from numhlo.library.numpy.ufunc_calls import Ufunc
from numhlo.lowering.ir import Location, capture_location
from numhlo.lowering.ir.conversion_errors import DataDependentIndexError
from numhlo.tracer.building import (
    FUNCTIONS,
    CutResult,
    Tracer,
    Unsized,
    as_traced,
    asarray,
    broadcast_to_shape,
    convert,
    new_array,
    reshape_to,
    view_transpose,
)
from numhlo.tracer.building import operations as b

REDUCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(reductions, name) for name in ("sum", "prod", "max", "min", "any", "all")},
    **{name: getattr(moments, name) for name in ("mean", "var", "std")},
}
"""What can be computed with a ``where=`` mask."""

ORDERED = {"median": 1, "percentile": 2, "quantile": 2}
"""What can be computed with NaN for what is left out, and how many arguments it has."""

CALLS: dict[str, Callable[..., Any]] = {}
"""More functions of NumPy's by name, as ``function(chosen, *args, **options)``; `selected_calls` fills it."""

ANYWHERE: dict[str, Callable[..., Any]] = {}
"""Functions that elements are another argument of than the first, as ``function(chosen, args, options)``."""

WITHOUT_IDENTITY = ("max", "min")
Spread: TypeAlias = Callable[[Tracer, Tracer, Any], Any]
"""Puts one value for each true element where it belongs: ``spread(like, mask, values)``."""


class Selected(Unsized):
    """The elements of a traced array where a traced mask holds.

    Parameters
    ----------
    values : Tracer
        The whole array, of shape ``(*mask.shape, *tail)``.
    mask : Tracer
    spread : callable
    """

    __array_priority__ = 2000.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: Tracer, mask: Tracer, spread: Spread) -> None:
        self.values, self.mask, self.spread = values, mask, spread
        self.location = capture_location()

    @classmethod
    def of(cls, array: Tracer, mask: Tracer, spread: Spread) -> Selected:
        """Return ``array[mask]`` as it is now; what is left out counts as 1, which no function or derivative minds."""
        chosen = cls(as_traced(b.constant(1, array)), new_array(mask), spread)
        chosen.values = as_traced(b.select(chosen.whole_mask, array, 1))
        return chosen

    def __repr__(self) -> str:
        return f"Traced<{self.dtype.name}[where {self.mask.aval.short()}]>"

    @property
    def dtype(self) -> np.dtype:
        """Return the dtype."""
        return self.values.dtype

    @property
    def ndim(self) -> int:
        """Return the number of dimensions; the first one's extent is not known."""
        return self.values.ndim - self.mask.ndim + 1

    @property
    def size(self) -> Any:
        """Return the number of elements, a traced integer."""
        tail = int(np.prod(self.values.shape[self.mask.ndim :], dtype=np.int64))
        return ufuncs.multiply(reductions.sum(self.mask), tail)

    @property
    def shape(self) -> tuple[Any, ...]:
        """Return the extents, of which the first is a traced integer."""
        return (reductions.sum(self.mask), *self.values.shape[self.mask.ndim :])

    @property
    def whole_mask(self) -> Any:
        """Return the mask in the shape of the whole array."""
        shape = self.mask.shape + (1,) * (self.values.ndim - self.mask.ndim)
        return broadcast_to_shape(reshape_to(self.mask, shape), self.values.shape)

    def with_values(self, values: Any) -> Selected:
        """Return other values, selected by the same mask."""
        return Selected(as_traced(values), self.mask, self.spread)

    def matches(self, other: Selected) -> bool:
        """Return whether others are surely selected by the same mask."""
        return are_same(self.mask, other.mask)

    def refuse(self, where: Location | None = None) -> NoReturn:
        """Raise the error for what needs the number of elements."""
        raise DataDependentIndexError(
            f"x[mask] with a traced boolean mask {self.mask.aval.short()}",
            where=where or capture_location(),
            why="the extent of the result would depend on the mask's values",
            fix="use where(mask, x, fill), a reduction with where=mask, or x[nonzero(mask, size=n)]",
        )

    def apply(self, ufunc: Ufunc, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return an elementwise function of this and other operands."""
        if any(v is not None and v is not True for k, v in options.items() if k in ("out", "where")):
            self.refuse()
        whole = [self.whole(x) for x in operands]
        result = ufunc(*whole, **{k: v for k, v in options.items() if k in ("dtype", "casting")})
        parts = result if isinstance(result, tuple) else (result,)
        chosen = tuple(self.with_values(part) for part in parts)
        return chosen if isinstance(result, tuple) else chosen[0]

    def whole(self, x: Any) -> Any:
        """Return an operand in the shape of the whole array, as this one's elements meet it."""
        if isinstance(x, Selected):
            if x.ndim != self.ndim or not self.matches(x):
                self.refuse()
            return x.values
        if isinstance(x, Unsized):
            self.refuse()
        if np.ndim(x) if not isinstance(x, Tracer) else x.ndim:
            return self.spread(self.values, self.mask, asarray(x))
        return x

    def reduce(self, name: str, axis: Any = None, *args: Any, **options: Any) -> Any:
        """Return a reduction over all axes, over the elements (axis 0), or over later axes."""
        if options.get("where", True) is not True or args or (not self.mask.ndim and isinstance(axis, tuple)):
            self.refuse()
        axes = tuple(range(self.values.ndim)) if axis is None else self._axes(axis)
        if axis is not None and axes and axes[0] >= self.mask.ndim:  # within each element
            found = REDUCTIONS[name](self.values, axes, **options)
            return self.with_values(found)
        options["where"] = self.whole_mask
        if name in WITHOUT_IDENTITY:
            options.setdefault("initial", worst(name, self.dtype))
        return REDUCTIONS[name](self.values, axes, **options)

    def _axes(self, axis: Any) -> tuple[int, ...]:
        given = axis if isinstance(axis, tuple) else (axis,)
        found: list[int] = []
        for k in given:
            place = k + self.ndim if k < 0 else k
            if not 0 <= place < self.ndim:
                self.refuse()
            found += range(self.mask.ndim) if place == 0 else [place + self.mask.ndim - 1]
        return tuple(sorted(found))

    def write_into(self, target: Tracer, mask: Tracer) -> Tracer:
        """Return what ``target`` becomes by ``target[mask] = self``."""
        leading, tail = self.values.shape[: mask.ndim], self.values.shape[mask.ndim :]
        fits = leading == target.shape[: mask.ndim] and self.values.ndim == target.ndim
        if not fits or any(n not in (1, m) for n, m in zip(tail, target.shape[mask.ndim :], strict=True)):
            self.refuse()
        values = broadcast_to_shape(convert(self.values, target.dtype), target.shape)
        if not are_same(mask, self.mask):
            self.refuse()
        return as_traced(b.select(self.with_values(values).whole_mask, values, target))

    def __getitem__(self, index: Any) -> Any:
        """Return one element, counted from either end, or a part of every element."""
        if isinstance(index, Selected) and index.dtype.kind == "b" and index.ndim == 1 and self.matches(index):
            both = ufuncs.logical_and(self.mask, index.values)
            return Selected.of(self.values, as_traced(both), self.spread)
        first, *rest = index if isinstance(index, tuple) else (index,)
        if is_integer(first):
            chosen = as_traced(reshape_to(self.values, (self.mask.size, *self.values.shape[self.mask.ndim :])))
            return chosen[(self._place(first), *rest)]  # type: ignore[index]
        is_whole = isinstance(first, slice) and first == slice(None)
        if not is_whole or has_new_extent([entry for entry in rest if entry is not None]):
            self.refuse()
        part = as_traced(self.values)[(slice(None),) * self.mask.ndim + tuple(rest)]  # type: ignore[index]
        return self.with_values(part)

    def _place(self, number: Any) -> Any:
        """Return where the mask is true for the time of that number; beyond the last place if it never is."""
        flags = reshape_to(self.mask, (self.mask.size,))
        counts = cumsum(flags)
        wanted = ufuncs.add(number, b.select(ufuncs.less(number, 0), reductions.sum(flags), 0))
        return reductions.sum(ufuncs.less_equal(counts, wanted))

    def astype(self, dtype: Any, **options: Any) -> Selected:
        """Return the elements in another dtype."""
        return self.with_values(convert(self.values, dtype))

    def copy(self, order: str = "C") -> Selected:
        """Return the elements, which are never written in place."""
        return self

    def __matmul__(self, other: Any) -> Any:
        if self.ndim == 1:
            return other.T @ self if isinstance(other, Selected) and other.ndim == 2 else self._product(other)
        if isinstance(other, Unsized) or self.ndim != 2:
            self.refuse()
        values: Any = self.values
        return self.with_values(values @ other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._product(other) if self.ndim == 1 else self.refuse()

    def _product(self, other: Any) -> Any:
        return ufuncs.multiply(self, other).sum()

    @property
    def T(self) -> Any:  # noqa: N802 - NumPy's name
        """Return the elements as columns, which can be multiplied with as many rows."""
        return self if self.ndim == 1 else Columns(self) if self.ndim == 2 else self.refuse()

    def filled(self) -> Any:
        """Return the elements in rows, and zeros in place of those left out."""
        rows = b.select(self.whole_mask, self.values, 0)
        return reshape_to(rows, (self.mask.size, *self.values.shape[self.mask.ndim :]))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        function = FUNCTIONS.get(ufunc)
        if function is None or method != "__call__":
            self.refuse()
        return function(*inputs, **options)

    def call(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return a reduction, by name; anything else needs the number of elements."""
        name = {"amax": "max", "amin": "min"}.get(name, name)
        if name == "size" and not options and len(args) == 1:
            return self.size
        if name in ORDERED:
            return self._ordered(name, args, options)
        if name == "norm" and len(args) == 1 and options.keys() <= {"axis"}:
            return ufuncs.sqrt(ufuncs.square(ufuncs.absolute(self)).sum(**options))
        if name == "cov" and self.ndim == 2 and options.get("rowvar", True) in (False, 0) and len(args) == 1:
            return covariance(self, **{k: v for k, v in options.items() if k != "rowvar"})
        if name in CALLS:
            return CALLS[name](self, *args[1:], **options)
        if name not in REDUCTIONS:
            self.refuse()
        return self.reduce(name, *args[1:], **options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self.call_at_any_place(func.__name__, args, kwargs)

    def call_at_any_place(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return a function of arguments among which this is."""
        if args and isinstance(args[0], Selected):
            return args[0].call(name, args, options)
        return ANYWHERE[name](self, args, options) if name in ANYWHERE else self.refuse()

    def as_result(self) -> CutResult:
        """Return the elements one behind the other, and their number."""
        extent = self.mask.size
        rows = reshape_to(self.values, (extent, *self.values.shape[self.mask.ndim :]))
        order = FUNCTIONS[np.flatnonzero](reshape_to(self.mask, (extent,)), size=extent)
        buffer = FUNCTIONS[np.take](rows, order, axis=0, mode="clip") if extent else rows
        return CutResult(buffer, reductions.sum(self.mask), 0, functools.partial(first_ones, self.spread))

    def _ordered(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return a median or quantiles: those of the whole array with NaN for what is left out."""
        count = ORDERED[name]
        if self.ndim != 1 or len(args) != count or options.keys() - {"q", "method"} or self.dtype.kind not in "iuf":
            self.refuse()
        values = convert(self.values, np.result_type(self.dtype, np.float16 if self.dtype.kind == "f" else np.float64))
        chosen = b.select(self.whole_mask, values, np.nan)
        found = getattr(np, f"nan{name}")(chosen, *args[1:], **options)
        has_nan = reductions.any(ufuncs.logical_and(self.whole_mask, ufuncs.isnan(values)))
        return b.select(broadcast_to_shape(has_nan, found.shape), np.nan, found)


def first_ones(spread: Spread, buffer: Tracer, count: Any) -> Selected:
    """Return so many of the first elements of an array."""
    return Selected.of(buffer, as_traced(ufuncs.less(b.iota(buffer.shape[0]), count)), spread)


def _first_columns(spread: Spread, axis: int, buffer: Tracer, count: Any) -> Columns:
    return Columns(first_ones(spread, moveaxis(buffer, axis, 0), count), axis)


def covariance(rows: Selected, *, ddof: int | None = None, bias: bool = False) -> Any:
    """Return the covariance of the columns, as `numpy.cov`."""
    centered = rows - rows.mean(axis=0)
    missing = (0 if bias else 1) if ddof is None else ddof
    return Columns(centered) @ centered / (reductions.sum(rows.mask) - missing)


class Uncounted(Unsized):
    """Elements of which little is known without their number: what nothing else defines refuses."""

    __array_priority__ = 2000.0

    def call(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Raise: a function needs the number."""
        self.refuse()

    def apply(self, ufunc: Ufunc, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Raise: an elementwise function gives as many."""
        self.refuse()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        function = FUNCTIONS.get(ufunc)
        if function is None or method != "__call__":
            self.refuse()
        return function(*inputs, **options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self.call(func.__name__, args, kwargs) if args and args[0] is self else self.refuse()


class Columns(Uncounted):
    """Elements selected along a later axis, ``x[:, mask]``, which the transpose of `Selected` rows is, too.

    Parameters
    ----------
    rows : Selected
        The same elements along the first axis.
    axis : int, optional
        Which they are selected along.
    """

    def __init__(self, rows: Selected, axis: int = 1) -> None:
        self.rows, self.axis, self.location = rows, axis, rows.location

    @property
    def ndim(self) -> int:
        """Return the number of dimensions."""
        return self.rows.ndim

    @property
    def dtype(self) -> np.dtype:
        """Return the dtype."""
        return self.rows.dtype

    @property
    def size(self) -> Any:
        """Return the number of elements, a traced integer."""
        return self.rows.size

    @property
    def T(self) -> Selected:  # noqa: N802 - NumPy's name
        """Return the rows."""
        return self.rows if self.ndim == 2 else self.refuse()

    def refuse(self, where: Location | None = None) -> NoReturn:
        """Raise the error for what needs the number of columns."""
        self.rows.refuse(where)

    def astype(self, dtype: Any, **options: Any) -> Columns:
        """Return the elements in another dtype."""
        return Columns(self.rows.astype(dtype), self.axis)

    def apply(self, ufunc: Ufunc, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return an elementwise function of this and other operands."""
        if options.get("out") is not None or options.get("where", True) is not True:
            self.refuse()
        result = ufunc(*map(self._as_rows, operands), **options)
        parts = tuple(Columns(part, self.axis) for part in (result if isinstance(result, tuple) else (result,)))
        return parts if isinstance(result, tuple) else parts[0]

    def _as_rows(self, x: Any) -> Any:
        """Return an operand as it meets the elements along the first axis."""
        if isinstance(x, Columns) and (x.axis, x.ndim) == (self.axis, self.ndim):
            return x.rows
        shape = None if isinstance(x, Unsized) else asarray(x).shape
        if not shape:
            return x if shape == () else self.refuse()
        whole = (1,) * (self.ndim - len(shape)) + shape
        if len(whole) > self.ndim or whole[self.axis] != 1:
            self.refuse()
        return reshape_to(asarray(x), whole[: self.axis] + whole[self.axis + 1 :])

    def reduce(self, name: str, axis: Any = None, *args: Any, **options: Any) -> Any:
        """Return a reduction over all axes, over the elements, or within each."""
        if axis is None:
            return self.rows.reduce(name, None, *args, **options)
        if not isinstance(axis, int) or not -self.ndim <= axis < self.ndim or options.pop("keepdims", False):
            self.refuse()
        place = axis % self.ndim
        if place == self.axis:
            return self.rows.reduce(name, 0, *args, **options)
        before = place < self.axis
        found = self.rows.reduce(name, place + before, *args, **options)
        return found if self.axis == before else Columns(found, self.axis - before)

    def as_result(self) -> CutResult:
        """Return the elements one behind the other along their axis, and their number."""
        buffer, count, _, _ = self.rows.as_result()
        rebuild = functools.partial(_first_columns, self.rows.spread, self.axis)
        return CutResult(moveaxis(buffer, 0, self.axis), count, self.axis, rebuild)

    def write_into(self, view: Tracer, axis: int, mask: Tracer) -> None:
        """Write the elements to where a mask holds along an axis of an array."""
        rows = view_transpose(view, (axis, *[k for k in range(view.ndim) if k != axis]))
        rows.assign(self.rows.write_into(rows, mask) if axis == self.axis else self.refuse())

    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, Selected) or other.ndim > 2 or self.ndim != 2 or not self.rows.matches(other):
            self.refuse()
        return np.matmul(np.transpose(self.rows.filled()), other.filled())

    def call(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return a reduction, a product or the covariance; anything else needs the number of columns."""
        name = {"amax": "max", "amin": "min"}.get(name, name)
        if name == "cov" and len(args) == 1 and self.ndim == 2 and options.keys() <= {"ddof", "bias"}:
            return covariance(self.rows, **options)
        if name in REDUCTIONS:
            return self.reduce(name, *args[1:], **options)
        return self @ args[1] if name in ("dot", "matmul") and not options and len(args) == 2 else self.refuse()


def is_integer(x: Any) -> bool:
    """Return whether an index is one number."""
    traced = isinstance(x, Tracer) and not x.shape and x.dtype.kind in "iu"
    return traced or (isinstance(x, int | np.integer) and not isinstance(x, bool))


def has_new_extent(index: list[Any]) -> bool:
    """Return whether an index has anything but numbers and slices."""
    return not all(is_integer(entry) or isinstance(entry, slice) for entry in index)


def worst(name: str, dtype: np.dtype) -> Any:
    """Return what no element is beaten by in a search for the ``max`` or ``min``."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if name == "max" else np.iinfo(dtype).max
    return name == "min" if dtype.kind == "b" else (-np.inf if name == "max" else np.inf)


OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
COMPARISONS = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
NEED_LENGTH = ("__len__", "__iter__", "__bool__", "__setitem__", "__index__", "__float__", "__int__")


def attach() -> None:
    """Give `Selected` the operators of arrays, and its reductions as methods."""
    for name, function in {**OPERATORS, **COMPARISONS}.items():
        ufunc = getattr(ufuncs, function)
        for cls in (Selected, Columns):
            setattr(cls, f"__{name}__", lambda self, other, f=ufunc: f(self, other))
            if name in OPERATORS:
                setattr(cls, f"__r{name}__", lambda self, other, f=ufunc: f(other, self))
    for name, function in UNARY.items():
        ufunc = getattr(ufuncs, function)
        for cls in (Selected, Columns):
            setattr(cls, f"__{name}__", lambda self, f=ufunc: f(self))
    for name in REDUCTIONS:
        for cls in (Selected, Columns):
            setattr(cls, name, lambda self, axis=None, *a, _n=name, **k: self.reduce(_n, axis, *a, **k))
    for name in NEED_LENGTH:
        setattr(Selected, name, lambda self, *args: self.refuse())
    words = ("getitem", "setitem", "len", "iter", "contains", "bool", "int", "float", "matmul", "rmatmul")
    for name in (*words, *COMPARISONS, *UNARY, *OPERATORS, *[f"r{name}" for name in OPERATORS]):
        setattr(Uncounted, f"__{name}__", lambda self, *args: self.refuse())


attach()
