"""Call graphs that double at every level stay as small as their text; ordinary programs have no calls left."""

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.control_flow import CALL, COMPOSITE
from numhlo.lowering.ops.elementwise import SINE
from numhlo.lowering.ops.loops import make_scan
from numhlo.lowering.ops.primitive import make_op
from numhlo.lowering.passes import outlining
from numhlo.lowering.passes.outlining import MOST_OPS, SMALL, find_outlined, is_outlined
from numhlo.lowering.passes.pipeline import optimize
from tests.oracle import official_parse

T = "tensor<4xf64>"


def doubling(levels, call="call @f{}(%{}) : (tensor<4xf64>) -> tensor<4xf64>"):
    """Return a program in which each function has two calls of the next one, in two branches."""
    texts = []
    for k in range(levels):
        first, second = call.format(k + 1, "x"), call.format(k + 1, "n")
        texts.append(f"""func.func {"public" if k == 0 else "private"} @{"main" if k == 0 else f"f{k}"}(%x: {T}) -> {T} {{
          %z = stablehlo.constant dense<0.0> : tensor<1xf64>
          %s = stablehlo.slice %x [{k % 4}:{k % 4 + 1}] : ({T}) -> tensor<1xf64>
          %c = stablehlo.compare LT, %s, %z : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xi1>
          %p = stablehlo.reshape %c : (tensor<1xi1>) -> tensor<i1>
          %n = stablehlo.negate %x : {T}
          %o = "stablehlo.if"(%p) ({{
            %1 = {first}
            %2 = stablehlo.add %1, %1 : {T}
            stablehlo.return %2 : {T}
          }}, {{
            %1 = {second}
            %2 = stablehlo.subtract %1, %x : {T}
            stablehlo.return %2 : {T}
          }}) : (tensor<i1>) -> {T}
          return %o : {T}
        }}""")
    texts.append(f"func.func private @f{levels}(%x: {T}) -> {T} {{ return %x : {T} }}")
    return "\n".join(texts)


def plain(levels, x, level=0):
    if level == levels:
        return x
    below = plain(levels, x if x[level % 4] < 0 else -x, level + 1)
    return below + below if x[level % 4] < 0 else below - x


CALLS = {
    "call": "func.call @f{}(%{}) : (tensor<4xf64>) -> tensor<4xf64>",
    "composite": 'stablehlo.composite "my.f" %{1} {{decomposition = @f{0}}} : (tensor<4xf64>) -> tensor<4xf64>',
}


@pytest.mark.parametrize("kind", CALLS)
def test_doubling_graphs_stay_small(kind):
    levels = 24
    optimized = optimize(stablehlo.parse(doubling(levels, CALLS[kind])).graph.main)
    ops = [op for function in optimized.reached() for op in function.body.walk()]
    assert len(ops) < 2 * levels * SMALL
    assert all(is_outlined(op.attributes["callee"]) for op in ops if op.definition is CALL)
    assert COMPOSITE not in {op.definition for op in ops}


def test_doubling_graphs_run(monkeypatch):
    monkeypatch.setattr(outlining, "SMALL", 10)
    module, x = stablehlo.parse(doubling(30)), np.array([0.5, -1.0, 2.0, -4.0])
    for results in (module.run("main", x), module.interpret("main", x)):
        np.testing.assert_array_equal(results[0], plain(30, x))


def test_ordinary_programs_are_inlined():
    levels = 6
    main = stablehlo.parse(doubling(levels)).graph.main
    assert find_outlined(main) == []
    assert CALL not in {op.definition for op in optimize(main).body.walk()}
    large = stablehlo.parse(doubling(20)).graph.main
    names = [f.name for f in find_outlined(large)]
    assert names == sorted(names, key=lambda name: -int(name[1:])) and names  # callees before callers
    assert MOST_OPS < 2**20


def test_what_stays_is_printed():
    optimized = optimize(stablehlo.parse(doubling(20)).graph.main)
    text = stablehlo.Module(stablehlo.ir.Module(list(reversed(optimized.reached())))).as_text()
    assert "attributes {numhlo.outlined = true}" in official_parse(text)


def scans_of_scans(levels):
    """Return a function of two scans of one decomposition, whose body is such a function again."""
    row = TensorType((4,), np.dtype(np.float64))
    parameters = {"length": 1, "num_consts": 0, "num_carries": 1, "reverse": False}
    builder = FunctionBuilder("innermost", [row])
    body = builder.finish([builder.op(SINE, builder.arguments[0])])
    for level in range(levels):
        scan = {"name": "numhlo.scan", "composite_attributes": parameters, "decomposition": make_scan(body, 1, 0, 1)}
        builder = FunctionBuilder(f"level_{level}", [row])
        (value,) = builder.arguments
        for _ in range(2):
            (value,) = builder.append(make_op(COMPOSITE, [value], scan, (), [row]))
        body = builder.finish([value])
    return body


def test_bodies_of_loops_that_stand_in_several_places_stay():
    levels = 24
    main = scans_of_scans(levels)
    assert find_outlined(main)
    optimized = optimize(main)
    assert sum(1 for function in optimized.reached() for _ in function.body.walk()) < 2 * levels * SMALL
    assert find_outlined(scans_of_scans(4)) == []
