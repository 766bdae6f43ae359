"""Unrolled Python loops: more rounds are more launches of the same kernels, and compute what NumPy does."""

from itertools import pairwise

import numpy as np
import pytest

import numhlo
from numhlo.backend.emit import draft as drafts
from numhlo.backend.planning import plan
from numhlo.backend.program import Launch
from numhlo.backend.runtime.step_table import StepTable
from numhlo.lowering.passes.pipeline import optimize
from tests.work import count_calls

RNG = np.random.default_rng(0)


def bodies(place, speed, rounds):
    """Bodies that attract each other, every coordinate a variable."""
    p, v = [list(row) for row in place], [list(row) for row in speed]
    for _ in range(rounds):
        for i in range(3):
            for j in range(3):
                if i != j:
                    d = [p[j][c] - p[i][c] for c in range(2)]
                    square = d[0] * d[0] + d[1] * d[1] + 0.1
                    weight = 0.01 / (square * np.sqrt(square))
                    v[i] = [v[i][c] + weight * d[c] for c in range(2)]
        p = [[p[i][c] + 0.01 * v[i][c] for c in range(2)] for i in range(3)]
    return np.stack([x for row in p for x in row])


def runge_kutta(start, parameters, rounds):
    """Steps of the Lorenz system in variables."""
    a, b, c = parameters

    def slope(x, y, z):
        return a * (y - x), x * (b - z) - y, x * y - c * z

    x, y, z = start
    for _ in range(rounds):
        first = slope(x, y, z)
        second = slope(x + 0.005 * first[0], y + 0.005 * first[1], z + 0.005 * first[2])
        x, y, z = (s + 0.005 * (k + l) for s, k, l in zip((x, y, z), first, second, strict=True))
    return x, y, z


def butterflies(x, _, rounds):
    """Stages of a transform, whose wiring comes again every three of them."""
    x = list(x)
    for stage in range(rounds):
        half = 1 << stage % 3
        for k in range(8):
            if not k & half:
                turned = 0.6 * x[k + half] - 0.8 * x[k]
                x[k], x[k + half] = x[k] + turned, x[k] - turned
    return np.stack(x)


def numbered(x, _, rounds):
    """Rounds with numbers of their own, short ones among them."""
    for k in range(rounds):
        x = np.sin(x) * 0.5 + 0.25 * k
    return x


def sums(x, _, rounds):
    """A chain of sums whose rounds are no divisor of what a kernel holds."""
    for k in range(rounds):
        x = np.tanh(x) * x if k % 7 == 0 else x + 0.5
    return x


def slopes(start, parameters, rounds):
    """The gradient of Runge-Kutta steps."""
    return numhlo.grad(lambda s, p: sum(runge_kutta(s, p, rounds)), argnums=(0, 1))(start, parameters)


PAIR = RNG.normal(size=3), np.array([10.0, 28.0, 2.5])
PROGRAMS = {
    bodies: ((RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2))), (20, 50)),
    runge_kutta: (PAIR, (60, 150)),
    butterflies: ((RNG.normal(size=8), np.ones(1)), (75, 150)),
    numbered: ((RNG.normal(size=100), np.ones(1)), (200, 500)),
    sums: ((RNG.normal(size=100), np.ones(1)), (400, 1000)),
    slopes: (PAIR, (40, 100)),
}


def planned(function, rounds):
    arguments = PROGRAMS[function][0]
    traced = numhlo.jit(lambda x, y: function(x, y, rounds), autograph=False).trace(*arguments)._traced
    return plan(optimize(traced.function), written=traced.written)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_kernels_do_not_multiply_with_rounds(function):
    few, many = PROGRAMS[function][1]
    first, second = planned(function, few), planned(function, many)
    assert len(second.steps) > 1.5 * len(first.steps)  # rounds make launches
    assert len(second.kernels) <= len(first.kernels) + 2  # the last of them may do fewer rounds
    assert len(second.kernels) <= 16
    assert max(kernel.source.count("\n") for kernel in second.kernels) < 800
    computed = [op for step in second.steps if isinstance(step, Launch) for op in step.ops]
    assert len(computed) < 1.05 * len(set(computed))  # else each costs its share of planning again


def product(a, b):
    """A product of matrices, element by element: where terms lie coincides in other ways for each of them."""
    out = np.zeros((len(a), b.shape[1]))
    for i, j in np.ndindex(*out.shape):
        out[i, j] = sum(a[i, k] * b[k, j] for k in range(len(b)))
    return out


def growing_sums(a, b):
    """Sums that become longer from row to row."""
    for i in range(1, len(a)):
        for j in range(1, i + 1):
            a[i, j] = b[j, 0] - np.sum(a[i, :j] * a[j - 1, :j])
    return a


def test_one_kernel_computes_all_elements():
    traced = numhlo.jit(product).trace(*RNG.normal(size=(2, 6, 6)))._traced
    assert len(plan(optimize(traced.function)).kernels) <= 3


@pytest.mark.slow
def test_elements_that_one_kernel_computes_are_numpys():
    x, y = RNG.normal(size=(2, 6, 6))
    jitted = numhlo.jit(product)
    for _ in range(2):
        np.testing.assert_allclose(jitted(x, y), x @ y, rtol=1e-12)
        jitted.wait()


def test_sums_of_each_length_are_written_once(monkeypatch):
    written, write = [], drafts._write
    monkeypatch.setattr(drafts, "_write", lambda *arguments: written.append(1) or write(*arguments))
    x, y = RNG.normal(size=(2, 22, 22))
    traced = numhlo.jit(growing_sums).trace(x, y)._traced
    plan(optimize(traced.function), written=traced.written)
    assert len(written) < 70  # of 231 sums


@pytest.mark.slow
@pytest.mark.parametrize("function", [f for f in PROGRAMS if f is not slopes], ids=lambda f: f.__name__)
def test_unrolled_loops_compute_what_numpy_does(function):
    arguments, (rounds, _) = PROGRAMS[function]
    jitted = numhlo.jit(lambda x, y: function(x, y, rounds), autograph=False)
    wanted = function(*arguments, rounds)
    for _ in range(2):
        np.testing.assert_allclose(jitted(*arguments), wanted, rtol=1e-8)
        jitted.wait()


@pytest.mark.slow
def test_gradients_of_unrolled_loops():
    """The same in complex numbers: the imaginary part of a tiny step is the slope."""
    start, parameters = PAIR
    jitted = numhlo.jit(lambda x, y: slopes(x, y, 40), autograph=False)

    def stepped(k):
        values = [complex(x) for x in (*start, *parameters)]
        values[k] += 1e-30j
        return sum(runge_kutta(values[:3], values[3:], 40)).imag * 1e30

    for _ in range(2):
        found = np.concatenate(jitted(start, parameters))
        np.testing.assert_allclose(found, [stepped(k) for k in range(6)], rtol=1e-8)
        jitted.wait()


def layers(w, u, b, xs, h):
    """The layers of a recurrent network."""
    for x in xs:
        h = np.tanh(x @ w + h @ u + b)
    return (h * h).sum()


def gated_layers(w, u, b, xs, h):
    """Layers with gates, a long short-term memory."""
    gate = lambda x: 1 / (1 + np.exp(-x))
    c, n = np.zeros_like(h), h.shape[0]
    for x in xs:
        z = x @ w + h @ u + b
        c = gate(z[n : 2 * n]) * c + gate(z[:n]) * np.tanh(z[3 * n :])
        h = gate(z[2 * n : 3 * n]) * np.tanh(c)
    return (h * h).sum()


def slopes_of(function):
    return numhlo.grad(function, argnums=(0, 1, 2))


def of_layers(gates):
    return lambda rounds: [(8, gates * 8), (8, gates * 8), (gates * 8,), (rounds, 8), (8,)]


def filtered(x):
    """A recursive filter, in scalars."""
    y = [x[0], x[1]]
    for k in range(2, len(x)):
        y.append(0.2 * x[k] + 0.3 * x[k - 1] + 0.5 * y[k - 1] - 0.1 * y[k - 2])
    return np.stack(y)


def chained(x, rounds):
    """Three ops on a vector, again and again."""
    for _ in range(len(rounds)):
        x = np.sin(x) * 0.5 + 0.25
    return x


def attracted(place, speed, rounds):
    return bodies(place, speed, len(rounds))


WORK = [
    pytest.param(layers, of_layers(1), 405, id="layers"),
    pytest.param(slopes_of(layers), of_layers(1), 405, id="slopes of layers"),
    pytest.param(slopes_of(gated_layers), of_layers(4), 320, id="slopes of gated layers", marks=pytest.mark.slow),
    pytest.param(chained, lambda rounds: [(100,), (4 * rounds,)], 180, id="chain"),
    pytest.param(filtered, lambda rounds: [(5 * rounds,)], 225, id="filter"),
    pytest.param(attracted, lambda rounds: [(3, 2), (3, 2), (rounds // 2,)], 235, id="bodies"),
]


@pytest.mark.parametrize(("function", "shapes", "most"), WORK)
def test_an_op_takes_few_function_calls_until_its_steps_are_there(function, shapes, most):
    """As many as take some 30 to 50 µs, and as many in a long program as in a short one."""
    counts = {}
    for rounds in (10, 20, 40) * 2:  # the first time makes the kernels' texts
        arguments, made = [RNG.normal(size=shape) for shape in shapes(rounds)], []

        def work(arguments=arguments, made=made):
            traced = numhlo.jit(lambda *a: function(*a), autograph=False).trace(*arguments)._traced
            made.append(traced.function.body)
            StepTable(plan(optimize(traced.function), written=traced.written))

        counts[rounds] = count_calls(work), sum(1 for _ in made[0].walk())
    steps = [(calls - first) / (ops - few) for (first, few), (calls, ops) in pairwise(counts.values())]
    assert max(steps) < most
    assert steps[1] < 1.05 * steps[0]
