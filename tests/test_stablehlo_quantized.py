"""Quantized types: their text, their constraints, and every kind of op on them, against the specification's formulas."""

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.ir.errors import UnsupportedError, VerificationError
from numhlo.lowering.text import parse, print_module
from tests.oracle import is_verified_by_xla

F32 = np.float32


def quantized(shape, parameters, element="i8:f32"):
    return f"tensor<{shape}!quant.uniform<{element}, {parameters}>>"


@pytest.mark.parametrize(
    "type",
    [
        quantized("4x", "0.1:-30"),
        quantized("", "1.5E-5", "i32:f32").replace("E-5", "e-05"),
        quantized("2x3x", "{0.1:-30, 0.5}", "i8:f32:0"),
        quantized("?x", "0.25", "i8<-127:127>:f32"),
        quantized("2x", "0.25:7", "u8:bf16"),
        quantized("2x", "1.0e+30:-8", "i4:f64"),
    ],
)
@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.specifies("quantized types")
def test_types_are_printed_as_they_were(type, generic):
    text = f"module {{\n  func.func public @main(%arg0: {type}) -> {type} {{\n    return %arg0 : {type}\n  }}\n}}\n"
    printed = print_module(parse(text), generic=generic)
    assert printed.count(type.replace("e+30", "e+30")) >= 2
    assert print_module(parse(printed), generic=generic) == printed


@pytest.mark.parametrize(
    ("type", "rule"),
    [
        (quantized("2x", "0.1", "i8<-200:127>:f32"), "C3"),
        (quantized("2x", "0.1", "i8<5:5>:f32"), "C3"),
        (quantized("2x", "0.0"), "C5"),
        (quantized("2x", "1.0e60"), "C6"),
        (quantized("2x", "0.1:200"), "C7"),
        (quantized("2x", "0.1:90", "i8<-50:50>:f32"), "C7"),
        (quantized("2x", "{0.1, 0.2}", "i8:f32:1"), "C12"),
        (quantized("3x", "{0.1, 0.2}", "i8:f32:0"), "C13"),
    ],
)
@pytest.mark.specifies("quantized types")
def test_constraints_of_types(type, rule):
    module = stablehlo.parse(f"func.func @main(%x: {type}) -> {type} {{ return %x : {type} }}")
    with pytest.raises(VerificationError, match=rf"{rule}[^\n]*\n  at <string>:1:1"):
        module.verify()
    with pytest.raises(VerificationError, match=rule):
        module.run("main", np.zeros(module.graph.main.argument_types[0].shape, np.int8))


def test_constraints_of_ops_hold_for_the_floats():
    q = quantized("2x", "0.1")
    text = f"func.func @main(%x: {q}) -> {quantized('3x', '0.1')} {{\n"
    text += f"  %0 = stablehlo.add %x, %x : ({q}, {q}) -> {quantized('3x', '0.1')}\n  return %0 : {quantized('3x', '0.1')}\n}}"
    with pytest.raises(VerificationError, match="add"):
        stablehlo.parse(text).verify()


def one(body, **types):
    arguments = ", ".join(f"%{name}: {type}" for name, type in types.items())
    return f"func.func @main({arguments}) {{ {body} return }}"


E, OTHER, PLAIN = quantized("4x", "0.5:1"), quantized("4x", "0.25:1"), "tensor<4xf32>"
ZERO, WIDER = quantized("4x", "0.5"), quantized("4x", "0.5:1", "i16:f32")
ALONG, ROWS = quantized("4x", "{0.5, 0.5, 1.0, 1.0}", "i8:f32:0"), quantized("4x4x", "{0.5, 0.5, 1.0, 1.0}", "i8:f32:0")
COLUMNS = ROWS.replace(":0,", ":1,")
SCALAR, INTEGER = quantized("", "0.5:1"), quantized("", "0.25", "i32:f32")


def pair(name, a, b, result, attributes=""):
    return one(f'%r = "stablehlo.{name}"(%a, %b) {attributes} : ({a}, {b}) -> {result}', a=a, b=b)


def single(name, a, result, attributes=""):
    return one(f'%r = "stablehlo.{name}"(%a) {attributes} : ({a}) -> {result}', a=a)


def product(a, b, result):
    return one(f"%r = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : ({a}, {b}) -> {result}", a=a, b=b)


def total(initial, inner):
    add = f"%z = stablehlo.add %u, %v : {inner} stablehlo.return %z : {inner}"
    region = f"({{ ^bb0(%u: {inner}, %v: {inner}): {add} }})"
    return pair("reduce", E, initial, SCALAR, f"<{{dimensions = array<i64: 0>}}> {region}")


def chosen(result):
    return one(
        f'%r = "stablehlo.if"(%p) ({{ stablehlo.return %a : {E} }}, {{ stablehlo.return %a : {E} }}) : '
        f"(tensor<i1>) -> {result}",
        a=E,
        p="tensor<i1>",
    )


SWAP, SECOND = "<{permutation = array<i64: 1, 0>}>", "<{broadcast_dimensions = array<i64: 1>}>"
TOGETHER = {
    "add": (pair("add", E, OTHER, E), ""),
    "add of one that is not": (pair("add", E, PLAIN, E), "C2"),
    "add of floats": (pair("add", PLAIN, PLAIN, E), "C2"),
    "add of wider ones": (pair("add", E, WIDER, E), "C3"),
    "add of doubles": (pair("add", E, quantized("4x", "0.5:1", "i8:f64"), E), "C4|C1"),
    "add along an axis": (pair("add", ALONG, ALONG, E), "C5"),
    "add along two": (pair("add", ROWS, COLUMNS, ROWS), "C6|C7"),
    "abs to floats": (single("abs", E, PLAIN), "C2"),
    "compare with floats": (pair("compare", E, PLAIN, "tensor<4xi1>", "<{comparison_direction = LT}>"), "C1"),
    "dequantize to doubles": (single("uniform_dequantize", E, "tensor<4xf64>"), "C2"),
    "dequantize to quantized": (single("uniform_dequantize", E, E), "C2"),
    "quantize doubles": (single("uniform_quantize", "tensor<4xf64>", E), "C2"),
    "quantize integers": (single("uniform_quantize", "tensor<4xi8>", E), "I1"),
    "requantize": (single("uniform_quantize", E, WIDER), ""),
    "reshape": (single("reshape", E, E.replace("4x", "2x2x")), ""),
    "reshape to another scale": (single("reshape", E, OTHER), "C1"),
    "transpose": (single("transpose", ROWS, COLUMNS, SWAP), ""),
    "transpose but not the axis": (single("transpose", ROWS, ROWS, SWAP), "C4"),
    "broadcast": (single("broadcast_in_dim", ALONG, COLUMNS, SECOND), ""),
    "broadcast but not the axis": (single("broadcast_in_dim", ALONG, ROWS, SECOND), "C6"),
    "concatenate": (pair("concatenate", E, OTHER, E.replace("4x", "8x"), "<{dimension = 0 : i64}>"), "C1"),
    "product": (product(E, ZERO, INTEGER), ""),
    "product with a zero point": (product(E, E, INTEGER), "C15"),
    "product along what is contracted": (product(E, ALONG, INTEGER), "C16"),
    "product of wider ones": (product(WIDER, ZERO, INTEGER), "C17"),
    "product to floats": (product(E, ZERO, "tensor<f32>"), "C14"),
    "hybrid product": (product(PLAIN, ZERO, "tensor<f32>"), ""),
    "hybrid product of doubles": (product("tensor<4xf64>", ZERO, "tensor<f64>"), "C20|C13"),
    "reduce": (total(SCALAR, SCALAR), ""),
    "reduce from another scale": (total(INTEGER, SCALAR), "C2"),
    "reduce in another scale": (total(SCALAR, SCALAR.replace("0.5", "0.25")), "C6"),
    "if": (chosen(E), ""),
    "if to another scale": (chosen(OTHER), "C3"),
    "barrier": (single("optimization_barrier", E, OTHER), "C1"),
    "tuple": (single("tuple", E, f"tuple<{OTHER}>"), "C1"),
    "constant": (one(f'%r = "stablehlo.constant"() <{{value = dense<1> : tensor<4xi8>}}> : () -> {E}'), ""),
    "constant of another storage": (
        one(f'%r = "stablehlo.constant"() <{{value = dense<1> : tensor<4xi16>}}> : () -> {E}'),
        "C1",
    ),
    "constant of another shape": (
        one(f'%r = "stablehlo.constant"() <{{value = dense<1> : tensor<2xi8>}}> : () -> {E}'),
        "C1",
    ),
    "constant tuple": (
        one(f'%r = "stablehlo.constant"() <{{value = dense<1> : tensor<4xi8>}}> : () -> tuple<{E}>'),
        "result 0 must be a tensor",
    ),
}


ILL_FORMED = {
    "two constants": (
        one(f'%r:2 = "stablehlo.constant"() <{{value = dense<1> : tensor<4xi8>}}> : () -> ({E}, {E})'),
        "C1",
    ),
    "quantize two": (pair("uniform_quantize", PLAIN, PLAIN, E), "one operand and one result"),
    "dequantize to two": (
        one(f'%r:2 = "stablehlo.uniform_dequantize"(%a) : ({E}) -> ({PLAIN}, {PLAIN})', a=E),
        "one operand and one result",
    ),
    "product without a result": (product(E, ZERO, "()").replace("%r = ", ""), "result type"),
    "transpose by nothing": (single("transpose", ROWS, COLUMNS, "<{permutation = array<i64>}>"), "C2"),
}
"""Ops without what they need, which XLA is not asked about: some end the process."""


LEFT_OPEN = {"reduce in another scale", "if to another scale"}
"""What XLA lets pass: it compares what regions give with results but for the scales."""


@pytest.mark.parametrize("case", TOGETHER)
@pytest.mark.specifies("quantized arithmetic")
def test_which_types_may_meet(case):
    text, rule = TOGETHER[case]
    text = text.replace("= LT}", "= #stablehlo<comparison_direction LT>}")
    assert is_verified_by_xla(text) == (not rule or case in LEFT_OPEN)
    if not rule:
        stablehlo.parse(text).verify()
        return
    with pytest.raises(VerificationError, match=rule):
        stablehlo.parse(text).verify()


@pytest.mark.parametrize("case", ILL_FORMED)
def test_ops_without_what_they_need(case):
    text, rule = ILL_FORMED[case]
    with pytest.raises(VerificationError, match=rf"{rule}[^\n]*\n  at <string>:1:"):
        stablehlo.parse(text).verify()


# -- the specification's formulas


def dequantize(q, scale, zero):
    return (q.astype(np.int64) - zero).astype(F32) * F32(scale)


def quantize(x, scale, zero, dtype=np.int8, low=None, high=None):
    info = np.iinfo(dtype)
    moved = x.astype(F32) / np.asarray(scale, F32) + np.asarray(zero, F32)
    return np.rint(
        np.clip(moved, F32(info.min if low is None else low), F32(info.max if high is None else high))
    ).astype(dtype)


A, B, C = (0.1, -30), (0.25, 5), (0.05, 0)
QA, QB, QC = (quantized("2x3x", f"{s}:{z}" if z else f"{s}") for s, z in (A, B, C))
SA, SB = (quantized("", f"{s}:{z}" if z else f"{s}") for s, z in (A, B))
AXIS = quantized("2x3x", "{0.1:-30, 0.5, 0.02:7}", "i8:f32:1")
WIDE = quantized("2x3x", "1.5e-05", "i32:f32")
SCALES, ZEROS = np.array([0.1, 0.5, 0.02], F32), np.array([-30, 0, 7])
P, Q = np.array([[-128, -30, 0], [5, 100, 127]], np.int8), np.array([[7, -8, 90], [-100, 1, 64]], np.int8)
R = np.array([[2**24 + 1, -(2**31), 5], [2**31 - 1, 0, -7]], np.int32)
X = np.array([[0.0, 0.05, -2.96], [1e9, -1e9, 1.2345]], F32)
FP, FQ, FZ = dequantize(P, *A), dequantize(Q, *A), dequantize(Q, *C)

FK = (P - ZEROS).astype(F32) * SCALES
STORED = quantized("", "0.1:-30", "i32:f32")

ADD = """({{
  ^bb0(%l: {0}, %m: {0}):
    %z = stablehlo.{1} %l, %m : {0}
    stablehlo.return %z : {0}
  }})"""

CASES = {
    "quantize": (f"stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> {QA}", QA, quantize(X, *A)),
    "dequantize": (f"stablehlo.uniform_dequantize %p : ({QA}) -> tensor<2x3xf32>", "tensor<2x3xf32>", FP),
    "requantize": (f"stablehlo.uniform_quantize %p : ({QA}) -> {QB}", QB, quantize(FP, *B)),
    "quantize along an axis": (
        f"stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> {AXIS}",
        AXIS,
        quantize(X, SCALES, ZEROS),
    ),
    "dequantize along an axis": (
        f"stablehlo.uniform_dequantize %k : ({AXIS}) -> tensor<2x3xf32>",
        "tensor<2x3xf32>",
        (P - ZEROS).astype(F32) * SCALES,
    ),
    "storage range": (
        f"stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> {quantized('2x3x', '0.1', 'i8<-127:50>:f32')}",
        quantized("2x3x", "0.1", "i8<-127:50>:f32"),
        quantize(X, 0.1, 0, low=-127, high=50),
    ),
    "add": (f"stablehlo.add %p, %q : ({QA}, {QA}) -> {QB}", QB, quantize(FP + FQ, *B)),
    "multiply": (f"stablehlo.multiply %p, %q : {QA}", QA, quantize(FP * FQ, *A)),
    "tanh": (f"stablehlo.tanh %p : ({QA}) -> {QC}", QC, quantize(np.tanh(FP), *C)),
    "compare": (f"stablehlo.compare LT, %p, %q : ({QA}, {QA}) -> tensor<2x3xi1>", "tensor<2x3xi1>", FP < FQ),
    "select": (f"stablehlo.select %c, %p, %q : tensor<2x3xi1>, {QA}", QA, np.where([[1, 0, 1], [0, 1, 0]], P, Q)),
    "clamp": (f"stablehlo.clamp %q, %p, %q : {QA}", QA, Q),
    "transpose": (
        f"stablehlo.transpose %w, dims = [1, 0] : ({WIDE}) -> {WIDE.replace('2x3', '3x2')}",
        WIDE.replace("2x3", "3x2"),
        R.T,
    ),
    "concatenate": (
        f"stablehlo.concatenate %p, %q, dim = 0 : ({QA}, {QA}) -> {QA.replace('2x3', '4x3')}",
        QA.replace("2x3", "4x3"),
        np.concatenate([P, Q]),
    ),
    "dot_general": (
        f"stablehlo.dot_general %p, %o, contracting_dims = [1] x [1] : ({QA}, {QC}) -> {QB.replace('2x3', '2x2')}",
        QB.replace("2x3", "2x2"),
        quantize(FP @ FZ.T, *B),
    ),
    "hybrid product": (
        f"stablehlo.dot_general %x, %o, contracting_dims = [1] x [1] : (tensor<2x3xf32>, {QC}) -> tensor<2x2xf32>",
        "tensor<2x2xf32>",
        X @ FZ.T,
    ),
    "constant": (f"stablehlo.constant dense<[[1, 2, 3], [4, 5, -6]]> : {QA}", QA, np.array([[1, 2, 3], [4, 5, -6]])),
    "convert": (f"stablehlo.convert %k : ({AXIS}) -> {AXIS}", AXIS, P),
    "reduce": (
        f'"stablehlo.reduce"(%p, %s) <{{dimensions = array<i64: 0>}}> {ADD.format(SA, "maximum")} : '
        f"({QA}, {SA}) -> {QA.replace('2x3', '3')}",
        QA.replace("2x3", "3"),
        P.max(0),
    ),
    "case": (
        f'"stablehlo.case"(%i) ({{ stablehlo.return %p : {QA} }}, {{ stablehlo.return %q : {QA} }}) : '
        f"(tensor<i32>) -> {QA}",
        QA,
        Q,
    ),
    "reverse along an axis": (
        f"stablehlo.reverse %k, dims = [1] : {AXIS}",
        AXIS,
        quantize(FK[:, ::-1], SCALES, ZEROS),
    ),
    "concatenate along an axis": (
        f"stablehlo.concatenate %k, %k, dim = 0 : ({AXIS}, {AXIS}) -> {AXIS.replace('2x3', '4x3')}",
        AXIS.replace("2x3", "4x3"),
        np.concatenate([P, P]),
    ),
    "add along an axis": (f"stablehlo.add %k, %k : {AXIS}", AXIS, quantize(2 * FK, SCALES, ZEROS)),
    "tanh along an axis": (f"stablehlo.tanh %k : {AXIS}", AXIS, quantize(np.tanh(FK), SCALES, ZEROS)),
    "reduce in a wider storage": (
        f'"stablehlo.reduce"(%p, %s) <{{dimensions = array<i64: 1>}}> {ADD.format(STORED, "add")} : '
        f"({QA}, {SA}) -> {STORED.replace('<!', '<2x!')}",
        STORED.replace("<!", "<2x!"),
        (P.astype(int) + 30).sum(1) - 128,
    ),
    "windows in a wider storage": (
        f'"stablehlo.reduce_window"(%p, %s) <{{window_dimensions = array<i64: 1, 3>}}> {ADD.format(STORED, "add")} : '
        f"({QA}, {SA}) -> {STORED.replace('<!', '<2x1x!')}",
        STORED.replace("<!", "<2x1x!"),
        (P.astype(int) + 30).sum(1, keepdims=True) - 128,
    ),
    "call": (f"func.call @same(%p) : ({QA}) -> {QA}", QA, P),
}


@pytest.mark.specifies("quantization, uniform_dequantize uniform_quantize, quantized arithmetic")
def test_every_kind_of_op():
    arguments = {
        "x": "tensor<2x3xf32>",
        "p": QA,
        "q": QA,
        "o": QC,
        "k": AXIS,
        "w": WIDE,
        "s": SA,
        "c": "tensor<2x3xi1>",
        "i": "tensor<i32>",
    }
    lines = "\n".join(f"  %r{n} = {line}" for n, (line, _, _) in enumerate(CASES.values()))
    types = ", ".join(type for _, type, _ in CASES.values())
    names = ", ".join(f"%r{n}" for n in range(len(CASES)))
    given = ", ".join(f"%{name}: {type}" for name, type in arguments.items())
    text = f"func.func public @main({given}) -> ({types}) {{\n{lines}\n  return {names} : {types}\n}}\n"
    text += f"func.func private @same(%x: {QA}) -> {QA} {{ return %x : {QA} }}"
    module = stablehlo.parse(text)
    assert parse(module.as_text(generic=True)).main.result_types == module.graph.main.result_types
    arrays = X, P, Q, Q, P, R, np.int8(-128), np.array([[1, 0, 1], [0, 1, 0]], bool), np.int32(1)
    for results in (module.interpret("main", *arrays), module.run("main", *arrays)):
        for (name, (_, _, wanted)), found in zip(CASES.items(), results, strict=True):
            if found.dtype.kind == "f":
                np.testing.assert_allclose(found, wanted, rtol=1e-6, err_msg=name)
            else:
                np.testing.assert_array_equal(found, wanted, name)


def test_extents_may_be_unknown(rng):
    whole, axes = "!quant.uniform<i8:f32, 0.5:-3>", "!quant.uniform<i8:f32:1, {0.5, 0.25:4, 0.125}>"
    text = f"""func.func @main(%x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3x{whole}>) {{
      %0 = stablehlo.uniform_quantize %x : (tensor<?x3xf32>) -> tensor<?x3x{axes}>
      %1 = stablehlo.uniform_dequantize %0 : (tensor<?x3x{axes}>) -> tensor<?x3xf32>
      %2 = stablehlo.uniform_quantize %x : (tensor<?x3xf32>) -> tensor<?x3x{whole}>
      %3 = stablehlo.add %2, %2 : tensor<?x3x{whole}>
      return %1, %3 : tensor<?x3xf32>, tensor<?x3x{whole}> }}"""
    module, scales, zeros = stablehlo.parse(text), np.float32([0.5, 0.25, 0.125]), np.float32([0, 4, 0])
    for rows in (4, 1, 0):
        x = (5 * rng.normal(size=(rows, 3))).astype(np.float32)
        quanta = np.rint(np.clip(x / scales + zeros, -128, 127))
        twice = 2 * (np.rint(np.clip(x / np.float32(0.5) - 3, -128, 127)) + 3) - 3
        for found in (module.run("main", x), module.interpret("main", x)):
            np.testing.assert_array_equal(found[0], (quanta - zeros) * scales)
            np.testing.assert_array_equal(found[1], np.clip(twice, -128, 127).astype(np.int8))


def test_what_is_not_supported():
    text = "func.func @main(%x: TYPE) -> TYPE { return %x : TYPE }".replace("TYPE", quantized("2x", "0.1", "i1:f32"))
    with pytest.raises(UnsupportedError, match="which no array is"):
        stablehlo.parse(text).run("main", np.zeros(2, bool))


BITS = {
    (quantized("2x", "0.5:-3"), "tensor<2xui8>"): (np.int8, np.uint8),
    ("tensor<2xi32>", quantized("2x4x", "0.5:-3")): (np.int32, np.int8),
    (quantized("2x4x", "0.5:-3"), quantized("2x", "0.5", "i32:f32")): (np.int8, np.int32),
    (quantized("2x", "0.5", "i32:f32"), "tensor<2xf32>"): (np.int32, np.float32),
}


@pytest.mark.parametrize("types", BITS, ids=" to ".join)
def test_bits_are_those_of_the_storage(types):
    """(C1) of bitcast_convert: the widths are the storage types'."""
    bits = np.arange(-4, 4, dtype=np.int8)
    before, after = BITS[types]
    operand, wanted = (bits[: 2 if "2xui8" in types[1] else 8].view(d) for d in (before, after))
    operand = operand.reshape([int(n) for n in types[0].removeprefix("tensor<").split("x") if n.isdigit()])
    signature = f"({types[0]}) -> {types[1]}"
    module = stablehlo.parse(
        f"func.func @main(%x: {types[0]}) -> {types[1]} {{\n"
        f"  %0 = stablehlo.bitcast_convert %x : {signature}\n  return %0 : {types[1]}\n}}"
    )
    for found in (module.run("main", operand), module.interpret("main", operand)):
        np.testing.assert_array_equal(found[0].ravel().view(np.int8), wanted.view(np.int8), strict=True)


def test_bits_must_fit():
    types = quantized("2x", "0.5"), "tensor<2x3xi8>"
    text = f"func.func @main(%x: {types[0]}) -> {types[1]} {{ %0 = stablehlo.bitcast_convert %x : ({types[0]}) -> {types[1]} return %0 : {types[1]} }}"
    with pytest.raises(
        VerificationError, match=r"bitcast_convert\(int8\[2\]\): \(C1\) the result must have the operand's shape"
    ):
        stablehlo.parse(text).verify()
