"""``x.at[index]`` where the number of elements is not known: traced masks, and slices with traced bounds."""

from __future__ import annotations

import numpy as np
import pytest

import numhlo
from numhlo import compat
from numhlo.lowering.ir.errors import DataDependentShapeError
from tests.library.agreement import run_traced

X, Y = np.arange(24.0).reshape(4, 6), np.arange(24.0)[::-1].reshape(4, 6) * 3 + 1
M = np.array([1, 0, 1, 1, 0, 1], bool)
OPERATIONS = {
    "set": lambda old, new: new,
    "add": np.add,
    "multiply": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "subtract": np.subtract,
    "divide": np.divide,
    "power": np.power,
}
INDICES = {
    "head": lambda i, m: np.s_[:i],
    "tail": lambda i, m: np.s_[i:],
    "part of a row": lambda i, m: np.s_[1, :i],
    "columns": lambda i, m: np.s_[:, :i],
    "last axis": lambda i, m: np.s_[..., i:],
    "part of a column": lambda i, m: np.s_[i:, 2],
    "steps": lambda i, m: np.s_[:i:2],
    "window of rows": lambda i, m: np.s_[1:3, i : i + 2],
    "masked columns": lambda i, m: np.s_[:, m],
    "masked rows": lambda i, m: np.s_[m[:4]],
    "masked part of a column": lambda i, m: np.s_[m[:4], 2],
    "masked part of a row": lambda i, m: np.s_[2, m],
}
INTO_ALL_AXES = {"columns", "last axis", "window of rows", "masked columns"}
"""Where as many values would have to be as elements, along an axis that is not the first."""


def updated(x, index, name, value):
    result = x.copy()
    result[index] = OPERATIONS[name](result[index], value)
    return result


@pytest.mark.parametrize("where", INDICES)
def test_numbers_and_as_many_values(where):
    for name in OPERATIONS:
        index = INDICES[where](3, M)
        found = run_traced(lambda x, i, m, name=name: getattr(x.at[INDICES[where](i, m)], name)(2.0), [X, 3, M])
        np.testing.assert_array_equal(found[0], updated(X, index, name, 2.0))
        if where in INTO_ALL_AXES:
            continue
        same = lambda x, y, i, m, name=name: getattr(x.at[INDICES[where](i, m)], name)(y[INDICES[where](i, m)])
        np.testing.assert_allclose(run_traced(same, [X, Y, 3, M])[0], updated(X, index, name, Y[index]), rtol=1e-15)


def test_other_shapes_of_values():
    rows = run_traced(lambda x, y, i: x.at[:, i:].add(y[:, :1]), [X, Y, 2])[0]
    np.testing.assert_array_equal(rows, updated(X, np.s_[:, 2:], "add", Y[:, :1]))
    with pytest.raises(DataDependentShapeError, match="slice with a traced bound"):
        run_traced(lambda x, y, i: x.at[:, i:].set(y), [X, Y, 2])
    with pytest.raises(DataDependentShapeError, match="traced boolean mask"):
        run_traced(lambda x, y, m: x.at[:, m].add(y), [X, Y, M])


def test_under_jaxs_names_and_for_captured_arrays():
    jnp = compat.jax.numpy
    found = compat.jax.jit(lambda i, m: jnp.asarray(X).at[:, m].set(0.0).at[i:].get().sum())(2, M)
    assert found == updated(X, np.s_[:, M], "set", 0.0)[2:].sum()
    assert numhlo.jit(lambda i: (X[:i].sum(), X[1, i:].max()))(2) == (X[:2].sum(), X[1, 2:].max())
