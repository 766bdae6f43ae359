"""Python loops that are kept as loops: what NumPy does, in kernels like those that one writes by hand."""

import numpy as np
import pytest

import numhlo
from numhlo.lowering.passes.pipeline import optimize
from tests.backend.programs import plan

LINE = np.random.default_rng(0).integers(0, 50, 20)


def insertion_sort(a):
    for i in range(1, len(a)):
        for j in range(i, 0, -1):
            if a[j - 1] <= a[j]:
                break
            a[j - 1], a[j] = a[j], a[j - 1]


def selection_sort(a):
    for i in range(len(a)):
        least = i
        for j in range(i + 1, len(a)):
            if a[j] < a[least]:
                least = j
        a[i], a[least] = a[least], a[i]


def bubble_sort(a):
    for i in range(len(a)):
        for j in range(len(a) - i - 1):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]


def nearest_first(w):
    """Dijkstra's distances."""
    n = len(w)
    d, done = np.full(n, 1e9), np.zeros(n, np.bool_)
    d[0] = 0.0
    for _ in range(n):
        u, best = -1, 1e10
        for v in range(n):
            if not done[v] and d[v] < best:
                best, u = d[v], v
        done[u] = True
        for v in range(n):
            d[v] = min(d[v], d[u] + w[u, v])
    return d


def last_text(function, *arguments):
    """Return the text of the kernel that goes through most rounds."""
    traced = numhlo.jit(function, autograph=True).trace(*arguments)._traced
    return plan(optimize(traced.function), written=traced.written).kernels[-1].source


@pytest.mark.parametrize("sort", [insertion_sort, selection_sort, bubble_sort])
def test_bounds_of_inner_ranges_say_that_indices_are_inside(sort):
    line = LINE.copy()
    numhlo.jit(sort, autograph=True)(line)
    np.testing.assert_array_equal(line, np.sort(LINE))
    assert "within(" not in last_text(sort, LINE)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
def test_bounds_of_ranges_are_python_numbers(dtype):
    def visited(first, last):
        count, up, down, index = 0, 0, 0, -1
        for index in range(first, last):
            count, up = count + 1, up + index * 3
        for k in range(last, first, -1):
            down += k * 3
        for k in range(last, first, -7):
            down += k
        return count, up, down, index, index * np.float32(0.5)

    bounds = dtype(max(np.iinfo(dtype).min, -100)), dtype(120)
    found = numhlo.jit(visited, autograph=True)(*bounds)
    expected = visited(*map(int, bounds))
    assert [float(x) for x in found] == [float(x) for x in expected]
    assert found[3].dtype == np.int64
    assert found[4].dtype == expected[4].dtype


def test_branches_that_give_elements_of_arrays_stay_in_the_loops_kernel():
    weights = np.random.default_rng(1).random((70, 70))
    np.testing.assert_array_equal(numhlo.jit(nearest_first, autograph=True)(weights), nearest_first(weights))
    text = last_text(nearest_first, weights)
    assert text.count("while") >= 4
    assert "for i" not in text  # nothing is copied
