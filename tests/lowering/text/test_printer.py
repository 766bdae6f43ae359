import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import Function, Location, Module, TensorType
from numhlo.lowering.ops import PRIMITIVES, FunctionBuilder, control_flow, elementwise
from numhlo.lowering.text import parse, print_function, print_module
from tests.lowering.text.programs import MODULES, PROGRAMS, VECTOR, build, double
from tests.oracle import official_parse, run_on_xla
from tests.work import count_calls

EXACT_FAMILIES = {"Layout", "Creation", "Comparison", "Indexing", "Sorting", "Conversion", "ControlFlow"}


def test_every_op_has_a_program():
    missing = set(PRIMITIVES) - {name.partition(".")[0] for name in MODULES}
    assert missing == set()


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.specifies("printing")
def test_official_parser_accepts_both_forms_as_one_program(name):
    pretty, generic = (print_module(MODULES[name], generic=generic) for generic in (False, True))
    assert official_parse(pretty) == official_parse(generic)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.specifies("printing")
def test_xla_computes_what_the_interpreter_does(name):
    module, arrays = PROGRAMS[name]
    for ours, theirs in zip(interpret(module.main, arrays), run_on_xla(print_module(module), arrays), strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        exact = type(PRIMITIVES[name.partition(".")[0]]).__name__ in EXACT_FAMILIES and name != "composite.erf"
        rtol = 0 if exact else 1e-5
        same = np.isclose(ours.astype(np.complex128), theirs.astype(np.complex128), rtol, 0, equal_nan=True)
        assert same.all(), (ours, theirs)


def test_values_functions_and_arguments_are_named():
    inner = double()
    b = FunctionBuilder("main", [TensorType((4,), np.dtype("float32"))])
    (x,) = b.arguments
    first = b.op(control_flow.CALL, x, callee=inner, result=x.type)
    second = b.op(control_flow.CALL, first, callee=double(), result=x.type)
    pair = b.ops(control_flow.OPTIMIZATION_BARRIER, first, second)
    module = Module([b.finish(pair[::-1])], "jit.f")
    assert print_module(module) == (
        "module @jit.f {\n"
        "  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n"
        "    %0 = call @double(%arg0) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "    %1 = call @double_0(%0) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "    %2:2 = stablehlo.optimization_barrier %0, %1 : tensor<4xf32>, tensor<4xf32>\n"
        "    return %2#1, %2#0 : tensor<4xf32>, tensor<4xf32>\n"
        "  }\n"
        "  func.func private @double(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
        "    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>\n"
        "    return %0 : tensor<4xf32>\n"
        "  }\n"
        "  func.func private @double_0(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
        "    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>\n"
        "    return %0 : tensor<4xf32>\n"
        "  }\n"
        "}\n"
    )


def test_main_comes_first():
    module = Module([double("helper"), build(lambda b, x: [x], VECTOR)])
    assert print_module(module).index("@main") < print_module(module).index("@helper")


def test_generic_form_of_an_op():
    module, _ = PROGRAMS["gather"]
    assert (
        '    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], '
        "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, "
        "slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<3x3xf32>\n"
    ) in print_module(module)


def test_locations_are_optional():
    function = double()
    function.body.ops[0].location = Location(None, 12, "a file.py", 5)
    line = "%0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>"
    assert f"{line}\n" in print_function(function)
    located = print_function(function, locations=True)
    assert f'{line} loc("a file.py":12:5)\n' in located
    assert located.endswith("} loc(unknown)\n")


def test_attributes_of_modules_functions_and_arguments():
    function = build(lambda b, x: [x], VECTOR)
    function.attributes["note"] = (1, "two")
    function.argument_attributes = [{"jax.buffer_donor": True}]
    function.result_attributes = [{"jax.result_info": "result[0]"}]
    module = Module([function])
    module.attributes["mhlo.num_replicas"] = np.int32(1)
    assert print_module(module).splitlines()[:2] == [
        "module attributes {mhlo.num_replicas = 1 : i32} {",
        "  func.func public @main(%arg0: tensor<4xf32> {jax.buffer_donor = true}) -> "
        '(tensor<4xf32> {jax.result_info = "result[0]"}) attributes {note = [1 : i64, "two"]} {',
    ]
    official_parse(print_module(module))


@pytest.mark.parametrize("generic", [False, True])
def test_numbers_in_attributes_of_no_declared_kind_keep_their_types(generic):
    values = "[-3 : i4, 2 : ui2, 5.000000e-01 : bf16, 1.500000e+00 : f16, 2.000000e+00 : f8E4M3FN]"
    module = parse(f"""func.func @main(%x: tensor<f32>) -> tensor<f32> {{
      %0 = stablehlo.composite "a.b" %x {{composite_attributes = {{x = {{y = {values}}}}}, decomposition = @f}}
        : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }}
    func.func private @f(%x: tensor<f32>) -> tensor<f32> {{ return %x : tensor<f32> }}""")
    text = print_module(module, generic=generic)
    assert values in text
    assert print_module(parse(text), generic=generic) == text


def test_a_float_with_more_digits_than_its_type_has():
    text = """func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
      %0 = "stablehlo.batch_norm_inference"(%x, %y, %y, %y, %y) {epsilon = 9.9999997 : f32, feature_index = 1 : i64}
        : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    }"""
    printed = print_module(parse(text))
    assert "epsilon = 1.000000e+01 : f32" in printed
    assert print_module(parse(printed)) == printed


def test_a_function_without_results():
    assert official_parse(print_module(Module([Function("main")]))).count("return") == 1


@pytest.mark.parametrize("generic", [False, True])
def test_splats_of_any_size(generic):
    text = "func.func @main() {{\n{} return\n}}".format(
        "%c = stablehlo.constant dense<1.5> : tensor<9000000x9000000xf32> "
        "%d = stablehlo.constant dense<(1.0, 2.0)> : tensor<9000000000000x1xcomplex<f64>>"
    )
    printed = print_module(parse(text), generic=generic)
    assert "dense<1.500000e+00> : tensor<9000000x9000000xf32>" in printed
    assert "dense<(1.000000e+00,2.000000e+00)>" in printed


def test_a_declaration_alone_stays_private():
    text = "func.func private @f(tensor<4xf32>)"
    assert print_module(parse(text)).splitlines()[1].strip() == text
    official_parse(print_module(parse(text)))


@pytest.mark.parametrize("generic", [False, True])
def test_printing_is_linear(generic):
    def work(count: int) -> int:
        b = FunctionBuilder("main", [TensorType((4,), np.dtype("float32"))])
        (x,) = b.arguments
        for number in range(count):
            x = b.op(elementwise.ADD, x, b.constant(np.full(4, number, np.float32)))
        module = Module([b.finish([x])])
        return count_calls(lambda: print_module(module, generic=generic))

    assert work(3000) < 7 * work(500)
