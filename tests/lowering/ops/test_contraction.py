import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from numhlo.lowering.ir import DYNAMIC, TensorType, tensor_type_of
from numhlo.lowering.ir.errors import VerificationError
from numhlo.lowering.ops import contraction
from numhlo.lowering.ops.contraction import DOT, DOT_GENERAL
from numhlo.lowering.ops.dimension_numbers import DotAlgorithm, DotDimensionNumbers
from numhlo.lowering.ops.primitive import RESULT_TYPES
from tests.lowering.ops.one_op import infer, run

LETTERS = "abcdefgh"


def einsum_of(numbers, lhs_rank, rhs_rank):
    """Return the einsum subscripts that mean the same."""
    lhs, rhs = list(LETTERS[:lhs_rank]), list(LETTERS[lhs_rank : lhs_rank + rhs_rank].upper())
    pairs = [
        *zip(numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions, strict=True),
        *zip(numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions, strict=True),
    ]
    for i, j in pairs:
        rhs[j] = lhs[i]
    batch = [lhs[d] for d in numbers.lhs_batching_dimensions]
    summed = [lhs[d] for d in numbers.lhs_contracting_dimensions]
    free = [c for c in [*lhs, *rhs] if c not in batch and c not in summed]
    return f"{''.join(lhs)},{''.join(rhs)}->{''.join(batch + free)}"


def random_case(rng):
    lhs_rank, rhs_rank = rng.integers(0, 5, 2)
    lhs_shape = [int(n) for n in rng.integers(0 if rng.integers(20) == 0 else 1, 4, lhs_rank)]
    rhs_shape = [int(n) for n in rng.integers(1, 4, rhs_rank)]
    count = int(rng.integers(0, min(lhs_rank, rhs_rank) + 1))
    batching = int(rng.integers(0, count + 1))
    lhs_dims = [int(d) for d in rng.permutation(lhs_rank)[:count]]
    rhs_dims = [int(d) for d in rng.permutation(rhs_rank)[:count]]
    for i, j in zip(lhs_dims, rhs_dims, strict=True):
        rhs_shape[j] = lhs_shape[i]
    dims = [tuple(part) for d in (lhs_dims, rhs_dims) for part in (d[:batching], d[batching:])]
    return lhs_shape, rhs_shape, DotDimensionNumbers(dims[0], dims[2], dims[1], dims[3])


@pytest.mark.specifies("dot_general, products")
def test_random_dimension_numbers(rng):
    for _ in range(200):
        lhs_shape, rhs_shape, numbers = random_case(rng)
        lhs, rhs = rng.integers(-9, 9, lhs_shape), rng.integers(-9, 9, rhs_shape)
        expected = np.einsum(einsum_of(numbers, lhs.ndim, rhs.ndim), lhs, rhs)
        for dtype in (np.float32, np.int64):
            (got,) = run(DOT_GENERAL, lhs.astype(dtype), rhs.astype(dtype), dot_dimension_numbers=numbers)
            assert got.dtype == dtype
            np.testing.assert_array_equal(got, expected)


MATRICES = DotDimensionNumbers((), (), (1,), (0,))


@pytest.mark.parametrize(
    ("operand", "result"),
    [
        (np.int8, np.int32),
        (np.int8, np.int8),
        (np.uint8, np.uint32),
        (ml_dtypes.int4, ml_dtypes.int4),
        (np.bool_, np.bool_),
        (np.float16, np.float16),
        (np.float16, np.float32),
        (ml_dtypes.bfloat16, np.float32),
        (ml_dtypes.float8_e4m3fn, np.float32),
        (np.complex64, np.complex64),
    ],
)
@pytest.mark.specifies("dot_general")
def test_element_types(operand, result, rng):
    lhs, rhs = rng.integers(-4, 4, (5, 30)).astype(operand), rng.integers(-4, 4, (30, 6)).astype(operand)
    types = [TensorType((5, 6), np.dtype(result))]
    (got,) = run(DOT_GENERAL, lhs, rhs, results=types, dot_dimension_numbers=MATRICES)
    if operand == np.bool_:
        expected = lhs.astype(int) @ rhs.astype(int) > 0
    else:
        wide = np.complex128 if operand == np.complex64 else np.float64 if operand != ml_dtypes.int4 else np.int64
        product = lhs.astype(wide) @ rhs.astype(wide)
        expected = product.astype(np.int64).astype(result) if np.dtype(result).kind in "iu" else product.astype(result)
    np.testing.assert_array_equal(got, expected)


def test_agrees_with_jax(rng):
    lhs, rhs = rng.standard_normal((3, 4, 5)), rng.standard_normal((5, 3, 2))
    numbers = DotDimensionNumbers((0,), (1,), (2,), (0,))
    (got,) = run(DOT_GENERAL, lhs, rhs, dot_dimension_numbers=numbers)
    expected = jax.lax.dot_general(jnp.asarray(lhs), jnp.asarray(rhs), (((2,), (0,)), ((0,), (1,))))
    np.testing.assert_allclose(got, expected, rtol=1e-13)


F32 = np.dtype(np.float32)
X, Y = TensorType((2, 3, 4), F32), TensorType((2, 4, 5), F32)
ALGORITHM = DotAlgorithm("f32", "f32", "f32")


@pytest.mark.parametrize(
    ("rule", "dims", "options"),
    [
        ("(C1)", ((0,), (), (2,), (1,)), {}),
        ("(C2)", ((0,), (0,), (2,), ()), {}),
        ("(C3)", ((0,), (0,), (0,), (1,)), {}),
        ("(C4)", ((0,), (0,), (2,), (0,)), {}),
        ("(C5)", ((3,), (0,), (2,), (1,)), {}),
        ("(C6)", ((0,), (0,), (3,), (1,)), {}),
        ("(C7)", ((0,), (3,), (2,), (1,)), {}),
        ("(C8)", ((0,), (0,), (2,), (3,)), {}),
        ("(C9)", ((1,), (0,), (2,), (1,)), {}),
        ("(C10)", ((0,), (0,), (1,), (1,)), {}),
        ("(C11)", ((0,), (0,), (2,), (1,)), {"precision_config": ("DEFAULT",)}),
        ("(C12)", ((0,), (0,), (2,), (1,)), {"results": [TensorType((2, 3, 6), F32)]}),
        ("(C21)", ((0,), (0,), (2,), (1,)), {"precision_config": ("HIGH", "DEFAULT"), "algorithm": ALGORITHM}),
        ("(C22)", ((0,), (0,), (2,), (1,)), {"algorithm": DotAlgorithm("f32", "f32", "f32", 0)}),
        ("(C23)", ((0,), (0,), (2,), (1,)), {"algorithm": DotAlgorithm("f32", "f32", "f32", 1, 0)}),
        ("(C24)", ((0,), (0,), (2,), (1,)), {"algorithm": DotAlgorithm("f32", "f32", "f32", 1, 1, 0)}),
    ],
)
def test_constraints(rule, dims, options):
    valid = DotDimensionNumbers((0,), (0,), (2,), (1,))
    options = {"dot_dimension_numbers": DotDimensionNumbers(*dims), **options}
    assert infer(DOT_GENERAL, [X, Y], dot_dimension_numbers=valid, algorithm=ALGORITHM) == [TensorType((2, 3, 5), F32)]
    with pytest.raises(VerificationError) as caught:
        infer(DOT_GENERAL, [X, Y], **options)
    assert rule in str(caught.value)


def test_constraint_c13():
    with pytest.raises(VerificationError) as caught:
        infer(
            DOT_GENERAL,
            [TensorType((2, 3), F32), TensorType((3, 2), np.dtype(np.float64))],
            dot_dimension_numbers=MATRICES,
        )
    assert "(C13)" in str(caught.value)


def test_unknown_extents():
    types = [TensorType((DYNAMIC, 3), F32), TensorType((DYNAMIC, 4), F32)]
    assert infer(DOT_GENERAL, types, dot_dimension_numbers=MATRICES) == [TensorType((DYNAMIC, 4), F32)]


def test_dot_of_vectors_and_matrices(rng):
    x, m = rng.integers(-5, 5, 4), rng.integers(-5, 5, (4, 3))
    for lhs, rhs in ((x, x), (m.T, x), (x, m), (m.T, m)):
        np.testing.assert_array_equal(run(DOT, lhs, rhs)[0], lhs @ rhs)
    with pytest.raises(VerificationError, match=r"\(C10\)"):
        infer(DOT, [TensorType((2, 3), F32), TensorType((2, 3), F32)])
    with pytest.raises(VerificationError, match="vectors or matrices"):
        infer(DOT, [X, Y])


def test_dtypes_that_numpy_does_not_call_built_in():
    same = np.dtype(np.int64).newbyteorder("=")
    assert same == np.int64 and same.isbuiltin != 1
    x = np.full((2, 2), 1 << 40).astype(same)
    (got,) = run(DOT_GENERAL, x, x.astype(np.int64) >> 20, dot_dimension_numbers=MATRICES, results=[tensor_type_of(x)])
    np.testing.assert_array_equal(got, np.full((2, 2), 1 << 61))


def test_large_products_with_the_own_transpose_are_no_symmetric_ones(monkeypatch):
    """NumPy takes OpenBLAS's routine for them where both are one array, and that crashes where they are large."""
    apart = []
    real = np.matmul
    monkeypatch.setattr(np, "matmul", lambda x, y: apart.append(not np.may_share_memory(x, y)) or real(x, y))
    x, numbers = np.arange(12.0).reshape(3, 4), DotDimensionNumbers((), (), (0,), (0,))
    attributes = {"dot_dimension_numbers": numbers, RESULT_TYPES: [TensorType((4, 4), x.dtype)]}
    for most in (16, 15):
        monkeypatch.setattr(contraction, "MOST_SYMMETRIC", most)
        np.testing.assert_array_equal(contraction.evaluate_dot_general([x, x], attributes, ())[0], x.T @ x)
    assert apart == [False, True]
