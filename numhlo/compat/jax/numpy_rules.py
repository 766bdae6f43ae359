"""Functions of `jax.numpy` that refuse what NumPy's of their names take, or whose results have other dtypes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import numhlo.numpy
from numhlo.compat.jax.arrays import Array, as_result, frozen
from numhlo.compat.jax.saturation import fitting
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from numhlo.tracer.building import inexact_dtype
from numhlo.tracer.core.jax_types import jax_rules
from numhlo.tracer.core.operands import promotion_key

Function = Callable[..., Any]


def ruled(name: str, function: Function) -> Function:
    """Return a function of NumPy's name that keeps to what JAX's does; itself where that is the same."""
    if name in RULES:
        function = RULES[name](function)
    return _after(name, REQUIREMENTS[name], function) if name in REQUIREMENTS else function


def _after(name: str, require: Callable[..., None], function: Function) -> Function:
    """Return a function that is called when its arguments have been looked at."""

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        require(name, *args, **kwargs)
        return function(*args, **kwargs)

    return public


def _shape(name: str, why: str) -> ShapeError:
    return ShapeError(f"jax.numpy.{name}: {why}", where=capture_location(), fix="reshape what it is called with")


def _dtype(name: str, x: Any) -> DTypeError:
    return DTypeError(
        f"jax.numpy.{name} does not accept {x.dtype}", where=capture_location(), fix="convert it, or take its real part"
    )


def _is_complex(x: Any) -> bool:
    return isinstance(x, complex) or getattr(getattr(x, "dtype", None), "kind", "") == "c"


def _absent(name: str, what: str, fix: str) -> UnsupportedError:
    return UnsupportedError(f"jax.numpy.{name}({what})", where=capture_location(), why="JAX has it not", fix=fix)


def _require_order(name: str, *args: Any, **options: Any) -> None:
    order = options.get("order", "C")
    del args
    if order == "A":
        raise _absent(name, "order='A'", "use C or F")


def _require_matrix(name: str, m: Any, *rest: Any, **options: Any) -> None:
    del rest, options
    if np.ndim(m) < 2:
        raise _shape(name, f"Argument to jax.numpy.{name} must be at least 2D")


def _require_lines(name: str, *arrays: Any, **options: Any) -> None:
    del options
    if any(np.ndim(x) != 1 for x in arrays):
        raise _shape(name, f"Arguments to jax.numpy.{name} must be 1D, got shapes {[np.shape(x) for x in arrays]}")


def _require_two_lines(name: str, a: Any, v: Any, *rest: Any, **options: Any) -> None:
    del rest, options
    if np.ndim(a) != 1 or np.ndim(v) != 1:
        raise _shape(name, f"{name}() only support 1-dimensional inputs")


def _require_ordered(name: str, a: Any, *rest: Any, **options: Any) -> None:
    del rest, options
    if _is_complex(a):
        raise _dtype(name, np.asarray(a) if isinstance(a, complex) else a)


def _require_real(name: str, a: Any, *rest: Any, **options: Any) -> None:
    del rest, options
    if _is_complex(a):
        raise ArgumentError(
            f"jax.numpy.{name} does not support complex input",
            where=capture_location(),
            why="the operation is poorly defined",
            fix="take the real part",
        )


def _require_few_places(name: str, a: Any, q: Any, *rest: Any, **options: Any) -> None:
    _require_real(name, a, *rest, **options)
    if np.ndim(q) > 1:
        raise _shape(name, f"q must be have rank <= 1, got shape {np.shape(q)}")


def _require_initial(
    name: str, a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *rest: Any, **options: Any
) -> None:
    del a, axis, out, keepdims
    given = {**dict(zip(("initial", "where"), rest, strict=False)), **options}
    if given.get("where") is not None and given.get("initial") is None:
        raise ArgumentError(
            f"reduction operation {name} with a where mask",
            where=capture_location(),
            why="it does not have an identity, so one has to specify 'initial'",
            fix="give initial=",
        )


def _require_dimensions(name: str, x: Any, *rest: Any, **options: Any) -> None:
    del rest, options
    if not np.ndim(x):
        raise _shape(name, "The input must be non-scalar to take a cumulative sum or product")


def _require_sample(name: str, sample: Any, *rest: Any, **options: Any) -> None:
    del rest, options
    if hasattr(sample, "shape") and np.ndim(sample) != 2:
        raise _shape(name, f"a sample is a matrix, with a row for each point, and not of shape {np.shape(sample)}")


def _require_integers(name: str, n: Any, *rest: Any, **options: Any) -> None:
    del rest, options
    if isinstance(n, float):
        raise DTypeError(f"jax.numpy.{name}({n!r}): no integer", where=capture_location(), fix="give an integer")


def _require_integer_counts(name: str, a: Any, repeats: Any, *rest: Any, **options: Any) -> None:
    del a, rest, options
    if isinstance(repeats, float) or getattr(getattr(repeats, "dtype", None), "kind", "") == "f":
        raise DTypeError(f"jax.numpy.{name}: repeats of floats", where=capture_location(), fix="give integers")


def _require_real_steps(name: str, *args: Any, **options: Any) -> None:
    for x in (*args, *[options.get(key) for key in ("start", "stop", "step")]):
        if _is_complex(x):
            raise ArgumentError(
                f"jax.numpy.{name}: Passing complex start/stop/step is not supported", where=capture_location()
            )


def _require_integer_exponents(name: str, x1: Any, x2: Any) -> None:
    del x1
    if isinstance(x2, float) or getattr(getattr(x2, "dtype", None), "kind", "") in ("f", "c"):
        raise ArgumentError(f"jax.numpy.{name} not supported for exponents of floats", where=capture_location())


def _require_widths(name: str, array: Any, pad_width: Any, *rest: Any, **options: Any) -> None:
    del array, rest, options
    if isinstance(pad_width, dict):
        raise DTypeError(f"jax.numpy.{name}: `pad_width` must be of integral type.", where=capture_location())


REQUIREMENTS: dict[str, Callable[..., None]] = {
    **dict.fromkeys(["tril", "triu"], _require_matrix),
    "meshgrid": _require_lines,
    **dict.fromkeys(["convolve", "correlate"], _require_two_lines),
    **dict.fromkeys(["argmax", "argmin", "nanargmax", "nanargmin"], _require_ordered),
    **dict.fromkeys(["median", "nanmedian"], _require_real),
    **dict.fromkeys(["nanpercentile", "nanquantile", "percentile", "quantile"], _require_few_places),
    **dict.fromkeys(["amax", "amin", "max", "min", "nanmax", "nanmin"], _require_initial),
    **dict.fromkeys(["cumulative_prod", "cumulative_sum"], _require_dimensions),
    "arange": _require_real_steps,
    "histogramdd": _require_sample,
    "ldexp": _require_integer_exponents,
    "pad": _require_widths,
    "repeat": _require_integer_counts,
    **dict.fromkeys(["ravel", "reshape"], _require_order),
    **dict.fromkeys(["diag_indices", "tri", "tril_indices", "triu_indices"], _require_integers),
}
"""By name, what is asked of a function's arguments beyond what NumPy's asks."""


def _with_complex_roots(function: Function) -> Function:
    @functools.wraps(function)
    def public(p: Any, *, strip_zeros: bool = True) -> Any:
        array = numhlo.numpy.asarray(p)
        wanted = np.complex64 if array.dtype in (np.float32, np.complex64) else np.complex128
        if not array.ndim:
            return frozen(np.zeros(0, wanted))
        return frozen(function(array, strip_zeros=strip_zeros).astype(wanted))

    return public


def _with_zeros_left(function: Function) -> Function:
    @functools.wraps(function)
    def public(*args: Any, size: Any = None, fill_value: Any = None, **kwargs: Any) -> Any:
        return function(*args, size=size, fill_value=0 if fill_value is None else fill_value, **kwargs)

    return public


def _filled(function: Function) -> Function:
    @functools.wraps(function)
    def public(*args: Any, size: Any = None, fill_value: Any = None, **kwargs: Any) -> Any:
        if size and fill_value is None and not any(map(np.size, args[:2])):
            raise ArgumentError(
                f"{function.__name__} of no elements with size={size}",
                where=capture_location(),
                why="for zero-sized input with nonzero size argument, fill_value must be specified",
                fix="give fill_value=",
            )
        return function(*args, size=size, fill_value=fill_value, **kwargs)

    return public


def _either(function: Function) -> Function:
    @functools.wraps(function)
    def public(condition: Any, *choices: Any, size: Any = None, fill_value: Any = None, **named: Any) -> Any:
        if not (choices or named):
            return function(condition, size=size, fill_value=fill_value)
        if size is not None or fill_value is not None:
            raise ArgumentError(
                "size and fill_value arguments cannot be used in three-term where function",
                where=capture_location(),
                fix="leave them out",
            )
        if len(choices) + len(named) == 1:
            raise DTypeError(
                "where requires ndarray or scalar arguments, got one of x and y alone",
                where=capture_location(),
                fix="give both, or neither",
            )
        return function(condition, *choices, **named)

    return public


def _converted(function: Function) -> Function:
    """Return a function whose result has the dtype that it is given, whatever is lost."""

    @functools.wraps(function)
    def public(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return result if dtype is None else result.astype(dtype)

    return public


def _of_floats(function: Function) -> Function:
    """Return a function that takes floats for integers and bools, where there is nothing else."""

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        kinds = {x.dtype.kind for x in args if hasattr(x, "dtype")}
        return function(*(map(_as_float, args) if kinds <= set("biu") else args), **kwargs)

    return public


def _as_float(x: Any) -> Any:
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        return float(x) if isinstance(x, int) else x
    return x.astype(inexact_dtype(jax_rules().canonical(dtype))) if dtype.kind in "biu" else x


def _counting_in_floats(function: Function) -> Function:
    @functools.wraps(function)
    def public(a: Any, *args: Any, **kwargs: Any) -> Any:
        counts, edges = function(a, *args, **kwargs)
        wanted = numhlo.numpy.result_type(_as_float(a))
        return counts if counts.dtype.kind in "fc" else counts.astype(wanted), edges

    return public


def _keeping_bools(function: Function) -> Function:
    @functools.wraps(function)
    def public(x: Any) -> Any:
        dtype = getattr(x, "dtype", None)
        return x if dtype == np.dtype(bool) else function(x)

    return public


def _never_in_place(function: Function) -> Function:
    @functools.wraps(function)
    def public(x: Any, copy: Any = True, *args: Any, **kwargs: Any) -> Any:
        del copy
        return function(x, True, *args, **kwargs)

    return public


def _of_conditions(function: Function) -> Function:
    @functools.wraps(function)
    def public(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
        conditions = [numhlo.numpy.asarray(c) for c in condlist]
        return function([c if c.dtype == np.dtype(bool) else c.astype(bool) for c in conditions], choicelist, default)

    return public


def _giving_nan(function: Function) -> Function:
    """Return ``average``, which gives NaN where weights sum to zero."""

    @functools.wraps(function)
    def public(a: Any, axis: Any = None, weights: Any = None, **kwargs: Any) -> Any:
        try:
            return function(a, axis, weights, **kwargs)
        except ZeroDivisionError:
            options = {key: x for key, x in kwargs.items() if key == "keepdims"}
            total = numhlo.numpy.sum(numhlo.numpy.multiply(a, weights), axis, **options)
            with np.errstate(divide="ignore", invalid="ignore"):
                found = numhlo.numpy.divide(total, 0.0)
            return (found, numhlo.numpy.zeros_like(found)) if kwargs.get("returned") else found

    return public


PAD_MODES = (
    "constant", "edge", "empty", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap",
)  # fmt: skip


def _padding_by_functions(function: Function) -> Function:
    """Return ``pad``, whose mode may be a function that returns each padded vector: it changes none."""

    @functools.wraps(function)
    def public(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
        if callable(mode):
            padded = numhlo.numpy.pad(array, pad_width)
            for axis, width in enumerate(np.broadcast_to(np.asarray(pad_width), (np.ndim(array), 2)).tolist()):
                vectors = numhlo.numpy.moveaxis(padded, axis, -1)
                lines = vectors.reshape(-1, vectors.shape[-1])
                rows = [mode(lines[k], tuple(width), axis, kwargs) for k in range(lines.shape[0])]
                padded = numhlo.numpy.moveaxis(numhlo.numpy.stack(rows).reshape(vectors.shape), -1, axis)
            return padded
        if mode not in PAD_MODES:
            raise _absent("pad", f"mode={mode!r}", f"use one of {', '.join(PAD_MODES)}")
        return function(array, pad_width, mode, **kwargs)

    return public


def _each_weak(function: Function) -> Function:
    """Return ``broadcast_arrays``: each result is weak where its array is."""

    @functools.wraps(function)
    def public(*args: Any) -> Any:
        weak = [isinstance(promotion_key(x), type) for x in args]
        return [as_result(frozen(x), w) for x, w in zip(function(*args), weak, strict=True)]

    return public


def _of_arrays(function: Function) -> Function:
    """Return a function of one operand that takes Python's numbers as the arrays that they stand for."""

    @functools.wraps(function)
    def public(x: Any, *args: Any, **kwargs: Any) -> Any:
        key = promotion_key(x)
        is_weak = isinstance(key, type) and (function.__name__ != "angle" or key is complex)
        given = numhlo.numpy.asarray(x) if type(x) in (bool, int, float, complex) else x
        return as_result(frozen(numhlo.numpy.asarray(function(given, *args, **kwargs))), is_weak)

    return public


def _of_no_dimensions(function: Function) -> Function:
    """Return ``isscalar``, which is true of arrays without dimensions, too."""

    @functools.wraps(function)
    def public(element: Any) -> bool:
        return function(element) or (isinstance(element, Array) and element.ndim == 0)

    return public


def _saturating(place: int) -> Callable[[Function], Function]:
    """Return the rule of functions that convert the argument at a place to the dtype behind it."""

    def rule(function: Function) -> Function:
        @functools.wraps(function)
        def public(*args: Any, **kwargs: Any) -> Any:
            dtype = kwargs.get("dtype", args[place + 1] if len(args) > place + 1 else None)
            if len(args) > place:
                args = (*args[:place], fitting(args[place], dtype), *args[place + 1 :])
            return function(*args, **kwargs)

        return public

    return rule


def _counting_from_zero(function: Function) -> Function:
    """Return ``bincount``, which counts negative numbers as zeros."""

    @functools.wraps(function)
    def public(x: Any, weights: Any = None, minlength: Any = 0, **kwargs: Any) -> Any:
        if getattr(getattr(x, "dtype", None), "kind", "") == "i":
            x = numhlo.numpy.maximum(x, x.dtype.type(0))
        least = max(minlength, 0) if isinstance(minlength, int) else minlength
        return function(x, weights=weights, minlength=least, **kwargs)

    return public


def _inserting_at_ends(function: Function) -> Function:
    """Return ``insert``, which inserts at an end what would be beyond it."""

    @functools.wraps(function)
    def public(arr: Any, obj: Any, values: Any, axis: Any = None, **kwargs: Any) -> Any:
        if isinstance(obj, int):
            extent = np.size(arr) if axis is None else np.shape(arr)[axis]
            obj = min(max(obj, -extent), extent)
        return function(arr, obj, values, axis, **kwargs)

    return public


def _wrapping_powers(function: Function) -> Function:
    """Return ``power``, where an array of negative exponents of integers counts by its lowest six bits."""

    @functools.wraps(function)
    def public(x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(x, y, *args, **kwargs)
        except ValueError:
            kinds = [getattr(getattr(v, "dtype", None), "kind", "i" if type(v) is int else "") for v in (x, y)]
            if set(kinds) - set("iu") or not isinstance(y, np.ndarray) or not np.any(np.asarray(y) < 0):
                raise
            return function(x, frozen(np.asarray(y) & np.asarray(63, y.dtype)), *args, **kwargs)

    return public


RULES: dict[str, Callable[[Function], Function]] = {
    "bincount": _counting_from_zero,
    "insert": _inserting_at_ends,
    "power": _wrapping_powers,
    "astype": _saturating(0),
    "full": _saturating(1),
    **dict.fromkeys(["angle", "imag", "real"], _of_arrays),
    "broadcast_arrays": _each_weak,
    "isscalar": _of_no_dimensions,
    **dict.fromkeys(
        ["argsort", "concat", "concatenate", "dstack", "hstack", "nanmean", "nanstd", "nanvar", "stack", "vstack"],
        _converted,
    ),
    **dict.fromkeys(["conj", "conjugate", "positive"], _keeping_bools),
    **dict.fromkeys(["correlate", "polyder"], _of_floats),
    "average": _giving_nan,
    "histogram": _counting_in_floats,
    "nan_to_num": _never_in_place,
    "pad": _padding_by_functions,
    "roots": _with_complex_roots,
    "select": _of_conditions,
    "setdiff1d": _with_zeros_left,
    **dict.fromkeys(["union1d", "unique"], _filled),
    "where": _either,
}
"""Functions of one name that take more than NumPy's, or give something else."""
