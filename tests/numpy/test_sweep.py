"""Every function of NumPy's names on every kind of argument: floats, integers, booleans; empty, 0-d, 1-d and 2-d arrays.

NumPy itself is the oracle: outside tracing, traced, and mapped over lanes, results have its values, dtypes and shapes,
and what it refuses is refused. `VALUES` lists where NumPy's refusal, or its shapes, follow values.
"""

from __future__ import annotations

import numpy as np
import pytest

import numhlo
import numhlo.numpy as n
from tests.library.agreement import assert_same, run_traced

ELEMENTWISE = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bitwise_invert",
    "ceil",
    "conj",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "floor",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_not",
    "negative",
    "positive",
    "real",
    "reciprocal",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
    "angle",
    "cbrt",
    "deg2rad",
    "degrees",
    "exp2",
    "fabs",
    "rad2deg",
    "radians",
    "rint",
    "sinc",
    "nan_to_num",
    "iscomplex",
    "isneginf",
    "isposinf",
    "isreal",
    "bitwise_count",
    "fix",
    "frexp",
    "i0",
    "modf",
    "spacing",
    "unwrap",
]
OF_ONE = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "ravel",
    "copy",
    "zeros_like",
    "ones_like",
    "asarray",
    "array",
    "asanyarray",
    "ascontiguousarray",
    "asfortranarray",
    "squeeze",
    "transpose",
    "flip",
    "fliplr",
    "flipud",
    "rot90",
    "matrix_transpose",
    "diag",
    "diagflat",
    "tril",
    "triu",
    "trace",
    "diagonal",
    "argmax",
    "argmin",
    "count_nonzero",
    "argsort",
    "sort",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
    "all",
    "any",
    "cumulative_sum",
    "cumulative_prod",
    "cumsum",
    "cumprod",
    "diff",
    "amax",
    "amin",
    "average",
    "median",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanstd",
    "nansum",
    "nanvar",
    "ptp",
    "nanprod",
    "nancumsum",
    "nancumprod",
    "nanargmax",
    "nanargmin",
    "corrcoef",
    "cov",
    "gradient",
    "trapezoid",
    "ediff1d",
    "sort_complex",
    "poly",
    "packbits",
    "shape",
    "ndim",
    "size",
    "isrealobj",
    "iscomplexobj",
    "vander",
    "broadcast_arrays",
    "meshgrid",
    "lexsort",
    "concatenate",
    "stack",
    "hstack",
    "vstack",
    "dstack",
    "column_stack",
    "block",
]
OF_TWO = [
    "add",
    "atan2",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "copysign",
    "divide",
    "equal",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "less",
    "less_equal",
    "logaddexp",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "nextafter",
    "not_equal",
    "pow",
    "remainder",
    "subtract",
    "float_power",
    "fmax",
    "fmin",
    "fmod",
    "heaviside",
    "divmod",
    "gcd",
    "lcm",
    "ldexp",
    "logaddexp2",
    "array_equal",
    "array_equiv",
    "allclose",
    "isclose",
    "isin",
    "dot",
    "inner",
    "outer",
    "vdot",
    "vecdot",
    "matmul",
    "kron",
    "convolve",
    "correlate",
    "cross",
    "tensordot",
    "append",
    "polyadd",
    "polysub",
    "polymul",
    "polydiv",
    "polyval",
    "searchsorted",
]
WRITES = {
    "copyto": lambda np, x, **o: np.copyto(x, 1, **o),
    "fill_diagonal": lambda np, x, **o: np.fill_diagonal(x, 1, **o),
    "place": lambda np, x, **o: np.place(x, np.ones_like(x, dtype=bool), [1, 0], **o),
    "put": lambda np, x, **o: np.put(x, [0, -1], [1, 0], **o),
    "put_along_axis": lambda np, x, **o: np.put_along_axis(x, np.argmax(x, 0, keepdims=True), 1, 0, **o),
    "putmask": lambda np, x, **o: np.putmask(x, x > 0, [0, 1], **o),
}
"""Calls that write into an array."""


def written(np, x, write, **options):
    array = x.copy()
    result = write(np, array, **options)
    return array if result is None else result


CALLS = {
    "clip": lambda np, x: (np.clip(x, 0, 1), np.where(x > 0, x, 1), np.nan_to_num(x, nan=1), np.round(x, 1)),
    "repeat": lambda np, x: (np.repeat(x, 2), np.repeat(x, 2, 0), np.tile(x, 2), np.tile(x, (2, 1, 2))),
    "roll": lambda np, x: (np.roll(x, 1), np.roll(x, -1, 0)),
    "axes": lambda np, x: (np.expand_dims(x, 0), np.expand_dims(x, (0, -1)), np.reshape(x, -1), np.reshape(x, (1, -1))),
    "moved": lambda np, x: (np.moveaxis(x, 0, -1), np.swapaxes(x, 0, -1), np.rollaxis(x, 0)),
    "broadcast_to": lambda np, x: (np.broadcast_to(x, (2, *x.shape)), np.full_like(x, 1), np.astype(x, "int32")),
    "pad": lambda np, x: (np.pad(x, 1), np.pad(x, 1, mode="edge"), np.pad(x, (1, 2), constant_values=1)),
    "pad more": lambda np, x: (np.pad(x, 1, mode="reflect"), np.pad(x, 1, mode="wrap")),
    "unstack": lambda np, x: (np.unstack(x), np.split(x, 1), np.array_split(x, 3)),
    "hsplit": lambda np, x: np.hsplit(x, 1),
    "vsplit": lambda np, x: np.vsplit(x, 1),
    "dsplit": lambda np, x: np.dsplit(x, 1),
    "along axes": lambda np, x: (np.sum(x, 0), np.sum(x, -1, keepdims=True), np.any(x, 0), np.all(x, -1), np.prod(x, 0)),
    "extremes": lambda np, x: (np.max(x, -1), np.argmax(x, 0), np.argmin(x, -1)),
    "moments": lambda np, x: (np.mean(x, 0), np.std(x, -1, ddof=1), np.cov(x, ddof=0)),
    "counts": lambda np, x: np.count_nonzero(x, 0),
    "quantiles": lambda np, x: (np.percentile(x, 30), np.quantile(x, [0.2, 0.7]), np.quantile(x, 0.5, axis=0)),
    "nan quantiles": lambda np, x: (np.nanpercentile(x, 30), np.nanquantile(x, 0.2, axis=-1)),
    "histogram": lambda np, x: (np.histogram(x, 5, (0, 3)), np.histogram_bin_edges(x, 3)),
    "interp": lambda np, x: np.interp(x, [0.0, 1, 2], [1.0, 3, 2]),
    "partition": lambda np, x: (np.sort(np.partition(x, 0, -1)), np.argpartition(x, 0, -1).shape),
    "take": lambda np, x: (np.take(x, [0, 0]), np.take(x, 0, 0)),
    "select": lambda np, x: (np.select([x > 1, x > 0], [x, x * 2], 3), np.choose((x > 0).astype(int), [x, x * 3])),
    "piecewise": lambda np, x: np.piecewise(x, [x < 1], [lambda v: v * 2, 7]),
    "edits": lambda np, x: (np.delete(x, 0), np.delete(x, [0], 0), np.insert(x, 0, 7), np.insert(x, 0, 7, axis=0)),
    "resize": lambda np, x: np.resize(x, (2, 5)),
    "einsum": lambda np, x: np.einsum("...i->...", x),
    "indices": lambda np, x: (x[np.tril_indices(2)], x[np.ix_([0], [0])]),
    "running": lambda np, x: (np.cumsum(x, 0), np.cumprod(x, -1), np.cumulative_sum(x, axis=-1, include_initial=True)),
    "searchsorted": lambda np, x: np.searchsorted(np.sort(np.ravel(x)), x),
    "argsort": lambda np, x: np.argsort(x, stable=True),
    "orders": lambda np, x: (np.sort(x, None), np.argsort(x, None, stable=True), np.sort(x, 0)),
    "differences": lambda np, x: (np.diff(x, 2, 0), np.trapezoid(x, dx=0.5)),
    "sequences": lambda np, x: (np.linspace(x, x + 1, 3), np.logspace(x, x + 1, 2)),
    "geomspace": lambda np, x: np.geomspace(np.abs(x) + 1, np.abs(x) + 2, 3),
    "matvec": lambda np, x: np.matvec(x, x[0]),
    "unravel": lambda np, x: np.unravel_index(np.abs(x).astype(int) % 3, (2, 2)),
    "polyfit": lambda np, x: np.polyfit(x, np.cos(x), 1),
    "applied": lambda np, x: (np.apply_along_axis(lambda v: v[::-1] * 2, 0, x), np.apply_over_axes(np.sum, x, 0)),
    "made": lambda np, x: (np.zeros(x.shape, x.dtype), np.ones(x.shape), np.full(x.shape, 2, x.dtype), np.eye(2, 3, 1), np.identity(2), np.tri(2, 3), np.arange(3.0)),
    "made empty": lambda np, x: (np.empty(x.shape, x.dtype).shape, np.empty_like(x).shape, np.fromfunction(lambda i, j: i - j, (2, 3))),
    "windows": lambda np, x: (np.bartlett(5), np.blackman(5), np.hamming(5), np.hanning(5), np.kaiser(5, 8.6)),
    "index arrays": lambda np, x: (np.indices((2, 3)), np.diag_indices(2), np.triu_indices(3, 1), np.mask_indices(3, np.triu)),
    "index arrays from": lambda np, x: (np.tril_indices_from(x, -1), np.triu_indices_from(x)),
    "diagonals from": lambda np, x: np.diag_indices_from(x),
    "types": lambda np, x: (np.result_type(x, np.float32).itemsize, np.promote_types(x.dtype, np.int8).itemsize, np.can_cast(x.dtype, np.float32)),
    "kinds": lambda np, x: (np.isdtype(x.dtype, "numeric"), np.issubdtype(x.dtype, np.floating), np.iterable(x), np.broadcast_shapes(x.shape, (1,))),
    "common_type": lambda np, x: np.common_type(x)(1).itemsize,
    "limits": lambda np, x: (float(np.finfo(np.float32).eps), np.iinfo(np.int16).max),
    "digitize": lambda np, x: (np.digitize(x, [0.0, 1.0]), np.digitize(x, [1.0, 0.0], True)),
    "histogram2d": lambda np, x: np.histogram2d(np.ravel(x), np.ravel(x)[::-1], 3, [[-3, 3], [-2, 2]])[0],
    "histogramdd": lambda np, x: np.histogramdd(x, 3, [(-3, 3)] * 3)[0],
    "polyder": lambda np, x: (np.polyder(np.ravel(x)), np.polyint(np.ravel(x))),
    "real_if_close": lambda np, x: np.real_if_close(x),
    "multi-index": lambda np, x: (np.ravel_multi_index((np.abs(x).astype(int) % 3, np.abs(x).astype(int) % 2), (3, 2)), np.einsum_path("ij,jk->ik", np.ones((2, 3)), np.ones((3, 2)))[0][1]),
    "take_along_axis": lambda np, x: np.take_along_axis(x, np.argsort(x, axis=-1, stable=True), -1),
    "unpackbits": lambda np, x: np.unpackbits(x),
    "vecmat": lambda np, x: np.vecmat(x[:, 0], x),
    **{name: lambda np, x, write=write, **o: written(np, x, write, **o) for name, write in WRITES.items()},
}  # fmt: skip

VALUES = {
    "reciprocal": "of the integer 0, anything",
    "pow": "negative powers of integers are refused",
    "polymul": "leading zeros are left out",
    "polydiv": "remainders near zero are left out",
    "polyfit": "a singular matrix, of one point or of equal ones",
}
"""Where floats of one dimension alone are compared, and why."""

NOT_THERE = {"poly", *WRITES, "polyval", "partition", "moments"}
"""NumPy fails on 0-d arrays by accident: in its dispatcher, for want of a length, or along an axis that sums have.
What it writes into must be an array, and no scalar."""

SHAPES = [(5,), (2, 3), (), (0,), (0, 3), (2, 0), (1,)]
DTYPES = [np.float64, np.float32, np.int64, np.bool_]


def sample(shape, dtype, seed):
    values = np.asarray(np.random.default_rng(seed).normal(size=shape) * 2.5)
    return values > 0 if dtype is np.bool_ else (values if dtype(0.5) else np.round(values)).astype(dtype)


def function_of(name):
    if name in CALLS:
        return CALLS[name]
    return lambda np, *xs: getattr(np, name)(*xs)


def cases(name):
    for dtype in DTYPES:
        for shape in SHAPES:
            follows_values = name in VALUES and not (dtype is np.float64 and shape == (5,))
            if not follows_values and not (name in NOT_THERE and shape == ()):
                yield [sample(shape, dtype, seed) for seed in range(2 if name in OF_TWO else 1)]


def outcome(f, *arrays):
    """Return what a function gives, or the class of what it raises."""
    try:
        with np.errstate(all="ignore"):
            return f(*[x.copy() for x in arrays]), None
    except Exception as error:  # noqa: BLE001 - whatever NumPy raises
        return None, error


def compare(name, arrays, run):
    """Return what is wrong, in words; nothing where all is well."""
    f = function_of(name)
    wanted, refused = outcome(lambda *xs: f(np, *xs), *arrays)
    found, error = outcome(lambda *xs: run(f, xs), *arrays)
    if refused is not None or error is not None:
        kinds = [type(e).__name__ for e in (refused, error)]
        return "" if refused is not None and error is not None else f"{kinds}: {refused or error}"
    try:
        assert_same(found, wanted, ulps=64)
    except AssertionError as difference:
        return str(difference)
    return ""


def at_once(f, arrays):
    return f(n, *arrays)


def traced(f, arrays):
    return run_traced(lambda *xs: f(n, *xs), arrays)[0]


def mapped(f, arrays):
    lanes = numhlo.vmap(lambda *xs: f(n, *xs))(*[np.stack([x, x]) for x in arrays])
    return numhlo.tree.map(lambda x: x[1] if np.ndim(x) else x, lanes)


FAMILIES = {"elementwise": ELEMENTWISE, "of one": OF_ONE, "of two": OF_TWO, "calls": list(CALLS)}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("run", [at_once, traced], ids=lambda f: f.__name__)
@pytest.mark.parametrize("family", FAMILIES)
def test_agrees_with_numpy(family, run):
    wrong = []
    for name in FAMILIES[family]:
        for arrays in cases(name):
            fault = compare(name, arrays, run)
            wrong += [f"{name}({', '.join(f'{x.dtype}{list(x.shape)}' for x in arrays)}): {fault}"] if fault else []
    assert not wrong, f"{len(wrong)} faults:\n" + "\n".join(wrong[:40])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", FAMILIES)
def test_mapped_over_lanes(family):
    wrong = []
    for name in FAMILIES[family]:
        for arrays in cases(name):
            whole = name in ("shape", "ndim", "size")  # Python's numbers, the same for all lanes
            fault = "" if whole or arrays[0].shape in ((1,), (0, 3)) else compare(name, arrays, mapped)
            wrong += [f"{name}({', '.join(f'{x.dtype}{list(x.shape)}' for x in arrays)}): {fault}"] if fault else []
    assert not wrong, f"{len(wrong)} faults:\n" + "\n".join(wrong[:40])
