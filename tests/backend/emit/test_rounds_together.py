"""Rounds that run eight at a time do what they do one by one, wherever the places lie that they read and write."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest

import numhlo
import numhlo.numpy as nnp
from numhlo import lax
from numhlo.backend.compiler.kernel_compiler import function_of_source
from numhlo.backend.emit.kernel_text import Block, KernelText
from numhlo.backend.emit.rounds_together import TOGETHER, together
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.passes.pipeline import optimize
from numhlo.lowering.text import parse
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import plan

STEP = ["add9 = add(c, to_i64(1))", "c = add9"]
ROUNDS: dict[str, list[str | Block]] = {
    "row, row and one element": [
        "at0 = i + c",
        "x0 = load_f64(a, at0)",
        "x1 = load_f64(a, s)",
        "at2 = k + c",
        "x2 = load_f64(a, at2)",
        "multiply0 = x1 * 3.0",
        "add0 = multiply0 + x2",
        "minimum0 = quick_minimum(x0, add0)",
        "store_f64(a, at0, minimum0)",
    ],
    "two stores, neighbours": [
        "add0 = add(c, to_i64(1))",
        "at0 = k + add0",
        "x0 = load_f64(a, at0)",
        "at1 = i + c",
        "store_f64(a, at1, x0)",
        "at2 = i + add0",
        "store_f64(b, c, x0)",
        "at3 = s + c",
        "store_f64(b, at3, x0)",
    ],
    "the counter as a number": ["x0 = load_f64(a, s)", "value0 = c * 2 + x0", "store_f64(a, c, value0)"],
}


def branch(header: str, *items: str) -> Block:
    """Return a block of statements."""
    block = Block(header)
    block.items.extend(items)
    return block


ROUNDS["a branch that writes over what was read"] = [
    "at0 = i + c",
    "x0 = load_f64(a, at0)",
    "x1 = load_f64(a, s)",
    "at1 = k + c",
    "x2 = load_f64(a, at1)",
    "compare0 = x1 * 0.5 + x2 < x0",
    branch("if compare0:", "at2 = i + c", "store_f64(a, at2, x1 * 0.5 + x2)"),
    branch("else:"),
]

HEAD = """
from numhlo.backend.primitives import add, address, load_f64, minimum, number, quick_minimum, select, store_f64, to_i64

def loop(ctx, bufs, dims, lo, hi):
    a, b = address(bufs, 0), address(bufs, 1)
    i, k, s = number(dims, 0), number(dims, 1), number(dims, 2)
    c, end = lo, hi
"""


def _loop_of(items: list[str | Block]) -> Callable[..., None]:
    """Return a kernel of some statements."""
    body = Block("if True:")
    body.items.extend(items)
    lines: list[str] = []
    body.render("    ", lines)
    return function_of_source("loop", HEAD + "\n".join(lines))


def _results(loop: Callable[..., None], start: int, end: int, *places: int) -> list[float]:
    arrays, dims = np.arange(120.0).reshape(2, 60) ** 2 % 17, np.array(places)
    table = np.array([row.ctypes.data for row in arrays])
    loop(0, table.ctypes.data, dims.ctypes.data, start, end)
    return arrays.ravel().tolist()


@pytest.mark.parametrize("name", ROUNDS)
def test_any_places(name: str) -> None:
    plain = Block("while c < end:")
    plain.items.extend([*ROUNDS[name], *STEP])
    written = together(KernelText(lambda _: 0), [*ROUNDS[name], *STEP], "c", "end")
    assert written is not None
    eight, one = _loop_of(written), _loop_of([plain])
    ranges = [(0, 0), (0, 1), (0, 8), (3, 24)]
    for (start, end), *places in itertools.product(ranges, (0, 5, 9, 20), (0, 4, 9, 23), (0, 9, 12, 30)):
        assert _results(eight, start, end, *places) == _results(one, start, end, *places), (start, end, places)


@pytest.mark.parametrize(
    "items",
    [
        ["at0 = i + c", "x0 = load_f64(b, at0)", "store_f64(a, c, x0)"],
        ["add0 = add(c, to_i64(1))", "x0 = load_f64(a, c)", "x1 = load_f64(a, i)", "store_f64(a, add0, x0 + x1)"],
        ["x1 = load_i64(b, c)", "x0 = load_f64(a, x1)", "store_f64(a, c, x0)"],
        ["x0 = load_f64(a, i)", "store_f64(a, k, x0)"],
        ["x0 = load_f64(a, i)", "store_f64(a, c, x0)", "x1 = load_f64(a, k)", "store_f64(a, c, x1)"],
        ["x0 = load_f64(a, i)", "x1 = exp(x0)", "store_f64(a, c, x1)"],
        ["x0 = load_f64(a, i)", Block("if x0 > 0.0:"), "store_f64(a, c, x0)"],
        ["x0 = load_f64(a, i)", "compare0 = x0 > 0.0", branch("if compare0:", "store_f64(a, c, x0)")],
        [
            "x0 = load_f64(a, i)",
            "x1 = load_f64(a, c)",
            "compare0 = x0 > x1",
            branch("if compare0:", "store_f64(a, c, x0)"),
            branch("else:", "store_f64(a, c, x1)"),
        ],
    ],
    ids=[
        "other arrays",
        "the next element",
        "any element",
        "one element",
        "loads behind stores",
        "functions",
        "ifs",
        "not read",
        "two sides",
    ],
)
def test_what_stays_as_it_is(items: list[str | Block]) -> None:
    assert together(KernelText(lambda _: 0), [*items, *STEP], "c", "end") is None
    assert together(KernelText(lambda _: 0), items, "c", "end") is None


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


@pytest.mark.parametrize("function", [shortest, eliminate])
@pytest.mark.parametrize("size", [1, 11])
def test_rows_that_may_be_one_have_the_interpreters_bits(function, size, rng):
    a = rng.normal(size=(size, size))
    a[0, :3], a[-1, -1] = [np.nan, -0.0, np.inf][:size], -0.0
    traced = optimize(parse(numhlo.jit(function).lower(a).as_text()).main)
    program = plan(traced)
    assert any(f"+= {TOGETHER}" in kernel.source for kernel in program.kernels) == (size > 1)
    with np.errstate(all="ignore"):
        (expected,) = interpret(traced, [a])
    (found,) = run_plain(program, [a])
    assert_same_bits(found, np.asarray(expected))
