"""Bits: widths, reinterpretation between every two types that fit, total order, and reduced precision against XLA."""

import ml_dtypes
import numpy as np
import pytest

from numhlo.lowering.ir.types import COMPLEX, ELEMENT_TYPES
from numhlo.lowering.ops.bit_patterns import BIT_WIDTHS, bitcast, order_keys, round_to_format
from tests.lowering.ops.evaluation import all_codes, same
from tests.oracle import run_on_xla

RNG = np.random.default_rng(11)


def random_bits(dtype, count):
    bits = RNG.integers(0, 2, (count, BIT_WIDTHS[dtype]), dtype=np.uint8)
    return np.packbits(bits, axis=-1, bitorder="little").reshape(-1).view(dtype)


def test_widths():
    names = {"i1": 1, "i2": 2, "ui4": 4, "f4E2M1FN": 4, "f6E3M2FN": 6, "f8E5M2": 8, "bf16": 16, "complex<f64>": 128}
    assert {name: BIT_WIDTHS[ELEMENT_TYPES[name]] for name in names} == names


def test_pi_round_trips_through_16_bits():
    x = np.array([np.pi, -0.0])
    halves = bitcast(x, np.dtype(np.uint16), (2, 4))
    assert halves[0].tolist() == [0x2D18, 0x5444, 0x21FB, 0x4009]
    assert bitcast(halves, x.dtype, (2,)).tobytes() == x.tobytes()


@pytest.mark.specifies("i1")
def test_booleans_are_bits_lowest_first():
    bits = np.array([[1, 0, 0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0, 0, 1]], bool)
    bytes_ = bitcast(bits, np.dtype(np.uint8), (2,))
    assert bytes_.tolist() == [1, 0x86]
    assert (bitcast(bytes_, np.dtype(np.bool_), (2, 8)) == bits).all()


def test_every_pair_of_types_round_trips():
    cases = 0
    for wide in ELEMENT_TYPES.values():
        for narrow in ELEMENT_TYPES.values():
            count, rest = divmod(BIT_WIDTHS[wide], BIT_WIDTHS[narrow])
            if rest or count == 0 or (wide in COMPLEX) != (narrow in COMPLEX):
                continue
            x = random_bits(wide, 6).reshape(2, 3)
            parts = bitcast(x, narrow, (2, 3) if count == 1 else (2, 3, count))
            assert parts.dtype == narrow
            assert bitcast(parts, wide, (2, 3)).tobytes() == x.tobytes()
            cases += 1
    assert cases > 200


@pytest.mark.parametrize(
    ("source", "target", "before", "after"),
    [
        ("f64", "ui16", (3,), (3, 4)),
        ("ui16", "f64", (3, 4), (3,)),
        ("i4", "i8", (2, 2), (2,)),
        ("i8", "i4", (3,), (3, 2)),
        ("f32", "i4", (2,), (2, 8)),
        ("i4", "ui4", (5,), (5,)),
        ("complex<f32>", "complex<f64>", (2, 2), (2,)),
    ],
)
@pytest.mark.specifies("bitcast_convert, conversion")
def test_bits_equal_xla(source, target, before, after):
    x = random_bits(ELEMENT_TYPES[source], int(np.prod(before))).reshape(before)
    types = ["x".join(map(str, [*shape, name])) for shape, name in ((before, source), (after, target))]
    text = f"""func.func @main(%x: tensor<{types[0]}>) -> tensor<{types[1]}> {{
      %0 = stablehlo.bitcast_convert %x : (tensor<{types[0]}>) -> tensor<{types[1]}>
      return %0 : tensor<{types[1]}>
    }}"""
    if "complex" not in source:  # XLA wants complex types of one width
        (expected,) = run_on_xla(text, [x])
        assert bitcast(x, ELEMENT_TYPES[target], after).tobytes() == expected.tobytes()
    else:
        assert bitcast(x, ELEMENT_TYPES[target], after).tobytes() == x.tobytes()


def test_views_and_empty_arrays():
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    assert (bitcast(x.T, np.dtype(np.int16), (4, 3, 2))[:, :, 0] == x.T).all()
    assert bitcast(x[:0], np.dtype(np.int16), (0, 4, 2)).shape == (0, 4, 2)
    assert bitcast(x[0, 0, ...], np.dtype(np.float32), ()).shape == ()
    assert bitcast(np.zeros((3, 0, 2), np.int16), np.dtype(np.int32), (3, 0)).shape == (3, 0)


@pytest.mark.parametrize("name", ["f16", "bf16", "f8E5M2", "f8E4M3FN", "f8E4M3"])
def test_order_keys_sort_every_code(name):
    codes = all_codes(ELEMENT_TYPES[name])
    half = len(codes) // 2  # positive codes ascend, negative ones descend
    ascending = np.concatenate([codes[half:][::-1], codes[:half]])
    assert (np.diff(order_keys(ascending).astype(np.int64)) > 0).all()


FORMATS = [(5, 10), (8, 7), (5, 2), (4, 3), (2, 1), (1, 0), (8, 0), (5, 0), (3, 52), (11, 3), (8, 23), (3, 4)]


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64", "f8E5M2"])
@pytest.mark.specifies("reduce_precision")
def test_reduced_precision_equals_xla(name):
    dtype = ELEMENT_TYPES[name]
    ordinary = (RNG.standard_normal(200) * 10).astype(dtype)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, 60000.0, 65504.0], np.float32).astype(dtype)
    x = np.concatenate([special, ordinary, random_bits(dtype, 300)])
    kind = f"tensor<{len(x)}x{name}>"
    lines = [f"%{k} = stablehlo.reduce_precision %x, format = e{e}m{m} : {kind}" for k, (e, m) in enumerate(FORMATS)]
    types, values = ", ".join([kind] * len(FORMATS)), ", ".join(f"%{k}" for k in range(len(FORMATS)))
    text = f"func.func @main(%x: {kind}) -> ({types}) {{\n" + "\n".join(lines) + f"\nreturn {values} : {types}\n}}"
    with np.errstate(all="ignore"):
        for (exponent_bits, mantissa_bits), expected in zip(FORMATS, run_on_xla(text, [x]), strict=True):
            found = round_to_format(x, exponent_bits, mantissa_bits)
            assert same(found, expected).all(), (exponent_bits, mantissa_bits)


def test_reduced_precision_rounds_to_even_and_overflows():
    x = np.array([1.125, 1.375, 65504.0, 131072.0, -131072.0, 1e-9, -1e-9, np.nan], np.float32)
    expected = np.array([1.0, 1.5, np.inf, np.inf, -np.inf, 0.0, -0.0, np.nan], np.float32)
    assert same(round_to_format(x, 5, 2), expected).all()


def test_reduced_precision_of_floats_without_infinity():
    x = np.array([448.0, 1.125, 0.5]).astype(ml_dtypes.float8_e4m3fn)
    with np.errstate(all="ignore"):
        found = round_to_format(x, 4, 1).astype(np.float32)
    assert same(found, np.array([np.nan, 1.0, 0.5], np.float32)).all()
    assert round_to_format(x, 8, 23) is x
