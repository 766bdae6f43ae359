"""Which types are read: those of the official parser, in a tensor and alone; StableHLO's ops take fewer."""

import pytest

from numhlo import stablehlo
from numhlo.lowering.ir.errors import ParseError, VerificationError
from tests.oracle import official_parse


def list_of(words):
    return words.split()


ELEMENTS = list_of("""i1 i2 i3 i4 i8 i9 i64 i128 i16777215 i16777216 si8 ui1 ui3 ui64 f4 f8 f16 f17 f32 f80 f128 tf32 bf16 bf17
f4E2M1FN f6E2M3FN f8E4M3B11FNUZ f8E8M0FNU f8E8M1 f8e4m3 F32 index none pred complex<f32> complex<f16> complex<i32>
complex<index> complex<complex<f32>> vector<4xf32> tensor<f32>""")
SHAPES = list_of("""tensor<2xx3xf32> tensor<x2xf32> tensor<2xf32x> tensor<2,3xf32> tensor<-1xf32> tensor<*xf32> tensor<?x*xf32>
tensor<2x3> tensor<> tensor<00xf32> tensor<0x10xf32> tensor<9223372036854775807xi8> tensor<9223372036854775808xi8>
tensor<2xf32,#stablehlo.bounds<?>> tensor<?xf32,#stablehlo.bounds<5>> tensor<?xf32,#stablehlo.bounds<5,6>>
tensor<2xf32,#stablehlo.bounds<5>> tensor<?xf32,#stablehlo.type_extensions<bounds=[5]>> tensor<2xf32,"x">
tensor<2xf32,{a=1}> tensor<2xf32,foo> tuple<> tuple<tensor<f32>,> tuple<tensor<f32>,tuple<>> !stablehlo.token
!stablehlo.foo !stablehlo.future !stablehlo.future<tensor<4xf32>> memref<4xf32> !t tensor<4xf32 tuple< f""")
SPACED = ["tensor<1 1xf32>", "tensor< 1 x 1x\n//c\nf32 >", "tensor<i 64>", "tensor<2xcomplex <f32>>", "complex<f 32>"]
BRACKETED = ["i32<f32>", "f32<>", "tensor<2xindex<2>>"]
TYPES = [*ELEMENTS, *(f"tensor<2x{element}>" for element in ELEMENTS), *SHAPES, *SPACED, *BRACKETED]
QUANTIZED = {
    "i9:f32, 0.1": True,
    "i32:f64, 1.0e-3": True,
    "i8<-10:5>:f32:0, {0.1:3, 0.2}": True,
    "f8E4M3FN:f32, 0.1": True,
    "i8:f32:{0:1}, {0.1, 0.2}": True,
    "i33:f32, 0.1": False,
    "i8:f17, 0.1": False,
    "i8:i32, 0.1": False,
    "i8:f32, 1": False,
    "i8:f32, {0.1, 0.2}": False,
    "i8:f32:0, 0.1": False,
    "i8:f32": False,
    "i8": False,
}
"""Whether XLA's parser reads them; jaxlib's own lacks the dialect."""


def is_accepted(function, text, *errors):
    try:
        function(text)
    except errors:
        return False
    return True


def test_the_types_of_the_official_parser():
    for type in TYPES:
        text = f"func.func @main(%x: {type}) {{ return }}"
        assert is_accepted(stablehlo.parse, text, ParseError) == is_accepted(official_parse, text, Exception), type


@pytest.mark.parametrize("parameters", QUANTIZED)
def test_quantized_types(parameters):
    for text in (f"tensor<2x!quant.uniform<{parameters}>>", f"!quant.uniform<{parameters}>"):
        program = f"func.func @main(%x: {text}) {{ return }}"
        assert is_accepted(stablehlo.parse, program, ParseError) == QUANTIZED[parameters]


@pytest.mark.parametrize("type", ["tensor<2xi9>", "f32", "tuple<tensor<f32>, vector<4xf32>>", "tensor<2xcomplex<f16>>"])
def test_types_that_no_op_takes(type):
    module = stablehlo.parse(f"func.func @main() {{ %0 = stablehlo.custom_call @f() : () -> {type} return }}")
    with pytest.raises(VerificationError, match=r"result 0 is of type .*, which is none of StableHLO's"):
        module.verify()
