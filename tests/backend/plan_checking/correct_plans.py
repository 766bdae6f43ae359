"""Correct plans of one kind each, for tests that break them: chains, loops, branches, updates, subroutines, lists."""

from collections.abc import Sequence

from numhlo.backend.planning import plan
from numhlo.backend.program import Program
from numhlo.lowering.ir import Function
from numhlo.lowering.passes.pipeline import optimize
from numhlo.lowering.text import parse

M = "tensor<64x64xf32>"
S = "tensor<i32>"
B = "tensor<i1>"
LONG = "tensor<1048576xf32>"
DOT = f"contracting_dims = [1] x [0] : ({M}, {M}) -> {M}"

CHAIN = f"""func.func @main(%x: {M}) -> {M} {{
  %a = stablehlo.dot_general %x, %x, {DOT}
  %b = stablehlo.dot_general %a, %x, {DOT}
  %c = stablehlo.dot_general %b, %a, {DOT}
  %d = stablehlo.dot_general %c, %x, {DOT}
  return %d : {M}
}}"""
"""Four products, one after the other; the first is needed until the third is made."""

LOOP = f"""func.func @main(%x: {M}, %w: {M}, %n: {S}) -> ({M}, {M}) {{
  %zero = stablehlo.constant dense<0> : {S}
  %a = stablehlo.dot_general %x, %w, {DOT}
  %b = stablehlo.dot_general %a, %w, {DOT}
  %e = stablehlo.dot_general %b, %b, {DOT}
  %s = stablehlo.dot_general %e, %b, {DOT}
  %0:2 = stablehlo.while(%i = %zero, %y = %s) : {S}, {M}
  cond {{
    %t = stablehlo.compare LT, %i, %n : ({S}, {S}) -> {B}
    stablehlo.return %t : {B}
  }} do {{
    %one = stablehlo.constant dense<1> : {S}
    %j = stablehlo.add %i, %one : {S}
    %z = stablehlo.dot_general %y, %w, {DOT}
    stablehlo.return %j, %z : {S}, {M}
  }}
  %c = stablehlo.dot_general %a, %w, {DOT}
  %d = stablehlo.dot_general %c, %0#1, {DOT}
  return %d, %0#1 : {M}, {M}
}}"""
"""A loop that exchanges two buffers, after a value that dies before it, beside one that is needed behind it."""

COUNTED = LOOP.replace("%n: tensor<i32>", "%unused: tensor<i32>").replace(
    "%zero = ", f"%n = stablehlo.constant dense<9> : {S}\n  %zero = "
)
"""The same loop, of nine iterations: the driver counts itself."""

THREE = f"""func.func @main(%x: {M}, %w: {M}, %n: {S}) -> ({M}, {M}) {{
  %zero = stablehlo.constant dense<0> : {S}
  %k = stablehlo.constant dense<2.5> : {M}
  %0:5 = stablehlo.while(%i = %zero, %y = %x, %z = %w, %u = %w, %v = %k) : {S}, {M}, {M}, {M}, {M}
  cond {{
    %t = stablehlo.compare LT, %i, %n : ({S}, {S}) -> {B}
    stablehlo.return %t : {B}
  }} do {{
    %one = stablehlo.constant dense<1> : {S}
    %j = stablehlo.add %i, %one : {S}
    %p = stablehlo.dot_general %y, %z, {DOT}
    %q = stablehlo.dot_general %z, %u, {DOT}
    %r = stablehlo.dot_general %p, %v, {DOT}
    stablehlo.return %j, %r, %q, %u, %v : {S}, {M}, {M}, {M}, {M}
  }}
  return %0#1, %0#2 : {M}, {M}
}}"""
"""A loop of two parts that change and two that stay: an argument and a constant."""

JOINED = f"""func.func @main(%x: tensor<40xf32>, %w: tensor<40xf32>, %n: {S}) -> (tensor<40xf32>, tensor<40xf32>) {{
  %zero = stablehlo.constant dense<0> : {S}
  %0:3 = stablehlo.while(%i = %zero, %y = %x, %z = %w) : {S}, tensor<40xf32>, tensor<40xf32>
  cond {{
    %t = stablehlo.compare LT, %i, %n : ({S}, {S}) -> {B}
    stablehlo.return %t : {B}
  }} do {{
    %one = stablehlo.constant dense<1> : {S}
    %j = stablehlo.add %i, %one : {S}
    %f = stablehlo.reverse %y, dims = [0] : tensor<40xf32>
    %p = stablehlo.multiply %f, %z : tensor<40xf32>
    %g = stablehlo.reverse %z, dims = [0] : tensor<40xf32>
    %q = stablehlo.add %g, %y : tensor<40xf32>
    stablehlo.return %j, %p, %q : {S}, tensor<40xf32>, tensor<40xf32>
  }}
  return %0#1, %0#2 : tensor<40xf32>, tensor<40xf32>
}}"""
"""A loop that is one kernel, made of the kernels of its steps."""

BRANCHES = f"""func.func @main(%x: {M}, %n: {S}) -> ({M}, {M}) {{
  %a = stablehlo.dot_general %x, %x, {DOT}
  %0:2 = "stablehlo.case"(%n) ({{
    %p = stablehlo.dot_general %a, %x, {DOT}
    stablehlo.return %p, %a : {M}, {M}
  }}, {{
    %p = stablehlo.dot_general %x, %a, {DOT}
    %q = stablehlo.dot_general %p, %a, {DOT}
    stablehlo.return %q, %p : {M}, {M}
  }}) : ({S}) -> ({M}, {M})
  %b = stablehlo.dot_general %0#0, %0#1, {DOT}
  %c = stablehlo.dot_general %b, %a, {DOT}
  return %c, %0#1 : {M}, {M}
}}"""
"""A branch with two results."""

EXCHANGES = f"""func.func @main(%x: {M}, %n: {S}) -> {M} {{
  %a = stablehlo.dot_general %x, %x, {DOT}
  %b = stablehlo.dot_general %x, %a, {DOT}
  %0:2 = "stablehlo.case"(%n) ({{
    stablehlo.return %a, %b : {M}, {M}
  }}, {{
    stablehlo.return %b, %a : {M}, {M}
  }}) : ({S}) -> ({M}, {M})
  %c = stablehlo.dot_general %0#0, %0#1, {DOT}
  return %c : {M}
}}"""
"""A branch of which one side lets two arrays change places, by three copies."""

UPDATE = f"""func.func @main(%x: {M}, %w: {M}) -> ({M}, {M}) {{
  %k = stablehlo.constant dense<3> : {S}
  %a = stablehlo.dot_general %x, %w, {DOT}
  %p = stablehlo.slice %w [0:4, 0:4] : ({M}) -> tensor<4x4xf32>
  %b = stablehlo.dynamic_update_slice %a, %p, %k, %k : ({M}, tensor<4x4xf32>, {S}, {S}) -> {M}
  %c = stablehlo.dot_general %a, %b, {DOT}
  return %c, %b : {M}, {M}
}}"""
"""An array of which a part is replaced while the old one is still needed: it begins with a copy."""

STENCIL = """func.func @main(%x: tensor<400x400xf32>, %n: tensor<i32>) -> tensor<400x400xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<400x400xf32>
  cond {
    %t = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.slice %y [0:398, 1:399] : (tensor<400x400xf32>) -> tensor<398x398xf32>
    %b = stablehlo.slice %y [2:400, 1:399] : (tensor<400x400xf32>) -> tensor<398x398xf32>
    %c = stablehlo.add %a, %b : tensor<398x398xf32>
    %d = stablehlo.dynamic_update_slice %y, %c, %one, %one :
      (tensor<400x400xf32>, tensor<398x398xf32>, tensor<i32>, tensor<i32>) -> tensor<400x400xf32>
    stablehlo.return %j, %d : tensor<i32>, tensor<400x400xf32>
  }
  return %0#1 : tensor<400x400xf32>
}"""
"""A loop that renews the same window of an array in each iteration: it begins with the copy that all of them need."""

CALLS = f"""module {{
  func.func @main(%x: {M}) -> ({M}, {M}) {{
    %a = stablehlo.dot_general %x, %x, {DOT}
    %0 = func.call @twice(%a) : ({M}) -> {M}
    %1 = func.call @twice(%0) : ({M}) -> {M}
    %b = stablehlo.dot_general %1, %a, {DOT}
    return %b, %0 : {M}, {M}
  }}
  func.func private @twice(%y: {M}) -> {M} {{
    %p = stablehlo.dot_general %y, %y, {DOT}
    %q = stablehlo.dot_general %p, %y, {DOT}
    %r = stablehlo.dot_general %q, %p, {DOT}
    return %r : {M}
  }}
}}"""
"""A function that is called twice, as a subroutine where such are small enough to be inlined."""

SUM = f"""func.func @main(%x: {LONG}, %k: tensor<f32>) -> tensor<f32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] :
    ({LONG}, tensor<f32>) -> tensor<f32>
  %r = stablehlo.multiply %s, %k : tensor<f32>
  return %r : tensor<f32>
}}"""
"""A sum in parts: one launch writes sums of blocks into memory of its own, the next one adds them."""

MAP = f"""func.func @main(%x: {LONG}, %y: {LONG}) -> ({LONG}, {LONG}) {{
  %a = stablehlo.tanh %x : {LONG}
  %b = stablehlo.slice %y [0:1048575] : ({LONG}) -> tensor<1048575xf32>
  %one = stablehlo.constant dense<1.0> : tensor<1xf32>
  %c = stablehlo.concatenate %one, %b, dim = 0 : (tensor<1xf32>, tensor<1048575xf32>) -> {LONG}
  %d = stablehlo.add %a, %c : {LONG}
  return %a, %d : {LONG}, {LONG}
}}"""
"""Elementwise kernels that run in chunks; where the first argument is given away, the first one runs in its memory."""


def many_short_launches() -> str:
    """Return a function of launches that become one list."""
    lines = ["%v0 = stablehlo.add %x, %x : tensor<6xf32>"]
    for k in range(1, 30):
        lines += [
            f"%r{k} = stablehlo.reverse %v{k - 1}, dims = [0] : tensor<6xf32>",
            f"%m{k} = stablehlo.reduce(%r{k} init: %zero) applies stablehlo.maximum across dimensions = [0] : "
            "(tensor<6xf32>, tensor<f32>) -> tensor<f32>",
            f"%b{k} = stablehlo.broadcast_in_dim %m{k}, dims = [] : (tensor<f32>) -> tensor<6xf32>",
            f"%v{k} = stablehlo.subtract %r{k}, %b{k} : tensor<6xf32>",
        ]
    body = "\n".join(lines)
    return f"""func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {{
%zero = stablehlo.constant dense<0.0> : tensor<f32>
{body}
return %v29 : tensor<6xf32>
}}"""


def planned(
    text: str, donated: frozenset[int] = frozenset(), written: Sequence[int] = ()
) -> tuple[Program, Function, frozenset[int]]:
    """Return the plan of a function's text, the function, and which arguments are given away."""
    function = parse(text).main
    if "func.call" in text:
        function = optimize(function)  # which decides what is a subroutine
    return plan(function, donated=donated, written=written), function, donated
