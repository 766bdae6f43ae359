import re

import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import UNKNOWN, Location, Module, TensorType
from numhlo.lowering.ir.errors import ParseError, UnsupportedError
from numhlo.lowering.ir.structure import structurally_equal
from numhlo.lowering.ops import PRIMITIVES, FunctionBuilder, elementwise
from numhlo.lowering.text import parse, print_module
from numhlo.lowering.text.foreign import UNIT
from numhlo.lowering.text.printer import PREAMBLE
from numhlo.lowering.text.records import ENUMS, RECORDS
from tests.lowering.text.programs import MODULES
from tests.oracle import official_parse
from tests.work import count_calls

VALUES = """%a: tensor<4xf32>, %b: tensor<4xf32>, %p: tensor<4xi1>, %n: tensor<4xi32>, %m: tensor<2x3xf32>,
%w: tensor<3x2xf32>, %s: tensor<f32>, %i: tensor<i32>, %k: tensor<i1>, %t: !stablehlo.token"""
HELPER = "func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"


def body(text):
    """Return a module text whose main has the values above and ``text`` for a body."""
    return f"func.func @main({VALUES}) {{\n{text}\nreturn\n}}\n{HELPER}"


def op(text):
    """Return the first op of a body."""
    return parse(body(text)).main.body.ops[0]


# -- round trips


@pytest.mark.parametrize("generic", [False, True], ids=["pretty", "generic"])
@pytest.mark.parametrize("name", MODULES)
@pytest.mark.specifies("reading, printing")
def test_parse_undoes_print(name, generic):
    module = MODULES[name]
    text = print_module(module, generic=generic)
    again = parse(text)
    assert structurally_equal(again, module)
    assert print_module(again, generic=generic) == text
    assert structurally_equal(parse(official_parse(text)), module)


def test_every_enumeration_and_record_is_known():
    kinds = {a.kind for d in PRIMITIVES.values() for a in d.attributes}
    assert {k.partition(":")[2] for k in kinds if k.startswith("enum")} <= set(ENUMS)
    assert all(record.__doc__ for record in RECORDS.values())


# -- equal spellings

SAME = {
    "comments": (
        "%0 = stablehlo.add %a, %b : tensor<4xf32>",
        "%0 =// c\nstablehlo.add %a // , %b\n,%b:tensor<4xf32>//",
    ),
    "names": ("%0 = stablehlo.abs %a : tensor<4xf32>", "%foo.bar-1$ = stablehlo.abs %a : tensor<4xf32>"),
    "function type": (
        "%0 = stablehlo.abs %a : tensor<4xf32>",
        "%0 = stablehlo.abs %a : (tensor<4xf32>) -> tensor<4xf32>",
    ),
    "generic": (
        "%0 = stablehlo.add %a, %b : tensor<4xf32>",
        '%0 = "stablehlo.add" (%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>)',
    ),
    "group of one": (
        "%0 = stablehlo.abs %a : tensor<4xf32>\n%1 = stablehlo.abs %0 : tensor<4xf32>",
        "%r:1 = stablehlo.abs %a : tensor<4xf32>\n%1 = stablehlo.abs %r#0 : tensor<4xf32>",
    ),
    "names of several results": (
        "%0:3 = stablehlo.optimization_barrier %a, %s, %i : tensor<4xf32>, tensor<f32>, tensor<i32>\n"
        "%1 = stablehlo.abs %0#2 : tensor<i32>",
        "%x, %y:2 = stablehlo.optimization_barrier %a, %s, %i : tensor<4xf32>, tensor<f32>, tensor<i32>\n"
        "%1 = stablehlo.abs %y#1 : tensor<i32>",
    ),
    "blanks in types": (
        "%0 = stablehlo.reshape %m : (tensor<2x3xf32>) -> tensor<6xf32>",
        "%0 = stablehlo.reshape %m : (tensor < 2 x3x f32>)\n\n->\n tensor<6 xf32>",
    ),
    "direction in quotes": (
        "%0 = stablehlo.compare LT, %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        '%0 = stablehlo.compare  "LT", %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>',
    ),
    "attributes behind": (
        "%0 = stablehlo.transpose %m, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>",
        '%0 = "stablehlo.transpose"(%m) {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>',
    ),
    "lists of old": (
        "%0 = stablehlo.slice %m [1:2, 1:3] : (tensor<2x3xf32>) -> tensor<1x2xf32>",
        '%0 = "stablehlo.slice"(%m) {limit_indices = dense<[2, 3]> : tensor<2xi64>, start_indices = dense<1> : '
        "tensor<2xi64>, strides = dense<1> : tensor<2xi64>} : (tensor<2x3xf32>) -> tensor<1x2xf32>",
    ),
    "dialect of old": ("%0 = stablehlo.abs %a : tensor<4xf32>", "%0 = mhlo.abs %a : tensor<4xf32>"),
    "reduce": (
        "%0 = stablehlo.reduce(%m init: %s) applies stablehlo.add across dimensions = [0] : "
        "(tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>",
        "%0 = stablehlo.reduce(%m init: %s) across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>\n"
        "reducer(%x: tensor<f32>, %y: tensor<f32>) {\n%z = stablehlo.add %x, %y : tensor<f32>\n"
        "stablehlo.return %z : tensor<f32>\n}",
    ),
    "default attributes": (
        "%0 = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0] : "
        "(tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>",
        '%0 = "stablehlo.dot_general"(%m, %w) <{dot_dimension_numbers = #stablehlo.dot<rhs_contracting_dimensions = '
        "[0], lhs_contracting_dimensions = [1],>}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>",
    ),
    "empty batching": (
        "%0 = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0] : "
        "(tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>",
        "%0 = stablehlo.dot_general %m, %w, batching_dims = [] x [], contracting_dims = [1] x [0] : "
        "(tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>",
    ),
    "scalar slice as MLIR prints it": (
        "%0 = stablehlo.dynamic_slice %s, sizes = [] : (tensor<f32>) -> tensor<f32>",
        "%0 = stablehlo.dynamic_slice %s, , sizes = [] : (tensor<f32>) -> tensor<f32>",
    ),
    "constant in parentheses": (
        "%0 = stablehlo.constant dense<1> : tensor<i32>",
        "%0 = stablehlo.constant() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>",
    ),
    "constants": (
        "%0 = stablehlo.constant dense<[1, -1]> : tensor<2xi8>",
        "%0 = stablehlo.constant dense<[0x1, 255]> : tensor<2xi8>",
    ),
    "splat": (
        "%0 = stablehlo.constant dense<[[2.0, 2.0]]> : tensor<1x2xf32>",
        "%0 = stablehlo.constant dense<2.> : tensor<1x2xf32>",
    ),
    "blob": (
        "%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>",
        '%0 = stablehlo.constant dense<"0x0000803F00000040"> : tensor<2xf32>',
    ),
    "splat as a blob": (
        "%0 = stablehlo.constant dense<1.0> : tensor<2x3xf32>",
        '%0 = stablehlo.constant dense<"0x0000803F"> : tensor<2x3xf32>',
    ),
    "call": (
        "%0 = call @helper(%a) : (tensor<4xf32>) -> tensor<4xf32>",
        '%0 = "func.call"(%a) <{callee = @"helper"}> : (tensor<4xf32>) -> tensor<4xf32>',
    ),
    "location": (
        "%0 = stablehlo.abs %a : tensor<4xf32>",
        '%0 = stablehlo.abs %a : tensor<4xf32> loc(callsite("f"("file.py":1:2 to :3) at fused<"x">["a)", unknown]))',
    ),
}


@pytest.mark.parametrize(("first", "second"), SAME.values(), ids=SAME)
def test_spellings_of_the_same(first, second):
    assert structurally_equal(parse(body(first)), parse(body(second)))


def test_names_restart_in_sibling_regions():
    branch = "{ %x = stablehlo.abs %a : tensor<4xf32> stablehlo.return %x : tensor<4xf32> }"
    case = op(f'%0 = "stablehlo.case"(%i) ({branch}, {branch}) : (tensor<i32>) -> tensor<4xf32>')
    assert [len(region.ops) for region in case.regions] == [1, 1]


def test_packed_booleans_of_old():
    packed = np.packbits(np.arange(200) % 3 == 0, bitorder="little").tobytes().hex()
    constant = op(f'%0 = stablehlo.constant dense<"0x{packed}"> : tensor<200xi1>')
    np.testing.assert_array_equal(constant.attributes["value"], np.arange(200) % 3 == 0)


# -- modules and functions


def test_what_a_module_may_hold():
    module = parse(
        """
        #loc = loc(unknown)
        !t = tensor<4xf32>
        module @jit.f attributes {a.n = 2 : i32, a.flag, a.layout = #layout} {
          func.func public @main(%x: !t {jax.buffer_donor = true} loc("x")) -> (!t {jax.result_info = "r"}) {
            %0 = call @other(%x) : (!t) -> !t loc(#loc1)
            %1 = call @extern(%0) : (!t) -> !t
            return %1 : !t loc(#loc)
          } loc(#loc1)
          func.func private @extern(tensor<4xf32> {a.b = 1 : i64}) -> !t
          func.func @other(%x: !t) -> !t attributes {note} { func.return %x : !t }
          module {
            func.func @"odd name"(%x: !t) -> !t { func.return %x : !t }
          }
        }
        #loc1 = loc("file.py":7:3)
        #layout = dense<[1, 0]> : tensor<2xindex>
        """
    )
    assert [f.name for f in module.functions] == ["main", "extern", "other", "odd name"]
    assert [f.visibility for f in module.functions] == ["public", "private", "", ""]
    assert module.main.argument_attributes == [{"jax.buffer_donor": True}]
    assert place(module.main.body.ops[0]) == ("file.py", 7, 3)
    assert module.main.body.ops[1].location == Location(None, 7, "<string>", 18)
    assert module.main.body.ops[1].attributes["callee"] is module.functions[1]
    assert print_module(module) == print_module(parse(print_module(module)))
    assert print_module(module).splitlines()[0] == (
        "module @jit.f attributes {a.flag, a.layout = dense<[1, 0]> : tensor<2xindex>, a.n = 2 : i32} {"
    )
    assert "  func.func private @extern(tensor<4xf32> {a.b = 1 : i64}) -> tensor<4xf32>\n" in print_module(module)
    with pytest.raises(UnsupportedError, match="declaration"):
        interpret(module.main, [np.ones(4, np.float32)])
    official_parse(print_module(module))


def test_generic_modules_and_functions():
    module = parse(
        """
        "builtin.module"() <{sym_name = "m"}> ({
          "func.func"() <{function_type = (tensor<f32>) -> tensor<f32>, sym_name = "main", arg_attrs = [{a.b}]}> ({
          ^bb0(%x: tensor<f32>):
            "func.return"(%x) : (tensor<f32>) -> ()
          }) {note = 1 : i64} : () -> ()
          "func.func"() <{function_type = () -> (), sym_name = "e", sym_visibility = "private"}> ({}) : () -> ()
        }) {n = 1 : i32} : () -> ()
        """
    )
    assert print_module(module) == (
        "module @m attributes {n = 1 : i32} {\n"
        "  func.func @main(%arg0: tensor<f32> {a.b}) -> tensor<f32> attributes {note = 1 : i64} {\n"
        "    return %arg0 : tensor<f32>\n"
        "  }\n"
        "  func.func private @e()\n"
        "}\n"
    )


CALL = """func.func private @g() -> tensor<f32> {{
  %0 = stablehlo.constant dense<{}> : tensor<f32> loc("c.py":1:2)
  return %0 : tensor<f32>
}}
func.func @{}() -> tensor<f32> {{
  %0 = call @g() : () -> tensor<f32>
  return %0 : tensor<f32>
}} loc("f.py":3:4)"""
INNER = [
    f'module @inner attributes {{a.b}} {{ {CALL.format(1.0, "f")} }} loc("m.py":5:6)',
    f'"builtin.module"() <{{sym_name = "inner"}}> ({{ {CALL.format(1.0, "f")} }}) {{a.b}} : () -> () loc("m.py":5:6)',
]


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("generic", [False, True])
def test_modules_inside_keep_their_functions_and_places(inner, generic):
    mesh = 'sdy.mesh @mesh = <["x"=2]> loc("s.py":7:8)'
    module = parse(f"module @outer attributes {{c.d}} {{ {mesh} {inner} {CALL.format(2.0, 'main')} }}")
    assert (module.name, list(module.attributes)) == ("outer", ["c.d", PREAMBLE])
    assert [(m.name, m.attributes, [f.name for f in m.functions]) for m in module.modules] == [
        ("inner", {"a.b": UNIT}, ["g", "f"])
    ]
    assert [float(interpret(f, [])[0]) for f in module.functions if f.name in ("f", "main")] == [1, 2]
    assert module.main.name == "main"
    text = print_module(module, generic=generic, locations=True)
    for place in ('<["x"=2]> loc("s.py":7:8)', '} loc("m.py":5:6)', '} loc("f.py":3:4)', 'loc("c.py":1:2)'):
        assert place in text
    assert print_module(parse(text), generic=generic, locations=True) == text
    again = parse(official_parse(text))
    assert structurally_equal(again, module)
    assert print_module(again) == print_module(module)


def test_modules_side_by_side_are_inside_one():
    module = parse(f"module @a {{ {CALL.format(1.0, 'main')} }} module @b {{ {CALL.format(2.0, 'main')} }}")
    assert (module.name, [m.name for m in module.modules]) == ("", ["a", "b"])
    assert structurally_equal(parse(official_parse(print_module(module))), module)
    assert float(interpret(module.main, [])[0]) == 1
    with pytest.raises(ParseError, match="@g"):
        parse(
            f"module @outer {{ module {{ {CALL.format(1.0, 'f')} }} func.func @main() {{ call @g() : () -> () return }} }}"
        )


def test_locations_of_text():
    assert op("\n  %0 = stablehlo.abs %a : tensor<4xf32>").location == Location(None, 4, "<string>", 8)
    assert op("%0 = stablehlo.abs %a : tensor<4xf32> loc(unknown)").location.parts == (UNKNOWN,)


PLACES = {
    'loc("a.py":7:3)': ("a.py", 7, 3),
    'loc("a.py":7)': ("a.py", 7, 0),
    'loc("a.py":7:3 to :9)': ("a.py", 7, 3),
    'loc("a.py":7:3 to 8:9)': ("a.py", 7, 3),
    'loc("name"("a.py":7:3))': ("a.py", 7, 3),
    'loc("name")': ("<string>", 1, 34),
    'loc(callsite("f"("a.py":7:3) at #p))': ("a.py", 7, 3),
    "loc(callsite(unknown at #p))": ("b.py", 1, 2),
    'loc(fused<"x">[unknown, #p, loc("a.py":7:3)])': ("b.py", 1, 2),
    "loc(#q)": ("b.py", 1, 2),
}


def place(op):
    return op.location.filename, op.location.line, op.location.column


@pytest.mark.parametrize(("text", "expected"), PLACES.items())
def test_places_behind_an_op(text, expected):
    module = parse(
        f'#q = loc(#p) func.func @main() {{ stablehlo.optimization_barrier () {text} return }} #p = loc("b.py":1:2)'
    )
    assert place(module.main.body.ops[0]) == expected


def test_meshes_are_kept():
    text = (
        'module @m {\n  sdy.mesh @mesh = <["x"=2]>\n'
        '  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {\n'
        "    return\n  }\n}\n"
    )
    assert print_module(parse(text)) == text
    official_parse(text)


def test_resources():
    text = """
    func.func @main() -> tensor<2xf32> {
      %0 = stablehlo.constant dense_resource<weights> : tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    {-# dialect_resources: { builtin: { weights: "0x040000000000803F00000040" } } #-}
    """
    np.testing.assert_array_equal(interpret(parse(text).main, [])[0], np.array([1, 2], np.float32))
    with pytest.raises(ParseError, match=r"^4 bytes in the resource, where tensor<2xf32> takes 8\n"):
        parse(text.replace("3F00000040", "3F"))


# -- types and attributes

TYPES = {
    "tensor<2x3xf32>": None,
    "tensor<0x10x1xi8>": None,
    "tensor<?x4xbf16>": None,
    "tensor<2xcomplex<f64>>": None,
    "tensor<ui2>": None,
    "tensor<f4E2M1FN>": None,
    "tensor<?x3xf32, #stablehlo.bounds<8, ?>>": None,
    "tensor<?xf32, #stablehlo.type_extensions<bounds = [8]>>": "tensor<?xf32, #stablehlo.bounds<8>>",
    "tensor<*xf32>": None,
    "tensor<2xindex>": None,
    "tensor<4x!quant.uniform<i8<-127:127>:f32:0, {0.1:-30, 0.5}>>": None,
    "!stablehlo.token": None,
    "!stablehlo.future<tensor<4xf32>>": None,
    "tuple<tensor<f32>, tuple<>>": None,
    "index": None,
    "tensor<2x3xf32, dense<[0, 1]> : tensor<2xi64>>": None,
}


@pytest.mark.parametrize(("text", "expected"), TYPES.items())
def test_types(text, expected):
    module = parse(f"func.func @main(%x: {text}) {{ return }}")
    assert str(module.main.body.arguments[0].type) == (expected or text)


ATTRIBUTES = {
    "3 : i64": 3,
    "3": 3,
    "-1 : i32": np.int32(-1),
    "76 : ui8": np.uint8(76),
    "0 : index": None,
    "1.500000e+00 : f32": np.float32(1.5),
    "1.5": 1.5,
    "0x7F800000 : f32": np.float32(np.inf),
    "true": True,
    '"x\\22y\\\\z\\0A\\C3\\A9"': 'x"y\\z\né',
    "@main": None,
    "@a::@b": None,
    "tensor<4xf32>": TensorType((4,), np.dtype("float32")),
    "(tensor<f32>) -> tensor<f32>": None,
    '[1, "a", [0]]': (1, "a", (0,)),
    '{x = 1, "odd name" = 2, flag}': None,
    "array<i64: 1, 2>": (1, 2),
    "array<i64>": (),
    "array<i1: true, false>": (True, False),
    "dense<[1, 2]> : tensor<2xi64>": None,
    "#stablehlo<comparison_direction LT>": None,
    '#sdy.sharding<@mesh, [{"x"}, {}]>': None,
    "affine_map<(d0) -> (d0)>": None,
    "loc(unknown)": None,
    "unit": None,
    "#stablehlo.gather<offset_dims = [1], index_vector_dim = 2>": RECORDS["gather"]((1,), index_vector_dim=2),
    "#stablehlo.channel_handle<handle = 1, type = 0>": None,
}


@pytest.mark.parametrize(("text", "expected"), ATTRIBUTES.items())
@pytest.mark.specifies("reading")
def test_attributes_are_read_and_printed_back(text, expected):
    value = op(f"%0 = stablehlo.abs %a {{x = {text}}} : tensor<4xf32>").attributes["x"]
    if expected is not None:
        assert value == expected
    module = parse(body(f"%0 = stablehlo.abs %a {{x = {text}}} : tensor<4xf32>"))
    printed = print_module(module)
    assert structurally_equal(parse(printed), module)
    assert print_module(parse(printed)) == printed


def test_foreign_attributes_and_functions_among_attributes():
    text = 'stablehlo.custom_call @f(%a) {called_computations = [@helper], o = [#x.y<"a>b">]} : (tensor<4xf32>) -> ()'
    module = parse(body(text))
    assert module.main.body.ops[0].attributes["called_computations"] == (module.functions[1],)
    assert text in print_module(module).replace("%arg0", "%a")


# -- ops that numhlo does not know


def test_unknown_ops_are_kept():
    known = dict(PRIMITIVES)
    text = (
        '    %0:2 = "other.op"(%arg0) ({\n    ^bb0(%arg10: tensor<f32>):\n      stablehlo.return %arg10 : tensor<f32>\n'
        "    }) {a = 1 : i64, b = #other<x>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>)\n"
    )
    module = parse(body(text.replace("%arg0", "%a")))
    assert text in print_module(module)
    assert known == PRIMITIVES
    assert structurally_equal(parse(print_module(module)), module)
    arrays = [np.zeros(4, np.float32)] * 10
    with pytest.raises(UnsupportedError, match=re.escape("other.op can't be run: numhlo has no definition of it")):
        interpret(module.main, arrays)


@pytest.mark.parametrize("name", ["", ".", ".stablehlo.add", "stablehlo.", "a..b", "x"])
def test_names_of_unknown_ops_are_kept_to_the_letter(name):
    module = parse(body(f'%0 = "{name}"(%a) {{k = dense<2> : tensor<i2>}} : (tensor<4xf32>) -> tensor<4xf32>'))
    assert f'"{name}"(' in print_module(module)
    assert print_module(parse(print_module(module))) == print_module(module)


def test_a_private_function_behind_a_module_stays_private():
    text = "module { func.func @f() { return } } func.func private @r() { return }"
    printed = print_module(parse(text))
    assert "private @r" in printed and print_module(parse(printed)) == printed


def test_a_barrier_of_another_type_is_printed_as_it_is():
    """The verifier refuses it; its own form has one type for operand and result."""
    module = parse(body('%0 = "stablehlo.optimization_barrier"(%a) : (tensor<4xf32>) -> tensor<2x2xf32>'))
    assert structurally_equal(parse(print_module(module)), module)


def test_ops_of_other_dialects_keep_their_names():
    """Another dialect's op of a known name is another op, in the body of a reduction too."""
    text = body("""%0 = "stablehlo.reduce"(%m, %s) <{dimensions = array<i64: 0>}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %z = "other.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%z) : (tensor<f32>) -> ()
      }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>""")
    printed = print_module(parse(text))
    assert '"other.add"(' in printed
    assert structurally_equal(parse(printed), parse(text))


# -- speed


@pytest.mark.specifies("reading")
def test_parsing_takes_work_in_proportion_to_the_text():
    def ops(count):
        b = FunctionBuilder("main", [TensorType((4,), np.dtype("float32"))])
        (x,) = b.arguments
        for number in range(count):
            x = b.op(elementwise.ADD, x, b.constant(np.full(4, number, np.float32)))
        return print_module(_module(b, x))

    def blob(count):
        b = FunctionBuilder("main", [])
        return print_module(_module(b, b.constant(np.random.default_rng(0).standard_normal(count))))

    small, large = (count_calls(parse, ops(count)) for count in (500, 3000))
    assert large < 7 * small  # quadratic work would be 36 times as much
    assert count_calls(parse, blob(600_000)) < 2 * count_calls(
        parse, blob(1000)
    )  # read at once, in seconds if not in proportion


def _module(builder, value):
    return Module([builder.finish([value])])


def test_long_blobs_are_found_by_searching():
    blob = np.arange(3000, dtype=np.float32)
    digits = f'"0x{blob.tobytes().hex()}"'
    text = f"""func.func @main() -> (tensor<3000xf32>, tensor<3000xf32>) {{
      // %0 = stablehlo.constant dense<{digits}> : tensor<3000xf32>
      %0 = stablehlo.constant dense<{digits}> : tensor<3000xf32> %1 = stablehlo.constant dense<{digits}> : tensor<3000xf32>
      "x.y"() {{note = "\\"0x{"00" * 3000}\\"", short = "0x00"}} : () -> ()
      return %0, %1 : tensor<3000xf32>, tensor<3000xf32>
    }}"""
    first, second, other = parse(text).main.body.ops
    for op in (first, second):
        np.testing.assert_array_equal(op.attributes["value"], blob)
    assert (first.location.line, second.location.line, other.location.line) == (3, 3, 4)
    assert len(other.attributes["note"]) == 6004
    with pytest.raises(ParseError, match=r"<string>:3:\d+"):
        parse(text.replace("%1 =", "%0 ="))
