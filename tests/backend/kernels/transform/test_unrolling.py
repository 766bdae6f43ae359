"""Iterations that run eight at a time do what they do one by one, wherever the places lie that they read and write."""

import itertools
from textwrap import dedent, indent

import numpy as np
import pytest

import numhlo
import numhlo.numpy as nnp
from numhlo import lax
from numhlo.backend.compiler.kernel_compiler import function_of_source, read_to_lower
from numhlo.backend.compiler.lowering import numba_target
from numhlo.backend.kernels import ir
from numhlo.backend.kernels.text import text_of
from numhlo.backend.kernels.transform.unrolling import TOGETHER, unroll_checked_loops
from numhlo.backend.kernels.verify import verify
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.passes.pipeline import optimize
from numhlo.lowering.text import parse
from tests.backend.kernels.transform.printed import after, printed, read
from tests.backend.plain_engine import assert_same_bits
from tests.backend.programs import plan

HEAD = """
a, b = address(bufs, 0), address(bufs, 1)
i, k, s = number(dims, 0), number(dims, 1), number(dims, 2)
"""
UP_TO_END = """
c = lo
while True:
    compare9 = c < hi
    if not compare9:
        break
    add9 = add(c, to_i64(1))
{body}
    c = add9
"""
IN_STRIPS = """
c = lo
while c < hi:
    stop = min(c + 11, hi)
    while True:
        if c == stop:
            break
        add9 = add(c, to_i64(1))
{body}
        c = add9
    prefetch(b, c)
"""
BODIES = {
    "row, row and one element": """
        at0 = i + c
        x0 = load_f64(a, at0)
        x1 = load_f64(a, s)
        at2 = k + c
        x2 = load_f64(a, at2)
        multiply0 = x1 * 3.0
        add0 = multiply0 + x2
        minimum0 = quick_minimum(x0, add0)
        store_f64(a, at0, minimum0)
    """,
    "two stores, neighbours": """
        add0 = add(c, to_i64(1))
        at0 = k + add0
        x0 = load_f64(a, at0)
        at1 = i + c
        store_f64(a, at1, x0)
        at2 = i + add0
        store_f64(b, c, x0)
        at3 = s + c
        store_f64(b, at3, x0)
    """,
    "the counter as a number": """
        x0 = load_f64(a, s)
        value0 = to_f64(c) * 2.0 + x0
        store_f64(a, c, value0)
    """,
    "the next iteration's counter": """
        x0 = load_f64(a, s)
        store_f64(a, c, to_f64(add9) + x0)
    """,
    "a branch that writes over what was read": """
        at0 = i + c
        x0 = load_f64(a, at0)
        x1 = load_f64(a, s)
        at1 = k + c
        x2 = load_f64(a, at1)
        compare0 = x1 * 0.5 + x2 < x0
        if compare0:
            at2 = i + c
            store_f64(a, at2, x1 * 0.5 + x2)
        else:
            pass
    """,
}


def kernel_of(loop, body):
    """Return the text of a kernel's body."""
    depth = next(len(line) - len(line.lstrip()) for line in loop.splitlines() if "add9" in line)
    return HEAD + loop.replace("{body}", indent(dedent(body).strip("\n"), " " * depth))


def results(function, start, end, *places):
    """Return what a kernel makes of two arrays."""
    arrays, dims = np.arange(120.0).reshape(2, 60) ** 2 % 17, np.array(places)
    table = np.array([row.ctypes.data for row in arrays])
    function(0, table.ctypes.data, dims.ctypes.data, start, end)
    return arrays.ravel().tolist()


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("loop", [UP_TO_END, IN_STRIPS], ids=["up to an end", "in strips"])
def test_any_places(loop, name):
    module = read(kernel_of(loop, BODIES[name]))
    one = function_of_source("kernel", text_of(module))
    assert unroll_checked_loops(module)
    verify(module, numba_target())
    eight = function_of_source("kernel", text_of(module))
    ranges = [(0, 0), (0, 1), (0, 8), (3, 24)]
    for (start, end), *places in itertools.product(ranges, (0, 5, 20), (0, 9, 23), (0, 9, 12, 30)):
        assert results(eight, start, end, *places) == results(one, start, end, *places), (start, end, places)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("at0 = i + c\nx0 = load_f64(b, at0)\nstore_f64(a, c, x0)", id="other arrays"),
        pytest.param(
            "add0 = add(c, to_i64(1))\nx0 = load_f64(a, c)\nx1 = load_f64(a, i)\nstore_f64(a, add0, x0 + x1)",
            id="the next element",
        ),
        pytest.param("x1 = load_i64(b, c)\nx0 = load_f64(a, x1)\nstore_f64(a, c, x0)", id="any element"),
        pytest.param("x0 = load_f64(a, i)\nstore_f64(a, k, x0)", id="one element"),
        pytest.param(
            "x0 = load_f64(a, i)\nstore_f64(a, c, x0)\nx1 = load_f64(a, k)\nstore_f64(a, c, x1)",
            id="loads behind stores",
        ),
        pytest.param("x0 = load_f64(a, i)\nx1 = square_root(x0)\nx2 = floor(x1)\nstore_f64(a, c, x2)", id="functions"),
        pytest.param("x0 = load_f64(a, i)\nif x0 > 0.0:\n    prefetch(a, c)\nstore_f64(a, c, x0)", id="ifs"),
        pytest.param("x0 = load_f64(a, i)\ncompare0 = x0 > 0.0\nif compare0:\n    store_f64(a, c, x0)", id="not read"),
        pytest.param(
            "x0 = load_f64(a, i)\nx1 = load_f64(a, c)\ncompare0 = x0 > x1\n"
            "if compare0:\n    store_f64(a, c, x0)\nelse:\n    store_f64(a, c, x1)",
            id="two sides",
        ),
        pytest.param(
            "p = advance(a, 8 * i)\nx0 = load_f64(p, 0)\nstore_f64(a, c, x0)", id="another pointer to the same array"
        ),
        pytest.param("x0 = load_f64(a, i)\nif x0 > 9.0:\n    break\nstore_f64(a, c, x0)", id="another way out"),
    ],
)
def test_what_stays_as_it_is(body):
    text = kernel_of(UP_TO_END, body)
    found, changed = after(unroll_checked_loops, text)
    assert not changed
    assert found == printed(read(text))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("add9 = add(c, to_i64(1))", "add9 = add(c, to_i64(2))", id="steps of two"),
        pytest.param("c < hi", "c <= hi", id="another test"),
        pytest.param("compare9 = c < hi", "n = load_i64(b, 0)\n    compare9 = c < n", id="a limit that may change"),
        pytest.param("compare9 = c < hi\n    if not compare9:", "if c == hi:", id="may begin behind the limit"),
        pytest.param("c = add9", "c = add9\n    c = min(c, hi)", id="a step behind the step"),
        pytest.param("    c = add9", "    s = add(s, to_i64(1))\n    c = add9", id="two variables"),
    ],
)
def test_other_loops_stay_as_they_are(old, new):
    body = BODIES["the counter as a number"]
    assert old in kernel_of(UP_TO_END, body)
    text = kernel_of(UP_TO_END, body).replace(old, new)
    found, changed = after(unroll_checked_loops, text)
    assert not changed
    assert found == printed(read(text))


def test_the_loop_is_split_where_what_all_read_is_written():
    found, changed = after(unroll_checked_loops, kernel_of(UP_TO_END, "x0 = load_f64(a, s)\nstore_f64(a, c + 1, x0)"))
    assert changed
    places = ["c", *[f"c + {k}" for k in range(1, TOGETHER)]]
    eight = "\n".join(f"                store_f64(a, {place} + 1, x0)" for place in places)
    expected = f"""
        a = address(bufs, 0)
        b = address(bufs, 1)
        i = number(dims, 0)
        k = number(dims, 1)
        s = number(dims, 2)
        c = lo
        split = s - 1
        while c < hi:
            cut = hi
            if (c <= split) & (split < cut):
                cut = split + 1
            x0 = load_f64(a, s)
            while c <= cut - 8:
{eight}
                c = c + 8
            while c < cut:
                store_f64(a, c + 1, x0)
                c = c + 1
    """
    assert found == dedent(expected).lstrip("\n").rstrip(" ")


def eliminate(a):
    n = a.shape[0]

    def cell(i, k, j, a):
        return a.at[i, j].set(a[i, j] - a[i, k] / a[k, k] * a[k, j])

    def row(k, i, a):
        return lax.fori_loop(0, n, lambda j, a: cell(i, k, j, a), a)

    return lax.fori_loop(0, n, lambda k, a: lax.fori_loop(0, n, lambda i, a: row(k, i, a), a), a)


def shortest(a):
    n = a.shape[0]

    def cell(i, k, j, a):
        return a.at[i, j].set(nnp.minimum(a[i, j], a[i, k] + a[k, j]))

    def row(k, i, a):
        return lax.fori_loop(0, n, lambda j, a: cell(i, k, j, a), a)

    return lax.fori_loop(0, n, lambda k, a: lax.fori_loop(0, n, lambda i, a: row(k, i, a), a), a)


def is_unrolled(kernel):
    """Return whether a kernel steps over several iterations at once."""
    statements = ir.walk(read_to_lower(kernel.name, kernel.source).entry.body)
    values = [statement.value for statement in statements if isinstance(statement, ir.Assign)]
    return any(isinstance(v, ir.Call) and getattr(v.operands[-1], "value", 0) == TOGETHER for v in values)


@pytest.mark.parametrize("function", [shortest, eliminate])
@pytest.mark.parametrize("size", [1, 11])
def test_rows_that_may_be_one_have_the_interpreters_bits(function, size, rng):
    compiled = numhlo.jit(function)
    for _ in range(3):
        a = rng.normal(size=(size, size))
        a[0, :3], a[-1, -1] = [np.nan, -0.0, np.inf][:size], -0.0
        traced = optimize(parse(numhlo.jit(function).lower(a).as_text()).main)
        assert any(map(is_unrolled, plan(traced).kernels)) == (size > 1)
        with np.errstate(all="ignore"):
            (expected,) = interpret(traced, [a])
        compiled(a)
        compiled.wait()
        assert_same_bits(np.asarray(compiled(a)), np.asarray(expected))
