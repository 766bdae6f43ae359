"""Every elementwise op: its types, its constraints, and its values against XLA and the specification's examples."""

import ml_dtypes
import numpy as np
import pytest

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import UnsupportedError, VerificationError
from numhlo.lowering.ir.types import BOOL, COMPLEX, ELEMENT_TYPES, INTEGERS
from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.elementwise import Elementwise
from numhlo.lowering.ops.primitive import PRIMITIVES
from tests.lowering.ops.evaluation import evaluate, infer, on_xla, pairs, rejection, same, tensor

OPS = [op for op in PRIMITIVES.values() if isinstance(op, Elementwise)]
LIMIT_ULPS = 3
NO_ORACLE = {
    "popcnt": {"i4", "i2"},  # XLA counts the sign's copies
    "power": {"i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64", "i4", "ui4"},  # XLA reads six bits of exponents
}


def takes(op, dtype):
    try:
        infer(op, *[TensorType((2,), dtype)] * len(op.operands))
    except VerificationError:
        return False
    return True


def undefined(op, dtype):
    return op.name == "remainder" and dtype in COMPLEX


def sample(dtype):
    if dtype == BOOL:
        return np.array([False, True])
    if dtype in INTEGERS:
        info = ml_dtypes.iinfo(dtype)
        numbers = {
            info.min,
            info.min + 1,
            0,
            1,
            2,
            3,
            5,
            7,
            8,
            31,
            32,
            64,
            info.max // 2,
            info.max - 1,
            info.max,
            -1,
            -7,
        }
        kept = sorted(n for n in numbers if info.min <= n <= info.max)
        return np.array(kept, np.int64 if info.min else np.uint64).astype(dtype)
    values = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 3, -3, 7.3, -7.3, 100, -100, 1000, 1e-4, 1.0001]
    return np.array([*values, np.inf, -np.inf, np.nan]).astype(dtype)


def ulps(found, expected):
    distance = np.abs(found.astype(np.float64) - expected.astype(np.float64))
    return distance / np.spacing(np.abs(expected)).astype(np.float64)


@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 1)])
def test_every_op_gives_the_inferred_type_on_every_element_type(shape):
    cases = 0
    for dtype in ELEMENT_TYPES.values():
        for op in OPS:
            if takes(op, dtype) and not undefined(op, dtype):
                evaluate(op, *[np.ones(shape, dtype)] * len(op.operands))
                cases += 1
    assert cases > 600


@pytest.mark.parametrize("name", ["i1", "i4", "ui4", "i8", "ui8", "i16", "i32", "ui32", "i64", "ui64"])
@pytest.mark.specifies("logic, integers of 8 to 64 bits")
def test_integers_equal_xla(name):
    dtype = ELEMENT_TYPES[name]
    ops = [op for op in OPS if takes(op, dtype) and name not in NO_ORACLE.get(op.name, set())]
    x, y = pairs(sample(dtype))
    with np.errstate(all="ignore"):
        for op, expected in zip(ops, on_xla(ops, x, y), strict=True):
            found = evaluate(op, *(x, y)[: len(op.operands)])
            assert (found == expected).all(), op
    assert len(ops) >= (8 if name == "i1" else 16)


@pytest.mark.parametrize("name", ["f32", "f64", "f16", "bf16", "f8E4M3FN", "f8E5M2"])
@pytest.mark.specifies("arithmetic, transcendental, f16 to f64")
def test_floats_equal_xla(name):
    dtype = ELEMENT_TYPES[name]
    ops = [op for op in OPS if takes(op, dtype)]
    x, y = pairs(sample(dtype))
    tiny = float(ml_dtypes.finfo(dtype).tiny)
    with np.errstate(all="ignore"):
        for op, expected in zip(ops, on_xla(ops, x, y), strict=True):
            found = evaluate(op, *(x, y)[: len(op.operands)])
            equal = same(found, expected)
            if name in {"f32", "f64"} and found.dtype == dtype:
                equal |= ulps(found, expected) <= LIMIT_ULPS
            elif name != "f32" and found.dtype == dtype:
                step = float(ml_dtypes.finfo(dtype).eps)  # XLA rounds some functions twice
                wide, reference = found.astype(np.float64), expected.astype(np.float64)
                equal |= np.abs(wide - reference) <= step * np.abs(reference)
            if found.dtype == dtype:  # XLA flushes subnormals to zero
                equal |= (np.abs(found.astype(np.float64)) < tiny) & (expected.astype(np.float64) == 0)
            assert equal.all(), (op, x[~equal][:3], y[~equal][:3], found[~equal][:3], expected[~equal][:3])


@pytest.mark.parametrize("name", ["complex<f32>", "complex<f64>"])
@pytest.mark.specifies("complex numbers, complex types")
def test_complex_numbers_equal_xla(name):
    dtype = ELEMENT_TYPES[name]
    skipped = {"cbrt", "remainder", "maximum", "minimum"}  # XLA has none, or orders by the real part alone
    ops = [op for op in OPS if takes(op, dtype) and op.name not in skipped]
    parts = np.array([1, -1, 0.5, -2.5, 3, 20, -20])
    grid = (parts[:, None] + 1j * parts).ravel().astype(dtype)
    x, y = pairs(grid)
    y = y * dtype.type(1.07 - 0.31j)  # off the branch cuts of atan2
    for op, expected in zip(ops, on_xla(ops, x, y), strict=True):
        found = evaluate(op, *(x, y)[: len(op.operands)])
        size = np.abs(expected)
        tolerance = 2e-4 if name == "complex<f32>" else 1e-11
        known = np.isfinite(expected)  # XLA's complex64 overflows early
        near = np.abs(np.where(known, found - np.where(known, expected, 0), 0)) <= tolerance * size
        near |= ~known | (size < 1e-30)
        assert known.mean() > 0.7
        assert near.all(), (op, x[~near][:3], y[~near][:3], found[~near][:3], expected[~near][:3])


@pytest.mark.parametrize("op", [op for op in OPS if op.commutative], ids=lambda op: op.name)
def test_commutative_ops_give_the_same_bits_both_ways(op):
    for dtype in ELEMENT_TYPES.values():
        if takes(op, dtype):
            values = sample(dtype) if dtype not in COMPLEX else np.array([1 + 2j, -0.1, 3e-5j, 7 - 0.3j], dtype)
            x, y = pairs(values)
            forth, back = evaluate(op, x, y), evaluate(op, y, x)
            with np.errstate(all="ignore"):
                assert same(forth, back).all(), dtype


@pytest.mark.parametrize("op", [op for op in OPS if op.associative], ids=lambda op: op.name)
@pytest.mark.parametrize("name", ["i1", "i4", "i8", "ui16", "i64"])
def test_associative_ops_may_be_bracketed_either_way(op, name):
    x, y = pairs(sample(ELEMENT_TYPES[name]))
    z = x[::-1]
    assert (evaluate(op, evaluate(op, x, y), z) == evaluate(op, x, evaluate(op, y, z))).all()


def test_power_example_of_the_specification():
    x = np.array([-2.0, -0.0, -36.0, 5.0, 3.0, 10000.0])
    y = np.array([2.0, 2.0, 1.1, 2.0, -1.0, 10.0])
    expected = np.array([4.0, 0.0, np.nan, 25.0, 1 / 3, 1e40])
    assert same(evaluate(elementwise.POWER, x, y), expected).all()


def test_power_of_zero_to_zero_is_one():
    for dtype in (np.int32, np.float32, np.float64, np.complex64, np.complex128):
        zero = np.zeros(1, dtype)
        assert evaluate(elementwise.POWER, zero, zero) == 1


def test_atan2_has_signed_zeros_and_quadrants():
    x = np.array([0.0, -0.0, 0.0, -0.0, 1.0, -1.0])
    y = np.array([1.0, 1.0, -1.0, -1.0, 0.0, 0.0])
    expected = np.array([0.0, -0.0, np.pi, -np.pi, np.pi / 2, -np.pi / 2])
    assert same(evaluate(elementwise.ATAN2, x, y), expected).all()


@pytest.mark.specifies("rounding ceil floor")
def test_rounding_keeps_the_sign_of_zero_and_sees_subnormals():
    x = np.array([-0.9, 5e-324, -5e-324, 0.5, -0.5])
    assert same(evaluate(elementwise.CEIL, x), np.array([-0.0, 1.0, -0.0, 1.0, -0.0])).all()
    assert same(evaluate(elementwise.FLOOR, x), np.array([-1.0, 0.0, -1.0, 0.0, -1.0])).all()
    assert same(evaluate(elementwise.ROUND_NEAREST_EVEN, x), np.array([-1.0, 0.0, -0.0, 0.0, -0.0])).all()


@pytest.mark.specifies("real imag")
def test_real_and_imag_of_floats_and_complex_numbers():
    x = np.array([1 + 2j, 3 + 4j], np.complex64)
    assert evaluate(elementwise.REAL, x).tolist() == [1, 3]
    assert evaluate(elementwise.IMAG, x).tolist() == [2, 4]
    y = np.array([1.5, -0.0], np.float16)
    assert same(evaluate(elementwise.REAL, y), y).all()
    assert evaluate(elementwise.IMAG, y).tolist() == [0, 0]
    assert evaluate(elementwise.COMPLEX, x.real, x.imag).tolist() == x.tolist()


def test_abs_of_the_least_integer_is_itself():
    x = np.array([-128, -1, 127], np.int8)
    assert evaluate(elementwise.ABS, x).tolist() == [-128, 1, 127]
    assert evaluate(elementwise.ABS, np.array([3 + 4j])).tolist() == [5.0]


def test_remainder_of_complex_numbers_is_refused():
    with pytest.raises(UnsupportedError, match="remainder of complex64 has no meaning yet"):
        evaluate(elementwise.REMAINDER, np.ones(1, np.complex64), np.ones(1, np.complex64))


def test_add_c1():
    message = rejection(elementwise.ADD, tensor("2xf32"), tensor("3xf32"))
    assert message == (
        "add(float32[2], float32[3]): (C1) the operands and the result must have the same type\n"
        "  StableHLO specification, add"
    )
    assert "(C1)" in rejection(elementwise.ADD, tensor("2xf32"), tensor("2xf64"))
    assert "(C1)" in rejection(elementwise.ADD, tensor("2xf32"), tensor("2xf32"), result=tensor("2xf64"))


@pytest.mark.parametrize(
    ("op", "spelling", "kinds"),
    [
        (elementwise.SUBTRACT, "i1", "integers, floats or complex numbers, not bool"),
        (elementwise.AND, "f32", "booleans or integers, not float32"),
        (elementwise.NOT, "complex<f32>", "booleans or integers, not complex64"),
        (elementwise.POPCNT, "i1", "integers, not bool"),
        (elementwise.ABS, "ui8", "signed integers, floats or complex numbers, not uint8"),
        (elementwise.SIGN, "ui8", "signed integers, floats or complex numbers, not uint8"),
        (elementwise.CEIL, "i32", "floats, not int32"),
        (elementwise.IS_FINITE, "complex<f64>", "floats, not complex128"),
        (elementwise.TANH, "i32", "floats or complex numbers, not int32"),
        (elementwise.REAL, "i32", "floats or complex numbers, not int32"),
        (elementwise.COMPLEX, "f16", "f32 or f64, not float16"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_operands_of_another_kind_are_rejected(op, spelling, kinds):
    assert f"(I1) operand 0 must be a tensor of {kinds}" in rejection(op, *[tensor(spelling)] * len(op.operands))


def test_results_of_another_type_are_rejected():
    assert "(C1), (C2)" in rejection(elementwise.ABS, tensor("2xcomplex<f32>"), result=tensor("2xcomplex<f32>"))
    assert "(C1)" in rejection(elementwise.IS_FINITE, tensor("2xf32"), result=tensor("2xf32"))
    assert "(C2), (C3)" in rejection(elementwise.COMPLEX, *[tensor("2xf32")] * 2, result=tensor("2xcomplex<f64>"))


def test_unknown_extents_are_refined():
    unknown, known = tensor("?x3xf32"), tensor("2x?xf32")
    assert infer(elementwise.ADD, unknown, known) == tensor("2x3xf32")
    assert infer(elementwise.ABS, unknown, result=tensor("4x3xf32")) == tensor("4x3xf32")
    assert "(C1)" in rejection(elementwise.ABS, unknown, result=tensor("4x4xf32"))


def test_families_cover_every_kind_of_number():
    kinds = {"i1": 8, "i8": 20, "f32": 28, "complex<f32>": 20}
    for name, least in kinds.items():
        assert sum(takes(op, ELEMENT_TYPES[name]) for op in OPS) >= least
