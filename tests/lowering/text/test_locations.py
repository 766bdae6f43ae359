"""Locations go round: printed back, they are to the official parser what they were."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir

from numhlo import stablehlo
from numhlo.lowering.ir.errors import ParseError, VerificationError
from tests.work import count_calls

FORMS = """#loc = loc(unknown)
#loc1 = loc("file.py":7:3)
#loc4 = loc("deep"("deeper"(#loc1)))
#loc3 = loc(callsite(#loc1 at #loc4))
#loc5 = loc(fused["x", #loc3])
#loc6 = loc(#loc5)
#note = dense<1> : tensor<2xi64>
module @m {
  func.func public @main(%x: tensor<4xf32> {jax.x = true} loc("x"), %y: tensor<4xf32> loc(#loc1)) -> tensor<4xf32> {
    %c = stablehlo.constant dense<0.0> : tensor<f32> loc(#loc)
    %0 = stablehlo.abs %x : tensor<4xf32> loc("name")
    %1 = stablehlo.abs %x : tensor<4xf32> loc("f.py":12:5 to :9)
    %2 = stablehlo.abs %x : tensor<4xf32> loc("f.py":12:5 to 13:9)
    %3 = stablehlo.abs %x : tensor<4xf32> loc("na\\22me"(#loc3))
    %4 = stablehlo.abs %x : tensor<4xf32> loc(callsite("f"("file.py":1:2 to :3) at fused<"x">["a)", unknown]))
    %5 = stablehlo.abs %x : tensor<4xf32> loc(fused<{a = 1 : i32, b = #note}>[#loc1, "b"])
    %6 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      reducer(%a: tensor<f32> loc("aa"), %b: tensor<f32> loc(#loc1)) {
       %z = stablehlo.subtract %a, %b : tensor<f32> loc("z")
       stablehlo.return %z : tensor<f32> loc("ret")
    } loc("red")
    %7 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = false}> ({
    ^bb0(%a: tensor<f32> loc("aa"), %b: tensor<f32> loc(#loc1)):
       %z = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1> loc("z")
       stablehlo.return %z : tensor<i1> loc("ret")
    }) : (tensor<4xf32>) -> tensor<4xf32> loc(#loc6)
    return %0 : tensor<4xf32> loc(#loc)
  } loc(#loc5)
} loc("module")
"""


def described(text):
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        return module.operation.get_asm(enable_debug_info=True, use_local_scope=True)


def of_jax():
    def function(x):
        return jnp.sort(x)[0] + jax.lax.scan(lambda c, r: (c + r, c), x[0], x)[0]

    return jax.jit(function).lower(np.ones((3, 3))).as_text(debug_info=True)


@pytest.mark.parametrize("generic", [False, True])
def test_every_form_is_kept(generic):
    for text in (FORMS, of_jax()):
        module = stablehlo.parse(text)
        printed = module.as_text(generic=generic, locations=True)
        assert described(printed) == described(text)
        assert stablehlo.parse(printed).as_text(generic=generic, locations=True) == printed
        assert "loc(" not in module.as_text(generic=generic)


def test_chains_are_followed_without_recursion():
    def chain(length):
        links = "".join(f'#l{k} = loc("n{k}"(#l{k + 1}))\n' for k in range(length))
        return f"func.func @main() {{ stablehlo.optimization_barrier () loc(#l0) return }} {links}#l{length} = loc(#p)"

    def round_trip(text):
        module = stablehlo.parse(f'{text} #p = loc("a.py":3:4)')
        assert module.graph.main.body.ops[0].location.describe() == "a.py:3"
        return module.as_text(locations=True)

    assert round_trip(chain(3000)).count("loc(") == 3004  # a return and a function besides
    counts = [count_calls(lambda n=n: round_trip(chain(n))) for n in (1000, 2000)]
    assert counts[1] < 2.2 * counts[0]


def test_a_location_of_itself():
    text = "#a = loc(#b) #b = loc(#a) func.func @main() { stablehlo.optimization_barrier () loc(#a) return }"
    with pytest.raises(ParseError, match=r"location alias #[ab] leads to itself"):
        stablehlo.parse(text)


@pytest.mark.parametrize(
    ("location", "where"),
    {
        "": "m.mlir:2:8",
        "loc(unknown)": "m.mlir:2:8",
        "loc(#unknown)": "m.mlir:2:8",
        'loc("name")': "m.mlir:2:8",
        'loc(callsite("f"("a.py":3:4) at #unknown))': "m.mlir:2:8, from a.py:3:4",
    }.items(),
)
def test_errors_have_the_place_in_the_text_and_where_that_is_from(location, where):
    text = f"""func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> {{
  %0 = stablehlo.slice %x [0:3] : (tensor<2xf32>) -> tensor<3xf32> {location}
  return %0 : tensor<3xf32>
}} #unknown = loc(unknown)"""
    with pytest.raises(VerificationError) as caught:
        stablehlo.parse(text, "m.mlir").verify()
    assert str(caught.value).splitlines()[1] == f"  at {where}"
