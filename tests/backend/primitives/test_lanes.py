"""Sums of rows times numbers: the same bits as machine code and as plain Python, on registers of any width."""

import numpy as np
import pytest

from numhlo.backend.compiler.intrinsics import columns as machine_code
from tests.backend.both_ways import assert_same_both_ways, run_native

SOURCE = """from numhlo.backend.primitives import add_product_columns_{t}, address, load_{t}, number, store_{t}


def columns(ctx, bufs, dims, lo, hi):
    out = address(bufs, 0)
    left = address(bufs, 1)
    right = address(bufs, 2)
    found = address(bufs, 3)
    for unit in range(lo, hi):
        count = number(dims, unit)
        add_product_columns_{t}(out, left, 1, {step}, right, 2, {stride}, count, {width})
        for k in range({width} + 1):
            store_{t}(found, unit * ({width} + 1) + k, load_{t}(out, k))
"""
COUNTS = (1, 15, 16, 17, 64, 70)


def arrays(rng, dtype, step, stride, width):
    left, right = rng.standard_normal(COUNTS[-1] * step + 2), rng.standard_normal(COUNTS[-1] * stride + width + 3)
    found = np.zeros((len(COUNTS), width + 1), dtype)
    return [np.zeros(width + 1, dtype), left.astype(dtype), right.astype(dtype), found]


@pytest.mark.parametrize(
    ("kind", "step", "stride", "width"), [("f32", 1, 40, 37), ("f64", 3, 16, 16), ("f64", 1, 0, 5), ("f32", 0, 1, 1)]
)
def test_columns_are_sums_of_products_in_lanes(rng, kind, step, stride, width):
    buffers = arrays(rng, f"f{int(kind[1:]) // 8}", step, stride, width)
    source = SOURCE.format(t=kind, step=step, stride=stride, width=width)
    _, left, right, found = assert_same_both_ways("columns", source, buffers, len(COUNTS), COUNTS)
    for count, sums in zip(COUNTS, found, strict=True):
        factors = [left[1 + k * step] for k in range(count)]
        rows = [right[2 + k * stride : 2 + k * stride + width] for k in range(count)]
        expected = np.array(factors, float) @ np.array(rows, float)
        np.testing.assert_allclose(sums[:width], expected, rtol=1e-5, atol=1e-5)
        assert sums[width] == 0


def test_what_is_not_finite_stays_in_its_column(rng):
    out, left, right, found = arrays(rng, np.float32, 1, 20, 19)
    left[[3, 9]] = np.inf, -0.0
    right[[2 + 5, 2 + 20 * 8 + 7, 2 + 20 * 2 + 11]] = np.nan, np.inf, 0.0
    left[4:9] = 0.0
    right[2 + 20 * 20 + 19 :] = np.nan  # beyond the last column of the last row
    source = SOURCE.format(t="f32", step=1, stride=20, width=19)
    found = assert_same_both_ways("columns", source, [out, left, right, found], 1, [21])[0][:19]
    assert set(np.flatnonzero(np.isnan(found))) == {5, 7, 11}
    assert set(np.flatnonzero(np.isinf(found))) == set(range(19)) - {5, 7, 11}


def test_sums_of_negative_zeros_are_negative_zeros():
    buffers = [np.zeros(10), np.ones(10), np.full(120, -0.0), np.zeros(10)]
    source = SOURCE.format(t="f64", step=1, stride=10, width=9)
    found = assert_same_both_ways("columns", source, buffers, 1, [7])[0][:9]
    assert np.signbit(found).all()


@pytest.mark.parametrize("width", [16, 32])
def test_narrower_registers_give_the_same_bits(rng, monkeypatch, width):
    inputs = arrays(rng, np.float32, 1, 40, 29)
    source = SOURCE.format(t="f32", step=1, stride=40, width=29)
    found = []
    for chosen in (machine_code.register_bytes(), width):
        monkeypatch.setattr(machine_code, "register_bytes", lambda chosen=chosen: chosen)
        out = inputs[0].copy()
        run_native("columns", source, [out, *inputs[1:]], 1, [45])
        found.append(out)
    assert np.all(found[0][:-1] != 0)
    assert found[0].tobytes() == found[1].tobytes()
