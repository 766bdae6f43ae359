"""Windows of windows, and updates of windows, become one; what would be clamped otherwise stays as it is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.passes import optimize
from numhlo.lowering.text import parse

INDICES = "tensor<{0}>, tensor<{0}>"


def window(name: str, of: str, type: str, starts: str, sizes: str, index: str = "i64") -> str:
    shape = "x".join(sizes.split(", "))
    types = f"({type}, {INDICES.format(index)}) -> tensor<{shape}xf32>"
    return f"{name} = stablehlo.dynamic_slice {of}, {starts}, sizes = [{sizes}] : {types}"


def part(name: str, of: str, type: str, limits: str, result: str) -> str:
    return f"{name} = stablehlo.slice {of} [{limits}] : ({type}) -> tensor<{result}xf32>"


def update(name: str, of: str, type: str, by: str, shape: str, starts: str) -> str:
    types = f"({type}, tensor<{shape}xf32>, {INDICES.format('i64')}) -> {type}"
    return f"{name} = stablehlo.dynamic_update_slice {of}, {by}, {starts} : {types}"


WHOLE, COLUMN, BLOCK = "tensor<4x5xf32>", "tensor<4x1xf32>", "tensor<4x3xf32>"

MERGED = {
    "an element of a column": (
        [window("%w", "%x", WHOLE, "%i, %j", "4, 1"), part("%r", "%w", COLUMN, "2:3, 0:1", "1x1")],
        "1x1",
        ["constant", "dynamic_slice"],
    ),
    "rows of a column": (
        [window("%w", "%x", WHOLE, "%i, %j", "4, 1"), part("%r", "%w", COLUMN, "1:3, 0:1", "2x1")],
        "2x1",
        ["constant", "dynamic_slice"],
    ),
    "a row at run time of a column": (
        [window("%w", "%x", WHOLE, "%i, %j", "4, 1"), window("%r", "%w", COLUMN, "%j, %i", "2, 1")],
        "2x1",
        ["dynamic_slice"],
    ),
    "an element of a column is changed": (
        [
            window("%w", "%x", WHOLE, "%i, %j", "4, 1"),
            part("%u", "%x", WHOLE, "1:2, 1:2", "1x1"),
            update("%v", "%w", COLUMN, "%u", "1x1", "%j, %i"),
            update("%r", "%x", WHOLE, "%v", "4x1", "%i, %j"),
        ],
        "4x5",
        ["slice", "dynamic_update_slice"],
    ),
    "a column that is put back as it is": (
        [
            window("%w", "%x", WHOLE, "%i, %j", "4, 1"),
            update("%r", "%x", WHOLE, "%w", "4x1", "%i, %j"),
        ],
        "4x5",
        [],
    ),
}

KEPT = {
    "a column that is copied to another place": (
        [
            window("%w", "%x", WHOLE, "%i, %j", "4, 1"),
            update("%r", "%x", WHOLE, "%w", "4x1", "%j, %i"),
        ],
        "4x5",
        ["dynamic_slice", "dynamic_update_slice"],
    ),
    "columns of a block, which begins earlier where it would not fit": (
        [window("%w", "%x", WHOLE, "%i, %j", "4, 3"), part("%r", "%w", BLOCK, "0:4, 1:2", "4x1")],
        "4x1",
        ["dynamic_slice", "slice"],
    ),
    "every second row": (
        [window("%w", "%x", WHOLE, "%i, %j", "4, 1"), part("%r", "%w", COLUMN, "0:4:2, 0:1", "2x1")],
        "2x1",
        ["dynamic_slice", "slice"],
    ),
    "a column put back elsewhere": (
        [
            window("%w", "%x", WHOLE, "%i, %j", "4, 1"),
            part("%u", "%x", WHOLE, "1:2, 1:2", "1x1"),
            update("%v", "%w", COLUMN, "%u", "1x1", "%j, %i"),
            update("%r", "%x", WHOLE, "%v", "4x1", "%i, %i"),
        ],
        "4x5",
        ["dynamic_slice", "slice", "dynamic_update_slice", "dynamic_update_slice"],
    ),
    "an element of a block is changed": (
        [
            window("%w", "%x", WHOLE, "%i, %j", "4, 3"),
            part("%u", "%x", WHOLE, "1:2, 1:2", "1x1"),
            update("%v", "%w", BLOCK, "%u", "1x1", "%i, %j"),
            update("%r", "%x", WHOLE, "%v", "4x3", "%i, %j"),
        ],
        "4x5",
        ["dynamic_slice", "slice", "dynamic_update_slice", "dynamic_update_slice"],
    ),
}


@pytest.mark.parametrize("name", [*MERGED, *KEPT])
def test_windows_of_windows_mean_the_same(name):
    lines, shape, left = {**MERGED, **KEPT}[name]
    arguments = f"%x: {WHOLE}, %i: tensor<i64>, %j: tensor<i64>"
    body = "\n".join([*lines, f"return %r : tensor<{shape}xf32>"])
    before = parse(f"func.func @main({arguments}) -> tensor<{shape}xf32> {{\n{body}\n}}").main
    after = optimize(before)
    assert [op.definition.name for op in after.body.ops] == left
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    for i, j in product(range(-2, 7), repeat=2):
        values = [x, np.array(i), np.array(j)]
        np.testing.assert_array_equal(interpret(after, values)[0], interpret(before, values)[0])


def test_a_start_is_not_wrapped_into_narrow_indices():
    lines = [
        window("%w", "%x", "tensor<300x2xf32>", "%i, %i", "300, 1", "i8"),
        part("%r", "%w", "tensor<300x1xf32>", "200:201, 0:1", "1x1"),
        "return %r : tensor<1x1xf32>",
    ]
    text = "func.func @main(%x: tensor<300x2xf32>, %i: tensor<i8>) -> tensor<1x1xf32> {\n" + "\n".join(lines) + "\n}"
    x = np.arange(600, dtype=np.float32).reshape(300, 2)
    assert interpret(optimize(parse(text).main), [x, np.array(1, np.int8)])[0] == x[200, 1]
