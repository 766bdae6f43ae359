"""Routes: the quick way into compiled entries gives what the long way gives, and takes no call that is not its own."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import numhlo
from numhlo.compilation.dispatch import MISS, matcher
from numhlo.lowering.ir.errors import MutationError
from numhlo.tracer.trees.pytrees import tree_flatten, tree_structure


@pytest.fixture(autouse=True)
def compiled_engine():
    with numhlo.switches.using(engine="compiled"):
        yield


def ready(fun, *args, **kwargs):
    """Return a jitted function that has native code and a route for these arguments."""
    f = numhlo.jit(fun)
    f(*args, **kwargs)
    f.wait()
    f(*args, **kwargs)
    assert f._cache.routes[0]._find_native() is not None
    return f


X = np.arange(6.0).reshape(2, 3)
OFFSET = np.ones(3)
FACTOR = 2.5


def test_calls_that_a_route_takes():
    f = ready(lambda x, y: x * 2 + y, X, X)
    misses = f.cache_info().misses
    for x in (X, X.view(numhlo.Array), np.asfortranarray(X), np.repeat(X, 2, 1)[:, ::2], X.astype(">f8"), X[::-1]):
        for y in (X, X + 1):
            result = f(x, y)
            assert type(result) is numhlo.Array and result.flags.owndata
            np.testing.assert_array_equal(result, x * 2 + y)
    assert f.cache_info().misses == misses
    frozen = X.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(f(frozen, X), frozen * 2 + X)


def test_calls_that_are_another_signature():
    f = ready(lambda x, y: x * 2 + y, X, X)
    others = [
        (X[0], X),
        (X.astype(np.float32), X),
        (X, 1.0),
        (X, 1),
        (X, True),
        (X, np.float32(1)),
        (X, X.astype(complex)),
        (X.view(np.recarray), X),
        (1, 2),
        (X, np.zeros((0, 1, 3))),
    ]
    for x, y in others * 2:
        np.testing.assert_array_equal(np.asarray(f(x, y)), np.asarray(x) * 2 + y, strict=True)
    with pytest.raises(TypeError):
        f(X)
    with pytest.raises(TypeError):
        f(X, X, X)
    with pytest.raises(TypeError):
        f(X, z=X)


def test_scalars():
    f = ready(lambda x, s, n: x * s + n, X, 2.0, np.float64(1))
    misses = f.cache_info().misses
    for s, n in ((2.0, np.float64(1)), (-0.5, np.array(3.0)), (1e300, np.float64(-1))):
        np.testing.assert_array_equal(f(X, s, n), X * s + n)
    assert f.cache_info().misses == misses
    assert f(X, 2, np.float64(1))[0, 1] == 3 and f.cache_info().misses == misses + 1
    g = ready(lambda n: n + 1, 2)
    assert g(2**62) == 2**62 + 1
    with pytest.raises(ValueError, match="int64 can't hold"):
        g(2**64)


def test_native_code_reads_scalars_and_tuples():
    def fun(state, x, k, flag):
        (a, b), c = state
        return (a + x, b * k), (c - k, flag & True), c

    state, args = ((1.5, np.float64(-2.5)), 2 + 1j), (X, 3, True)
    f = ready(fun, state, *args)
    direct = f._cache.routes[0]._direct
    assert direct is not None
    for given in ((state, *args), (((-0.0, np.float64(7.0)), 0j), X + 1, -1, False), (state, X, -(2**63), True)):
        assert direct(*given) is not None
        for found, right in zip(tree_flatten(f(*given))[0], tree_flatten(fun(*given))[0], strict=True):
            np.testing.assert_array_equal(found, right)
            assert found.dtype == np.asarray(right).dtype
        assert tree_structure(f(*given)) == tree_structure(fun(*given))
    others = [
        (state, X, 2**63, True),
        (state, X, True, True),
        (state, X, np.int64(3), True),
        (state, X, 3, 1),
        (((1, np.float64(2.0)), 1j), X, 3, True),
        (((1.5, 2.5), 1j), X, 3, True),
        (((1.5, np.float32(2.5)), 1j), X, 3, True),
        (([1.5, np.float64(2.5)], 1j), X, 3, True),
        (((1.5, np.float64(2.5), 0.0), 1j), X, 3, True),
        (state, X[0], 3, True),
        (state, 3.0, 3, True),
        (None, X, 3, True),
        (state, X, 3),
    ]
    assert [direct(*given) for given in others] == [None] * len(others)
    strong = ((1.5, np.array(-2.5)), 2 + 1j)
    np.testing.assert_array_equal(f(strong, *args)[0][1], -7.5)


def test_native_code_reads_scalars_from_threads():
    f = ready(lambda s, n, x: (s[0] + n, s[1] * n, x + n), (1.0, 2), 3, X)

    def work(start):
        for n in range(start, start + 500):
            total, product, moved = f((float(n), n + 1), -n, X)
            assert (total, product, moved[1, 2]) == (0.0, -n * (n + 1), 5.0 - n)
        done.append(start)

    done: list[int] = []
    threads = [threading.Thread(target=work, args=(1000 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 4


def test_pytrees_and_keywords():
    params = {"w": X, "b": [X, (X,)], "n": None}
    f = ready(lambda p, *, k: {"r": p["w"] + p["b"][0] * k + p["b"][1][0], "t": (k, [k])}, params, k=X)
    misses = f.cache_info().misses
    other = {"w": X * 4, "b": [X * 2, (X * 3,)], "n": None}
    result = f(other, k=X * 5)
    np.testing.assert_array_equal(result["r"], X * 4 + (X * 2) * (X * 5) + X * 3)
    assert tree_structure(result) == tree_structure({"r": 0, "t": (0, [0])}) and f.cache_info().misses == misses
    f({**params, "extra": X}, k=X)
    assert f.cache_info().misses == misses + 1


@pytest.mark.parametrize(
    "node", [1, (1, 2), [1, [2]], {"a": 1, "b": 2}, {"a": 1}, {}, (), None, {"a": {"b": (1, [2])}, "c": None}], ids=repr
)
def test_matchers_take_their_own_structure_only(node):
    leaves: list = []
    take = matcher(tree_structure(node))
    if take is None:
        assert node == 1
        return
    assert take(node, leaves) and leaves == tree_flatten(node)[0]
    for other in [(1, 2, 3), (1,), [1, (2,)], {"a": 1, "c": 2}, {"b": 1}, {"a": 1, "b": 2, "c": 3}, 5, "ab"]:
        assert not take(other, [])


def test_writes_and_captured_arrays(monkeypatch):
    def add(x):
        x += OFFSET

    f = ready(add, X.copy())
    x = X.copy()
    f(x)
    np.testing.assert_array_equal(x, X + 1)
    strided = np.repeat(X, 2, 1)[:, ::2]
    f(strided)
    np.testing.assert_array_equal(strided, X + 1)
    monkeypatch.setitem(globals(), "OFFSET", np.full(3, 5.0))
    f(x)
    np.testing.assert_array_equal(x, X + 6)
    OFFSET[0] = 7
    f(x)
    assert x[0].tolist() == [13, 12, 13]
    x.flags.writeable = False
    with pytest.raises(MutationError, match="read-only"):
        f(x)


def scaled(x):
    return x * FACTOR


def test_native_code_looks_at_what_is_captured(monkeypatch):
    shift = 1.0

    def fun(x):
        return scaled(x) + shift

    def check(misses):
        np.testing.assert_array_equal(f(X), fun(X))
        assert f.cache_info().misses == misses
        f.wait()
        f(X)
        return f._cache.routes[0]

    f = ready(fun, X)
    route = check(1)
    direct = route._direct
    assert direct(X) is not None and route._hold is None
    monkeypatch.setitem(globals(), "FACTOR", float("2.5"))  # an equal number
    assert direct(X) is None
    assert check(1) is route and route._direct is not direct and route._direct(X) is not None
    shift = 4.0
    assert route._direct(X) is None
    changed = check(2)._direct
    shift = 1.0
    check(2)
    assert changed(X) is None and route._direct(X) is not None
    monkeypatch.setattr(scaled, "__code__", (lambda x: x - FACTOR).__code__)
    assert route._direct(X) is None
    check(3)
    monkeypatch.delitem(globals(), "FACTOR")
    with pytest.raises(NameError):
        f(X)


def test_contents_are_compared_in_python():
    weights = np.ones(3)
    f = ready(lambda x: x * float(weights[0]), X)
    route = f._cache.routes[0]
    assert route._hold() and route._direct(X) is not None
    weights[0] = 3.0
    assert not route._hold() and route._direct(X) is not None
    np.testing.assert_array_equal(f(X), X * 3.0)
    weights[0] = 1.0
    weights = np.zeros(3)
    assert route._hold() and route._direct(X) is None
    np.testing.assert_array_equal(f(X), np.zeros_like(X))


@pytest.mark.not_every_call  # looks at what is kept alive
def test_methods_and_statics():
    class Model:
        def __init__(self, k):
            self.k = k

        @numhlo.jit
        def f(self, x):
            return x * self.k

    models = [Model(k) for k in (1.0, 2.0, 3.0)]
    for _ in range(3):
        for m in models:
            np.testing.assert_array_equal(m.f(X), X * m.k)
        Model.f.wait()
    assert Model.f.cache_info().misses == 3
    models[1].k = 10.0
    np.testing.assert_array_equal(models[1].f(X), X * 10)
    dead = weakref.ref(models[0])
    del models, m
    gc.collect()
    assert dead() is None
    g = numhlo.jit(lambda x, n, *, mode: x * n if mode == "m" else x + n, static_argnums=1, static_argnames="mode")
    for _ in range(3):
        assert g(2.0, 3, mode="m") == 6 and g(2.0, 3, mode="a") == 5 and g(2.0, 4, mode="m") == 8
        g.wait()
    assert g.cache_info().misses == 3


def test_routes_are_forgotten_with_the_cache():
    f = ready(lambda x: x + 1, X)
    f.clear_cache()
    assert f._cache.routes == () and f(X)[0, 0] == 1 and f.cache_info().misses == 1


def test_calls_while_another_thread_traces():
    f = ready(lambda x: x + 1, X)
    inside, leave = threading.Event(), threading.Event()

    def slow(x):
        inside.set()
        leave.wait(10)
        return x

    thread = threading.Thread(target=numhlo.jit(slow), args=(1.0,))
    thread.start()
    assert inside.wait(10)
    np.testing.assert_array_equal(f(X), X + 1)
    leave.set()
    thread.join()


def test_first_calls_are_answered_before_kernels_are_there():
    f = numhlo.jit(lambda x: np.tanh(x) * 3 - x)
    for _ in range(5):
        np.testing.assert_allclose(f(X), np.tanh(X) * 3 - X, rtol=1e-14)
    f.wait()
    np.testing.assert_allclose(f(X), np.tanh(X) * 3 - X, rtol=1e-14)


def test_the_routes_of_other_shapes_are_left_at_a_glance(monkeypatch):
    f = ready(lambda x, k: x * k, X, 2)
    for x in (X[0], X[:1]):
        f(x, 2)
        f.wait()
        f(x, 2)
    newest, middle, oldest = f._cache.routes
    for route in (newest, middle, oldest):
        assert route._find_native() is not None

    def matched(*_):
        raise AssertionError("a call of another shape was matched leaf by leaf")

    calls = oldest.entry.calls
    monkeypatch.setattr(type(oldest), "_match", matched)
    np.testing.assert_array_equal(f(X, 3), X * 3)
    assert oldest.entry.calls == calls + 1
    assert newest.try_call((X, 3, 4), {}) is MISS
