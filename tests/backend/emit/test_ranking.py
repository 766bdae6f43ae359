"""top_k without sorting: values, places, order of equal elements and of NaN, for every way through the kernel."""

import ml_dtypes
import numpy as np
import pytest

from numhlo.backend.executable import Executable
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import tensor_type_of
from numhlo.lowering.ops import FunctionBuilder, control_flow
from numhlo.lowering.ops.ranking import make_top_k
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import evaluated, launched, plan

DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int32, np.uint8, np.int64]


def top_k(array, k):
    b = FunctionBuilder("main", [tensor_type_of(array)])
    attributes = make_top_k(b.arguments[0].tensor, k)
    types = attributes["decomposition"].result_types
    return b.finish(b.ops(control_flow.COMPOSITE, *b.arguments, results=types, **attributes))


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_every_kind(dtype, rng):
    ascending = np.arange(100)
    rows = [rng.integers(0, 9, 100), ascending, ascending[::-1], np.full(100, 3), ascending % 33]
    array = np.stack(rows).astype(dtype)
    if array.dtype.kind not in "iu":
        array[0, [5, 50, 70]] = -array[0, [50, 5, 70]]
        array[1, [3, 40, 90, 95]] = np.array([np.nan, -np.nan, -np.inf, -0.0]).astype(dtype)
        array[3, ::2] = 0.0
        array[3, 1::2] = -0.0
    for k in (1, 7, 32):
        function = top_k(array, k)
        program = plan(function)
        assert [name.split("_")[:2] for name in launched(program)] == [["top", "k"]]
        executable = Executable(program)
        assert executable.wait(60)
        for found, expected in zip(executable([array]), interpret(function, [array]), strict=True):
            assert_same_bits(np.asarray(found), expected)


def test_short_rows_many_elements_and_plain_python(rng):
    array = rng.normal(size=(2, 3, 6)).astype(np.float32)
    for k in (1, 6):
        function = top_k(array, k)
        for found, expected in zip(run_plain(plan(function), [array]), interpret(function, [array]), strict=True):
            assert_same_bits(found, expected)
    for k in (0, 33):
        program = plan(top_k(rng.normal(size=(2, 40)), k))
        assert not evaluated(program)
        assert not any("top_k" in name for name in launched(program))
