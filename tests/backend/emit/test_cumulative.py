"""Running reductions along every axis, both ways, of every kind of number."""

import jax
import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.cumulative import COMBINERS, make_cumulative
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import all_steps, evaluated, from_jax, launched, mapped, plan
from tests.backend.random_programs import dtype_named, random_array

SHAPES = [
    ((7,), 0),
    ((4, 6), 0),
    ((4, 6), 1),
    ((2, 5, 70), 1),
    ((2, 5, 3), 2),
    ((3, 4, 5), 0),
    ((1, 3), 0),
    ((0, 3), 0),
]


def cumulative(kind, type, axis, reverse, doubled=False):
    b = FunctionBuilder(kind, [type])
    x = b.op(elementwise.ADD, b.arguments[0], b.arguments[0]) if doubled else b.arguments[0]
    return b.finish([b.op(COMPOSITE, x, result=type, **make_cumulative(kind, type, axis, reverse))])


def check(function, array):
    program = plan(function)
    assert not evaluated(program)
    (found,), (expected,) = run_plain(program, [array]), interpret(function, [array])
    assert_same_bits(found, np.asarray(expected))
    return program


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", COMBINERS)
def test_axes(kind, reverse, rng):
    for shape, axis in SHAPES:
        type = TensorType(shape, np.dtype(np.float32))
        program = check(cumulative(kind, type, axis, reverse, doubled=True), random_array(rng, type))
        assert len(launched(program)) == (0 not in shape)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "float16"])
@pytest.mark.parametrize("axis", [0, 1])
def test_dear_elements_are_computed_before_their_totals(dtype, axis, rng):
    type = TensorType((3, 1100) if axis else (1100, 3), dtype_named(dtype))
    for reverse in (False, True):
        b = FunctionBuilder("dear", [type])
        x = b.arguments[0]
        for _ in range(5):
            x = b.op(elementwise.ADD, b.op(elementwise.NEGATE, x), b.arguments[0])
        parameters = make_cumulative("cumsum", type, axis, reverse)
        function = b.finish([b.op(COMPOSITE, x, result=type, **parameters)])
        (kernel,) = check(function, random_array(rng, type)).kernels
        assert ("in range(block0, stop0)" in kernel.source) == (axis == 1 and not reverse)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "float8_e4m3fn", "int4", "int8", "uint32", "bool"])
def test_element_types(dtype, rng):
    for kind in COMBINERS:
        for shape, axis in SHAPES[1:3]:
            type = TensorType(shape, dtype_named(dtype))
            check(cumulative(kind, type, axis, False), random_array(rng, type))


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "int4", "uint32", "bool", "complex64"])
def test_few_elements_are_part_of_the_code_of_a_lane(dtype, rng):
    type, lanes = TensorType((3, 4), dtype_named(dtype)), TensorType((5, 3, 4), dtype_named(dtype))
    array = random_array(rng, lanes)
    for kind in ("cumsum", "cumprod") if dtype == "complex64" else COMBINERS:
        for axis, reverse in ((0, False), (1, True)):
            program = check(mapped(cumulative(kind, type, axis, reverse), 0, 5), array)
            assert [kernel.name for kernel in program.kernels] == ["map_lanes"]


@pytest.mark.parametrize("kind", ["cumsum", "cumprod"])
def test_complex_numbers(kind, rng):
    for dtype in (np.complex64, np.complex128):
        type = TensorType((3, 20), np.dtype(dtype))
        check(cumulative(kind, type, 1, False), (rng.normal(size=(3, 20)) + 1j).astype(dtype))


@pytest.mark.parametrize("dtype", ["complex64", "bfloat16", "float8_e5m2"])
def test_windows_that_reach_from_the_first_element_are_running_sums(dtype, rng):
    x = rng.normal(size=50).astype(dtype_named(dtype))
    program = plan(from_jax(lambda x: jax.lax.cumsum(x), x))
    assert any("cumsum" in name for name in launched(program))
    (found,) = run_plain(program, [x])
    wide = np.dtype("complex128" if dtype == "complex64" else "float64")
    np.testing.assert_allclose(found.astype(wide), np.add.accumulate(x).astype(wide), rtol=1e-5)


@pytest.mark.parametrize("count", [1023, 1024, 1030, 2048])
def test_integers_in_blocks(count, rng):
    type = TensorType((2, count), np.dtype(np.int16))
    for kind in ("cumsum", "cummin"):
        check(cumulative(kind, type, 1, False, doubled=True), random_array(rng, type))


def test_kernels_serve_many_shapes():
    dtype = np.dtype(np.float32)
    programs = [plan(cumulative("cumsum", TensorType((n, 3 * n), dtype), 0, False)) for n in (50, 70)]
    assert programs[0].kernels == programs[1].kernels


@pytest.mark.parametrize(
    ("columns", "on_stack", "units"), [(7, True, 1), (70, False, 2), (900, False, 15), (5000, False, 79)]
)
def test_lines_side_by_side_read_totals_again_and_memory_in_long_pieces(columns, on_stack, units, rng):
    for reverse in (False, True):
        type = TensorType((3, columns), np.dtype(np.float16))
        program = check(cumulative("cumsum", type, 0, reverse), random_array(rng, type))
        (launch,) = all_steps(program)
        assert ("stack_array" in launch.kernel.source) == on_stack
        assert (launch.extent, launch.grain >= min(units, 8)) == (units, True)


@pytest.mark.parametrize("chunks", [1, 2, 4, 9])
def test_pieces_of_lines_side_by_side_may_begin_and_end_anywhere(chunks, rng):
    type = TensorType((3, 4, 150), np.dtype(np.float64))
    array, function = random_array(rng, type), cumulative("cummin", type, 1, False)
    program = plan(function)
    for step in all_steps(program):
        step.grain = 1
    (found,), (expected,) = run_plain(program, [array], chunks), interpret(function, [array])
    assert_same_bits(found, np.asarray(expected))


@pytest.mark.parametrize(
    ("kind", "shape", "reverse"),
    [
        ("cumsum", (70_000,), False),
        ("cumsum", (17_000,), True),
        ("cummax", (17_000,), False),
        ("cumprod", (17_000, 2), False),
        ("cumsum", (17_000, 2), True),
    ],
)
def test_long_lines_look_whether_to_stop(kind, shape, reverse, rng):
    type = TensorType(shape, np.dtype(np.float64))
    program = check(cumulative(kind, type, 0, reverse), random_array(rng, type))
    assert "interrupted(ctx)" in program.kernels[0].source
