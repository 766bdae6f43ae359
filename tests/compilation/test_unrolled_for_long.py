"""Loops that would be long unrolled become loops of the graph, and mean what they did."""

import sys

import numpy as np
import pytest

import numhlo
from numhlo.compilation import unrolled_for_long
from numhlo.lowering.passes.pipeline import optimize

RNG = np.random.default_rng(0)
KEPT = "loops of the graph"


def cheapest(cost):
    n, m = cost.shape
    best = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            if i == 0 and j == 0:
                best[i, j] = cost[0, 0]
            elif i == 0:
                best[i, j] = best[i, j - 1] + cost[i, j]
            elif j == 0:
                best[i, j] = best[i - 1, j] + cost[i, j]
            else:
                best[i, j] = np.minimum(best[i - 1, j], best[i, j - 1]) + cost[i, j]
    return best


def exchange_sort(x):
    for i in range(1, len(x)):
        for j in range(i, 0, -1):
            low, high = np.minimum(x[j - 1], x[j]), np.maximum(x[j - 1], x[j])
            x[j - 1], x[j] = low, high


def triangle(x):
    rows = np.zeros((40, 40), dtype=int)
    for i in range(40):
        rows[i, 0] = 1
        for j in range(1, i + 1):
            rows[i, j] = (rows[i - 1, j - 1] + rows[i - 1, j]) % 1000
    return rows @ x


def of_a_helper(x):
    return smooth(x) * 2


def smooth(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + 0.5 * x[i] / (i + 1)
    return y


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Take short programs for long ones, so that tests are quick."""
    monkeypatch.setattr(unrolled_for_long, "WRITES", 100)


def recurrent(x):
    h = np.zeros(20)
    for _ in range(300):
        h = np.tanh(x @ h + 0.5)
    return h


def laplace(x):
    for _ in range(150):
        x[1:-1, 1:-1] = 0.25 * (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])


def life(x):
    cells = x > 0
    for _ in range(100):
        count = sum(np.roll(cells, (i, j), (0, 1)).astype(int) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        cells = (count == 3) | (cells & (count == 2))
    return cells


def filtered(x):
    out = np.zeros((18, 18))
    for i in range(18):
        for j in range(18):
            out[i, j] = np.sum(x[i : i + 3, j : 2 + (j + 1)] * x[:3, 17:])
    return out


def pooled(x):
    out = np.zeros((40, 40))
    for i in range(20):
        for j in range(20):
            out[2 * i : 2 * i + 2, j * 2 : (j + 1) * 2] = x[i, j]
    return out


def sort_by_extremes(x):
    for i in range(1, len(x)):
        for j in range(i, 0, -1):
            x[j - 1], x[j] = min(x[j - 1], x[j]), max(x[j - 1], x[j])


PROGRAMS = [
    (recurrent, RNG.normal(size=(20, 20))),
    (laplace, RNG.normal(size=(20, 20))),
    (life, RNG.normal(size=(20, 20))),
    (filtered, RNG.normal(size=(20, 20))),
    (pooled, RNG.normal(size=(20, 20))),
    (cheapest, RNG.normal(size=(15, 15)) ** 2),
    (exchange_sort, RNG.normal(size=40)),
    (sort_by_extremes, RNG.normal(size=13)),
    (triangle, RNG.normal(size=40)),
    (of_a_helper, RNG.normal(size=300)),
    (lambda x: smooth(x), RNG.normal(size=300)),
]


@pytest.mark.parametrize(("function", "x"), PROGRAMS)
def test_long_loops_are_loops_of_the_graph_and_compute_what_numpy_does(function, x):
    jitted = numhlo.jit(function)
    mine, wanted = x.copy(), x.copy()
    with numhlo.debugging(engine="interpreter"):
        found = jitted(mine)
    expected = function(wanted)
    assert KEPT in jitted.explain()
    if expected is not None:
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(mine, wanted)


def shortened(function, x):
    """Return a function's result with its loops kept, and the result without."""
    jitted, longest = numhlo.jit(lambda x: function(x)), numhlo.jit(lambda x: function(x))
    with numhlo.debugging(engine="interpreter"):
        found = jitted(x)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(unrolled_for_long, "REPEATED", 1_000_000)
            patch.setattr(unrolled_for_long, "WRITES", 1_000_000)
            wanted = longest(x)
    assert KEPT in jitted.explain()
    assert KEPT not in longest.explain()
    return found, wanted


@pytest.mark.parametrize("rounds", [110, 300])
def test_derivatives_keep_loops(rounds):
    def loss(w):
        h = np.zeros(5)
        for k in range(rounds):
            h = np.tanh(w @ h + 0.5)
            h[1:3] += h[2:4] * (k / rounds)
        return h.sum()

    found, wanted = shortened(numhlo.grad(loss), RNG.normal(size=(5, 5)) * 0.3)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_lanes_keep_loops():
    found, wanted = shortened(numhlo.vmap(smooth), RNG.normal(size=(3, 200)))
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_windows_at_places_of_lanes_are_cut_at_the_ends():
    def lane(x, first):
        y = np.zeros(110)
        for k in range(110):
            y[k] = numhlo.numpy.where(np.arange(200) < first + k, x, 0.0).sum() + x[k : k + 3].sum()
        return y

    x, places = RNG.normal(size=200), np.array([0, 5, 190])
    with numhlo.debugging(engine="interpreter"):
        found = numhlo.jit(lambda p: numhlo.vmap(lambda first: lane(x, first))(p))(places)
    np.testing.assert_allclose(found, [lane(x, p) for p in places], rtol=1e-12)


def test_code_that_belongs_to_no_module_keeps_loops():
    names = {"np": np}
    source = """
def double(x):
    return x * 2

def f(x):
    y = x.copy()
    for k in range(1, len(x)):
        y[k] = double(x)[k]
    return y
"""
    exec(source, names)  # noqa: S102 - such code is what this is about
    with numhlo.debugging(engine="interpreter"):
        np.testing.assert_array_equal(numhlo.jit(names["f"])(np.ones(150)), [1] + 149 * [2])


def test_the_graph_does_not_grow_with_the_rounds():
    counts = []
    for n in (300, 600):
        traced = numhlo.jit(smooth).trace(np.ones(n))
        counts.append(sum(1 for _ in optimize(traced._traced.function).body.walk()))
    assert counts[0] == counts[1]


def layers_of_a_list(x):
    weights = [x[k : k + 25].reshape(5, 5) for k in range(110)]
    h = np.ones(5)
    for weight in weights:
        h = np.tanh(weight @ h)
    return h


def into_a_list(x):
    y = [x[0]]
    for k in range(1, len(x)):
        y.append(y[-1] * 0.5 + x[k])
    return np.stack(y)


def cut_at_the_end(x):
    y = np.zeros(len(x))
    for k in range(len(x)):
        y[k] = x[k : k + 5].sum()
    return y


def at_places_from_data(x):
    places = np.argsort(x)
    y = np.zeros(len(x))
    for k in range(len(x)):
        p = places[k]
        y[k] = x[p : p + 5].sum()
    return y


@pytest.mark.parametrize("function", [cut_at_the_end, at_places_from_data])
def test_slices_that_an_end_cuts_are_shorter(function):
    x = RNG.normal(size=200)
    with numhlo.debugging(engine="interpreter"):
        np.testing.assert_allclose(numhlo.jit(function)(x), function(x), rtol=1e-12, atol=1e-14)


def few_elements(x):
    y = np.zeros(90)
    for k in range(90):
        y[k] = x[k] * 2
    return y


def aloud(x):
    y = np.zeros(len(x))
    for k in range(len(x)):
        y[k] = x[k]
        if k in (0, 120):
            sys.stdout.write("once\n")
    return y


def aloud_on_arrays(x):
    for k in range(200):
        x = np.roll(x, 1) - x.mean() + x.max()
        if k in (0, 199):
            sys.stdout.write("once\n")
    return x


@pytest.mark.parametrize("function", [aloud_on_arrays, into_a_list, layers_of_a_list, few_elements, aloud])
def test_other_loops_are_unrolled(function, capsys):
    jitted = numhlo.jit(function)
    with numhlo.debugging(engine="interpreter"):
        jitted(np.ones(300))
    assert KEPT not in jitted.explain()
    assert capsys.readouterr().out == ("once\nonce\n" if function in (aloud, aloud_on_arrays) else "")


def chain(x, steps):
    for k in range(steps):
        x = np.sin(x) * 0.5 + k
    return x


def diffusion(x, steps):
    y = x.copy()
    for _ in range(steps):
        y[1:-1] += 0.1 * (y[2:] - 2 * y[1:-1] + y[:-2])
    return y, x


def moments(x, steps):
    m, v = np.zeros_like(x), np.zeros_like(x)
    for t in range(1, steps + 1):
        m, v = 0.9 * m + 0.1 * x, 0.99 * v + 0.01 * x * x
        x = x - 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.99**t)) + 1)
    return x, m, v


@pytest.mark.parametrize("function", [chain, diffusion, moments])
def test_long_chains_on_whole_arrays_are_kept_whatever_their_length(function):
    lengths = {
        numhlo.jit(function, static_argnums=1).lower(RNG.normal(size=9), n).as_text().count("\n") for n in (2000, 4000)
    }
    assert len(lengths) == 1
    jitted = numhlo.jit(function, static_argnums=1)
    for k in range(4):
        x = RNG.normal(size=9)
        given = x.copy()
        np.testing.assert_allclose(np.stack(jitted(x, 2000)), np.stack(function(x, 2000)), rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(x, given)
        if k == 1:
            jitted.wait()
    assert KEPT in jitted.explain()


def beyond(x):
    y = np.zeros(300)
    for k in range(300):
        y[k] = x[(k * 2) % 301]  # in the middle more than 299
    return y


def divided(x):
    y = np.zeros(300)
    for k in range(300):
        y[k] = x[k] * (1 / (k - 250))
    return y


def divided_whole(x):
    y = np.zeros(300)
    for k in range(300):
        if k > 200:
            y[k] = x[k] + 7 // (k - 250)
        else:
            y[k] = x[k]
    return y


def beyond_in_a_branch(x):
    y = np.zeros(300)
    for k in range(300):
        if 240 < k < 260:
            y[k] = x[k + 50]
        else:
            y[k] = x[k]
    return y


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (beyond, IndexError),
        (divided, ZeroDivisionError),
        (divided_whole, ZeroDivisionError),
        (beyond_in_a_branch, IndexError),
    ],
)
def test_what_python_would_have_met_in_a_round_is_met(function, error):
    with pytest.raises(error):
        numhlo.jit(function)(np.ones(300))


def counted(x):
    y, place = np.zeros(600), 0
    for k in range(150):
        for _ in range(2):
            y[place] = x[k]
            place += 1
    return y


def powers(x):
    y = np.zeros(300)
    for k in range(300):
        y[k] = x[k] + k**9 % 1000
    return y


@pytest.mark.parametrize("function", [counted, powers])
def test_what_is_counted_in_python_has_pythons_values(function):
    x = RNG.normal(size=300)
    with numhlo.debugging(engine="interpreter"):
        np.testing.assert_allclose(numhlo.jit(function)(x), function(x), rtol=1e-12, atol=1e-14)


def exchanged(x, y):
    for k in range(151):
        x, y = y, x
        x[1:-1] = 0.3 * (y[2:] + y[:-2]) + k
    return x


def exchanged_afterwards(x, y):
    for k in range(150):
        y[1:-1] = 0.3 * (x[2:] + x[:-2])
        y[k % 10] += 1
        x, y = y, x
    return x


def by_another_name(x, y):
    for k in range(150):
        y[:] = np.roll(x, 1) * 0.5 + k
        y[k % 10] += 1
        kept = x
        x = y
        y = kept
    return x - kept


def in_a_ring(x, y):
    z, total = np.zeros_like(x), 0.0
    for k in range(1, 203):
        z[1:-1] = 2 * y[1:-1] - x[1:-1] + 0.2 * (y[2:] - 2 * y[1:-1] + y[:-2])
        z[0] = np.sin(k * 0.1)
        total += z.max()
        x, y, z = y, z, x
    return y + total * k


def now_and_then(x, y):
    for k in range(150):
        y[1:] = x[:-1] * 0.9 + 1
        if k % 3 == 0:
            x, y = y, x
    return x


def by_its_view(x, y):
    for _ in range(150):
        part = y[1:-1]
        part += 0.1 * (x[2:] + x[:-2])
        y /= 1 + np.abs(y).max()
        x, y = y, x
    return x


EXCHANGES = [(exchanged_afterwards, True), (by_another_name, True), (in_a_ring, True), (by_its_view, True)]


@pytest.mark.parametrize(("function", "is_kept"), [*EXCHANGES, (exchanged, True), (now_and_then, False)])
def test_arrays_that_exchange_their_names_are_updated_for_the_caller(function, is_kept):
    arrays = [RNG.normal(size=10) for _ in range(2)]
    mine, wanted = [x.copy() for x in arrays], [x.copy() for x in arrays]
    jitted = numhlo.jit(function)
    with numhlo.debugging(engine="interpreter"):
        found = jitted(*mine)
    assert (KEPT in jitted.explain()) is is_kept
    np.testing.assert_allclose(found, function(*wanted), rtol=1e-12)
    np.testing.assert_allclose(mine, wanted, rtol=1e-12)


def test_what_a_trace_does_to_objects_is_done_once():
    seen = []

    def function(x):
        y = np.zeros(300)
        for k in range(300):
            y[k] = x[k]
            seen.append(k)
        return y

    with numhlo.debugging(engine="interpreter"):
        numhlo.jit(function)(np.ones(300))
    assert seen == list(range(300))
