"""New arrays that are filled part by part: concatenated or padded, so that nothing is written twice."""

import ml_dtypes
import numpy as np
import pytest

import numhlo


def planes(a, b):
    out = np.empty((*a.shape, 3), a.dtype)
    out[..., 0] = a
    out[..., 2] = b
    out[..., 1] = a + b
    return out


def interleaved(a, b):
    out = np.zeros((len(a), 2 * a.shape[1]), a.dtype)
    out[:, 1::2] = b
    out[:, ::2] = a
    return out


def three_in_turns(a, b):
    out = np.zeros(3 * a.size, a.dtype)
    out[::3], out[1::3], out[2::3] = a.ravel(), b.ravel(), a.ravel()
    return out


def behind_each_other(a, b):
    out = np.empty((len(a) + 2 * len(b), a.shape[1]), a.dtype)
    out[len(a) : -len(b)] = b
    out[-len(b) :] = b + b
    out[: len(a)] = a
    return out


def ghost_cells(a, b):
    out = np.full((a.shape[0] + 2, a.shape[1] + 3), 7, a.dtype)
    out[1:-1, 2:-1] = a + b
    return out


COVERED = [planes, interleaved, three_in_turns, behind_each_other, ghost_cells]


def read_between(a, b):
    out = np.zeros((len(a), 2 * a.shape[1]), a.dtype)
    out[:, ::2] = a
    first = out.copy()
    out[:, 1::2] = b
    return out, first


def read_inside(a, b):
    out = np.zeros((len(a), 2 * a.shape[1]), a.dtype)
    out[:, ::2] = a
    first = out[:2].copy()
    for _ in range(3):
        first += out[1:3]
    out[:, 1::2] = b
    return out, first


def not_all(a, b):
    out = np.ones((len(a), 3 * a.shape[1]), a.dtype)
    out[:, ::3], out[:, 1::3] = a, b
    return out


def overlapping(a, b):
    out = np.zeros((len(a), 2 * a.shape[1]), a.dtype)
    out[:, : a.shape[1]], out[:, 1 : 1 + a.shape[1]] = a, b
    return out


def same_place(a, b):
    out = np.zeros((len(a), 2 * a.shape[1]), a.dtype)
    out[:, ::2], out[:, ::2] = a, b
    return out


def two_axes(a, b):
    out = np.empty((2 * a.shape[0], 2 * a.shape[1]), a.dtype)
    out[::2, ::2], out[1::2, ::2], out[::2, 1::2], out[1::2, 1::2] = a, b, a + b, b
    return out


def ghosts_and_edges(a, b):
    out = np.zeros((a.shape[0] + 2, a.shape[1] + 2), a.dtype)
    out[1:-1, 1:-1] = a
    out[0], out[-1] = out[1], out[-2]
    out[:, 0] = out[:, -2]
    return out


def small_corner(a, b):
    out = np.zeros((3 * a.shape[0], a.shape[1]), a.dtype)
    out[: len(a)] = a
    return out


OTHERS = [read_between, read_inside, not_all, overlapping, same_place, two_axes, ghosts_and_edges, small_corner]


@pytest.mark.parametrize("function", [*COVERED, *OTHERS])
def test_results_are_numpys(rng, function):
    a, b = (rng.integers(-99, 99, (67, 93)).astype(np.float32) for _ in range(2))
    found, expected = numhlo.jit(function)(a, b), function(a, b)
    for ours, theirs in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, expected)), strict=True):
        np.testing.assert_array_equal(ours, theirs, strict=True)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float16, ml_dtypes.bfloat16, np.complex64, np.complex128])
def test_element_types(rng, dtype):
    a, b = (rng.integers(0, 2, (90, 61)).astype(dtype) for _ in range(2))
    for function in (planes, three_in_turns):
        np.testing.assert_array_equal(numhlo.jit(function)(a, b), function(a, b), strict=True)


@pytest.mark.parametrize("shape", [(0, 5000), (1, 5000), (5000, 1), (4099, 3)])
def test_extents_of_zero_and_one(rng, shape):
    a, b = (rng.integers(-99, 99, shape).astype(np.int16) for _ in range(2))
    for function in (planes, interleaved):
        np.testing.assert_array_equal(numhlo.jit(function)(a, b), function(a, b), strict=True)


@pytest.mark.parametrize("function", COVERED)
def test_nothing_is_filled_first(function):
    a = np.ones((67, 93))
    text = numhlo.jit(function).lower(a, a).compile().explain()
    assert ("pad" if function is ghost_cells else "concatenate") in text
    assert "all of it must be there" not in text


@pytest.mark.parametrize("function", [planes, interleaved, three_in_turns])
def test_parts_that_take_turns_are_one_kernel(rng, function):
    a, b = rng.random((2, 467, 93))
    compiled = numhlo.jit(function).lower(a, b).compile()
    assert compiled.explain().count("units") == 1
    for threads in (1, 2, 3, 8):
        with numhlo.threads(threads):
            np.testing.assert_array_equal(compiled(a, b), function(a, b), strict=True)
