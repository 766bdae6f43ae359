"""Reductions of the elements between two bounds look at no others, and give the bits of all of them."""

import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo import numpy as nnp
from numhlo.backend.program import Launch
from numhlo.lowering.interpreter import interpret
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import all_steps, plan
from tests.every_call.harness import check_every_call

BOUNDS = [-5, -1, 0, 1, 15, 16, 17, 64, 98, 99, 100, 101, 2**62, -(2**62)]
N = 100

COMBINED = {"sum": 0, "prod": 1, "max": -np.inf, "min": np.inf}
TESTS = {
    "from, below": lambda k, i, j: (k >= i) & (k < j),
    "after, up to": lambda k, i, j: (i < k) & (j >= k),
    "one": lambda k, i, j: k == i,
    "below both": lambda k, i, j: (k < i) & (k < j),
    "after, and more": lambda k, i, j: (k > i) & (k % 3 == 0),
}


def masked(name, test, dtype="float64", n=N):
    """Return a function that reduces the elements of a line at which a test holds."""

    def reduced(x, i, j):
        fill = np.dtype(dtype).type(COMBINED[name])
        return getattr(nnp, name)(nnp.where(test(nnp.arange(n), i, j), x, fill))

    return reduced


def traced(function, x):
    return numhlo.jit(function).trace(x, 1, 2).module.main


def narrowed(program):
    """Return whether a kernel of a program has bounds of its own."""
    text = "\n".join(step.kernel.source for step in all_steps(program) if isinstance(step, Launch))
    return "first0 = " in text and "last0 = " in text


def line(dtype="float64", n=N):
    """Return numbers with zeros of both signs, infinities apart from each other, and a NaN."""
    x = np.linspace(-3, 3, n).astype(dtype)
    if x.dtype.kind == "f":
        x[:20], x[40], x[77], x[90] = -0.0, np.inf, np.nan, 0.0
    return x


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("name", COMBINED)
def test_bits(name, test):
    function = traced(masked(name, TESTS[test]), line())
    program = plan(function)
    assert narrowed(program)
    for i in BOUNDS:
        for j in (0, 50, 100) if i not in (15, 98) else BOUNDS:
            arrays = [line(), np.array(i), np.array(j)]
            for found, wanted in zip(run_plain(program, arrays), interpret(function, arrays), strict=True):
                assert_same_bits(found, np.asarray(wanted))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "int8"])
def test_types(dtype):
    function = traced(masked("sum", TESTS["from, below"], dtype), line(dtype))
    program = plan(function)
    for i, j in [(0, 0), (3, 70), (90, 200), (5, 3)]:
        arrays = [line(dtype), np.array(i), np.array(j)]
        for found, wanted in zip(run_plain(program, arrays), interpret(function, arrays), strict=True):
            assert_same_bits(found, np.asarray(wanted))


@pytest.mark.parametrize("n", [3000, 9000, 300_000])
def test_lines_of_many_blocks_in_machine_code(n, rng):
    """One block, several in one unit, and so many that each is a unit of its own."""
    x = rng.normal(size=n)
    f = numhlo.jit(masked("sum", TESTS["from, below"], n=n))
    inputs = [[x, np.array(i), np.array(j)] for i, j in [(5, n - 7), (n // 2, n // 2 + 40), (n, 0), (-3, n + 3)]]
    schedule = [("plain", k) for k in (0, 1, 2, 3, 1, 0)]
    check_every_call(f, inputs, written=(), schedule=schedule)


def test_a_sum_that_begins_with_minus_zero_looks_at_all():
    """What is left out makes it 0.0, which no element between the bounds does."""

    def function(x, i, j):
        k = nnp.arange(N)
        chosen = nnp.where((k >= i) & (k < j), x, 0.0)
        return lax.reduce(chosen, np.float64(-0.0), lambda a, b: a + b, (0,))

    function = traced(function, line())
    assert not narrowed(plan(function))


def test_bounds_that_vary_along_the_line_are_none():
    def function(x, i, j):
        k = nnp.arange(N)
        return nnp.sum(nnp.where((k >= i) & (k < k[::-1] + j), x, 0.0))

    function = traced(function, line())
    program = plan(function)
    arrays = [line(), np.array(3), np.array(5)]
    for found, wanted in zip(run_plain(program, arrays), interpret(function, arrays), strict=True):
        assert_same_bits(found, np.asarray(wanted))


def sparse_product(start, columns, values, x):
    y = np.zeros(start.size - 1)
    for i in range(start.size - 1):
        places = columns[start[i] : start[i + 1]]
        factors = values[start[i] : start[i + 1]]
        y[i] = factors @ x[places]
    return y, factors.sum()


def test_work_in_rows_of_a_sparse_matrix_is_that_of_its_elements(rng):
    """The loop is one of the graph, whatever it leaves in names; a slice of the last iteration is there after it."""
    rows, most = 150, 9
    counts = rng.integers(0, most, rows)
    start = np.concatenate([[0], np.cumsum(counts)])
    inputs = [
        [start, rng.integers(0, 50, start[-1]), rng.normal(size=start[-1]), rng.normal(size=50)] for _ in range(2)
    ]
    f = numhlo.jit(sparse_product)
    assert len(f.lower(*inputs[0]).as_text().splitlines()) < 600
    check_every_call(f, inputs, reference=sparse_product, written=())
