"""Integers that are added to few elements: where tables take turns, and that nothing is lost."""

import numpy as np
import pytest

import numhlo


def counted(counts, places, amounts):
    counts = counts + 0
    np.add.at(counts, places, amounts)
    return counts


def kernel_of(function, *arguments):
    (kernel,) = [text for name, text in function.lower(*arguments).compile().kernels.items() if "scatter" in name]
    return kernel


@pytest.mark.parametrize(("dtype", "length"), [(np.int64, 7), (np.int32, 256), (np.uint8, 2)])
def test_what_is_added_to_few_elements_is_added_in_tables(dtype, length, rng):
    count = 8 * length + 1500
    counts = rng.integers(0, 100, length).astype(dtype)
    places = rng.integers(0, length, count)
    amounts = rng.integers(0, 100, count).astype(dtype)
    expected = counted(counts, places, amounts)
    function = numhlo.jit(counted, tier0=False)
    np.testing.assert_array_equal(function(counts, places, amounts), expected)
    assert "tables" in kernel_of(function, counts, places, amounts)


def test_places_outside_are_counted_nowhere(rng):
    places = rng.integers(-20, 30, 3000)
    function = numhlo.jit(lambda places: numhlo.numpy.bincount(places, length=10), tier0=False)
    inside = places[(places >= 0) & (places < 10)]
    np.testing.assert_array_equal(function(places), np.bincount(inside, minlength=10))
    assert "tables" in kernel_of(function, places)


@pytest.mark.parametrize(("length", "count", "dtype"), [(257, 9000, np.int64), (100, 700, np.int64), (10, 900, float)])
def test_where_tables_are_not_worth_it_or_not_exact_there_are_none(length, count, dtype, rng):
    counts, places, amounts = np.zeros(length, dtype), rng.integers(0, length, count), np.ones(count, dtype)
    function = numhlo.jit(counted, tier0=False)
    np.testing.assert_array_equal(function(counts, places, amounts), counted(counts, places, amounts))
    assert "tables" not in kernel_of(function, counts, places, amounts)
