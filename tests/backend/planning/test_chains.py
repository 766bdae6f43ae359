"""Passes over rows in one kernel: random programs of row reductions and what uses them give the interpreter's bits."""

import numpy as np
import pytest

import numhlo
from numhlo.backend.executable import Executable
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import Function, TensorType, Value
from numhlo.lowering.ops import elementwise, layout, reduction
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.passes.pipeline import optimize
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import body_of, launched, plan
from tests.backend.random_programs import dtype_named, random_array

X = np.linspace(-1.0, 2.0, 6 * 40).reshape(6, 40)


@pytest.mark.usefixtures("first_answers")
def test_first_answers_where_results_of_rows_are_seen_in_another_shape():
    def centred(x):
        total = x.sum(axis=1, keepdims=True)
        return x / (np.abs(total) + 1), total

    for found, expected in zip(numhlo.jit(centred)(X), centred(X), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_chains_that_do_not_meet_in_rows_stay_apart():
    def function(x, y):
        x, y = np.exp(x - x.max(axis=1, keepdims=True)), np.exp(y - y.max(axis=1, keepdims=True))
        return x / x.sum(axis=1, keepdims=True) * (y / y.sum(axis=1, keepdims=True))[::-1]

    program = plan(optimize(numhlo.jit(function).trace(X, X + 1).module.main))
    assert len(program.steps) > 1
    np.testing.assert_allclose(run_plain(program, [X, X + 1])[0], function(X, X + 1), rtol=1e-14)


BINARY = [elementwise.ADD, elementwise.SUBTRACT, elementwise.MULTIPLY, elementwise.MAXIMUM, elementwise.MINIMUM]


def random_rows(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype, ops: int) -> Function:
    """Return a function of elements and rows: reductions along the last axis, and broadcasts back."""
    elements, rows = TensorType(shape, dtype), TensorType(shape[:-1], dtype)
    b = FunctionBuilder("rows", [elements, rows])
    of = {elements.shape: [b.arguments[0]], rows.shape: [b.arguments[1]]}

    def pick(shape: tuple[int, ...]) -> Value:
        return of[shape][int(rng.integers(max(0, len(of[shape]) - 3), len(of[shape])))]

    def spread(value: Value) -> Value:
        dims = tuple(range(len(rows.shape)))
        return b.op(layout.BROADCAST_IN_DIM, value, result=elements, broadcast_dimensions=dims)

    for _ in range(ops):
        kind = int(rng.integers(4))
        definition = BINARY[int(rng.integers(len(BINARY)))]
        if kind == 0:
            made = b.op(definition, pick(elements.shape), pick(elements.shape))
        elif kind == 1:
            made = b.op(definition, pick(elements.shape), spread(pick(rows.shape)))
        elif kind == 2:
            body = body_of([elementwise.ADD, elementwise.MAXIMUM][int(rng.integers(2))], dtype)
            zero = b.constant(np.zeros((), dtype))
            axes = (len(shape) - 1,)
            made = b.ops(reduction.REDUCE, pick(elements.shape), zero, regions=[body], dimensions=axes)[0]
        else:
            made = b.op(definition, pick(rows.shape), pick(rows.shape))
        of[made.tensor.shape].append(made)
    results = [of[elements.shape][-1], of[rows.shape][-1]]
    if rng.integers(2):
        results.append(of[elements.shape][int(rng.integers(len(of[elements.shape])))])
    return b.finish(results)


def cases(seed, count):
    shapes, dtypes = [(3, 20), (2, 3, 11), (4, 33)], ["float32", "float64", "int32", "bfloat16"]
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        shape, dtype = shapes[number % 3], dtype_named(dtypes[number % 4])
        function = random_rows(rng, shape, dtype, 14)
        yield function, [random_array(rng, v.tensor) for v in function.body.arguments]


@pytest.mark.parametrize("seed", range(4))
def test_random_rows(seed):
    chains = 0
    for function, arrays in cases(seed, 60):
        donated = frozenset({0}) if seed == 3 else frozenset()
        program = plan(function, donated=donated)
        chains += sum(name.startswith("rows_") for name in launched(program))
        for left, right in zip(run_plain(program, arrays), interpret(function, arrays), strict=True):
            assert_same_bits(left, np.asarray(right))
    assert chains > 20


@pytest.mark.slow
def test_random_rows_as_machine_code():
    for function, arrays in cases(100, 12):
        expected = [np.asarray(a) for a in interpret(function, arrays)]
        executable = Executable(plan(function))
        assert executable.wait(60)
        for left, right in zip(executable(arrays), expected, strict=True):
            assert_same_bits(left, right)


def test_rows_in_another_shape(rng):
    """Extents of 1 among the rows' dimensions may be gone where something is computed once a row."""
    for shape in ((2, 3, 1, 4, 20), (2, 1, 7, 3, 20)):
        type = TensorType(shape, np.dtype(np.float32))
        b = FunctionBuilder("rows", [type, type.with_shape((shape[2], shape[4]))])
        x, y = b.arguments
        spread = b.op(layout.BROADCAST_IN_DIM, y, result=type, broadcast_dimensions=(2, 4))
        body, zero = body_of(elementwise.ADD, type.dtype), b.constant(np.zeros((), np.float32))
        (rows,) = b.ops(reduction.REDUCE, b.op(elementwise.ADD, x, spread), zero, regions=[body], dimensions=(4,))
        short = b.op(layout.RESHAPE, rows, result=type.with_shape(tuple(n for n in shape[:4] if n > 1)))
        function = b.finish([b.op(elementwise.SQRT, b.op(elementwise.ABS, short))])
        program = plan(function)
        assert [name[:5] for name in launched(program)] == ["rows_"]
        arrays = [random_array(rng, v.tensor) for v in function.body.arguments]
        assert_same_bits(run_plain(program, arrays)[0], np.asarray(interpret(function, arrays)[0]))
