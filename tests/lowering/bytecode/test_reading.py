"""Reading bytecode: jaxlib's own writer writes, and the module must be the one that text of the same bytes gives."""

import numpy as np
import pytest

from numhlo.lowering.bytecode import read_bytecode, write_artifact
from numhlo.lowering.ir.structure import structurally_equal
from numhlo.lowering.text import parse, print_module
from numhlo.lowering.text.foreign import DenseArray
from tests.lowering.bytecode.everything import OTHERS, generic, reading
from tests.lowering.bytecode.official import artifact, bytecode, exported
from tests.lowering.text.programs import MODULES
from tests.lowering.text.test_shape_forms import SHAPES, program

X = "%x: tensor<2x3xf32>"


@pytest.mark.specifies("bytecode")
@pytest.mark.parametrize("version", ["0.9.0", "1.0.0", "1.17.0"])
def test_artifacts_of_every_op(version, capfd):
    texts = {name: generic(module) for name, module in MODULES.items()}
    data = {name: artifact(text, version) for name, text in texts.items()}
    assert {name: wrong for name, found in data.items() if found and (wrong := reading(found))} == {}
    assert sum(found is not None for found in data.values()) > 150


@pytest.mark.specifies("bytecode")
def test_bytecode_of_every_op():
    found = {name: reading(bytecode(generic(module))) for name, module in MODULES.items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("container", range(7))
def test_every_version_of_the_container(container):
    for text in (OTHERS, generic(MODULES["select_and_scatter"])):
        assert reading(bytecode(text, container)) == ""


def test_exports():
    found = {name: reading(data) for name, data in exported(["attention", "gaussian_process", "beam_step", "clusters"])}
    assert found == dict.fromkeys(found, "")


def test_shardings():
    rules = (
        "([i, jk], [])->([i]) {i=2, j=4, k=8} reduction={k} need_replication={j} permutation={i} "
        "blocked_propagation={i, j}, custom",
        "([i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, z_1])->([i]) {"
        + ", ".join(f"{name}={k + 2}" for k, name in enumerate([*"ijklmnopqrstuvwxyz", "z_1"])) + "}",
    )  # fmt: skip
    ops = (
        'sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}]>',
        'sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]>',
        'sdy.all_reduce {"x"} %x out_sharding=<@mesh, [{}, {}]>',
        'sdy.reshard %x <mesh<["a"=2]>, [{"a"}, {}], unreduced={}>',
        "sdy.propagation_barrier %x allowed_direction=BACKWARD",
    )
    for rule in rules:
        text = f"module attributes {{a.rule = #sdy.op_sharding_rule<{rule}>}} {{ func.func private @f() }}"
        assert reading(bytecode(text)) == ""
    for op in ops:
        text = f"""module {{ sdy.mesh @mesh = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
          func.func @main(%x: tensor<4x8xf32>) {{
            %0 = sdy.reshard %x <@mesh, [{{"x"}}, {{}}]> : tensor<4x8xf32>
            %1 = {op} : tensor<4x8xf32>
            return }} }}"""
        assert reading(bytecode(text.replace(", unreduced={}", ""))) == ""


ATTRIBUTES = (
    "1 : i8", "-1 : i8", "200 : ui8", "-1 : i64", "true", "-3 : index", "1 : si32", "1.5 : f16", "0x7FC00000 : f32",
    "1.0 : f8E4M3FN", "1.5 : bf16", "dense<[1, 2]> : tensor<2xi8>", "dense<[3, -1]> : tensor<2xi4>", "unit", "@main", "f32",
    "dense<[true, false, true]> : tensor<3xi1>", "dense<true> : tensor<9xi1>", "dense<> : tensor<0xf32>", "[1, [2.5]]",
    "dense<[true, false, false, false, false, false, false, false, true]> : tensor<9xi1>", "array<i1: true, false>",
    "array<i32: 3>", "array<f32: 1.0>", "array<i64>", "tensor<4xf32>", "(i32) -> (i32, f32)", "tuple<i32, tuple<>>",
    "dense<[0, 1]> : tensor<2xindex>", "dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>", "{a = 1, b = {c}}", "complex<f32>",
    "dense<1.0> : tensor<2xf8E5M2>", "tensor<*xf32>", "tensor<?x2xf32>", "tensor<?xf32, #stablehlo.bounds<8>>", "i4", "tf32",
    "f8E3M4", "f4E2M1FN", "f8E8M0FNU", "none", "index", "ui2", "si8", "i9", '"a \\"b\\" \\00"', "affine_map<(d0) -> (d0)>",
    "#stablehlo<precision HIGH>", "#stablehlo.channel_handle<handle = 1, type = 2>", "#mhlo<comparison_direction GT>",
    "#chlo<comparison_type FLOAT>", "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>", "!stablehlo.token",
    "!stablehlo.future<tensor<f32>>", "@main::@inner", "memref<4xf32>",
)  # fmt: skip


def test_attributes_and_types():
    entries = ", ".join(f"a.n{k} = {text}" for k, text in enumerate(ATTRIBUTES))
    text = f"module attributes {{{entries}}} {{ func.func private @main() }}"
    for container in (0, 6):
        assert reading(bytecode(text, container)) == ""


def test_resources():
    text = """module { func.func @main() -> tensor<3xf32> {
      %0 = stablehlo.constant dense_resource<blob> : tensor<3xf32>
      return %0 : tensor<3xf32> } }
      {-# dialect_resources: { builtin: { blob: "0x10000000000080BF000000400000C03F" } } #-}"""
    value = read_bytecode(bytecode(text)).main.body.ops[0].attributes["value"]
    assert value.tolist() == [-1.0, 2.0, 1.5]
    assert not value.flags.writeable


def test_large_constants_are_views_of_the_file():
    text = f"""func.func @main() -> tensor<4096xf32> {{
      %0 = stablehlo.constant dense<"0x{np.arange(4096, dtype=np.float32).tobytes().hex()}"> : tensor<4096xf32>
      return %0 : tensor<4096xf32> }}"""
    module = parse(text)
    shared = []
    for padding in range(4):  # with one of them the elements are aligned
        module.attributes["a.padding"] = DenseArray((0,) * padding, "i8")
        data = write_artifact(module)
        value = read_bytecode(data).main.body.ops[0].attributes["value"]
        np.testing.assert_array_equal(value, np.arange(4096))
        assert value.flags.aligned and not value.flags.writeable
        shared.append(np.shares_memory(value, np.frombuffer(data, np.uint8)))
    assert any(shared)


QUANTIZED = (
    "!quant.uniform<i8:f32, 0.5:-3>", "!quant.uniform<u8<1:200>:f32, 2.0>", "!quant.uniform<i8:f32:1, {0.5, 1.5:2, 3.0}>"
)  # fmt: skip


@pytest.mark.parametrize("element", QUANTIZED)
@pytest.mark.parametrize("version", ["0.18.0", "1.17.0"])
def test_quantized_types(element, version):
    text = f"""func.func @main({X}) -> tensor<2x3x{element}> {{
      %0 = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x{element}>
      return %0 : tensor<2x3x{element}> }}"""
    module = parse(text)
    found = read_bytecode(write_artifact(module, version))
    assert structurally_equal(found, module) and print_module(found) == print_module(module)


def test_ops_of_mhlo():
    text = """func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xi1>, tensor<2x3xf32>) {
      %0 = "mhlo.compare"(%x, %x) {comparison_direction = #mhlo<comparison_direction GE>} :
        (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %1 = "mhlo.negate"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      return %0, %1 : tensor<2x3xi1>, tensor<2x3xf32> }"""
    assert reading(bytecode(text)) == ""


def test_modules_inside():
    text = """module @outer {
      module @inner { func.func @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
        func.func @g(%x: tensor<f32>) -> tensor<f32> { %0 = call @f(%x) : (tensor<f32>) -> tensor<f32>
          return %0 : tensor<f32> } }
      func.func @f(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.sine %x : tensor<f32>
        return %0 : tensor<f32> } }"""
    assert reading(bytecode(text)) == ""


@pytest.mark.parametrize("attributes", ['{a = 1 : i32, b = "s"}', "<{a = 1 : i32}> {b}", ""])
def test_unknown_ops(attributes):
    text = f"""func.func @main(%x: tensor<f32>) -> tensor<f32> {{
      %0 = "other.op"(%x) {attributes} : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32> }}"""
    assert reading(bytecode(text)) == ""


@pytest.mark.parametrize("container", [0, 6])
def test_shapes_that_are_computed(container):
    """Ops of the dialects arith, shape and tensor become those that they become where they are read as text."""
    for body in SHAPES:
        text = program(body)
        assert print_module(read_bytecode(bytecode(text, container))) == print_module(parse(text))
