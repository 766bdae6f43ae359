"""Lanes that go different ways, in blocks: the interpreter's bits, whatever share of them takes what."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import numhlo
from numhlo.backend.executable import Executable
from numhlo.lowering.interpreter import interpret
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.planning.test_mapped import mapped
from tests.backend.programs import from_jax, plan

pytestmark = pytest.mark.slow

lax = jax.lax


def stops_alone(x, n):
    """A loop whose state changes places, is partly never changed, and of several types."""

    def step(s):
        k, a, b, up, _ = s
        return k + 1, b, a * 0.5 + x / (1.0 + b * b), ~up, s[4]

    return lax.while_loop(lambda s: (s[0] < n) & (s[1] < 1e6), step, (0, x, x + 1.0, True, x * 3.0))


def dear_branch(x, n):
    """A loop that counts, in a branch; the other one would never end."""

    def counts(x):
        return lax.fori_loop(0, 20, lambda i, y: y * 0.5 + x / (1.0 + y * y) + i, x), jnp.int64(1)

    def hangs(x):
        return lax.while_loop(lambda y: y > -1.0, lambda y: y * 0.5, jnp.abs(x)), jnp.int64(2)

    inner = lax.cond(n > 10, counts, lambda x: (x + 1.0, n), x)
    return (*inner, lax.cond(n > 1000, hangs, lambda x: (x, n), x)[0])


def many_branches(x, n):
    """Four branches, indices outside among them, two of which are dear, one of these with a choice inside."""

    def chain(y):
        for _ in range(3):
            y = jnp.sin(y) * x + jnp.exp(-y * y)
        return lax.cond(y > 0.5, lambda: y - 1.0, lambda: y)

    def waits(y):
        return lax.while_loop(lambda s: s < 50.0, lambda s: s * 1.5 + 1.0, jnp.abs(y))

    return lax.switch((n & 7) - 1, [lambda y: y, chain, waits, lambda y: -y], x), n


def loops_in_loops(x, n):
    """A loop in a loop in a branch; the counter of the inner one is the same for all lanes."""

    def outer(s):
        k, y = s
        y = lax.fori_loop(0, 3, lambda i, y: y * 0.9 + 0.01 * i, y)
        y = lax.while_loop(lambda z: z > 1.0, lambda z: z * 0.5 - k, y)
        return k + 1, lax.cond(y > 0.3, lambda y: jnp.tanh(y) * jnp.log(y) + jnp.sqrt(y) * x, lambda y: y + 0.1, y)

    return lax.while_loop(lambda s: s[0] < n & 15, outer, (0, x * 4.0))[1]


def complex_numbers(x, n):
    c = lax.complex(x * 3.0 - 2.0, x - 0.2)

    def step(s):
        z, k = s
        return z * z + c, k + 1

    return lax.while_loop(lambda s: (s[0].real ** 2 + s[0].imag ** 2 <= 4.0) & (s[1] < n), step, (c * 0.0, 0))


def few_elements(x, n):
    """A small vector for each lane, with sums over it, and a narrow counter."""

    def step(s):
        v, k = s
        return v * 0.7 + jnp.flip(v) * 0.1, k + jnp.int32(1)

    start = jnp.stack([x, x * x, x + 1.0]), jnp.int32(0)
    v, k = lax.while_loop(lambda s: (s[0].sum() > 0.01) & (s[1] < n.astype(jnp.int32)), step, start)
    return v, k, jnp.float32(2.0) * v.astype(jnp.float32).max()


CALCULUS = (many_branches, loops_in_loops)
BODIES = (stops_alone, dear_branch, complex_numbers, few_elements, *CALCULUS)

LANES = 100
"""A block, and part of another."""


def trips(kind, lanes, rng):
    counts = {
        "none": np.zeros(lanes),
        "one": np.where(np.arange(lanes) == lanes - 1, 40, 0),
        "few": np.where(np.arange(lanes) % 16 == 3, 40, 2),
        "spread": rng.integers(0, 30, lanes),
        "all": np.full(lanes, 15),
    }
    return counts[kind].astype(np.int64)


def compiled(function):
    program = plan(function)
    executable = Executable(program)
    assert executable.wait(60)
    return program, executable


def halves(lane):
    """Return a function that runs half as many lanes twice: too few for blocks."""
    program, executable = compiled(mapped(lane, 0, LANES // 2))
    assert [k.name for k in program.kernels] == ["map_lanes"]

    def call(arrays):
        parts = [executable([a[start : start + LANES // 2] for a in arrays]) for start in (0, LANES // 2)]
        return [np.concatenate(pair) for pair in zip(*parts, strict=True)]

    return call


@pytest.mark.parametrize("body", BODIES, ids=lambda f: f.__name__)
def test_blocks_have_the_bits_of_lanes_alone(body, rng):
    lane = from_jax(body, np.float64(1), np.int64(1))
    function = mapped(lane, 0, LANES)
    program, executable = compiled(function)
    assert [k.name for k in program.kernels] == ["map_lane_blocks"]
    # functions of calculus are NumPy's in the interpreter
    expect = halves(lane) if body in CALCULUS else lambda arrays: interpret(function, arrays)
    for kind in ("none", "one", "few", "spread", "all"):
        arrays = [rng.random(LANES), trips(kind, LANES, rng)]
        expected = expect(arrays)
        for left, right in zip(executable(arrays), expected, strict=True):
            assert_same_bits(left, np.asarray(right))
    for left, right in zip(run_plain(program, arrays), interpret(function, arrays), strict=True):
        np.testing.assert_allclose(left, np.asarray(right), rtol=1e-12)


def test_what_is_no_simd_code_runs_lane_by_lane():
    lane = from_jax(lambda x, n: lax.while_loop(lambda s: s > 3, lambda s: s // 3, n) + x, np.int64(1), np.int64(1))
    (kernel,) = plan(mapped(lane, 0, LANES)).kernels
    assert kernel.name == "map_lanes"


def test_running_sums_of_lanes_are_simd_code(rng):
    def lane(v, n):
        step = lambda s: (s[0] + 1, np.roll(s[1], 1) * 0.5 + np.cumsum(s[1]) / 4.0 - np.maximum.accumulate(s[1]))
        return numhlo.lax.while_loop(lambda s: s[0] < n, step, (0, v))[1]

    function = numhlo.jit(numhlo.vmap(lane))
    vectors, lengths = rng.random((LANES, 4)), trips("spread", LANES, rng)
    expected = vectors.copy()
    for v, count in zip(expected, lengths, strict=True):
        for _ in range(count):
            v[:] = np.roll(v, 1) * 0.5 + np.cumsum(v) / 4.0 - np.maximum.accumulate(v)
    for answer in ("first", "native"):
        np.testing.assert_array_equal(function(vectors, lengths), expected, err_msg=answer)
        function.wait()
    assert list(function.lower(vectors, lengths).compile().kernels) == ["map_lane_blocks"]


def rare(x, n):
    """A dear branch without a loop, whose result a loop and another dear branch go on with."""

    def chain(y):
        for _ in range(4):
            y = y / (1.0 + y * y) + x * 0.25 - jnp.sqrt(y * y + 1.0)
        return y, y * 2.0

    first, second = lax.cond(n > 30, chain, lambda y: (y + 1.0, y), x * 3.0)
    z = lax.while_loop(lambda z: z > 1.0, lambda z: z * 0.5 - 0.1, jnp.abs(first) * 8.0)
    return z, lax.cond(n > 35, lambda: chain(z)[0], lambda: second), n


def switches(x, n):
    """Two dear branches and two cheap ones, some with loops; complex numbers wait, too."""
    c = lax.complex(x, x - 1.0)

    def squares():
        return lax.fori_loop(0, 12, lambda _, z: z * z * 0.5 + c, c)

    def halves():
        z = lax.while_loop(lambda s: s[1] < n, lambda s: (s[0] * 0.5 + c, s[1] + 1), (c, 0))[0]
        return z - c

    return lax.switch(n & 3, [lambda: c + c, squares, halves, lambda: c]), c


@pytest.mark.parametrize("body", [rare, switches], ids=lambda f: f.__name__)
@pytest.mark.parametrize("lanes", [65, 900])
def test_lanes_that_wait_for_others(body, lanes, rng):
    function = mapped(from_jax(body, np.float64(1), np.int64(1)), 0, lanes)
    program, executable = compiled(function)
    (kernel,) = program.kernels
    assert "waiting0" in kernel.source
    for share in (0.0, 0.03, 0.4, 1.0) if lanes < 100 else (0.1, 0.5):
        arrays = [rng.random(lanes), np.where(rng.random(lanes) < share, rng.integers(0, 50, lanes), 2)]
        for left, right in zip(executable(arrays), interpret(function, arrays), strict=True):
            assert_same_bits(left, np.asarray(right))


def test_blocks_compute_what_lanes_begin_with(rng):
    @numhlo.jit
    def function(v, table, shift):
        def lane(x, y, t):
            def dear():
                return numhlo.lax.fori_loop(0, 9, lambda k, z: z * 0.5 + x / (1.0 + z * z), x) + y

            return numhlo.lax.cond(t > shift, dear, lambda: y)

        return numhlo.vmap(lane)(v * v, table.T[:, 1], np.abs(v[::-1]) * 3.0)

    def expected(v, table, shift):
        z = v * v
        for _ in range(9):
            z = z * 0.5 + v * v / (1.0 + z * z)
        return np.where(np.abs(v[::-1]) * 3.0 > shift, z + table[1], table[1])

    for lanes in (70, 200):
        arrays = rng.standard_normal(lanes), rng.random((2, lanes)), 2.0
        for answer in ("first", "native"):
            np.testing.assert_array_equal(function(*arrays), expected(*arrays), err_msg=answer)
            function.wait()
    assert list(function.lower(*arrays).compile().kernels) == ["map_lane_blocks"]


def test_dear_operands_that_others_read_are_computed_once(rng):
    @numhlo.jit
    def function(x):
        y = np.sin(x)
        return numhlo.vmap(lambda a: numhlo.lax.cond(a > 0.5, lambda: np.exp(np.sin(a)) * a, lambda: a))(y), y + 1.0

    x = rng.standard_normal(300)
    y = np.sin(x)
    for answer in ("first", "native"):
        found, other = function(x)
        np.testing.assert_allclose(found, np.where(y > 0.5, np.exp(np.sin(y)) * y, y), rtol=1e-14, err_msg=answer)
        np.testing.assert_allclose(other, y + 1.0, rtol=1e-14, err_msg=answer)
        function.wait()
    assert list(function.lower(x).compile().kernels) == ["map_sine_add", "map_lane_blocks"]
