"""rng_bit_generator: XLA's bits. rng: its distributions. Both: their constraints."""

import ml_dtypes
import numpy as np
import pytest

import numhlo
import numhlo.stablehlo
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import VerificationError
from numhlo.lowering.ops.random_bits import RNG, RNG_BIT_GENERATOR
from tests.lowering.ops.evaluation import tensor
from tests.lowering.ops.one_op import infer, run
from tests.oracle import run_on_xla

SHAPES = [(), (1,), (5,), (2, 3), (3, 5), (3, 4, 2), (0,), (3, 3, 3)]
STATES = {
    "THREE_FRY": [[0x123456789ABCDEF0, 0xFFFFFFFFFFFFFFFE]],
    "PHILOX": [[0x123456789ABCDEF0, 0xFFFFFFFFFFFFFFFE], [0x123456789ABCDEF0, 0xFFFFFFFFFFFFFFFE, 2**64 - 1]],
    "DEFAULT": [[1, 2], [1, 2, 3]],
}
KINDS = {"u1": "ui8", "i2": "i16", "u4": "ui32", "i4": "i32", "u8": "ui64"}


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", STATES)
@pytest.mark.specifies("rng_bit_generator, random numbers")
def test_bits_are_those_of_xla(algorithm):
    for state in STATES[algorithm]:
        words = np.array(state, np.uint64)
        kind = f"tensor<{len(state)}xui64>"
        lines, types, found = [], [], []
        for code in KINDS:
            for shape in SHAPES:
                type = TensorType(shape, np.dtype(code))
                lines.append(
                    f"%{len(lines)}:2 = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : ({kind}) -> ({kind}, {type})"
                )
                types += [kind, str(type)]
                found += run(
                    RNG_BIT_GENERATOR, words, results=[tensor(f"{len(state)}xui64"), type], rng_algorithm=algorithm
                )
        names = ", ".join(f"%{k}#0, %{k}#1" for k in range(len(lines)))
        body = "\n".join(lines)
        text = (
            f"func.func @main(%s: {kind}) -> ({', '.join(types)}) {{\n{body}\nreturn {names} : {', '.join(types)}\n}}"
        )
        for mine, theirs in zip(found, run_on_xla(text, [words]), strict=True):
            assert mine.tobytes() == theirs.tobytes()


@pytest.mark.slow
@pytest.mark.specifies("rng_bit_generator, RngBitGenerator")
def test_compiled_bits_of_three_fry_are_the_same():
    state = np.array(STATES["THREE_FRY"][0], np.uint64)
    types = [TensorType(shape, np.dtype(code)) for code in [*KINDS, "f4"] for shape in SHAPES]
    kind = "tensor<2xui64>"
    lines = [
        f"%{k}:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : ({kind}) -> ({kind}, {type})"
        for k, type in enumerate(types)
    ]
    names = ", ".join(f"%{k}#0, %{k}#1" for k in range(len(types)))
    results = ", ".join(f"{kind}, {type}" for type in types)
    body = "\n".join(lines)
    module = numhlo.stablehlo.parse(
        f"func.func @main(%s: {kind}) -> ({results}) {{\n{body}\nreturn {names} : {results}\n}}"
    )
    compiled = numhlo.jit(module.callable("main")).lower(state).compile()
    for mine, meant in zip(compiled(state), module.interpret("main", state), strict=True):
        assert mine.tobytes() == meant.tobytes()


def test_floats_are_the_bits_of_integers():
    state = np.array([7, 0], np.uint64)
    results = [tensor("2xui64"), tensor("6xf32")]
    _, floats = run(RNG_BIT_GENERATOR, state, results=results, rng_algorithm="PHILOX")
    _, words = run(RNG_BIT_GENERATOR, state, results=[results[0], tensor("6xui32")], rng_algorithm="PHILOX")
    np.testing.assert_array_equal(floats.view(np.uint32), words)


def rejected(definition, types, results, **attributes):
    with pytest.raises(VerificationError) as caught:
        infer(definition, types, results=results, **attributes)
    return str(caught.value)


def test_rng_bit_generator_constraints():
    pair, three, words = tensor("2xui64"), tensor("3xui64"), tensor("4xui32")
    assert "(C1)" in rejected(RNG_BIT_GENERATOR, [pair], [three, words], rng_algorithm="PHILOX")
    assert "(C2)" in rejected(RNG_BIT_GENERATOR, [three], [three, words], rng_algorithm="THREE_FRY")
    assert "(C2)" in rejected(RNG_BIT_GENERATOR, [tensor("4xui64")], [tensor("4xui64"), words], rng_algorithm="PHILOX")
    assert "(I1)" in rejected(RNG_BIT_GENERATOR, [pair], [pair, words], rng_algorithm="DICE")
    assert "(I2)" in rejected(RNG_BIT_GENERATOR, [words], [words, words], rng_algorithm="PHILOX")
    assert "(O2)" in rejected(RNG_BIT_GENERATOR, [pair], [pair, tensor("4xi1")], rng_algorithm="PHILOX")


def test_rng_constraints():
    one, number, shape = tensor("f32"), tensor("i32"), tensor("1xi64")
    uniform, normal = {"rng_distribution": "UNIFORM"}, {"rng_distribution": "NORMAL"}
    assert infer(RNG, [one, one, shape], results=[tensor("4xf32")], **normal) == [tensor("4xf32")]
    assert "(C1)" in rejected(RNG, [one, number, shape], [tensor("4xf32")], **uniform)
    assert "(C1)" in rejected(RNG, [one, one, shape], [tensor("4xf64")], **uniform)
    assert "(C2)" in rejected(RNG, [number, number, shape], [tensor("4xi32")], **normal)
    assert "(C3)" in rejected(RNG, [one, one, shape], [tensor("4x4xf32")], **uniform)
    assert "(I1)" in rejected(RNG, [tensor("2xf32"), one, shape], [tensor("4xf32")], **uniform)
    assert "(I2)" in rejected(RNG, [one, tensor("2xf32"), shape], [tensor("4xf32")], **uniform)
    assert "(I3)" in rejected(RNG, [one, one, one], [tensor("4xf32")], **uniform)
    assert "(I4)" in rejected(RNG, [one, one, shape], [tensor("4xf32")], rng_distribution="POISSON")


def draw(low, high, count, distribution):
    low, high = np.asarray(low), np.asarray(high)
    shape = np.array([count])
    result = TensorType((count,), low.dtype)
    return run(RNG, low, high, shape, results=[result], rng_distribution=distribution)[0]


def test_rng_distributions():
    """Six standard deviations of the mean and of the variance: a false alarm in a billion runs."""
    count = 10_000
    uniform = draw(np.float32(2), np.float32(5), count, "UNIFORM")
    assert uniform.min() >= 2
    assert uniform.max() < 5
    assert abs(uniform.mean() - 3.5) < 6 * np.sqrt(9 / 12 / count)
    normal = draw(np.float64(1), np.float64(2), count, "NORMAL")
    assert abs(normal.mean() - 1) < 6 * 2 / np.sqrt(count)
    assert abs(normal.var() - 4) < 6 * 4 * np.sqrt(2 / count)
    dice = draw(np.int32(1), np.int32(7), count, "UNIFORM")
    counts = np.bincount(dice, minlength=8)
    assert counts[[0, 7]].sum() == 0
    assert (abs(counts[1:7] - count / 6) < 6 * np.sqrt(count * 5 / 36)).all()
    assert (draw(np.float32(0), np.float32(1), 8, "UNIFORM") != draw(np.float32(0), np.float32(1), 8, "UNIFORM")).any()


@pytest.mark.parametrize(("low", "high"), [(2, 1), (3, 3), (0, np.inf), (np.nan, 1)])
def test_rng_of_empty_and_endless_ranges(low, high):
    drawn = draw(np.float32(low), np.float32(high), 50, "UNIFORM")
    assert np.isnan(drawn).all() if np.isnan(low) else ((drawn >= min(low, high)) & (drawn <= max(low, high))).all()
    normal = draw(np.float32(low), np.float32(-1), 50, "NORMAL")
    assert np.isnan(normal).all() == np.isnan(low)


def test_rng_never_gives_the_end():
    drawn = draw(ml_dtypes.bfloat16(0), ml_dtypes.bfloat16(1), 20_000, "UNIFORM")
    assert drawn.max() < 1 and drawn.min() >= 0
