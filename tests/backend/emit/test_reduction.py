"""Reductions in every loop shape: along rows and columns, unrolled, in one or many blocks, one launch or two."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import numhlo
from numhlo.backend.executable import Executable
from numhlo.backend.program import Launch
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import Region, TensorType
from numhlo.lowering.ops import comparison, creation, elementwise, reduction
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.primitive import make_op
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import all_steps, body_of, evaluated, from_jax, launched, plan
from tests.backend.random_programs import dtype_named, random_array

F32 = np.dtype(np.float32)
OPS = [elementwise.ADD, elementwise.MULTIPLY, elementwise.MAXIMUM, elementwise.MINIMUM]
LAYOUTS = {
    "one row": ((70,), (0,)),
    "short rows": ((5, 3), (1,)),
    "rows": ((4, 70), (1,)),
    "rows of two dims": ((3, 5, 7, 2), (1, 3)),
    "columns": ((70, 9), (0,)),
    "many columns": ((20, 3, 70), (0, 1)),
    "columns of the middle": ((3, 20, 5), (1,)),
    "columns in chunks": ((300, 9), (0,)),
    "columns of two dims in chunks": ((7, 3, 50, 5), (0, 2)),
    "wide columns": ((40, 2100), (0,)),
    "few columns": ((70, 3), (0,)),
    "coordinates": ((5, 70, 4), (1,)),
    "everything": ((3, 4, 6), (0, 1, 2)),
    "nothing": ((3, 4), ()),
    "no elements": ((3, 0), (1,)),
    "no results": ((0, 3), (1,)),
    "one element": ((3, 1), (1,)),
    "blocks": ((9000,), (0,)),
    "row blocks": ((2, 4100), (1,)),
    "column blocks": ((4100, 3), (0,)),
    "blocks of two dims": ((64, 3, 67), (0, 2)),
    "many rows in blocks": ((17, 4099), (1,)),
}
SLOW = {"wide columns", "blocks", "row blocks", "column blocks", "blocks of two dims", "many rows in blocks"}


def reduce_of(shape, dims, dtype, ops=OPS):
    b = FunctionBuilder("reduce", [TensorType(shape, dtype)])
    zero = b.constant(np.ones((), dtype))
    results = [
        b.ops(reduction.REDUCE, b.arguments[0], zero, regions=[body_of(op, dtype)], dimensions=dims)[0] for op in ops
    ]
    return b.finish(results)


def check(function, arrays, run=run_plain):
    program = plan(function)
    assert not evaluated(program)
    for left, right in zip(run(program, arrays), interpret(function, arrays), strict=True):
        assert_same_bits(left, np.asarray(right))
    return program


def sources(program):
    return [step.kernel.source for step in all_steps(program) if isinstance(step, Launch)]


def run_native(program, arrays):
    executable = Executable(program)
    assert executable.wait(60)
    return executable(arrays)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name, rng):
    shape, dims = LAYOUTS[name]
    array = random_array(rng, TensorType(shape, F32))
    ops = OPS[:1] if name in SLOW else OPS
    check(reduce_of(shape, dims, F32, ops), [array])


@pytest.mark.slow
@pytest.mark.specifies("reduction, reduce")
def test_layouts_as_machine_code(rng):
    for shape, dims in LAYOUTS.values():
        check(reduce_of(shape, dims, F32), [random_array(rng, TensorType(shape, F32))], run_native)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "float8_e5m2", "int8", "uint32", "int64", "bool"])
@pytest.mark.parametrize("name", ["rows", "columns", "few columns", "short rows"])
def test_element_types(dtype, name, rng):
    shape, dims = LAYOUTS[name]
    type = TensorType(shape, dtype_named(dtype))
    ops = OPS + ([elementwise.AND, elementwise.OR, elementwise.XOR] if type.dtype.kind in "iub" else [])
    check(reduce_of(shape, dims, type.dtype, ops), [random_array(rng, type)])


def test_zeros_and_nans_of_every_sign():
    array = np.array([[-0.0, -0.0], [0.0, -0.0], [np.nan, 1.0], [np.inf, -np.inf], [-0.0, 0.0]], np.float32)
    for dims in ((0,), (1,), (0, 1)):
        check(reduce_of(array.shape, dims, F32), [array])
        check(reduce_of((20, 30), (1,), F32), [np.full((20, 30), -0.0, np.float32)])


def choosing_body(dtype, index):
    """Return the body of argmax: the larger value, of equal ones the smaller index."""
    types = [TensorType((), dtype), TensorType((), index)]
    region = Region([*types, *types])
    a, i, b, j = region.arguments

    def op(definition, *operands, **attributes):
        made = make_op(definition, operands, attributes)
        region.ops.append(made)
        return made.result

    greater = op(comparison.COMPARE, a, b, comparison_direction="GT")
    equal = op(comparison.COMPARE, a, b, comparison_direction="EQ")
    earlier = op(comparison.COMPARE, i, j, comparison_direction="LT")
    left = op(elementwise.OR, greater, op(elementwise.AND, equal, earlier))
    region.returns = [op(comparison.SELECT, left, a, b), op(comparison.SELECT, left, i, j)]
    return region


def averaging_body(dtype):
    """Return a body whose result depends on the order in every bit."""
    scalar = TensorType((), dtype)
    region = Region([scalar, scalar])
    total = make_op(elementwise.ADD, region.arguments)
    half = make_op(elementwise.MULTIPLY, [total.result, total.result])
    region.ops += [total, half]
    region.returns = [half.result]
    return region


@pytest.mark.parametrize("name", ["rows", "columns", "short rows", "rows of two dims", "everything"])
def test_bodies_that_choose(name, rng):
    shape, dims = LAYOUTS[name]
    values, places = TensorType(shape, F32), TensorType(shape, np.dtype(np.int32))
    b = FunctionBuilder("argmax", [values, places])
    inits = [b.constant(np.float32(-np.inf)), b.constant(np.int32(0))]
    body = choosing_body(F32, np.dtype(np.int32))
    function = b.finish(b.ops(reduction.REDUCE, *b.arguments, *inits, regions=[body], dimensions=dims))
    numbers = np.arange(values.size, dtype=np.int32).reshape(shape)
    check(function, [np.round(random_array(rng, values)), numbers])


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 9, 16, 21, 100])
@pytest.mark.specifies("reduce")
def test_bodies_of_any_order(count, rng):
    b = FunctionBuilder("average", [TensorType((2, count), F32)])
    init = b.constant(np.float32(0.5))
    function = b.finish(b.ops(reduction.REDUCE, b.arguments[0], init, regions=[averaging_body(F32)], dimensions=(1,)))
    check(function, [random_array(rng, TensorType((2, count), F32)) / 4])


def test_elements_are_computed_and_stored_on_the_way(rng):
    x = random_array(rng, TensorType((6, 40), F32))
    for axis in (0, 1):
        traced = from_jax(lambda x, axis=axis: (jnp.sum(x * 2 + 1, axis), jnp.max(-x, axis), x * 2 + 1), x)
        program = check(traced, [x])
        assert len(launched(program)) == 1


@pytest.mark.parametrize(("dtype", "run"), [(np.float64, run_native), (np.float16, run_native), (np.int32, run_plain)])
def test_what_is_left_of_a_row_becomes_a_full_vector(dtype, run, rng):
    """Else it would be stored one by one, and loaded as a vector, which waits for all of these stores."""
    texts = set()
    for count in (16, 17, 20, 47):
        x, y = (random_array(rng, TensorType(shape, np.dtype(dtype))) for shape in ((9, count), (count,)))
        traced = from_jax(lambda x, y: ((x - y).sum(1, dtype=x.dtype), jnp.argmax(x - y, 1), x - y), x, y)
        program = check(traced, [x, y], run)
        texts.update(sources(program))
    assert len(texts) == 1
    (text,) = texts
    assert ("range(rest0)" in text) == (np.dtype(dtype).kind == "f")  # a sum of integers is no matter of vectors


def test_rows_of_several_axes_are_loops_in_loops(rng):
    """To decode the place of an element takes a division for each row of the last axis."""
    x = random_array(rng, TensorType((3, 4, 3, 5, 7), F32))
    (source,) = sources(check(from_jax(lambda x: jnp.abs(x[:, :, :2, 1:, 1:]).sum((1, 2, 3, 4)), x), [x]))
    assert "while" not in source
    assert "divide" not in source


@pytest.mark.parametrize("columns", [3, 10, 70])
def test_what_is_stored_on_the_way_decides_how_memory_is_walked(columns, rng):
    """Of a matrix that is made from a column, the sums of columns go along the rows that are stored."""
    x = rng.integers(0, columns, 150).astype(np.int32)
    one_hot = from_jax(lambda x: (y := (x[:, None] == jnp.arange(columns)).astype(F32), y.sum(0)), x)
    (source,) = sources(check(one_hot, [x]))
    assert "column0" in source
    across = from_jax(lambda x: (y := (x == jnp.arange(columns)[:, None]).astype(F32), y.sum(1)), x)
    assert not any("column0" in source for source in sources(check(across, [x])))


ROWS_FOUND = {
    "sum": (lambda table, places: table[places].sum(0), (40,), True),
    "maximum": (lambda table, places: table[places].max(0), (40,), True),
    "bags": (lambda table, places: table[places].sum(1), (3, 40), True),
    "along rows": (lambda table, places: table[places].sum(1), (40,), False),
    "columns found": (lambda table, places: table[:, places].sum(1), (40,), False),
    "elements found": (lambda table, places: table[places, jnp.arange(33)].sum(0), (40, 33), False),
}


@pytest.mark.parametrize("name", ROWS_FOUND)
def test_rows_that_are_found_by_indices_are_added_side_by_side(name, rng):
    function, shape, side_by_side = ROWS_FOUND[name]
    arrays = [random_array(rng, TensorType((20, 33), F32)), rng.integers(0, 20, shape)]
    texts = sources(check(from_jax(function, *arrays), arrays))
    assert any("column0" in text for text in texts) == side_by_side


def test_what_few_columns_share_is_computed_once(rng):
    x, w = random_array(rng, TensorType((5, 70, 3), F32)), random_array(rng, TensorType((5, 70), F32))
    traced = from_jax(lambda x, w: (jnp.sqrt(jnp.abs(w))[:, :, None] * x).sum(1), x, w)
    (source,) = sources(check(traced, [x, w]))
    assert source.count("square_root(") == 1
    assert source.count("add_lanes_f32(") == 3


def test_only_sums_and_products_of_columns_keep_lanes_apart(rng):
    x = random_array(rng, TensorType((70, 40), F32))
    for function, lanes in [(jnp.max, False), (jnp.min, False), (jnp.sum, True), (jnp.prod, True)]:
        (source,) = sources(check(from_jax(lambda x, f=function: f(x, 0), x), [x]))
        assert ("lane" in source) == lanes


def test_full_and_other_units_of_columns_are_one_kernel(rng):
    for function, widths in [(lambda x: (jnp.max(x, 0), jnp.argmax(x, 0)), (16, 13)), (lambda x: x.sum(0), (8, 7))]:
        texts = set()
        for width in widths:
            x = random_array(rng, TensorType((70, width), F32))
            texts.update(sources(check(from_jax(function, x), [x])))
        assert len(texts) == 1


PRODUCTS = {
    "vector and matrix": (lambda x, m: (x[:, None] * m).sum(0), (20,), (20, 33), True),
    "matrix first": (lambda x, m: (m * x[:, None]).sum(0), (9,), (9, 70), True),
    "rows of vectors": (lambda x, m: (x[:, :, None] * m).sum(1), (5, 17), (17, 12), True),
    "transposed": (lambda x, m: (x * m.T[:, :, None]).sum(0), (16, 3, 20), (3, 16), True),
    "batch of matrices": (lambda x, m: (x[:, :, None] * m).sum(1), (3, 16), (3, 16, 24), True),
    "every second": (lambda x, m: (x[::2, None] * m[1:20, 2:]).sum(0), (38,), (23, 31), True),
    "all rows": (lambda x, m: (x[:, None] * m).sum(0), (64,), (64, 128), True),
    "too many rows": (lambda x, m: (x[:, None] * m).sum(0), (65,), (65, 20), False),
    "too many products": (lambda x, m: (x[:, None] * m).sum(0), (64,), (64, 129), False),
    "matrix along rows": (lambda x, m: (x[:, None] * m.T).sum(0), (20,), (33, 20), False),
    "squares": (lambda x, m: (m * m).sum(0) + x, (33,), (20, 33), False),
    "products on the way": (lambda x, m: ((y := x[:, None] * m).sum(0), y), (20,), (20, 33), False),
    "computed factors": (lambda x, m: (jnp.abs(x)[:, None] * m).sum(0), (20,), (20, 33), False),
    "maximum": (lambda x, m: (x[:, None] * m).max(0), (20,), (20, 33), False),
    "no columns": (lambda x, m: (x[:, None] * m).sum(0), (20,), (20, 0), False),
    "no rows": (lambda x, m: (x[:, None] * m).sum(0), (0,), (0, 20), False),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_sums_of_rows_times_numbers_stay_in_registers(name, rng):
    function, left, right, in_registers = PRODUCTS[name]
    arrays = [random_array(rng, TensorType(shape, F32)) for shape in (left, right)]
    texts = sources(check(from_jax(function, *arrays), arrays))
    assert any("add_product_columns_f32(" in text for text in texts) == in_registers


def test_rows_that_are_found_by_indices_stay_in_registers_where_steps_between_them_are_even(rng):
    x, m, places = rng.standard_normal(20), rng.standard_normal((20, 6, 33)), rng.integers(0, 6, 20)
    pick = jax.vmap(lambda m, i: jax.lax.dynamic_index_in_dim(m, i, 0, keepdims=False))
    one = lambda m, i: jax.lax.dynamic_index_in_dim(m, i, 1, keepdims=False)
    cases = [
        (lambda x, m, i: (x[:, None] * pick(m, i)).sum(0), False),
        (lambda x, m, i: (pick(m[:, :, 0], i)[:, None] * m[:, 0]).sum(0), False),
        (lambda x, m, i: (x[:, None] * one(m, i[3])).sum(0), True),
    ]
    for function, even in cases:
        texts = sources(check(from_jax(function, x, m, places), [x, m, places]))
        assert any("add_product_columns_" in text for text in texts) == even


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int32", "complex64", "complex128"])
def test_only_products_of_plain_floats_stay_in_registers(dtype, rng):
    arrays = [random_array(rng, TensorType(shape, dtype_named(dtype))) for shape in ((20,), (20, 33))]
    texts = sources(check(from_jax(PRODUCTS["vector and matrix"][0], *arrays), arrays))
    assert any("add_product_columns_" in text for text in texts) == (dtype == "float64")


def test_vectors_times_small_matrices_have_the_same_bits_on_any_number_of_threads(rng):
    x, u, xs = rng.standard_normal((9, 20)), rng.standard_normal((20, 20)), rng.standard_normal((4, 20, 20))
    x[3, 4], u[7, 11] = np.nan, np.inf

    def function(x, u, xs):
        def step(carried, m):
            h, u = carried
            return ((h[:, :, None] * u).sum(1), u.T + 1), (h[:, :, None] * m).sum(1)

        return jax.lax.scan(step, (x, u), xs)

    traced = from_jax(function, x, u, xs)
    program = plan(traced)
    assert sum("add_product_columns_f64(" in text for text in sources(program)) >= 2
    executable, expected = Executable(program), interpret(traced, [x, u, xs])
    assert executable.wait(60)
    for count in (1, 2, 3, 8):
        with numhlo.threads(count):
            for found, value in zip(executable([x, u, xs]), expected, strict=True):
                np.testing.assert_array_equal(found, np.asarray(value))


@pytest.mark.slow
def test_columns_of_what_no_cache_holds_are_wide_and_have_the_same_bits(rng):
    x = rng.standard_normal((600, 4100))
    program = plan(from_jax(lambda x: (x.sum(0), (x * x).sum(0)), x))
    assert [step.extent for step in all_steps(program) if isinstance(step, Launch)] == [9]  # of 512, for two sums
    sums = numhlo.jit(lambda x: (x.sum(axis=0), (x * x).sum(axis=0)), tier0=False)
    for part in (slice(64), slice(500, 530), slice(4090, None)):
        for wide, narrow in zip(sums(x), sums(x[:, part].copy()), strict=True):
            np.testing.assert_array_equal(wide[part], narrow)


def test_two_launches_for_few_long_results(rng):
    x = random_array(rng, TensorType((9000,), F32))
    program = check(reduce_of((9000,), (0,), F32, OPS[:1]), [x])
    assert len(launched(program)) == 2
    assert program.steps[1].follows


def test_choosing_bodies_on_long_rows_with_nans_and_ties(rng):
    for shape, axis in (((5, 130), 1), ((130, 5), 0), ((64,), 0), ((3, 259), 1)):
        x = np.round(random_array(rng, TensorType(shape, F32)))
        x[rng.random(shape) < 0.02] = np.nan
        traced = from_jax(lambda x, axis=axis: (jnp.argmax(x, axis), jnp.argmin(x, axis)), x)
        check(traced, [x])


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint64", "bool"])
def test_first_extremes_of_every_element_type(dtype, rng):
    arrays = [random_array(rng, TensorType(shape, np.dtype(dtype))) for shape in ((4, 70), (9000,))]
    arrays = [np.round(x / 4).astype(dtype) if dtype.startswith("float") else x for x in arrays]

    def both(x, y):
        plain, shifted = (jnp.argmax(x, 1), jnp.argmin(x, 1)), (jnp.argmax(~x if x.dtype == bool else x + x, 1),)
        columns = (jnp.argmax(x, 0), jnp.argmin(x[:, :5], 1), jnp.argmax(x.T[:20], 0), jnp.argmin(x.T[:20], 0))
        return *plain, *shifted, *columns, jnp.argmax(y), jnp.argmin(y)

    program = check(from_jax(both, *arrays), arrays)
    assert any("first_maximum" in source for source in sources(program))


def test_bodies_that_only_look_like_argmax_keep_their_meaning(rng):
    x = np.round(random_array(rng, TensorType((4, 70), F32)))
    b = FunctionBuilder("argmax", [TensorType(x.shape, F32)])
    places = b.op(creation.IOTA, iota_dimension=1, result=TensorType(x.shape, np.dtype(np.int32)))
    inits = [b.constant(np.float32(-np.inf)), b.constant(np.int32(0))]
    body = choosing_body(F32, np.dtype(np.int32))  # a NaN never wins
    function = b.finish(b.ops(reduction.REDUCE, b.arguments[0], places, *inits, regions=[body], dimensions=(1,)))
    program = check(function, [x])
    assert not any("first_maximum" in source for source in sources(program))


COMPLEX = {"one row", "short rows", "rows", "columns", "few columns", "coordinates", "no elements", "row blocks"}


@pytest.mark.parametrize("name", sorted(COMPLEX))
def test_products_and_extremes_of_complex_numbers(name, rng):
    shape, dims = LAYOUTS[name]
    for dtype in map(np.dtype, (np.complex64, np.complex128)):
        array = random_array(rng, TensorType(shape, dtype))
        array.reshape(-1)[7::50] = complex(0.5, np.nan)
        array.reshape(-1)[9::50] = complex(-0.0, 1.0)
        with np.errstate(all="ignore"):
            check(reduce_of(shape, dims, dtype, OPS[1:]), [array])


@pytest.mark.slow
def test_extremes_of_complex_numbers_as_machine_code(rng):
    parts = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])
    array = np.array([complex(a, b) for a in parts for b in parts])
    for shape, dims in (((49,), (0,)), ((200,), (0,)), ((30, 7), (0,)), ((7, 30), (1,))):
        values = rng.choice(array, shape)
        with np.errstate(all="ignore"):
            check(reduce_of(shape, dims, values.dtype, OPS[1:]), [values], run_native)


def test_sums_of_complex_numbers(rng):
    for dtype in (np.complex64, np.complex128):
        x = (rng.standard_normal((7, 40)) + 1j * rng.standard_normal((7, 40))).astype(dtype)
        traced = from_jax(lambda x: (x.sum(0), x.sum(1), (x * x).sum()), x)
        check(traced, [x])


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32", "int64", "uint64"])
def test_reductions_begin_with_the_extremes_of_integers_as_literals(dtype):
    extremes = np.iinfo(dtype)
    x = np.array([[extremes.max, 3, extremes.min, 5]] * 3, dtype)
    scalar = TensorType((), x.dtype)
    b = FunctionBuilder("extremes", [TensorType(x.shape, x.dtype)])
    results = []
    for definition, first in ((elementwise.MAXIMUM, extremes.min), (elementwise.MINIMUM, extremes.max)):
        init, body = b.constant(x.dtype.type(first)), body_of(definition, x.dtype)
        results += b.ops(reduction.REDUCE, b.arguments[0], init, regions=[body], results=[scalar], dimensions=(0, 1))
    executable = Executable(plan(b.finish(results)))
    assert all(number <= 16 for step in executable.program.steps for number in step.dims)
    assert executable.wait(60)
    assert [v.item() for v in executable([x])] == [extremes.max, extremes.min]


SETTLING = {"any": np.any, "all": np.all, "argmax": np.argmax, "argmin": np.argmin, "max": np.max, "min": np.min}


@pytest.mark.specifies("reduce")
@pytest.mark.parametrize("shape", [(50_000,), (20, 10_000), (3, 10_000), (2, 3, 5_000)])
@pytest.mark.parametrize("common", [False, True])
def test_booleans_that_one_element_settles(shape, common):
    cases = []
    for place in (0, 4095, 4096, 9_999, shape[-1] - 1, None):
        x = np.full(shape, common)
        if place is not None:
            x[..., min(place, shape[-1] - 1) :: 4096] = not common
            x.reshape(-1, shape[-1])[1::2] = common
        cases.append(x)

    def reductions(*cases):
        return [f(x, axis) for x in cases for f in SETTLING.values() for axis in (None, -1)]

    for found, wanted in zip(numhlo.jit(reductions, tier0=False)(*cases), reductions(*cases), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", SETTLING)
def test_a_settled_result_ends_a_row(name):
    kernels = numhlo.jit(SETTLING[name]).lower(np.zeros(50_000, np.bool_)).compile().kernels
    assert any("break" in text or "settled" in text for text in kernels.values())
    rows = numhlo.jit(lambda x: SETTLING[name](x, axis=1)).lower(np.zeros((20, 50_000), np.bool_)).compile().kernels
    assert any("break" in text for text in rows.values())


def test_what_is_stored_on_the_way_is_stored_to_the_end():
    x = np.ones(50_000)
    found, mask = numhlo.jit(lambda x: (np.any(x > 0), x > 0), tier0=False)(x)
    assert found and np.asarray(mask).all()


@pytest.mark.parametrize(
    ("function", "dtype", "count", "together"),
    [
        (np.sum, np.float32, 8, True),
        (np.sum, np.float64, 4, True),
        (np.sum, np.float64, 5, False),  # more than a vector register
        (np.sum, np.uint8, 8, False),  # added as uint64
        (np.max, np.float64, 8, True),
        (np.argmax, np.float32, 4, True),
    ],
)
def test_whether_elements_of_several_short_rows_are_loaded_together(function, dtype, count, together):
    compiled = numhlo.jit(lambda x: function(x, axis=1)).lower(np.zeros((50, count), dtype)).compile()
    (text,) = compiled.kernels.values()
    assert (f"i0 * {count}" in text) == together and ("i0 * n0" in text) != together
