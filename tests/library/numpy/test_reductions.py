"""Sums, extrema, means, running sums and arg-extrema on every dtype, axis, ``keepdims``, ``where``, ``initial``, ``out``."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numhlo.numpy
from numhlo.lowering.ir.errors import DTypeError
from tests.library.agreement import check, check_all, refusal, run_traced, same_refusal
from tests.library.arrays import DTYPES, FLOATS, sample

AXES = [None, 0, 1, -1, (0, 1), (), (0, -1), (1, 0)]
REDUCTIONS = ["sum", "prod", "max", "min", "all", "any", "mean", "var", "std", "count_nonzero"]
LINEAR = ["argmax", "argmin", "cumsum", "cumprod", "cumulative_sum", "cumulative_prod"]
WITHOUT_INITIAL = {"all", "any", "mean", "var", "std"}


def reduce_all(np, name, x, axes, **options):
    return [getattr(np, name)(x, axis=axis, **options) for axis in axes]


@pytest.mark.slow
@pytest.mark.parametrize("name", REDUCTIONS)
def test_axes_and_dtypes(name, rng):
    cases: list[Any] = []
    for dtype in DTYPES:
        x = sample(rng, dtype, (2, 3, 2), special=False)
        cases.append((f"{dtype}", lambda np, x: reduce_all(np, name, x, AXES), x))
        cases.append((f"{dtype} kept", lambda np, x: reduce_all(np, name, x, AXES, keepdims=True), x))
    check_all(cases, ulps=1000)


@pytest.mark.parametrize("name", LINEAR)
def test_along_one_axis(name, rng):
    cases: list[Any] = []
    for dtype in DTYPES:
        x = sample(rng, dtype, (3, 4), special=dtype.kind in "biu")
        axes = [0, 1, -1] if name.startswith("cumulative") else [None, 0, 1, -1]
        cases.append((f"{dtype}", lambda np, x, axes=axes: reduce_all(np, name, x, axes), x))
        cases.append((f"{dtype} vector", lambda np, x: getattr(np, name)(x), x[0]))
    check_all(cases, ulps=64)


def test_empty_and_scalar():
    shapes = [(0,), (0, 3), (3, 0)]
    cases: list[Any] = []
    for name in [*REDUCTIONS, "cumsum"]:
        for dtype in map(numpy.dtype, "?bdF"):
            for shape in shapes:
                for axis in (None, 0, len(shape) - 1):
                    if name not in ("max", "min") or (axis is not None and shape[axis] and 0 in shape):
                        fun = lambda np, x, name=name, axis=axis: getattr(np, name)(x, axis=axis)
                        cases.append((f"{name} {dtype} {shape} {axis}", fun, numpy.ones(shape, dtype)))
            axes = [None] if name in ("mean", "var", "std") else [None, 0, -1]
            fun = lambda np, x, name=name, axes=axes: reduce_all(np, name, x, axes)
            cases.append((f"{name} {dtype} 0-d", fun, numpy.ones((), dtype)))
    with pytest.warns(RuntimeWarning):  # NumPy's, about means of nothing
        check_all(cases)


@pytest.mark.slow
def test_where_initial_out_dtype(rng):
    cases: list[Any] = []
    for name in REDUCTIONS[:-1]:
        initial = {} if name in WITHOUT_INITIAL else {"initial": 1}
        for dtype in DTYPES:
            x, mask = sample(rng, dtype, (3, 4), special=False), rng.random((3, 4)) > 0.3
            mask[0] = True
            fun = lambda np, x, m, name=name, i=initial: (
                getattr(np, name)(x, axis=0, where=m, **i), getattr(np, name)(x, axis=1, where=m[0], **i)
            )  # fmt: skip
            cases.append((f"{name} {dtype} where", fun, x, mask))
            into = numpy.zeros(4, "c16" if name in ("sum", "prod") else "f8")
            averaged = name in ("mean", "var", "std")
            if (
                (dtype == into.dtype or dtype.kind in "iu")
                if averaged
                else (dtype.kind != "c" or into.dtype.kind == "c")
            ):
                cases.append(
                    (f"{name} {dtype} out", lambda np, x, o, name=name: getattr(np, name)(x, axis=0, out=o), x, into)
                )
            if name in ("sum", "prod", "mean"):
                for wide in ("f4", "f8", "c16"):
                    if dtype.kind != "c" or wide == "c16":
                        cases.append(
                            (
                                f"{name} {dtype} {wide}",
                                lambda np, x, n=name, w=wide: getattr(np, n)(x, axis=0, dtype=w),
                                x,
                            )
                        )
    check_all(cases, ulps=256)


@pytest.mark.parametrize("into", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["mean", "var", "std", "nanmean", "nanvar", "nanstd"])
def test_wider_outputs_take_halves_unrounded(name, into, rng):
    x = rng.normal(7, 3, (50, 8)).astype(numpy.float16)
    (found, named), _ = run_traced(
        lambda x: (
            getattr(numhlo.numpy, name)(x, axis=0, out=numhlo.numpy.zeros(8, into)),
            getattr(numhlo.numpy, name)(x, axis=0, dtype=numpy.float32),
        ),
        [x],
    )
    wanted = getattr(numpy, name)(x.astype(float), axis=0)
    assert found.dtype == into
    numpy.testing.assert_allclose(found, wanted, rtol=2e-6)
    numpy.testing.assert_allclose(named, wanted, rtol=2e-6)


def test_special_floats(rng):
    for dtype in FLOATS:
        x = sample(rng, dtype, (4, 5))
        check(
            lambda np, x: (x.max(0), x.min(1), x.argmax(0), x.argmin(1), np.sum(x, 1), x.any(), x.cumsum(0)), x, ulps=64
        )
    check(lambda np, x: (np.min(x, initial=-1), np.sum(x[:0]), np.sum(x[:1])), numpy.array([-0.0, 0.0]), ulps=0)


def test_degrees_of_freedom(rng):
    x = rng.normal(size=(3, 4))
    check(lambda np, x: (np.var(x, ddof=1), np.std(x, 1, ddof=1.5), x.var(0, ddof=2), np.ptp(x, 0)), x, ulps=64)
    check(lambda np, x: (np.var(x, correction=1), np.var(x, 1, mean=np.mean(x, 1, keepdims=True))), x, ulps=64)
    check(lambda np, x: np.cumulative_sum(x[0], include_initial=True), x, ulps=64)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_variance_of_complex_numbers_in_another_dtype(rng):
    z = (rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4))).astype("c8")
    for dtype in ("f4", "f8", "c8", "c16"):
        check(lambda np, z, t=dtype: (np.var(z, 0, t), np.var(z.real, dtype=t)), z, ulps=64)


@pytest.mark.parametrize(
    "fun",
    [
        lambda np, x: np.sum(x, 2),
        lambda np, x: np.sum(x, (0, 0)),
        lambda np, x: np.max(x[:0]),
        lambda np, x: np.argmax(x[:0]),
        lambda np, x: np.max(x, where=x > 0),
        lambda np, x: np.ptp(x > 0),
        lambda np, x: np.cumulative_sum(x),
        lambda np, x: np.argmax(x, 5),
        lambda np, x: np.cumsum(x, 2),
        lambda np, x: np.sum(x, 0, out=x * 0),
        lambda np, x: np.std(x, 0, out=x * 0),
        lambda np, x: np.ptp(x, 0, out=x * 0),
        lambda np, x: np.cumsum(x[0], out=x * 0),
        lambda np, x: np.add.reduce(x, out=x * 0),
        lambda np, x: np.take(x[0], [0, 1, 2], out=x * 0),
        lambda np, x: np.max(x.astype(np.uint8), initial=-1),
        lambda np, x: np.sum(x, initial=1j),
        lambda np, x: np.nanmean(x, dtype=int),
        lambda np, x: np.nanstd(x, ddof=1, correction=1),
    ],
)
def test_refused_as_by_numpy(fun):
    same_refusal(fun, numpy.ones((2, 3)))


def test_messages():
    assert refusal(lambda np, x: np.sum(x, 2), numpy.ones((2, 3))) == (
        "axis 2 is out of bounds for array of dimension 2\n  at test_reductions.py"
    )
    assert refusal(lambda np, x: np.ptp(x > 0), numpy.ones(3), kind=DTypeError) == (
        "ptp of a boolean array\n  at test_reductions.py\n  convert it to an integer dtype first"
    )
