"""Instructions that move elements, and bitcasts, which read memory by the layouts of both sides."""

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.ir.errors import ParseError
from tests.lowering.hlo.judges import check, entry, normal, read_by_xla, same_bits


@pytest.mark.parametrize(
    ("type", "line"),
    [
        ("f32[2,3]", "f32[3,2] transpose(x), dimensions={1,0}"),
        ("f32[2,3]", "f32[6] reshape(x)"),
        ("f32[2,3]", "f32[2,4,3] broadcast(x), dimensions={0,2}"),
        ("f32[2,3]", "f32[3,2] broadcast(x), dimensions={1,0}"),
        ("f32[]", "f32[2,2] broadcast(x), dimensions={}"),
        ("f32[]", "f32[2,2] broadcast(x)"),
        ("f32[2,3]", "f32[2,3] reverse(x), dimensions={0,1}"),
        ("f32[5,3]", "f32[2,2] slice(x), slice={[1:5:2], [0:2]}"),
        ("f32[5,3]", "f32[0,1] slice(x), slice={[1:1],[0:1:1]}"),
        ("f32[2,3]", "f32[4,3] concatenate(x, x), dimensions={0}"),
        ("f32[2,3]", "f32[2,3] concatenate(x), dimensions={1}"),
        ("f32[2,3]", "f32[2,3]{0,1} copy(x)"),
    ],
)
def test_moved_elements(type, line):
    shape = [int(n) for n in type[4:-1].split(",") if n]
    check(entry(f"x = {type} parameter(0)", f"ROOT r = {line}"), normal(*shape))


@pytest.mark.parametrize("padding", ["0_1x2_0", "1_0_2x-1_0", "0_0_0x-1_-1_1", "-1_2x0_0_3"])
def test_padding(padding):
    pads = [[int(n) for n in part.split("_")] for part in padding.split("x")]
    shape = [
        low + high + n + (n - 1) * (rest[0] if rest else 0) for n, (low, high, *rest) in zip((2, 3), pads, strict=True)
    ]
    type = f"f32[{shape[0]},{shape[1]}]"
    lines = ["x = f32[2,3] parameter(0)", "c = f32[] constant(7)", f"ROOT r = {type} pad(x, c), padding={padding}"]
    check(entry(*lines), normal(2, 3))


def in_memory(array, order):
    """Return an array's elements in the order of memory; ``order`` is from minor to major."""
    return array.transpose(order[::-1]).ravel()


@pytest.mark.parametrize(
    ("source", "order", "target", "after"),
    [
        ((2, 3), (1, 0), (6,), (0,)),
        ((2, 3), (0, 1), (3, 2), (1, 0)),
        ((2, 3), (0, 1), (2, 3), (1, 0)),
        ((2, 3, 4), (1, 2, 0), (4, 6), (0, 1)),
        ((2, 3, 4), (0, 1, 2), (3, 2, 4), (2, 0, 1)),
        ((4,), (0,), (2, 2), (0, 1)),
        ((1, 4), (0, 1), (4, 1, 1), (2, 0, 1)),
    ],
)
def test_bitcasts_read_memory(source, order, target, after):
    def spelled(shape, axes):
        return f"f32[{','.join(map(str, shape))}]{{{','.join(map(str, axes))}}}"

    text = entry(f"x = {spelled(source, order)} parameter(0)", f"ROOT r = {spelled(target, after)} bitcast(x)")
    read_by_xla(text)
    x = normal(*source)
    (found,) = stablehlo.from_hlo(text).run("main", x)
    assert found.shape == target
    np.testing.assert_array_equal(in_memory(np.asarray(found), after), in_memory(x, order))


@pytest.mark.parametrize(
    ("source", "target"),
    [("f32[2,3]{0,1}", "s32[3,2]{1,0}"), ("f32[2,3]", "u16[2,6]"), ("u8[2,8]{0,1}", "f32[4]"), ("u16[4]", "f64[]")],
)
def test_bitcasts_to_other_types(source, target):
    text = entry(f"x = {source} parameter(0)", f"ROOT r = {target} bitcast(x)")
    read_by_xla(text)
    module = stablehlo.from_hlo(text)
    type = module.functions["main"].source.argument_types[0]
    x = np.arange(1, type.nbytes + 1, dtype=np.uint8).view(type.dtype).reshape(type.shape)
    (found,) = module.run("main", x)
    lying = x.ravel(order="F") if "{0,1}" in source else x.ravel()
    assert np.asarray(found).tobytes() == lying.tobytes()


def test_layouts_change_no_value():
    lines = [
        "x = f32[2,3]{0,1} parameter(0)", "y = f32[2,3]{1,0} copy(x)", "z = f32[2,3]{0,1:T(8,128)S(1)} negate(y)",
        "w = f32[3,2]{0,1} transpose(z), dimensions={1,0}", "ROOT r = f32[3,2]{1,0:T(2,128)(2,1)E(32)} exponential(w)",
    ]  # fmt: skip
    x = normal(2, 3)
    (found,) = stablehlo.from_hlo(entry(*lines)).interpret("main", x)
    assert same_bits([found], [np.exp(-x).T])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("f32[2,3] broadcast(x), dimensions={0}", "dimensions must name a dimension of the result"),
        ("f32[4,3] broadcast(x), dimensions={0,1}", "dimensions must name a dimension of the result"),
        ("f32[3] broadcast(x), dimensions={0,1}", "dimensions must name a dimension of the result"),
        ("f32[2,3] transpose(x), dimensions={0,0}", "permutation"),
        ("f32[2,2] reshape(x)", "as many elements"),
        ("f32[1,1] slice(x), slice={[0:1], [0:1], [0:1]}", "slice"),
        ("f32[1,1] slice(x), slice={[0:1], 3, [0:1]}", "a slice is written as"),
        ("f32[2,3] concatenate(x, x), dimensions={0,1}", "concatenate has one dimension"),
        ("f32[2,2] bitcast(x)", "both must take the same memory"),
        ("pred[24] bitcast(x)", "no bits to be read as numbers"),
        ("f32[2,3]{0,0} negate(x)", "a layout of 2 dimensions must hold each of them once"),
        ("f32[2,3]{1,0:X!} negate(x)", "no part of a layout"),
        ("f32[2,-3] negate(x)", "-3 is no extent"),
        ("f33[2,3] negate(x)", "f33 is no element type"),
        ("f32[2,3] copy(x, x)", "copy takes one operand"),
        ("f32[2,3] reverse(x)", "reverse needs the attribute dimensions"),
    ],
)
def test_what_is_refused(line, message):
    with pytest.raises(ParseError, match=message):
        stablehlo.from_hlo(entry("x = f32[2,3] parameter(0)", f"ROOT r = {line}"))


def test_written_ones_of_stablehlo():
    text = """func.func @main(%x: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<3x4x1xf32>, tensor<f32>) {
      %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<2x3xf32>
      %1 = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<1x3xf32>) -> tensor<3x4x1xf32>
      %2 = stablehlo.slice %x [0:1, 1:2] : (tensor<1x3xf32>) -> tensor<1x1xf32>
      %3 = stablehlo.reshape %2 : (tensor<1x1xf32>) -> tensor<f32>
      %4 = stablehlo.pad %3, %3, low = [], high = [], interior = [] : (tensor<f32>, tensor<f32>) -> tensor<f32>
      return %0, %1, %4 : tensor<2x3xf32>, tensor<3x4x1xf32>, tensor<f32>
    }"""
    module = stablehlo.parse(text)
    x = normal(1, 3)
    check(module.as_hlo_text(), x)
    assert same_bits(stablehlo.from_hlo(module.as_hlo_text()).run("main", x), module.run("main", x))
