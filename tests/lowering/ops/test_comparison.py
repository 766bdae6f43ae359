"""compare, select and clamp: constraints by number, orders against XLA and against their definitions."""

import numpy as np
import pytest

from numhlo.lowering.ir import element_spelling
from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.lowering.ops.comparison import CLAMP, COMPARE, DIRECTIONS, SELECT
from tests.lowering.ops.evaluation import all_codes, evaluate, infer, pairs, rejection, same, tensor
from tests.oracle import run_on_xla


def compare_on_xla(x, y, kind):
    operand = f"tensor<{len(x)}x{element_spelling(x.dtype)}>"
    result = f"tensor<{len(x)}xi1>"
    lines = [
        f"%{k} = stablehlo.compare {direction}, %x, %y, {kind} : ({operand}, {operand}) -> {result}"
        for k, direction in enumerate(DIRECTIONS)
    ]
    types = ", ".join([result] * 6)
    lines.append(f"return %0, %1, %2, %3, %4, %5 : {types}")
    text = f"func.func @main(%x: {operand}, %y: {operand}) -> ({types}) {{\n"
    return dict(zip(DIRECTIONS, run_on_xla(text + "\n".join(lines) + "\n}", [x, y]), strict=True))


@pytest.mark.parametrize("kind", ["FLOAT", "TOTALORDER"])
@pytest.mark.parametrize("name", ["f32", "f64", "f16", "bf16", "f8E5M2", "f8E4M3FN", "f8E4M3", "f8E3M4", "f8E4M3FNUZ"])
@pytest.mark.specifies("compare, choosing")
def test_floats_compare_as_on_xla(name, kind):
    values = np.array([0.0, 1, 1.5, np.inf, np.nan, 0.25, 3.3]).astype(ELEMENT_TYPES[name])
    x, y = pairs(np.concatenate([values, -values]))
    for direction, expected in compare_on_xla(x, y, kind).items():
        found = evaluate(COMPARE, x, y, comparison_direction=direction, compare_type=kind)
        assert (found == expected).all(), direction


@pytest.mark.parametrize(
    ("name", "kind"), [("i1", "UNSIGNED"), ("i8", "SIGNED"), ("ui8", "UNSIGNED"), ("i4", "SIGNED")]
)
@pytest.mark.specifies("compare")
def test_integers_compare_as_numbers(name, kind):
    dtype = ELEMENT_TYPES[name]
    x, y = pairs(np.array([False, True]) if name == "i1" else all_codes(dtype))
    a, b = x.astype(np.int64), y.astype(np.int64)
    for direction, function in DIRECTIONS.items():
        found = evaluate(COMPARE, x, y, comparison_direction=direction, compare_type=kind)
        assert (found == function(a, b)).all()


def test_wide_integers_are_not_compared_as_floats():
    x, y = np.array([2**63 - 1, 2**53 + 1]), np.array([2**63 - 2, 2**53])
    assert evaluate(COMPARE, x, y, comparison_direction="GT").all()
    assert not evaluate(COMPARE, x, y, comparison_direction="EQ").any()


@pytest.mark.parametrize("name", ["f4E2M1FN", "f6E3M2FN", "f8E8M0FNU", "f8E5M2FNUZ"])
def test_total_order_of_every_code_agrees_with_its_value(name):
    codes = all_codes(ELEMENT_TYPES[name])
    numbers = codes[~np.isnan(codes.astype(np.float32))]
    x, y = pairs(numbers)
    a, b = x.astype(np.float32), y.astype(np.float32)
    found = evaluate(COMPARE, x, y, comparison_direction="LT", compare_type="TOTALORDER")
    assert (found == ((a < b) | ((a == b) & np.signbit(a) & ~np.signbit(b)))).all()


def test_complex_numbers_are_pairs():
    parts = [0.0, 1.0, -1.0, np.nan]
    x, y = pairs(np.array([complex(a, b) for a in parts for b in parts], np.complex64))
    less = (x.real < y.real) | ((x.real == y.real) & (x.imag < y.imag))
    equal = (x.real == y.real) & (x.imag == y.imag)
    assert (evaluate(COMPARE, x, y, comparison_direction="LT") == less).all()
    assert (evaluate(COMPARE, y, x, comparison_direction="GT") == less).all()
    assert (evaluate(COMPARE, x, y, comparison_direction="EQ") == equal).all()
    assert (evaluate(COMPARE, x, y, comparison_direction="NE") == ~equal).all()
    assert (evaluate(COMPARE, x, y, comparison_direction="LE") == (less | equal)).all()


def test_compare_scalars():
    assert evaluate(COMPARE, np.array(1.0), np.array(2.0), comparison_direction="LT").shape == ()


def test_compare_c1_c2_c3():
    f32, i32 = tensor("2xf32"), tensor("2xi32")
    assert "(C1)" in rejection(COMPARE, f32, i32, comparison_direction="LT")
    assert "(C2)" in rejection(COMPARE, f32, tensor("3xf32"), comparison_direction="LT")
    assert "(C2)" in rejection(COMPARE, f32, f32, result=f32, comparison_direction="LT")
    assert "(I3)" in rejection(COMPARE, f32, f32, comparison_direction="XX")
    message = rejection(COMPARE, i32, i32, comparison_direction="LT", compare_type="FLOAT")
    assert "(C3) compare_type of int32 must be SIGNED, not FLOAT" in message
    complex64 = tensor("2xcomplex<f32>")
    assert "(C3)" in rejection(COMPARE, complex64, complex64, comparison_direction="EQ", compare_type="TOTALORDER")
    assert infer(COMPARE, tensor("?xf32"), f32, comparison_direction="LT") == tensor("2xi1")


@pytest.mark.parametrize("name", ["i1", "i4", "i32", "bf16", "f64", "complex<f32>", "f8E4M3FN"])
@pytest.mark.specifies("select")
def test_select_takes_any_type(name):
    dtype = ELEMENT_TYPES[name]
    x, y = np.zeros(3, dtype), np.ones(3, dtype)
    assert evaluate(SELECT, np.array([True, False, True]), x, y).astype(complex).tolist() == [0, 1, 0]
    assert evaluate(SELECT, np.array(False), x, y).astype(complex).tolist() == [1, 1, 1]
    assert evaluate(SELECT, np.array(True), x[0, ...], y[0, ...]).astype(complex) == 0


@pytest.mark.parametrize("name", ["i8", "bf16", "f32", "i64", "complex<f32>", "complex<f64>"])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.9])
def test_select_from_many_has_the_same_bits(name, share, rng):
    dtype = ELEMENT_TYPES[name]
    x, y = rng.integers(0, 256, (2, 40, 50 * dtype.itemsize), np.uint8).view(dtype)
    y = np.asfortranarray(y) if name == "f32" else np.broadcast_to(y[0, 0], y.shape)
    chosen = rng.random((40, 50)) < share
    found = evaluate(SELECT, chosen, x, y)
    expected = np.stack([x, y]).view(np.uint8).reshape(2, 40, 50, -1)[(~chosen).astype(int), *np.indices((40, 50))]
    assert found.dtype == dtype
    np.testing.assert_array_equal(np.ascontiguousarray(found).view(np.uint8).reshape(40, 50, -1), expected)


def test_select_c1_c2():
    predicate, f32 = tensor("2xi1"), tensor("2xf32")
    assert "(C1)" in rejection(SELECT, tensor("3xi1"), f32, f32)
    assert "(C2)" in rejection(SELECT, predicate, f32, tensor("2xf64"))
    assert "(C2)" in rejection(SELECT, predicate, f32, tensor("3xf32"))
    assert "(I1)" in rejection(SELECT, f32, f32, f32)
    assert infer(SELECT, tensor("i1"), tensor("?x2xf32"), tensor("3x?xf32")) == tensor("3x2xf32")


@pytest.mark.parametrize("name", ["i8", "ui16", "f32", "bf16", "i4"])
@pytest.mark.specifies("clamp")
def test_clamp_with_full_and_scalar_bounds(name):
    dtype = ELEMENT_TYPES[name]
    x = np.array([0, 1, 2, 3, 4, 5, 6, 7], np.int64).astype(dtype)
    least, most = np.array([2] * 8, np.int64).astype(dtype), np.array(5, np.int64).astype(dtype)
    assert evaluate(CLAMP, least, x, most).astype(int).tolist() == [2, 2, 2, 3, 4, 5, 5, 5]
    assert evaluate(CLAMP, least[0, ...], x[7, ...], most).astype(int) == 5


def test_clamp_is_minimum_of_maximum():
    x = np.array([1.0, np.nan, 3.0])
    assert same(evaluate(CLAMP, np.array(4.0), x, np.array(2.0)), np.array([2.0, np.nan, 2.0])).all()
    assert np.isnan(evaluate(CLAMP, np.array(np.nan), x, np.array(2.0))).all()


def test_clamp_c1_c2_c3_c4():
    f32, scalar = tensor("2xf32"), tensor("f32")
    assert "(C1)" in rejection(CLAMP, tensor("3xf32"), f32, scalar)
    assert "(C2)" in rejection(CLAMP, scalar, f32, tensor("1xf32"))
    assert "(C3)" in rejection(CLAMP, scalar, f32, tensor("f64"))
    assert "(C4)" in rejection(CLAMP, scalar, f32, scalar, result=tensor("3xf32"))
