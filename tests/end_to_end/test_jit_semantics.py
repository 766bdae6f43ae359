"""`jit` on compiled kernels: memory, threads, reentrancy, failures, large programs, many shapes."""

import copy
import gc
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.backend.kernel_cache import kernel_cache
from numhlo.lowering.ir.errors import StaticArgumentError
from numhlo.lowering.ops import register_custom_call
from tests.work import count_calls

CALLS = 200
THREADS = 4


def compiled(fun, *arguments, **options):
    """Return a jitted function whose kernels for these arguments are there."""
    jitted = numhlo.jit(fun, **options)
    jitted(*[a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
    jitted.wait()
    return jitted


def memory_of(array):
    return array.__array_interface__["data"][0]


def test_results_share_memory_with_nothing():
    x = np.arange(12.0).reshape(3, 4)
    kept = np.full((2, 2), 7.0)

    def views(x):
        return x, x[1:], x.T, x.reshape(-1), x[::-1], np.broadcast_to(x[0], (5, 4)), x, kept, x + 1

    f = compiled(views, x)
    first, second = f(x), f(x)
    everything = [*first, *second, x, kept]
    for k, one in enumerate(everything):
        for other in everything[k + 1 :]:
            assert not np.may_share_memory(one, other)
    for result in first:
        result[...] = -1
    assert x[2, 3] == 11 and kept[0, 0] == 7 and second[0][2, 3] == 11


def test_donated_memory_becomes_the_result():
    f = compiled(lambda x, y: x * 2 + y, np.ones(1000), np.ones(1000), donate_argnums=0)
    x, y = np.arange(1000.0), np.ones(1000)
    place = memory_of(x)
    result = f(x, y)
    assert memory_of(result) == place
    np.testing.assert_array_equal(result, np.arange(1000.0) * 2 + 1)
    np.testing.assert_array_equal(f(result, y), np.arange(1000.0) * 4 + 3)
    g = compiled(lambda x, y: (x * 2 + y, x.sum(), x[::-1]), np.ones(1000), np.ones(1000), donate_argnums=0)
    results = g(np.arange(1000.0), y)
    for found, expected in zip(results, (np.arange(1000.0) * 2 + 1, 499500, np.arange(999.0, -1, -1)), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert (y == 1).all()


def test_read_only_arguments():
    x = np.arange(4.0)
    x.flags.writeable = False
    f = compiled(lambda x: x + 1, x)
    assert f(x).flags.writeable and f(x).tolist() == [1, 2, 3, 4]

    @numhlo.jit
    def g(x):
        x += 1
        return x

    for _ in range(2):
        with pytest.raises(ValueError, match="read-only"):
            g(x)
        y = np.arange(4.0)
        g(y)
        g.wait()
        assert y.tolist() == [1, 2, 3, 4] and x.tolist() == [0, 1, 2, 3]


def test_overlapping_arguments_are_read_before_they_are_written():
    def shift(target, source):
        target[...] = source[::-1] + target[0]

    f = compiled(shift, np.ones(6), np.ones(6))
    memory = np.arange(12.0)
    expected = memory.copy()
    f(memory[:6], memory[6:])
    shift(expected[:6], expected[6:])
    np.testing.assert_array_equal(memory, expected)


def test_nested_jit_and_jit_in_loops():
    inner = numhlo.jit(lambda x: x * 2 + 1)
    middle = numhlo.jit(lambda x: inner(inner(x)) - inner(x[::-1]))

    @numhlo.jit
    def outer(x):
        total, last = lax.fori_loop(0, 5, lambda k, s: (s[0] + middle(s[1]), s[1] + k), (np.zeros_like(x), x))
        return total + inner(last)

    x = np.arange(5.0)
    expected = [0.0] * 5
    total, last = np.zeros(5), x
    for k in range(5):
        total, last = total + (4 * last + 3) - (2 * last[::-1] + 1), last + k
    expected = total + 2 * last + 1
    for _ in range(2):
        np.testing.assert_array_equal(outer(x), expected)
        outer.wait()
    np.testing.assert_array_equal(inner(x), 2 * x + 1)


def test_threads_on_the_same_and_on_different_functions():
    def scaled(factor):
        return lambda x: (np.sqrt(x * factor) + x[::-1]).sum(axis=0)

    functions = [numhlo.jit(scaled(k + 1.0)) for k in range(THREADS)]
    shared = numhlo.jit(lambda x, n: lax.fori_loop(0, n, lambda _, s: s * 0.5 + x, x))
    failures, barrier = [], threading.Barrier(THREADS)

    def work(number):
        rng = np.random.default_rng(number)
        barrier.wait()
        for call in range(CALLS):
            x = rng.random((40 + call % 3, 30))
            factor = (number + call) % THREADS
            found, looped = functions[factor](x), shared(x, 3)
            expected = (np.sqrt(x * (factor + 1.0)) + x[::-1]).sum(axis=0)
            if not np.allclose(found, expected, rtol=1e-12) or not np.allclose(looped, x * 1.875, rtol=1e-14):
                failures.append((number, call))

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(THREADS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(switch)
    assert not failures
    assert all(f.cache_info().misses == 3 for f in [*functions, shared])


def test_large_work_in_threads_gives_the_same_bits():
    f = compiled(lambda x: (np.exp(x).sum(), (x * 3 - 1).cumsum()[-1]), np.ones(300_000))
    x = np.random.default_rng(0).random(300_000)
    expected = f(x)
    results = []
    threads = [threading.Thread(target=lambda: results.append([f(x) for _ in range(5)])) for _ in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == THREADS
    assert all(a == b for calls in results for pair in calls for a, b in zip(pair, expected, strict=True))


def test_recursion_by_static_arguments():
    @numhlo.jit(static_argnums=1)
    def power(x, n):
        if n == 0:
            return np.ones_like(x)
        half = power(x, n // 2)
        return half * half * (x if n % 2 else 1)

    power = numhlo.jit(power, static_argnums=1)
    x = np.array([1.0, 2.0, 3.0])
    for _ in range(2):
        assert power(x, 5).tolist() == [1, 32, 243]
        power.wait()


def test_a_custom_call_may_call_the_function_that_it_is_part_of():
    text = """
    func.func @main(%x: tensor<3xf64>) -> tensor<3xf64> {
      %0 = stablehlo.add %x, %x : tensor<3xf64>
      %1 = stablehlo.custom_call @end_to_end.again(%0) : (tensor<3xf64>) -> tensor<3xf64>
      %2 = stablehlo.multiply %1, %0 : tensor<3xf64>
      return %2 : tensor<3xf64>
    }
    """
    module = numhlo.stablehlo.parse(text)
    run = numhlo.jit(module.callable("main"))

    def again(arrays, attributes):
        (x,) = arrays
        return [np.asarray(run(x.copy())) if x[0] < 30 else x.copy()]

    register_custom_call("end_to_end.again", again)

    def plain(x):
        y = x + x
        return (plain(y) if y[0] < 30 else y) * y

    for start in (20.0, 3.0, 1.0):
        x = np.array([start, 1.0, 2.0])
        for _ in range(3):
            np.testing.assert_array_equal(run(x), plain(x))
        run.wait()


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, RecursionError])
def test_a_failing_trace_leaves_the_state_clean(error):
    fails = True

    def body(x):
        x[0] = 5
        if fails:
            raise error
        return x

    inner = numhlo.jit(body)
    outer = numhlo.jit(lambda x: lax.cond(x.sum() > 0, inner, lambda y: y, x + 1))
    x = np.zeros(3)
    for f in (inner, outer, numhlo.vmap(inner), numhlo.grad(lambda x: inner(x).sum())):
        with pytest.raises(error):
            f(np.zeros((3, 3)) if f is not inner else x)
        assert isinstance(np.add(x, 1), np.ndarray) and x.tolist() == [0, 0, 0]
    fails = False
    y = np.zeros(3)
    assert inner(y).tolist() == [5, 0, 0] and y.tolist() == [5, 0, 0]


@pytest.mark.not_every_call  # looks at what is kept alive
def test_programs_are_given_back():
    f = compiled(lambda x: x * 2, np.ones(3))
    result = weakref.ref(f(np.ones(3)))
    function = weakref.ref(f)
    gc.collect()
    assert result() is None
    del f
    gc.collect()
    assert function() is None


def long_unrolled(count):
    """Return a function of a loop that is unrolled into some seven ops for each of ``count`` iterations."""
    names = [f"round {k}" for k in range(count)]

    def unrolled(x):
        for name in names:  # no range: a loop over one that is so long would be kept
            x = x * 0.75 + np.abs(x[::-1]) * 0.125
            x[1:] -= 1.0 / (int(name.removeprefix("round ")) + 1)
        return x

    return unrolled


@pytest.mark.slow
def test_a_large_unrolled_loop_compiles_in_proportion():
    x, work = np.linspace(-1, 1, 16), []
    numhlo.jit(long_unrolled(3))(x.copy())  # what is remembered of single ops is no work of either
    for count in (110, 330):
        unrolled = long_unrolled(count)
        f = numhlo.jit(unrolled)
        work.append(count_calls(f, x.copy()))
    assert len(f.lower(x).compile().as_text().splitlines()) > 2000
    assert work[1] < 4 * work[0]
    f.wait()
    expected = unrolled(x.copy())
    np.testing.assert_array_equal(f(x.copy()), expected)
    np.testing.assert_array_equal(f(x.copy()), expected)


@pytest.mark.slow
def test_new_shapes_need_no_new_kernels():
    def fun(x, y):
        z = np.tanh(x @ y) + x.mean(axis=1, keepdims=True)
        return np.where(z > 0, z, 0.1 * z).sum(axis=0), z.max(), np.concatenate([z, y])[::2]

    f = numhlo.jit(fun)
    rng = np.random.default_rng(0)

    def call(n):
        x, y = rng.normal(size=(n, 2 * n)), rng.normal(size=(2 * n, n))
        for found, expected in zip(f(x, y), fun(x, y), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)

    for n in (40, 64, 70, 98):  # a sum within one block, a mean over a power of two, a sum over several, a cut product
        call(n)
        f.wait()
    cache = kernel_cache()
    before = cache.compiles + cache.disk_hits
    shapes = [*range(41, 64), *range(71, 98)]
    for n in shapes:
        call(n)
    f.wait()
    call(shapes[-1])
    assert cache.compiles + cache.disk_hits == before
    assert len(shapes) == 50 and f.cache_info().misses == 54


@numhlo.jit
def module_level(x):
    return x * 2


def scaled(x, times):
    return x * times


def test_jitted_functions_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(module_level)) is module_level is copy.deepcopy(module_level)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(numhlo.jit(lambda x: x))


def test_jitted_functions_without_a_name_are_pickled_by_their_function():
    found = pickle.loads(pickle.dumps(numhlo.jit(scaled, static_argnames="times")))
    assert found(np.ones(2), times=3).tolist() == [3, 3] and found.__wrapped__ is scaled
    with pytest.raises(StaticArgumentError):
        found(np.ones(2), times=[3])
