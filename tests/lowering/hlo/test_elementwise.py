"""Elementwise instructions: every opcode read, run and written as XLA does."""

import numpy as np
import pytest
from scipy.special import erf

from numhlo import stablehlo
from numhlo.lowering.hlo.elementwise import FUNCTIONS, OPCODES
from numhlo.lowering.ir.errors import ParseError
from tests.lowering.hlo.judges import (
    assert_close,
    check,
    check_protos,
    entry,
    normal,
    printed_by_xla,
    read_by_xla,
    run_hlo_on_xla,
    same_bits,
)

F32 = np.float32
UNARY = [
    "abs",
    "cbrt",
    "ceil",
    "cosine",
    "exponential",
    "exponential-minus-one",
    "floor",
    "imag",
    "log",
    "log-plus-one",
    "logistic",
    "negate",
    "real",
    "round-nearest-afz",
    "round-nearest-even",
    "rsqrt",
    "sign",
    "sine",
    "sqrt",
    "tan",
    "tanh",
]
BINARY = ["add", "atan2", "divide", "maximum", "minimum", "multiply", "power", "remainder", "subtract"]
OF_INTEGERS = ["and", "or", "xor", "shift-left", "shift-right-arithmetic", "shift-right-logical"]
OF_BITS = ["not", "popcnt", "count-leading-zeros"]


def test_these_are_all():
    tested = {*UNARY, *BINARY, *OF_INTEGERS, *OF_BITS, "is-finite", "complex"}
    assert tested == OPCODES.keys()


@pytest.mark.parametrize("opcode", UNARY)
def test_unary(opcode):
    x = np.abs(normal(5)) + F32(0.1)
    check(entry("x = f32[5] parameter(0)", f"ROOT r = f32[5] {opcode}(x)"), x)


@pytest.mark.parametrize("opcode", BINARY)
def test_binary(opcode):
    lines = ["x = f32[5] parameter(0)", "y = f32[5] parameter(1)", f"ROOT r = f32[5] {opcode}(x, y)"]
    check(entry(*lines), np.abs(normal(5)), normal(5, seed=1))


@pytest.mark.parametrize("opcode", OF_INTEGERS)
def test_binary_of_integers(opcode):
    lines = ["x = s32[5] parameter(0)", "y = s32[5] parameter(1)", f"ROOT r = s32[5] {opcode}(x, y)"]
    check(entry(*lines), np.array([-7, 0, 1, 5, 9], np.int32), np.array([1, 2, 3, 40, 0], np.int32))


@pytest.mark.parametrize("opcode", OF_BITS)
def test_unary_of_integers(opcode):
    check(entry("x = u16[4] parameter(0)", f"ROOT r = u16[4] {opcode}(x)"), np.array([0, 1, 300, 65535], np.uint16))


@pytest.mark.parametrize("opcode", sorted(set(FUNCTIONS) - {"mulhi"}))
def test_functions(opcode):
    x = np.array([0.1, 0.5, 0.9], F32) + F32(opcode == "acosh")
    text = entry("x = f32[3] parameter(0)", f"ROOT r = f32[3] {opcode}(x)")
    module = stablehlo.from_hlo(printed_by_xla(read_by_xla(text)))
    expected = erf(x) if opcode == "erf" else getattr(np, opcode)(x)
    assert_close(module.run("main", x), [expected], 1e-6)
    written = module.as_hlo_text()
    assert_close(run_hlo_on_xla(written, [x]), [expected], 1e-6)
    if opcode == "erf":
        assert same_bits(run_hlo_on_xla(written, [x]), run_hlo_on_xla(text, [x]))


def test_high_halves_of_products():
    x = np.array([3, 4000000000], np.uint32)
    text = entry("x = u32[2] parameter(0)", "ROOT r = u32[2] mulhi(x, x)")
    module = stablehlo.from_hlo(printed_by_xla(read_by_xla(text)))
    expected = ((x.astype(np.uint64) ** 2) >> 32).astype(np.uint32)
    assert same_bits(module.run("main", x), [expected])
    again = stablehlo.from_hlo(printed_by_xla(read_by_xla(module.as_hlo_text())))
    assert same_bits(again.run("main", x), [expected])


def test_complex_and_its_parts():
    lines = [
        "x = f32[3] parameter(0)", "y = f32[3] parameter(1)", "z = c64[3] complex(x, y)", "w = c64[3] multiply(z, z)",
        "a = f32[3] real(w)", "b = f32[3] imag(w)", "c = f32[3] abs(w)", "d = pred[3] is-finite(c)",
        "ROOT t = (f32[3], f32[3], f32[3], pred[3]) tuple(a, b, c, d)",
    ]  # fmt: skip
    check(entry(*lines), normal(3), np.array([1, np.inf, np.nan], F32))


@pytest.mark.parametrize("direction", ["EQ", "NE", "GE", "GT", "LE", "LT"])
@pytest.mark.parametrize("kind", ["", ", type=TOTALORDER"])
def test_comparisons(direction, kind):
    lines = ["x = f32[6] parameter(0)", "y = f32[6] parameter(1)"]
    x = np.array([0, -0.0, np.nan, 1, -np.inf, 2], F32)
    y = np.array([-0.0, 0, np.nan, 2, np.nan, 2], F32)
    check(entry(*lines, f"ROOT r = pred[6] compare(x, y), direction={direction}{kind}"), x, y)


@pytest.mark.parametrize(
    ("type", "dtype"), [("s8", np.int8), ("u8", np.uint8), ("pred", np.bool_), ("c64", np.complex64)]
)
def test_comparisons_by_the_elements_type(type, dtype):
    direction = "EQ" if type == "c64" else "LT"
    lines = [f"x = {type}[3] parameter(0)", f"y = {type}[3] parameter(1)"]
    x, y = np.array([0, 1, 200]).astype(dtype), np.array([1, 1, 3]).astype(dtype)
    check(entry(*lines, f"ROOT r = pred[3] compare(x, y), direction={direction}"), x, y)


def test_choices_and_bounds():
    lines = [
        "p = pred[4] parameter(0)", "x = f32[4] parameter(1)", "y = f32[4] parameter(2)",
        "low = f32[] constant(-0.5)", "high = f32[] constant(0.5)",
        "s = f32[4] select(p, x, y)", "ROOT r = f32[4] clamp(low, s, high)",
    ]  # fmt: skip
    check(entry(*lines), np.array([True, False, True, False]), normal(4), normal(4, seed=1))


def test_conversions():
    lines = [
        "x = f32[4] parameter(0)", "a = s8[4] convert(x)", "b = bf16[4] convert(x)", "c = pred[4] convert(x)",
        "d = u32[4] bitcast-convert(x)", "e = u8[4,4] bitcast-convert(x)",
        "f = f32[4] reduce-precision(x), exponent_bits=5, mantissa_bits=7", "g = f16[4] convert(d)",
        "ROOT t = (s8[4], bf16[4], pred[4], u32[4], u8[4,4], f32[4], f16[4]) tuple(a, b, c, d, e, f, g)",
    ]  # fmt: skip
    check(entry(*lines), np.array([0, 1.3, -2.7, 100], F32))


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("{mode=highest}", "mode = #stablehlo.result_accuracy_mode<HIGHEST>"),
        ("{mode=default}", ""),
        ("{tolerance={atol=1e-05,rtol=0.5,ulps=3}}", "atol = 1.000000e-05, rtol = 5.000000e-01, ulps = 3, mode ="),
        ("{tolerance={atol=0,rtol=0,ulps=2}}", "<ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>"),
    ],
)
def test_how_exact_a_result_must_be(asked, shown):
    text = entry("x = f32[3] parameter(0)", f"ROOT r = f32[3] exponential(x), result_accuracy={asked}")
    module = stablehlo.from_hlo(printed_by_xla(read_by_xla(text)))
    assert shown in module.as_text()
    assert ("result_accuracy" in module.as_text()) == bool(shown)
    check_protos(text, module)
    assert stablehlo.from_hlo(module.as_hlo_text()).as_text() == module.as_text()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ROOT r = f32[3] exponential(x), result_accuracy={mode=odd}", "result_accuracy is written as"),
        ("ROOT r = f32[3] exponential(x), result_accuracy=odd", "result_accuracy is written as"),
        ("ROOT r = f32[3] reduce-precision(x), exponent_bits=4294967296, mantissa_bits=7", "takes 32 bits"),
        ("ROOT r = f32[3] negate(x), result_accuracy={mode=highest}", "negate has no attribute result_accuracy"),
        ("ROOT r = pred[3] compare(x, x), direction=XX", "direction must be one of EQ, NE, GE"),
        ("ROOT r = pred[3] compare(x, x), direction=LT, type=ODD", "type must be FLOAT"),
        ("ROOT r = pred[3] compare(x, x)", "compare needs the attribute direction"),
        ("ROOT r = f32[3] add(x)", "add takes 2 operands, not 1"),
        ("ROOT r = f32[4] add(x, x)", r"add returns tensor<3xf32>, not tensor<4xf32>"),
        ("ROOT r = f32[3] popcnt(x)", "popcnt"),
        ("ROOT r = f32[3] abs(x), dimensions={0}", "abs has no attribute dimensions"),
        ("ROOT r = f32[3] convert(x, x)", "convert takes 1 operands, not 2"),
        ("ROOT r = f32[3] reduce-precision(x), exponent_bits=0, mantissa_bits=7", "exponent_bits"),
    ],
)
def test_what_is_refused(line, message):
    with pytest.raises(ParseError, match=message) as caught:
        stablehlo.from_hlo(entry("x = f32[3] parameter(0)", line))
    assert caught.value.lineno == 5
