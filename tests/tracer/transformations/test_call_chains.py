"""Chains of functions that call the next one twice: transformations look at each function once, not at each call."""

import numpy as np
import pytest

import numhlo
from numhlo import stablehlo
from tests.work import count_calls

ROW = "tensor<2xf32>"
X = np.array([0.5, 0.7], np.float32)

LINKS = {
    "call": f"%{{k}} = func.call @{{f}}(%{{x}}) : ({ROW}) -> {ROW}",
    "composite": f'%{{k}} = stablehlo.composite "own.part" %{{x}} {{{{decomposition = @{{f}}}}}} : ({ROW}) -> {ROW}',
    "scan": f"""%{{k}} = stablehlo.composite "numhlo.scan" %{{x}} {{{{
      composite_attributes = {{{{length = 1 : i64, num_carries = 1 : i64, num_consts = 0 : i64, reverse = false}}}},
      decomposition = @scan_{{f}}}}}} : ({ROW}) -> {ROW}""",
    "while": f"""%i{{k}} = stablehlo.constant dense<0> : tensor<i64>
      %{{k}}:2 = stablehlo.while(%j{{k}} = %i{{k}}, %y{{k}} = %{{x}}) : tensor<i64>, {ROW} cond {{{{
        %n{{k}} = stablehlo.constant dense<1> : tensor<i64>
        %t{{k}} = stablehlo.compare LT, %j{{k}}, %n{{k}} : (tensor<i64>, tensor<i64>) -> tensor<i1>
        stablehlo.return %t{{k}} : tensor<i1>
      }}}} do {{{{
        %o{{k}} = stablehlo.constant dense<1> : tensor<i64>
        %s{{k}} = stablehlo.add %j{{k}}, %o{{k}} : tensor<i64>
        %z{{k}} = func.call @{{f}}(%y{{k}}) : ({ROW}) -> {ROW}
        stablehlo.return %s{{k}}, %z{{k}} : tensor<i64>, {ROW}
      }}}}""",
}


SCANNED = f"""func.func private @scan_{{f}}(%x: {ROW}) -> {ROW} {{{{
  {LINKS["while"].replace("{k}", "w").replace("{x}", "x")}
  return %w#1 : {ROW} }}}}"""
"""What a scan of a function stands for; scans of it share this."""


def chain(kind, count):
    """Return a program of functions, each of which runs the next one twice."""
    result = "#1" if kind == "while" else ""
    lines = []
    for k in range(count):
        first = LINKS[kind].format(k="a", x="x", f=f"f{k + 1}")
        second = LINKS[kind].format(k="b", x=f"a{result}", f=f"f{k + 1}")
        name = "public @main" if k == 0 else f"private @f{k}"
        lines.append(f"func.func {name}(%x: {ROW}) -> {ROW} {{\n{first}\n{second}\nreturn %b{result} : {ROW} }}")
        lines += [SCANNED.format(f=f"f{k + 1}")] if kind == "scan" else []
    sine = f"%0 = stablehlo.sine %x : {ROW}"
    lines.append(f"func.func private @f{count}(%x: {ROW}) -> {ROW} {{ {sine}\nreturn %0 : {ROW} }}")
    return stablehlo.parse("\n".join(lines)).callable("main")


def total(f):
    return lambda x: f(x).sum()


TRANSFORMED = {
    "jvp": lambda f: numhlo.export(lambda x: numhlo.jvp(f, (x,), (x,)), X),
    "grad": lambda f: numhlo.export(numhlo.grad(total(f)), X),
    "vmap": lambda f: numhlo.export(numhlo.vmap(f), np.stack([X, X])),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TRANSFORMED)
@pytest.mark.parametrize("kind", LINKS)
def test_work_is_in_proportion_to_the_text(kind, name):
    transform = TRANSFORMED[name]
    short, long = chain(kind, 18), chain(kind, 21)
    assert count_calls(transform, long) < 4 * count_calls(transform, short)  # there are 8 times as many calls


@pytest.mark.parametrize("kind", LINKS)
def test_derivatives_are_right(kind):
    f = chain(kind, 3)

    def plain(x):
        for _ in range(8):
            x = numhlo.numpy.sin(x)
        return x

    for transform in (numhlo.grad(total(f)), numhlo.vmap(numhlo.grad(lambda x: f(numhlo.numpy.stack([x, x]))[0]))):
        expected = numhlo.grad(total(plain))(X)
        np.testing.assert_allclose(transform(X), expected, rtol=1e-5)


@pytest.mark.slow
def test_deep_derivatives_of_loops_that_share_bodies_are_compiled():
    function = numhlo.vmap(numhlo.grad(total(chain("scan", 11))))
    compiled = numhlo.jit(function).lower(np.stack([X, X])).compile()
    for rows in (np.stack([X, 2 * X]), np.stack([X - 1, 3 * X])):
        slopes, values = np.ones(rows.shape), np.float64(rows)
        for _ in range(2**11):
            slopes, values = slopes * np.cos(values), np.sin(values)
        np.testing.assert_allclose(compiled(rows), slopes, rtol=1e-3)


def loops_in_loops(depth):
    """Return a function of nested loops whose carries begin the same for all lanes."""

    def function(x, level=0):
        if level == depth:
            return numhlo.numpy.sin(x)
        zeros = numhlo.numpy.zeros(2, np.float32)
        return numhlo.lax.while_loop(
            lambda s: s[0] < 2, lambda s: (s[0] + 1, s[1] + function(x, level + 1)), (0, zeros)
        )[1]

    return stablehlo.parse(numhlo.export(function, X).as_text()).callable("main")


def test_loops_in_loops_are_batched_once():
    transform = TRANSFORMED["vmap"]
    short, long = loops_in_loops(6), loops_in_loops(12)
    assert count_calls(transform, long) < 6 * count_calls(transform, short)
    rows = np.stack([X, 2 * X])
    np.testing.assert_allclose(numhlo.vmap(short)(rows), 64 * np.sin(rows), rtol=1e-5)
