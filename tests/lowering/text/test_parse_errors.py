"""Every way for a text to be wrong: the message, the line and column, and the caret under the culprit."""

import pytest

from numhlo.lowering.ir.errors import ParseError
from numhlo.lowering.text import parse

HEAD = "func.func @main(%a: tensor<4xf32>, %m: tensor<2x3xf32>, %s: tensor<f32>, %i: tensor<i32>) {\n"

IN_A_BODY = {
    "%0 = stablehlo.abs %b : tensor<4xf32>": ("%b is not defined here", "%b"),
    "%0 = stablehlo.abs a : tensor<4xf32>": ("expected ':', found a", "a :"),
    "%0 = stablehlo.abs %a : tensor<4xf64>": (
        "operand 0 is of type tensor<4xf32>, not tensor<4xf64>",
        "tensor<4xf64>",
    ),
    "%0 = stablehlo.abs %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>": ("2 types for 1 operands", "(tensor"),
    "%0 = stablehlo.add %a : tensor<4xf32>": ("add takes 2 operands, not 1", "stablehlo.add"),
    "%0 = stablehlo.abs %a : tensor<4xf32": ("this tensor type has no closing '>'", "tensor<4xf32\n"),
    "%0 = stablehlo.abs %a : tensor<4xfloat>": ("expected a tensor type, found tensor<4xfloat>", "tensor<4xfloat>"),
    "%0 = stablehlo.abs %a : foo": ("expected a type, found foo", "foo"),
    "%0 = stablehlo.abs %a : !foo": ("type alias !foo is not defined", "!foo"),
    "%0 = stablehlo.abs %a : tensor<4xf32> loc(foo)": (
        'expected a place: "file":line:column, "name", callsite, fused or unknown, found foo',
        "foo)",
    ),
    "%0 = stablehlo.abs %a": ("expected ':', found return", "return"),
    "%0 = stablehlo.asb %a : tensor<4xf32>": (
        "stablehlo.asb is not an op with a form of its own; did you mean stablehlo.abs?",
        "stablehlo.asb",
    ),
    "%0 = other.op %a : tensor<4xf32>": (
        "other.op is not an op with a form of its own; only the generic form, in quotes, can be read of it",
        "other.op",
    ),
    "%0 = 3": ("expected an op, found 3", "3"),
    "%0, %1 = stablehlo.abs %a : tensor<4xf32>": ("names for 2 results of an op that has 1", "%0, %1"),
    "%a = stablehlo.abs %a : tensor<4xf32>": ("%a is defined twice", "%a ="),
    "%0:2 = stablehlo.optimization_barrier %a, %s : tensor<4xf32>, tensor<f32>\n%1 = stablehlo.abs %0 : tensor<f32>": (
        "%0 is 2 values: write %0#0 and so on",
        "%0 : tensor<f32>",
    ),
    "%0 = stablehlo.abs %a#1 : tensor<4xf32>": ("%a is one value: write %a", "%a#1"),
    "%0 = stablehlo.compare LESS, %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>": (
        "expected one of EQ, NE, GE, GT, LE, LT, found LESS",
        "LESS",
    ),
    "%0 = stablehlo.transpose %m, dims = [1, x] : (tensor<2x3xf32>) -> tensor<3x2xf32>": (
        "expected an integer of 64 bits, found x",
        "x]",
    ),
    "%0 = stablehlo.transpose %m, dims [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>": ("expected '=', found [", "["),
    "%0 = stablehlo.reduce_precision %a, format = 5m10 : tensor<4xf32>": (
        "expected a format such as e5m10, found 5",
        "5m10",
    ),
    '%0 = "stablehlo.reverse"(%a) <{dimensions = array<i32>}> : (tensor<4xf32>) -> tensor<4xf32>': (
        "expected dimensions of kind array<i64>, found array",
        "array<i32>",
    ),
    '%0 = "stablehlo.reverse"(%a) <{dimensions = array<i4: 0>}> : (tensor<4xf32>) -> tensor<4xf32>': (
        "expected i1, or integers or floats of whole bytes, found i4",
        "i4: 0",
    ),
    '%0 = "stablehlo.transpose"(%m) : (tensor<2x3xf32>) -> tensor<3x2xf32>': (
        "transpose needs the attribute permutation",
        '"stablehlo.transpose"',
    ),
    '%0 = "stablehlo.transpose"(%m) {permutation = "x"} : (tensor<2x3xf32>) -> tensor<3x2xf32>': (
        'expected permutation of kind array<i64>, found "x"',
        '"x"',
    ),
    "%0 = stablehlo.abs %a {x = 1, x = 2} : tensor<4xf32>": ("attribute x is given twice", "x = 2"),
    "%0 = stablehlo.abs %a {x = #y} : tensor<4xf32>": ("attribute alias #y is not defined", "#y"),
    "%0 = stablehlo.abs %a {x = [1, 2} : tensor<4xf32>": ("expected ']', found }", "} :"),
    "%0 = stablehlo.abs %a {x = #sdy.a<(> : tensor<4xf32>": ("expected ')', found >", "> :"),
    '%0 = stablehlo.abs %a {x = "y} : tensor<4xf32>': ("this string has no closing quote", '"y'),
    '%0 = stablehlo.abs %a {x = "\\q"} : tensor<4xf32>': ("unknown escape \\q in a string", '"\\q"'),
    "%0 = stablehlo.abs %a {x = #stablehlo.gather<dims = [0]>} : tensor<4xf32>": (
        "expected one of offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims, "
        "start_index_map, index_vector_dim, found dims",
        "dims",
    ),
    "%0 = stablehlo.constant dense<one> : tensor<f32>": ("expected a float, found one", "one>"),
    "%0 = stablehlo.constant dense<1.5> : tensor<i32>": ("expected an integer, found 1.5", "1.5"),
    "%0 = stablehlo.constant dense<300> : tensor<i8>": ("an element is out of the range of int8", "300"),
    "%0 = stablehlo.constant dense<yes> : tensor<i1>": ("expected true or false, found yes", "yes"),
    "%0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>": (
        "expected one element, or a list nested as in shape [3]",
        "]>",
    ),
    '%0 = stablehlo.constant dense<"0x00"> : tensor<3xf32>': ("1 bytes where tensor<3xf32> takes 12", '"0x00"'),
    '%0 = stablehlo.constant dense<"0x0"> : tensor<3xf32>': (
        "expected pairs of hexadecimal digits after 0x",
        '"0x0"',
    ),
    "%0 = stablehlo.constant dense<1.0> : tensor<?xf32>": (
        "a constant can't be of type tensor<?xf32>",
        "tensor<?xf32>",
    ),
    "%0 = stablehlo.constant dense_resource<w> : tensor<f32>": ("the text has no resource called w", "w>"),
    "%0 = stablehlo.constant dense<...> : tensor<f32>": (
        "the data of this constant was dropped when the text was printed",
        "...",
    ),
    "%0 = stablehlo.constant dense_resource<__elided__> : tensor<f32>": (
        "the data of this constant was dropped when the text was printed",
        "__elided__",
    ),
    "%0 = call @missing(%a) : (tensor<4xf32>) -> tensor<4xf32>": (
        "function @missing is not defined in this text",
        "@missing",
    ),
    '%0 = "stablehlo.case"(%i) ({ return }) : (tensor<i32>) -> tensor<f32>': (
        "expected another return: regions end with stablehlo.return, functions with return, found return",
        "return }",
    ),
    '%0 = "stablehlo.case"(%i) ({ }) : (tensor<i32>) -> tensor<f32>': (
        "expected an op or a return, found }",
        "})",
    ),
    '"x.y"() ({ ^a: stablehlo.return ^b: stablehlo.return }) : () -> ()': ("expected '}', found ^b", "^b"),
    "return %a : tensor<4xf32>": ("@main returns (tensor<4xf32>), its signature says ()", "tensor<4xf32>"),
}


@pytest.mark.parametrize(("text", "expected"), IN_A_BODY.items())
@pytest.mark.specifies("malformed text")
def test_errors_in_a_body(text, expected):
    message, culprit = expected
    whole = f"{HEAD}{text}\nreturn\n}}"
    with pytest.raises(ParseError) as caught:
        parse(whole, "model.mlir")
    what, place, line, caret = str(caught.value).splitlines()
    assert what == message
    start = whole.index(culprit, len(HEAD))
    number, column = whole.count("\n", 0, start) + 1, start - whole.rfind("\n", 0, start)
    assert place == f"  at model.mlir:{number}:{column}"
    assert line.strip() == whole.splitlines()[number - 1]
    assert caret.index("^") - len("    ") == column - 1
    assert (caught.value.filename, caught.value.lineno, caught.value.offset) == (
        "model.mlir",
        *map(int, place.split(":")[1:]),
    )


AT_THE_TOP = {
    "": "expected a module or a function, found end of text",
    "module {": "expected '}', found end of text",
    "x": "expected a module, a function or an alias, found x",
    "func.func main() { return }": "expected a symbol such as @main, found main",
    "func.func @f() { return } func.func @f() { return }": "function @f is defined twice",
    "func.func @f(tensor<f32>) { return }": "the arguments of a function with a body need names",
    "func.func @f(%x: tensor<f32>) -> tensor<f32> { return }": "@f returns (), its signature says (tensor<f32>)",
    "func.func @f(%x: tensor<f32>": "expected ',', found end of text",
    "func.func @f(%x: tensor<f32>, %x: tensor<f32>) { return }": "%x is defined twice",
    '"func.func"() <{sym_name = "f"}> ({}) : () -> ()': "func.func needs sym_name and function_type",
    '"func.func"() <{sym_name = "f", function_type = () -> (), sym_visibility = "x"}> ({}) : () -> ()': (
        "sym_visibility must be one of public, private, nested"
    ),
    "module \x00 {}": "expected '{', found '\\x00'",
    "#a = #a module attributes {x = #a} {}": "attribute alias #a is defined by itself",
    'module { "vhlo.func_v1"() ({}) : () -> () }': ("this is VHLO, which numhlo.stablehlo.parse reads"),
    "module attributes {x = [[[": "expected a type, found end of text",
}


@pytest.mark.parametrize(("text", "message"), AT_THE_TOP.items())
def test_errors_at_the_top(text, message):
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert str(caught.value).splitlines()[0] == message


def test_long_lines_are_cut_around_the_caret():
    with pytest.raises(ParseError) as caught:
        parse(f"{HEAD}{' ' * 500}%0 = stablehlo.abs %b : tensor<4xf32>{' ' * 500}\nreturn\n}}")
    _, _, line, caret = str(caught.value).splitlines()
    assert len(line) <= 130
    assert line[caret.index("^") :].startswith("%b")


def test_other_formats_are_told_apart():
    with pytest.raises(ParseError, match="is MLIR bytecode, not text"):
        parse("ML\xefR\x01")
    with pytest.raises(ParseError, match="is XLA's own HLO text, not StableHLO"):
        parse("HloModule jit_f\n")
