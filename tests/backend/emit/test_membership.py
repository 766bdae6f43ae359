"""isin by a hash table: keys of every type, those that collide, zeros, NaN, and the key that marks free slots."""

import numpy as np
import pytest

import numhlo
import numhlo.numpy as hnp
from numhlo.backend.emit.membership import FREE

MARK = int(FREE.removeprefix("to_i64(").rstrip(")"))


def found_both_ways(x, tested):
    call = numhlo.jit(lambda x, tested: hnp.isin(x, tested))
    first = np.asarray(call(x, tested))
    call.wait()
    np.testing.assert_array_equal(np.asarray(call(x, tested)), first)
    return first


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int8", "float64", "float32", "float16", "bool"])
def test_every_type(dtype, rng):
    x, tested = (rng.integers(0, 200, n).astype(dtype) for n in (300, 90))
    if x.dtype.kind == "f":
        x[:3], tested[:3] = [np.nan, -0.0, np.inf], [np.nan, 0.0, np.inf]
    np.testing.assert_array_equal(found_both_ways(x.reshape(3, 100), tested), np.isin(x, tested).reshape(3, 100))


def test_keys_of_few_different_bits_and_the_mark_of_free_slots():
    multiples = np.arange(-500, 500) << 40
    for marks in ([], [MARK]):
        tested = np.concatenate([multiples[::3], marks]).astype(np.int64)
        x = np.concatenate([multiples, [MARK, MARK + 1]])
        np.testing.assert_array_equal(found_both_ways(x, tested), np.isin(x, tested))


def test_complex_numbers_and_lanes_are_searched(rng):
    x = rng.integers(0, 9, 60) + 1j * rng.integers(0, 9, 60)
    np.testing.assert_array_equal(found_both_ways(x, x[:40]), np.isin(x, x[:40]))
    rows, tested = rng.integers(0, 50, (3, 20)), rng.integers(0, 50, (3, 40))
    lanes = numhlo.jit(numhlo.vmap(lambda x, tested: hnp.isin(x, tested)))(rows, tested)
    np.testing.assert_array_equal(lanes, [np.isin(a, b) for a, b in zip(rows, tested, strict=True)])


def test_what_runs():
    compiled = numhlo.jit(lambda x, tested: hnp.isin(x, tested)).lower(np.arange(50), np.arange(40)).compile()
    assert list(compiled.kernels) == ["isin_table_i64", "isin_i64"]
