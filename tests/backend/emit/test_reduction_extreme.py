"""Searches for first extremes, alone and beside maxima and minima of the same elements, in every loop shape."""

import jax.numpy as jnp
import numpy as np
import pytest

from numhlo.lowering.ir import TensorType
from tests.backend.emit.special_values import special_values
from tests.backend.emit.test_reduction import check, run_native, sources
from tests.backend.plain_engine import run_plain
from tests.backend.programs import from_jax
from tests.backend.random_programs import dtype_named, random_array

SHAPES = {
    "rows": ((5, 70), 1),
    "columns": ((70, 9), 0),
    "units of columns": ((21, 70), 0),
    "columns of the middle": ((3, 20, 5), 1),
    "short rows": ((9, 5), 1),
    "short columns": ((5, 9), 0),
    "one row": ((40,), 0),
    "unit axis": ((4, 1), 1),
    "no results": ((30, 0), 0),
}
EXTREMES = ("max", "argmax", "min", "argmin")


def extremes_of(axis):
    return lambda x: tuple(getattr(jnp, name)(x, axis) for name in EXTREMES)


def special_array(rng, shape, dtype, nans=0.0):
    """Return few different values, so that there are ties; zeros of both signs in many rows and columns."""
    values = special_values(dtype)
    if values.dtype.kind == "f" or dtype.name == "bfloat16":
        values = values[~np.isnan(values)]
    found = rng.choice(values, shape)
    found[rng.random(shape) < 0.3] = 0
    if dtype.kind == "f" or dtype.name == "bfloat16":
        found[..., : shape[-1] // 2] = rng.choice(
            np.array([0.0, -0.0, -0.0, -0.0], dtype), (*shape[:-1], shape[-1] // 2)
        )
        if len(shape) > 1:
            found[:, 1:3] = np.copysign(found, rng.choice(np.array([1, -1], dtype)))[:, 1:3]
        found[rng.random(shape) < nans] = np.nan
    return found


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int8", "int64", "uint32", "bool"])
@pytest.mark.parametrize("name", SHAPES)
def test_extremes_and_their_places(name, dtype, rng):
    shape, axis = SHAPES[name]
    for nans in (0.0, 0.02, 0.5) if "float" in dtype else (0.0,):
        x = special_array(rng, shape, dtype_named(dtype), nans)
        check(from_jax(extremes_of(axis), x), [x])


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
@pytest.mark.parametrize("name", ["rows", "columns", "units of columns", "short rows", "short columns"])
def test_as_machine_code_they_are_numpys(name, dtype, rng):
    shape, axis = SHAPES[name]
    x = special_array(rng, shape, np.dtype(dtype), 0.02)
    program = check(from_jax(extremes_of(axis), x), [x], run_native)
    for case in range(20):
        x = special_array(rng, shape, np.dtype(dtype), 0.02 * (case % 3))
        for found, extreme in zip(run_native(program, [x]), EXTREMES, strict=True):
            np.testing.assert_array_equal(found, getattr(np, extreme)(x, axis))


@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_a_search_goes_for_the_extreme_beside_it_too(dtype, rng):
    x = random_array(rng, TensorType((20, 20), np.dtype(dtype)))
    columns, rows = (
        sources(check(from_jax(lambda x, axis=axis: (x.argmax(axis), x.max(axis)), x), [x])) for axis in (0, 1)
    )
    assert [text.count(" = maximum(") for text in columns] == [1]  # with the initial value
    (text,) = rows
    assert text.count("for ") == 1  # over rows
    assert ("== to_f64(0.0):" in text) == (dtype == "float64")  # else nobody asks for signs of zeros


def test_an_extreme_of_other_elements_is_one_of_its_own(rng):
    x = np.round(random_array(rng, TensorType((20, 20), np.dtype(np.float32))))
    for axis in (0, 1):
        check(from_jax(lambda x, axis=axis: (x.argmax(axis), (-x).max(axis), x.min(axis), abs(x).argmin(axis)), x), [x])


def test_short_rows_of_what_is_computed_are_written_out(rng):
    x = np.round(random_array(rng, TensorType((9, 12), np.dtype(np.float32))))
    x[rng.random(x.shape) < 0.05] = np.nan
    for function, writes_out in [(lambda x: (x - 1).argmin(1), True), (lambda x: x.argmin(1), False)]:
        for run in (run_plain, run_native):
            (text,) = sources(check(from_jax(function, x), [x], run))
        assert ("first_minimum" not in text) == writes_out


def test_elements_that_are_stored_where_they_are_read_are_searched_once(rng):
    x = np.round(random_array(rng, TensorType((20, 20), np.dtype(np.float32))))
    x[rng.random(x.shape) < 0.05] = np.nan
    traced = from_jax(lambda x: (x * 2 + 1, (x * 2 + 1).argmax(0), (x * 2 + 1).max(0)), x)
    for run in (run_plain, run_native):
        program = check(traced, [x], run)
    assert not any("broken" in source for source in sources(program))


@pytest.mark.slow
def test_long_columns_and_rows_in_blocks(rng):
    for shape, axis in (((4200, 70), 0), ((3, 9000), 1), ((9000,), 0)):
        for nans in (0.0, 0.0001):
            x = special_array(rng, shape, np.dtype(np.float32), nans)
            check(from_jax(extremes_of(axis), x), [x], run_native)


def test_signs_of_maxima_across_columns_are_looked_for_only_where_the_first_zero_is_negative():
    x = np.full((9, 70), -1.0)
    x[3], x[5, ::2] = -0.0, 0.0
    (source,) = sources(check(from_jax(lambda x: (jnp.max(x, 0), jnp.argmax(x, 0)), x), [x]))
    loop = source.split("while row0 < n1")[1]
    assert "overtake" in loop
    assert "bits_of_f64" not in loop
