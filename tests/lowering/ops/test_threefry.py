"""Random bits: the published test vectors, the decompositions, XLA on the exported text, JAX's bits."""

import jax
import numpy as np
import pytest

import numhlo
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import Module, TensorType
from numhlo.lowering.ops import FunctionBuilder, control_flow
from numhlo.lowering.ops.counter_based import philox4x32, threefry2x32
from numhlo.lowering.ops.threefry import KEY, make_random_bits, make_random_split, make_threefry2x32
from numhlo.lowering.text import print_module
from tests.oracle import run_on_xla

ONES = 0xFFFFFFFF
KEY_WORDS = np.array([0x13198A2E, 0x03707344], np.uint32)


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((ONES, ONES), (ONES, ONES), (0x1CB996FC, 0xBB002BE7)),
        ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_threefry_test_vectors(counter, key, expected):
    """Of Random123, the authors' own library."""
    words = threefry2x32(*[np.array([x], np.uint32) for x in (*key, *counter)])
    assert tuple(int(w[0]) for w in words) == expected


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0,) * 4, (0,) * 2, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((ONES,) * 4, (ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ],
)
def test_philox_test_vectors(counter, key, expected):
    words = philox4x32(*[np.array([x], np.uint32) for x in (*counter, *key)])
    assert tuple(int(w[0]) for w in words) == expected


def program():
    """Return a function of a key with every composite of a few shapes, and what they are."""
    b = FunctionBuilder("main", [KEY])
    made = [make_random_bits(shape, width) for shape in ((), (5,), (2, 3)) for width in (8, 16, 32, 64)]
    made += [make_random_split(shape) for shape in ((2,), (2, 3))]
    results = []
    for attributes in made:
        types = attributes["decomposition"].result_types
        results += b.ops(control_flow.COMPOSITE, b.arguments[0], results=types, **attributes)
    return b.finish(results, visibility="public"), made


def test_meaning_decomposition_xla_and_jax():
    function, made = program()
    meant = interpret(function, [KEY_WORDS])
    on_xla = run_on_xla(print_module(Module([function])), [KEY_WORDS])
    for attributes, mine, theirs in zip(made, meant, on_xla, strict=True):
        (decomposed,) = interpret(attributes["decomposition"], [KEY_WORDS])
        np.testing.assert_array_equal(mine, decomposed, strict=True)
        np.testing.assert_array_equal(mine, theirs, strict=True)
        parameters = attributes["composite_attributes"]
        if "width" in parameters:
            dtype = f"u{parameters['width'] // 8}"
            np.testing.assert_array_equal(mine, jax.random.bits(KEY_WORDS, parameters["shape"], dtype), strict=True)
        else:
            np.testing.assert_array_equal(mine, jax.random.split(KEY_WORDS, parameters["shape"]), strict=True)


def test_compiled_kernels_give_the_same_bits():
    keys = np.stack([KEY_WORDS, KEY_WORDS + np.uint32(1)])

    def draw(key):
        return numhlo.random.bits(key, (3, 7), np.uint32), numhlo.random.bits(key, (70,)), numhlo.random.split(key, 3)

    plain = [draw(key) for key in keys]
    compiled = numhlo.jit(draw).lower(keys[0]).compile()(keys[0])
    lanes = numhlo.jit(numhlo.vmap(draw)).lower(keys).compile()(keys)
    for number, array in enumerate(compiled):
        np.testing.assert_array_equal(array, plain[0][number], strict=True)
        np.testing.assert_array_equal(lanes[number], np.stack([row[number] for row in plain]), strict=True)


def test_the_composites_types():
    attributes = make_threefry2x32((4,))
    assert attributes["decomposition"].result_types == [TensorType((4,), np.dtype(np.uint64))]
