"""Branches that change arrays: in the arrays' own memory where nobody reads them afterwards, whatever the sides do."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numhlo.backend.program import Branch, Launch
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.passes.pipeline import optimize
from numhlo.lowering.text import parse
from tests.backend.plain_engine import assert_same_bits, planned, run_plain
from tests.backend.planning.test_control_flow import is_one_kernel
from tests.backend.programs import all_steps, launched, plan

X = (np.arange(180) * 37 % 180 - 90) / 64
FEW = X[:12]


def leave(i, x, y):
    return x, y


def exchange(i, x, y):
    return y, x


def set_one(i, x, y):
    return x.at[i].set(y[i] + 1), y


def set_both(i, x, y):
    return x.at[i + 1].set(x[i] * 0.5), y.at[i].add(x[3])


def set_crosswise(i, x, y):
    return y.at[3].set(x[i]), x.at[i].set(y[3])


def sort_a_part(i, x, y):
    return x.at[2:60].set(jnp.sort(x[30:88])), y.at[i].set(x.sum())


def compute(i, x, y):
    return x * 0.5 + y, y


def turn_around(i, x, y):
    return x[::-1], y - x


def make_anew(i, x, y):
    return jnp.full_like(x, 0.25), y.at[0].set(x[i])


def give_one_twice(i, x, y):
    return x, x


def change_one_in_two_ways(i, x, y):
    return x.at[i].set(9), x.at[i + 1].set(y[0])


def read_as_it_was(i, x, y):
    return x.at[0].set(1).at[2].set(x.sum()), y


def loop(i, x, y):
    return jax.lax.fori_loop(0, 2, lambda k, x: x.at[k].set(jnp.sort(x)[0]) + 0.125, x), y


def loop_with_exchanges(i, x, y):
    return jax.lax.fori_loop(0, i % 4, lambda k, s: (jnp.sort(s[1])[::-1], s[0] + 0.5), (x, y))


def choose_again(i, x, y):
    return jax.lax.cond(x[i] > y[3], lambda: set_both(i, x, y), lambda: sort_a_part(i, *exchange(i, x, y)))


def choose_and_go_on(i, x, y):
    x, y = jax.lax.cond(x[i] > y[3], lambda: set_one(i, x, y), lambda: leave(i, x, y))
    x, y = jax.lax.cond(x[2] > y[i], lambda: compute(i, x, y), lambda: set_both(i, x, y))
    return x.at[1].set(y[2]), y


SIDES = [
    leave, exchange, set_one, set_both, set_crosswise, sort_a_part, compute, turn_around, make_anew, give_one_twice,
    change_one_in_two_ways, read_as_it_was, loop, loop_with_exchanges, choose_again, choose_and_go_on,
]  # fmt: skip
FEW_SIDES = [tuple(np.random.default_rng(seed).permutation(len(SIDES))[: 2 + seed % 2]) for seed in range(12)]


def chosen(sides, i, x, y):
    return jax.lax.switch(i % len(sides), [lambda x, y, side=side: side(i, x, y) for side in sides], x, y)


@pytest.mark.parametrize("numbers", FEW_SIDES)
@pytest.mark.usefixtures("loops_in_steps")
def test_all_kinds_of_sides_in_a_loop(numbers):
    sides = [SIDES[k] for k in numbers]
    planned(lambda x: jax.lax.fori_loop(0, 7, lambda i, s: chosen(sides, i, *s), (x, x * 0.5 + 1)), X)


@pytest.mark.parametrize("numbers", FEW_SIDES)
@pytest.mark.parametrize("still_read", [False, True])
def test_all_kinds_of_sides_in_straight_code(numbers, still_read):
    sides = [SIDES[k] for k in numbers]

    def function(i, x):
        x, y = x * 2, x + 1
        new = chosen(sides, i, x, y)
        newer = chosen(sides[::-1], i, *new)
        return (*newer, x, new[1]) if still_read else newer

    for i in range(len(sides)):
        planned(function, i, X)


@pytest.mark.parametrize("numbers", FEW_SIDES[:6])
def test_all_kinds_of_sides_in_joined_kernels(numbers):
    sides = [SIDES[k] for k in numbers]
    planned(lambda x: jax.lax.fori_loop(0, 7, lambda i, s: chosen(sides, i, *s), (x, x * 0.5 + 1)), X[:100])


IN_PLACE = [leave, set_one, set_both, sort_a_part, compute]


@pytest.mark.usefixtures("loops_in_steps")
@pytest.mark.parametrize("sides", list(itertools.combinations(IN_PLACE, 2)))
def test_sides_that_change_arrays_in_place_copy_nothing(sides):
    def step(i, s):
        x, y = jax.lax.cond(i % 2 == 0, lambda: jax.lax.cond(i > 3, lambda: chosen(sides, i, *s), lambda: s), lambda: s)
        return jax.lax.cond(x[i] > y[i], lambda: compute(i, x, y), lambda: (x, y))

    program = planned(lambda x: jax.lax.fori_loop(0, 7, step, (x, x * 0.5 + 1)), X)
    branches = [s for s in all_steps(program) if isinstance(s, Branch)]
    assert branches
    inside = [s for branch in branches for side in branch.branches for s in side if isinstance(s, Launch)]
    assert not [s for s in inside if s.kernel.name == "copy" and not s.ops]


def fill(free, start):
    """Fill a grid from a place on, with a stack: what is free is read in branches alone."""

    def look(d, place, s):
        seen, stack, size = s
        other = place + d

        def push():
            return seen.at[other].set(True), stack.at[size].set(other), size + 1

        def inside():
            return jax.lax.cond(free[other] & ~seen[other], push, lambda: s)

        return jax.lax.cond((other >= 0) & (other < free.size), inside, lambda: s)

    def step(s):
        seen, stack, size = s
        place = stack[size - 1]
        s = seen, stack, size - 1
        for d in (1, -1, 9, -9):
            s = look(d, place, s)
        return s

    seen = jnp.zeros(free.size, bool).at[start].set(True)
    begin = seen, jnp.zeros(free.size, int).at[0].set(start), 1
    return jax.lax.while_loop(lambda s: s[2] > 0, step, begin)[0]


def test_an_array_that_branches_alone_read_does_not_keep_a_loop_from_being_one_kernel():
    free = np.random.default_rng(3).random(90) > 0.3
    program = planned(fill, free, 44)
    assert is_one_kernel(program)
    assert launched(program).count("copy") <= 3  # zeros and first elements


@pytest.mark.parametrize("x", [X, FEW])
def test_branches_in_branches_change_arrays_in_one_kernel(x):
    def function(i, x):
        x, y = x * 2, x + 1
        x, y = jax.lax.cond(
            i > 0,
            lambda: jax.lax.cond(i > 1, lambda: set_both(i, x, y), lambda: leave(i, x, y)),
            lambda: set_one(i, x, y),
        )
        return jax.lax.cond(x[i] > 0, lambda: set_both(i, *set_one(i, x, y)), lambda: leave(i, x, y))

    for i in range(3):
        program = planned(function, i, x)
        assert not any(isinstance(step, Branch) for step in program.steps)
        assert "copy" not in launched(program)


UNREAD = """func.func public @main(%i: tensor<i64>, %a: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %new = stablehlo.constant dense<7.0> : tensor<1xf32>
  %x = stablehlo.multiply %a, %a : tensor<5xf32>
  %y = stablehlo.reverse %x, dims = [0] : tensor<5xf32>
  %p = stablehlo.compare EQ, %i, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %q = stablehlo.compare EQ, %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r:2 = "stablehlo.if"(%p) ({
    stablehlo.return %x, %y : tensor<5xf32>, tensor<5xf32>
  }, {
    %s:3 = "stablehlo.if"(%q) ({
      stablehlo.return %y, %x, %z : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
    }, {
      stablehlo.return %x, %y, %x : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
    }) : (tensor<i1>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>)
    stablehlo.return %s#FIRST, %s#SECOND : tensor<5xf32>, tensor<5xf32>
  }) : (tensor<i1>) -> (tensor<5xf32>, tensor<5xf32>)
  return %r#0, %r#1 : tensor<5xf32>, tensor<5xf32>
}"""
"""The inner branch has a result that nobody reads, which takes an array's memory like the others."""
UPDATE = """%z = stablehlo.dynamic_update_slice %x, %new, %i : (tensor<5xf32>, tensor<1xf32>, tensor<i64>) -> tensor<5xf32>
      """


@pytest.mark.parametrize(("first", "second"), list(itertools.product(range(3), repeat=2)))
@pytest.mark.parametrize("arrays", list(itertools.permutations("xyz")), ids="".join)
def test_results_that_nobody_reads_are_written_apart_from_the_others(first, second, arrays):
    text = UNREAD.replace("FIRST", str(first)).replace("SECOND", str(second))
    text = text.replace("stablehlo.return %y, %x, %z", UPDATE + "stablehlo.return %{}, %{}, %{}".format(*arrays))
    function = optimize(parse(text).main)
    program = plan(function)
    for i in range(3):
        given = [np.array(i), np.arange(5, dtype=np.float32)]
        for left, right in zip(run_plain(program, given), interpret(function, given), strict=True):
            assert_same_bits(left, np.asarray(right))
