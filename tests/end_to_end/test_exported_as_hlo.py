"""Forty programs that JAX exports, as HLO: before XLA's passes and after them, read; and written, for XLA to run."""

import functools

import jax
import numpy as np
import pytest

from benchmarks.exported_programs import PROGRAMS
from numhlo import stablehlo
from tests.lowering.hlo.judges import (
    FORMS,
    assert_close,
    check_protos,
    printed_by_xla,
    read_by_xla,
    run_hlo_on_xla,
    same_bits,
    stablehlo_of,
)

QUICK = ("attention", "beam_step", "checksums", "convolution_step", "gaussian_process", "two_keys")
"""Those that are always tested: loops, sorts, convolutions, factorizations."""

EXPANDED = ("complex_numbers", "normal_modes", "option_prices")
"""Programs that have functions for which XLA's converter to HLO writes other ops: HLO and StableHLO differ in rounding."""

BOUNDS = {2: 2e-2, 4: 2e-4, 8: 1e-9}
"""By bytes of a real number."""

CASES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PROGRAMS]


@functools.cache
def made(name):
    make, size, _ = PROGRAMS[name]
    function, arguments = make(size)
    lowered = jax.jit(function).lower(*arguments)
    arrays = [np.asarray(x) for x in jax.tree.leaves(arguments)]
    (compiled,) = lowered.compile().runtime_executable().hlo_modules()
    return lowered.as_text(), lowered.compiler_ir("hlo").get_hlo_module(), compiled, arrays


def bound(arrays):
    return max([BOUNDS[a.real.dtype.itemsize] for a in map(np.asarray, arrays) if a.dtype.kind not in "biu"], default=0)


def interpreted(text, arrays):
    return stablehlo.from_hlo(text).interpret("main", *arrays)


@pytest.mark.specifies("HLO text read")
@pytest.mark.parametrize("name", CASES)
def test_before_xlas_passes(name):
    text, module, _, arrays = made(name)
    for options in FORMS.values():
        stablehlo.from_hlo(printed_by_xla(module, **options), name).verify()
    hlo = printed_by_xla(module)
    found = interpreted(hlo, arrays)
    assert same_bits(interpreted(module.as_serialized_hlo_module_proto(), arrays), found)
    assert same_bits(found, stablehlo.parse(stablehlo_of(hlo)).interpret("main", *arrays))
    expected = stablehlo.parse(text).interpret("main", *arrays)
    assert same_bits(found, expected) == (name not in EXPANDED)
    assert_close(found, expected, bound(expected))


@pytest.mark.specifies("HLO text read")
@pytest.mark.parametrize("name", CASES)
def test_after_xlas_passes(name):
    text, _, module, arrays = made(name)
    expected = stablehlo.parse(text).interpret("main", *arrays)
    for options in FORMS.values():
        printed = printed_by_xla(module, **options)
        if "bitcast(" in printed and not options.get("include_layout_in_shapes", True):
            continue  # without layouts a bitcast has no meaning
        again = stablehlo.from_hlo(printed, name)
        again.verify()
    found = interpreted(printed_by_xla(module), arrays)
    assert_close(found, expected, bound(expected))
    assert same_bits(interpreted(module.as_serialized_hlo_module_proto(), arrays), found)
    assert_close(stablehlo.from_hlo(printed_by_xla(module)).run("main", *arrays), expected, bound(expected))


@pytest.mark.specifies("HLO text written")
@pytest.mark.parametrize("name", CASES)
def test_written(name):
    text, module, _, arrays = made(name)
    own = stablehlo.parse(text)
    written = own.as_hlo_text()
    read_by_xla(written)
    assert same_bits(run_hlo_on_xla(written, arrays), run_hlo_on_xla(printed_by_xla(module), arrays))
    check_protos(written, own)
    again = stablehlo.from_hlo(written)
    expected = own.interpret("main", *arrays)
    if name in EXPANDED:
        assert_close(again.interpret("main", *arrays), expected, bound(expected))
    else:
        assert same_bits(again.interpret("main", *arrays), expected)
    assert same_bits(interpreted(again.as_hlo_text(), arrays), again.interpret("main", *arrays))
