"""Texts that are made to take time, memory or another program's place: each is refused, with its line and column."""

import gc
import os
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest

import numhlo
from numhlo import stablehlo
from numhlo.array_file import read_array
from numhlo.lowering.ir.errors import ArgumentError, ParseError, UnsupportedError, VerificationError
from numhlo.lowering.ir.structure import structurally_equal
from numhlo.lowering.text.lexer import DEEPEST
from tests.lowering.text.test_parser import body
from tests.work import count_calls

FUNCTION = "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"


def chain(link, last, length, *, reverse=False):
    """Return aliases, each made of the one before it."""
    lines = [
        f"{link[0]}a0 = {last}",
        *[f"{link[0]}a{k + 1} = {link[1:].format(f'{link[0]}a{k}')}" for k in range(length)],
    ]
    return "\n".join(reversed(lines) if reverse else lines)


def refused(text):
    with pytest.raises(ParseError) as caught:
        stablehlo.parse(text).as_text()
    return str(caught.value)


# -- aliases


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("link", "last"), [("!tuple<{0}, {0}>", "tensor<f32>"), ("#[{0}, {0}]", "1"), ("#{{a = {0}, b = {0}}}", "1")]
)
@pytest.mark.specifies("malformed text")
def test_aliases_that_double(link, last, reverse):
    text = f"{chain(link, last, 30, reverse=reverse)}\n{FUNCTION}"
    start = time.process_time()
    assert "makes the text too long: aliases stand for" in refused(text)
    assert time.process_time() - start < 2


def test_the_message_about_aliases():
    text = f"#a = [{', '.join(map(str, range(1000)))}]\nmodule attributes {{x = [{', '.join(['#a'] * 100)}]}} {{}}"
    what, place, *_ = refused(text).splitlines()
    assert what == "#a makes the text too long: aliases stand for 151,621 characters in a text of 5,323"
    assert place == "  at <string>:2:145"


def test_aliases_that_are_used_often():
    """As exporters write them: for as much as the text can be."""
    uses = "\n".join(f"%{k} = stablehlo.abs %a {{s = #s}} : !t" for k in range(1000))
    text = f"#s = [{', '.join(['{axis}'] * 20)}]\n!t = tensor<4xf32>\n{body(uses)}"
    module = stablehlo.parse(text)
    assert structurally_equal(stablehlo.parse(module.as_text()).graph, module.graph)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("link", "last"), [("!tuple<{0}>", "tensor<f32>"), ("#[{0}]", "1"), ("#{{a = {0}}}", "1")])
def test_aliases_that_nest(link, last, reverse):
    assert "nested deeper than 64 levels" in refused(f"{chain(link, last, 5000, reverse=reverse)}\n{FUNCTION}")
    stablehlo.parse(f"{chain(link, last, DEEPEST // 2 - 2, reverse=reverse)}\n{FUNCTION}").as_text()


def test_a_type_of_itself():
    assert "nested deeper than 64 levels" in refused(f"!a = tuple<!b>\n!b = tuple<!a>\n{FUNCTION}")


def test_chains_of_locations_are_followed_once():
    def program(count):
        links = "".join(f"#l{k} = loc(#l{k + 1})\n" for k in range(count))
        ops = "".join(f"%{k} = stablehlo.abs %a : tensor<4xf32> loc(#l{k})\n" for k in range(count))
        return f"{links}#l{count} = loc(unknown)\n{body(ops)}"

    modules = [stablehlo.parse(program(count)) for count in (500, 1000)]
    few, many = [count_calls(lambda module=module: module.as_text(locations=True)) for module in modules]
    assert many < 2.2 * few


# -- characters and names

HALVES = {
    "attribute with an escape": 'module attributes {a = "\\22\ud800"} {}',
    "attribute": 'module attributes {a = "\udfff"} {}',
    "byte that is no character": 'module attributes {a = "\udcff"} {}',
    "name of a function": FUNCTION.replace("@main", '@"m\\41\ud800"'),
    "location": FUNCTION.replace("f32> }", 'f32> loc("\ud800") }'),
    "comment": f"// \ud800\n{FUNCTION}",
    "outside of strings": f"\ud800{FUNCTION}",
}


@pytest.mark.parametrize("text", HALVES.values(), ids=HALVES)
@pytest.mark.specifies("malformed text")
def test_halves_of_characters(text):
    what, place, shown, caret = refused(text).splitlines()
    assert what.endswith("is half of a character: no text in UTF-8 has it") and what.startswith("U+D")
    assert place.startswith("  at <string>:1:")
    assert shown.isprintable() and caret.strip() == "^"


@pytest.mark.parametrize("text", ['"\\FF\\FE"', '"\\00\\0A"', '"é\\22"', '"\\5C"', '"\U0001f600"'])
def test_bytes_and_characters_go_round(text):
    module = stablehlo.parse(f"module attributes {{a = {text}}} {{}}")
    assert stablehlo.parse(module.as_text()).graph.attributes == module.graph.attributes
    assert module.as_text().isascii()


@pytest.mark.parametrize("name", [r"a.b\22", r"a.\5Cb", r"a.b\0A", r"a.b\FF", "a.é", "a.b c", "add", "x."])
def test_names_of_ops_are_escaped(name):
    text = f"""func.func @main(%x: tensor<f32>) {{
      %0 = "{name}"(%x) : (tensor<f32>) -> tensor<f32>
      return
    }}"""
    module = stablehlo.parse(text)
    printed = module.as_text()
    assert len(stablehlo.parse(printed).graph.main.body.ops) == 1
    assert stablehlo.parse(printed).as_text() == printed
    (op,), (again,) = (m.graph.main.body.ops for m in (module, stablehlo.parse(printed)))
    assert again.definition is op.definition


# -- what unverified programs hold

GENERIC_ONLY = {
    "slice": '"stablehlo.slice"(%a) <{limit_indices = array<i64: 1, 2>, start_indices = array<i64: 0>, '
    "strides = array<i64: 1>}> : (tensor<4xf32>) -> tensor<4xf32>",
    "constant": '"stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<2xi1>',
    "reduce_precision": '"stablehlo.reduce_precision"(%a) <{exponent_bits = -1 : i32, mantissa_bits = 0 : i32}> : '
    "(tensor<4xf32>) -> tensor<4xf32>",
    "reduce": '"stablehlo.reduce"(%t) <{dimensions = array<i64: 0>}> ({ stablehlo.return }) : '
    "(!stablehlo.token) -> tensor<f32>",
    "reduce of tokens": '"stablehlo.reduce"(%t, %t) <{dimensions = array<i64: 0>}> ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n'
    "%z = stablehlo.add %x, %y : tensor<f32>\nstablehlo.return %z : tensor<f32>\n}) : "
    "(!stablehlo.token, !stablehlo.token) -> tensor<f32>",
}  # fmt: skip


@pytest.mark.parametrize("name", GENERIC_ONLY)
def test_programs_that_no_pretty_form_can_say(name):
    module = stablehlo.parse(body(f"%0 = {GENERIC_ONLY[name]}"))
    printed = module.as_text()
    assert stablehlo.parse(printed).as_text() == printed
    with pytest.raises(VerificationError):
        module.verify()


@pytest.mark.parametrize(
    "text",
    [
        "%0 = stablehlo.get_tuple_element %a[2147483648] : (tensor<4xf32>) -> tensor<4xf32>",
        "%0 = stablehlo.reduce_precision %a, format = e4294967295m1 : tensor<4xf32>",
        "%c = arith.constant 1 : index\n%0 = shape.const_shape [1.0e999] : tensor<1xindex>",
        "%0 = shape.const_shape 3 : tensor<1xindex>",
        "%0 = tensor.from_elements : tensor<4611686018427387904xindex>",
        "%0 = tensor.from_elements : !stablehlo.token",
        '%0 = "x.y"() : () -> tensor<2x!quant.uniform<i8:f32:0, {1.0e999, 1.0}>>',
        "%0 = shape.const_shape [1] : tensor<1xindex>\n%1 = shape.assuming %0 -> (index) { shape.assuming_yield %0 : index }",
        '%0 = "stablehlo.dynamic_slice"(%s) <{slice_sizes = dense<18446744073709551615> : tensor<2xui64>}> : '
        "(tensor<f32>) -> tensor<f32>",
        '"shape.assuming"() ({ "shape.assuming_yield"() : () -> () }) : () -> ()',
        '%0 = "arith.cmpi"(%i, %i) <{predicate = 10 : i64}> : (tensor<i32>, tensor<i32>) -> tensor<i1>',
        '%0 = "arith.cmpi"(%i, %i) <{predicate = -1 : i64}> : (tensor<i32>, tensor<i32>) -> tensor<i1>',
    ],
)
@pytest.mark.specifies("malformed text")
def test_numbers_out_of_range(text):
    refused(body(text))


def test_shapes_of_too_many_extents():
    text = "func.func @main(%x: tensor<1000000000xi64>) { %0 = shape.num_elements %x : tensor<1000000000xindex> -> index return }"
    assert refused(text).startswith("a shape of 1000000000 extents: there may be 1024\n")


# -- where messages get their lines


@pytest.mark.parametrize(
    "name", ["/dev/zero", "/dev/stdin", "secret.txt", "folder.py", "missing.py", "a\0b.py", "x" * 5000 + ".py"]
)
def test_files_that_are_no_source_are_not_read(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "folder.py").mkdir()
    escaped = name.replace("\0", "\\00")
    text = body(f'%0 = stablehlo.transpose %a, dims = [1] : (tensor<4xf32>) -> tensor<4xf32> loc("{escaped}":1:1)')
    with pytest.raises(VerificationError) as caught:
        stablehlo.parse(text, "m.mlir").verify()
    assert "secret" not in str(caught.value).replace("secret.txt", "")
    (tmp_path / "shown.py").write_text("x = transpose(x)\n")
    with pytest.raises(VerificationError, match=r"shown\.py:1:1:  x = transpose\(x\)"):
        stablehlo.parse(text.replace(escaped, "shown.py"), "m.mlir").verify()


# -- functions that call each other


def calls_in_calls(count):
    row = "tensor<3xf32>"
    functions = [
        f"func.func private @f{k}(%x: {row}) -> {row} {{ %0 = call @f{k + 1}(%x) : ({row}) -> {row} return %0 : {row} }}"
        for k in range(count)
    ]
    last = f"func.func private @f{count}(%x: {row}) -> {row} {{ return %x : {row} }}"
    main = f"func.func @main(%x: {row}) -> {row} {{ %0 = call @f0(%x) : ({row}) -> {row} return %0 : {row} }}"
    return stablehlo.parse("\n".join([main, *functions, last]))


TRANSFORMED = {
    "vmap": lambda f: numhlo.vmap(f)(np.ones((2, 3), np.float32)),
    "jit of vmap": lambda f: numhlo.jit(numhlo.vmap(f))(np.ones((2, 3), np.float32)),
    "grad": lambda f: numhlo.grad(lambda x: f(x).sum())(np.ones(3, np.float32)),
    "jvp": lambda f: numhlo.jvp(f, (np.ones(3, np.float32),), (np.ones(3, np.float32),)),
    "vmap of grad": lambda f: numhlo.vmap(numhlo.grad(lambda x: f(x).sum()))(np.ones((2, 3), np.float32)),
    "checks": lambda f: numhlo.jit(f, check="nan")(np.ones(3, np.float32)),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_long_chains_of_calls(name):
    """As deep as Python's stack is, and no deeper: they are refused, or done."""
    module = calls_in_calls(400)
    module.verify()
    with pytest.raises(numhlo.errors.NumhloError, match=r"nested too deeply|too deep for the interpreter"):
        TRANSFORMED[name](module.callable())
    TRANSFORMED[name](calls_in_calls(20).callable())


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ("f32: 1.0e999, 0x7F800000, 0x7FC00000, 2.0", "f32: 0x7F800000, 0x7F800000, 0x7FC00000, 2.000000e+00"),
        ("f64: 1.5, -1.0e999", "f64: 1.500000e+00, 0xFFF0000000000000"),
        ("i8: -3, 0x7", "i8: -3, 7"),
        ("i1: true, false", "i1: true, false"),
    ],
)
def test_elements_of_dense_arrays_are_of_its_type(given, printed):
    text = body(f'"a.b"() {{x = array<{given}>}} : () -> ()')
    once = stablehlo.parse(text).as_text()
    assert f"array<{printed}>" in once and stablehlo.parse(once).as_text() == once


@pytest.mark.parametrize("given", ["i64: 1.5", "i64: 1.0e999", "i8: 300", "i32: true", "f32: true", "i64: 1 : i8"])
def test_elements_of_another_type_are_refused(given):
    assert refused(body(f'"a.b"() {{x = array<{given}>}} : () -> ()'))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no /dev/zero")
@pytest.mark.parametrize("load", [stablehlo.load, numhlo.load])
def test_files_without_an_end_are_not_read(load, tmp_path):
    path = tmp_path / "endless.mlir"
    path.symlink_to("/dev/zero")
    with pytest.raises(UnsupportedError, match=r"endless\.mlir is a device, not a file"):
        load(path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes among files")
@pytest.mark.parametrize("load", [stablehlo.load, numhlo.load])
def test_pipes_are_read_if_somebody_writes(load, tmp_path):
    path = tmp_path / "pipe.mlir"
    os.mkfifo(path)
    with pytest.raises(UnsupportedError, match=r"pipe\.mlir is a pipe that nobody writes into"):
        load(path)
    with pytest.raises(ArgumentError, match=r"pipe\.mlir is a pipe"):
        read_array(str(path))
    text = numhlo.export(lambda x: x + 1, np.float32(1)).as_text() + "//" + "x" * 200_000  # more than a pipe holds
    writer = open(os.open(path, os.O_RDWR), "w", encoding="utf-8")  # noqa: SIM115 - the thread closes it

    def write():
        with writer:
            writer.write(text)

    thread = threading.Thread(target=write)
    thread.start()
    program = load(path)
    thread.join()
    assert "stablehlo.add" in program.as_text()


# -- what stays in memory


def unknown_ops(count, first, length):
    """Read, print and verify programs, each of which has an op of a name of its own."""
    for k in range(first, first + count):
        line = f'%y = "d{k}.{"x" * length}"(%x) : (tensor<f32>) -> tensor<f32>'
        module = stablehlo.parse(FUNCTION.replace("{ ", f"{{ {line}\n"))
        module.as_text(generic=True)
        module.verify()
        with pytest.raises(UnsupportedError):
            module.interpret("main", np.float32(1))


def test_names_of_unknown_ops_go_with_their_programs():
    unknown_ops(1, 0, 10_000)
    gc.collect()
    tracemalloc.start()
    try:
        unknown_ops(100, 1, 10_000)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < 500_000
    finally:
        tracemalloc.stop()


def test_one_name_of_an_unknown_op_is_one_record():
    one, other = (stablehlo.parse(body('%1 = "a.b"(%a) : (tensor<4xf32>) -> tensor<4xf32>')) for _ in range(2))
    assert one.graph.functions[0].body.ops[0].definition is other.graph.functions[0].body.ops[0].definition


def test_long_types_go_with_their_programs():
    rank = 2000
    tracemalloc.start()
    try:
        for k in range(100):
            type = f"tensor<{'1x' * rank}{k}xf32>"
            stablehlo.parse(f"func.func @main(%x: {type}) -> {type} {{ return %x : {type} }}")
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < 500_000
    finally:
        tracemalloc.stop()
