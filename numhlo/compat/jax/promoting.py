"""How functions under JAX's names promote arguments, and which give weak results: tables, and what acts on them.

Within a call the types are those of the rules (`numhlo.tracer.core.jax_types`). What is here is what a function of
JAX's does first: bring some arguments to one dtype, a float's where it wants floats, and understand `dtype=`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from numhlo.compat.jax.arrays import (
    OWN,
    Array,
    as_result,
    canonical,
    frozen,
    immutably,
    typed_ufunc,
)
from numhlo.compat.jax.compile_time import OPEN, home_of_arguments
from numhlo.library.numpy.ufunc_calls import Ufunc
from numhlo.lowering.ir.scoped_values import unsettled
from numhlo.tracer.building import inexact_dtype
from numhlo.tracer.core.jax_types import is_weak_bound, jax_rules
from numhlo.tracer.core.operands import convert, promotion_key
from numhlo.tracer.core.semantics import immutable_arrays
from numhlo.tracer.core.trace import Tracer, current_trace
from numhlo.tracer.trees.pytrees import tree_map

NUMBERS = (bool, int, float, complex)

TOGETHER: dict[str, dict[str, str]] = {
    "numpy": {
        "0": "block column_stack concat concatenate dstack hstack stack vstack",
        "0 1": """allclose append array_equal array_equiv cross dot inner isclose isin intersect1d
            kron matmul matvec outer polyadd polysub polyval searchsorted setxor1d tensordot union1d
            vdot vecdot vecmat""",
        "0 1 2": "clip",
        "1": "choose",
        "1 2": "select where",
        "1 2 3 4 5 6 7 8": "einsum",
    },
    "numpy.linalg": {"0": "multi_dot", "0 1": "cross matmul outer tensordot vecdot"},
}
"""By module, numbers of the arguments that are promoted to one dtype, and the functions that do so."""

AS_FLOATS: dict[str, dict[str, str]] = {
    "numpy": {
        "0": """angle corrcoef gradient i0 mean median nanmean nanmedian nanstd nanvar polyder polyint roots sinc std
            unwrap histogram nanpercentile nanquantile percentile quantile poly var""",
        "0 1": "convolve correlate cov geomspace linspace logspace polydiv polymul trapezoid",
        "0 2": "average",
        "0 1 2": "interp",
        "0 1 3": "polyfit",
    },
    "numpy.linalg": {
        "0": """cholesky cond det eig eigh eigvals eigvalsh inv matrix_norm norm pinv qr slogdet svd svdvals
            vector_norm""",
        "0 1": "lstsq solve",
    },
    "numpy.fft": {"0": "fft fft2 fftn hfft ifft ifft2 ifftn ihfft irfft irfft2 irfftn rfft rfft2 rfftn"},
    "scipy.stats": {"*": "cdf entropy isf logcdf logpdf logpmf logsf pdf pmf ppf sf"},
    "scipy.special": {
        "0": "log_softmax logsumexp softmax",
        "*": """bessel_i0 bessel_i0e bessel_i1 beta betainc betaln digamma ellipe ellipk entr erf erfc erfcinv erfcx
            erfinv exp1 expi expit gamma gammainc gammaincc gammaln gammasgn hyp2f1 i0 i0e i1 i1e kl_div log_ndtr
            log_expit logit ndtr ndtri poch polygamma psi rel_entr spence xlog1py xlogy zeta""",
    },
}
"""The same, of those that are promoted to floats."""

KEEPS_WEAK: dict[str, str] = {
    "numpy": """
        append argpartition array array_split asarray atleast_1d atleast_2d atleast_3d block
        broadcast_arrays broadcast_to clip column_stack compress concat concatenate convolve copy correlate
        delete diff dot dstack ediff1d einsum empty_like expand_dims extract fill_diagonal flip fliplr
        flipud full full_like gradient hstack i0 imag inner insert interp intersect1d kron matmul
        matrix_transpose matvec meshgrid moveaxis ones_like outer pad partition permute_dims polyadd polymul
        polysub put_along_axis ravel real repeat reshape resize roll rollaxis rot90 round around select
        setdiff1d setxor1d sort split squeeze stack swapaxes take take_along_axis tensordot tile transpose
        tril trim_zeros triu union1d unique unstack vdot vecdot vecmat vstack where zeros_like""",
    "numpy.linalg": """cholesky cond det eig eigh eigvals eigvalsh matmul matrix_power matrix_transpose multi_dot outer
        qr solve svd svdvals tensordot vecdot""",
    "numpy.fft": "fftshift ifftshift",
    "scipy.special": "*",
    "scipy.stats": "*",
    "lax": "*",
    "nn": "*",
}
"""By module, the functions whose results are weak where all their arrays are; ``*`` for nearly all."""

NEVER_WEAK: dict[str, str] = {
    "lax": "argmax argmin convert_element_type bitcast_convert_type iota broadcasted_iota",
    "nn": "gelu logmeanexp one_hot",
    "scipy.special": """beta dawsn erfcx exp1 expi expn gamma gammasgn log_ndtr log_softmax logsumexp multigammaln ndtr
        ndtri poch softmax spence""",
    "scipy.stats": """entropy norm.cdf norm.isf norm.logcdf norm.logsf norm.ppf norm.sf truncnorm.cdf truncnorm.logcdf
        truncnorm.logpdf truncnorm.logsf truncnorm.pdf truncnorm.sf uniform.cdf""",
}
"""Functions of a module that has ``*`` above whose results are never weak."""

DECIDE_THEMSELVES = frozenset({"associative_scan", "fori_loop", "map", "scan", "while_loop"})
"""Functions of `lax` that know of each result whether it is weak."""

KEEP_WEAK_NUMBERS = ("iscomplex", "isreal", "sinc")
"""Functions of `jax.numpy` whose results are weak where all their arrays are, and have no dimensions."""

ARRAYS_AT: dict[str, dict[str, str]] = {
    "numpy": {
        "1": "full compress extract",
        "0 1 2 3": "meshgrid broadcast_arrays",
    },
    "lax": {"1": "full", "1 2": "select", "1 2 3": "select_n"},
}
"""Numbers of the arguments that decide whether a result is weak: by default those that are promoted, or the first."""

COMPLEX_RESULTS = ("eig", "eigvals", "roots")
"""Functions whose results are complex, also where NumPy finds real numbers."""

INDICES = ("argpartition", "digitize", "searchsorted")
"""Functions whose results are int32, also where there are 64 bits."""

OF_ITS_OWN_DTYPE = ("cumprod", "cumsum", "cumulative_prod", "nancumprod", "nancumsum")
"""Functions whose results have the dtype of an array of integers."""

WIDEST_NARROW = frozenset({np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)})
"""Dtypes of floats that are computed in float32, and rounded at the end."""

FLOAT_BY_DEFAULT = ["empty", "eye", "identity", "ones", "tri", "zeros"]
"""Functions of `jax.numpy` that give floats where no dtype is asked for."""


def _places(table: dict[str, dict[str, str]], home: str, name: str) -> Sequence[int] | None:
    """Return the numbers of arguments under which a table has a function; None where it has not."""
    for places, names in table.get(home, {}).items():
        if name in names.split():
            return range(99) if places == "*" else [int(place) for place in places.split()]
    return None


def _is_among(table: dict[str, str], home: str, name: str) -> bool:
    names = table.get(home, "").split()
    return name in names or ("*" in names and name not in NEVER_WEAK.get(home, "").split())


def _is_array(x: Any) -> bool:
    """Return whether an argument is an array or a number, or a sequence of such."""
    if isinstance(x, list | tuple):
        return bool(x) and all(map(_is_array, x))
    return isinstance(x, Tracer | np.ndarray | np.generic) or type(x) in NUMBERS


def _in_precision(x: Any, wanted: np.dtype) -> Any:
    """Return a result of floats or complex numbers as precise as a dtype; anything else unchanged."""
    dtype = getattr(x, "dtype", None)
    if dtype is None or dtype.kind not in "fc":
        return x
    real = REAL.get(wanted, wanted)
    return _converted(x, real if dtype.kind == "f" else COMPLEX.get(real, np.dtype(np.complex64)))


def _leaves(x: Any) -> list[Any]:
    return [leaf for item in x for leaf in _leaves(item)] if isinstance(x, list | tuple) else [x]


class Typed:
    """What is known of a function's types.

    Parameters
    ----------
    home : str
        The module, as ``"numpy.linalg"``.
    name : str
    function : callable
        Whose parameters they are.
    """

    def __init__(self, home: str, name: str, function: Callable[..., Any]) -> None:
        self.home = home
        distribution, _, name = name.rpartition(".")
        full, self.name = (f"{distribution}.{name}" if distribution else name), name
        floats = _places(AS_FLOATS, home, name)
        self.is_of_floats = floats is not None
        self.promoted = floats or _places(TOGETHER, home, name) or ()
        self.keeps_weak = _is_among(KEEPS_WEAK, home, full) and _is_among(KEEPS_WEAK, home, name)
        self.keeps_weak_numbers = home == "numpy" and name in KEEP_WEAK_NUMBERS
        self.arrays = (
            _places(ARRAYS_AT, home, name) or self.promoted or (range(99) if home in ("lax", "scipy.stats") else (0,))
        )
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            parameters = {}  # type: ignore[assignment]
        self.parameters = list(parameters)
        self.dtype_at = self.parameters.index("dtype") if "dtype" in parameters else None
        default = None if self.dtype_at is None else parameters["dtype"].default
        self.default = (
            np.dtype(default) if isinstance(default, type | np.dtype) and default is not inspect._empty else None
        )
        if home == "numpy" and name in FLOAT_BY_DEFAULT:
            self.default = np.dtype(np.float64)

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the function's result, of arguments that are promoted, and of the type that JAX's has."""
        args, kwargs = self._with_dtype(args, kwargs)
        given = self._given(args, kwargs)
        arrays = [leaf for k in self.arrays if k in given for leaf in _leaves(given[k])]
        weak = self._is_weak(arrays, args, kwargs) and not (self.name in ("array", "asarray") and type(args[0]) is list)
        wanted = self._common(given) if self.promoted else None
        if wanted is not None:
            wide = np.dtype(np.float32) if self.is_of_floats and wanted in WIDEST_NARROW else wanted
            args, kwargs = self._promote(wide, given, args, kwargs)
        if self.home == "numpy" and self.name in OF_ITS_OWN_DTYPE and kwargs.get("dtype") is None:
            kwargs = {**kwargs, **self._own_dtype(args[0] if args else None)}
        result = function(*args, **kwargs)
        if self.home == "lax" and self.name in DECIDE_THEMSELVES:
            return result
        wanted = wanted if kwargs.get("dtype") is None else None
        return _finished(self._converted(result, wanted, given), weak)

    def _own_dtype(self, x: Any) -> dict[str, Any]:
        dtype = getattr(x, "dtype", None)
        return {"dtype": dtype} if dtype is not None and dtype.kind in "iu" else {}

    def _converted(self, result: Any, wanted: np.dtype | None, given: dict[int, Any]) -> Any:
        """Return a result in the dtype that JAX's has, where it is another than that of what was computed."""
        if self.name == "matrix_rank":
            return np.asarray(result) if type(result) is int else result
        if self.name in INDICES:
            return _converted(result, np.dtype(np.int32))
        if self.name == "vander" or (self.name == "bincount" and 1 in given):
            return _converted(result, given[0 if self.name == "vander" else 1].dtype)
        if self.name == "histogram" and wanted is not None:
            return tuple([_converted(x, wanted) for x in result])
        if wanted is None or self.home == "numpy.fft":
            return result
        if self.name in COMPLEX_RESULTS:
            return tree_map(lambda x: _converted(x, COMPLEX.get(x.dtype, x.dtype)), result)
        return tree_map(lambda x: _in_precision(x, wanted), result) if self.is_of_floats else result

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[int, Any]:
        """Return the arguments that are arrays, or sequences of such, by their number."""
        given = {k: x for k, x in enumerate(args) if _is_array(x)}
        for name, x in kwargs.items():
            if name in self.parameters and _is_array(x):
                given[self.parameters.index(name)] = x
        return given

    def _is_weak(self, arrays: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        place = self.dtype_at
        if not arrays or kwargs.get("dtype") is not None or (place is not None and args[place : place + 1] != ()):
            return False
        if not (self.keeps_weak or self.keeps_weak_numbers) or not is_weak_bound(list(map(promotion_key, arrays))):
            return False
        if len(arrays) == 1 and isinstance(arrays[0], bool):
            return False
        return self.keeps_weak or (self.keeps_weak_numbers and not any(map(np.ndim, arrays)))

    def _with_dtype(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        place = self.dtype_at
        if place is None:
            return args, kwargs
        if self.name == "arange" and len(args) <= place and kwargs.get("dtype") is None:
            return args, {**kwargs, "dtype": jax_rules().common([promotion_key(x) for x in args if x is not None])}
        if len(args) > place:
            wanted = self._dtype(args[place])
            return (*args[:place], wanted, *args[place + 1 :]), kwargs
        wanted = self._dtype(kwargs.get("dtype"))
        return (args, kwargs) if wanted is None else (args, {**kwargs, "dtype": wanted})

    def _dtype(self, dtype: Any) -> Any:
        rules = jax_rules()
        if dtype is None:
            return None if self.default is None else rules.canonical(self.default)
        return rules.requested(dtype, self.name)

    def _common(self, given: dict[int, Any]) -> np.dtype | None:
        """Return the dtype that arguments are promoted to; None where there are none."""
        if self.name == "einsum" and 0 in given:  # operands and lists of axes in turns
            return None
        keys = [promotion_key(x) for k in self.promoted if k in given for x in _leaves(given[k])]
        if not keys:
            return None
        common = jax_rules().common(keys)
        if self.name in ("angle", "unwrap", "vector_norm") and common.kind in "biu":
            return jax_rules().numbers[float]
        return inexact_dtype(common) if self.is_of_floats else common

    def _promote(
        self, wanted: np.dtype, given: dict[int, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        chosen = {k: given[k] for k in self.promoted if k in given}
        converted = {k: tree_map(lambda x: _converted(x, wanted), value) for k, value in chosen.items()}
        args = tuple([converted.get(k, x) for k, x in enumerate(args)])
        named = {self.parameters[k]: x for k, x in converted.items() if k >= len(args)}
        return args, {**kwargs, **{name: x for name, x in named.items() if name in kwargs}}


COMPLEX = {np.dtype(real): np.dtype(complex) for real, complex in ("fF", "dD")}
"""Dtypes of complex numbers by those of their parts."""

REAL = {whole: part for part, whole in COMPLEX.items()}


def _converted(x: Any, dtype: np.dtype) -> Any:
    if isinstance(x, Tracer):
        return convert(x, dtype)
    if type(x) in NUMBERS:
        with np.errstate(all="ignore"):
            return np.asarray(x, jax_rules().numbers[type(x)]).astype(dtype, copy=False)
    return x if x.dtype == dtype else np.asarray(x).astype(dtype)


def _finished(result: Any, weak: bool) -> Any:
    """Return a result whose arrays have types of JAX's, and are weak or not."""
    if type(result) in OWN or isinstance(result, Tracer | np.ndarray | np.generic):
        return _finished_array(result, weak)
    if isinstance(result, tuple | list) or (weak and not callable(result)):
        return tree_map(lambda x: _finished_array(x, weak), result)
    return result


def _finished_array(x: Any, weak: bool) -> Any:
    if isinstance(x, Tracer):
        dtype = jax_rules().canonical(x.dtype)
        return as_result(convert(x, dtype) if dtype != x.dtype else x, weak)
    if isinstance(x, np.ndarray | np.generic):
        return as_result(canonical(x) if type(x) not in OWN else x, weak)
    return x


def typed(home: str, name: str, function: Callable[..., Any], like: Callable[..., Any] | None = None) -> Any:
    """Return a function with the types of JAX's of its name.

    Parameters
    ----------
    home : str
        The module, as ``"numpy.linalg"``.
    name : str
    function : callable
        Returns immutable arrays.
    like : callable, optional
        Whose parameters it has, if not its own.

    Returns
    -------
    callable
    """
    known = Typed(home, name, function if like is None else like)

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        if OPEN and (home := home_of_arguments(args, kwargs)) is not None:
            with home.resumed():
                return public(*args, **kwargs)
        with immutable_arrays():
            return known.call(function, args, kwargs)

    return public


def _quick_loops(ufunc: Any) -> Callable[[Any, Sequence[Any]], bool]:
    """Return what says whether NumPy's function gives, of strong arrays of one dtype, what JAX's rules say.

    Parameters
    ----------
    ufunc : Ufunc
    """
    known: dict[np.dtype, bool] = {}

    def is_quick(dtype: np.dtype, operands: Sequence[Any]) -> bool:
        if dtype in known:
            return known[dtype]
        given = (dtype,) * ufunc.nin
        with immutable_arrays():
            dtypes = ufunc.loop(operands)
        try:
            found = ufunc.ufunc.resolve_dtypes((*given, *[None] * ufunc.nout))
        except TypeError:  # NumPy has no such loop
            found = None
        return known.setdefault(dtype, ufunc.nout == 1 and dtypes == found and dtypes[: ufunc.nin] == given)

    return is_quick


QUICK = frozenset(np.dtype(c) for c in "?bBhHiIfF")
"""Dtypes that JAX's rules have under all settings, and NumPy computes in."""


def typed_elementwise(ufunc: Ufunc) -> Callable[..., Any]:
    """Return a ufunc under JAX's rules: it gives immutable arrays, weak where all its operands are."""
    is_quick, count, compute = _quick_loops(ufunc), ufunc.nin, ufunc.ufunc
    known = count <= 2 and compute not in (np.power, np.floor_divide, np.remainder)  # these refuse some integers

    @functools.wraps(ufunc)
    def public(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            return immutably(ufunc)(*args, **kwargs)
        if known and len(args) == count and type(args[0]) is Array and not unsettled and current_trace() is None:
            dtype = args[0].dtype
            is_alike = count == 1 or (type(args[1]) is Array and args[1].dtype is dtype)
            if is_alike and dtype in QUICK and is_quick(dtype, args):
                with np.errstate(all="ignore"):
                    found = compute(*[x.view(np.ndarray) for x in args])
                return frozen(found)
        return typed_ufunc(ufunc, *args)

    return public
