"""Strict verification: every constraint of the specification has programs that break it alone, and whose error names it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxlib.mlir.dialects import _chlo_ops_gen, _stablehlo_ops_gen

from numhlo import stablehlo
from numhlo.errors import ParseError, VerificationError
from numhlo.lowering.ops.primitive import PRIMITIVES
from numhlo.lowering.strict_verifier import CLOSED
from tests.architecture import constraints
from tests.lowering.constraints.cases import cases
from tests.lowering.constraints.listing import listed
from tests.lowering.constraints.verdicts import BY_GRAMMAR, complaint, verdict

PAGE = constraints.PAGE.read_text(encoding="utf-8").splitlines()
OPS = sorted({case.op for case in cases()})


@pytest.mark.parametrize("op", OPS)
@pytest.mark.specifies("strict verification")
def test_constraints(op):
    found = [case for case in cases() if case.op == op]
    for whole in dict.fromkeys(case.whole for case in found):
        assert not complaint(whole, strict=True)
    assert {str(case) for case in found if not verdict(case)} == set()
    lines = [constraints.line_of(row) for row in listed() if row[0] == op]
    assert set(lines) <= set(PAGE), "run python -m tests.architecture.constraints"


def test_no_constraint_is_left_out():
    shown = {(case.op, case.constraint) for case in cases()}
    assert set(listed()) - shown == set(BY_GRAMMAR)
    assert {row for row in shown if row[1].startswith("C")} <= set(listed())


def refused(text):
    with pytest.raises(VerificationError) as caught:
        stablehlo.parse(text, strict=True)
    stablehlo.parse(text).verify()
    return str(caught.value)


@pytest.mark.parametrize("name", ["stablehlo.absolute", "chlo.arc", "func.wait", "builtin.cast"])
def test_closed_dialects_have_no_other_ops(name):
    text = f'func.func @main(%x: tensor<f32>) {{\n  "{name}"(%x) : (tensor<f32>) -> ()\n  return }}'
    dialect, mnemonic = name.split(".")
    column = text.splitlines()[1].index('"') + 1
    assert refused(text) == (
        f"{mnemonic}(float32[]): {dialect} has no op of this name\n"
        f"  at <string>:2:{column}\n"
        f'      "{name}"(%x) : (tensor<f32>) -> ()\n'
        f"{' ' * (column + 3)}^\n"
        f"  StableHLO specification, {mnemonic}"
    )


def test_ops_of_other_dialects_are_left_alone():
    text = 'func.func @main(%x: tensor<f32>) { "other.op"(%x) : (tensor<f32>) -> tensor<f32> return }'
    stablehlo.parse(text, strict=True)


@pytest.mark.parametrize(("dialect", "module"), [("stablehlo", _stablehlo_ops_gen), ("chlo", _chlo_ops_gen)])
def test_all_ops_of_a_dialect_are_known(dialect, module):
    official = {getattr(value, "OPERATION_NAME", "").removeprefix(f"{dialect}.") for value in vars(module).values()}
    known = CLOSED[dialect] | {p.name for p in PRIMITIVES.values() if p.dialect == dialect} | {"return", ""}
    assert official <= known


@pytest.mark.parametrize(
    "type", ["f32", "index", "tensor<2xindex>", "tensor<2xi9>", "memref<2xf32>", "tensor<*xf32>", "tuple<tensor<i9>>"]
)
def test_values_have_types_of_stablehlo(type):
    assert "which is no value type of StableHLO" in refused(f"func.func @main(%x: {type}) {{ return }}")
    assert "argument 0" in refused(f"func.func @main(%x: {type}) {{ return }}")


@pytest.mark.parametrize("type", ["tensor<?x2xf8E5M2>", "!stablehlo.token", "tuple<tuple<>, tensor<ui2>>"])
def test_types_of_stablehlo_are_accepted(type):
    stablehlo.parse(f"func.func @main(%x: {type}) {{ return }}", strict=True)


def test_floats_out_of_range():
    text = "func.func @main() { %x = stablehlo.constant dense<[1.0, 1.0e5]> : tensor<2xf16> return }"
    stablehlo.parse(text).verify()
    with pytest.raises(ParseError, match="an element is out of the range of float16"):
        stablehlo.parse(text, strict=True)


def test_groups_of_an_unknown_number_of_processes_are_accepted():
    text = """func.func @main(%x: tensor<2xf32>) {
      %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>}>
        : (tensor<2xf32>) -> tensor<6xf32>
      return }"""
    stablehlo.parse(text, strict=True)
    assert "(C3)" in refused(f"module attributes {{mhlo.num_replicas = 4 : i32}} {{ {text} }}")
    assert "(C6)" in refused(text.replace("tensor<6xf32>", "tensor<12xf32>"))


def test_programs_of_other_tools_are_accepted():
    def step(x, key):
        noise = jax.random.normal(key, x.shape, x.dtype)
        y = jax.lax.fori_loop(0, 3, lambda k, y: jnp.sort(y @ y.T + noise), jax.nn.softmax(x))
        chosen = y.at[1].add(2), jax.lax.cumsum(y), jax.scipy.special.zeta(x, 2)
        return *chosen, jnp.linalg.cholesky(y @ y.T + jnp.eye(4, dtype=x.dtype))

    lowered = jax.jit(step).lower(np.ones((4, 4), np.float32), jax.random.key(0))
    stablehlo.parse(lowered.as_text(), strict=True)
