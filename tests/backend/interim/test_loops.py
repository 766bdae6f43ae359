"""Scalar loops as plain Python give the bits that the interpreter gives, op by op."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numhlo.backend.interim.loops import PlainLoop
from numhlo.backend.interim.translation import Translation
from numhlo.backend.interim.typed import NotPlainError
from numhlo.backend.program import Kernel
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
from tests.work import count_calls


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

    return jax.lax.while_loop(lambda s: (s[1] < rounds) & ((s[0] * s[0].conj()).real < 1e12), step, (z, 0))


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


def checksum(x):
    def step(i, sum):
        bits = lambda _, c: (c >> 1) ^ (jnp.uint32(0xEDB88320) * (c & 1))
        return jax.lax.fori_loop(0, 8, bits, sum ^ x[i].astype(jnp.uint32))

    return jax.lax.fori_loop(0, x.size, step, jnp.uint32(0xFFFFFFFF))


def test_loops_that_count_are_cut_into_strips():
    arguments = [np.arange(800).astype(np.uint8)]
    check(from_jax(checksum, *arguments), arguments)


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
    monkeypatch.setattr(step_plans, "SECONDS_PER_LINE", 1.0)
    assert found([np.array(27)]) == [111]
    (loop,) = found.plans
    assert loop.loop is None
    monkeypatch.setattr(step_plans, "SECONDS_PER_LINE", 0.0)
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


def test_conditions_of_a_chain_may_need_statements_of_their_own():
    """``a + 1`` wraps, so it has a name before it is compared."""
    source = """
from numhlo.backend.primitives import add, address, load_i64, store_i64, to_i64


def chain(ctx, bufs, dims, lo, hi):
    x = address(bufs, 0)
    a = load_i64(x, 0)
    if add(a, to_i64(1)) == 1:
        store_i64(x, 1, to_i64(10))
    elif add(a, to_i64(2)) == 3:
        store_i64(x, 1, to_i64(20))
    elif add(a, to_i64(3)) < 0:
        store_i64(x, 1, to_i64(30))
    else:
        store_i64(x, 1, to_i64(40))
    store_i64(x, 2, a)
"""
    loop = PlainLoop(Kernel("chain", source))
    for first, second in [(0, 10), (1, 20), (2**63 - 1, 30), (7, 40)]:
        x = np.array([first, 0, 0], np.int64)
        loop.run([x], [], 1, lambda: None)
        assert x.tolist() == [first, second, first]


def test_conditions_of_a_loop_are_computed_again_each_round():
    source = """
from numhlo.backend.primitives import add, address, load_i64, store_i64, to_i64


def count(ctx, bufs, dims, lo, hi):
    x = address(bufs, 0)
    end = load_i64(x, 0)
    k = to_i64(0)
    while add(k, to_i64(1)) < end:
        store_i64(x, k, k)
        k += 3
    store_i64(x, 9, k)
"""
    for end, expected in [(9, [0, 0, 0, 3, 0, 0, 6, 0, 0, 9]), (1, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0])]:
        x = np.array([end] + 9 * [0], np.int64)
        PlainLoop(Kernel("count", source)).run([x], [], 1, lambda: None)
        assert x.tolist() == expected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("y = x / 2", "/ instead of the end"),
        ("y = x < 2 < 3", "a chain of comparisons"),
        ("y = (x + 2", r"the end of a line instead of \)"),
        ("y = x +", "an expression with nothing"),
        ("y = z", "an unknown name z"),
        ("y = x.size", "an attribute size"),
        ("x -= 2", r"a statement x -= 2"),
        ("return x", "a statement return x"),
        ("with x:", "a statement with x:"),
        ("y = load_i64(x, 0)", "a computed pointer"),
    ],
)
def test_what_is_no_scalar_code_is_refused(line, reason):
    source = f"def kernel(ctx, bufs, dims, lo, hi):\n    x = hi\n    {line}\n"
    with pytest.raises(NotPlainError, match=reason):
        Translation(source)


def test_expressions_bind_as_in_python():
    text = "-1 + 2 * (3 - -4) * 5 - 6 == 63 & 127"
    source = f"def kernel(ctx, bufs, dims, lo, hi):\n    x = address(bufs, 0)\n    store_bool(x, 0, {text})\n"
    translation = Translation(source)
    written = translation.text.splitlines()[-1].partition(" = ")[2]
    assert eval(written) is eval(text) is True
    assert Translation(source.replace(text, "not 1 < 2")).text.endswith(" x[0] = (not (1 < 2))\n")


def test_values_that_nothing_needs_are_not_computed():
    source = """
from numhlo.backend.primitives import address, load_i64, store_i64


def count(ctx, bufs, dims, lo, hi):
    x = address(bufs, 0)
    for k in range(3):
        far = load_i64(x, k + 1000000)
        further = far * far
        if k > 1:
            later = further
        store_i64(x, k, k)
"""
    x = np.zeros(4, np.int64)
    PlainLoop(Kernel("count", source)).run([x], [], 1, lambda: None)
    assert x.tolist() == [0, 1, 2, 0]


def test_translating_takes_a_few_calls_a_line():
    lines = "".join(f"    x{k + 1} = 0.5 * x{k} + 0.25\n" for k in range(1000))
    source = f"def kernel(ctx, bufs, dims, lo, hi):\n    x0 = to_f64(hi)\n{lines}"
    assert count_calls(Translation, source) < 1000 * 70
