"""Long programs from elsewhere: the work of reading, checking, optimizing, planning and answering first is linear."""

from __future__ import annotations

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.ir.errors import UnsupportedError
from tests.work import count_calls

ROW, ONE = "tensor<8xf32>", "tensor<1xf32>"
NAMES = ("add", "multiply", "maximum", "subtract")


def function(lines, results, kind=ROW, name="main"):
    """Return the text of a function of one row with these lines, which returns values of one type."""
    values, types = ", ".join(results), ", ".join([kind] * len(results))
    body = "\n".join([*lines, f"return {values} : {types}"])
    return f"func.func @{name}(%x: {ROW}) -> ({types}) {{\n{body}\n}}"


def chain(count):
    lines = [f"%{k} = stablehlo.{NAMES[k % 4]} %{k - 1}, %x : {ROW}" for k in range(1, count)]
    return function([f"%0 = stablehlo.sine %x : {ROW}", *lines], [f"%{count - 1}"])


def calls_in_calls(count):
    texts = [function([f"%0 = stablehlo.negate %x : {ROW}"], ["%0"], name=f"f{count}")]
    for k in range(count):
        lines = [f"%0 = stablehlo.add %x, %x : {ROW}", f"%1 = call @f{k + 1}(%0) : ({ROW}) -> {ROW}"]
        texts.append(function(lines, ["%1"], name=f"f{k}" if k else "main"))
    return "\n".join(texts)


def joined_elements(count):
    lines = [f"%{k} = stablehlo.slice %x [{k % 8}:{k % 8 + 1}] : ({ROW}) -> {ONE}" for k in range(count)]
    values, types = ", ".join(f"%{k}" for k in range(count)), ", ".join([ONE] * count)
    whole = f"tensor<{count}xf32>"
    lines.append(f"%r = stablehlo.concatenate {values}, dim = 0 : ({types}) -> {whole}")
    return function(lines, ["%r"], whole)


def sums_side_by_side(count):
    lines = ["%z = stablehlo.constant dense<0.0> : tensor<f32>"]
    for k in range(count):
        lines += [
            f"%c{k} = stablehlo.constant dense<{k}.0> : {ROW}",
            f"%p{k} = stablehlo.multiply %x, %c{k} : {ROW}",
            f"%s{k} = stablehlo.reduce(%p{k} init: %z) applies stablehlo.add across dimensions = [0]"
            f" : ({ROW}, tensor<f32>) -> tensor<f32>",
        ]
    return function(lines, [f"%s{k}" for k in range(count)], "tensor<f32>")


def sum_of_many_terms(count):
    lines, terms = [f"%y = stablehlo.sine %x : {ROW}"], []
    for k in range(count):
        lines.append(f"%c{k} = stablehlo.constant dense<{k}.5> : {ROW}")
        lines.append(f"%p{k} = stablehlo.power %y, %c{k} : {ROW}")
        terms.append(f"%p{k}")
    while len(terms) > 1:
        first, second, *terms = terms
        terms.append(f"%t{len(lines)}")
        lines.append(f"{terms[-1]} = stablehlo.add {first}, {second} : {ROW}")
    return function(lines, terms)


LONGER = {calls_in_calls: 90, joined_elements: 60, sums_side_by_side: 60, sum_of_many_terms: 60}
CASES = [(chain, 150), *[pytest.param(p, n, marks=pytest.mark.slow, id=p.__name__) for p, n in LONGER.items()]]


@pytest.mark.parametrize(("program", "count"), CASES)
def test_work_is_linear_and_kernels_stay_short(program, count):
    modules = []
    x = np.linspace(0.1, 1, 8, dtype=np.float32)

    def work(count):
        modules.append(stablehlo.parse(program(count)))
        return count_calls(lambda: modules[-1].run("main", x))

    few, many = work(count), work(4 * count)
    assert many < 5 * few
    (made,) = modules[-1].functions["main"].programs.values()
    assert max(kernel.source.count("\n") for kernel in made.kernels) < 5000
    for found, wanted in zip(*(getattr(modules[0], how)("main", x) for how in ("run", "interpret")), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.usefixtures("first_answers")
def test_ops_that_read_one_array_are_of_several_kernels():
    """A kernel of thousands of powers would not be compiled within the time that a compilation may take."""
    module = stablehlo.parse(sum_of_many_terms(1000))
    module.run("main", np.linspace(0.1, 1, 8, dtype=np.float32))
    (made,) = module.functions["main"].programs.values()
    assert max(kernel.source.count("\n") for kernel in made.kernels) < 2100  # 400 powers, each with its number
    assert len(made.executable.table.instructions) <= 12  # terms are computed with their sums, though they come first


def test_calls_too_deep_for_the_interpreter():
    with pytest.raises(UnsupportedError) as caught:
        stablehlo.parse(calls_in_calls(600)).interpret("main", np.ones(8, np.float32))
    assert str(caught.value) == (
        "@main calls functions inside functions too deep for the interpreter\n"
        f"  at {caught.value.where.describe()}\n"
        "  it goes as deep as they do, and Python allows it no more; "
        "call run, which compiles; or allow more by sys.setrecursionlimit"
    )


def loops_in_loops(depth):
    line, value = f"%y = stablehlo.add %c{depth - 1}, %x : {ROW}", "%y"
    for k in reversed(range(depth)):
        carried = f"%c{k - 1}" if k else "%x"
        line = f"""%w{k}:2 = stablehlo.while(%i{k} = %zero, %c{k} = {carried}) : tensor<i32>, {ROW}
          cond {{
            %t = stablehlo.compare LT, %i{k}, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %t : tensor<i1>
          }} do {{
            {line}
            %j = stablehlo.add %i{k}, %one : tensor<i32>
            stablehlo.return %j, {value} : tensor<i32>, {ROW}
          }}"""
        value = f"%w{k}#1"
    numbers = [f"%{name} = stablehlo.constant dense<{n}> : tensor<i32>" for name, n in (("zero", 0), ("one", 1))]
    return function([*numbers, line], [value])


@pytest.mark.usefixtures("first_answers")
def test_loops_nested_deeper_than_python_allows():
    x = np.arange(8, dtype=np.float32)
    module = stablehlo.parse(loops_in_loops(30))
    np.testing.assert_array_equal(module.run("main", x)[0], 2 * x)
    (made,) = module.functions["main"].programs.values()
    for kernel in made.kernels:
        compile(kernel.source, "kernel", "exec")
