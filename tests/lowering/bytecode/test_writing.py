"""Writing portable artifacts: jaxlib's own reader must read what jaxlib's own writer says, for every version."""

from itertools import pairwise

import pytest

from numhlo.lowering.bytecode import read_bytecode, write_artifact
from numhlo.lowering.bytecode.vhlo_table import FORMS, VERSIONED, bytecode_version
from numhlo.lowering.ir.errors import ArgumentError, UnsupportedError
from numhlo.lowering.ir.structure import structurally_equal
from numhlo.lowering.text import parse, print_module
from tests.lowering.bytecode.everything import OTHERS, difference, generic, reading, writing
from tests.lowering.bytecode.official import artifact, bytecode, exported, text_of
from tests.lowering.text.programs import MODULES


@pytest.mark.specifies("bytecode")
@pytest.mark.parametrize("version", ["0.9.0", "1.0.0", "1.17.0"])
def test_every_op(version, capfd):
    found = {name: writing(module, generic(module), version) for name, module in MODULES.items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("version", ["0.10.0", "0.12.0", "0.14.0", "0.15.0", "1.11.0"])
def test_other_dialects_in_every_version_of_the_container(version):
    module = parse(generic(parse(OTHERS)))
    assert difference(parse(text_of(write_artifact(module, version))), parse(text_of(write_artifact(module)))) == ""
    assert structurally_equal(read_bytecode(write_artifact(module, version)), module)


def test_exports():
    for name, data in exported(["sgd_step", "two_keys"]):
        module = read_bytecode(data)
        assert (name, writing(module, text_of(data), "1.17.0")) == (name, "")


def test_containers():
    data = write_artifact(MODULES["add"], "0.14.0")
    assert data.startswith(b"ML\xefR\x09StableHLO_v0.14.0\x00")
    assert [bytecode_version(v) for v in [(0, 9, 9), (0, 11, 0), (0, 13, 0), (0, 14, 9), (2, 0, 0)]] == [0, 1, 3, 4, 6]


def test_forms_follow_each_other():
    assert len(VERSIONED) == sum(map(len, FORMS.values())) > 130
    for forms in FORMS.values():
        for older, newer in pairwise(forms):
            assert older.since < newer.since == older.until


REFUSED = {
    "%0 = stablehlo.tan %x : tensor<4xf32>": ("1.3.0", "stablehlo.tan", "1.4.0"),
    "%0 = stablehlo.sine %x {result_accuracy = #stablehlo.result_accuracy<ulps = 1, mode = "
    "#stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>": (
        "1.9.0", "this form of stablehlo.sine", "1.10.0"
    ),
    '%0 = "stablehlo.all_gather"(%x, %x) {all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : '
    "(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)": (
        "1.4.0", "this form of stablehlo.all_gather", "1.5.0"
    ),
    "%0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E8M0FNU>": ("1.7.0", "the type f8E8M0FNU", "1.8.0"),
    "%0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> "
    "tensor<4x!quant.uniform<i8:f32:0, {1.0, 1.0, 1.0, 2.0}>>": (
        "0.17.0", "quantization along an axis", "0.18.0"
    ),
    '%0 = stablehlo.custom_call @f(%x) {api_version = 4 : i32, backend_config = {a = 1}} : (tensor<4xf32>) -> tensor<4xf32>': (
        "1.2.0", "typed custom calls", "1.3.0"
    ),
    '%0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%a: tensor<f64>, %b: tensor<f64>): stablehlo.return %a : tensor<f64> }) '
    "{dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f64>": (
        "0.16.0", "stablehlo.reduce into another element type", "0.17.0"
    ),
    '%0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<0> : tensor<1x1xi64>} : '
    "(tensor<4xf32>) -> tensor<4xf32>": (
        "0.15.0", "stablehlo.collective_broadcast", "0.16.0"
    ),
}  # fmt: skip


@pytest.mark.parametrize("line", REFUSED)
def test_what_a_version_lacks(line):
    version, what, since = REFUSED[line]
    results = "%0:2 =" if line.endswith(")") else "%0 ="
    body = line.replace("%0 =", results)
    module = parse(f"func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) {{ {body}\n return }}")
    with pytest.raises(UnsupportedError) as caught:
        write_artifact(module, version)
    assert str(caught.value) == (
        f"version {version} of StableHLO does not have {what}\n"
        f'  it came with {since}; write for a version that has it: serialize("{since}")'
    )
    assert structurally_equal(read_bytecode(write_artifact(module, since)), module)


@pytest.mark.parametrize("version", ["nonsense", "1.0", "0.8.0", "1.18.0", "1.0.0\n", "99999999999.0.0"])
def test_what_is_no_version(version):
    with pytest.raises(ArgumentError) as caught:
        write_artifact(MODULES["add"], version)
    assert str(caught.value) == (
        f'{version!r} is no version of StableHLO that can be written for\n  give one from "0.9.0" to "1.17.0"'
    )


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (
            '%0 = "other.op"(%x) {a = 1 : i9} : (tensor<4xf32>) -> tensor<4xi9>',
            "portable artifacts have no type tensor<4xi9>",
        ),
        (
            '%0 = "stablehlo.unheard"(%x) : (tensor<4xf32>) -> tensor<4xf32>',
            "portable artifacts have no op stablehlo.unheard",
        ),
    ],
)
def test_what_no_version_has(line, what):
    module = parse(f"func.func @main(%x: tensor<4xf32>) {{ {line}\n return }}")
    with pytest.raises(UnsupportedError, match=what):
        write_artifact(module)


def test_names_are_made_unique():
    text = (
        "func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = call @f(%x) : (tensor<f32>) -> tensor<f32>\n"
        " return %0 : tensor<f32> }\nfunc.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"
    )
    module = parse(text)
    other = parse(text.replace("return %x", "%1 = stablehlo.sine %x : tensor<f32>\n return %1"))
    module.main.body.ops.insert(0, other.main.body.ops[0])
    other.main.body.ops[0].operands[:] = module.main.body.arguments
    module.functions = module.functions[:1]  # the others are found as they are called
    found = read_bytecode(write_artifact(module))
    assert [function.name for function in found.functions] == ["main", "f", "f_0"]
    assert print_module(found) == print_module(module)


MESHES = {
    "named": "@mesh",
    "axes": '#stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 4>]>',
    "devices": '#stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 4>],'
    " device_ids = dense<[1, 0, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>>",
}


@pytest.mark.parametrize("name", MESHES)
def test_groups_by_axes_of_a_mesh(name):
    text = f"""module {{
      sdy.mesh @mesh = <["x"=2, "y"=4]>
      func.func @main(%x: tensor<4xf32>) -> tensor<16xf32> {{
        %0 = "stablehlo.all_gather"(%x) {{all_gather_dim = 0 : i64, replica_groups =
          #stablehlo.replica_group_mesh_axes<mesh = {MESHES[name]}, axes = [#stablehlo.axis_ref<name = "x">,
          #stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>}} : (tensor<4xf32>) -> tensor<16xf32>
        return %0 : tensor<16xf32> }} }}"""
    data = artifact(text, "1.17.0")
    assert reading(data) == reading(bytecode(text)) == ""
    module = read_bytecode(data)
    assert [writing(module, generic(module), version) for version in ("1.16.0", "1.17.0")] == ["", ""]
    with pytest.raises(
        UnsupportedError, match=r"version 1\.15\.0 of StableHLO does not have groups of processes by axes"
    ):
        write_artifact(module, "1.15.0")
