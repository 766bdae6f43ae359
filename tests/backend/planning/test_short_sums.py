"""Sums of few terms over all pairs: the bits of the interpreter, and no memory for pairs."""

import numpy as np

import numhlo

CASES = {
    "last axis": lambda x, y: np.sqrt(((x[:, None] - y[None]) ** 2.0).sum(axis=2)).min(axis=1),
    "first axis": lambda x, y: (np.abs(x.T[:, :, None] * y.T[:, None]).sum(axis=0) * 0.1).max(axis=0),
    "middle axis": lambda x, y: -((x[:, :, None] - y.T[None]).sum(axis=1)).sum(axis=1),
    "once for all terms": lambda x, y: (x[:, 0][:, None, None] * y[None]).sum(axis=2).min(axis=0),
    "initial value": lambda x, y: (x[:, None] * y[None]).sum(axis=2, initial=0.5).max(axis=1),
}


def test_bits_and_memory(rng):
    for terms, dtype in ((2, "f8"), (3, "f4"), (4, "f8")):
        x = rng.normal(size=(90, terms)).astype(dtype)
        y = rng.normal(size=(70, terms)).astype(dtype) * 1e3
        x[:5] = -0.0
        for name, function in CASES.items():
            jitted = numhlo.jit(function)
            (expected,) = numhlo.stablehlo.parse(jitted.lower(x, y).as_text()).interpret("main", x, y)
            np.testing.assert_allclose(expected, function(x, y), rtol=1e-4 if dtype == "f4" else 1e-12, atol=1e-3)
            np.testing.assert_array_equal(jitted(x, y), expected, name, strict=True)
            if terms == 3:
                jitted.wait()
                np.testing.assert_array_equal(jitted(x, y), expected, name, strict=True)
            assert jitted.lower(x, y).compile().memory_analysis().arena_bytes < x.nbytes * 20, name


def test_what_is_dear_or_read_from_memory_is_summed_as_ever(rng):
    x = rng.normal(size=(8, 8, 90, 3))
    for function in (lambda x: (x * x).sum(axis=3), lambda x: np.exp(x[:, :, :, None] - x[0, 0]).sum(axis=4)[..., 0]):
        names = list(numhlo.jit(function).lower(x).compile().kernels)
        assert any(name.startswith("reduce_add") for name in names), names
