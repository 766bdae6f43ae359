"""What derivatives cost, counted: ops, calls while tracing, numbers kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import numhlo
import numhlo.numpy as nnp
from numhlo import lax
from numhlo.lowering.passes.outlining import inlined_size
from tests.work import count_calls


def chain(count: int) -> Callable[[Any], Any]:
    """Return a program of so many rounds of ops of several families."""

    def run(x: Any) -> Any:
        for k in range(count):
            y = np.sin(x) @ np.eye(4) + x.T
            x = np.concatenate([y[1:], y[:1] * x[0]]).at[k % 4].add(y.max(axis=0))
        return x.sum()

    return run


def ops_of(fun: Callable[..., Any], *args: Any) -> Counter[str]:
    """Return how often each op stands in the text of a traced program."""
    return Counter(re.findall(r"stablehlo\.\w+(?=[ (\"])", numhlo.jit(fun).lower(*args).as_text()))


def kept(fun: Callable[..., Any], *args: Any) -> int:
    """Return how many numbers reverse mode keeps between forward and backward."""
    return sum(a.size for a in numhlo.fwd_and_bwd(fun, 0)[0](*args)[1].arrays)


@pytest.mark.parametrize(
    ("derivative", "shape"),
    [
        (numhlo.grad, (4, 4)),
        (numhlo.jacfwd, (4, 4)),
        (lambda f: numhlo.vmap(numhlo.grad(f)), (2, 4, 4)),
        (lambda f: numhlo.grad(numhlo.checkpoint(f)), (4, 4)),
    ],
)
def test_ops_and_tracing_grow_linearly(derivative: Any, shape: tuple[int, ...]) -> None:
    x = np.ones(shape)
    counts = [ops_of(derivative(chain(n)), x).total() for n in (2, 4, 8)]
    assert counts[2] - counts[1] == pytest.approx(2 * (counts[1] - counts[0]), rel=0.05)
    plain = ops_of(chain(8), np.ones((4, 4))).total()
    assert counts[2] < 14 * plain
    calls = [count_calls(numhlo.jit(derivative(chain(n))).lower, x) for n in (2, 6, 12)]
    assert calls[2] - calls[1] < 1.5 * 6 / 4 * (calls[1] - calls[0])


def in_branches(depth: int) -> Callable[[Any], Any]:
    """Return a program of branches, loops and calls in each other."""
    if not depth:
        return lambda x: np.sin(x) * x
    inner = numhlo.jit(in_branches(depth - 1))
    step = lambda c, _: (lax.cond(c > depth, lambda c: inner(c) * c, lambda c: np.floor(c) + 2 * c, c), None)
    return lambda x: lax.scan(step, x, None, length=2)[0]


def test_nested_branches_and_loops_are_differentiated_once() -> None:
    depths = (2, 4, 6)
    counts = [ops_of(numhlo.grad(in_branches(d)), 0.3).total() for d in depths]
    assert counts[2] - counts[1] < 1.5 * (counts[1] - counts[0])  # what is kept goes through each loop
    calls = [count_calls(numhlo.jit(numhlo.grad(in_branches(d))).lower, 0.3) for d in depths]
    assert calls[2] < 5 * calls[1]  # each level is copied into the one around it; doubling each level would be 16


def called_twice(depth: int) -> Callable[[Any], Any]:
    """Return a program in which each function calls the next one at two places."""
    fun = numhlo.jit(lambda x: np.sin(x) * x)
    for _ in range(depth):
        fun = numhlo.jit(lambda x, inner=fun: np.cos(inner(x) * inner(x + 0.1)) + x)
    return fun


@pytest.mark.slow
def test_functions_of_a_large_program_are_transformed_once_however_often_called() -> None:
    for transform, x in (
        (lambda f: numhlo.vmap(numhlo.grad(f)), np.ones(3)),
        (numhlo.jacfwd, 0.3),
        (numhlo.vmap, np.ones(3)),
    ):
        counts = [ops_of(transform(called_twice(depth)), x).total() for depth in (10, 16)]
        assert counts[1] < 3 * counts[0]  # it is called 64 times as often


@pytest.mark.slow
def test_derivatives_of_functions_that_are_called_twice() -> None:
    fun, x, step = called_twice(9), 0.3, 1e-6
    slope, change = numhlo.jvp(numhlo.grad(fun), (x,), (1.0,))
    assert slope == pytest.approx((fun(x + step) - fun(x - step)) / (2 * step), rel=1e-5)
    slopes = numhlo.vmap(numhlo.grad(fun))(np.array([x + step, x, x - step]))
    assert slopes[1] == pytest.approx(slope, rel=1e-12)
    assert change == pytest.approx((slopes[0] - slopes[2]) / (2 * step), rel=1e-4)


def levels_of_work(lib: Any, jit: Any, depth: int) -> Callable[[Any], Any]:
    """Return a program of functions that each keep about a hundred arrays, and call the next one twice."""

    def work(x: Any) -> Any:
        for k in range(50):
            x = x + 0.02 * lib.cos(x * x[::-1]) * (x > k / 50)
        z = lib.exp(1j * x[:2])
        return x + 0.1 * (z * z).real.sum()

    fun = jit(work)
    for _ in range(depth):
        fun = jit(lambda x, inner=fun: inner(work(x)) - inner(0.5 * x))
    return lambda x: fun(x).sum()


@pytest.mark.slow
def test_what_nested_calls_keep_is_computed_once() -> None:
    def run(fun: Callable[..., Any]) -> int:
        text = numhlo.jit(fun).lower(np.full(3, 0.3)).as_text()
        return inlined_size(numhlo.stablehlo.parse(text).functions["main"].source.reached())

    ratios = []
    for depth in (3, 6):
        fun = levels_of_work(np, numhlo.jit, depth)
        ratios.append(run(numhlo.grad(fun)) / run(fun))
    assert ratios[1] < 1.1 * ratios[0]  # computed again at every level it would be twice as much


@pytest.mark.slow
@pytest.mark.usefixtures("first_answers")
def test_derivatives_of_nested_calls_that_keep_much() -> None:
    x, step = np.array([0.3, 0.1, 0.7]), 1e-6 * np.eye(3)
    plain, fun = levels_of_work(np, lambda f: f, 3), levels_of_work(np, numhlo.jit, 3)
    expected = [(plain(x + d) - plain(x - d)) / 2e-6 for d in step]
    lanes = numhlo.vmap(numhlo.grad(fun))(np.stack([x, 2 * x]))
    np.testing.assert_allclose(lanes[0], expected, rtol=1e-7)


def deep(depth: int) -> Callable[[Any], Any]:
    """Return a program of branches in branches."""
    if not depth:
        return lambda x: np.sin(x) * x
    inner = deep(depth - 1)
    return lambda x: lax.cond(x < depth, lambda c: np.sin(inner(np.sin(c) * c)) * c, lambda c: c * c, x)


def test_branches_in_branches_are_not_traced_anew_at_every_level() -> None:
    fun = deep(24)
    calls = [count_calls(numhlo.jit(f).lower, 0.3) for f in (fun, numhlo.grad(fun))]
    assert calls[1] < 12 * calls[0]
    few, many = (ops_of(numhlo.grad(deep(d)), 0.3).total() for d in (8, 16))
    assert many < 2 * few


def test_branches_share_the_places_of_what_is_kept() -> None:
    branches = [lambda c, k=k: np.sin(c * np.sin(c * k)) for k in range(4)]
    several = lambda x: lax.scan(lambda c, k: (lax.switch(k % 4, branches, c), None), x, np.arange(100))[0].sum()
    one = lambda x: lax.scan(lambda c, k: (branches[2](c), None), x, np.arange(100))[0].sum()
    x = np.ones(5)
    assert kept(several, x) <= 1.5 * kept(one, x)
    near = [several(x + s * 1e-6 * (np.arange(5) == 0)) for s in (1, -1)]
    assert numhlo.grad(several)(x)[0] == pytest.approx((near[0] - near[1]) / 2e-6, rel=1e-4, abs=1e-8)


def rnn(w: Any, xs: Any) -> Any:
    last, ys = lax.scan(lambda h, x: (np.tanh(h @ np.exp(w) + x), h * x), xs[0], xs)
    return (last**2).sum() + ys.sum()


def test_the_gradient_of_a_scan_is_two_loops_of_any_length() -> None:
    w = np.zeros((3, 3))
    short, long = (ops_of(numhlo.grad(rnn), w, np.ones((n, 3))) for n in (4, 400))
    assert short == long
    assert long["stablehlo.while"] == 2
    steps = [count_calls(numhlo.jit(numhlo.grad(rnn)).lower, w, np.ones((n, 3))) for n in (4, 400)]
    assert steps[1] < 1.1 * steps[0]


def test_residuals_of_a_scan_are_kept_once() -> None:
    w = np.zeros((3, 3))
    each = [kept(rnn, w, np.ones((n, 3))) for n in (10, 20)]
    # a step keeps its carry and the result of tanh; products of constants, inputs and outputs are there already
    assert (each[1] - each[0]) / 10 <= 9
    fixed = lambda x: lax.scan(lambda c, _: (c * np.exp(x), None), 1.0 + x, None, length=50)[0].sum()
    assert kept(fixed, np.zeros(2)) < 50 * 3 + 10
    given = lambda c: lax.scan(lambda c, x: (c * x, None), c, np.ones(1000))[0]
    assert kept(given, 1.0) == 1000  # the inputs themselves
    seen = lambda x: lax.scan(lambda c, row: (c, row * np.exp(x[0])), 0.0, np.ones((30, 5)))[1].sum()
    assert kept(seen, np.ones(2)) <= 30 * 5 + 5


def test_indexing_in_a_loop_copies_no_whole_arrays() -> None:
    def fill(x: Any) -> Any:
        return (lax.fori_loop(0, x.shape[0], lambda i, y: y.at[i].set(y[i - 1] * x[i]), x) ** 2).sum()

    sizes = [kept(fill, np.ones(n)) for n in (50, 100)]
    assert sizes[1] <= 2.2 * sizes[0]


def taken_in_turn(x: Any) -> Any:
    def step(c: Any, i: Any) -> Any:
        c = lax.cond(i % 2 == 0, lambda c: c.at[i].set(np.sin(c[i - 1]) * x[i]), lambda c: c, c)
        return c.at[0].multiply(x[i - 1]), x[i] * c[0]

    last, ys = lax.scan(step, x, np.arange(len(x)))
    return last.sum() + ys.sum()


def swapped(x: Any) -> Any:
    def body(i: Any, y: Any) -> Any:
        y[i], y[0] = y[0] * x[i], y[i]
        return y

    return (lax.fori_loop(1, len(x), body, x * 1.0) ** 2).sum()


def rows_in_turn(x: Any) -> Any:
    inner = lambda c, k: (np.tanh(c * x[k]), c + x[k])
    return lax.scan(lambda c, i: (lax.scan(inner, c, i + np.arange(2))[0], None), 1.0, np.arange(len(x) - 1))[0]


@pytest.mark.parametrize("fun", [taken_in_turn, swapped, rows_in_turn])
def test_steps_that_touch_elements_touch_no_arrays_backwards_either(fun: Any) -> None:
    x = np.linspace(0.5, 1.5, 37)
    text = numhlo.jit(numhlo.grad(fun)).lower(x).as_text()
    bodies = [part for part in text.split("func.func") if " @transposed_" in part]
    assert bodies
    made = Counter(re.findall(r"stablehlo\.(\w+)[^\n]*tensor<37xf64>$", "\n".join(bodies), re.MULTILINE))
    assert set(made) <= {"dynamic_update_slice", "scatter", "while", "return"}  # in place: no zeros, no sums of arrays
    step = 1e-6
    found = numhlo.grad(fun)(x)
    for k in (0, 1, 20, 36):
        near = [fun(x + s * step * (np.arange(37) == k)) for s in (1, -1)]
        assert found[k] == pytest.approx((near[0] - near[1]) / (2 * step), rel=1e-5, abs=1e-7)


def unrolled(x: Any, end: Callable[[Any], Any]) -> Any:
    y = x * 1.0
    for k in range(1, 40):
        y[k] = nnp.sin(y[k - 1]) * x[k]
    return end(y)


@pytest.mark.parametrize("end", [lambda y: y[39], lambda y: y.sum(), lambda y: (y**2).sum() + y[3]])
def test_unrolled_reads_and_writes_make_few_arrays(end: Callable[[Any], Any]) -> None:
    fun = lambda x: unrolled(x, end)
    x = np.linspace(0.5, 1.5, 60)
    text = numhlo.jit(numhlo.grad(fun)).lower(x).as_text().split("dense<1.000000e+00>", 1)[1]
    made = Counter(re.findall(r"stablehlo\.(\w+)[^\n]*tensor<60xf64>$", text, re.MULTILINE))
    assert made.pop("dynamic_update_slice") <= 40 + 80  # the program's, and those of what comes out, in place
    assert made.total() < 10
    found = numhlo.grad(fun)(x)
    for k in (0, 1, 20, 39, 50):
        near = [fun(x + s * 1e-6 * (np.arange(60) == k)) for s in (1, -1)]
        assert found[k] == pytest.approx((near[0] - near[1]) / 2e-6, rel=1e-5, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_reads_and_writes_in_any_order_have_jaxs_gradient(seed: int) -> None:
    """Elements and rows, overlapping ones too, some at places that are not known."""
    rng = np.random.default_rng(seed)
    steps = [(rng.integers(5), *rng.integers(0, 20, 2), *rng.integers(0, 2, 2)) for _ in range(12)]

    def program(np: Any, x: Any, at: Any, write: Callable[..., Any]) -> Any:
        y = x * 2.0
        for kind, i, k, p, q in steps:
            if kind == 0:
                y = write(y, (i, p), np.sin(y[k, q]) + x[k, p])
            elif kind == 1:
                y = write(y, i, y[k] * x[i, q] + y[i, p])
            elif kind == 2:
                y = write(y, slice(i // 2, i // 2 + 2), np.cos(y[k // 2 : k // 2 + 2]))
            elif kind == 3:
                y = write(y, at + i // 4, y[at + k // 4] * y[k])
            else:
                y = y * x[k, p] if q else y + y[i, 0]
        return np.sum(y**2 * x) + y[7, 1]

    def assign(y: Any, place: Any, value: Any) -> Any:
        y = y.copy()
        y[place] = value
        return y

    x = rng.normal(size=(20, 2))
    ours = numhlo.jit(numhlo.grad(lambda x, at: program(nnp, x, at, assign)))(x, 3)
    theirs = jax.grad(lambda x, at: program(jnp, x, at, lambda y, place, value: y.at[place].set(value)))(x, 3)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_cotangents_of_products_come_out_in_their_operands_order() -> None:
    layers = lambda x, w, v: ((np.tanh(x @ w) @ v) ** 2).sum()
    found = ops_of(numhlo.grad(layers, (0, 1, 2)), np.ones((5, 4)), np.ones((4, 3)), np.ones((3, 2)))
    assert found["stablehlo.transpose"] == 0
    heads = lambda q, k: ((q @ k) ** 2).sum()
    assert ops_of(numhlo.grad(heads, (0, 1)), np.ones((7, 5, 4)), np.ones((7, 4, 3)))["stablehlo.transpose"] == 0


def test_cotangents_of_slabs_are_joined_and_quotients_divide_once() -> None:
    """Gates of a layer, and what becomes of them where one is not used or another shape overlaps."""
    x = np.linspace(0.2, 2.0, 24).reshape(2, 12)
    gates = lambda lib: lambda x: (lib.sin(x[:, :4]) / x[:, 8:] * x[:, 4:8]).sum()
    found = ops_of(numhlo.grad(gates(np)), x)
    assert (found["stablehlo.pad"], found["stablehlo.concatenate"], found["stablehlo.divide"]) == (0, 1, 2)
    some = lambda lib: lambda x: (x[:, :4] / lib.cos(x[:, 8:])).sum() + (x[:, :6] ** 2).sum() + (x**3).sum()
    for program in (gates, some):
        np.testing.assert_allclose(numhlo.grad(program(np))(x), jax.grad(program(jnp))(x), rtol=1e-12)
