"""CHLO's rarer functions: values against XLA and mpmath, exact ones against Python's integers."""

import mpmath
import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir.errors import DTypeError
from numhlo.lowering.passes.legalization import legalize
from numhlo.lowering.text import parse
from tests.lowering.passes.test_legalize_chlo import legal
from tests.oracle import run_on_xla


def binary(name, element, count):
    type = f"tensor<{count}x{element}>"
    return (
        f"func.func @main(%x: {type}, %y: {type}) -> {type} {{\n"
        f"  %0 = chlo.{name} %x, %y : {type}, {type} -> {type}\n  return %0 : {type}\n}}"
    )


ZETA = [
    *[(2, 1), (1.5, 2.5), (3, 0.1), (10, 1e-3), (50, 9), (300, 1.01), (1, 2), (0.5, 2), (2, 0)],
    *[(2, -1), (3, -1), (2.5, -1), (2, -2.5), (1000, 5), (np.nan, 1), (3, -2.5)],
]
POLYGAMMA = [
    *[(0, 1.5), (1, 0.3), (2, 7), (3, 100), (5, 2), (-1, 2), (0.5, 2), (4, -1.5), (2, -2), (1, 0), (20, 3)],
    *[(np.nan, 3), (1, -0.5), (1, 1e5)],
]


@pytest.mark.parametrize(("element", "dtype", "error"), [("f64", "float64", 1e-12), ("f32", "float32", 3e-5)])
@pytest.mark.parametrize(("name", "cases"), [("zeta", ZETA), ("polygamma", POLYGAMMA)], ids=["zeta", "polygamma"])
def test_functions_of_two_arguments(name, cases, element, dtype, error):
    arrays = list(np.array(cases, dtype).T.copy())
    text = binary(name, element, len(cases))
    (expected,), (found,) = run_on_xla(text, arrays), interpret(legal(text), arrays)
    np.testing.assert_allclose(found, expected, rtol=error)


def test_zeta_of_large_arguments():
    found = interpret(legal(binary("zeta", "f64", 3)), [np.array([1e30, 4.0, 7.0]), np.array([2.0, 1e10, 1e-3])])[0]
    np.testing.assert_allclose(found, [0, float(mpmath.zeta(4, 10**10)), float(mpmath.zeta(7, 1e-3))], rtol=1e-13)


@pytest.mark.parametrize(("element", "dtype", "error"), [("f64", "float64", 2e-15), ("f32", "float32", 6e-7)])
def test_bessel_i1e(element, dtype, error):
    x = np.array([0, -0.0, 1e-5, -0.5, 1, 3, 7.9, 8, 8.1, -20, 1e5, np.inf, -np.inf, np.nan], dtype)
    text = f"func.func @main(%x: tensor<14x{element}>) -> tensor<14x{element}> {{\n"
    text += f"  %0 = chlo.bessel_i1e %x : tensor<14x{element}> -> tensor<14x{element}>\n"
    (found,) = interpret(legal(text + f"  return %0 : tensor<14x{element}>\n}}"), [x])
    finite = [float(mpmath.besseli(1, float(v)) * mpmath.exp(-abs(float(v)))) for v in x[:11]]
    np.testing.assert_allclose(found, [*finite, 0, 0, np.nan], rtol=error)
    assert np.signbit(found[1]) and not np.signbit(found[0])


@pytest.mark.parametrize("element", ["i4", "i8", "ui8", "i16", "i32", "ui32", "i64", "ui64"])
def test_mulhi(element, rng):
    bits, signed = int(element.strip("ui")), element[0] == "i"
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    x, y = ([low, low, high, *(int(v) for v in rng.integers(low, high, 20, dtype))] for dtype in [_wide(signed)] * 2)
    y[1] = high
    function = legal(binary("mulhi", element, 23))
    dtype = function.argument_types[0].dtype
    (found,) = interpret(function, [np.array(v, _wide(signed)).astype(dtype) for v in (x, y)])
    assert [int(v) for v in found] == [a * b >> bits for a, b in zip(x, y, strict=True)]


def _wide(signed):
    return np.int64 if signed else np.uint64


def test_broadcasting_and_constants():
    text = """func.func @main(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2xi32>) {
      %s = "chlo.constant"() <{value = dense<3.0> : tensor<f64>}> : () -> tensor<f64>
      %n = "chlo.constant"() <{value = dense<[1, 2]> : tensor<2xi32>}> : () -> tensor<2xi32>
      %0 = chlo.broadcast_zeta %s, %x : (tensor<f64>, tensor<2x3xf64>) -> tensor<2x3xf64>
      %1 = chlo.broadcast_next_after %x, %s : (tensor<2x3xf64>, tensor<f64>) -> tensor<2x3xf64>
      return %0, %1, %n : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2xi32>
    }"""
    x = np.arange(1.0, 7.0).reshape(2, 3)
    zeta, after, numbers = interpret(legal(text), [x])
    np.testing.assert_allclose(zeta, np.vectorize(lambda q: float(mpmath.zeta(3, q)))(x), rtol=1e-14)
    np.testing.assert_array_equal(after, np.nextafter(x, 3.0))
    assert numbers.tolist() == [1, 2]


@pytest.mark.parametrize(("name", "element"), [("zeta", "i32"), ("mulhi", "f32")])
def test_wrong_element_types(name, element):
    with pytest.raises(DTypeError, match=name):
        legalize(parse(binary(name, element, 2)).main)
