"""Which variables surely have a value wherever they are read, if loops run at least once."""

import ast
import textwrap

import pytest

from numhlo.tracer.python.source.assignments import surely_assigned


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("y = x", "y"),
        ("if x: y = 1\nz = y", "z"),
        ("if x: y = 1\nelse: y = 2\nz = y", "yz"),
        ("if x: return 0\nelse: y = 2\nz = y", "yz"),
        ("for v in x:\n if v: return 0\n y = v\n if y: break\nz = y", "vyz"),
        ("for v in x:\n if v: break\n y = v\nz = y", "vz"),
        ("for v in x:\n if v: continue\n y = v\nz = y", "vz"),
        ("while True:\n if x: return 0\n y = 1\n if y: break\nz = y", "yz"),
        ("while x:\n if x: break\n y = 1\nelse: z = y", "yz"),
        ("try: y = f()\nexcept ValueError: y = 0\nz = y", "yz"),
        ("try: y = f()\nexcept ValueError: pass\nz = y", "z"),
        ("try: pass\nfinally: y = 1\nz = y", "yz"),
        ("with f() as y: z = y", "yz"),
        ("y = 1\ndel y\nz = y", "z"),
        ("y += 1", ""),
        ("y = 1\ng = lambda: y", "g"),
        ("y = [v for v in x]\nz = v", "yz"),
        ("global y\ny = 1\nz = y", "z"),
        ("match x:\n case 1: y = 1\n case [a, *b]: y = a\n case _: y = 2\nz = y", "aybz"),
        ("match x:\n case 1: y = 1\nz = y", "z"),
        ("import y\nz = y", "z"),
        ("if (y := x): z = y", "z"),
    ],
)
def test_sure_variables(text, sure):
    assert surely_assigned(ast.parse(textwrap.dedent(text)).body, ["x", "f"]) >= set(sure) - {"x"}
    names = set("aybzvg") - set(sure)
    assert surely_assigned(ast.parse(textwrap.dedent(text)).body, ["x", "f"]).isdisjoint(names)
