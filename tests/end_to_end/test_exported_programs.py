"""Forty programs that JAX exports: parsed, verified and run; results are XLA's, and the first answer needs no compiler."""

import functools

import jax
import numpy as np
import pytest

from benchmarks.exported_programs import PROGRAMS
from numhlo import stablehlo
from tests.oracle import official_parse

QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
BOUNDS = {2: 2e-2, 4: 2e-4, 8: 1e-9}
"""By bytes of a real number. Random, sorted and counted results are integers, and exact."""

LOOSE = {"half_precision": 2e-3}
"""Sums of float16, which XLA rounds elsewhere."""


@functools.cache
def made(name):
    make, size, _ = PROGRAMS[name]
    function, arguments = make(size)
    lowered = jax.jit(function).lower(*arguments)
    expected = [np.asarray(x) for x in jax.tree.leaves(lowered.compile(QUICK)(*arguments))]
    return lowered.as_text(), [np.asarray(x) for x in jax.tree.leaves(arguments)], expected


def agree(results, expected, bound):
    for found, wanted in zip(results, expected, strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        if wanted.dtype.kind in "biu":
            np.testing.assert_array_equal(found, wanted)
            continue
        wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
        error = bound or BOUNDS[wanted.real.dtype.itemsize]
        np.testing.assert_allclose(np.asarray(found).astype(wide), wanted.astype(wide), error, error)


def test_there_are_enough():
    assert len(PROGRAMS) >= 40


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_first_and_compiled_answers(name):
    text, arrays, expected = made(name)
    module = stablehlo.parse(text, name)
    agree(module.run("main", *arrays), expected, LOOSE.get(name))
    for program in module.functions["main"].programs.values():
        program.wait()
    agree(module.run("main", *arrays), expected, LOOSE.get(name))
    official_parse(module.as_text())
