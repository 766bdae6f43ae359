"""convert between every two types, against XLA, against the formats' published layout, and around every rounding."""

import ml_dtypes
import numpy as np
import pytest

from numhlo.lowering.ir import element_spelling
from numhlo.lowering.ir.types import BOOL, COMPLEX, ELEMENT_TYPES, FLOATS, INTEGERS, NARROW_FLOATS
from numhlo.lowering.ops.casting import cast
from tests.lowering.ops.evaluation import all_codes, same
from tests.oracle import run_on_xla

ON_XLA = [n for n in ELEMENT_TYPES if n not in {"i2", "ui2", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E8M0FNU"}]


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


def sample(dtype):
    if dtype == BOOL:
        return np.array([False, True])
    if dtype in INTEGERS:
        info = ml_dtypes.iinfo(dtype)
        numbers = {
            info.min,
            info.min + 1,
            -1,
            0,
            1,
            3,
            5,
            100,
            200,
            70000,
            2**24 + 1,
            2**53 + 1,
            info.max - 1,
            info.max,
        }
        kept = sorted(n for n in numbers if info.min <= n <= info.max)
        return np.array(kept, np.int64 if info.min else np.uint64).astype(dtype)
    ordinary = [0.0, -0.0, 1, -1, 0.5, 1.5, 2.5, -2.7, 3.9, 100, -129, 300, 449, 465, 2.0**-8, 1.0009765625]
    large = [1e5, -1e5, 2.0**31, -(2.0**31), 2.0**63, -(2.0**63), 2.0**64, 1e30, np.inf, -np.inf, np.nan]
    values = np.array(ordinary + large)
    return (values + 1j * values[::-1]).astype(dtype) if dtype in COMPLEX else values.astype(dtype)


@pytest.mark.parametrize("name", ON_XLA)
@pytest.mark.specifies("convert, conversion")
def test_conversions_equal_xla(name):
    x = sample(ELEMENT_TYPES[name])
    types = [f"tensor<{len(x)}x{target}>" for target in ON_XLA]
    source = f"tensor<{len(x)}x{name}>"
    lines = [f"%{k} = stablehlo.convert %x : ({source}) -> {target}" for k, target in enumerate(types)]
    values = ", ".join(f"%{k}" for k in range(len(types)))
    text = f"func.func @main(%x: {source}) -> ({', '.join(types)}) {{\n" + "\n".join(lines)
    results = run_on_xla(f"{text}\nreturn {values} : {', '.join(types)}\n}}", [x])
    for target, expected in zip(ON_XLA, results, strict=True):
        found = cast(x, ELEMENT_TYPES[target])
        assert found.dtype == ELEMENT_TYPES[target]
        if found.dtype in FLOATS | COMPLEX:
            assert same(found, expected).all(), target
        else:
            assert (found == expected).all(), target


@pytest.mark.specifies("convert")
def test_every_pair_keeps_what_both_types_have():
    for source in ELEMENT_TYPES.values():
        for target in ELEMENT_TYPES.values():
            for shape in ((), (2,), (0, 3)):
                found = cast(np.ones(shape, source), target)
                assert found.dtype == target
                assert found.shape == shape
                assert (found.astype(np.complex64) == 1).all(), (source, target)


def decode(name, code):
    """Return the value of a code of a float type by the layout that its name says."""
    exponent_bits, mantissa_bits = int(name[name.index("E") + 1]), int(name[name.index("M") + 1])
    bias = {"f8E4M3FNUZ": 8, "f8E4M3B11FNUZ": 11, "f8E5M2FNUZ": 16}.get(name, 2 ** (exponent_bits - 1) - 1)
    sign, rest = code >> (exponent_bits + mantissa_bits), code & (2 ** (exponent_bits + mantissa_bits) - 1)
    exponent, mantissa = rest >> mantissa_bits, rest & (2**mantissa_bits - 1)
    all_ones = 2 ** (exponent_bits + mantissa_bits) - 1
    if name.endswith("UZ"):
        if sign and rest == 0:
            return np.nan
    elif name == "f8E4M3FN":
        if rest == all_ones:
            return np.nan
    elif not name.endswith("FN") and exponent == 2**exponent_bits - 1:
        return np.nan if mantissa else (-1) ** sign * np.inf
    scale = 2.0 ** (max(exponent, 1) - bias - mantissa_bits)
    return (-1.0) ** sign * (mantissa + (2**mantissa_bits if exponent else 0)) * scale


@pytest.mark.parametrize("name", [n for n in ELEMENT_TYPES if n[2:3] == "E" and n != "f8E8M0FNU"])
@pytest.mark.specifies("floats of 8 bits and less")
def test_every_code_has_the_published_value(name):
    codes = all_codes(ELEMENT_TYPES[name])
    expected = np.array([decode(name, code) for code in range(len(codes))])
    assert same(cast(codes, np.dtype(np.float64)), expected).all()
    assert same(cast(codes, np.dtype(np.float32)).astype(np.float64), expected).all()


def test_every_code_of_e8m0_is_a_power_of_two():
    codes = all_codes(ELEMENT_TYPES["f8E8M0FNU"])
    expected = np.append(2.0 ** (np.arange(255) - 127.0), np.nan)
    assert same(cast(codes, np.dtype(np.float64)), expected).all()


@pytest.mark.parametrize("dtype", sorted(NARROW_FLOATS, key=str), ids=str)
def test_every_code_survives_wider_types_and_back(dtype):
    codes = all_codes(dtype)
    numbers = ~np.isnan(codes.astype(np.float32))
    for wide in (np.float32, np.float64):
        back = cast(cast(codes, np.dtype(wide)), dtype)
        assert (back.view(f"u{dtype.itemsize}") == codes.view(f"u{dtype.itemsize}"))[numbers].all()


@pytest.mark.parametrize(
    "name", ["bf16", "f16", "f8E4M3FN", "f8E5M2", "f8E3M4", "f8E4M3B11FNUZ", "f6E2M3FN", "f4E2M1FN"]
)
@pytest.mark.parametrize("source", [np.float32, np.float64])
@pytest.mark.specifies("bf16, floats of 8 bits and less, convert")
def test_rounding_to_nearest_even_happens_once(name, source):
    dtype = ELEMENT_TYPES[name]
    codes = all_codes(dtype)
    wide = codes.astype(np.float64)
    order = np.argsort(np.where(np.isfinite(wide) & ~((wide == 0) & np.signbit(wide)), wide, np.inf), kind="stable")
    values = codes[order][: np.isfinite(wide).sum() - int((np.signbit(wide) & (wide == 0)).any())]
    low, high = values[:-1].astype(np.float64), values[1:].astype(np.float64)
    middle = (low + high) / 2
    exact = middle.astype(source) == middle
    even = np.where(values[:-1].view(f"u{dtype.itemsize}") % 2 == 0, low, high)
    low, high, middle, even = low[exact], high[exact], middle[exact], even[exact]
    above = np.nextafter(middle.astype(source), source(np.inf))
    below = np.nextafter(middle.astype(source), source(-np.inf))
    assert (cast(middle.astype(source), dtype).astype(np.float64) == even).all()
    assert (cast(above, dtype).astype(np.float64) == high).all()
    assert (cast(below, dtype).astype(np.float64) == low).all()


@pytest.mark.parametrize("name", ["f32", "f64", "f16", "bf16"])
def test_long_integers_round_once(name):
    dtype = ELEMENT_TYPES[name]
    digits = ml_dtypes.finfo(dtype).nmant + 1
    for exponent in (10, 14) if name == "f16" else (40, 61, 62):
        if exponent <= digits:
            continue
        half = 1 << (exponent - digits)
        tie = (1 << exponent) + half
        x = np.array([tie, tie + 1, tie - 1, -tie, -tie - 1, 1 - tie])
        up, down = float((1 << exponent) + 2 * half), float(1 << exponent)
        assert cast(x, dtype).astype(np.float64).tolist() == [down, up, down, -down, -up, -down]


def test_integers_wrap_and_extremes_are_exact():
    i64, ui64 = ELEMENT_TYPES["i64"], ELEMENT_TYPES["ui64"]
    x = np.array([2**63 - 1, -(2**63), -1])
    assert cast(x, ui64).tolist() == [2**63 - 1, 2**63, 2**64 - 1]
    assert cast(cast(x, ui64), i64).tolist() == x.tolist()
    assert cast(np.array([300, -300, 2**40 + 5]), ELEMENT_TYPES["i8"]).tolist() == [44, -44, 5]
    assert cast(np.array([7, 8, -9, 255]), ELEMENT_TYPES["i4"]).astype(int).tolist() == [7, -8, 7, -1]
    assert cast(all_codes(ELEMENT_TYPES["i4"]), ELEMENT_TYPES["ui2"]).astype(int).tolist() == [0, 1, 2, 3] * 4


def saturated(number, least, most):
    if np.isnan(number):
        return 0
    return most if number > most else least if number < least else int(number)


@pytest.mark.parametrize("dtype", sorted(INTEGERS, key=str), ids=str)
@pytest.mark.parametrize("source", [np.float32, np.float64, np.float16])
def test_floats_to_integers_truncate_and_saturate(dtype, source):
    info = ml_dtypes.iinfo(dtype)
    small = np.array([1.9, -1.9, 0.5, -0.5, np.nan, np.inf, -np.inf, -1e4, 6e4], source)
    edges = [float(info.max) + delta for delta in (-1, -0.5, 0, 0.5, 1)]
    edges += [float(info.min) + delta for delta in (-1, -0.5, 0, 0.5, 1)]
    x = np.concatenate([small, np.array(edges).astype(source)])
    expected = [saturated(float(v), int(info.min), int(info.max)) for v in x]
    assert [int(v) for v in cast(x, dtype)] == expected


@pytest.mark.specifies("i1")
def test_booleans_are_what_is_not_zero():
    x = np.array([0.0, -0.0, 5e-324, np.nan, -3.5])
    assert cast(x, BOOL).tolist() == [False, False, True, True, True]
    assert cast(np.array([0j, 1j, 1 + 0j]), BOOL).tolist() == [False, False, True]
    assert cast(np.array([0.0, 0.01]).astype(ELEMENT_TYPES["bf16"]), BOOL).tolist() == [False, True]


def test_casting_to_the_same_type_copies_nothing():
    for dtype in ELEMENT_TYPES.values():
        x = np.zeros(3, dtype)
        assert cast(x, dtype) is x, element_spelling(dtype)
