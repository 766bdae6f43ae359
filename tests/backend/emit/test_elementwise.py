"""Every elementwise op on every element type: the kernel's text gives `evaluate`'s bits."""

import numpy as np
import pytest

import numhlo
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.executable import Executable
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import UnsupportedError, VerificationError
from numhlo.lowering.ops import comparison, conversion, elementwise
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.elementwise import Elementwise
from numhlo.lowering.ops.primitive import PRIMITIVES
from tests.backend.emit.special_values import all_pairs, special_values
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import evaluated, plan

DTYPES = list(REGISTERS)
INEXACT = {
    "atan2", "cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "power",
    "sine", "tan", "tanh",
}  # fmt: skip
UNARY = [p for p in PRIMITIVES.values() if isinstance(p, Elementwise) and len(p.operands) == 1]
BINARY = [p for p in PRIMITIVES.values() if isinstance(p, Elementwise) and len(p.operands) == 2]


def program_of(definitions, dtype, count, operands):
    """Return a function that applies all ops that take ``dtype``, and their names."""
    builder = FunctionBuilder("ops", [TensorType((count,), dtype)] * operands)
    results, names = [], []
    for definition in definitions:
        try:
            results += builder.ops(definition, *builder.arguments)
        except VerificationError:
            continue
        names.append(definition.name)
    return builder.finish(results), names


def meaning(function, names, arrays):
    """Return results by `evaluate`, None where the op has no meaning on the type."""
    results: list[np.ndarray | None] = []
    for index, _ in enumerate(names):
        single = FunctionBuilder("one", [TensorType(a.shape, a.dtype) for a in arrays])
        op = function.body.ops[index]
        value = single.ops(op.definition, *single.arguments)[0]
        try:
            results.append(np.asarray(interpret(single.finish([value]), arrays)[0]))
        except UnsupportedError:
            results.append(None)
    return results


def check(definitions, dtype, arrays):
    function, names = program_of(definitions, dtype, len(arrays[0]), len(arrays))
    expected = meaning(function, names, arrays)
    kept = [k for k, value in enumerate(expected) if value is not None]
    function.body.returns = [function.body.returns[k] for k in kept]
    program = plan(function)
    found = run_plain(program, arrays)
    for k, left in zip(kept, found, strict=True):
        right = expected[k]
        if names[k] == "imag" and dtype.name == "float8_e8m0fnu":
            continue  # a type without zero
        if names[k] in INEXACT or (dtype.kind == "c" and names[k] in ("abs", "rsqrt", "sign", "sqrt")):
            tolerance = 1e-5 if dtype.itemsize > 2 else 0.07
            np.testing.assert_allclose(
                left.astype(complex), right.astype(complex), rtol=tolerance, atol=1e-6, err_msg=names[k]
            )
        else:
            assert_same_bits(left, right)
    return set(evaluated(program))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_unary(dtype):
    assert not check(UNARY, dtype, [special_values(dtype)])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_binary(dtype):
    numpy_only = check(BINARY, dtype, list(all_pairs(dtype)))
    assert numpy_only <= ({"power", "atan2"} if REGISTERS[dtype].kind == "c" else set())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.specifies("compare select clamp")
def test_compare_select_clamp(dtype):
    x, y = all_pairs(dtype)
    b = FunctionBuilder("compare", [TensorType(x.shape, dtype)] * 2)
    lhs, rhs = b.arguments
    results = []
    for kind in comparison.compare_types(dtype):
        for direction in comparison.DIRECTIONS:
            results.append(b.op(comparison.COMPARE, lhs, rhs, comparison_direction=direction, compare_type=kind))
    results.append(b.op(comparison.SELECT, results[0], lhs, rhs))
    results.append(b.op(comparison.CLAMP, lhs, rhs, lhs))
    function = b.finish(results)
    program = plan(function)
    for left, right in zip(run_plain(program, [x, y]), interpret(function, [x, y]), strict=True):
        assert_same_bits(left, np.asarray(right))


@pytest.mark.parametrize("source", DTYPES, ids=str)
@pytest.mark.specifies("convert")
def test_convert_to_every_type(source):
    x = special_values(source)
    if REGISTERS[source].kind == "f":
        extra = np.array([300.0, -300.0, 40000.0, 3e9, 1e19, 65519.9, 1 + 2**-9, 1 + 3 * 2**-9])
        with np.errstate(all="ignore"):
            x = np.concatenate([x, extra.astype(source)])
    b = FunctionBuilder("convert", [TensorType(x.shape, source)])
    function = b.finish(
        [b.op(conversion.CONVERT, b.arguments[0], result=TensorType(x.shape, target)) for target in DTYPES]
    )
    program = plan(function)
    assert not evaluated(program)
    for left, right in zip(run_plain(program, [x]), interpret(function, [x]), strict=True):
        assert_same_bits(left, np.asarray(right))


@pytest.mark.parametrize("source", [d for d in DTYPES if REGISTERS[d].kind != "c"], ids=str)
def test_bitcast_convert(source):
    x = special_values(source)
    b = FunctionBuilder("bitcast", [TensorType(x.shape, source)])
    results = []
    for target in DTYPES:
        try:
            results.append(b.op(conversion.BITCAST_CONVERT, b.arguments[0], result=TensorType(x.shape, target)))
        except VerificationError:
            continue
    function = b.finish(results)
    for left, right in zip(run_plain(plan(function), [x]), interpret(function, [x]), strict=True):
        assert left.tobytes() == np.asarray(right).tobytes() or np.isnan(left.astype(float)).any()


@pytest.mark.slow
@pytest.mark.parametrize(
    "dtype", [np.dtype(t) for t in (np.float32, np.float64, np.int8, np.uint32, np.int64)], ids=str
)
@pytest.mark.specifies("arithmetic, logic, rounding")
def test_exact_ops_as_machine_code(dtype):
    arrays = list(all_pairs(dtype))
    exact = [p for p in BINARY if p.name not in INEXACT and p is not elementwise.COMPLEX]
    function, names = program_of(exact, dtype, len(arrays[0]), 2)
    expected = meaning(function, names, arrays)
    executable = Executable(plan(function))
    assert executable.wait(60)
    for left, right in zip(executable(arrays), expected, strict=True):
        assert_same_bits(left, right)


FORMATS = [(5, 10), (8, 7), (4, 3), (2, 0), (11, 23), (1, 1), (8, 23), (5, 30)]


def reduced_precision(arrays):
    b = FunctionBuilder("reduce", [TensorType(x.shape, x.dtype) for x in arrays])
    reduced = [
        b.op(conversion.REDUCE_PRECISION, x, exponent_bits=exponent, mantissa_bits=mantissa)
        for x in b.arguments
        for exponent, mantissa in FORMATS
    ]
    return b.finish(reduced)


def float_samples(dtype, rng):
    if dtype.name.startswith(("float4", "float6")):
        return special_values(dtype)
    if dtype.itemsize == 1:
        return np.arange(256, dtype=np.uint8).view(dtype)
    bits = rng.integers(0, 2**16, (500, dtype.itemsize // 2), np.uint16)
    return np.concatenate([special_values(dtype), bits.reshape(-1).view(dtype)])


@pytest.mark.parametrize("dtype", [d for d in DTYPES if REGISTERS[d].kind == "f"], ids=str)
def test_reduce_precision(dtype, rng):
    x = float_samples(dtype, rng)
    function = reduced_precision([x])
    program = plan(function)
    for left, right in zip(run_plain(program, [x]), interpret(function, [x]), strict=True):
        assert_same_bits(left, np.asarray(right))
    assert not evaluated(program) or dtype.name in {"float8_e3m4", "float8_e4m3", "float8_e5m2"}


def test_reduce_precision_as_machine_code(rng):
    arrays = [float_samples(d, rng) for d in DTYPES if d.name in ("float16", "bfloat16", "float32", "float64")]
    function = reduced_precision(arrays)
    executable = Executable(plan(function))
    assert executable.wait(60)
    for left, right in zip(executable(arrays), interpret(function, arrays), strict=True):
        assert_same_bits(left, np.asarray(right))


@pytest.mark.specifies("power")
@pytest.mark.parametrize("dtype", [np.dtype(t) for t in "bhilBHIL"], ids=str)
def test_powers_of_integers_as_machine_code(dtype):
    limits = np.iinfo(dtype)
    values = [limits.min, limits.min // 2, -3, -2, -1, 0, 1, 2, 3, 7, limits.max // 3, limits.max - 1, limits.max]
    numbers = [v for v in values if v >= limits.min]
    pairs = [(x, y) for x in numbers for y in numbers]

    def power(x, y):
        if y < 0:
            return {1: 1, -1: 1 - 2 * (y % 2)}.get(x, 0)
        size = 1 << 8 * dtype.itemsize
        result = pow(x, y, size)
        return result - size if result > limits.max else result

    x, y = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    compiled = numhlo.jit(lambda x, y: x**y, tier0=False)
    assert len(compiled.lower(x, y).compile().kernels) == 1
    assert compiled(x, y).tolist() == [power(a, b) for a, b in pairs]


@pytest.mark.parametrize(
    ("shape", "dtype", "function", "is_unrolled"),
    [
        ((30, 40), np.uint8, lambda x: np.repeat(x, 2, 1), True),
        ((30, 40), np.int16, lambda x: np.repeat(x, 7, 1), True),
        ((30, 40), np.float64, lambda x: np.repeat(x, 2, 1), False),
        ((30, 40), np.uint8, lambda x: np.repeat(x, 9, 1), False),
        ((30, 40), np.uint8, lambda x: np.kron(x, np.ones((2, 3), np.uint8)), True),
        ((30, 40, 3), np.float32, lambda x: np.where(x[..., :1] > 0.5, x, 0), True),
        ((30, 40, 3), np.float32, lambda x: x[..., ::-1] * 2, False),  # nothing is shared
        ((30, 40, 3), np.float32, lambda x: np.sin(x * x[..., :1]), False),
    ],
)
def test_short_loops_over_what_shares_a_value_are_written_out(rng, shape, dtype, function, is_unrolled):
    x = (rng.random(shape) * 9).astype(dtype)
    compiled = numhlo.jit(function).lower(x).compile()
    (text,) = compiled.kernels.values()
    assert (text.split("def ")[1].count("store_") > 1) is is_unrolled
    np.testing.assert_allclose(compiled(x), function(x), rtol=2e-6)
