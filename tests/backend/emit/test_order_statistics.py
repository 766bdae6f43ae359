"""Elements at places of the sorted order by selection: every kind of key, equal elements, rows that defeat pivots."""

import numpy as np
import pytest

from numhlo.backend.executable import Executable
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import tensor_type_of
from numhlo.lowering.ops import FunctionBuilder, control_flow
from numhlo.lowering.ops.order_statistics import make_order_statistics
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import evaluated, launched, plan


def statistics(array, places):
    types = [tensor_type_of(array), tensor_type_of(places)]
    b = FunctionBuilder("main", types)
    return b.finish(b.ops(control_flow.COMPOSITE, *b.arguments, **make_order_statistics(*types)))


def rows_of(dtype, length, rng):
    info = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else np.finfo(dtype)
    ascending = np.arange(length)
    rows = [
        rng.integers(0, 9, length),
        ascending,
        ascending[::-1],
        np.full(length, 3),
        rng.normal(size=length) * 40 + 100,
    ]
    array = np.stack([row.astype(dtype) for row in rows])
    array[0, :4] = [info.min, info.max, info.max, info.min]
    if array.dtype.kind == "f":
        array[1, [3, 40, 90, 95]] = [np.nan, -np.nan, -np.inf, -0.0]
        array[2, 50:] = -array[2, 50:]
        array[3, ::2], array[3, 1::2] = 0.0, -0.0
    return array


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8, np.uint32, np.int64, np.uint64])
def test_rows_of_every_kind(dtype, rng):
    array, places = rows_of(dtype, 301, rng), np.array([0, 300, 150, 151, 7, 999])
    function = statistics(array, places)
    program = plan(function)
    assert [name.split("_")[:2] for name in launched(program)] == [["order", "statistics"]]
    expected = interpret(function, [array, places])
    executable = Executable(program)
    assert executable.wait(60)
    assert_same_bits(np.asarray(executable([array, places])[0]), expected[0])
    assert_same_bits(run_plain(program, [array, places])[0], expected[0])


def test_short_rows_and_many_places_are_sorted(rng):
    for length, count in ((100, 2), (300, 17)):
        array, places = rng.normal(size=(2, length)), np.arange(count)
        function = statistics(array, places)
        program = plan(function)
        assert not evaluated(program)
        assert not any("order_statistics" in name for name in launched(program))
