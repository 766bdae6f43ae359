"""Asynchronous pairs are one op: results are those of the plain instruction."""

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.distributed import ProcessGrid
from numhlo.lowering.ir.errors import ParseError
from tests.lowering.hlo.judges import entry, normal, printed_by_xla, read_by_xla, same_bits

BEFORE = """
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
work { a = f32[3] parameter(0)  b = f32[3] parameter(1)  ROOT c = f32[3] multiply(a, b) }
"""


@pytest.mark.parametrize(
    "lines",
    [
        (
            "s = ((f32[3], f32[3]), f32[3], s32[]) async-start(x, y), calls=work",
            "u = ((f32[3], f32[3]), f32[3], s32[]) async-update(s), calls=work",
            "ROOT d = f32[3] async-done(u), calls=work",
        ),
        (
            's = ((f32[3], f32[3]), f32[3]) multiply-start(x, y), async_execution_thread="side"',
            "ROOT d = f32[3] multiply-done(s)",
        ),
    ],
)
def test_any_instruction(lines):
    text = entry("x = f32[3] parameter(0)", "y = f32[3] parameter(1)", *lines, before=BEFORE)
    x, y = normal(3), normal(3, seed=1)
    module = stablehlo.from_hlo(text)
    assert same_bits(module.run("main", x, y), [x * y])
    again = stablehlo.from_hlo(printed_by_xla(read_by_xla(text)))
    assert same_bits(again.run("main", x, y), [x * y])
    assert "start" not in module.as_hlo_text()


def test_copies():
    lines = ["x = f32[2,3] parameter(0)", "s = (f32[2,3]{0,1}, f32[2,3]{1,0}, u32[]) copy-start(x)"]
    text = entry(*lines, "ROOT d = f32[2,3]{0,1} copy-done(s)")
    x = normal(2, 3)
    for one in (text, printed_by_xla(read_by_xla(text))):
        assert same_bits(stablehlo.from_hlo(one).run("main", x), [x])


@pytest.mark.parametrize(
    ("start", "done", "expected"),
    [
        (
            "f32[2] all-reduce-start(x), replica_groups={{0,1}}, to_apply=add",
            "f32[2] all-reduce-done(s)",
            [[4, 6], [4, 6]],
        ),
        (
            "(f32[2], f32[4]) all-gather-start(x), dimensions={0}, replica_groups={{0,1}}",
            "f32[4] all-gather-done(s)",
            [[1, 2, 3, 4]] * 2,
        ),
        (
            "(f32[2], f32[2], u32[], u32[]) collective-permute-start(x), source_target_pairs={{0,1},{1,0}}",
            "f32[2] collective-permute-done(s)",
            [[3, 4], [1, 2]],
        ),
        (
            "((f32[2]), f32[1]) reduce-scatter-start(x), dimensions={0}, replica_groups={{0,1}}, to_apply=add",
            "f32[1] reduce-scatter-done(s)",
            [[4], [6]],
        ),
    ],
)
def test_collectives(start, done, expected):
    text = entry("x = f32[2] parameter(0)", f"s = {start}", f"ROOT r = {done}", before=BEFORE)
    arrays = [(np.array([1, 2], np.float32),), (np.array([3, 4], np.float32),)]
    for one in (text, printed_by_xla(read_by_xla(text))):
        found = ProcessGrid(2).run(stablehlo.from_hlo(one), arrays)
        assert [row[0].tolist() for row in found] == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("f32[3] async-done(x)", "async-done takes what begins it returns"),
        ("f32[3] multiply-start(x, x)", "returns a tuple of operands, result and state"),
        ("(f32[3]) copy-start(x)", "copy-start returns"),
        (
            f"((f32[3]), f32[3], u32[{','.join(['1'] * 70)}]) negate-start(x)",
            "the state of negate-start must be an array",
        ),
        ("((f32[3]), f32[3]) constant-start(x)", "constant-start is no opcode"),
        ("f32[3] odd-start(x)", "odd-start is no opcode"),
        ("f32[3] multiply-later(x)", "multiply-later is no opcode"),
        ("((f32[3]), f32[3]) multiply-start(x, x)", "multiply-start returns"),
    ],
)
def test_what_is_refused(line, message):
    with pytest.raises(ParseError, match=message):
        stablehlo.from_hlo(entry("x = f32[3] parameter(0)", f"ROOT r = {line}"))
