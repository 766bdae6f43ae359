"""Sorts by comparators that are no order: both engines permute the elements, and write nothing else."""

import itertools

import numpy as np
import pytest

from numhlo.stablehlo import parse
from numhlo.switches import using

PLAIN = "%r = stablehlo.compare DIRECTION, %a, %b : (TYPE, TYPE) -> tensor<i1>"
CIRCLE = """
    %three = stablehlo.constant dense<3.0> : TYPE
    %one = stablehlo.constant dense<1.0> : TYPE
    %thrice = stablehlo.multiply %b, %three : TYPE
    %sum = stablehlo.add %a, %thrice : TYPE
    %rest = stablehlo.remainder %sum, %three : TYPE
    %r = stablehlo.compare LT, %rest, %one : (TYPE, TYPE) -> tensor<i1>"""
MIXTURE = """
    %seven = stablehlo.constant dense<7.0> : TYPE
    %five = stablehlo.constant dense<5.0> : TYPE
    %two = stablehlo.constant dense<2.0> : TYPE
    %product = stablehlo.multiply %a, %seven : TYPE
    %sum = stablehlo.add %product, %b : TYPE
    %rest = stablehlo.remainder %sum, %five : TYPE
    %r = stablehlo.compare LE, %rest, %two : (TYPE, TYPE) -> tensor<i1>"""
COMPARATORS = {
    **{direction: PLAIN.replace("DIRECTION", direction) for direction in ("LT", "GT", "LE", "GE", "EQ", "NE")},
    "always": "%r = stablehlo.constant dense<true> : tensor<i1>",
    "never": "%r = stablehlo.constant dense<false> : tensor<i1>",
    "of the first alone": CIRCLE,
    "a mixture": MIXTURE,
}
ORDERS = {"LE": 1, "GE": -1}
DTYPES = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "ui8": np.uint8, "i16": np.int16}
OTHERS = dict(zip(COMPARATORS, ["f32", "i64", "ui8", "i16"] * 3, strict=False))
"""Each comparator's second type; the first is float64."""
LENGTHS = (2, 5, 16, 31, 32, 33, 64, 100, 257)

PAIR = """
func.func @main(%x: TYPES, %y: PLACES) -> (TYPES, PLACES) {
  %s:2 = "stablehlo.sort"(%x, %y) <{dimension = DIMENSION : i64}> ({
  ^bb0(%a: TYPE, %b: TYPE, %u: tensor<i32>, %v: tensor<i32>):
    COMPARATOR
    stablehlo.return %r : tensor<i1>
  }) : (TYPES, PLACES) -> (TYPES, PLACES)
  return %s#0, %s#1 : TYPES, PLACES
}"""
ALONE = """
func.func @main(%x: TYPES) -> TYPES {
  %s = "stablehlo.sort"(%x) <{dimension = DIMENSION : i64}> ({
  ^bb0(%a: TYPE, %b: TYPE):
    COMPARATOR
    stablehlo.return %r : tensor<i1>
  }) : (TYPES) -> TYPES
  return %s : TYPES
}"""


def sort_of(template, comparator, dtype, shape, dimension):
    """The module that sorts arrays of a shape by a comparator."""
    extents = "x".join(map(str, shape))
    texts = {
        "COMPARATOR": COMPARATORS[comparator],
        "TYPES": f"tensor<{extents}x{dtype}>",
        "TYPE": f"tensor<{dtype}>",
        "PLACES": f"tensor<{extents}xi32>",
        "DIMENSION": str(dimension),
    }
    for name, text in texts.items():
        template = template.replace(name, text)
    return parse(template if dtype[0] == "f" else template.replace(".0>", ">"))


def keys_of(dtype, shape, rng):
    """Small numbers, many of them equal; some NaNs and infinities where the type has them."""
    keys = rng.integers(0, 50, shape).astype(dtype)
    if keys.dtype.kind == "f":
        keys[rng.random(shape) < 0.2] = np.nan
        keys[rng.random(shape) < 0.05] = np.inf
    return keys


def in_both_ways(module, *arrays):
    """The results of machine code, and of NumPy."""
    for engine in (module.run, module.interpret):
        with using(tier0=False):
            made = engine("main", *arrays)
        yield [np.asarray(a) for a in (made if isinstance(made, tuple | list) else [made])]


@pytest.mark.slow
@pytest.mark.parametrize("comparator", COMPARATORS)
def test_pairs_stay_together(comparator, rng):
    for dtype, length in itertools.product(("f64", OTHERS[comparator]), (7, 33, 100)):
        shape = (3, length)
        module = sort_of(PAIR, comparator, dtype, shape, 1)
        keys = keys_of(DTYPES[dtype], shape, rng)
        places = np.broadcast_to(np.arange(length, dtype=np.int32), shape).copy()
        for found, order in in_both_ways(module, keys, places):
            np.testing.assert_array_equal(np.sort(order, axis=1), places)
            np.testing.assert_array_equal(np.take_along_axis(keys, order, axis=1), found)
            if comparator in ORDERS and not np.isnan(keys.astype(float)).any():
                np.testing.assert_array_equal(found, np.sort(keys, axis=1)[:, :: ORDERS[comparator]])


@pytest.mark.slow
@pytest.mark.parametrize("comparator", COMPARATORS)
def test_arrays_alone_keep_their_elements(comparator, rng):
    dtype = OTHERS[comparator]
    for shape, dimension in (((40,), 0), ((257,), 0), ((64, 5), 0), ((2, 31, 3), 1)):
        module = sort_of(ALONE, comparator, dtype, shape, dimension)
        keys = keys_of(DTYPES[dtype], shape, rng)
        for (found,) in in_both_ways(module, keys):
            np.testing.assert_array_equal(np.sort(found, axis=dimension), np.sort(keys, axis=dimension))


@pytest.mark.parametrize("length", LENGTHS)
def test_every_length(length, rng):
    module = sort_of(PAIR, "LT", "f64", (length,), 0)
    for share in (0.0, 0.1, 0.5, 1.0):
        keys = rng.standard_normal(length)
        keys[rng.random(length) < share] = np.nan
        for found, order in in_both_ways(module, keys, np.arange(length, dtype=np.int32)):
            assert sorted(order) == list(range(length))
            np.testing.assert_array_equal(keys[order], found)
            if share == 0:
                np.testing.assert_array_equal(found, np.sort(keys))


def test_less_or_equal_orders_integers_without_nans(rng):
    for length in LENGTHS:
        keys = rng.integers(0, 20, length)
        module = sort_of(ALONE, "LE", "i64", (length,), 0)
        for (found,) in in_both_ways(module, keys):
            np.testing.assert_array_equal(found, np.sort(keys))
