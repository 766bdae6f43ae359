"""Jitted functions from many threads, on any number of the pool's threads, and in processes of every kind."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import numhlo
from numhlo import lax

SIZE = 150_000


@numhlo.jit
def reductions(x):
    return np.sum(x), np.sum(x.reshape(300, 500), axis=0), np.max(x.reshape(300, 500), axis=1), np.mean(np.exp(-x))


@numhlo.jit
def scans(x):
    sums = lax.scan(lambda c, v: (c * 0.5 + v, c), 0.0, x[:1000])
    return np.cumsum(x.reshape(300, 500), axis=1), np.cumsum(x), sums


@numhlo.jit
def products(x):
    a = x[:90_000].reshape(300, 300)
    return a @ a, np.einsum("ij,kj->ik", a, a[:50]), a[0] @ a


@numhlo.jit
def lanes(x):
    return lax.map(lambda v: lax.fori_loop(0, 20, lambda _, s: s * 0.5 + v, v), x)


def apart(v):
    """Return what a lane computes that goes its own way: a branch, and a loop of its own length."""
    v = lax.cond(v > 0.5, lambda v: np.exp(v) * np.sin(v), lambda v: v - 1.0, v)
    return lax.while_loop(lambda s: np.abs(s) > 0.1, lambda s: s * 0.7, v)


@numhlo.jit
def lane_blocks(x):
    return lax.map(apart, x)


@numhlo.jit
def chunks(x):
    rows = x[:30_000].reshape(300, 100)
    return numhlo.vmap(lambda row: np.cumsum(np.sort(row)) * np.sum(np.exp(row)), chunk=7)(rows)


FUNCTIONS = [reductions, scans, products, lanes, lane_blocks, chunks]


def flat(results):
    return [np.asarray(leaf) for leaf in numhlo.tree_util.tree_leaves(results)]


def same(first, second):
    return all(a.tobytes() == b.tobytes() for a, b in zip(flat(first), flat(second), strict=True))


@pytest.fixture(scope="module")
def expected():
    x = np.random.default_rng(7).normal(size=SIZE)
    for f in FUNCTIONS:
        f(x)
        f.wait()
    with numhlo.threads(1):
        return x, [f(x) for f in FUNCTIONS]


def test_same_bits_on_one_to_eight_threads(expected):
    x, results = expected
    for count in range(2, 9):
        with numhlo.threads(count):
            for f, result in zip(FUNCTIONS, results, strict=True):
                assert same(f(x), result), (f, count)


def test_lanes_that_go_apart_run_in_blocks(expected):
    assert "map_lane_blocks" in lane_blocks.lower(expected[0]).compile().kernels


def test_sixteen_python_threads(expected):
    """They also compile a function of their own meanwhile, and limit their own number of threads."""
    x, results = expected
    wrong: list[object] = []

    def work(number):
        own = numhlo.jit(lambda x: np.sin(x) * (number % 4))
        with numhlo.threads(1 + number % 3):
            for turn in range(6):
                chosen = (number + turn) % len(FUNCTIONS)
                if not same(FUNCTIONS[chosen](x), results[chosen]):
                    wrong.append((number, turn))
                np.testing.assert_allclose(own(x[:100]), np.sin(x[:100]) * (number % 4), rtol=1e-14, atol=1e-14)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
    assert not any(thread.is_alive() for thread in threads)


PROCESSES = """
import multiprocessing, sys
import numpy as np
import numhlo

@numhlo.jit
def f(x):
    return np.sum(np.sqrt(x * x + 1.0).reshape(400, -1), axis=1)

def work(seed):
    x = np.linspace(0.0, 1.0 + seed, 200_000)
    f(x)
    f.wait()
    return np.array_equal(f(x), f(x)) and float(f(x)[3])

if __name__ == "__main__":
    with numhlo.threads(3):
        expected = [work(seed) for seed in range(3)]
        for method in multiprocessing.get_all_start_methods():
            with multiprocessing.get_context(method).Pool(2) as processes:
                found = processes.map(work, range(3))
                assert found == expected, (method, found, expected)
                processes.close()
                processes.join()
            assert [work(seed) for seed in range(3)] == expected
    print(*multiprocessing.get_all_start_methods())
"""


@pytest.mark.slow
def test_processes_of_every_start_method(tmp_path):
    """Children work after the parent has used its pool, and leave it as it was."""
    (tmp_path / "main.py").write_text(PROCESSES)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "main.py")],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.returncode == 0, done.stderr
    assert "spawn" in done.stdout
