"""sort, compiled: rows as words of a key and a place, or merged, against NumPy's stable order of the keys."""

from __future__ import annotations

import numpy as np
import pytest
from jax import lax

from numhlo.backend import numpy_sort
from numhlo.backend.emit import sorting
from numhlo.backend.executable import Executable
from numhlo.backend.planning import plan
from tests.backend.programs import evaluated, from_jax, launched

KEYS = {np.dtype(t): np.iinfo(t) for t in (np.int8, np.int16, np.int32, np.uint8, np.uint32)}
SHAPES = (((3, 70), 1), ((64, 5), 0), ((2, 200, 3), 1), ((1000,), 0))


def keys(rng, shape, dtype):
    """Return keys of which many are equal, and the least and the largest."""
    limits = KEYS[dtype]
    values = rng.integers(0, 20, shape).astype(dtype)
    values.flat[1], values.flat[2], values.flat[-1] = limits.min, limits.max, limits.min
    return values


def programs(rng):
    """Return a program that sorts keys with three other arrays, its arguments, and what it gives."""
    cases = [(keys(rng, shape, dtype), axis) for dtype in KEYS for shape, axis in SHAPES]
    others = [[rng.standard_normal(k.shape).astype(t) for t in (np.float32, np.complex128)] for k, _ in cases]
    arrays = [x for (k, _), more in zip(cases, others, strict=True) for x in (k, *more)]
    axes = [axis for _, axis in cases]

    def function(*a):
        triples = zip(a[::3], a[1::3], a[2::3], axes, strict=True)
        return [
            lax.sort((k, x, z, lax.iota(np.int32, k.size).reshape(k.shape)), ax, num_keys=1) for k, x, z, ax in triples
        ]

    expected = []
    for (k, axis), more in zip(cases, others, strict=True):
        order = np.argsort(k, axis=axis, kind="stable")
        counter = np.arange(k.size, dtype=np.int32).reshape(k.shape)
        expected += [np.take_along_axis(x, order, axis) for x in (k, *more, counter)]
    return function, arrays, expected


@pytest.mark.slow
@pytest.mark.specifies("sort")
@pytest.mark.parametrize("way", ["words", "merged"])
def test_rows_by_integer_keys(rng, monkeypatch, way):
    if way == "merged":
        monkeypatch.setattr(sorting, "word_sort", lambda: 0)
    function, arrays, expected = programs(rng)
    program = plan(from_jax(function, *arrays))
    assert not evaluated(program)
    names = launched(program)
    assert ("sort_words" in names) == (way == "words") and ("sort_rows" in names) == (way == "merged")
    executable = Executable(program)
    assert executable.wait(120)
    for found, wanted in zip(executable(arrays), expected, strict=True):
        assert found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize(
    "sort",
    [
        lambda k: lax.sort(k.astype(np.int64)),  # keys too wide
        lambda k: lax.sort(k[..., :63]),  # rows too short
        lambda k: -lax.sort((-k).astype(np.float32)),  # floats compared as such
        lambda k: lax.sort((k, k + 1), num_keys=2),  # two keys
    ],
)
def test_what_is_merged(sort):
    program = plan(from_jax(sort, np.arange(100, dtype=np.int32)))
    assert "sort_words" not in launched(program)


def test_numpys_sort_is_found_and_proven():
    assert numpy_sort.word_sort()
    assert numpy_sort._sorts(numpy_sort.word_sort())
