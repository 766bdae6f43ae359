"""Branches and loops: the same results jitted and as plain Python, types of carries, and the text of errors."""

from __future__ import annotations

import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.lowering.ir.errors import ArgumentError, ControlFlowTypeError, MutationError
from numhlo.tracer.trees.pytrees import tree_leaves, tree_structure


def check(fun, *args):
    """Assert that ``fun`` gives the same structure, dtypes and values jitted and not; return the jitted result."""
    plain, jitted = fun(*args), numhlo.jit(fun)(*args)
    assert tree_structure(plain) == tree_structure(jitted)
    for a, b in zip(tree_leaves(plain), tree_leaves(jitted), strict=True):
        assert np.asarray(a).dtype == b.dtype
        np.testing.assert_array_equal(a, b, strict=True)
    return jitted


def test_cond():
    def f(x, y):
        return lax.cond(x.sum() > 2, lambda a, b: (a + b, {"k": a}), lambda a, b: (a - b, {"k": b}), x, y)

    for x in ([0.0, 1.0], [2.0, 3.0]):
        check(f, np.array(x), np.array([5.0, 6.0]))
    outer = np.arange(3.0)
    check(lambda p: lax.cond(p, lambda: outer * 2, lambda: outer), np.bool_(True))
    check(lambda n: lax.cond(n, lambda: 1, lambda: 0), 3)
    nested = lambda x: lax.cond(x > 0, lambda: lax.cond(x > 2, lambda: x * 10, lambda: x), lambda: -x)
    for x in (-1.0, 1.0, 3.0):
        check(nested, np.float64(x))


def test_what_loops_give_outside_jit_has_the_dtypes_inside():
    check(lambda x: lax.fori_loop(0, 3, lambda i, c: i, x), np.array(1.0))
    check(lambda x: lax.scan(lambda c, y: (c + y, c), 0, x), np.ones(3, np.float32))


def test_cond_promotes_and_runs_one_branch_only():
    f = numhlo.jit(lambda p, x: lax.cond(p, lambda: x, lambda: 1))
    assert f(True, np.float32(2)).dtype == np.float32 and f(False, np.float32(2)) == 1
    assert numhlo.jit(lambda p: lax.cond(p, lambda: 1, lambda: 2.5))(True).dtype == np.float64
    mixed = numhlo.jit(lambda p, a, b: lax.cond(p, lambda: a, lambda: b))
    assert mixed(True, np.int32(1), np.float32(2)).dtype == np.float64
    weak = numhlo.jit(lambda p, x: x * lax.cond(p, lambda: 2.0, lambda: 3.0))
    assert weak(True, np.ones(2, np.float32)).dtype == np.float32


def test_concrete_predicates_call_one_branch():
    seen = []
    numhlo.jit(lambda x: lax.cond(True, lambda: seen.append("t") or x, lambda: seen.append("f") or x))(1.0)
    numhlo.jit(lambda x: lax.switch(5, [lambda: seen.append(0) or x, lambda: seen.append(1) or x]))(1.0)
    assert seen == ["t", 1]


def test_switch_clamps():
    def f(k, x):
        return lax.switch(k, [lambda x: x, lambda x: -x, lambda x: x * x], x)

    for k in (-5, 0, 1, 2, 9):
        check(f, k, np.arange(3))
    check(f, np.uint8(200), np.arange(3))
    check(f, np.int64(2**40), np.arange(3))


def test_select():
    f = lambda p, a, b: lax.select(p, a, b)
    check(f, np.array([True, False]), np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    check(f, np.bool_(False), np.array([1.0, 2.0]), np.array([3.0, 4.0]))


def test_while_loop():
    def collatz(n):
        def body(state):
            n, steps = state["n"], state["steps"]
            return {"n": lax.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1), "steps": steps + 1}

        return lax.while_loop(lambda s: s["n"] != 1, body, {"n": n, "steps": 0})

    assert check(collatz, np.int64(27))["steps"] == 111
    check(lambda x: lax.while_loop(lambda v: v.sum() < 100, lambda v: v * 2, x), np.arange(4.0))
    check(lambda x: lax.while_loop(lambda _: False, lambda v: v, x), np.arange(2))
    limit = np.array(50)
    check(lambda x: lax.while_loop(lambda v: v < limit, lambda v: v + x, x), np.int64(7))


def test_weak_carries_take_the_bodys_type():
    f = numhlo.jit(lambda x: lax.while_loop(lambda s: s < 10, lambda s: s + x, 0))
    assert f(np.float32(2.5)).dtype == np.float32 and f(np.float32(2.5)) == 10
    assert f(3).dtype == np.int64
    g = numhlo.jit(lambda n, x: lax.fori_loop(0, n, lambda i, s: (s[0] * 0.5, s[1] + x), (1, 0)))
    assert [r.dtype.name for r in g(3, np.complex64(1j))] == ["float64", "complex64"]
    widened = numhlo.jit(lambda x: lax.fori_loop(0, 2, lambda i, s: s + x, np.int32(1)))
    assert widened(np.float64(0.5)) == 2.0


def test_fori_loop():
    check(lambda x: lax.fori_loop(0, 5, lambda i, s: s * 2 + i, x), np.int64(1))
    check(lambda lo, hi: lax.fori_loop(lo, hi, lambda i, s: s + i, 0), 3, 11)
    check(lambda lo, hi: lax.fori_loop(lo, hi, lambda i, s: s + i, 0), 11, 3)
    check(lambda n: lax.fori_loop(np.int32(0), n, lambda i, s: s + i, np.int32(0)), np.int32(4))
    table = np.arange(10.0) ** 2

    def gather(n, table):
        def body(i, s):
            s[i] = table[i] + s[i - 1]
            return s

        return lax.fori_loop(1, n, body, np.zeros(10))

    check(gather, 7, table)
    f = numhlo.jit(lambda x: lax.fori_loop(0, 3, lambda i, s: s * x + i, x))
    assert f(np.float32(2)).dtype == np.float32  # the index acts as a Python int
    traced = []
    unrolled = lambda x: lax.fori_loop(0, 4, lambda i, s: traced.append(i) or s + i, x, unroll=True)
    assert numhlo.jit(unrolled)(1) == 7 and traced == [0, 1, 2, 3]
    assert "stablehlo.while" not in numhlo.jit(unrolled).lower(1).as_text()


def test_scan():
    xs = {"a": np.arange(6.0).reshape(3, 2), "b": np.arange(3)}

    def step(c, x):
        return c + x["a"].sum(), (c * x["b"], x["a"] + c)

    for reverse in (False, True):
        check(lambda xs, reverse=reverse: lax.scan(step, 0.0, xs, reverse=reverse), xs)
    weights = np.array([[1.0, 2.0], [3.0, 4.0]])
    check(lambda x: lax.scan(lambda c, x: (weights @ c + x, None), np.zeros(2), x), xs["a"])
    check(lambda k: lax.scan(lambda c, _: (c + k, c), k, length=4), 2)
    check(lambda xs: lax.scan(lambda c, x: (c + x, c), np.int64(0), xs), np.zeros(0, np.int64))
    check(lambda xs: lax.scan(lambda c, x: (c, x), (), xs), np.arange(4))
    traced = []
    f = numhlo.jit(lambda xs, y: lax.scan(lambda c, x: traced.append(1) or (c + x * y, c), 0, xs))
    carry, ys = f(np.arange(4), np.float32(0.5))
    assert carry.dtype == np.float64 and ys.tolist() == [0.0, 0.0, 0.5, 1.5]
    assert "numhlo.scan" in f.lower(np.arange(4), np.float32(1)).as_text()
    assert "composite" not in numhlo.jit(lambda xs: lax.scan(step, 0.0, xs, unroll=True)).lower(xs).as_text()
    check(lambda xs: lax.scan(step, np.float64(0.0), xs, unroll=True), xs)


def test_nested_loops_capture_at_every_level():
    def f(x, n):
        def outer(i, acc):
            def inner(c, row):
                return c + row * i + x[0], c

            return acc + lax.scan(inner, np.zeros(2), x)[0].sum() * n

        return lax.fori_loop(0, n, outer, 0.0)

    check(f, np.arange(6.0).reshape(3, 2), 3)


def test_map_and_associative_scan():
    scale = np.array([1.0, 2.0])
    check(lambda x, k: lax.map(lambda r: (r["v"] * scale + k, r["n"]), x), {"v": np.ones((3, 2)), "n": np.arange(3)}, 2)
    check(lambda x: lax.map(lambda v: lax.cond(v > 1, lambda: v * 10, lambda: v), x), np.arange(4))
    for n in (0, 1, 2, 3, 7, 8):
        x = np.arange(2 * n).reshape(n, 2)
        np.testing.assert_array_equal(check(lambda x: lax.associative_scan(np.add, x), x), np.cumsum(x, 0))
        tail = check(lambda x: lax.associative_scan(np.multiply, x + 1, reverse=True), x)
        np.testing.assert_array_equal(tail, np.cumprod((x + 1)[::-1], 0)[::-1])
    matrices = np.random.default_rng(0).integers(-2, 3, (5, 2, 2))
    product = check(lambda m: lax.associative_scan(np.matmul, m), matrices)
    assert product[-1].tolist() == np.linalg.multi_dot(matrices).tolist()
    check(lambda x: lax.associative_scan(np.maximum, x, axis=-1), np.array([[3, 1, 4], [1, 5, 2]]))


def test_bodies_own_what_they_are_given():
    def write(x):
        x[0] = 7
        return x

    for run in (lambda f: f, numhlo.jit):
        x = np.zeros(3)
        assert run(lambda p, x: lax.cond(p, write, write, x))(True, x).tolist() == [7, 0, 0]
        assert run(lambda x: lax.fori_loop(0, 2, lambda i, c: write(c), x))(x).tolist() == [7, 0, 0]
        assert run(lambda x: lax.scan(lambda c, _: (write(c), c), x, length=2)[1])(x).tolist() == [[7, 0, 0]] * 2
        assert x.tolist() == [0, 0, 0]


MISTAKES = {
    "cond: true_fun and false_fun return different shapes at ['k']\n"
    "  at test_control_flow.py:LINE in <lambda>:  SOURCE\n"
    "  true_fun returns float64[3], false_fun returns float64[2]; return arrays of one shape from both": (
        lambda x: lax.cond(x[0] > 0, lambda: {"k": x}, lambda: {"k": x[:2]}),
        ControlFlowTypeError,
    ),
    "cond: true_fun and false_fun return different structures\n"
    "  at test_control_flow.py:LINE in <lambda>:  SOURCE\n"
    "  true_fun returns (*, *), false_fun returns *; return the same containers with the same keys from both": (
        lambda x: lax.cond(x[0] > 0, lambda: (x, x), lambda: x),
        ControlFlowTypeError,
    ),
    "cond: the predicate must be a scalar, got bool[3]\n"
    "  at test_control_flow.py:LINE in <lambda>:  SOURCE\n"
    "  reduce it first, with .all() or .any(), or use where()": (
        lambda x: lax.cond(x > 0, lambda: x, lambda: x),
        ControlFlowTypeError,
    ),
    "while_loop: the result of cond_fun must be a bool scalar, got float64[]\n"
    "  at test_control_flow.py:LINE in <lambda>:  SOURCE\n"
    "  compare it: x != 0": (
        lambda x: lax.while_loop(lambda c: c - 3, lambda c: c + 1, x[0]),
        ControlFlowTypeError,
    ),
    "while_loop: the body changes the type of the carry at [1]\n"
    "  at test_control_flow.py:LINE in <lambda>:  SOURCE\n"
    "  it is float64[3] before the body and float64[1,3] after it; "
    "start from the type that the body returns, or convert with .astype in the body": (
        lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1][None]), (0, x)),
        ControlFlowTypeError,
    ),
    "fori_loop: the body changes the type of the carry\n"
    "  at test_control_flow.py:LINE in <lambda>:  SOURCE\n"
    "  it is float64[3] before the body and float32[3] after it; "
    "start from the type that the body returns, or convert with .astype in the body": (
        lambda x: lax.fori_loop(0, 3, lambda i, c: c.astype(np.float32), x),
        ControlFlowTypeError,
    ),
    "scan: the body changes the structure of the carry\n"
    "  at test_control_flow.py:LINE in <lambda>:  SOURCE\n"
    "  it takes {'a': *} and returns *; return what the body takes: the same containers with the same keys": (
        lambda x: lax.scan(lambda c, y: (y, y), {"a": 0.0}, x),
        ControlFlowTypeError,
    ),
    "scan: the body returns *\n"
    "  at test_control_flow.py:LINE in <lambda>:  SOURCE\n"
    "  it must return a pair: the new carry, and what to stack; return (carry, None) where there is nothing to stack": (
        lambda x: lax.scan(lambda c, y: c + y, 0.0, x),
        ControlFlowTypeError,
    ),
    "scan: the numbers of slices differ\n"
    "  at test_control_flow.py:LINE in <lambda>:  SOURCE\n"
    "  length has 5, xs['x'] has 3; make the first axes equal": (
        lambda x: lax.scan(lambda c, y: (c, c), 0.0, {"x": x}, length=5),
        ArgumentError,
    ),
    "can't write into float64[] here: it was made outside this traced function or loop body\n"
    "  at test_control_flow.py:LINE in MUTATE:  x[0] = 1.0\n"
    "  a body's effects on outer arrays would be lost or run an unknown number of times; "
    "pass the array in as an argument or carry, and return the new one": (
        lambda x: lax.fori_loop(0, 3, lambda i, c: mutate(x), 0.0),
        MutationError,
    ),
}


def mutate(x):
    x[0] = 1.0
    return 0.0


@pytest.mark.parametrize("text", MISTAKES, ids=lambda t: t.splitlines()[0][:60])
def test_mistakes(text):
    fun, error = MISTAKES[text]
    with pytest.raises(error) as caught:
        numhlo.jit(fun)(np.ones(3))
    lines = str(caught.value).splitlines()
    expected = text.splitlines()
    assert [lines[0], *lines[2:]] == [expected[0], *expected[2:]]
    assert lines[1].startswith("  at test_control_flow.py:") and " in " in lines[1]
    if "MUTATE" in text:
        assert lines[1].endswith(" in mutate:  x[0] = 1.0")


def test_a_condition_is_a_bool_outside_jit_too():
    for test in (lambda c: c - 3, lambda c: np.float64(c < 3), lambda c: np.array([c < 3])):
        with pytest.raises(ControlFlowTypeError, match="the result of cond_fun must be a bool scalar"):
            lax.while_loop(test, lambda c: c + 1, 0.0)


def test_carries_keep_their_types_outside_jit_too():
    x = np.zeros(2)
    for loop in (
        lambda body: lax.scan(lambda c, _: (body(c), 0), x, np.arange(2)),
        lambda body: lax.fori_loop(0, 2, lambda _, c: body(c), x),
        lambda body: lax.while_loop(lambda c: True, body, x),
    ):
        with pytest.raises(ControlFlowTypeError, match=r"it is float64\[2\] before the body and float64\[3\] after it"):
            loop(lambda c: np.zeros(3))
        with pytest.raises(ControlFlowTypeError, match="the body changes the structure of the carry"):
            loop(lambda c: (c, c))
    assert lax.fori_loop(0, 2, lambda i, c: c + 0.5, 0) == 1.0  # as in a trace, Python's numbers are weak


def test_bodies_have_functional_updates_outside_jit():
    x = np.arange(4.0)
    step = lambda c, row: (c.at[0].add(row.at[1].set(5.0).sum()), None)
    assert lax.scan(step, x, np.ones((2, 3)))[0][0] == 14
    assert lax.fori_loop(0, 2, lambda i, c: c.at[i].set(9.0), x).tolist() == [9, 9, 2, 3]
    assert lax.while_loop(lambda c: c[0] < 3, lambda c: c.at[0].add(1), x)[0] == 3
    assert lax.cond(True, lambda c: c.at[1].set(0.0), lambda c: c, x).tolist() == [0, 0, 2, 3]


def traces_of_a_loop(step, initial):
    """Return how often a loop's body is traced, and the dtype of a carry that begins as a Python number."""
    count = 0

    def counted(_, state):
        nonlocal count
        count += 1
        return step(*state)

    found = numhlo.jit(lambda x: lax.fori_loop(0, 3, counted, (x, initial)))(np.arange(4.0, dtype="f4"))
    return count, found[1].dtype


def test_a_carry_that_begins_as_a_number_costs_a_trace_only_where_the_body_asks():
    assert traces_of_a_loop(lambda x, _: (x * 2, x.astype("f8").max()), 0.0) == (1, np.float64)
    assert traces_of_a_loop(lambda x, y: (x + y.astype("f4"), x.astype("f8").max()), 0.0) == (1, np.float64)
    assert traces_of_a_loop(lambda x, y: (x * y, x.max()), 0.0) == (2, np.float32)
    assert traces_of_a_loop(lambda x, _: (x * 2, x.max()), 0) == (2, np.float32)
    assert traces_of_a_loop(lambda x, n: (x * n, n + 1), 1) == (1, np.int64)


def test_scalars_in_bodies_are_no_arrays():
    """``t += 1`` binds the name of a scalar again: what had the old one keeps it."""

    def counts_down(x):
        n, total = x.argmax(), 0
        while n > 0:
            before = n
            n -= 1
            total += before
        return n, total

    def lane(v):
        before = v
        v += 1
        return before * v, np.isscalar(v)

    def running(x):
        def step(total, v):
            before = total
            total += v
            v -= 1
            return total, before + v

        return lax.scan(step, x.sum(), x)

    def looped(x):
        def body(state):
            n, total = state
            before = n
            n -= 1
            return n, total + before

        return lax.while_loop(lambda state: state[0] > 0, body, (x.argmax(), 0))

    x = np.array([1.0, 2.0, 4.0, 8.0])
    for fun, options in ((counts_down, {"autograph": True}), (running, {}), (looped, {})):
        found, expected = numhlo.jit(fun, **options)(x), fun(x)
        for a, b in zip(tree_leaves(found), tree_leaves(expected), strict=True):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(numhlo.vmap(lane)(x)[0], x * (x + 1))
    assert numhlo.vmap(lane)(x)[1].all()
    assert numhlo.grad(lambda v: lane(v)[0])(np.float64(3.0)) == 7.0

    def arrays(x):
        def step(total, _):
            seen = total
            total += 1
            return total, seen * 1

        return lax.scan(step, x, None, 2)

    found = numhlo.jit(arrays)(np.array(2.0))
    assert found[0] == 4.0 and found[1].tolist() == [3.0, 4.0]
