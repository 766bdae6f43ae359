import ml_dtypes
import numpy as np
import pytest

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import VerificationError
from numhlo.lowering.ops import comparison, control_flow, elementwise
from numhlo.lowering.ops.dimension_numbers import ScatterDimensionNumbers
from numhlo.lowering.ops.indexing import SCATTER
from tests.lowering.ops.one_op import binary_body, combining, infer, run

ALONG_0 = ScatterDimensionNumbers((), (0,), (), (), (0,), 1)
"""Every element of a vector of indices names an element of a vector."""


def windows_in_order(shape, n):
    """Yield update indices: windows in row-major order of the index tensor, elements within a window in order."""
    batch = [d for d in range(len(shape)) if d not in n.update_window_dims]
    for batch_index in np.ndindex(*[shape[d] for d in batch]):
        for window_index in np.ndindex(*[shape[d] for d in n.update_window_dims]):
            index = [0] * len(shape)
            for d, k in zip([*batch, *n.update_window_dims], [*batch_index, *window_index], strict=True):
                index[d] = k
            yield tuple(index), batch_index, window_index


def scatter_by_the_specification(operand, indices, updates, n, combine):
    """The formula of the specification's section on scatter; windows that stick out are dropped as a whole."""
    result = operand.copy()
    for update_index, batch_index, window_index in windows_in_order(updates.shape, n):
        if n.index_vector_dim < indices.ndim:
            where = list(batch_index)
            where.insert(n.index_vector_dim, slice(None))
            start = [int(i) for i in indices[tuple(where)]]
        else:
            start = [int(indices[batch_index])]
        first, size = [0] * operand.ndim, [1] * operand.ndim
        for d in range(operand.ndim):
            if d in n.scatter_dims_to_operand_dims:
                first[d] = start[n.scatter_dims_to_operand_dims.index(d)]
            if d in n.input_batching_dims:
                axis = n.scatter_indices_batching_dims[n.input_batching_dims.index(d)]
                first[d] += batch_index[axis - (0 if axis < n.index_vector_dim else 1)]
        window = [d for d in range(operand.ndim) if d not in (*n.inserted_window_dims, *n.input_batching_dims)]
        position = list(first)
        for d, axis, k in zip(window, n.update_window_dims, window_index, strict=True):
            size[d] = updates.shape[axis]
            position[d] += k
        if all(f >= 0 and f + s <= m for f, s, m in zip(first, size, operand.shape, strict=True)):
            result[tuple(position)] = combine(result[tuple(position)], updates[update_index])
    return result


def random_case(rng):
    """Return operand, indices, updates and dimension numbers that obey all constraints."""
    rank = int(rng.integers(0, 5))
    shape = [int(n) for n in rng.integers(1, 4, rank)]
    roles = rng.choice(["window", "inserted", "batching"], rank)
    dims = {role: [d for d in range(rank) if roles[d] == role] for role in ("window", "inserted", "batching")}
    mappable = [d for d in range(rank) if d not in dims["batching"]]
    mapped = [int(d) for d in rng.permutation(mappable)[: rng.integers(0, len(mappable) + 1)]]
    free = [int(n) for n in rng.integers(1, 4, rng.integers(0, 3))]
    batch = [*free, *[shape[d] for d in dims["batching"]]]
    order = rng.permutation(len(batch))
    batch_shape = [batch[k] for k in order]
    own_axes = [int(np.flatnonzero(order == len(free) + k)[0]) for k in range(len(dims["batching"]))]
    vector = int(rng.integers(0, len(batch) + 1))
    index_shape = list(batch_shape)
    if len(mapped) == 1 and rng.integers(2):
        vector = len(batch_shape)
    else:
        index_shape.insert(vector, len(mapped))
    total = len(batch) + len(dims["window"])
    window_axes = sorted(int(d) for d in rng.permutation(total)[: len(dims["window"])])
    sizes = iter(batch_shape)
    window_sizes = iter(int(rng.integers(0 if shape[d] > 1 else 1, shape[d] + 1)) for d in dims["window"])
    update_shape = [next(window_sizes) if axis in window_axes else next(sizes) for axis in range(total)]
    numbers = ScatterDimensionNumbers(
        tuple(window_axes),
        tuple(dims["inserted"]),
        tuple(dims["batching"]),
        tuple(a + (a >= vector) for a in own_axes),
        tuple(mapped),
        vector,
    )
    dtype = rng.choice([np.int8, np.int32, np.int64, np.uint8, np.uint64])
    low = -1 if np.iinfo(dtype).min < 0 else 0
    indices = rng.integers(low, 4, index_shape).astype(dtype)
    return rng.integers(0, 100, shape), indices, rng.integers(0, 100, update_shape), numbers


def replace(b, old, new):
    return [new]


def weighted(b, old, new):
    """Not commutative, and made of two ops: 2 old + new."""
    return [b.op(elementwise.ADD, b.op(elementwise.ADD, old, old), new)]


BODIES = {
    "add": (binary_body(elementwise.ADD, np.int64), lambda x, y: x + y),
    "maximum": (binary_body(elementwise.MAXIMUM, np.int64), max),
    "replace": ((combining(np.int64), replace), lambda x, y: y),
    "weighted": ((combining(np.int64), weighted), lambda x, y: 2 * x + y),
}


def test_random_dimension_numbers(rng):
    dropped = 0
    for k in range(240):
        body, combine = list(BODIES.values())[k % len(BODIES)]
        operand, indices, updates, numbers = random_case(rng)
        before = operand.copy()
        (got,) = run(SCATTER, operand, indices, updates, regions=[body], scatter_dimension_numbers=numbers)
        expected = scatter_by_the_specification(operand, indices, updates, numbers, combine)
        np.testing.assert_array_equal(got, expected, err_msg=f"{numbers}")
        np.testing.assert_array_equal(operand, before)
        dropped += updates.size > 0 and np.array_equal(got, operand)
    assert 5 < dropped < 200


def test_worked_example_of_the_specification():
    operand = np.arange(1, 49).reshape(2, 3, 4, 2)
    indices = np.array(
        [
            [[[0, 0], [1, 0], [2, 1]], [[0, 1], [1, 1], [0, 9]]],
            [[[0, 0], [2, 1], [2, 2]], [[1, 2], [0, 1], [1, 0]]],
        ]
    )
    numbers = ScatterDimensionNumbers((3, 4), (1,), (0,), (1,), (2, 1), 3)
    body = binary_body(elementwise.ADD, np.int64)
    updates = np.ones((2, 2, 3, 2, 2), np.int64)
    (got,) = run(SCATTER, operand, indices, updates, regions=[body], scatter_dimension_numbers=numbers)
    expected = [
        [
            [[3, 4], [6, 7], [6, 7], [7, 8]],
            [[9, 10], [11, 12], [15, 16], [17, 18]],
            [[17, 18], [19, 20], [22, 23], [24, 25]],
        ],
        [
            [[25, 26], [28, 29], [30, 31], [31, 32]],
            [[35, 36], [38, 39], [38, 39], [39, 40]],
            [[41, 42], [44, 45], [46, 47], [47, 48]],
        ],
    ]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "definition",
    [
        elementwise.ADD,
        elementwise.MULTIPLY,
        elementwise.MAXIMUM,
        elementwise.MINIMUM,
        elementwise.AND,
        elementwise.OR,
        elementwise.XOR,
    ],
    ids=lambda d: d.name,
)
def test_updates_of_one_position_come_in_order_for_every_element_type(definition, rng):
    where = np.array([0, 1, 0, 2, 0, 1, 1, 0, 5, -1])
    floats = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, np.complex64]
    bitwise = [np.bool_, np.int8, np.uint64, ml_dtypes.int4, ml_dtypes.uint2]
    has_floats = definition.name in {"add", "multiply", "maximum", "minimum"}
    for dtype in bitwise + (floats if has_floats else []):
        old, new = (rng.integers(-2, 3, n).astype(dtype) for n in (3, 10))
        if dtype in floats:
            new = new * np.asarray(1.1, dtype)
            new[2], new[7] = -0.0, 0.0
        body = binary_body(definition, dtype)
        (got,) = run(SCATTER, old, where, new, regions=[body], scatter_dimension_numbers=ALONG_0)
        expected = old.copy()
        for position, update in zip(where, new, strict=True):
            if 0 <= position < 3:
                (result,) = definition.evaluate((expected[position : position + 1], np.asarray([update])), {}, ())
                expected[position] = result[0]
        assert got.tobytes() == expected.tobytes(), dtype


def test_extremes_keep_nan_and_order_zeros():
    for definition, expected in ((elementwise.MAXIMUM, [np.nan, 0.0]), (elementwise.MINIMUM, [np.nan, -0.0])):
        old, new = np.array([1.0, -0.0]), np.array([np.nan, 7.0, 0.0, -0.0])
        body = binary_body(definition, np.float64)
        where = np.array([0, 0, 1, 1])
        (got,) = run(SCATTER, old, where, new, regions=[body], scatter_dimension_numbers=ALONG_0)
        np.testing.assert_array_equal(got, expected)
        assert np.signbit(got[1]) == np.signbit(expected[1])


def test_several_inputs_move_together():
    # the pair with the larger key stays
    def keep_larger(b, key, value, new_key, new_value):
        larger = b.op(comparison.COMPARE, new_key, key, comparison_direction="GT")
        return [
            b.op(comparison.SELECT, larger, new_key, key),
            b.op(comparison.SELECT, larger, new_value, value),
        ]

    keys, values = np.array([5, 0, 0]), np.array([1.0, 2.0, 3.0], np.float32)
    new_keys, new_values = np.array([4, 3, 9, 6]), np.array([10.0, 20.0, 30.0, 40.0], np.float32)
    body = (combining(np.int64, np.float32), keep_larger)
    where = np.array([0, 1, 1, 1])
    got = run(SCATTER, keys, values, where, new_keys, new_values, regions=[body], scatter_dimension_numbers=ALONG_0)
    np.testing.assert_array_equal(got[0], [5, 9, 0])
    np.testing.assert_array_equal(got[1], [1, 30, 3])


def test_body_that_is_not_elementwise_runs_one_by_one():
    def through_branch(b, old, new):
        less = b.op(comparison.COMPARE, old, new, comparison_direction="LT")
        regions = [b.region((), lambda: [b.op(elementwise.ADD, old, new)]), b.region((), lambda: [old])]
        return b.ops(control_flow.IF, less, regions=regions)

    body = (combining(np.int64), through_branch)
    old, where, new = np.array([0, 10]), np.array([0, 0, 1, 0]), np.array([2, 1, 3, 5])
    (got,) = run(SCATTER, old, where, new, regions=[body], scatter_dimension_numbers=ALONG_0)
    np.testing.assert_array_equal(got, [7, 10])


def test_body_may_widen_the_element_type():
    body = binary_body(elementwise.ADD, np.int32)
    old, new = np.array([100, 1], np.int8), np.array([100, 100], np.int8)
    (got,) = run(SCATTER, old, np.array([0, 0]), new, regions=[body], scatter_dimension_numbers=ALONG_0)
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, [300, 1])


VALID = {
    "update_window_dims": (1,),
    "inserted_window_dims": (0,),
    "input_batching_dims": (),
    "scatter_indices_batching_dims": (),
    "scatter_dims_to_operand_dims": (0,),
    "index_vector_dim": 1,
}
F32, I32 = np.dtype(np.float32), np.dtype(np.int32)
TYPES = [TensorType((5, 3), F32), TensorType((7, 1), I32), TensorType((7, 3), F32)]


def infer_scatter(changes, types=TYPES, body=None):
    numbers = ScatterDimensionNumbers(**{**VALID, **changes})
    body = body or binary_body(elementwise.ADD, *[t.dtype for t in types[: len(types) // 2]])
    return infer(SCATTER, types, regions=[body], scatter_dimension_numbers=numbers)


@pytest.mark.parametrize(
    ("rule", "changes", "types"),
    [
        ("(C1)", {}, [TYPES[0], TensorType((5, 4), F32), TYPES[1], TYPES[2], TYPES[2]]),
        ("(C2)", {"update_window_dims": ()}, TYPES),
        ("(C3)", {}, [TYPES[0], TYPES[0], TYPES[1], TYPES[2], TensorType((7, 2), F32)]),
        ("(C4)", {}, [*TYPES[:2], TensorType((6, 3), F32)]),
        ("(C4)", {}, [*TYPES[:2], TensorType((7, 4), F32)]),
        ("(C5)", {}, TYPES[:2]),
        ("(C6)", {}, [*TYPES[:2], TensorType((7, 3), I32)]),
        ("(C7)", {"update_window_dims": (1, 0), "inserted_window_dims": ()}, TYPES),
        ("(C8)", {"update_window_dims": (2,)}, TYPES),
        ("(C9)", {"update_window_dims": (), "inserted_window_dims": (0, 0)}, TYPES),
        ("(C10)", {"update_window_dims": (), "inserted_window_dims": (1, 0)}, TYPES),
        ("(C11)", {"inserted_window_dims": (2,)}, TYPES),
        ("(C12)", {"update_window_dims": (), "inserted_window_dims": (), "input_batching_dims": (1, 0)}, TYPES),
        ("(C13)", {"inserted_window_dims": (), "input_batching_dims": (2,)}, TYPES),
        ("(C14)", {"scatter_indices_batching_dims": (0, 0)}, TYPES),
        ("(C15)", {"scatter_indices_batching_dims": (2,)}, TYPES),
        ("(C16)", {"scatter_indices_batching_dims": (1,)}, TYPES),
        ("(C17)", {"scatter_indices_batching_dims": (0,)}, TYPES),
        (
            "(C18)",
            {"inserted_window_dims": (), "input_batching_dims": (1,), "scatter_indices_batching_dims": (0,)},
            TYPES,
        ),
        ("(C19)", {"scatter_dims_to_operand_dims": (0, 1)}, TYPES),
        ("(C20)", {"inserted_window_dims": (), "input_batching_dims": (0,)}, TYPES),
        ("(C21)", {"scatter_dims_to_operand_dims": (2,)}, TYPES),
        ("(C22)", {"index_vector_dim": 3}, TYPES),
    ],
)
def test_constraints(rule, changes, types):
    assert infer_scatter({}) == [TYPES[0]]
    with pytest.raises(VerificationError) as caught:
        infer_scatter(changes, types)
    assert rule in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        binary_body(elementwise.ADD, np.int32),
        binary_body(elementwise.ADD, F32, F32),
    ],
)
def test_constraint_c23(body):
    with pytest.raises(VerificationError) as caught:
        infer_scatter({}, body=body)
    assert "(C23)" in str(caught.value)
