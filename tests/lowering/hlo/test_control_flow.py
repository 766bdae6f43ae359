"""Calls, fusions, loops, branches, tuples; and computations that many instructions name."""

import time

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.hlo.translator import MOST_COPIED
from numhlo.lowering.ir.errors import ParseError
from tests.lowering.hlo.judges import check, entry, normal, same_bits

LOOP = """
cond { s = (s32[], f32[2]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(5)
  ROOT p = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[2]) parameter(0)  i = s32[] get-tuple-element(s), index=0  one = s32[] constant(1)
  j = s32[] add(i, one)  x = f32[2] get-tuple-element(s), index=1  y = f32[2] add(x, x)
  ROOT t = (s32[], f32[2]) tuple(j, y) }
small { i = s32[] parameter(0)  n = s32[] constant(100)  ROOT p = pred[] compare(i, n), direction=LT }
double { i = s32[] parameter(0)  ROOT j = s32[] add(i, i) }
"""
BRANCHES = """
twice { x = f32[2] parameter(0)  ROOT y = f32[2] add(x, x) }
minus { x = f32[2] parameter(0)  ROOT y = f32[2] negate(x) }
same { ROOT x = f32[2] parameter(0) }
"""


def test_loops():
    lines = [
        "x = f32[2] parameter(0)", "z = s32[] constant(0)", "s = (s32[], f32[2]) tuple(z, x)",
        'w = (s32[], f32[2]) while(s), condition=cond, body=body, backend_config={"known_trip_count":{"n":"5"}}',
        "ROOT r = f32[2] get-tuple-element(w), index=1",
    ]  # fmt: skip
    module = check(entry(*lines, before=LOOP), normal(2))
    assert same_bits(module.run("main", np.ones(2, np.float32)), [np.full(2, 32, np.float32)])


def test_a_state_that_is_no_tuple():
    check(
        entry("i = s32[] parameter(0)", "ROOT r = s32[] while(i), condition=small, body=double", before=LOOP),
        np.int32(3),
    )


@pytest.mark.parametrize("index", [-1, 0, 1, 2, 7])
def test_branches_by_index(index):
    lines = ["i = s32[] parameter(0)", "x = f32[2] parameter(1)", "y = f32[2] exponential(x)"]
    line = "ROOT r = f32[2] conditional(i, x, y, x), branch_computations={twice, minus, same}"
    check(entry(*lines, line, before=BRANCHES), np.int32(index), normal(2))


@pytest.mark.parametrize("choice", [True, False])
def test_branches_by_a_predicate(choice):
    lines = ["p = pred[] parameter(0)", "x = f32[2] parameter(1)"]
    line = "ROOT r = f32[2] conditional(p, x, x), true_computation=twice, false_computation=minus"
    check(entry(*lines, line, before=BRANCHES), np.bool_(choice), normal(2))


def test_calls_and_fusions_with_tuples():
    before = """
    inner { p = (f32[2], (f32[2], s32[])) parameter(0)  q = (f32[2], s32[]) get-tuple-element(p), index=1
      a = f32[2] get-tuple-element(q), index=0  b = f32[2] get-tuple-element(p), index=0
      c = f32[2] subtract(a, b)  n = s32[] get-tuple-element(q), index=1  ROOT t = ((f32[2]), s32[]) tuple(u, n)
    }"""
    before = before.replace("ROOT t", "u = (f32[2]) tuple(c)  ROOT t")
    lines = [
        "x = f32[2] parameter(0)", "n = s32[] parameter(1)", "y = f32[2] exponential(x)",
        "a = (f32[2], s32[]) tuple(x, n)", "b = (f32[2], (f32[2], s32[])) tuple(y, a)",
        "c = ((f32[2]), s32[]) call(b), to_apply=inner", "d = ((f32[2]), s32[]) fusion(b), kind=kLoop, calls=inner",
        "e = (f32[2]) get-tuple-element(c), index=0", "f = f32[2] get-tuple-element(e), index=0",
        "g = (f32[2]) get-tuple-element(d), index=0", "h = f32[2] get-tuple-element(g), index=0",
        "m = s32[] get-tuple-element(d), index=1", "k = f32[2] add(f, h)", "ROOT r = (f32[2], s32[]) tuple(k, m)",
    ]  # fmt: skip
    module = stablehlo.from_hlo(entry(*lines, before=before))
    x = normal(2)
    (k, m) = module.interpret("main", x, np.int32(4))
    expected = x - np.exp(x)
    assert same_bits([k, m], [expected + expected, np.int32(4)])
    check(module.as_hlo_text(), x, np.int32(4))


def test_arguments_and_results_that_are_tuples_are_flat():
    text = entry("p = (f32[2], (s32[], pred[])) parameter(0)", "q = f32[2] get-tuple-element(p), index=0",
                 "ROOT t = (f32[2], (f32[2], s32[])) tuple(q, u)")  # fmt: skip
    text = text.replace(
        "ROOT t",
        "b = (s32[], pred[]) get-tuple-element(p), index=1\n c = s32[] get-tuple-element(b), index=0\n"
        " u = (f32[2], s32[]) tuple(q, c)\n ROOT t",
    )
    (function,) = stablehlo.from_hlo(text).functions.values()
    assert (
        str(function.source)
        == "<function @main(tensor<2xf32>, tensor<i32>, tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>, tensor<i32>)>"
    )


def test_barriers_and_tokens():
    lines = [
        "x = f32[2] parameter(0)", "n = s32[] constant(3)", "t = (f32[2], s32[]) tuple(x, n)",
        "b = (f32[2], s32[]) opt-barrier(t)", "y = f32[2] get-tuple-element(b), index=0", "k = token[] after-all()",
        "l = token[] after-all(k, k)", "z = f32[2] add-dependency(y, l)", "ROOT r = f32[2] negate(z)",
    ]  # fmt: skip
    x = normal(2)
    assert same_bits(stablehlo.from_hlo(entry(*lines)).run("main", x), [-x])
    lines = [lines[0], "b = f32[2] opt-barrier(x)", "ROOT r = f32[2] negate(b)"]
    check(entry(*lines), x)


def test_what_loops_and_branches_use_from_around_is_carried():
    text = """func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>, %n: tensor<i32>) -> (tensor<2xf32>, tensor<i32>) {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0:2 = stablehlo.while(%i = %z, %s = %x) : tensor<i32>, tensor<2xf32>
      cond {
        %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %q = stablehlo.remainder %i, %n : tensor<i32>
        %t = "stablehlo.case"(%q) ({
          %a = stablehlo.add %s, %y : tensor<2xf32>
          %b:2 = stablehlo.while(%j = %z, %v = %a) : tensor<i32>, tensor<2xf32>
          cond {
            %c = stablehlo.compare LT, %j, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %d = stablehlo.add %j, %one : tensor<i32>
            %e = stablehlo.multiply %v, %x : tensor<2xf32>
            stablehlo.return %d, %e : tensor<i32>, tensor<2xf32>
          }
          stablehlo.return %b#1 : tensor<2xf32>
        }, {
          stablehlo.return %y : tensor<2xf32>
        }) : (tensor<i32>) -> tensor<2xf32>
        %k = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %k, %t : tensor<i32>, tensor<2xf32>
      }
      %m = "stablehlo.if"(%p0) ({
        stablehlo.return %one : tensor<i32>
      }, {
        stablehlo.return %0#0 : tensor<i32>
      }) : (tensor<i1>) -> tensor<i32>
      return %0#1, %m : tensor<2xf32>, tensor<i32>
    }""".replace(
        '      %m = "st',
        '      %p0 = stablehlo.compare GT, %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>\n      %m = "st',
    )
    module = stablehlo.parse(text)
    for n in (0, 1, 3):
        arrays = normal(2), normal(2, seed=1), np.int32(n)
        again = check(module.as_hlo_text(), *arrays)
        assert same_bits(again.run("main", *arrays), module.run("main", *arrays))


def test_functions_that_call_each_other():
    text = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0:2 = call @f(%x) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
      %1 = call @g(%0#1) : (tensor<f32>) -> tensor<f32>
      call @nothing() : () -> ()
      %2 = stablehlo.composite "my.op" %1 {decomposition = @g} : (tensor<f32>) -> tensor<f32>
      return %2 : tensor<f32>
    }
    func.func private @f(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      %0 = call @g(%x) : (tensor<f32>) -> tensor<f32>
      return %0, %x : tensor<f32>, tensor<f32>
    }
    func.func private @g(%x: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.add %x, %x : tensor<f32>
      return %0 : tensor<f32>
    }
    func.func private @nothing() { return }
    """
    module = stablehlo.parse(text)
    again = check(module.as_hlo_text(), np.float32(3))
    assert again.run("main", np.float32(3)) == (12,)
    assert len(again.functions) == 4


def chain(count, opcode):
    """Return a module in which each computation names the one before it twice."""
    parts = ["HloModule m", "c0 { x = f32[] parameter(0)  ROOT y = f32[] add(x, x) }"]
    for k in range(1, count):
        rest = f"to_apply=c{k - 1}" if opcode == "call" else f"kind=kLoop, calls=c{k - 1}"
        first, second = (f"{name} = f32[] {opcode}({x}), {rest}" for name, x in (("y", "x"), ("ROOT z", "y")))
        parts.append(f"c{k} {{ x = f32[] parameter(0)  {first}  {second} }}")
    return "\n".join([*parts[:-1], f"ENTRY {parts[-1]}"])


@pytest.mark.parametrize("opcode", ["call", "fusion"])
def test_computations_that_are_named_twice_are_written_once(opcode):
    module = stablehlo.from_hlo(chain(40, opcode))
    assert len(module.as_text()) < 10000
    assert stablehlo.from_hlo(chain(6, opcode)).run("main", np.float32(1)) == (2.0**32,)
    start = time.process_time()
    stablehlo.from_hlo(chain(3000, "call"))
    assert time.process_time() - start < 5


def nested(count):
    parts = ["HloModule m", "c0 { x = f32[] parameter(0)  ROOT y = f32[] add(x, x) }"]
    for k in range(1, count):
        parts.append(f"c{k} {{ x = f32[] parameter(0)  ROOT y = f32[] fusion(x), kind=kLoop, calls=c{k - 1} }}")
    return "\n".join([*parts[:-1], f"ENTRY {parts[-1]}"])


def test_nesting_has_a_bound():
    assert stablehlo.from_hlo(nested(60)).run("main", np.float32(1)) == (2,)
    with pytest.raises(ParseError, match="nested deeper than 64 levels"):
        stablehlo.from_hlo(nested(5000))


def test_large_reducers_are_functions_from_their_second_use():
    steps = "\n".join([f"  s{k} = f32[] add({'b' if k == 0 else f's{k - 1}'}, z)" for k in range(MOST_COPIED)])
    before = f"""f {{
      a = f32[] parameter(0)
      b = f32[] parameter(1)
      z = f32[] constant(0)
      {steps}
      ROOT r = f32[] maximum(a, s{MOST_COPIED - 1})
    }}"""
    lines = ["x = f32[4] parameter(0)", "c = f32[] constant(-inf)"]
    lines += [f"r{k} = f32[] reduce(x, c), dimensions={{0}}, to_apply=f" for k in range(3)]
    text = entry(*lines, "ROOT t = (f32[], f32[], f32[]) tuple(r0, r1, r2)", before=before)
    module = stablehlo.from_hlo(text)
    assert module.as_text().count("stablehlo.add") == MOST_COPIED
    assert module.run("main", np.array([1, 5, 2, 3], np.float32)) == (5, 5, 5)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("f32[2] get-tuple-element(t), index=2", "the tuple has 2 elements, none of index 2"),
        ("f32[2] get-tuple-element(x), index=0", "get-tuple-element takes a tuple"),
        ("(f32[2]) tuple(x, x)", r"tuple returns \(tensor<2xf32>, tensor<2xf32>\), not tuple<tensor<2xf32>>"),
        ("f32[2] negate(t)", "operand 0 of negate must be an array"),
        ("f32[2] call(x, x), to_apply=twice", r"twice takes \(tensor<2xf32>\), not the operands' types"),
        ("f32[2] fusion(p), kind=kLoop, calls=twice", r"twice takes \(tensor<2xf32>\)"),
        ("f32[2] fusion(x), calls=twice, odd=3", "unknown attribute odd"),
        ("f32[2] while(x), condition=twice, body=minus", "cond"),
        ("s32[] while(n), condition=small, body=minus", "condition and body must take a state of types"),
        ("f32[2] while(x, x), condition=twice, body=minus", "while takes one operand"),
        ("f32[2] conditional(p, x), true_computation=twice, false_computation=minus", "an operand for each"),
        ("f32[2] conditional(p, x, x, x), branch_computations={twice, minus, same}", "of a pred has two branches"),
        ("(f32[2], f32[2]) conditional(p, x, x), branch_computations={twice, minus}", "conditional returns 1 values"),
        ("f32[2] add-dependency(x)", "two operands"),
    ],
)
def test_what_is_refused(line, message):
    lines = ["p = pred[] parameter(0)", "x = f32[2] parameter(1)", "t = (f32[2], f32[2]) tuple(x, x)"]
    lines.append("n = s32[] parameter(2)")
    with pytest.raises(ParseError, match=message):
        stablehlo.from_hlo(entry(*lines, f"ROOT r = {line}", before=LOOP + BRANCHES))
