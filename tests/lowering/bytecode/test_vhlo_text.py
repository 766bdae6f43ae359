"""The dialect vhlo as text: MLIR must read what is printed, and what MLIR prints must be read."""

import pytest
from jaxlib.mlir import ir

from numhlo import stablehlo
from numhlo.lowering.bytecode import parse_vhlo, print_artifact, read_bytecode, write_artifact
from numhlo.lowering.ir.errors import ParseError, UnsupportedError
from numhlo.lowering.ir.structure import structurally_equal
from numhlo.lowering.text import parse
from tests.lowering.bytecode.everything import OTHERS, difference, generic
from tests.lowering.bytecode.official import artifact, context
from tests.lowering.text.programs import MODULES

NOT_MLIRS = {"tuple.empty"}
"""Programs whose text MLIR prints and does not read: the type of a tuple of nothing."""

PROGRAMS = {**MODULES, "others": parse(generic(parse(OTHERS)))}


def some(version):
    """Return programs: all for the newest version, some for an older one."""
    return PROGRAMS if version == "1.17.0" else {name: PROGRAMS[name] for name in sorted(PROGRAMS)[::6]}


def printed(source, **options):
    with context():
        return str(ir.Module.parse(source).operation.get_asm(**options))


@pytest.mark.parametrize("version", ["0.9.0", "1.17.0"])
def test_what_is_printed_is_what_mlir_prints(version, capfd):
    for name, module in some(version).items():
        data = artifact(generic(module), version)
        if data is not None and name not in NOT_MLIRS:
            text = print_artifact(data)
            again, official = (printed(source, print_generic_op_form=True) for source in (text, data))
            assert (name, again) == (name, official)


@pytest.mark.specifies("bytecode")
@pytest.mark.parametrize("version", ["0.9.0", "1.17.0"])
def test_what_mlir_prints_is_read(version, capfd):
    for name, module in some(version).items():
        data = artifact(generic(module), version)
        if data is not None:
            text = printed(data, print_generic_op_form=True, enable_debug_info=True)
            assert (name, difference(parse_vhlo(text), read_bytecode(data))) == (name, "")


def test_functions_in_their_own_form():
    for name in ("sort", "dot_general", "while", "custom_call"):
        data = write_artifact(MODULES[name])
        assert difference(parse_vhlo(printed(data, enable_debug_info=True)), read_bytecode(data)) == ""


def test_the_face():
    module = stablehlo.Module(MODULES["custom_call"])
    text = module.as_vhlo_text("1.5.0")
    assert '"vhlo.custom_call_v1"' in text and "api_version = #vhlo<api_version_v1 " in text
    assert structurally_equal(stablehlo.parse(text).graph, module.graph)
    with pytest.raises(UnsupportedError, match=r"does not have stablehlo\.tan"):
        stablehlo.Module(MODULES["tan"]).as_vhlo_text("1.0.0")


ADD = """module {
  vhlo.func_v1 @main(%arg0: !vhlo.tensor_v1<4x!vhlo.f32_v1>) -> (!vhlo.tensor_v1<4x!vhlo.f32_v1>) {
    %0 = "vhlo.add_v1"(%arg0, %arg0) : (!vhlo.tensor_v1<4x!vhlo.f32_v1>, !vhlo.tensor_v1<4x!vhlo.f32_v1>)
      -> !vhlo.tensor_v1<4x!vhlo.f32_v1>
    "vhlo.return_v1"(%0) : (!vhlo.tensor_v1<4x!vhlo.f32_v1>) -> ()
  } {arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">}
}"""


def test_attributes_of_arguments_must_be_dictionaries_in_the_generic_form():
    for name, wrong in (("vhlo.func_v1", "#vhlo.array_v1<[#vhlo.bool_v1<true>]>"), ("func.func", "[unit]")):
        text = print_artifact(write_artifact(parse("func.func private @f(tensor<f32>)")))
        if name == "func.func":
            text = (
                f'"builtin.module"() ({{ "func.func"() <{{arg_attrs = {wrong}, function_type = () -> (), '
                'sym_name = "f", sym_visibility = "private"}> ({}) : () -> () }) : () -> ()'
            )
        else:
            text = text.replace("arg_attrs = #vhlo.array_v1<[]>", f"arg_attrs = {wrong}")
        with pytest.raises(ParseError, match="attributes of arguments and results must be dictionaries"):
            parse_vhlo(text)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("add_v1", "add_v9", "vhlo.add_v9 is an op of a newer version of StableHLO"),
        ("vhlo.f32_v1", "vhlo.f33_v1", "!vhlo.f33_v1 is no element type of vhlo that is known"),
        ("(!vhlo.tensor_v1<4x!vhlo.f32_v1>) {", "(!vhlo.nothing_v1) {", "!vhlo.nothing_v1 is no type of vhlo that is known"),
        ("!vhlo.tensor_v1<4x!vhlo.f32_v1>) ->", "!vhlo.tensor_v1<4>) ->", "expected a tensor type"),
        ('"vhlo.add_v1"', '"vhlo.reduce_precision_v1"', "vhlo.reduce_precision_v1 needs the attribute exponent_bits"),
        ("#vhlo.array_v1<[]>, res", "#vhlo<precision_v1 LOW>, res", "precision has no value LOW"),
        ("#vhlo.array_v1<[]>, res", "#vhlo.bool_v1<true>, res", "attributes of arguments and results must be dictionaries"),
        ("#vhlo.array_v1<[]>, res", "#vhlo.dict_v1<{true = 1}>, res", "expected a name, which stands once"),
        ("#vhlo.array_v1<[]>, res", "#vhlo.float_v1<1.0 : !vhlo.token_v1>, res", "a float must be of an element type"),
        ('%0 = "vhlo', '%1 = builtin.unrealized_conversion_cast %arg0 : !vhlo.tensor_v1<4x!vhlo.f32_v1> to tensor<4xf64>\n'
                       '%0 = "vhlo', "builtin.unrealized_conversion_cast changes types of StableHLO"),
    ],
)  # fmt: skip
def test_what_is_malformed(old, new, what):
    assert difference(parse_vhlo(ADD), parse_vhlo(ADD)) == ""
    with pytest.raises(ParseError) as caught:
        parse_vhlo(ADD.replace(old, new, 1) if old != "vhlo.f32_v1" else ADD.replace(old, new), "x.mlir")
    assert caught.value.what.startswith(what) and "at x.mlir:" in caught.value.what


def test_functions_without_a_body_need_the_generic_form():
    data = write_artifact(parse("func.func private @f(tensor<f32>) -> tensor<f32>"))
    with pytest.raises(ParseError, match="a function without a body loses its arguments in this form"):
        parse_vhlo(printed(data))
    assert structurally_equal(parse_vhlo(print_artifact(data)), read_bytecode(data))
