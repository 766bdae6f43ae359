"""The short form of the sweep of all bits: the types and ops in which NaNs' payloads are lost most easily.

``python -m tests.sweep.payloads`` is the long form: every op on every type.
"""

import numpy as np
import pytest

from numhlo.lowering.ir.types import ELEMENT_TYPES
from tests.sweep.payloads import MAKERS, Cases, faults_of, pairs_of, values_of

COMPARED = ["f16", "bf16", "f8E5M2", "f8E4M3FN", "f8E8M0FNU", "f4E2M1FN", "f32"]
MOVED = ["f16", "bf16", "f8E5M2"]


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPARED)
@pytest.mark.specifies("compare")
def test_comparisons_of_all_payloads(name, rng):
    assert not list(faults_of(MAKERS["comparisons"](ELEMENT_TYPES[name], rng), rng, calls=2))


@pytest.mark.slow
@pytest.mark.parametrize("name", MOVED)
def test_moved_payloads(name, rng):
    assert not list(faults_of(MAKERS["moves"](ELEMENT_TYPES[name], rng), rng, calls=2))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f16", "f32"])
@pytest.mark.specifies("sort")
def test_sorted_payloads(name, rng):
    assert not list(faults_of(MAKERS["sorts"](ELEMENT_TYPES[name], rng), rng, calls=1))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f4E2M1FN", "f8E5M2"])
def test_all_values_of_tiny_floats(name, rng):
    """Of four bits: several ops in one kernel are where LLVM drops masks that are still needed."""
    assert not list(faults_of(MAKERS["unary"](ELEMENT_TYPES[name], rng), rng, calls=2))


def test_operands_are_all_values(rng):
    assert len(np.unique(values_of(np.dtype(np.float16), rng).view(np.uint16))) == 1 << 16
    x, y = (a.view(np.uint8).astype(int) for a in pairs_of(ELEMENT_TYPES["f8E5M2"], rng))
    assert len(np.unique(256 * x + y)) == 1 << 16
    special = values_of(np.dtype(np.float32), rng).view(np.uint32)
    nans = special[(special & 0x7FFFFFFF) > 0x7F800000]
    assert {0x7F800001, 0xFF800001, 0x7FC00001, 0x7FFFFFFF} <= set(nans.tolist())


def test_a_wrong_payload_is_seen(rng):
    """A program that moves other bits than its interpretation is a fault."""
    cases = Cases("wrong", [np.array([0x7C01, 0x7E01], np.uint16).view(np.float16)])
    (x,) = cases.builder.arguments
    cases.look("reverse", cases.op("reverse", x, dimensions=(0,)), bits=True)
    module = cases.module()
    interpreted = module.interpret("main", *cases.arrays)

    class Wrong:
        def run(self, name, *arrays):
            return [np.array([0x7E01, 0x7E01], np.uint16).view(np.float16)]

        def interpret(self, name, *arrays):
            return interpreted

    cases.module = Wrong
    assert "reverse" in next(faults_of(cases, rng))
