"""Scalar loops as plain Python give the bits that the interpreter gives, op by op."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numhlo.backend.interim.translation import Translation
from numhlo.backend.interim.typed import NotPlainError
from numhlo.backend.runtime import step_plans
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops import comparison, control_flow, elementwise, indexing, layout
from numhlo.lowering.ops.back_edges import at_back_edges
from numhlo.lowering.ops.builder import FunctionBuilder
from tests.backend.interim.in_python import InPython
from tests.backend.interim.random_loops import BINARY, BITS, INDEX, LOGIC, random_loop
from tests.backend.plain_engine import assert_same_bits
from tests.backend.programs import from_jax


@pytest.mark.parametrize("first", range(0, 240, 20))
def test_random_loops_have_the_interpreters_bits(first):
    plain = 0
    for seed in range(first, first + 20):
        function, arrays = random_loop(seed)
        found = InPython(function)
        loops = found.translate()
        assert not [loop.refusal for loop in loops if loop.refusal], seed
        plain += len(loops)
        for left, right in zip(found(arrays), interpret(function, arrays), strict=True):
            try:
                assert_same_bits(left, np.asarray(right))
            except AssertionError as error:
                error.add_note(f"seed {seed}")
                raise
    assert plain >= 10  # most of them are loops of one kernel


def complex_newton(z, rounds):
    def step(state):
        z, k = state
        return z - (z * z * z - 1) / (3 * z * z) + 0.1 * jnp.exp(-z.real) * z.imag, k + 1

    return jax.lax.while_loop(lambda s: (s[1] < rounds) & (abs(s[0]) < 1e6), step, (z, 0))


def histogram(values, counts):
    """Writes into an array at places that the values give."""
    return jax.lax.fori_loop(0, values.size, lambda k, c: c.at[values[k]].add(values[k] * 2), counts)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers(dtype):
    arguments = dtype(1.5 - 0.5j), np.int32(20)
    check(from_jax(complex_newton, *arguments), arguments)


def test_arrays_are_updated_in_place():
    arguments = np.array([3, 1, 250, 3, 0, 7, 7], np.uint8), np.arange(9, dtype=np.uint8)
    check(from_jax(histogram, *arguments), arguments)
    assert arguments[1].tolist() == list(range(9))


def many_carries(carries, xs):
    def step(c, x):
        new = (*(c[k] * 0.9 + c[(k + 14) % 80] * x for k in range(79)), c[3])
        return new, new[0]

    return jax.lax.scan(step, carries, xs)


def test_carries_in_arrays_on_the_stack():
    carries = tuple(np.dtype("f8" if k % 2 else "f4").type(k / 7) for k in range(80))
    xs = np.linspace(0, 0.01, 9, dtype=np.float32)
    check(from_jax(many_carries, carries, xs), [*carries, xs])


def check(function, arguments):
    arrays = [np.asarray(a) for a in arguments]
    found = InPython(function)
    (loop,) = found.translate()
    assert loop.loop is not None, loop.refusal
    for left, right in zip(found(arrays), interpret(function, arrays), strict=True):
        assert_same_bits(left, np.asarray(right))


def collatz(n):
    step = lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1)
    return jax.lax.while_loop(lambda s: s[0] != 1, step, (n, jnp.int32(0)))[1]


def test_only_long_loops_are_translated(monkeypatch):
    found = InPython(from_jax(collatz, np.int64(27)))
    monkeypatch.setattr(step_plans, "SECONDS_PER_LETTER", 1.0)
    assert found([np.array(27)]) == [111]
    (loop,) = found.plans
    assert loop.loop is None
    monkeypatch.setattr(step_plans, "SECONDS_PER_LETTER", 0.0)
    assert found([np.array(1)]) == [0]
    assert loop.loop is None
    assert found.engine.ways() == {"op by op": 1}
    assert found([np.array(27)]) == [111]
    assert loop.loop is not None
    assert found.engine.ways() == {"as plain Python made of the kernel": 1}


def test_a_loop_that_is_given_up_has_written_nothing():
    class ArrivedError(Exception):
        pass

    def arrive():
        raise ArrivedError

    arrays = [np.zeros(100, np.uint8), np.arange(9, dtype=np.uint8)]
    found = InPython(from_jax(histogram, *arrays))
    (loop,) = found.translate()
    frame, places = found.frame(arrays)
    with at_back_edges(arrive), pytest.raises(ArrivedError):
        loop.run(frame, found.program.buffers)
    (result,) = found.program.results
    assert places[result].tolist() == list(range(9))  # as it was when the loop began


def test_vector_code_is_refused():
    source = """
from numhlo.backend.primitives import address, add_lanes_f32, store_f32


def total(ctx, bufs, dims, lo, hi):
    x = address(bufs, 0)
    y = address(bufs, 1)
    store_f32(y, 0, add_lanes_f32(x, 0, 16))
"""
    with pytest.raises(NotPlainError, match="add_lanes_f32 of a pointer"):
        Translation(source)


SPECIAL = {
    "f": [0.0, -0.0, 1.0, -1.5, 2.5, np.inf, -np.inf, np.nan, 1e-40, 3e38, -7.0],
    "i": [0, 1, -1, 7, -7, "least", "most"],
    "u": [0, 1, 7, 8, "most"],
}


def special_values(dtype):
    kind = "f" if dtype.kind == "f" else dtype.kind
    limits = {} if kind == "f" else {"least": np.iinfo(dtype).min, "most": np.iinfo(dtype).max}
    with np.errstate(all="ignore"):
        return np.array([limits.get(v, v) for v in SPECIAL[kind]], object).astype(dtype)


def every_pair(dtype):
    """Return a loop that applies every binary op, and every comparison, to each pair of special values in turn."""
    values = special_values(dtype)
    x, y = np.repeat(values, len(values)), np.tile(values, len(values))
    definitions = [*BINARY, *(() if dtype.kind == "f" else (*LOGIC, *BITS))]
    row, truths = TensorType(x.shape, dtype), TensorType(x.shape, np.dtype(bool))
    outs = [row] * len(definitions) + [truths] * 6
    b = FunctionBuilder("every_pair", [row, row, *outs])
    one = TensorType((), dtype)

    def condition(k, *_):
        return [b.op(comparison.COMPARE, k, b.constant(np.int64(x.size)), comparison_direction="LT")]

    def element(array, k):
        taken = b.op(indexing.DYNAMIC_SLICE, array, k, slice_sizes=(1,))
        return b.op(layout.RESHAPE, taken, result=one)

    def put(array, k, value):
        part = b.op(layout.RESHAPE, value, result=TensorType((1,), value.tensor.dtype))
        return b.op(indexing.DYNAMIC_UPDATE_SLICE, array, part, k)

    def body(k, *state):
        lhs, rhs = (element(b.arguments[i], k) for i in range(2))
        made = [b.op(definition, lhs, rhs) for definition in definitions]
        made += [b.op(comparison.COMPARE, lhs, rhs, comparison_direction=d) for d in comparison.DIRECTIONS]
        following = b.op(elementwise.ADD, k, b.constant(np.int64(1)))
        return [following, *(put(array, k, value) for array, value in zip(state, made, strict=True))]

    types = [INDEX, *outs]
    regions = [b.region(types, condition), b.region(types, body)]
    results = b.ops(control_flow.WHILE, b.constant(np.int64(0)), *b.arguments[2:], regions=regions)
    return b.finish(results[1:]), [x, y, *(np.zeros(t.shape, t.dtype) for t in outs)]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i4", "i8", "u1", "u4", "u8"])
def test_every_pair_of_special_values(dtype):
    check(*every_pair(np.dtype(dtype)))
