"""Arrays of which elements between two bounds are changed in place: loops run over these, and the others stay."""

import numpy as np
import pytest

import numhlo
from numhlo.backend.program import Launch
from tests.backend.programs import all_steps
from tests.every_call.harness import check_every_call

N = 110


def adds_to_a_part_of_a_row(a, b, i, j):
    for k in range(1, N):
        a[k, i:j] += b[k, i:j] * 2
    return a


def triangle(a, b, i, j):
    for k in range(N):
        a[k, : k + 1] -= b[k, : k + 1]
        a[k, k + 1 :] = 0
    return a


def trailing_blocks(a, b, i, j):
    for k in range(N - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k][:, None] * a[k, k + 1 :]
    return a


def columns(a, b, i, j):
    for k in range(1, N):
        a[i:j, k] += a[i:j, k - 1] * 0.5
    return a


def by_masks(a, b, i, j):
    places = np.arange(N)
    for k in range(N):
        a[k] = np.where((places > k) & (places <= j), b[k], a[k])
    return a


def of_rows(a, b, i, j):
    rows = np.arange(N)[:, None]
    for k in range(N):
        a[:] = np.where((rows >= k) & (rows < j), a + b, a)
    return a


def below_the_diagonal(a, b, i, j):
    rows, columns = np.arange(N)[:, None], np.arange(N)
    for k in range(N):
        a[:] = np.where((rows >= columns) & (columns >= k), a + b, a)
    return a


def leaves_what_was_read(a, b, i, j):
    """The row is read at another place than it is written: nothing may be left out."""
    for k in range(1, N):
        a[k, :] = np.where(np.arange(N) < k, b[k], a[k - 1])
    return a


PROGRAMS = [
    *[adds_to_a_part_of_a_row, triangle, trailing_blocks, columns, by_masks, of_rows, below_the_diagonal],
    leaves_what_was_read,
]


DIVIDES = (trailing_blocks, columns)
"""Programs whose results NumPy doesn't write into integers."""

CASES = [(f, "float64") for f in PROGRAMS] + [(f, "float32") for f in PROGRAMS]
CASES += [(f, dtype) for f in PROGRAMS if f not in DIVIDES for dtype in ("float16", "int32")]


@pytest.mark.parametrize(("program", "dtype"), CASES, ids=lambda x: getattr(x, "__name__", x))
def test_what_lies_outside_stays(program, dtype, rng):
    a = (rng.normal(size=(N, N)) + N * np.eye(N)).astype(dtype)
    b = rng.normal(size=(N, N)).astype(dtype)
    inputs = [[a, b, np.array(i), np.array(j)] for i, j in [(3, 20), (0, N), (17, 17), (90, 5)]]
    schedule = [("plain", k) for k in (0, 1, 2, 3, 0)]
    check_every_call(numhlo.jit(program), inputs, reference=program, schedule=schedule)


def test_loops_run_from_bound_to_bound(rng):
    a, b = rng.normal(size=(2, N, N))
    for program, bounds in {triangle: "range(max(", by_masks: "range(max("}.items():
        compiled = numhlo.jit(program).lower(a, b, 3, 20).compile()
        steps = all_steps(compiled._entry.program.executable.program)
        text = "\n".join(step.kernel.source for step in steps if isinstance(step, Launch))
        assert bounds in text, text
