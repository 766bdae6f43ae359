"""What notebooks show: text beside the user's lines, kernels that unfold, nothing unescaped, well-formed HTML."""

import pickle
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

import numhlo
from numhlo import stablehlo
from numhlo.display import MOST_LINES, program_html
from numhlo.lowering.ir import Module, TensorType
from numhlo.lowering.ops import FunctionBuilder, elementwise

VOID = {"br", "hr", "img"}


class Reader(HTMLParser):
    """Checks that tags are closed in order, and keeps summaries, and the program: its text, and its lines by heading."""

    def __init__(self, html):
        super().__init__()
        self.open, self.text, self.summaries = [], "", []
        self.feed(html)
        self.close()
        assert not self.open
        self.rows, heading = [], ""
        for row in self.text.splitlines():
            if row.lstrip().startswith("// "):
                heading = row.lstrip().removeprefix("// ")
            else:
                self.rows.append([row, heading])

    def program(self):
        return [row[0] for row in self.rows]

    def handle_starttag(self, tag, attrs):
        if tag in VOID:
            return
        self.open.append(tag)
        if tag == "pre" and ("class", "program") in attrs:
            self.open[-1] = "program"
        if tag == "summary":
            self.summaries.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() in {tag, "program"}

    def handle_data(self, data):
        if "program" in self.open:
            self.text += data
        elif self.open and self.open[-1] == "summary":
            self.summaries[-1] += data


def loss(x, y):
    small = x < y
    return np.exp(x)[::2].sum() + small.sum()


@pytest.fixture
def lowered():
    return numhlo.jit(loss).lower(np.ones(4), np.ones(4))


def test_text_stands_under_source(lowered):
    reader = Reader(lowered._repr_html_())
    assert reader.program() == lowered.as_text().splitlines()
    places = {row[0].split()[2]: row[1] for row in reader.rows if "=" in row[0]}
    assert re.fullmatch(r"test_display\.py:\d+ in loss:  small = x < y", places["stablehlo.compare"])
    assert places["stablehlo.exponential"].endswith("return np.exp(x)[::2].sum() + small.sum()")


def test_what_is_copied_is_a_program(lowered):
    text = Reader(lowered._repr_html_()).text
    assert stablehlo.parse(text).as_text() == lowered.as_text()


def test_notebooks_have_no_say_in_how_programs_look(lowered):
    """Their rules for tables turn lines to the right; for texts they are weaker than ours (one class, one element)."""
    html = lowered._repr_html_()
    assert "<table" not in html and "div.numhlo pre {" in html


def test_a_place_stands_once(lowered):
    assert Reader(lowered._repr_html_()).text.count("// ") == 2
    read = stablehlo.parse(lowered.as_text())
    assert "// " not in Reader(read._repr_html_()).text  # a text is its own place
    named = stablehlo.parse(read.as_text().replace("-> tensor<4xi1>", '-> tensor<4xi1> loc("model.py":7:0)'))
    assert "    // model.py:7\n" in Reader(named._repr_html_()).text


def test_stages(lowered):
    traced = numhlo.jit(loss).trace(np.ones(4), np.ones(4))
    assert "loss, traced" in traced._repr_html_()
    assert "jit_loss, as StableHLO" in lowered._repr_html_()
    compiled = lowered.compile()
    html = compiled._repr_html_()
    reader = Reader(html)
    assert "loss, compiled" in html
    assert reader.program() == compiled.as_text().splitlines()
    assert any("in loss" in row[1] for row in reader.rows)
    count = len(compiled.kernels)
    assert reader.summaries == [f"{count} kernels" if count != 1 else "1 kernel", *compiled.kernels]
    text = unescape(re.sub("<[^>]*>", "", html))
    assert all(source in text for source in compiled.kernels.values())
    assert "traced because: first: compiled on request" in text


def test_modules():
    module = stablehlo.Module(numhlo.jit(loss).lower(np.ones(4), np.ones(4)).module)
    before = Reader(module._repr_html_())
    assert before.summaries == [] and before.program() == module.as_text().splitlines()
    module.run("main", np.ones(4), np.ones(4))
    html = module._repr_html_()
    (program,) = module.functions["main"].programs.values()
    kernels = [kernel.name for kernel in program.kernels]
    assert Reader(html).summaries[1:] == kernels
    assert "@main: " in html and "StableHLO module @jit_loss" in html


def test_everything_is_escaped():
    module = stablehlo.parse(
        'module @"<u>&" { func.func @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> } }'
    )
    html = program_html("<script>", module.graph, kernels={"<i>": "x = 1 < 2 & 3"}, state=["<script>alert()</script>"])
    assert "<script>" not in html and "<u>&" not in html and "<i>" not in html
    Reader(html)
    Reader(module._repr_html_())


def test_long_programs_are_cut():
    b = FunctionBuilder("main", [TensorType((), np.dtype(np.float32))])
    (x,) = b.arguments
    for _ in range(2 * MOST_LINES):
        x = b.op(elementwise.SINE, x)
    rows = Reader(program_html("long", Module([b.finish([x])]))).rows
    assert len(rows) == MOST_LINES + 1
    assert rows[-1][0] == f"... {MOST_LINES + 5} more lines: as_text() has all"


def test_reports_are_shown_as_they_are_printed():
    jitted = numhlo.jit(lambda x: x + 1)
    jitted(1.0)
    lowered = jitted.lower(1.0)
    module = numhlo.stablehlo.parse(lowered.as_text())
    texts = [
        jitted.explain(),
        lowered.as_text(),
        lowered.compile().explain(),
        lowered.compile().as_text(),
        module.as_text(),
    ]
    for text in texts:
        assert isinstance(text, str)
        assert repr(text) == str(text)
        assert "\n  " in repr(text)
    assert pickle.loads(pickle.dumps(texts[0])) == texts[0]
