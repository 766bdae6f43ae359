"""`checkpoint`, its policies, and checkpointed loops: the same derivatives, and fewer arrays kept."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import ArgumentError

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(5)


def test_a_checkpoint_keeps_its_arguments_only():
    def chain(x):
        for _ in range(10):
            x = np.sin(x)
        return x

    def residuals(f):
        _, kept = numhlo.fwd_and_bwd(lambda x: f(x).sum(), 0)[0](np.ones(100))
        return len(kept.arrays)

    policies = numhlo.checkpoint_policies
    assert residuals(chain) >= 9
    assert residuals(numhlo.checkpoint(chain)) == 1
    assert residuals(numhlo.checkpoint(chain, policy=policies.everything_saveable)) >= 9
    assert "optimization_barrier" in numhlo.jit(numhlo.grad(numhlo.checkpoint(chain))).lower(1.0).as_text()


def test_checkpoint_policies_keep_what_jax_keeps():
    def layer(lib, name, w, x):
        hidden = name(lib.tanh(x @ w), "hidden")
        return name(lib.sin(hidden @ w), "out") * lib.exp(hidden)

    w, x = RNG.normal(size=(3, 3)), RNG.normal(size=(2, 3))
    expected = jax.grad(lambda w: layer(jnp, lambda v, _: v, w, x).sum())(w)
    ours = numhlo.checkpoint_policies
    choices = {
        "dots_saveable": lambda p: p.dots_saveable,
        "checkpoint_dots": lambda p: p.checkpoint_dots,
        "no batch": lambda p: p.dots_with_no_batch_dims_saveable,
        "names": lambda p: p.save_only_these_names("hidden"),
        "other names": lambda p: p.save_any_names_but_these("hidden"),
        "offloaded products": lambda p: p.offload_dot_with_no_batch_dims("device", "pinned_host"),
        "offloaded names": lambda p: p.save_and_offload_only_these_names(
            names_which_can_be_saved=[],
            names_which_can_be_offloaded=["hidden"],
            offload_src="device",
            offload_dst="pinned_host",
        ),
        "both": lambda p: p.save_from_both_policies(p.dots_saveable, p.save_only_these_names("out")),
        "except": lambda p: p.save_anything_except_these_names("hidden"),
        "nothing": lambda p: p.nothing_saveable,
        "everything": lambda p: p.everything_saveable,
    }
    saved = {}
    for name, choose in choices.items():
        kept = numhlo.checkpoint(lambda w, x: layer(np, numhlo.checkpoint_name, w, x), policy=choose(ours))
        fun = lambda w: kept(w, x).sum()
        np.testing.assert_allclose(numhlo.jit(numhlo.grad(fun))(w), expected, rtol=1e-12, err_msg=name)
        lanes = numhlo.vmap(numhlo.grad(lambda w, x: kept(w, x).sum()), (None, 0))(w, np.stack([x, x]))
        np.testing.assert_allclose(lanes[1], expected, rtol=1e-12)
        np.testing.assert_allclose(numhlo.jvp(fun, (w,), (w,))[1], (expected * w).sum(), rtol=1e-12)
        forward, _ = numhlo.fwd_and_bwd(fun, 0)
        saved[name] = len(forward(w)[1].arrays)
    assert saved["nothing"] == 1  # the weights
    assert saved["names"] == saved["other names"] == 2
    assert saved["dots_saveable"] == saved["checkpoint_dots"] == saved["no batch"] == 3
    assert saved["both"] == 4
    assert saved["everything"] > 3
    assert "checkpoint_name" not in numhlo.jit(fun).lower(w).compile().as_text()
    only_sines = numhlo.checkpoint(lambda x: np.cos(np.sin(x)), policy=lambda op, *_, **__: op.name == "sine")
    assert numhlo.grad(only_sines)(0.5) == numhlo.grad(lambda x: np.cos(np.sin(x)))(0.5)
    assert all(hasattr(jax.checkpoint_policies, name) for name in vars(type(ours)) if not name.startswith("_"))


@pytest.mark.usefixtures("first_answers")
def test_policies_look_into_loops_branches_and_calls():
    def fun(w, x):
        def step(c, row):
            c = numhlo.lax.cond(c.sum() > 0, lambda c: np.exp(-(c @ w)), np.sin, np.tanh(c @ w + row))
            return c, c.sum()

        c, ys = numhlo.lax.scan(step, x, rows)
        inner = lambda c, row: (np.sin(c @ w) * row, None)
        c, _ = numhlo.lax.scan(lambda c, _: (numhlo.lax.scan(inner, c, rows)[0], None), c, None, 2)
        return (numhlo.jit(lambda c: np.sin(c @ w))(c) * ys.sum()).sum()

    w, x, rows = RNG.normal(size=(3, 3)), np.ones(3), RNG.normal(size=(5, 3))
    expected = numhlo.grad(fun)(w, x)
    products, kept = {}, {}
    policies = numhlo.checkpoint_policies
    for policy in (policies.nothing_saveable, policies.dots_saveable, policies.everything_saveable):
        given = numhlo.checkpoint(fun, policy=policy)
        np.testing.assert_allclose(numhlo.grad(given)(w, x), expected, rtol=1e-12)
        lanes = numhlo.jit(numhlo.vmap(numhlo.grad(given), (None, 0)))(w, np.stack([2 * x, x]))
        np.testing.assert_allclose(lanes[1], expected, rtol=1e-12)
        products[policy.__name__] = numhlo.jit(numhlo.grad(given)).lower(w, x).as_text().count("dot_general")
        arrays = numhlo.fwd_and_bwd(lambda w, given=given: given(w, x), 0)[0](w)[1].arrays
        kept[policy.__name__] = sorted(a.shape for a in arrays)
    assert kept["nothing_saveable"] == [(3,)]
    assert kept["dots_saveable"] == [(2, 5, 3), (3,), (3,), (5, 3), (5, 3)]
    assert products["dots_saveable"] == products["everything_saveable"] == products["nothing_saveable"] - 4
    tanh = numhlo.checkpoint(fun, policy=lambda op, *_, **__: op.name in ("tanh", "dot_general"))
    second = numhlo.jvp(numhlo.grad(tanh), (w, x), (w, x))[1]
    np.testing.assert_allclose(second, numhlo.jvp(numhlo.grad(fun), (w, x), (w, x))[1], rtol=1e-10, atol=1e-12)


@pytest.mark.usefixtures("first_answers")
def test_policies_keep_what_each_call_of_a_function_made():
    def net(lib, jit, w, x):
        layer = jit(lambda x: lib.lax.scan(lambda c, _: (lib.numpy.tanh(c @ w), None), x, None, length=2)[0])
        step = jit(lambda x: layer(lib.numpy.sin(x @ w)) + x)
        return step(step(layer(x))).sum()

    w, x = RNG.normal(size=(3, 3)), RNG.normal(size=3)
    expected = jax.grad(lambda w: net(jax, lambda f: f, w, x))(w)
    policies = numhlo.checkpoint_policies
    given = numhlo.checkpoint(lambda w: net(numhlo, numhlo.jit, w, x), policy=policies.dots_saveable)
    np.testing.assert_allclose(numhlo.grad(given)(w), expected, rtol=1e-12)
    arrays = numhlo.fwd_and_bwd(given, 0)[0](w)[1].arrays
    assert sorted(a.shape for a in arrays)[:5] == [(2, 3)] * 3 + [(3,)] * 2


def test_policies_ask_each_function_once():
    asked = []

    def policy(op, *_, **__):
        asked.append(op)
        return op.name == "tanh"

    fun = numhlo.jit(lambda x: np.tanh(x) * x)
    for _ in range(14):
        fun = numhlo.jit(lambda x, inner=fun: inner(x) + inner(np.sin(x)))
    numhlo.jit(numhlo.grad(numhlo.checkpoint(fun, policy=policy))).lower(0.3)
    assert len(asked) < 200  # there are four ops in each of 15 functions; 16384 paths lead to the innermost


@pytest.mark.usefixtures("first_answers")
def test_policies_look_into_counted_loops():
    def fun(lib, w, x):
        inner = lambda i, c: lib.numpy.tanh(c @ w) * (i + 1)
        step = lambda c, row: (lib.lax.fori_loop(0, 2, inner, c + row), c.sum())
        x = lib.lax.while_loop(lambda s: s[0] < 7, lambda s: (s[0] + 2, lib.numpy.sin(s[1] @ w)), (0, x))[1]
        return lib.lax.fori_loop(0, 4, inner, lib.lax.scan(step, x, rows)[0]).sum()

    w, x, rows = RNG.normal(size=(3, 3)), RNG.normal(size=3), RNG.normal(size=(5, 3))
    expected = jax.jacfwd(lambda w: fun(jax, w, x))(w)
    products, kept = {}, {}
    policies = numhlo.checkpoint_policies
    for policy in (policies.nothing_saveable, policies.dots_saveable):
        given = numhlo.checkpoint(lambda w, x: fun(numhlo, w, x), policy=policy)
        np.testing.assert_allclose(numhlo.jit(numhlo.grad(given))(w, x), expected, rtol=1e-10)
        products[policy.__name__] = numhlo.jit(numhlo.grad(given)).lower(w, x).as_text().count("dot_general")
        arrays = numhlo.fwd_and_bwd(lambda w, given=given: given(w, x), 0)[0](w)[1].arrays
        kept[policy.__name__] = sorted(a.shape for a in arrays)
    assert kept["nothing_saveable"] == [(3,)]
    assert kept["dots_saveable"] == [(3,), (4, 3), (4, 3), (5, 2, 3)]
    assert products["dots_saveable"] == products["nothing_saveable"] - 3


def test_policies_leave_loops_of_unknown_length_alone():
    def fun(w, x):
        kept = numhlo.lax.stop_gradient(x)  # runs a loop that is not differentiated
        kept = numhlo.lax.while_loop(lambda c: (c * c).sum() < 9, lambda c: c * 1.5 + c @ c, kept)
        return np.tanh(x @ w).sum() * kept.sum()

    w, x = RNG.normal(size=(3, 3)), RNG.normal(size=3)
    given = numhlo.checkpoint(fun, policy=numhlo.checkpoint_policies.dots_saveable)
    np.testing.assert_allclose(numhlo.jit(numhlo.grad(given))(w, x), numhlo.grad(fun)(w, x), rtol=1e-12)


@pytest.mark.usefixtures("first_answers")
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("segment", [None, 1, 3, 20])
def test_scans_in_segments(segment, reverse):
    xs = RNG.normal(size=(11, 2))

    def run(scan, **options):
        step = lambda c, x: ((np.sin(c[0]) * x, c[1] + 1), (c[0] * x).sum())

        def total(xs):
            (last, count), ys = scan(step, (xs[0], 0), xs, reverse=reverse, **options)
            return (ys * np.arange(11.0)).sum() + last.sum() + 0 * count

        return total

    plain, kept = run(numhlo.lax.scan), run(numhlo.checkpointed_scan, segment=segment)
    np.testing.assert_allclose(kept(xs), plain(xs), rtol=1e-12)
    expected = numhlo.grad(plain)(xs)
    for grad in (numhlo.grad(kept), numhlo.jit(numhlo.grad(kept))):
        np.testing.assert_allclose(grad(xs), expected, rtol=1e-12)
    count = numhlo.grad(lambda x: numhlo.checkpointed_scan(lambda c, _: (c * x, None), 1.0, None, 7)[0])
    assert float(count(1.0)) == 7


def test_segments_bound_what_is_kept():
    def kept(scan, steps):
        fun = lambda x: scan(lambda c, x: (np.sin(c) * x, None), 1.0, x)[0]
        arrays = numhlo.fwd_and_bwd(fun, 0)[0](np.ones(steps))[1].arrays
        return sum(a.size for a in arrays) - steps

    assert kept(numhlo.lax.scan, 400) >= 400
    assert kept(numhlo.checkpointed_scan, 400) < 100


@pytest.mark.usefixtures("first_answers")
def test_reverse_mode_through_loops_of_unknown_length():
    def fun(loop, a, x):
        cond = lambda s: (s[1] ** 2).sum() < 50
        body = lambda s: (s[0] + 1, s[1] * a + np.sin(s[1]) + s[0])
        n, y = loop(cond, body, (0, x))
        return (y * y).sum() + 0 * n

    x = np.array([0.1, 0.2])
    for a in (3.0, 1.01):  # few steps, and many
        for states in (2, 64):
            loop = lambda c, f, s, k=states: numhlo.checkpointed_while_loop(c, f, s, states=k)
            given = lambda a, x, loop=loop: fun(loop, a, x)
            expected = [numhlo.jacfwd(lambda a, x: fun(numhlo.lax.while_loop, a, x), k)(a, x) for k in (0, 1)]
            for found, wanted in zip(numhlo.jit(numhlo.grad(given, (0, 1)))(a, x), expected, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-9)
    lanes = numhlo.jit(numhlo.vmap(numhlo.grad(given), (0, None)))(np.array([3.0, 1.01]), x)
    np.testing.assert_allclose(lanes[1], expected[0], rtol=1e-9)
    assert given(1.01, x) == fun(numhlo.lax.while_loop, 1.01, x)
    step = 1e-5
    second = numhlo.jvp(numhlo.grad(given), (3.0, x), (1.0, 0 * x))[1]
    near = [numhlo.grad(given)(3.0 + d, x) for d in (step, -step)]
    np.testing.assert_allclose(second, (near[0] - near[1]) / (2 * step), rtol=1e-6)
    none = numhlo.grad(lambda x: numhlo.checkpointed_while_loop(lambda s: s < 0, lambda s: s * s, x))
    assert float(none(2.0)) == 1
    with pytest.raises(ArgumentError, match="1 or more"):
        numhlo.checkpointed_scan(None, 0, np.ones(2), segment=-1)
    with pytest.raises(ArgumentError, match=r"(?s)\(states=0\).*1 or more"):
        numhlo.checkpointed_while_loop(None, None, 0, states=0)
    with pytest.raises(ArgumentError, match=r"(?s)\(tape=-1\).*0 or more"):
        numhlo.checkpointed_while_loop(None, None, 0, tape=-1)


@pytest.mark.usefixtures("first_answers")
@pytest.mark.parametrize("tape", [1, 3, 40])
def test_loops_of_unknown_length_on_a_tape(tape):
    def fun(loop, a, x, w):
        body = lambda s: (s[0] + 1, s[1] * a + np.sin(s[1]) * w[s[0] % 3])
        return (loop(lambda s: (s[1] ** 2).sum() < 50, body, (0, x))[1] ** 2).sum()

    def taped(a, x, w):
        return fun(lambda c, f, s: numhlo.checkpointed_while_loop(c, f, s, states=2, tape=tape), a, x, w)

    x, w = np.array([0.1, 0.2]), np.array([0.5, 0.2, 0.3])
    for a in (1.2, 100.0):  # more steps than fit on the short tapes, and one
        expected = [numhlo.jacfwd(lambda *given: fun(numhlo.lax.while_loop, *given), k)(a, x, w) for k in range(3)]
        for found, wanted in zip(numhlo.jit(numhlo.grad(taped, (0, 1, 2)))(a, x, w), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9)
    both = numhlo.vmap(taped, (0, None, None))
    lanes = numhlo.jit(numhlo.grad(lambda a: both(np.stack([a, 1.2]), x, w).sum()))(100.0)
    np.testing.assert_allclose(lanes, expected[0], rtol=1e-9)
    second = numhlo.jacfwd(numhlo.jacfwd(lambda a: fun(numhlo.lax.while_loop, a, x, w)))(1.2)
    np.testing.assert_allclose(numhlo.jvp(numhlo.grad(taped), (1.2, x, w), (1.0, 0 * x, 0 * w))[1], second, rtol=1e-8)


def test_steps_on_a_tape_are_not_run_again():
    calls = []

    def body(x):
        numhlo.debug.callback(lambda: calls.append(1))
        return x * x

    loop = lambda x: numhlo.checkpointed_while_loop(lambda x: x < 1e4, body, x, tape=8)
    assert numhlo.jit(numhlo.grad(loop))(2.0) == pytest.approx(16 * 2.0**15)
    assert len(calls) == 4
