"""Type rules of convert, bitcast_convert and reduce_precision; what they compute is `casting`'s and `bit_patterns`'."""

import numpy as np

from numhlo.lowering.ops.conversion import BITCAST_CONVERT, CONVERT, REDUCE_PRECISION
from tests.lowering.ops.evaluation import evaluate, infer, rejection, tensor


def test_convert():
    x = np.array([[1.9, -2.9]], np.float32)
    assert evaluate(CONVERT, x, result=tensor("1x2xi32")).tolist() == [[1, -2]]
    assert evaluate(CONVERT, np.array(2.5), result=tensor("complex<f32>")) == 2.5
    assert evaluate(CONVERT, x, result=tensor("1x2xf32")) is x


def test_convert_c1():
    assert "(C1)" in rejection(CONVERT, tensor("2xf32"), result=tensor("3xi32"))
    assert infer(CONVERT, tensor("?xf32"), result=tensor("3xi32")) == tensor("3xi32")


def test_bitcast_convert():
    x = np.array([1.0, -0.0], np.float32)
    assert evaluate(BITCAST_CONVERT, x, result=tensor("2xi32")).tolist() == [0x3F800000, -(2**31)]
    assert evaluate(BITCAST_CONVERT, x, result=tensor("2x2xui16")).tolist() == [[0, 0x3F80], [0, 0x8000]]
    assert evaluate(BITCAST_CONVERT, x[1, ...], result=tensor("32xi1")).nonzero()[0].tolist() == [31]
    assert evaluate(BITCAST_CONVERT, np.array([1, 1], np.uint16), result=tensor("ui32")) == 65537


def test_bitcast_convert_c1():
    f32 = tensor("2xf32")
    assert "(C1)" in rejection(BITCAST_CONVERT, f32, result=tensor("3xi32"))
    assert "(C1)" in rejection(BITCAST_CONVERT, f32, result=tensor("2xi16"))
    assert "(C1)" in rejection(BITCAST_CONVERT, f32, result=tensor("3x2xi16"))
    assert "(C1) 3 elements of 16 bits must make one of 32 bits" in rejection(
        BITCAST_CONVERT, f32, result=tensor("2x3xi16")
    )
    assert "(C1)" in rejection(BITCAST_CONVERT, f32, result=tensor("f64").with_shape((2,)))
    assert infer(BITCAST_CONVERT, f32, result=tensor("f64")) == tensor("f64")
    assert infer(BITCAST_CONVERT, tensor("?x?xi8"), result=tensor("?xi32")) == tensor("?xi32")


def test_bitcast_convert_c2():
    assert "(C2)" in rejection(BITCAST_CONVERT, tensor("2xcomplex<f32>"), result=tensor("2xf64"))
    assert infer(BITCAST_CONVERT, tensor("2xcomplex<f32>"), result=tensor("complex<f64>")) == tensor("complex<f64>")


def test_reduce_precision():
    x = np.array([np.inf, 1.3, 70000.0])
    assert evaluate(REDUCE_PRECISION, x, exponent_bits=5, mantissa_bits=2).tolist() == [np.inf, 1.25, np.inf]
    assert evaluate(REDUCE_PRECISION, x[1, ...], exponent_bits=5, mantissa_bits=2).shape == ()


def test_reduce_precision_c1_c2_c3():
    f32 = tensor("2xf32")
    assert "(C1)" in rejection(REDUCE_PRECISION, f32, result=tensor("2xf16"), exponent_bits=5, mantissa_bits=2)
    assert "(C2)" in rejection(REDUCE_PRECISION, f32, exponent_bits=0, mantissa_bits=2)
    assert "(C3)" in rejection(REDUCE_PRECISION, f32, exponent_bits=5, mantissa_bits=-1)
    assert "(I1)" in rejection(REDUCE_PRECISION, tensor("2xi32"), exponent_bits=5, mantissa_bits=2)
