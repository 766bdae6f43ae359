"""What each pass must do, what it must leave alone, and that optimized programs mean the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numhlo
import numhlo.numpy as nnp
from numhlo import lax
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import Function
from numhlo.lowering.passes import optimize
from numhlo.lowering.text import parse

TENSOR = "tensor<4xf32>"


def optimized(body: str, arguments: str = f"%x: {TENSOR}, %y: {TENSOR}") -> list[str]:
    """Return the names of the ops that are left of a function's body."""
    function = parse(f"func.func @main({arguments}) -> {result_of(body)} {{\n{body}\n}}").main
    return names(optimize(function))


def result_of(body: str) -> str:
    line = body.strip().splitlines()[-1]
    return "(" + line.split(" : ", 1)[1] + ")"


def names(function: Function) -> list[str]:
    return [op.definition.name for op in function.body.ops]


def unary(*lines: str, result: str = TENSOR) -> str:
    return "\n".join([*lines, f"return %r : {result}"])


FIRES = {
    "multiply by one": (
        unary("%c = stablehlo.constant dense<1.0> : tensor<4xf32>", "%r = stablehlo.multiply %x, %c : tensor<4xf32>"),
        [],
    ),
    "subtract zero": (
        unary("%c = stablehlo.constant dense<0.0> : tensor<4xf32>", "%r = stablehlo.subtract %x, %c : tensor<4xf32>"),
        [],
    ),
    "add minus zero": (
        unary("%c = stablehlo.constant dense<-0.0> : tensor<4xf32>", "%r = stablehlo.add %x, %c : tensor<4xf32>"),
        [],
    ),
    "negate twice": (unary("%a = stablehlo.negate %x : tensor<4xf32>", "%r = stablehlo.negate %a : tensor<4xf32>"), []),
    "square": (
        unary("%c = stablehlo.constant dense<2.0> : tensor<4xf32>", "%r = stablehlo.power %x, %c : tensor<4xf32>"),
        ["multiply"],
    ),
    "integers to the fifth power": (
        unary(
            "%n = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>",
            "%c = stablehlo.constant dense<5> : tensor<4xi32>",
            "%r = stablehlo.power %n, %c : tensor<4xi32>",
            result="tensor<4xi32>",
        ),
        ["convert", "multiply", "multiply", "multiply"],
    ),
    "two to the power of integers": (
        unary(
            "%n = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>",
            "%c = stablehlo.constant dense<2> : tensor<4xi32>",
            "%r = stablehlo.power %c, %n : tensor<4xi32>",
            result="tensor<4xi32>",
        ),
        ["convert", "constant", "broadcast_in_dim", "shift_left"],
    ),
    "complex square": (
        unary(
            "%z = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>",
            "%c = stablehlo.constant dense<(2.0, 0.0)> : tensor<4xcomplex<f32>>",
            "%r = stablehlo.power %z, %c : tensor<4xcomplex<f32>>",
            result="tensor<4xcomplex<f32>>",
        ),
        ["complex", "multiply"],
    ),
    "select between equals": (
        unary(
            "%c = stablehlo.compare LT, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
            "%r = stablehlo.select %c, %x, %x : tensor<4xi1>, tensor<4xf32>",
        ),
        [],
    ),
    "selects by one mask": (
        unary(
            "%c = stablehlo.compare LT, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
            "%a = stablehlo.select %c, %x, %y : tensor<4xi1>, tensor<4xf32>",
            "%n = stablehlo.negate %x : tensor<4xf32>",
            "%b = stablehlo.select %c, %a, %n : tensor<4xi1>, tensor<4xf32>",
            "%d = stablehlo.select %c, %y, %b : tensor<4xi1>, tensor<4xf32>",
            "%r = stablehlo.select %c, %d, %d : tensor<4xi1>, tensor<4xf32>",
        ),
        ["compare", "negate", "select"],
    ),
    "selects by two masks": (
        unary(
            "%c = stablehlo.compare LT, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
            "%d = stablehlo.compare GT, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
            "%a = stablehlo.select %d, %x, %y : tensor<4xi1>, tensor<4xf32>",
            "%r = stablehlo.select %c, %a, %y : tensor<4xi1>, tensor<4xf32>",
        ),
        ["compare", "compare", "select", "select"],
    ),
    "repeat along two axes": (
        unary(
            "%a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>",
            "%b = stablehlo.reshape %a : (tensor<4x3xf32>) -> tensor<12xf32>",
            "%r = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<12xf32>) -> tensor<5x12xf32>",
            result="tensor<5x12xf32>",
        ),
        ["broadcast_in_dim", "reshape"],
    ),
    "transpose twice": (
        unary(
            "%a = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>",
            "%b = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>",
            "%c = stablehlo.transpose %b, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>",
            "%r = stablehlo.reshape %c : (tensor<2x2xf32>) -> tensor<4xf32>",
        ),
        [],
    ),
    "slice of a slice": (
        unary(
            "%a = stablehlo.slice %x [0:4:2] : (tensor<4xf32>) -> tensor<2xf32>",
            "%r = stablehlo.slice %a [1:2] : (tensor<2xf32>) -> tensor<1xf32>",
            result="tensor<1xf32>",
        ),
        ["slice"],
    ),
    "slice of a concatenation": (
        unary(
            "%a = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>",
            "%r = stablehlo.slice %a [4:8] : (tensor<8xf32>) -> tensor<4xf32>",
        ),
        [],
    ),
    "constant starts": (
        unary(
            "%i = stablehlo.constant dense<9> : tensor<i64>",
            "%r = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<i64>) -> tensor<2xf32>",
            result="tensor<2xf32>",
        ),
        ["slice"],
    ),
    "exact conversions": (
        unary(
            "%a = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf64>",
            "%r = stablehlo.convert %a : (tensor<4xf64>) -> tensor<4xf32>",
        ),
        [],
    ),
    "equal ops": (
        unary(
            "%a = stablehlo.sine %x : tensor<4xf32>",
            "%b = stablehlo.sine %x : tensor<4xf32>",
            "%r = stablehlo.add %a, %b : tensor<4xf32>",
        ),
        ["sine", "add"],
    ),
    "folding": (
        unary(
            "%a = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>",
            "%b = stablehlo.add %a, %a : tensor<4xf32>",
            "%r = stablehlo.multiply %x, %b : tensor<4xf32>",
        ),
        ["constant", "multiply"],
    ),
    "dead ops": (unary("%a = stablehlo.sine %x : tensor<4xf32>", "%r = stablehlo.add %x, %y : tensor<4xf32>"), ["add"]),
}

KEEPS = {
    "adding zero turns -0.0 into 0.0": (
        unary("%c = stablehlo.constant dense<0.0> : tensor<4xf32>", "%r = stablehlo.add %x, %c : tensor<4xf32>"),
        "add",
    ),
    "subtracting -0.0 turns -0.0 into 0.0": (
        unary("%c = stablehlo.constant dense<-0.0> : tensor<4xf32>", "%r = stablehlo.subtract %x, %c : tensor<4xf32>"),
        "subtract",
    ),
    "zero times infinity is NaN": (
        unary("%c = stablehlo.constant dense<0.0> : tensor<4xf32>", "%r = stablehlo.multiply %x, %c : tensor<4xf32>"),
        "multiply",
    ),
    "infinity minus infinity is NaN": (unary("%r = stablehlo.subtract %x, %x : tensor<4xf32>"), "subtract"),
    "a power of two as any other number": (
        unary("%c = stablehlo.constant dense<4.0> : tensor<4xf32>", "%r = stablehlo.divide %x, %c : tensor<4xf32>"),
        "divide",
    ),
    "a third is not exact": (
        unary("%c = stablehlo.constant dense<3.0> : tensor<4xf32>", "%r = stablehlo.divide %x, %c : tensor<4xf32>"),
        "divide",
    ),
    "a narrowing conversion loses bits": (
        unary(
            "%a = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf16>",
            "%r = stablehlo.convert %a : (tensor<4xf16>) -> tensor<4xf32>",
        ),
        "convert",
    ),
    "NaN differs from itself": (
        unary(
            "%r = stablehlo.compare EQ, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>", result="tensor<4xi1>"
        ),
        "compare",
    ),
    "a barrier stays": (unary("%r = stablehlo.optimization_barrier %x : tensor<4xf32>"), "optimization_barrier"),
}


@pytest.mark.parametrize("name", FIRES)
def test_patterns_fire(name: str) -> None:
    body, left = FIRES[name]
    assert optimized(body) == left


@pytest.mark.parametrize("name", KEEPS)
def test_patterns_respect_ieee_arithmetic_and_effects(name: str) -> None:
    body, kept = KEEPS[name]
    assert kept in optimized(body)


@pytest.mark.specifies("order")
def test_effects_are_neither_removed_nor_shared() -> None:
    note = "stablehlo.custom_call @note(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()"
    assert optimized(f"{note}\n{note}\nreturn %x : tensor<4xf32>") == ["custom_call", "custom_call"]


def test_calls_are_inlined_and_constant_branches_taken() -> None:
    text = """
    func.func @main(%x: tensor<f64>) -> tensor<f64> {
      %p = stablehlo.constant dense<true> : tensor<i1>
      %0 = "stablehlo.if"(%p) ({
        %1 = func.call @twice(%x) : (tensor<f64>) -> tensor<f64>
        stablehlo.return %1 : tensor<f64>
      }, {
        stablehlo.return %x : tensor<f64>
      }) : (tensor<i1>) -> tensor<f64>
      %2 = call @twice(%0) : (tensor<f64>) -> tensor<f64>
      return %2 : tensor<f64>
    }
    func.func private @twice(%a: tensor<f64>) -> tensor<f64> {
      %0 = stablehlo.add %a, %a : tensor<f64>
      return %0 : tensor<f64>
    }
    """
    function = parse(text).main
    result = optimize(function)
    assert names(result) == ["add", "add"]
    assert interpret(result, [np.float64(3.0)])[0] == 12.0


def test_the_program_as_traced_is_left_unchanged() -> None:
    module = numhlo.jit(lambda x: nnp.sin(x) * 1.0 + nnp.sin(x)).trace(1.0).module
    before = names(module.main)
    optimize(module.main)
    assert names(module.main) == before


def test_observers_see_every_pass() -> None:
    seen: list[tuple[str, int]] = []
    function = numhlo.jit(lambda x: (x * 1.0) * 1.0).trace(np.ones(3)).module.main
    optimize(function, after_pass=lambda name, result: seen.append((name, len(result.body.ops))))
    assert seen == [("rewrite", 2), ("remove_dead_ops", 0)]


def test_what_nobody_needs_is_not_rewritten() -> None:
    seen: list[list[str]] = []
    function = numhlo.jit(lambda x: (nnp.sin(x) + 1, nnp.cos(x))[1]).trace(np.ones(3)).module.main
    optimize(function, after_pass=lambda name, result: seen.append(names(result)))
    assert seen == [["cosine"], ["cosine"]]


def _scan(x: Any) -> Any:
    return lax.scan(lambda c, a: (c * 1.0 + nnp.sin(a) - 0.0, c + nnp.sin(a)), 0.0, x)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "scan body": _scan,
    "while with captures": lambda x: lax.while_loop(lambda s: s.sum() < 100, lambda s: s * 2 + abs(x) * 1.0, x * x),
    "cond": lambda x: lax.cond(x[0] > 0, lambda v: v * 1.0 + v, lambda v: v.T - 0.0, x),
    "softmax": lambda x: nnp.exp(x - x.max()) / nnp.exp(x - x.max()).sum(),
    "indexing": lambda x: x[::2][1:] + x[nnp.argsort(x)][: (len(x) + 1) // 2 - 1],
    "views": lambda x: _views(x.copy()),
    "statistics": lambda x: (x.mean(), x.var(), x.std(), nnp.cumsum(x)[-1]),
}


def _views(x: Any) -> Any:
    half = x[: len(x) // 2]
    half += 1
    x[::2] *= 2
    return x, half.reshape(-1, 1).T


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.specifies("order")
def test_optimized_programs_give_the_same_bits(name: str) -> None:
    x = np.random.default_rng(3).normal(size=9)
    function = numhlo.jit(PROGRAMS[name]).trace(x).module.main
    before, after = interpret(function, [x]), interpret(optimize(function), [x])
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(optimize(function).body.ops) <= len(function.body.ops)


def same_bits(text: str, *arrays: np.ndarray) -> list[str]:
    """Check that optimizing a program does not change what it gives; return the names of the ops that are left."""
    function = parse(text).main
    after = optimize(function)
    for a, b in zip(interpret(function, arrays), interpret(after, arrays), strict=True):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    return names(after)


def test_reducing_no_axes_keeps_the_initial_value_and_the_type() -> None:
    text = """
    func.func @main(%x: tensor<3xf32>, %i: tensor<f32>) -> (tensor<3xf32>, tensor<3xf64>) {
      %a = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [] : (tensor<3xf32>, tensor<f32>)
        -> tensor<3xf32>
      %b = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64>}> ({
        ^bb0(%p: tensor<f64>, %q: tensor<f64>):
          %s = stablehlo.add %p, %q : tensor<f64>
          stablehlo.return %s : tensor<f64>
      }) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf64>
      return %a, %b : tensor<3xf32>, tensor<3xf64>
    }"""
    left = same_bits(text, np.array([-0.0, 1.5, np.inf], np.float32), np.array(0.0, np.float32))
    assert left == ["broadcast_in_dim", "add", "reduce"]


def test_what_has_no_elements_is_a_constant() -> None:
    text = """
    func.func @main(%x: tensor<10xf32>, %e: tensor<0x3xf32>, %i: tensor<0xi32>) -> (
        tensor<0xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<2x4xf32>, tensor<10xf32>, tensor<f32>) {
      %v = stablehlo.constant dense<2.0> : tensor<f32>
      %a = stablehlo.slice %x [0:10:3] : (tensor<10xf32>) -> tensor<4xf32>
      %b = stablehlo.slice %a [4:4] : (tensor<4xf32>) -> tensor<0xf32>
      %c = stablehlo.reduce(%e init: %v) applies stablehlo.add across dimensions = [0]
        : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
      %d = stablehlo.dot_general %e, %e, contracting_dims = [0] x [0]
        : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<3x3xf32>
      %p = stablehlo.pad %e, %v, low = [1, 0], high = [1, 1], interior = [0, 0]
        : (tensor<0x3xf32>, tensor<f32>) -> tensor<2x4xf32>
      %s = "stablehlo.scatter"(%x, %i, %b) <{scatter_dimension_numbers = #stablehlo.scatter<
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
        ^bb0(%l: tensor<f32>, %r: tensor<f32>):
          stablehlo.return %r : tensor<f32>
      }) : (tensor<10xf32>, tensor<0xi32>, tensor<0xf32>) -> tensor<10xf32>
      %g = "stablehlo.gather"(%v, %i) <{dimension_numbers = #stablehlo.gather<>, slice_sizes = array<i64>}>
        : (tensor<f32>, tensor<0xi32>) -> tensor<f32>
      return %b, %c, %d, %p, %s, %g
        : tensor<0xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<2x4xf32>, tensor<10xf32>, tensor<f32>
    }"""
    arrays = np.ones(10, np.float32), np.ones((0, 3), np.float32), np.ones(0, np.int32)
    left = same_bits(text, *arrays)
    assert sorted(left) == ["broadcast_in_dim"] * 3 + ["constant"] * 3


def test_bodies_that_differ_in_types_only_are_not_shared() -> None:
    sort = """
      %{0} = "stablehlo.sort"(%x) <{{dimension = 0 : i64, is_stable = true}}> ({{
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %c = stablehlo.convert %p : (tensor<f32>) -> tensor<{1}>
          %d = stablehlo.convert %q : (tensor<f32>) -> tensor<{1}>
          %l = stablehlo.compare LT, %c, %d : (tensor<{1}>, tensor<{1}>) -> tensor<i1>
          stablehlo.return %l : tensor<i1>
      }}) : (tensor<4xf32>) -> tensor<4xf32>"""
    text = (
        "func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {"
        + sort.format("a", "f64")
        + sort.format("b", "i32")
        + "\nreturn %a, %b : tensor<4xf32>, tensor<4xf32> }"
    )
    assert same_bits(text, np.array([1.9, 1.1, 0.5, 0.25], np.float32)) == ["sort", "sort"]


def test_work_grows_linearly() -> None:
    def chain(n: int) -> Function:
        def fun(x: Any) -> Any:
            for _ in range(n):
                x = nnp.sin(x) * x
            return x

        return numhlo.jit(fun, autograph=False).trace(1.0).module.main

    assert len(optimize(chain(2000)).body.ops) == 4000


def test_state_of_loops_that_nobody_needs_goes(rng):
    """What feeds only itself goes; what the condition, a result, or other state depends on stays."""

    def run(x):
        def body(state):
            count, needed, fed, unread, written = state
            written = written.at[count].set(np.tanh(fed))
            return count + 1, needed + fed, fed * 0.5, np.exp(unread + fed), written

        return lax.while_loop(lambda s: s[0] < 4, body, (0, x, x + 1.0, x, nnp.zeros((4, 4))))[1]

    x = rng.normal(size=4)
    function = optimize(numhlo.jit(run).trace(x).module.main)
    (loop,) = [op for op in function.body.ops if op.definition.name == "while"]
    assert [str(v.type) for v in loop.results] == ["tensor<i64>", "tensor<4xf64>", "tensor<4xf64>"]
    assert "tanh" not in names(function) + [op.definition.name for op in loop.regions[1].ops]
    expected = x + sum((x + 1.0) * 0.5**k for k in range(4))
    np.testing.assert_allclose(interpret(function, [x])[0], expected, rtol=1e-15)
    np.testing.assert_allclose(numhlo.jit(run)(x), expected, rtol=1e-15)
    called = []
    jitted = numhlo.jit(lambda x: lax.fori_loop(0, 3, lambda i, s: (s[0], s[1] + seen(s[1])), (x, x))[0])

    def seen(value):
        return numhlo.io_callback(lambda v: (called.append(v), v)[1], value, value)

    np.testing.assert_array_equal(jitted(x), x)
    np.testing.assert_array_equal(called, [x, 2.0 * x, 4.0 * x])
