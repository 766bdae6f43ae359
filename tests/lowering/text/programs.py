"""Small programs for text tests: at least one for every op, built by hand, with arguments to run them on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from numhlo.lowering.ir import Function, Module, TensorType, Value, tensor_type_of
from numhlo.lowering.ops import (
    PRIMITIVES,
    FunctionBuilder,
    comparison,
    control_flow,
    conversion,
    deprecated,
    elementwise,
    indexing,
    loops,
    reduction,
    sorting,
    special,
    windows,
)
from numhlo.lowering.ops.dimension_numbers import (
    ConvolutionDimensionNumbers,
    DotAlgorithm,
    DotDimensionNumbers,
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
)
from tests.lowering.text.rare_programs import RARE

Arrays = tuple[np.ndarray, ...]
Write = Callable[..., list[Value]]

F32, F64, I32, I64, U8, BOOL, C64 = (
    np.dtype(name) for name in ("float32", "float64", "int32", "int64", "uint8", "bool", "complex64")
)
VECTOR = np.array([0.5, -1.25, 2.0, 0.125], F32)
MATRIX = np.arange(6, dtype=F32).reshape(2, 3)
SCALAR = np.array(3.0, F32)
INTEGERS = np.array([3, -7, 0, 5], I32)
COUNTS = np.array([1, 2, 0, 31], I32)
FLAGS = np.array([True, False, False, True])
INDEX = np.array(1, I32)

PROGRAMS: dict[str, tuple[Module, Arrays]] = {}
"""Module and arguments by name; the part before a dot is the op's."""


def tensor(dtype: Any, *shape: int) -> TensorType:
    """Return a tensor type."""
    return TensorType(shape, np.dtype(dtype))


def build(write: Write, *arrays: np.ndarray, name: str = "main") -> Function:
    """Return a function of arguments like ``arrays`` whose body ``write(builder, *arguments)`` appends."""
    builder = FunctionBuilder(name, [tensor_type_of(array) for array in arrays])
    return builder.finish(write(builder, *builder.arguments), visibility="public" if name == "main" else "private")


def program(name: str, *arrays: np.ndarray) -> Callable[[Write], Write]:
    """Return a decorator that adds ``write``'s program to the table."""

    def add(write: Write) -> Write:
        PROGRAMS[name] = Module([build(write, *arrays)], "jit_test"), arrays
        return write

    return add


def add_op(name: str, *arrays: np.ndarray, result: TensorType | None = None, **attributes: Any) -> None:
    """Add a program of one op, whose operands are the program's arguments."""
    definition = PRIMITIVES[name.partition(".")[0]]
    types = None if result is None else [result]
    program(name, *arrays)(lambda b, *values: b.ops(definition, *values, results=types, **attributes))


def scalar_op(builder: FunctionBuilder, definition: Any, dtype: np.dtype, count: int = 2, **attributes: Any) -> Any:
    """Return a region of scalars that applies one op to its arguments."""
    return builder.region([tensor(dtype)] * count, lambda *v: [builder.op(definition, *v[:2], **attributes)])


# -- elementwise

for _name in ("abs", "negate", "sign", "ceil", "floor", "round_nearest_afz", "round_nearest_even", "is_finite"):
    add_op(_name, VECTOR)
for _name in ("cosine", "sine", "exponential", "exponential_minus_one", "logistic", "tan", "tanh"):
    add_op(_name, VECTOR)
for _name in ("cbrt", "log", "log_plus_one", "rsqrt", "sqrt"):
    add_op(_name, np.abs(VECTOR))
for _name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder", "power", "atan2"):
    add_op(_name, np.abs(VECTOR), VECTOR)
for _name in ("and", "or", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical"):
    add_op(_name, INTEGERS, COUNTS)
for _name in ("not", "popcnt", "count_leading_zeros"):
    add_op(_name, INTEGERS)
add_op("complex", VECTOR, VECTOR)
add_op("real", VECTOR.astype(C64) * 1j)
add_op("imag", VECTOR.astype(C64) * 1j)
add_op("add.scalar", SCALAR, SCALAR)
add_op("add.empty", np.zeros((0, 3), F32), np.zeros((0, 3), F32))
add_op("compare", VECTOR, VECTOR, comparison_direction="LT", compare_type="FLOAT")
add_op("compare.untyped", INTEGERS, COUNTS, comparison_direction="NE")
add_op("compare.total", VECTOR, VECTOR, comparison_direction="GE", compare_type="TOTALORDER")
add_op("select", FLAGS, VECTOR, -VECTOR)
add_op("select.scalar", np.array(True), VECTOR, -VECTOR)
add_op("clamp", SCALAR - 3, VECTOR, SCALAR)
add_op("clamp.same", VECTOR - 1, VECTOR, VECTOR + 1)
add_op("convert", VECTOR, result=tensor(I32, 4))
add_op("convert.same", VECTOR, result=tensor(F32, 4))
add_op("bitcast_convert", VECTOR, result=tensor(I32, 4))
add_op("bitcast_convert.bytes", VECTOR, result=tensor(U8, 4, 4))
add_op("reduce_precision", VECTOR, exponent_bits=5, mantissa_bits=10)

# -- creation and layout

CONSTANTS: dict[str, np.ndarray] = {
    "splat": np.full((2, 3), 1.5, F32),
    "list": MATRIX,
    "special": np.array([np.inf, -np.inf, np.nan, -0.0, 3.1415927, 1e-45, 1e10], F32),
    "double": np.array([0.1, 1 / 3, 1e300, 5e-324]),
    "blob": np.linspace(-1, 1, 101, dtype=F32),
    "bool": FLAGS,
    "bool_blob": np.arange(102) % 3 == 0,
    "int4": np.array([-8, 7, 0], ml_dtypes.int4),
    "int4_blob": (np.arange(101) % 16 - 8).astype(ml_dtypes.int4),
    "uint64": np.array([2**64 - 1, 0], np.uint64),
    "bfloat16": np.array([1 / 3, np.inf], ml_dtypes.bfloat16),
    "float16": np.array([1 / 3, np.nan], np.float16),
    "float8": np.array([1.5, np.nan], ml_dtypes.float8_e4m3fn),
    "complex": np.array([1 + 2j, complex(np.inf, -0.0)], C64),
    "scalar": np.array(7, I64),
    "empty": np.zeros((0, 2), F32),
    "one": np.array([[2.5]], F32),
}
for _name, _array in CONSTANTS.items():
    add_op(f"constant.{_name}", value=_array)
add_op("iota", result=tensor(I32, 2, 3), iota_dimension=1)
add_op("broadcast_in_dim", VECTOR, result=tensor(F32, 2, 4), broadcast_dimensions=(1,))
add_op("broadcast_in_dim.scalar", SCALAR, result=tensor(F32, 2, 4), broadcast_dimensions=())
add_op("reshape", MATRIX, result=tensor(F32, 6))
add_op("transpose", MATRIX, permutation=(1, 0))
add_op("reverse", MATRIX, dimensions=(1,))
add_op("slice", MATRIX, start_indices=(0, 0), limit_indices=(2, 3), strides=(1, 2))
add_op("slice.scalar", SCALAR, start_indices=(), limit_indices=(), strides=())
add_op("pad", MATRIX, SCALAR, edge_padding_low=(0, 1), edge_padding_high=(1, -1), interior_padding=(0, 2))
add_op("concatenate", MATRIX, MATRIX, dimension=1)
add_op("concatenate.one", MATRIX, dimension=0)
add_op("dynamic_slice", MATRIX, INDEX, INDEX, slice_sizes=(1, 2))
add_op("dynamic_slice.scalar", SCALAR, slice_sizes=())
add_op("dynamic_update_slice", MATRIX, MATRIX[:1, :2], INDEX, INDEX)
add_op("dynamic_update_slice.scalar", SCALAR, SCALAR)

# -- indexing, contraction

ROWS = np.array([1, 0, 1], I32)
add_op(
    "gather",
    MATRIX,
    ROWS,
    dimension_numbers=GatherDimensionNumbers(
        offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=1
    ),
    slice_sizes=(1, 3),
    indices_are_sorted=False,
)


@program("scatter", MATRIX, ROWS[:1], MATRIX[:1])
def write_scatter(b: FunctionBuilder, *values: Value) -> list[Value]:
    numbers = ScatterDimensionNumbers(
        update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), index_vector_dim=1
    )
    body = scalar_op(b, elementwise.ADD, F32)
    return b.ops(indexing.SCATTER, *values, regions=[body], scatter_dimension_numbers=numbers, unique_indices=True)


add_op(
    "dot_general",
    MATRIX,
    MATRIX.T.copy(),
    result=tensor(F32, 2, 2),
    dot_dimension_numbers=DotDimensionNumbers((), (), (1,), (0,)),
)
add_op("dot", MATRIX, MATRIX.T.copy(), result=tensor(F32, 2, 2), precision_config=("DEFAULT", "HIGH"))
add_op("dot.vectors", VECTOR, VECTOR, result=tensor(F32))
add_op(
    "dot_general.batched",
    np.arange(12, dtype=F32).reshape(2, 3, 2),
    np.arange(8, dtype=F32).reshape(2, 2, 2),
    result=tensor(F32, 2, 3, 2),
    dot_dimension_numbers=DotDimensionNumbers((0,), (0,), (2,), (1,)),
    precision_config=("DEFAULT", "HIGHEST"),
)
add_op(
    "dot_general.algorithm",
    MATRIX,
    MATRIX.T.copy(),
    result=tensor(F32, 2, 2),
    dot_dimension_numbers=DotDimensionNumbers((), (), (1,), (0,)),
    precision_config=("DEFAULT", "DEFAULT"),
    algorithm=DotAlgorithm("f32", "f32", "f32"),
)
add_op(
    "dot_general.outer",
    VECTOR,
    VECTOR,
    result=tensor(F32, 4, 4),
    dot_dimension_numbers=DotDimensionNumbers(),
)

# -- windows

IMAGE = np.linspace(-1, 1, 2 * 5 * 4 * 2, dtype=F32).reshape(2, 5, 4, 2)
KERNEL = np.linspace(-1, 1, 3 * 2 * 2 * 4, dtype=F32).reshape(3, 2, 2, 4)
NHWC = ConvolutionDimensionNumbers.from_letters("b01f", "01io", "b01f")
ODD = ConvolutionDimensionNumbers.from_letters("f1b0", "o0i1", "1fb0")
ONE_GROUP = {"feature_group_count": 1, "batch_group_count": 1}
add_op("convolution", IMAGE, KERNEL, result=tensor(F32, 2, 3, 3, 4), dimension_numbers=NHWC, **ONE_GROUP)
add_op(
    "convolution.all",
    IMAGE.transpose(3, 2, 0, 1).copy(),
    KERNEL.transpose(3, 0, 2, 1).copy(),
    result=tensor(F32, 2, 4, 2, 4),
    dimension_numbers=ODD,
    window_strides=(2, 1),
    padding=np.array([[1, 2], [-1, 0]]),
    lhs_dilation=(2, 1),
    rhs_dilation=(2, 1),
    window_reversal=(True, False),
    precision_config=("DEFAULT", "HIGHEST"),
    **ONE_GROUP,
)
add_op(
    "convolution.features",
    IMAGE,
    KERNEL[:, :, :1],
    result=tensor(F32, 2, 3, 3, 4),
    dimension_numbers=NHWC,
    feature_group_count=2,
    batch_group_count=1,
)
add_op(
    "convolution.batches",
    IMAGE,
    KERNEL,
    result=tensor(F32, 1, 3, 3, 4),
    dimension_numbers=NHWC,
    feature_group_count=1,
    batch_group_count=2,
)
SLIDING = {"window_dimensions": (2, 2), "window_strides": (1, 2), "padding": np.array([[1, 0], [0, 1]])}
for _name in ("add", "maximum"):

    @program(f"reduce_window.{_name}", MATRIX, SCALAR * 0)
    def write_reduce_window(b: FunctionBuilder, *values: Value, _definition: Any = PRIMITIVES[_name]) -> list[Value]:
        return b.ops(windows.REDUCE_WINDOW, *values, regions=[scalar_op(b, _definition, F32)], **SLIDING)


@program("reduce_window.dilated", MATRIX, MATRIX.astype(I32), SCALAR * 0, np.array(0, I32))
def write_dilated_windows(b: FunctionBuilder, *values: Value) -> list[Value]:
    def add(*x: Value) -> list[Value]:
        return [b.op(elementwise.ADD, x[0], x[2]), b.op(elementwise.ADD, x[1], x[3])]

    body = b.region([tensor(F32), tensor(I32)] * 2, add)
    dilations = {"base_dilations": (2, 1), "window_dilations": (1, 2)}
    return b.ops(windows.REDUCE_WINDOW, *values, regions=[body], window_dimensions=(2, 2), **dilations)


@program("select_and_scatter", MATRIX[:, ::-1].copy(), MATRIX[:, :2] + 1, SCALAR)
def write_select_and_scatter(b: FunctionBuilder, *values: Value) -> list[Value]:
    bodies = [
        scalar_op(b, comparison.COMPARE, F32, comparison_direction="GE"),
        scalar_op(b, elementwise.ADD, F32),
    ]
    return b.ops(windows.SELECT_AND_SCATTER, *values, regions=bodies, **SLIDING)


PER_FEATURE = MATRIX[0]
NORMAL = {"epsilon": 0.125, "feature_index": 1}
add_op("batch_norm_inference", MATRIX, PER_FEATURE, PER_FEATURE, PER_FEATURE, PER_FEATURE, **NORMAL)
add_op("batch_norm_training", MATRIX, PER_FEATURE, PER_FEATURE, **NORMAL)
add_op("batch_norm_grad", MATRIX, PER_FEATURE + 1, PER_FEATURE, PER_FEATURE, MATRIX * MATRIX, **NORMAL)

# -- deprecated

add_op("broadcast", MATRIX, broadcast_sizes=(2, 1))
add_op("torch_index_select", MATRIX, np.array([[1, 0], [0, 1]], I32), dim=1, batch_dims=0)
add_op("torch_index_select.batched", MATRIX, np.array([[1, 0], [0, 2]], I32), dim=1, batch_dims=1)
add_op("einsum", MATRIX, MATRIX, einsum_config="ab,cb->ca")


@program("map", VECTOR, INTEGERS)
def write_map(b: FunctionBuilder, *values: Value) -> list[Value]:
    def body(x: Value, n: Value) -> list[Value]:
        return [b.op(elementwise.ADD, x, b.op(conversion.CONVERT, n, result=tensor(F32)))]

    return b.ops(deprecated.MAP, *values, regions=[b.region([tensor(F32), tensor(I32)], body)], dimensions=(0,))


# -- reductions and sorts

for _name in ("add", "multiply", "maximum", "minimum"):

    @program(f"reduce.{_name}", MATRIX, SCALAR)
    def write_reduce(b: FunctionBuilder, *values: Value, _definition: Any = PRIMITIVES[_name]) -> list[Value]:
        return b.ops(reduction.REDUCE, *values, regions=[scalar_op(b, _definition, F32)], dimensions=(1,))


@program("reduce.and", np.array([[True, False], [True, True]]), np.array(True))
def write_reduce_and(b: FunctionBuilder, *values: Value) -> list[Value]:
    return b.ops(reduction.REDUCE, *values, regions=[scalar_op(b, elementwise.AND, BOOL)], dimensions=(0, 1))


@program("reduce.swapped", MATRIX, SCALAR)
def write_reduce_swapped(b: FunctionBuilder, *values: Value) -> list[Value]:
    body = b.region([tensor(F32)] * 2, lambda x, y: [b.op(elementwise.MAXIMUM, y, x)])
    return b.ops(reduction.REDUCE, *values, regions=[body], dimensions=(0,))


@program("reduce.argmax", VECTOR, INTEGERS, SCALAR, np.array(0, I32))
def write_argmax(b: FunctionBuilder, *values: Value) -> list[Value]:
    def body(x: Value, i: Value, y: Value, j: Value) -> list[Value]:
        is_greater = b.op(comparison.COMPARE, x, y, comparison_direction="GT")
        best = b.op(comparison.SELECT, is_greater, x, y)
        return [best, b.op(comparison.SELECT, is_greater, i, j)]

    region = b.region([tensor(F32), tensor(I32)] * 2, body)
    return b.ops(reduction.REDUCE, *values, regions=[region], dimensions=(0,))


@program("sort", MATRIX, MATRIX.astype(I32))
def write_sort(b: FunctionBuilder, *values: Value) -> list[Value]:
    def less(x: Value, y: Value, *_: Value) -> list[Value]:
        return [b.op(comparison.COMPARE, x, y, comparison_direction="GT", compare_type="TOTALORDER")]

    region = b.region([tensor(F32)] * 2 + [tensor(I32)] * 2, less)
    return b.ops(sorting.SORT, *values, regions=[region], dimension=1, is_stable=True)


# -- control flow


@program("while", INDEX, VECTOR)
def write_while(b: FunctionBuilder, *values: Value) -> list[Value]:
    outer = b.constant(np.array(10, I32))

    def condition(i: Value, x: Value) -> list[Value]:
        return [b.op(comparison.COMPARE, i, outer, comparison_direction="LT", compare_type="SIGNED")]

    def body(i: Value, x: Value) -> list[Value]:
        return [b.op(elementwise.ADD, i, b.constant(np.array(2, I32))), b.op(elementwise.ADD, x, x)]

    types = [tensor(I32), tensor(F32, 4)]
    return b.ops(control_flow.WHILE, *values, regions=[b.region(types, condition), b.region(types, body)])


@program("while.nested", INDEX)
def write_nested(b: FunctionBuilder, start: Value) -> list[Value]:
    limit = b.constant(np.array(4, I32))
    one = b.constant(np.array(1, I32))

    def condition(i: Value) -> list[Value]:
        return [b.op(comparison.COMPARE, i, limit, comparison_direction="LT")]

    def inner(i: Value) -> list[Value]:
        return [b.op(elementwise.ADD, i, one)]

    def body(i: Value) -> list[Value]:
        types = [tensor(I32)]
        regions = [b.region(types, condition), b.region(types, inner)]
        return [b.op(elementwise.ADD, b.op(control_flow.WHILE, i, regions=regions), i)]

    regions = [b.region([tensor(I32)], condition), b.region([tensor(I32)], body)]
    return b.ops(control_flow.WHILE, start, regions=regions)


@program("if", np.array(True), VECTOR)
def write_if(b: FunctionBuilder, predicate: Value, x: Value) -> list[Value]:
    branches = [b.region([], lambda: [x, x]), b.region([], lambda: [b.op(elementwise.NEGATE, x), x])]
    return b.ops(control_flow.IF, predicate, regions=branches)


@program("case", INDEX, VECTOR)
def write_case(b: FunctionBuilder, index: Value, x: Value) -> list[Value]:
    branches = [b.region([], lambda: [x]), b.region([], lambda: [b.op(elementwise.NEGATE, x)])]
    return b.ops(control_flow.CASE, index, regions=branches)


def double(name: str = "double") -> Function:
    """Return a function that adds its argument to itself."""
    return build(lambda b, x: [b.op(elementwise.ADD, x, x)], VECTOR, name=name)


@program("call", VECTOR)
def write_call(b: FunctionBuilder, x: Value) -> list[Value]:
    inner = double()
    y = b.op(control_flow.CALL, x, callee=inner, result=x.type)
    z = b.op(control_flow.CALL, y, callee=double(), result=x.type)
    return [b.op(control_flow.CALL, z, callee=double("odd name"), result=x.type)]


@program("call.nested", INDEX, VECTOR)
def write_call_in_branch(b: FunctionBuilder, index: Value, x: Value) -> list[Value]:
    callee = double()
    branch = b.region([], lambda: [b.op(control_flow.CALL, x, callee=callee, result=x.type)])
    return b.ops(control_flow.CASE, index, regions=[branch])


@program("composite", VECTOR)
def write_composite(b: FunctionBuilder, x: Value) -> list[Value]:
    attributes = {"count": 3, "scale": 0.5, "exact": True, "mode": 'a "word"', "axes": (0, 1), "nested": {"x": 1}}
    return b.ops(
        control_flow.COMPOSITE,
        x,
        results=[x.type],
        name="test.double",
        decomposition=double(),
        composite_attributes=attributes,
        version=2,
    )


@program("composite.erf", VECTOR)
def write_erf(b: FunctionBuilder, x: Value) -> list[Value]:
    attributes = special.make("numhlo.erf", [x.tensor])
    return b.ops(control_flow.COMPOSITE, x, results=[x.type], **attributes)


@program("composite.scan", np.array(2.0, F32), np.array(0.5, F32), MATRIX)
def write_scan(b: FunctionBuilder, *values: Value) -> list[Value]:
    def write_body(c: FunctionBuilder, const: Value, carry: Value, row: Value) -> list[Value]:
        total = c.op(
            reduction.REDUCE,
            row,
            c.constant(np.array(0, F32)),
            regions=[scalar_op(c, elementwise.ADD, F32)],
            dimensions=(0,),
        )
        return [c.op(elementwise.ADD, carry, c.op(elementwise.MULTIPLY, const, total)), total]

    body = build(write_body, SCALAR, SCALAR, MATRIX[0], name="body")
    return b.ops(
        control_flow.COMPOSITE,
        *values,
        results=[tensor(F32), tensor(F32, 2)],
        name="numhlo.scan",
        decomposition=loops.make_scan(body, 2, 1, 1),
        composite_attributes={"length": 2, "num_consts": 1, "num_carries": 1, "reverse": False},
    )


@program("optimization_barrier", VECTOR, SCALAR)
def write_barrier(b: FunctionBuilder, *values: Value) -> list[Value]:
    return b.ops(control_flow.OPTIMIZATION_BARRIER, *values)


@program("optimization_barrier.empty", VECTOR)
def write_empty_barrier(b: FunctionBuilder, x: Value) -> list[Value]:
    b.ops(control_flow.OPTIMIZATION_BARRIER)
    return [x]


NOT_RUN: dict[str, Module] = {
    "unary_einsum": Module([build(lambda b, x: b.ops(deprecated.UNARY_EINSUM, x, einsum_config="ab->b"), MATRIX)]),
    "custom_call": Module(
        [
            build(
                lambda b, x: b.ops(
                    control_flow.CUSTOM_CALL,
                    x,
                    results=[x.type, tensor(I32)],
                    call_target_name="a target",
                    api_version=4,
                    has_side_effect=True,
                    backend_config={"uplo": np.uint8(76), "k": 1},
                    called_computations=(double(),),
                )[:1],
                VECTOR,
            )
        ]
    ),
}
"""Programs that XLA has no implementation for, or no support; they are only printed and parsed."""

MODULES: dict[str, Module] = {**{name: module for name, (module, _) in PROGRAMS.items()}, **NOT_RUN, **RARE}
"""All modules by name."""
