"""A new shape of a known function compiles no kernel, whatever the program; and what it costs grows as its ops do.

Extents of one and small ones that are part of a kernel's text (arrays that a loop keeps in registers) are exceptions;
no program's size ``other`` differs from ``small`` in these.
"""

import cProfile
import pstats

import numpy as np
import pytest

import numhlo
from benchmarks import calls, shapes
from benchmarks.registry import all_programs
from numhlo import switches
from numhlo.backend.kernel_cache import kernel_cache
from numhlo.backend.planning import plan
from numhlo.lowering.passes.pipeline import optimize

PROGRAMS = all_programs()


def kernels(function, arguments):
    """The kernels of a jitted function for some arguments; nothing is compiled."""
    traced = getattr(function, "function", function).trace(*arguments)._traced
    return set(plan(optimize(traced.function), written=traced.written).kernels)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_a_new_shape_of_a_program_has_the_same_kernels(program):
    function = calls.make(program, "numhlo")
    small, other = program.arguments("small"), program.arguments("other")
    assert [np.shape(x) or x for x in small] != [np.shape(x) or x for x in other]  # a number says how far to count
    assert kernels(function, small) == kernels(function, other)


@pytest.mark.parametrize("name", shapes.FUNCTIONS)
def test_many_shapes_of_a_function_have_the_same_kernels(name):
    function = numhlo.jit(shapes.FUNCTIONS[name])
    known = set().union(*[kernels(function, shapes.arguments(number)) for number in shapes.SETTLING])
    for number in range(3, 600, 37):
        assert kernels(function, shapes.arguments(number)) <= known


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_a_new_shape_of_a_program_compiles_nothing(program):
    with switches.using(engine="compiled"):
        function, expected = calls.make(program, "numhlo"), calls.make(program, "numpy")
        function(*program.arguments("small"))
        calls.wait(function)
        before = kernel_cache().compiles + kernel_cache().disk_hits
        for _ in range(2):
            found = function(*program.arguments("other"))
            assert calls.check(program, found, expected(*program.arguments("other"))) == ""
            calls.wait(function)
        assert kernel_cache().compiles + kernel_cache().disk_hits == before


def chain(x, count):
    for i in range(count):
        x = np.tanh(x) * x if i % 5 == 0 else x + 0.5
    return x


def scalars(x, count):
    a, b = x[0], x[1]
    for _ in range(count):
        a, b = a * b + 0.25, (a - b) * 0.5
    return a + b


def slices(x, count):
    total = 0.0
    for i in range(count):
        total = total + x[i % 50] * 2.0
    return total


def updates(x, count):
    for i in range(count):
        x[i % 50] = x[(i + 1) % 50] * 0.5
    return x.sum()


def blocks(x, count):
    for i in range(count):
        k = i % 900
        x[k : k + 3] += x[k + 3 : k + 6]
    return x


def layers(x, count):
    weights, y = 0.1 * x[:256].reshape(16, 16), x[:16]
    for _ in range(count):
        y = np.tanh(weights @ y + x[16:32])
    return y


def calls_and_ops(function, count, autograph=None):
    """Python calls that tracing, rewriting and planning take, and the ops of the program."""
    jitted = numhlo.jit(lambda x: function(x, count), autograph=autograph)
    profile = cProfile.Profile()
    profile.enable()
    traced = jitted.trace(np.ones(1000))._traced
    plan(optimize(traced.function), written=traced.written)
    profile.disable()
    return pstats.Stats(profile).total_calls, len(traced.function.body.ops)


def calls_per_op(function, count):
    calls, ops = calls_and_ops(function, count, autograph=False)
    return calls / ops


@pytest.mark.parametrize("function", [chain, scalars, slices, updates, blocks, layers], ids=lambda f: f.__name__)
def test_unrolled_loops_cost_the_same_for_each_op(function):
    longest = 96 if function in (updates, blocks, layers) else 480  # what has more rounds of these is not unrolled
    calls_per_op(function, 5)  # what happens once
    few, many = calls_per_op(function, longest // 8), calls_per_op(function, longest)
    assert many < 1.2 * few
    assert many < (500 if function is layers else 350)  # three kernels of three ops


@pytest.mark.parametrize("function", [updates, blocks, layers], ids=lambda f: f.__name__)
def test_loops_that_are_kept_cost_the_same_however_long_they_are(function):
    calls_and_ops(function, 480)  # the source is rewritten once
    short, long = calls_and_ops(function, 480), calls_and_ops(function, 48_000)
    assert long[0] < 1.1 * short[0]
    assert long[1] == short[1] < 50


def test_unrolled_loops_compute_what_numpy_does():
    functions = [chain, scalars, slices, updates, blocks, layers]

    def everything(*arrays):
        return [function(x, 60) for function, x in zip(functions, arrays, strict=True)]

    x = np.random.default_rng(0).normal(size=1000)
    ours, theirs = [x.copy() for _ in functions], [x.copy() for _ in functions]
    jitted = numhlo.jit(everything)
    for _ in range(2):
        for a, b in zip(jitted(*ours), everything(*theirs), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10)
        jitted.wait()
