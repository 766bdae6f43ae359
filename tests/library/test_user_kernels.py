"""Functions written for Numba as ops: eagerly, compiled, in loops, under vmap, in text, and what is said where they can't."""

import sys
import threading

import numba
import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.lowering.ir.errors import ArgumentError, DTypeError
from tests.stopping import is_stopped


@numhlo.kernel(result=lambda x, decay: x)
@numba.njit
def smooth(x, decay, out):
    level = 0.0
    for i in range(x.shape[0]):
        level = level * decay[()] + x[i]
        out[i] = level


def smooth_by_hand(x, decay):
    out, level = np.empty_like(x), 0.0
    for i, value in enumerate(x):
        level = out[i] = level * decay + value
    return out


def sum_and_count(x, total, counts):
    total[()] = 0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total[()] += x[i, j]
            counts[j] += x[i, j] > 0


PAIR = numhlo.kernel(
    sum_and_count,
    result=lambda x: (numhlo.ShapeDtypeStruct((), x.dtype), numhlo.ShapeDtypeStruct(x.shape[1:], np.int64)),
)


def run(function, *args):
    """Return a jitted function's results before and after its kernels are there, and what explains it."""
    f = numhlo.jit(function)
    first = f(*args)
    f.wait()
    return first, f(*args), f.explain()


def test_the_same_eagerly_and_compiled(rng):
    x = rng.normal(size=20)
    expected = smooth_by_hand(x, 0.5)
    assert type(smooth(x, 0.5)) is numhlo.Array
    np.testing.assert_array_equal(smooth(x, 0.5), expected)
    first, later, text = run(lambda x, d: smooth(x + 1, d) * 2, x, 0.5)
    for found in (first, later):
        np.testing.assert_array_equal(found, smooth_by_hand(x + 1, 0.5) * 2)
    assert "in Python" not in text and "on NumPy" not in text
    a = rng.integers(-3, 4, (5, 3)).astype(np.int32)
    for total, counts in [PAIR(a), *run(lambda a: PAIR(a), a)[:2]]:
        assert total == a.sum() and total.dtype == np.int32
        np.testing.assert_array_equal(counts, (a > 0).sum(0))


def test_other_shapes_run_the_same_machine_code(rng):
    f = numhlo.jit(lambda x: smooth(x, 0.25))
    for size in (3, 7, 0):
        x = rng.normal(size=size)
        f(x)
        f.wait()
        np.testing.assert_array_equal(f(x), smooth_by_hand(x, 0.25))


def test_in_loops_and_lanes(rng):
    x = rng.normal(size=(4, 6))
    first, later, text = run(lambda x: lax.fori_loop(0, 50, lambda _, s: smooth(s, 0.5) * 0.5, x), x[0])
    expected = x[0]
    for _ in range(50):
        expected = smooth_by_hand(expected, 0.5) * 0.5
    np.testing.assert_allclose(first, expected, rtol=1e-12)
    np.testing.assert_array_equal(first, later)
    assert "in Python" not in text
    decays = np.linspace(0.0, 1.0, 4)
    rows = np.stack([smooth_by_hand(row, decay) for row, decay in zip(x, decays, strict=True)])
    for found in run(numhlo.vmap(smooth), x, decays)[:2]:
        np.testing.assert_array_equal(found, rows)
    for found in run(lambda x: lax.map(lambda row: smooth(row, 0.5), x), x)[:2]:
        np.testing.assert_array_equal(found[2], smooth_by_hand(x[2], 0.5))


def test_text_names_it():
    text = numhlo.jit(lambda x: smooth(x, 0.5)).lower(np.ones(3)).as_text()
    assert "stablehlo.custom_call @numhlo.kernel(" in text and 'backend_config = "smooth, kernel ' in text
    with pytest.raises(NotImplementedError, match="text, which does not hold the function"):
        numhlo.stablehlo.parse(text).run("main", np.ones(3))


def test_the_interpreter_calls_python():
    with numhlo.debugging(engine="interpreter"):
        np.testing.assert_array_equal(numhlo.jit(lambda x: smooth(x, 0.5))(np.ones(3)), [1.0, 1.5, 1.75])


def test_what_numba_cannot_compile_runs_as_python():
    seen = []

    @numhlo.kernel(result=numhlo.ShapeDtypeStruct((2,), np.float64))
    def odd(x, out):
        seen.append(object())
        out[:] = sorted({float(v) for v in x})[:2]

    first, later, text = run(odd, np.array([3.0, 1.0, 2.0]))
    assert first.tolist() == later.tolist() == [1.0, 2.0]
    assert "custom_call in Python: Numba can't compile odd: " in text


def test_results_must_be_described():
    with pytest.raises(ArgumentError, match=r"kernel smooth: a result described by 3"):
        numhlo.kernel(smooth.__wrapped__, result=[3])(np.ones(3), 0.5)
    for one, error, text in [
        (
            numhlo.ShapeDtypeStruct((2, -1), np.dtype(float)),
            ArgumentError,
            r"kernel smooth: a result of shape \(2, -1\)",
        ),
        (numhlo.ShapeDtypeStruct((2,), np.dtype("U3")), DTypeError, "<U3"),
    ]:
        with pytest.raises(error, match=text):
            numhlo.kernel(smooth.__wrapped__, result=one)(np.ones(3), 0.5)
    with pytest.raises(TypeError, match="kernel: function is of class int, no function"):
        numhlo.kernel(3, result=None)


@pytest.mark.parametrize("plain", [True, False])
def test_kernels_take_inputs_and_results(plain):
    function = smooth.__wrapped__.py_func if plain else smooth.__wrapped__
    wrong = [
        (lambda x: numhlo.kernel(function, result=lambda x, decay: (x, x))(x, 0.5), "2 inputs and 2 results"),
        (lambda x: numhlo.kernel(function, result=lambda x: x)(x), "1 input and 1 result\n  at test_user_kernels.py"),
    ]
    for call, text in wrong:
        with pytest.raises(TypeError) as caught:
            numhlo.jit(call).trace(np.ones(3))
        assert str(caught.value).startswith("kernel smooth(x, decay, out) with ")
        assert text in str(caught.value)


def test_other_threads_run_meanwhile():
    @numhlo.kernel(result=lambda x: x)
    @numba.njit
    def count(x, out):
        for k in range(300_000_000):
            out[0] = out[0] * 0.5 + x[0] * k

    f = numhlo.jit(count)
    f.lower(np.ones(1)).compile()
    started, ticks = threading.Event(), []

    def work():
        started.set()
        f.lower(np.ones(1)).compile()(np.ones(1))

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    while thread.is_alive() and len(ticks) < 3:
        thread.join(0.02)
        ticks.append(thread.is_alive())
    thread.join()
    assert ticks[0]  # this thread was awake while that one computed


def test_rules_of_its_own(rng):
    """A kernel with a batching rule, that takes all lanes at once, and a gradient: its transpose runs backwards."""
    calls = []

    @numhlo.custom_vmap
    def total(x):
        return PAIR(x[:, None])[0]

    @total.def_vmap
    def totals(size, batched, x):
        calls.append(size)
        return x.sum(axis=1), True

    @numhlo.custom_vjp
    def smoothed(x):
        return smooth(x, 0.5)

    smoothed.defvjp(lambda x: (smoothed(x), None), lambda _, g: (smooth(g[::-1], 0.5)[::-1],))
    x = rng.normal(size=(3, 5))
    np.testing.assert_allclose(numhlo.jit(numhlo.vmap(total))(x), x.sum(axis=1))
    assert calls == [3]
    weights = rng.normal(size=5)
    found = numhlo.jit(numhlo.vmap(numhlo.grad(lambda x: (smoothed(x) * weights).sum())))(x)
    matrix = np.stack([smooth_by_hand(row, 0.5) for row in np.eye(5)])
    np.testing.assert_allclose(found, np.stack([matrix @ weights] * 3), rtol=1e-12)


@pytest.mark.skipif(sys.platform == "win32", reason="no timers")
def test_handlers_that_raise_leave_numba_usable():
    """Numba's registries do not: what is interrupted there is never read to its end."""

    def fresh():
        def add(x, out):
            for i in range(x.shape[0]):
                out[i] = x[i] + 1.0

        return numhlo.jit(numhlo.kernel(add, result=lambda x: x))

    threads, x, stopped = [], np.ones(3), 0
    numba.njit(lambda: threads.append(1))  # Numba is loaded
    for k in range(8):
        f = fresh()
        stopped += is_stopped(0.01 * (1 + k), lambda f=f: f.lower(x).compile())
    assert stopped
    compiled = fresh().lower(x).compile()
    assert compiled(x).tolist() == [2.0] * 3
    assert compiled.cost_analysis()["python steps"] == 0


def test_a_handler_in_the_middle_of_numba_may_call_kernels():
    """Its thread has Numba's lock, which no other one gets meanwhile."""
    with numba.core.compiler_lock.global_compiler_lock:
        f = numhlo.jit(numhlo.kernel(lambda x, out: None, result=lambda x: x))
        assert f(np.ones(2)).tolist() == [0.0, 0.0]


@numhlo.kernel(result=lambda x: x)
def roots(x, out):
    for i in range(x.size):
        if x[i] < 0:
            raise ValueError("a root of a negative number")
        out[i] = np.sqrt(x[i])


def falling(x):
    """Take roots, less a bit each time, until they are of a negative number: the rounds would never end."""
    return lax.while_loop(lambda s: s[0] > -10.0, lambda s: roots(s) - 0.5, x)


@pytest.mark.parametrize("way", ["alone", "lanes", "rounds"])
def test_what_a_kernel_raises_ends_the_call(way, capfd):
    function, good, bad = {
        "alone": (lambda x: roots(x).sum(), np.ones(3), np.array([1.0, 4.0, -1.0])),
        "lanes": (
            numhlo.vmap(roots),
            np.ones((5000, 4)),
            np.where(np.arange(20000) == 7777, -1.0, 1.0).reshape(5000, 4),
        ),
        "rounds": (falling, np.full(3, -20.0), np.array([4.0, 9.0, 16.0])),
    }[way]
    f = numhlo.jit(function, tier0=False)
    expected = f(good)
    for _ in range(3):
        with pytest.raises(ValueError, match="a root of a negative number") as caught:
            f(bad)
        assert caught.traceback[-1].name == "roots"
        np.testing.assert_array_equal(f(good), expected)
    assert f.lower(bad).compile().cost_analysis()["python steps"] == 0
    assert capfd.readouterr().err == ""


def test_a_kernel_that_raises_in_many_threads():
    f = numhlo.jit(lambda x: roots(x) + 1.0, tier0=False)
    f(np.ones(3))
    found = {}

    def work(number):
        found[number] = 0
        for _ in range(50):
            try:
                f(np.full(3, 1.0 - 2 * (number % 2)))
            except ValueError:
                found[number] += 1

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == {0: 0, 1: 50, 2: 0, 3: 50}


def test_what_numba_cannot_read_runs_as_python():
    def double(x, out):
        import math  # noqa: PLC0415 - no bytecode that Numba knows

        out[:] = math.sqrt(4.0) * x

    first, later, text = run(numhlo.kernel(double, result=lambda x: x), np.ones(2))
    assert first.tolist() == later.tolist() == [2.0, 2.0]
    assert "Numba can't compile double: " in text and "IMPORT_NAME" in text
