"""Functions that return as many elements as their arguments' values say, beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import DataDependentShapeError

LINES = [
    np.array([0.0, 1.5, -2.0, 3.0, 0.0, 1.5]),
    np.array([np.nan, 2.0, 1.0, np.nan, -0.0, 7.0]),
    -np.ones(6),
    np.full(6, 4.0),
]

PROGRAMS = {
    "mask": lambda x: x[x > 0],
    "arithmetic": lambda x: np.sqrt(x[x > 0]) * 2 + 1,
    "where": lambda x: np.where(x > 0),
    "nonzero of two axes": lambda x: np.nonzero(x.reshape(2, 3) > 0),
    "argwhere": lambda x: np.argwhere(x.reshape(3, 2) > 0),
    "flatnonzero": lambda x: np.flatnonzero(x > 0),
    "compress": lambda x: np.compress(x > 0, x),
    "extract": lambda x: np.extract(x > 0, x),
    "unique": lambda x: np.unique(x),
    "unique integers": lambda x: np.unique(np.nan_to_num(x).astype(np.int32)) + 1,
    "trim_zeros": lambda x: np.trim_zeros(x),
    "trim_zeros at an end": lambda x: (np.trim_zeros(x, "f"), np.trim_zeros(x, "b")),
    "rows": lambda x: np.stack([x, 2 * x], 1)[x > 0],
    "columns": lambda x: np.stack([x, 2 * x])[:, x > 0],
    "beside others": lambda x: {"kept": x[x > 0], "sum": x.sum(), "pair": [x, np.flatnonzero(x < 0)]},
    "cumulative": lambda x: (np.cumsum(x[x > 0]), np.cumprod(x[x > 0])),
    "sorted": lambda x: (np.sort(x[x != 0]), np.sort(x.astype(bool)[x > 1])),
    "differences": lambda x: np.diff(x[x > 0]),
    "gathered": lambda x: (x * 2)[np.flatnonzero(x > 0)],
    "called": lambda x: double_of_positive(x) + 1,
    "slice": lambda x: x[: np.argmax(x)],
}


@numhlo.jit
def double_of_positive(x):
    return x[x > 0] * 2


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_results_have_their_lengths(name):
    compiled = numhlo.jit(PROGRAMS[name])
    for x in LINES:
        before = x.copy()
        with np.errstate(all="ignore"):
            expected, found = numhlo.tree.flatten(PROGRAMS[name](x)), numhlo.tree.flatten(compiled(x))
        assert found[1] == expected[1]
        for wanted, one in zip(expected[0], found[0], strict=True):
            np.testing.assert_array_equal(one, wanted)
            assert np.asarray(one).dtype == np.asarray(wanted).dtype
        np.testing.assert_array_equal(x, before)


def test_results_are_arrays_of_their_own_that_can_be_written():
    positive = numhlo.jit(lambda x: x[x > 0])
    first = positive(LINES[0])
    first[:] = 0.0
    np.testing.assert_array_equal(positive(LINES[0]), [1.5, 3.0, 1.5])
    assert isinstance(first, numhlo.Array)
    assert first.base is None or first.base.nbytes == first.nbytes


def test_programs_that_write_into_arguments():
    def take_out(x):
        found = x[x > 0]
        x[x > 0] = 0.0
        return found

    x, y = LINES[0].copy(), LINES[0].copy()
    np.testing.assert_array_equal(numhlo.jit(take_out)(x), take_out(y))
    np.testing.assert_array_equal(x, y)


def test_stages():
    lowered = numhlo.jit(lambda x: x[x > 0]).lower(np.ones(3))
    assert "-> (tensor<3xf64>, tensor<i64>)" in lowered.as_text()
    np.testing.assert_array_equal(lowered.compile()(np.array([1.0, -1.0, 2.0])), [1.0, 2.0])


@pytest.mark.parametrize(
    "transformed",
    [
        numhlo.vmap(lambda x: x[x > 0]),
        numhlo.jit(numhlo.vmap(lambda x: x[x > 0])),
        numhlo.vmap(numhlo.jit(lambda x: x[x > 0])),
        numhlo.jit(numhlo.jacrev(lambda x: x[x > 0])),
        numhlo.jit(numhlo.grad(lambda x: x[x > 0])),
    ],
)
def test_transformations_refuse_them(transformed):
    with pytest.raises(DataDependentShapeError, match=r"x\[mask\] with a traced boolean mask") as caught:
        transformed(np.ones((2, 2)))
    assert caught.value.where.source


def test_what_has_no_traced_length_in_other_places_is_refused():
    with pytest.raises(DataDependentShapeError, match="unique of a traced array"):
        numhlo.jit(lambda x: np.unique(x).reshape(-1, 1))(np.ones(3))
    with pytest.raises(DataDependentShapeError, match="trim_zeros of a traced array"):
        numhlo.jit(lambda x: np.trim_zeros(x)[:2])(np.ones(3))
    with pytest.raises(DataDependentShapeError, match="can't be exported: the length of a result"):
        numhlo.export(lambda x: x[x > 0], np.ones(3))
    with pytest.raises(DataDependentShapeError, match="nonzero of a traced array"):
        numhlo.jit(lambda x, found: found.append(np.flatnonzero(x)))(np.ones(3), [])
