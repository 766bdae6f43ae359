"""Many shapes of one function: what an entry keeps, what they share, and which go first."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

import numhlo
from numhlo import switches
from numhlo.backend.emit import draft
from numhlo.backend.executable import Executable
from numhlo.backend.runtime.arenas import native_arenas
from numhlo.compilation import cache as cache_module
from numhlo.lowering.ir import Op


@pytest.fixture(autouse=True)
def compiled_engine():
    with switches.using(engine="compiled"):
        yield


def layer(x, w):
    y = np.tanh(x @ w) * 2.0 - 1.0
    y = y - y.mean(axis=0)
    y = y / np.sqrt((y * y).mean(axis=0) + 1e-5)
    return np.exp(y - y.max(axis=1, keepdims=True)).sum(axis=1)


def call(function, numbers):
    rng = np.random.default_rng(0)
    for number in numbers:
        x, w = rng.normal(size=(10 + number, 7)), rng.normal(size=(7, 9))
        for _ in range(2):
            np.testing.assert_allclose(function(x, w), layer(x, w), rtol=1e-10)


def count_ops(function):
    function.wait()  # until kernels are there, the ops that they stand for are needed
    gc.collect()
    return sum(type(thing) is Op for thing in gc.get_objects())  # isinstance would ask dead weak proxies


@pytest.mark.not_every_call  # looks at what is kept alive
@pytest.mark.slow
def test_an_entry_keeps_no_graph_and_no_memory_for_intermediate_results(monkeypatch):
    monkeypatch.setattr(draft, "MOST_DRAFTS", 64)
    function = numhlo.jit(layer)
    call(function, [0])
    function.wait()
    call(function, range(1, 15))  # what is remembered of kernels' text fills up
    before = count_ops(function)
    tracemalloc.start()
    try:
        held, _ = tracemalloc.get_traced_memory()
        call(function, range(15, 35))
        assert count_ops(function) <= before
        grown = (tracemalloc.get_traced_memory()[0] - held) / 20
    finally:
        tracemalloc.stop()
    compiled = function.lower(np.ones((100, 7)), np.ones((7, 9))).compile()
    assert compiled.memory_analysis().arena_bytes > 5000
    assert grown < 25_000  # the graph alone would be some 50 kB
    assert "stablehlo.tanh" in compiled.as_text() and compiled.cost_analysis()["launches"] > 3
    assert function.explain().count("traced because") == function.cache_info().currsize == 35


def test_programs_share_their_arenas():
    @numhlo.jit
    def function(x):
        return np.sort(np.sort(x, axis=0) * 2.0, axis=1).sum()

    def held():
        return sum(memory.nbytes for memory in native_arenas._memory)

    for rows in (300, 301):
        function(np.ones((rows, 500)))
    function.wait()
    before = held()
    for rows in range(302, 320):
        x = np.random.default_rng(rows).normal(size=(rows, 500))
        for _ in range(2):
            np.testing.assert_allclose(function(x), 2 * x.sum(), rtol=1e-9)
    needed = function.lower(np.ones((300, 500))).compile().memory_analysis().arena_bytes
    assert needed > 1_000_000 and held() - before <= 4 * needed


@pytest.mark.not_every_call  # looks at what is kept alive
@pytest.mark.slow
def test_five_hundred_graphs_are_bounded():
    """Shapes of one function by the cache's bound, functions by their own lives."""

    def alive():
        gc.collect()
        return sum(type(thing) is Executable for thing in gc.get_objects())

    before, bound = alive(), cache_module.MOST_KEYS
    function = numhlo.jit(lambda x: x + 1)
    for n in range(1, bound + 20):
        assert function(np.ones(n))[-1] == 2
    assert function.cache_info().currsize == bound
    assert alive() - before <= bound
    for n in range(500):
        assert numhlo.jit(lambda x, n=n: x * 2 + n)(1.0) == 2 + n
    assert alive() - before <= bound + 2
    del function
    assert alive() - before <= 2


def test_shapes_that_were_not_called_for_longest_go_first(monkeypatch):
    monkeypatch.setattr(cache_module, "MOST_KEYS", 6)
    function = numhlo.jit(lambda x: x + 1)
    for n in range(1, 6):
        function(np.ones(n))
    for n in range(6, 30):
        for _ in range(3):
            assert function(np.ones(1)).tolist() == [2.0]  # by its route: nothing is looked up
        assert function(np.ones(n)).sum() == 2 * n
    assert function.cache_info().currsize == 6 and function.cache_info().misses == 29
    function(np.ones(2))
    assert function.cache_info().misses == 30


@pytest.mark.parametrize(
    "function",
    [
        lambda x: numhlo.lax.fori_loop(0, 3, lambda i, s: s + x[i], np.int8(0)),
        lambda x: numhlo.lax.scan(lambda s, i: (s + x[i], x[i + 1]), np.int8(0), np.arange(4)),
        lambda x: numhlo.lax.cond(x[0] > 0, lambda: x[5], lambda: x[7]),
        lambda x: numhlo.lax.map(lambda i: x[i] + 1, np.arange(40)),
    ],
    ids=["loop", "scan", "branch", "map"],
)
def test_a_large_array_that_is_indexed_costs_no_memory_while_it_is_planned(function):
    large = np.zeros(1 << 24, np.int8)
    numhlo.jit(function)(large[:64])
    tracemalloc.start()
    try:
        numhlo.jit(function)(large)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < large.nbytes // 2
