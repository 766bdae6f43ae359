"""Gathers of all windows: views where the index is a sum of ranges, what NumPy gives in any case."""

import jax
import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import numhlo
from numhlo.lowering.interpreter import interpret
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import all_steps, from_jax, plan

X = np.arange(60, dtype=np.float32).reshape(5, 12) ** 1.5


def ranges(first, second, step=1, gap=1, start=0):
    rows, columns = (jax.lax.broadcasted_iota(np.int32, (first, second), dim) for dim in (0, 1))
    return rows * step + columns * gap + start


def taken(index, axis, x):
    return x.at[(slice(None),) * axis + (index,)].get(mode="promise_in_bounds")


VIEWS = {
    "rows": lambda x: taken(ranges(4, 2), 0, x).sum(1),
    "columns": lambda x: taken(ranges(10, 3), 1, x).max(2),
    "steps": lambda x: taken(ranges(4, 3, 2, 2, 1), 1, x).sum(2),
    "last": lambda x: taken(ranges(3, 2, 4, 3), 1, x).sum(2),
    "one": lambda x: taken(ranges(1, 12), 1, x).sum(2),
    "both": lambda x: taken(ranges(10, 3), 2, taken(ranges(4, 2), 0, x)).sum((1, 3)),
    "computed": lambda x: taken(ranges(10, 3), 1, x * 2.0 + 1.0).sum(2),
}
GATHERS = {
    "beyond": lambda x: jax.lax.gather(x, ranges(11, 3)[..., None], DIMENSIONS, (5, 1), mode="clip").sum(2),
    "before": lambda x: jax.lax.gather(x, ranges(9, 3, start=-1)[..., None], DIMENSIONS, (5, 1), mode="clip").sum(2),
    "squares": lambda x: taken(ranges(3, 2) * ranges(3, 2), 1, x).sum(2),
}
DIMENSIONS = jax.lax.GatherDimensionNumbers(offset_dims=(0,), collapsed_slice_dims=(1,), start_index_map=(1,))


@pytest.mark.parametrize("name", [*VIEWS, *GATHERS])
def test_sums_of_ranges_are_views(name):
    function = from_jax({**VIEWS, **GATHERS}[name], X)
    program = plan(function)
    for left, right in zip(run_plain(program, [X]), interpret(function, [X]), strict=True):
        assert_same_bits(left, np.asarray(right))
    names = {op.definition.name for step in all_steps(program) for op in step.ops}
    assert ("gather" in names) == (name in GATHERS)


@pytest.mark.slow
def test_windows_of_both_dimensions_read_the_array_itself(rng):
    function = numhlo.jit(lambda x: sliding_window_view(x, (3, 4)).sum((-1, -2)))
    for shape in ((20, 30), (9, 50)):
        x = rng.random(shape)
        for answer in ("first", "native"):
            expected = sliding_window_view(x, (3, 4)).sum((-1, -2))
            np.testing.assert_allclose(function(x), expected, rtol=1e-13, err_msg=answer)
            function.wait()
    assert len(function.lower(x).compile().kernels) == 1
    assert "captured" not in str(function.lower(x).compile().explain())
    slope = numhlo.grad(lambda x: (sliding_window_view(x, 4, axis=1).max(-1) ** 2).sum())(x)
    _, pull = jax.vjp(lambda x: jax.lax.reduce_window(x, -np.inf, jax.lax.max, (1, 4), (1, 1), "VALID"), x)
    (expected,) = pull(2.0 * sliding_window_view(x, 4, axis=1).max(-1))
    np.testing.assert_allclose(slope, expected, rtol=1e-12)
