"""The grammar of HLO text: forms, scopes, headers, tables; and what is no HLO, with its place."""

import contextlib
import re
import time

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.hlo.parser import parse_records
from numhlo.lowering.ir.errors import ParseError
from tests.lowering.hlo import texts
from tests.lowering.hlo.judges import FORMS, normal, ops_of, printed_by_xla, read_by_xla, same_bits

NAMES = [name for name, text in vars(texts).items() if name.isupper() and isinstance(text, str)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.specifies("HLO text read")
def test_texts_are_read_in_every_form(name):
    text = getattr(texts, name)
    module = stablehlo.from_hlo(text)
    module.verify()
    plain = module.as_text()
    for options in FORMS.values():
        printed = printed_by_xla(read_by_xla(text), **options)
        if "bitcast" in printed and "include_layout_in_shapes" in options:
            continue  # without layouts it has another meaning
        if re.search(r"\b(async|copy|collective-permute)-start", printed) is None:
            assert ops_of(stablehlo.from_hlo(printed).as_text()) == ops_of(plain)


def test_lines_mean_nothing():
    for text in (texts.SHORT, texts.LOOPS, texts.CONSTANTS, texts.INDEXING):
        assert stablehlo.from_hlo(" ".join(text.split())).as_text() == stablehlo.from_hlo(text).as_text()


def test_values():
    x = normal(2, 3)
    (found,) = stablehlo.from_hlo(texts.LONG).run("main", x, np.int32(1))
    np.testing.assert_allclose(found, np.repeat(x.sum(1)[:, None], 3, 1), 1e-6)
    y, z = np.array([3, 4], np.float32), np.array([5, 6], np.float32)
    assert same_bits(stablehlo.from_hlo(texts.NESTED).run("main", y, z), [np.array([-2, 2], np.float32)])
    first, second = stablehlo.from_hlo(texts.ORDER).run("main", np.float32(1), np.float32(2))
    assert (first, second) == (2, 1)


def test_the_root_need_not_be_last_and_the_entry_neither():
    text = """HloModule m
    ENTRY first { x = f32[] parameter(0)  ROOT y = f32[] negate(x)  z = f32[] add(x, x) }
    other { x = f32[] parameter(0)  ROOT y = f32[] add(x, x) }"""
    assert stablehlo.from_hlo(text).run("main", np.float32(3)) == (-3,)
    assert stablehlo.from_hlo(text.replace("ENTRY ", "")).run("main", np.float32(3)) == (6,)
    unmarked = text.replace("ROOT ", "")
    assert stablehlo.from_hlo(unmarked).run("main", np.float32(3)) == (6,)


def test_names_may_look_like_opcodes():
    text = """HloModule add.1
    add { add = f32[] parameter(0)  tuple.3 = f32[] parameter(1)  ROOT while-1.x_2 = f32[] add(add, tuple.3) }
    ENTRY ENTRY.1 { constant.2 = f32[] constant(2)  ROOT call = f32[] call(constant.2, constant.2), to_apply=add }"""
    assert stablehlo.from_hlo(text).run("main") == (4,)
    read_by_xla(text)


def test_parameters_are_by_number():
    text = "HloModule m ENTRY e { b = f32[] parameter(1) a = f32[] parameter(0) ROOT c = f32[] subtract(a, b) }"
    assert stablehlo.from_hlo(text).run("main", np.float32(5), np.float32(3)) == (2,)


def test_what_the_header_says_of_devices():
    text = "HloModule m, replica_count=2, num_partitions=3 ENTRY e { ROOT a = f32[] parameter(0) }"
    module = stablehlo.from_hlo(text)
    assert module.graph.attributes == {"mhlo.num_replicas": 2, "mhlo.num_partitions": 3}
    assert module.as_hlo_text().startswith("HloModule m, replica_count=2, num_partitions=3\n")


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("HloModule", "1:10", "expected a name, found end of text"),
        ("HloModule m", "1:12", "expected a computation"),
        ("HloModule m, x=", "1:16", "expected a value"),
        ("HloModule m, x=1, x=2", "1:19", "x is given twice"),
        ("HloModule m\ne {", "2:4", "expected '}'"),
        ("HloModule m\ne { }", "2:1", "a computation without instructions"),
        (
            "HloModule m\ne { x = f32[] parameter(0) }\ne { x = f32[] parameter(0) }",
            "3:1",
            "computation e is defined twice",
        ),
        ("HloModule m\ne { x = f32[] parameter(0)\n x = f32[] parameter(1) }", "3:2", "x is defined twice"),
        ("HloModule m\ne { x = f32[] parameter(1) }", "2:5", "parameters must be numbered 0 to 0"),
        ("HloModule m\ne { x = f32[] parameter(-1) }", "2:25", "the number of a parameter"),
        ("HloModule m\ne { x = parameter(0) }", "2:5", "a parameter needs a type"),
        ("HloModule m\ne { x = constant(0) }", "2:9", "a constant needs a type"),
        ("HloModule m\ne { x = token[] constant(0) }", "2:17", "no constants of type !stablehlo.token"),
        ("HloModule m\ne { x = f32[] constant(0 }", "2:15", "the parentheses of this constant are not closed"),
        ("HloModule m\ne { x = f32[] constant(a) }", "2:15", "a is no number"),
        ("HloModule m\ne { x = f32[] 3() }", "2:15", "expected an opcode, found 3"),
        ("HloModule m\ne { x = f32[] add(y, y) }", "2:19", "y is not defined before this"),
        ("HloModule m\ne { x f32[] parameter(0) }", "2:7", "expected '='"),
        (
            "HloModule m\ne { x = f32[] parameter(0)  y = f32[] abs(s32[] x) }",
            "2:43",
            "x is of type tensor<f32>, not tensor<i32>",
        ),
        ("HloModule m\ne { x = f32[] parameter(0)  ROOT y = f32[] abs(x)  ROOT z = f32[] abs(x) }", "2:57", "one ROOT"),
        ("HloModule m\nENTRY e { x = f32[] parameter(0) }\nENTRY f { x = f32[] parameter(0) }", "3:1", "one ENTRY"),
        (
            "HloModule m\ne (x: s32[]) -> f32[] { x = f32[] parameter(0) }",
            "2:3",
            "does not have the types of its parameters",
        ),
        ("HloModule m\ne (x: f32[]) -> s32[] { x = f32[] parameter(0) }", "2:3", "returns another type"),
        ("HloModule m\ne { x = f32[] parameter(0), odd=3 }", "2:29", "unknown attribute odd"),
        ("HloModule m\ne { x = f32[] parameter(0), metadata={}, metadata={} }", "2:42", "metadata is given twice"),
        ("HloModule m\ne { x = f32[] parameter(0), metadata={a b} }", "2:41", "expected '='"),
        ("HloModule m\ne { x = f32[] parameter(0), sharding={ }", "2:41", "expected '}', found end of text"),
        ("HloModule m\nFileNames\n1 2\ne { x = f32[] parameter(0) }", "3:3", "expected '{'"),
        ("HloModule m\ne { x = (f32[] parameter(0) }", "2:16", "expected ','"),
        ("HloModule m\ne { x = f32[] abs(f32[] }", "2:25", "expected a name"),
        ("HloModule m\ne { x = f32[] parameter(0) /* never closed", "2:43", "expected '}'"),
    ],
)
@pytest.mark.specifies("malformed text")
def test_what_is_no_hlo(text, place, message):
    with pytest.raises(ParseError) as caught:
        stablehlo.from_hlo(text, "x.hlo")
    shown = str(caught.value)
    assert message in shown.splitlines()[0]
    assert f"at x.hlo:{place}\n" in shown
    assert re.search(r"\n    .*\n    *\^", shown)


# -- time and depth


def seconds(text):
    start = time.process_time()
    with contextlib.suppress(ParseError):
        stablehlo.from_hlo(text)
    return time.process_time() - start


HEAD = "HloModule m\nENTRY e {\n"


@pytest.mark.parametrize(
    "make",
    [
        lambda n: f"{HEAD}x = f32[{n}] constant({{{','.join(['1.5'] * n)}}}) }}",
        lambda n: f"{HEAD}x = f32[] constant(1)\n" + "".join([f"y{k} = f32[] abs(x)\n" for k in range(n // 4)]) + "}",
        lambda n: HEAD + "constant(" * n,
        lambda n: HEAD + "constant((a)" * n,
        lambda n: HEAD + "/*" * n,
        lambda n: HEAD + "/* */" * n,
        lambda n: HEAD + '"\\' * n,
        lambda n: HEAD + "a-" * n,
        lambda n: HEAD + "1_" * n,
        lambda n: HEAD + "b0f_" * n,
        lambda n: HEAD + "f32[" * n,
        lambda n: HEAD + "f32[1]{" * n,
        lambda n: HEAD + "f32[1]{0:" + "(" * n + "}",
        lambda n: HEAD + "x = " + "(" * n,
        lambda n: HEAD + "x = f32[] add(" * n,
        lambda n: HEAD + "x = f32[] parameter(0), sharding=" + "{" * n,
        lambda n: HEAD + "x = (" + ", ".join(["f32[]"] * n) + ") parameter(0) }",
        lambda n: "HloModule m" + ", x={}" * n,
        lambda n: "HloModule m\nFileNames\n" + '1 "a"\n' * n,
        lambda n: HEAD + f"x = f32[] constant({'9' * n}) }}",
        lambda n: HEAD + f"x = s32[] constant({'9' * n}) }}",
        lambda n: HEAD + f"x = f32[{'9' * n}] parameter(0) }}",
        lambda n: HEAD + f"x = f32[] parameter({'9' * n}) }}",
        lambda n: HEAD + f"x = f32[{','.join(['1'] * n)}] parameter(0) }}",
    ],
)
def test_time_is_linear(make):
    few, many = seconds(make(3000)), seconds(make(30000))
    assert many < 2
    assert many < 40 * few + 0.2


@pytest.mark.parametrize("text", [HEAD + "x = " + "(" * 100 + "f32[]", HEAD + "x = f32[] abs(" + "f32[] abs(" * 100])
def test_depth_is_bounded(text):
    with pytest.raises(ParseError, match="nested deeper than 64 levels"):
        stablehlo.from_hlo(text)


def test_places_of_instructions():
    module, _ = parse_records(texts.SHORT, "x.hlo")
    root = module.entry.root
    assert (root.location.filename, root.location.line, root.location.column) == ("x.hlo", 12, 8)
    text = 'HloModule m\nENTRY e {\n  x = f32[] parameter(0)\n  ROOT y = f32[] abs(x), metadata={op_name="f/abs"}\n}'
    assert 'loc("f/abs"("x.hlo":4:8))' in stablehlo.from_hlo(text, "x.hlo").as_text(locations=True)
