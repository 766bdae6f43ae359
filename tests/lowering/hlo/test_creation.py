"""Constants of every type, as XLA prints and reads them; iota."""

import ml_dtypes
import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.hlo.literals import LiteralError, parse_literal, print_literal
from numhlo.lowering.hlo.shapes import PRIMITIVES
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import ParseError
from tests.lowering.hlo.judges import check, entry, printed_by_xla, read_by_xla, same_bits

UNREAD = {"f6e2m3fn", "f6e3m2fn"}
"""Types that XLA has no arrays of."""

BITS = {name: dtype for name, dtype in PRIMITIVES.items() if name not in UNREAD}


def values(dtype):
    """Return all kinds of numbers of a type."""
    if dtype == np.bool_:
        return np.array([True, False])
    if dtype.kind == "c":
        return np.array([0, 1.5 - 2j, complex(-0.0, np.inf), complex(np.nan, 3)], dtype)
    try:
        limits = ml_dtypes.iinfo(dtype)
    except ValueError:
        with np.errstate(all="ignore"):
            return np.array([0, -0.0, 1, -1.5, 3.14159, np.inf, -np.inf, np.nan, 6e-8]).astype(dtype)
    return np.array([limits.min, 0, 1, limits.max], object).astype(np.int64 if limits.min else np.uint64).astype(dtype)


@pytest.mark.parametrize("name", BITS)
def test_constants_of_every_type(name):
    array = values(PRIMITIVES[name])
    text = entry(f"ROOT c = {name}[{array.size}] constant({print_literal(array)})")
    assert same_bits(stablehlo.from_hlo(text).interpret("main"), [array])
    printed = printed_by_xla(read_by_xla(text))
    (again,) = stablehlo.from_hlo(printed).interpret("main")
    again = np.asarray(again)
    is_number = ~np.isnan(array) if array.dtype.kind not in "biu" else np.ones(array.shape, bool)
    assert same_bits([again[is_number]], [array[is_number]])
    assert np.all(again[~is_number] != again[~is_number])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
def test_payloads_of_nans(dtype):
    width = np.dtype(dtype).itemsize
    quiet = np.array([np.nan, -np.nan]).astype(dtype).view(f"u{width}")
    array = np.array([quiet[0], quiet[0] | 1, quiet[1] | 1], f"u{width}").view(dtype)
    array = array[:1] if width == 1 else array
    text = print_literal(array)
    assert same_bits([parse_literal(text, TensorType(array.shape, array.dtype))], [array])
    name = next(name for name, d in PRIMITIVES.items() if d == array.dtype)
    again = read_by_xla(entry(f"ROOT c = {name}[{array.size}] constant({text})"))
    assert same_bits(stablehlo.from_hlo(printed_by_xla(again)).interpret("main"), [array])


def test_all_float_bits_of_sixteen():
    array = np.arange(65536, dtype=np.uint16).view(np.float16)
    array = array[~np.isnan(array)]
    text = entry(f"ROOT c = f16[{array.size}] constant({print_literal(array)})")
    assert same_bits(stablehlo.from_hlo(text).interpret("main"), [array])
    assert same_bits(stablehlo.from_hlo(printed_by_xla(read_by_xla(text))).interpret("main"), [array])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, ml_dtypes.bfloat16, np.complex64])
def test_many_floats(dtype):
    array = np.random.default_rng(0).standard_normal(5000).astype(dtype)
    array[[3, 4, 5, 6]] = np.array([-0.0, np.inf, -np.inf, 0]).astype(dtype)
    again = parse_literal(print_literal(array), TensorType(array.shape, array.dtype))
    assert same_bits([again], [array])


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (2, 1, 3), (2, 2, 2, 2), (0,), (0, 3), (2, 0), (2, 0, 3)])
def test_shapes(shape):
    array = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    type = f"s32[{','.join(map(str, shape))}]"
    text = entry(f"ROOT c = {type} constant({print_literal(array)})")
    for one in (text, printed_by_xla(read_by_xla(text))):
        assert same_bits(stablehlo.from_hlo(one).interpret("main"), [array])


@pytest.mark.parametrize(
    ("text", "shape", "dtype", "expected"),
    [
        ("-0", (), np.float32, np.float32(-0.0)),
        (" {1 , /* one */ 2} ", (2,), np.float32, [1, 2]),
        ("{ { /*i0=0*/ 1 }, { // next\n 2 } }", (2, 1), np.int8, [[1], [2]]),
        ("{true, 0}", (2,), np.bool_, [True, False]),
        ("(1, -2.5)", (), np.complex64, 1 - 2.5j),
        ("{(0, 1), 3}", (2,), np.complex128, [1j, 3]),
        ("{.5, 1., 2e-3}", (3,), np.float64, [0.5, 1.0, 0.002]),
    ],
)
def test_spellings(text, shape, dtype, expected):
    array = parse_literal(text, TensorType(shape, np.dtype(dtype)))
    assert same_bits([array], [np.array(expected, dtype)])


@pytest.mark.parametrize(
    ("text", "shape", "dtype", "message"),
    [
        ("{1, 2}", (3,), np.float32, "2 elements, and the type has 3"),
        ("{1, 2, 3}", (3, 1), np.float32, "braces"),
        ("{{1}, 2, {3}}", (3, 1), np.float32, "braces"),
        ("{1,, 2}", (2,), np.float32, "braces"),
        ("300", (), np.int8, "300 is outside of the type's range, -128 to 127"),
        ("-1", (), np.uint8, "outside"),
        ("1.5", (), np.int32, "1.5 is no integer"),
        ("0x10", (), np.int32, "no integer"),
        ("1_0", (), np.int32, "no integer"),
        ("1_0", (), np.float32, "no number"),
        ("1e39", (), np.float32, "outside"),
        ("1e999", (), np.float64, "outside"),
        ("nan(0x0)", (), np.float32, "payload"),
        ("nan(0xffffff)", (), np.float32, "payload"),
        ("2", (), np.bool_, "neither true, false, 1 nor 0"),
        ("(1)", (), np.complex64, "no number"),
        ("infinity", (), np.float32, "no number"),
        ("", (0, 2**63 - 1), np.float32, "too large"),
        ("1", (1,) * 65, np.float32, "65 dimensions"),
        ("{...}", (2,), np.float32, "print_large_constants=True"),
    ],
)
def test_what_is_no_constant(text, shape, dtype, message):
    with pytest.raises(LiteralError, match=message):
        parse_literal(text, TensorType(shape, np.dtype(dtype)))


def test_left_out_constants_are_refused_with_how_to_get_them():
    array = ",".join(map(str, range(40)))
    left_out = read_by_xla(entry(f"ROOT c = s32[40] constant({{{array}}})")).to_string()
    assert "{...}" in left_out
    with pytest.raises(ParseError, match=r"left out as \{...\}: print the module with large constants"):
        stablehlo.from_hlo(left_out)


def test_iota_and_equal_elements():
    lines = ["a = s32[2,3] iota(), iota_dimension=1", "b = f32[4,5] constant({" + ",".join(["{2,2,2,2,2}"] * 4) + "})"]
    module = check(entry(*lines, "ROOT t = (s32[2,3], f32[4,5]) tuple(a, b)"))
    assert "f32[] constant(2.0)" in module.as_hlo_text()
