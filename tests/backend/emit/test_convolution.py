"""Convolutions and windows, compiled: every layout and tiles that are cut against the definition; no op on NumPy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

import numhlo
from numhlo.backend.executable import Executable
from numhlo.lowering.interpreter import interpret
from tests.backend.programs import evaluated, from_jax, launched, plan

pytestmark = pytest.mark.slow

NHWC = ("NHWC", "HWIO", "NHWC")
CASES = {
    "NHWC": ((3, 12, 13, 8), (3, 3, 8, 16), ((1, 1), "SAME", None, None, NHWC)),
    "NCHW": ((3, 8, 12, 13), (16, 8, 3, 3), ((1, 1), "SAME")),
    "strides": ((2, 21, 17, 8), (3, 2, 8, 5), ((2, 3), ((1, 2), (0, 3)), None, (2, 1), NHWC)),
    "NCHW strides": ((2, 8, 21, 17), (5, 8, 3, 2), ((2, 3), ((1, 2), (0, 3)), None, (2, 1))),
    "input dilation": ((2, 9, 8, 8), (3, 3, 8, 7), ((1, 1), ((1, 1), (2, 0)), (2, 2), None, NHWC)),
    "features in the middle": ((2, 11, 12, 8), (3, 3, 8, 7), ((1, 1), "SAME", None, None, ("NHWC", "HWIO", "HNCW"))),
    "features first": ((11, 8, 12, 2), (8, 3, 3, 7), ((1, 1), "SAME", None, None, ("HCWN", "IWHO", "CNWH"))),
    "groups": ((2, 11, 12, 8), (3, 3, 4, 12), ((1, 1), "SAME", None, None, NHWC, 2)),
    "NCHW groups": ((2, 8, 11, 12), (12, 4, 3, 3), ((1, 1), "SAME", None, None, None, 2)),
    "batch groups": ((4, 11, 12, 8), (3, 3, 8, 12), ((1, 1), "SAME", None, None, NHWC, 1, 2)),
    "one by one": ((4, 11, 12, 8), (1, 1, 8, 12), ((1, 1), "SAME", None, None, NHWC)),
    "no window": ((40, 64), (64, 12), ((), (), None, None, ("NC", "IO", "NC"))),
    "large kernel": ((8, 40, 40, 8), (38, 38, 8, 6), ((1, 1), "VALID", None, None, NHWC)),
    "long kernel": ((1, 2000, 40), (900, 40, 6), ((1,), "VALID", None, None, ("NWC", "WIO", "NWC"))),
    "20 features": ((2, 8, 12, 13), (20, 8, 3, 3), ((1, 1), "SAME", None, (2, 1))),
    "40 features, strides": ((2, 8, 21, 17), (40, 8, 3, 3), ((2, 2), "SAME")),
    "96 features": ((1, 6, 7, 16), (3, 3, 16, 96), ((1, 1), "SAME", None, None, NHWC)),
    "groups of panels": ((1, 6, 7, 32), (3, 3, 16, 128), ((1, 1), "SAME", None, None, NHWC, 2)),
    "gradient of a kernel": ((9, 8, 24, 24), (9, 16, 22, 22), ((1, 1), "VALID", None, None, ("CNHW", "IOHW", "NCHW"))),
    "200 features": ((1, 16, 9, 9), (200, 16, 3, 3), ((1, 1), "SAME")),
    "three dimensions": ((2, 4, 6, 5, 7), (6, 4, 2, 3, 2), ((1, 1, 2), "SAME")),
}


SUMS = {
    "few columns": ((2, 9, 8, 40), (3, 3, 40, 2), ((1, 1), "SAME", None, None, NHWC)),
    "depthwise": ((2, 9, 8, 40), (3, 3, 1, 40), ((2, 1), "SAME", None, None, NHWC, 40)),
    "small": ((1, 4, 5, 3), (3, 3, 3, 4), ((1, 1), "SAME", None, None, NHWC)),
    "one channel, 3 x 3": ((2, 1, 9, 37), (1, 1, 3, 3), ((1, 1), "SAME")),
    "one channel, 5 x 5, dilated": ((1, 1, 12, 41), (1, 1, 5, 5), ((1, 1), "VALID", None, (2, 3))),
    "one channel, 7 x 7": ((1, 1, 20, 50), (1, 1, 7, 7), ((1, 1), "SAME")),
    "one channel, strides": ((1, 1, 20, 70), (1, 1, 7, 5), ((2, 3), "SAME")),
    "one channel, 20 x 15": ((1, 1, 40, 100), (1, 1, 20, 15), ((1, 1), "VALID")),
    "few outputs": ((1, 1, 9, 12), (1, 1, 3, 7), ((1, 1), "VALID")),
    "depthwise, NCHW": ((2, 5, 8, 21), (5, 1, 3, 3), ((1, 1), "SAME", None, None, None, 5)),
    "line by 31": ((1, 1, 300), (1, 1, 31), ((1,), "SAME")),
    "line by 129": ((1, 1, 300), (1, 1, 129), ((1,), "SAME")),
}


WIDTHS = {
    "NHWC", "NCHW strides", "groups", "large kernel", "long kernel", "20 features", "96 features", "groups of panels",
    "200 features", "few columns", "depthwise", "one channel, 5 x 5, dilated", "one channel, 20 x 15", "line by 129",
}  # fmt: skip
"""The cases whose tiles depend on how many numbers a register holds; how arrays are laid out does not."""


def run(function, arrays):
    program = plan(function)
    assert not evaluated(program)
    executable = Executable(program)
    assert executable.wait(120)
    return program, executable(arrays)


@pytest.mark.specifies("convolution")
def test_layouts_and_tiles(rng):
    everything = {**CASES, **SUMS}
    for dtype, names in ((np.float32, set(everything)), (np.float64, WIDTHS)):
        cases = {name: case for name, case in everything.items() if name in names}
        arrays = [rng.standard_normal(s).astype(dtype) for *shapes, _ in cases.values() for s in shapes]
        traced = from_jax(
            lambda *a: [
                lax.conv_general_dilated(x, k, *options)
                for x, k, (*_, options) in zip(a[::2], a[1::2], cases.values(), strict=True)
            ],
            *arrays,
        )
        program, found = run(traced, arrays)
        assert sum(name.startswith("convolution") for name in launched(program)) == len(names & set(CASES))
        with numhlo.threads(1):
            alone = run(traced, arrays)[1]
        for name, ours, single, expected in zip(cases, found, alone, interpret(traced, arrays), strict=True):
            scale = np.abs(expected).max() * 100 * np.finfo(dtype).eps
            np.testing.assert_allclose(ours, expected, 0, scale, err_msg=name)
            assert ours.tobytes() == single.tobytes(), name


def test_a_joined_array_under_a_small_filter(rng):
    arrays = [rng.standard_normal(n).astype(np.float32) for n in ((5,), (3,), (4, 1, 4))]
    spec = lax.ConvDimensionNumbers((0, 2, 1), (2, 0, 1), (0, 2, 1))

    def joined(x, y, k):
        window = jnp.concatenate([x, y]).reshape(1, 8, 1)
        return lax.conv_general_dilated(window, k.transpose(1, 0, 2), (1,), "VALID", dimension_numbers=spec)

    traced = from_jax(joined, *arrays)
    np.testing.assert_allclose(run(traced, arrays)[1][0], interpret(traced, arrays)[0], 1e-5)


def test_element_types(rng):
    dtypes = (np.int8, np.int64, ml_dtypes.bfloat16, np.float16, ml_dtypes.float8_e4m3fn, np.complex128)
    arrays = [(4 * rng.standard_normal(s)).astype(d) for d in dtypes for s in ((2, 9, 8, 8), (3, 2, 8, 5))]
    options = ((1, 1), "SAME", None, None, NHWC)
    traced = from_jax(
        lambda *a: [lax.conv_general_dilated(x, k, *options) for x, k in zip(a[::2], a[1::2], strict=True)], *arrays
    )
    _, found = run(traced, arrays)
    for dtype, ours, expected in zip(dtypes, found, interpret(traced, arrays), strict=True):
        assert ours.dtype == dtype
        if np.dtype(dtype).kind == "i":
            assert ours.tolist() == expected.tolist()
        else:
            wide = np.complex128
            np.testing.assert_allclose(
                ours.astype(wide), expected.astype(wide), 0.13 if "8" in ours.dtype.name else 1e-2
            )


@pytest.mark.specifies("windows")
def test_windows_are_reduced_and_scattered_by_kernels(rng):
    x = rng.integers(-9, 9, (2, 9, 8, 3)).astype(np.float32)

    def windows(x):
        sizes, steps = (1, 3, 3, 1), (1, 2, 1, 1)
        pools = [lax.reduce_window(x, i, f, sizes, steps, "SAME") for i, f in ((-np.inf, lax.max), (0.0, lax.add))]
        running = [
            lax.reduce_window(x, 0.0, lax.add, (1, 9, 1, 1), (1,) * 4, ((0, 0), pads, (0, 0), (0, 0)))
            for pads in ((8, 0), (0, 8))
        ]
        most = lax.reduce_window(x, np.float32(1), lax.max, (1, 1, 8, 1), (1,) * 4, ((0, 0), (0, 0), (7, 0), (0, 0)))
        counts = lax.reduce_window((x * 3).astype(np.int16), np.int16(0), lax.add, sizes, steps, "SAME")
        total = lax.reduce_window(x * (1 + 2j), 0j, lax.add, sizes, steps, "SAME")
        return *pools, *running, most, counts, total

    def scatters(x):
        def largest(sizes, steps, padding):
            return jax.grad(lambda x: (lax.reduce_window(x, -np.inf, lax.max, sizes, steps, padding) ** 3).sum())(x)

        return (
            largest((1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
            largest((1, 2, 2, 1), (1, 3, 2, 1), ((0, 0), (1, 2), (1, 1), (0, 0))),
            largest((1, 3, 3, 1), (1, 2, 1, 1), "SAME"),
        )

    traced = from_jax(lambda x: (*windows(x), *scatters(x)), x)
    program, found = run(traced, [x])
    names = launched(program)
    assert sum("cumsum" in name for name in names) == 2 and sum("cummax" in name for name in names) == 1
    for ours, expected in zip(found, interpret(traced, [x]), strict=True):
        assert ours.dtype == expected.dtype
        np.testing.assert_allclose(ours, expected, 1e-5)


def test_a_large_window_over_a_long_array_takes_little_memory(rng):
    x = rng.standard_normal(20_000).astype(np.float32)
    k = rng.standard_normal(301).astype(np.float32)
    traced = from_jax(lambda x, k: lax.conv_general_dilated(x[None, None], k[None, None], (1,), "SAME")[0, 0], x, k)
    program, (found,) = run(traced, [x, k])
    np.testing.assert_allclose(found, np.correlate(x, k, "same"), 1e-4, 1e-4)
    assert program.arena_bytes < 10 * x.nbytes
