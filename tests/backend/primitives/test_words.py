"""Every word of kernel source means the same as machine code and as plain Python, and what its docstring says."""

import platform
import re
from fractions import Fraction

import ml_dtypes
import numba
import numpy as np
import pytest

import numhlo.backend.compiler.intrinsics as machine_code
from numhlo.backend import primitives
from numhlo.backend.primitives import STORAGES, register_name, storage_name
from numhlo.lowering.ir.types import NARROW_FLOATS
from tests.backend.both_ways import assert_same_both_ways, run_native

INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f32", "f64")
REGISTERS = ("bool", *INTEGERS, *FLOATS, "c64", "c128")
NARROW = [name for name, storage in STORAGES.items() if storage.dtype in NARROW_FLOATS]
SMALL_INTEGERS = ("i2", "i4", "u2", "u4")


def integer_samples(name):
    info = np.iinfo(STORAGES[name].dtype)
    values = {info.min, info.min + 1, -3, -1, 0, 1, 2, 7, 8, 31, 32, 63, 64, 100, info.max - 1, info.max}
    return np.array(sorted(v for v in values if info.min <= v <= info.max), STORAGES[name].dtype)


def float_samples(name):
    dtype = STORAGES[name].dtype
    info = np.finfo(dtype)
    values = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 1e-3, 7.25, 254.5, 2.0**31, 2.0**32, 2.0**63, 2.0**64, info.max, info.tiny]
    positive = np.array([*values, info.smallest_subnormal, np.inf, np.nan, 16777217.0, 0.49999999999999994], dtype)
    return np.concatenate([positive, -positive])


def samples(name):
    if name == "bool":
        return np.array([False, True])
    if name in INTEGERS:
        return integer_samples(name)
    if name in FLOATS:
        return float_samples(name)
    part = float_samples("f32" if name == "c64" else "f64")
    grid = np.stack(np.meshgrid(part[::3], part[::4]), -1).reshape(-1, 2)
    return np.ascontiguousarray(grid).view(STORAGES[name].dtype).reshape(-1)


def pairs(name):
    values = samples(name)
    left, right = np.meshgrid(values, values)
    return np.ascontiguousarray(left.ravel()), np.ascontiguousarray(right.ravel())


def source_of(name, inputs, outputs):
    """A kernel that stores each expression of ``outputs`` (of ``a``, ``b``; with its type) in a buffer of its own."""
    text = ["from numhlo.backend.primitives import *", "", "", f"def {name}(ctx, bufs, dims, lo, hi):"]
    text += [f"    p{k} = address(bufs, {k})" for k in range(len(inputs) + len(outputs))]
    text.append("    for i in range(lo, hi):")
    text += [f"        {'ab'[k]} = load_{kind}(p{k}, i)" for k, kind in enumerate(inputs)]
    text += [
        f"        store_{kind}(p{len(inputs) + k}, i, {expression})" for k, (expression, kind) in enumerate(outputs)
    ]
    return "\n".join(text) + "\n"


def check(name, inputs, arrays, outputs):
    count = len(arrays[0])
    results = [np.zeros(count, STORAGES[kind].dtype) for _, kind in outputs]
    native = assert_same_both_ways(name, source_of(name, inputs, outputs), [*arrays, *results], count)
    return native[len(arrays) :]


@pytest.mark.parametrize("kind", INTEGERS)
def test_integer_arithmetic(kind):
    binary = ["add", "subtract", "multiply", "divide", "remainder", "minimum", "maximum"]
    binary += ["shift_left", "shift_right_logical", "shift_right_arithmetic"]
    unary = ["negate", "absolute", "count_ones", "count_leading_zeros"]
    outputs = [(f"{word}(a, b)", kind) for word in binary] + [(f"{word}(a)", kind) for word in unary]
    left, right = pairs(kind)
    results = check("integers", [kind, kind], [left, right], outputs)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(results[0], left + right)
        np.testing.assert_array_equal(results[2], left * right)
        np.testing.assert_array_equal(results[5], np.minimum(left, right))
    quotient = dict(zip(zip(left.tolist(), right.tolist(), strict=True), results[3].tolist(), strict=True))
    assert quotient[1, 0] == (-1 if kind[0] == "i" else np.iinfo(left.dtype).max)
    assert quotient[7, 2] == 3
    if kind[0] == "i":
        least = int(np.iinfo(left.dtype).min)
        assert quotient[least, -1] == least
        assert quotient[7, -3] == -2


def test_expected_positions():
    index = integer_samples("i64")
    limits = np.full(len(index), 40)
    words = ["counted_from_end(a, b)", "within(a, b)", "placed(a, b, b)", "placed(a, b, to_i64(7))"]
    counted, nearest, placed, first_ones = check(
        "positions", ["i64", "i64"], [index, limits], [(word, "i64") for word in words]
    )
    np.testing.assert_array_equal(counted, np.where(index < 0, index + limits, index))
    np.testing.assert_array_equal(nearest, np.clip(index, 0, 40))
    np.testing.assert_array_equal(placed, np.clip(counted, 0, 40))
    np.testing.assert_array_equal(first_ones, np.clip(counted, 0, 7))


@pytest.mark.parametrize("at_once", [True, False])
def test_product_error_is_exact(at_once, monkeypatch):
    if not at_once:  # a processor that cannot multiply and add at once
        monkeypatch.setattr(machine_code.arithmetic, "_multiplies_and_adds", lambda: False)
    random = np.random.default_rng(5)
    left = random.normal(size=50) * 2.0 ** random.integers(-300, 300, 50)
    right = random.normal(size=50) * 2.0 ** random.integers(-150, 300, 50)
    name = f"product_error_{at_once}"
    text = source_of(name, ["f64", "f64"], [("product_error(a, b, a * b)", "f64")])
    result = assert_same_both_ways(name, text, [left, right, np.empty(50)], 50)[2]
    for a, b, product, error in zip(left, right, left * right, result, strict=True):
        assert Fraction(a) * Fraction(b) == Fraction(product) + Fraction(error)


@pytest.mark.parametrize("kind", FLOATS)
def test_float_arithmetic(kind):
    binary = ["add", "subtract", "multiply", "divide", "remainder", "minimum", "maximum", "copy_sign"]
    unary = ["negate", "absolute", "square_root", "floor", "ceil", "truncate", "round_even", "round_away"]
    outputs = [(f"{word}(a, b)", kind) for word in binary] + [(f"{word}(a)", kind) for word in unary]
    outputs += [("is_nan(a)", "bool"), ("is_finite(a)", "bool"), ("select(a < b, a, b)", kind)]
    outputs += [("quick_minimum(a, b)", kind), ("quick_maximum(a, b)", kind)]
    left, right = pairs(kind)
    results = check("floats", [kind, kind], [left, right], outputs)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(results[3], left / right)
        np.testing.assert_array_equal(results[4], np.fmod(left, right))
        np.testing.assert_array_equal(results[10], np.sqrt(left))
    zeros = (left == 0) & (right == 0) & (np.signbit(left) != np.signbit(right))
    assert np.signbit(results[5][zeros]).all()
    assert not np.signbit(results[6][zeros]).any()
    for quick, plain in zip(results[-2:], (np.minimum(left, right), np.maximum(left, right)), strict=True):
        np.testing.assert_array_equal(quick, plain)
        assert np.isnan(quick[np.isnan(left) | np.isnan(right)]).all()
    assert np.signbit(results[-2][zeros]).all()
    assert not np.signbit(results[-1][zeros]).any()


@pytest.mark.parametrize("source", REGISTERS)
def test_conversions(source):
    targets = [kind for kind in REGISTERS if not (source[0] == "c" and kind[0] in "iu")]
    outputs = [(f"to_{kind}(a)", kind) for kind in targets]
    values = samples(source)
    results = dict(zip(targets, check("convert", [source], [values], outputs), strict=True))
    if source == "f32":
        found = dict(zip(values.tolist(), results["i8"].tolist(), strict=True))
        assert (found[np.inf], found[-np.inf], found[254.5], found[-7.25]) == (127, -128, 127, -7)
        assert results["u64"][np.isnan(values)].tolist() == [0, 0]


@pytest.mark.parametrize("source", ["f32", "f64"])
def test_floats_at_the_limits_of_integers(source):
    limits = [bound for bits in (7, 8, 15, 16, 31, 32, 63, 64) for bound in (2.0**bits, -(2.0**bits))]
    near = STORAGES[source].dtype.type(limits)
    values = np.concatenate([near, np.nextafter(near, 0), np.nextafter(near, near * 2), near - 1, near + 1])
    values = np.concatenate([values, [-0.5, -0.999, 0.999, np.nan, np.inf, -np.inf]]).astype(near.dtype)
    kinds = [kind for kind in REGISTERS if kind[0] in "iu"]
    found = check("limits", [source], [values], [(f"to_{kind}(a)", kind) for kind in kinds])
    for integers in found:
        info = np.iinfo(integers.dtype)
        cut = [x if abs(x) == np.inf else int(x) for x in np.nan_to_num(values, posinf=np.inf, neginf=-np.inf).tolist()]
        np.testing.assert_array_equal(integers, [int(min(max(x, info.min), info.max)) for x in cut])


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="looks for x86 instructions")
def test_conversions_to_integers_are_simd_code():
    assert "convert" in machine_code.__all__
    for source in (numba.float32, numba.float64):
        inputs, outputs = numba.types.Array(source, 1, "C"), numba.types.Array(numba.int32, 1, "C")

        def loop(x, out):
            for i in range(out.size):
                out[i] = primitives.to_i32(x[i])

        assembly = numba.njit(numba.void(inputs, outputs))(loop).inspect_asm((inputs, outputs))
        assert re.search(r"\bv?cvttp[sd]2dq\s", assembly)


def test_constants_have_the_type_that_is_asked_for():
    outputs = [("to_f32(1.5) * a", "f32"), ("to_f32(0.1)", "f32"), ("add(to_f32(1), a)", "f32")]
    results = check("constants", ["f32"], [np.array([1.0, 1e30], np.float32)], outputs)
    assert results[1].tolist() == [np.float32(0.1)] * 2


@pytest.mark.parametrize("kind", ["c64", "c128"])
def test_complex_division_has_the_bits_of_numpy(kind):
    left, right = pairs(kind)
    left, right = np.ascontiguousarray(left[::5]), np.ascontiguousarray(right[::5])
    (quotient, rebuilt) = check(
        "complex_division",
        [kind, kind],
        [left, right],
        [("divide_complex(a, b)", kind), (f"make_{kind}(a.real, b.imag)", kind)],
    )
    with np.errstate(all="ignore"):
        expected = left / right
    np.testing.assert_array_equal(quotient, expected)
    np.testing.assert_array_equal(rebuilt.imag, right.imag)


def test_bits():
    values = float_samples("f32")
    outputs = [("bits_of_f32(a)", "i32"), ("f32_from_bits(bits_of_f32(a))", "f32"), ("bits_of_f16(a)", "i16")]
    outputs += [("f16_from_bits(bits_of_f16(a))", "f32"), ("bits_of_f64(to_f64(a))", "i64")]
    outputs += [("f64_from_bits(bits_of_f64(to_f64(a)))", "f64"), ("f32_from_bits(to_i64(bits_of_f32(a)))", "f32")]
    results = check("bits", ["f32"], [values], outputs)
    np.testing.assert_array_equal(results[0], values.view(np.int32))
    np.testing.assert_array_equal(results[1].view(np.int32), values.view(np.int32))


@pytest.mark.parametrize("kind", NARROW)
def test_narrow_floats_round_as_ml_dtypes_does(kind, rng):
    """Every value of the upper 16 bits of a float32, exact, just above, and half way, and random ones.

    A NaN that is stored keeps as much of its payload as fits, and is ml_dtypes' where that is nothing.
    """
    upper = np.arange(1 << 16, dtype=np.uint32) << 16
    bits = np.concatenate([upper, upper | 1, upper | 0x8000, rng.integers(0, 1 << 32, 20000, np.uint32)])
    values = bits.astype(np.uint32).view(np.float32)
    dtype = STORAGES[kind].dtype
    name = f"narrow_{kind}"
    outputs = [("a", kind), (f"round_{kind}(a)", "f32")]
    stored, rounded = np.zeros(len(values), dtype), np.zeros(len(values), np.float32)
    run_native(name, source_of(name, ["f32"], outputs), [values, stored, rounded], len(values))
    with np.errstate(all="ignore"):
        expected = values.astype(dtype)
    unsigned, mantissa = f"u{dtype.itemsize}", int(ml_dtypes.finfo(dtype).nmant)
    codes = expected.view(unsigned).copy()
    if kind in ("f16", "bf16", "f8e5m2", "f8e4m3", "f8e3m4"):  # the others have one NaN of each sign, or none
        payload = (values.view(np.uint32) >> (23 - mantissa)) & ((1 << mantissa) - 1)
        nan, kept = np.isnan(values), payload != 0
        quiet = np.isnan(expected) & ~kept & (kind == "f16")  # NumPy's has the last bit of all set
        infinity = np.array(np.inf, dtype).view(unsigned)
        sign = np.where(np.signbit(values), 1 << (8 * dtype.itemsize - 1), 0)
        codes = np.where(nan & kept, sign | infinity | payload, codes)
        codes = np.where(quiet, sign | infinity | 1 << (mantissa - 1), codes).astype(unsigned)
    np.testing.assert_array_equal(stored.view(unsigned), codes)
    np.testing.assert_array_equal(rounded, expected.astype(np.float32))


def test_narrow_floats_in_plain_python():
    values = np.array([0.3, -7.77, 1e9, np.inf, -0.0], np.float32)
    for kind in NARROW:
        dtype = STORAGES[kind].dtype
        with np.errstate(all="ignore"):
            expected = values.astype(dtype).astype(np.float32)
            found = [getattr(primitives, f"round_{kind}")(v) for v in values]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", SMALL_INTEGERS)
def test_integers_below_a_byte(kind):
    storage = STORAGES[kind]
    signed = kind[0] == "i"
    raw = np.arange(-128, 128).astype(np.int8) if signed else np.arange(256).astype(np.uint8)
    register = register_name(storage.dtype)
    stored = check("small", [register], [raw], [("a", kind)])[0]
    np.testing.assert_array_equal(stored, raw.astype(storage.dtype))
    back = check("small_back", [kind], [stored], [("a", register)])[0]
    np.testing.assert_array_equal(back, stored.astype(storage.register))


def test_rounding_float64_to_narrow_floats_once(rng):
    doubles = np.concatenate([rng.normal(size=2000), 1.0 + 2.0**-11 + rng.normal(size=2000) * 2.0**-40])
    doubles = np.concatenate([doubles, [0.0, -0.0, np.inf, -np.inf, np.nan, 1e300, 1e-300]])
    results = check("odd", ["f64"], [doubles], [("to_odd_f32(a)", "f32"), ("round_f16(to_odd_f32(a))", "f32")])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(results[1], doubles.astype(np.float16).astype(np.float32))


def test_names_of_types():
    names = {"float32": "f32", "uint8": "u8", "complex128": "c128", "bool": "bool"}
    assert {dtype: storage_name(np.dtype(dtype)) for dtype in names} == names
    assert register_name(np.dtype("float16")) == "f32"
    assert register_name(STORAGES["u4"].dtype) == "u8"
    for name in STORAGES:
        assert hasattr(primitives, f"load_{name}")
        assert hasattr(primitives, f"store_{name}")
