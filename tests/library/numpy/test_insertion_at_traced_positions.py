"""np.insert and np.delete at one traced position, and a free slot that is looked for and filled, beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import numhlo

LINE, TABLE = np.arange(8.0), np.arange(12.0).reshape(4, 3)
PROGRAMS = {
    "one": lambda i: np.insert(LINE + i, i, 9.0),
    "several": lambda i: np.insert(LINE + i, i, [1.0, 2.0, 3.0]),
    "at a list": lambda i: np.insert(LINE + i, np.stack([i + 0]), [1.0, 2.0]),
    "column": lambda i: np.insert(TABLE + i, i, 7.0, axis=1),
    "rows": lambda i: np.insert(TABLE + i, i, np.ones((2, 3)), axis=0),
    "removed": lambda i: np.delete(LINE + i, i),
    "removed column": lambda i: np.delete(TABLE + i, i, axis=1),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_insert_and_delete(name):
    compiled = numhlo.jit(PROGRAMS[name])
    for position in (0, 1, 2, -1, -3):
        np.testing.assert_array_equal(compiled(position), PROGRAMS[name](position))


def test_a_free_slot():
    def fill(used, k):
        first, other = np.argmin(used), np.flatnonzero(~used)[0]
        used[first] = True
        return first, other

    compiled = numhlo.jit(fill)
    found, expected = np.array([True, False, True, False]), np.array([True, False, True, False])
    for k in range(2):
        assert [int(v) for v in compiled(found, k)] == [int(v) for v in fill(expected, k)]
        np.testing.assert_array_equal(found, expected)
