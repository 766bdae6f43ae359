"""sort, compiled: rows as words of a key and a place, or merged, against NumPy's stable order of the keys."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from jax import lax

import numhlo
from numhlo.backend import numpy_sort
from numhlo.backend.emit.sorts import of_words, writer
from numhlo.backend.executable import Executable
from tests.backend.programs import evaluated, from_jax, launched, plan

WIDE = (np.int64, np.uint64)
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
        monkeypatch.setattr(of_words, "run_sort", lambda dtype: 0)
        monkeypatch.setattr(writer, "run_sort", lambda dtype: 0)
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
        lax.sort,  # nothing to be moved
        lambda k: lax.sort((k[..., :15], k[..., 1:16]), num_keys=1),  # rows too short
        lambda k: -lax.sort((-k).astype(np.float32)),  # floats compared as such
        lambda k: lax.sort((k, k + 1), num_keys=2),  # two keys
    ],
)
def test_what_is_merged(sort):
    program = plan(from_jax(sort, np.arange(100, dtype=np.int32)))
    assert "sort_words" not in launched(program)


def test_numpys_sort_is_found_and_proven():
    for dtype in numpy_sort.SORTED:
        assert numpy_sort.run_sort(dtype)
    idle = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)(lambda *_: 0)
    assert not numpy_sort._sorts(ctypes.cast(idle, ctypes.c_void_p).value, np.dtype(np.int64))
    assert not numpy_sort.run_sort(np.dtype(np.int8))


def wide_keys(rng, shape, dtype):
    """Return 64-bit keys of which some differ in their lowest bits alone, beside the least and the largest."""
    limits = np.iinfo(dtype)
    values = (rng.integers(0, 3, shape) * 100_000 + rng.integers(0, 40, shape)).astype(dtype)
    values.flat[1], values.flat[2], values.flat[-1] = limits.min, limits.max, limits.min
    return values


@pytest.mark.specifies("sort")
@pytest.mark.parametrize("descending", [False, True])
def test_keys_that_leave_no_room_for_places(rng, descending):
    keys = [wide_keys(rng, shape, dtype) for dtype in WIDE for shape in ((5, 17), (2, 700))]
    keys += [rng.standard_normal((3, 300)), rng.integers(0, 9, (2, 600)).astype(np.int64)]

    def orders(*keys):
        return [numhlo.numpy.argsort(k, axis=1, stable=True, descending=descending) for k in keys]

    compiled = numhlo.jit(orders, tier0=False)
    assert "sort_words" in compiled.lower(*keys).compile().kernels
    for found, k in zip(compiled(*keys), keys, strict=True):
        signed = k.view(np.int64) ^ np.int64(-(2**63)) if k.dtype == np.uint64 else k
        order = np.argsort(
            ~signed if descending and k.dtype.kind != "f" else -signed if descending else signed, axis=1, kind="stable"
        )
        np.testing.assert_array_equal(found, order)


@pytest.mark.specifies("sort")
@pytest.mark.parametrize("length", [7, 255, 257, 3000])
def test_integers_alone(rng, length):
    arrays = [
        rng.integers(np.iinfo(t).min, np.iinfo(t).max, (3, length), t, endpoint=True)
        for t in (np.int8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
    ]
    compiled = numhlo.jit(lambda *arrays: [np.sort(x) for x in arrays], tier0=False)
    for found, x in zip(compiled(*arrays), arrays, strict=True):
        np.testing.assert_array_equal(found, np.sort(x))


@pytest.mark.specifies("sort")
@pytest.mark.parametrize("whole", [False, True])
def test_long_rows_are_runs_or_one_call(rng, monkeypatch, whole):
    monkeypatch.setattr(writer, "sorts_long_rows", lambda itemsize: whole)
    arrays = [rng.integers(-9, 9, 5000).astype(np.int32), rng.standard_normal((2, 3001)), rng.integers(0, 1 << 60, 700)]
    compiled = numhlo.jit(lambda *arrays: [y for x in arrays for y in (np.sort(x), np.argsort(x))], tier0=False)
    expected = [y for x in arrays for y in (np.sort(x), np.argsort(x, kind="stable"))]
    for found, wanted in zip(compiled(*arrays), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("name", "features", "expected"),
    [
        ("emeraldrapids", "+avx2,+avx512dq,+avx512vbmi2", (True, True)),
        ("skylake-avx512", "+avx2,+avx512dq,-avx512vbmi2", (True, False)),
        ("znver4", "+avx2,+avx512dq,+avx512vbmi2", (False, False)),
        ("haswell", "+avx2,-avx512dq", (False, False)),
    ],
)
def test_processors_on_which_numpy_sorts_long_rows(monkeypatch, name, features, expected):
    monkeypatch.setattr(writer, "processor", lambda: (name, features))
    asked = writer.sorts_long_rows.__wrapped__
    assert (asked(4), asked(2)) == expected


@pytest.mark.parametrize("dtype", [np.int32, np.float64, np.complex128])
def test_rows_in_order_and_nearly_so(dtype, rng):
    ordered = np.sort(rng.integers(0, 99, 300)).astype(dtype)
    rows = [ordered, np.roll(ordered, -1), np.roll(ordered, 1), ordered[::-1], np.zeros_like(ordered)]
    array = np.stack([*rows, rng.permutation(ordered)])
    for order in (np.sort, lambda x, axis: np.argsort(x, axis=axis, kind="stable")):
        call = numhlo.jit(lambda x, order=order: order(x, axis=-1))
        first = np.asarray(call(array))
        np.testing.assert_array_equal(first, order(array, axis=-1))
        call.wait()
        np.testing.assert_array_equal(np.asarray(call(array)), first)
