"""Long loops of lax outside jit: compiled once for their bodies, with the results, types and errors of Python loops."""

import contextlib

import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.compilation import eager_loops as programs
from numhlo.lowering.ir.errors import ControlFlowTypeError
from numhlo.tracer.control_flow import eager_loops, loops
from numhlo.tracer.core.type_rules import NUMPY

LONG = eager_loops.LONG + 44


@contextlib.contextmanager
def in_python():
    """Run loops as Python loops."""
    kept = eager_loops.RUNNERS[:]
    eager_loops.RUNNERS.clear()
    try:
        yield
    finally:
        eager_loops.RUNNERS[:] = kept


def same(found, expected):
    """Compare pytrees of results, their dtypes and classes."""
    pairs = zip(numhlo.tree.leaves(found), numhlo.tree.leaves(expected), strict=True)
    assert numhlo.tree.structure(found) == numhlo.tree.structure(expected)
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-12)
        assert one.dtype == other.dtype
        assert type(one) is type(other) is numhlo.Array


def step(carry, x):
    """Add up, and stack two things."""
    return carry + x, {"before": carry, "twice": x * 2}


LOOPS = {
    "scan": lambda init, xs: lax.scan(step, init, xs),
    "scan in reverse": lambda init, xs: lax.scan(step, init, xs, reverse=True),
    "scan without arrays": lambda init, xs: lax.scan(lambda c, _: (c * 0.5 + xs[1], None), init * 1.0, length=LONG),
    "fori_loop": lambda init, xs: lax.fori_loop(0, LONG, lambda i, c: c + xs[i], init),
    "while_loop": lambda init, xs: lax.while_loop(
        lambda c: c[0] < LONG, lambda c: (c[0] + 1, c[1] + xs[c[0]]), (0, init)
    ),
    "map": lambda init, xs: lax.map(lambda x: (x * init, x + 1), xs),
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("init", [0, 0.5, np.float32(1.5), np.ones(3)], ids=["int", "float", "float32", "array"])
def test_the_same_as_in_python(name, init):
    xs = np.arange(LONG)
    with in_python():
        expected = LOOPS[name](init, xs)
    for _ in range(2):
        same(LOOPS[name](init, xs), expected)
    np.testing.assert_array_equal(xs, np.arange(LONG))


def test_a_body_is_compiled_once():
    def body(i, value):
        return value + i

    for k in range(4):
        assert int(lax.fori_loop(k, LONG + k, body, 1)) == 1 + sum(range(k, LONG + k))
    program = programs._program(loops._for_program, (body,), (), NUMPY)
    assert program.jitted.cache_info().misses == 1


def test_a_body_that_prints_does_so_once(capsys):
    def body(i, value):
        print("traced")  # noqa: T201 - what it shows is looked at
        return value + 1

    assert int(lax.fori_loop(0, LONG, body, 0)) == LONG
    assert int(lax.fori_loop(0, LONG + 9, body, 0)) == LONG + 9
    assert capsys.readouterr().out == "traced\n"


def test_bodies_that_change_what_is_outside_run_in_python():
    log, counts, written = [], [0], np.zeros(2)

    def body(i, value):
        log.append(i)
        counts[0] += 1
        written[0] += 1
        return value + 1 if value < 100 else value

    for calls in (1, 2):
        assert int(lax.fori_loop(0, LONG, body, 0)) == 100
        assert (len(log), counts[0], written[0]) == (calls * LONG, calls * LONG, calls * LONG)
    assert log[:3] == [0, 1, 2]

    def only_writes(i, value):
        written[1] += 1
        return value + 1

    assert int(lax.fori_loop(0, LONG, only_writes, 0)) == LONG
    assert written[1] == LONG


def test_a_body_owns_its_carry_and_reads_captured_arrays_anew():
    weights = np.arange(3.0)

    def body(i, value):
        value[i % 3] += weights[1]
        return value

    start = np.zeros(3)
    for factor in (1, 5):
        weights[1] = factor
        np.testing.assert_array_equal(lax.fori_loop(0, 3 * LONG, body, start), np.full(3, LONG * factor))
        rows = lax.map(lambda x: x * weights[1], np.ones(LONG))
        np.testing.assert_array_equal(rows, np.full(LONG, factor))
    np.testing.assert_array_equal(start, 0)


def test_errors_are_those_of_python_loops():
    with pytest.raises(ControlFlowTypeError, match="fori_loop: the body changes the type of the carry"):
        lax.fori_loop(0, LONG, lambda i, v: v.astype(np.float32) * 1.5, np.arange(3))

    def fails(i, value):
        if i == 7:
            raise ValueError("seven")
        return value

    with pytest.raises(ValueError, match="seven"):
        lax.fori_loop(0, LONG, fails, 0)


def test_short_loops_and_those_without_jit_run_in_python():
    seen = []
    assert int(lax.fori_loop(0, 5, lambda i, v: seen.append(i) or v + i, 0)) == 10
    assert seen == [0, 1, 2, 3, 4]
    with numhlo.disable_jit():
        kinds = set()
        lax.fori_loop(0, LONG, lambda i, v: kinds.add(type(i)) or v, np.zeros(2))
    assert kinds == {int}


def test_loops_inside_loops():
    def outer(i, value):
        return lax.fori_loop(0, LONG, lambda j, inner: inner + 1, value)

    assert int(lax.fori_loop(0, LONG, outer, 0)) == LONG * LONG
