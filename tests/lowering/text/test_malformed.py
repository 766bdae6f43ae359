"""Text that is not StableHLO: refused with a `ParseError`, never with another error, and never after a long time."""

import random
import re
import time

import pytest

from numhlo.lowering.ir.errors import ParseError
from numhlo.lowering.ir.structure import structurally_equal
from numhlo.lowering.text import parse, print_module
from tests.lowering.text.programs import MODULES
from tests.lowering.text.test_parser import SAME, body

CHARACTERS = [
    *'<>()[]{}"%@#!^=,:-x0123456789.aé\\\n\x00',
    "0x",
    "->",
    "tensor<",
    "dense<",
    "loc(",
    "//",
    "99999999999999999999",
]


def mutated(text, generator):
    """Return ``text`` with a few pieces removed, replaced, doubled or swapped."""
    pieces = re.findall(r"\s+|%?[\w.$]+|.", text, re.DOTALL)
    for _ in range(generator.randint(1, 3)):
        place, other = generator.randrange(len(pieces)), generator.randrange(len(pieces))
        match generator.randrange(5):
            case 0:
                pieces[place] = ""
            case 1:
                pieces[place] = generator.choice(CHARACTERS)
            case 2:
                pieces[place] += generator.choice(CHARACTERS)
            case 3:
                pieces[place], pieces[other] = pieces[other], pieces[place]
            case _:
                pieces[place:other] = []
        pieces = pieces or [" "]
    return "".join(pieces)


def parsed_or_refused(text):
    """Return the module of a text, or None where it is refused with a place and a caret."""
    try:
        return parse(text)
    except ParseError as error:
        message = str(error)
    assert re.search(r"at <string>:\d+:\d+\n    .*\n    *\^", message)
    return None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.specifies("malformed text")
def test_mutated_text_is_parsed_or_refused_with_a_parse_error(seed):
    generator = random.Random(seed)
    texts = [print_module(m, generic=g) for m in MODULES.values() for g in (False, True)]
    texts += [body(text) for pair in SAME.values() for text in pair]
    parsed = 0
    for _ in range(600):
        text = mutated(generator.choice(texts), generator)
        module = parsed_or_refused(text)
        if module is not None:
            parsed += 1
            assert structurally_equal(parse(print_module(module)), module)
    assert 0 < parsed < 200


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        body("%0 = stablehlo.abs %a {x = " + "[" * 1000),
        body('"x.y"() (' + '{ "x.y"() (' * 1000),
        f"func.func @main(%x: {'tuple<' * 1000}",
        "!t = !t func.func @main(%x: !t)",
        "#a = #b #b = #a module attributes {x = #a} {}",
        '"\\' * 100_000,
        "tensor<" * 100_000,
        body("%0 = stablehlo.constant dense<1.0> : tensor<" + "9x" * 100 + "f32>"),
        body("%0 = stablehlo.constant dense<[1.0]> : tensor<999999999999x999999999999xf32>"),
        body("%0 = stablehlo.constant dense<" + "[" * 100_000 + "> : tensor<" + "1x" * 1000 + "f32>"),
        "tensor<" + " " * 100_000 + ">",
        body("%0 = stablehlo.reshape %m : (tensor<2x3xf32>) -> tensor<" + " " * 50_000 + ">"),
        "%" * 100_000,
        "",
    ],
    ids=range(15),
)
@pytest.mark.specifies("malformed text")
def test_no_deep_recursion_and_no_quadratic_scan(text):
    start = time.process_time()
    with pytest.raises(ParseError):
        parse(text)
    assert time.process_time() - start < 5


def test_nesting_up_to_the_limit():
    depth = 60
    inner = '"x.y"() ({ ' * depth + "stablehlo.return" + " stablehlo.return }) : () -> ()" * depth
    text = body(inner.replace("stablehlo.return stablehlo.return", "stablehlo.return", 1))
    assert print_module(parse(text)).count("x.y") == depth
