"""Running totals and what follows them in one kernel: the interpreter's bits, and what keeps others out."""

import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.passes.pipeline import optimize
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import launched, plan

LENGTHS = (33, 995, 1100)


def drawdown(x, y):
    return x / np.maximum.accumulate(x, axis=-1) - 1


def deepest(x, y):
    depths = x / np.maximum.accumulate(x, axis=-1) - 1
    return depths.min(axis=-1), depths.argmin(axis=-1), depths


def share(x, y):
    return np.cumsum(x, axis=-1) / y, np.cumsum(x, axis=-1).sum(axis=-1)


def dear_elements(x, y):
    return np.cumsum(x / (y + 1) / (x + 2) / 3, axis=-1) * 2 - y


def kept(x, y):
    totals = np.cumsum(x, axis=-1)
    return totals, totals - y


def totals_of_totals(x, y):
    return np.minimum.accumulate(np.cumsum(x - 1, axis=-1) * y, axis=-1) + x


def longest_run(x, y):
    places = np.arange(x.shape[-1])
    starts = np.maximum.accumulate(np.where(x > y, places, 0), axis=-1)
    return (places - starts).max(axis=-1), (places == starts).any(axis=-1)


def behind_a_first_one(x, y):
    return np.concatenate([y[..., :1], np.minimum.accumulate(x + y, axis=-1) * 2], axis=-1)


def padded(x, y):
    return np.pad(np.cumsum(x, axis=-1) + y, [(0, 0)] * (x.ndim - 1) + [(1, 2)])


def flags(x, y):
    return np.logical_or.accumulate(x > y, axis=-1) & (x < 1)


def narrow(x, y):
    return np.cumsum(x.astype(np.float16), axis=-1) * y.astype(np.float16)


def of_complex(x, y):
    return np.cumprod(x + y * 1j, axis=-1) - x


def across_the_rest(x, y):
    return np.cumsum(x, axis=-1) / x.sum()


JOINED = [
    drawdown,
    deepest,
    share,
    dear_elements,
    kept,
    totals_of_totals,
    longest_run,
    behind_a_first_one,
    padded,
    flags,
    narrow,
    of_complex,
    across_the_rest,
]


def planned(function, *arguments):
    lowered = optimize(numhlo.jit(function).trace(*arguments).module.main)
    return lowered, plan(lowered)


def is_joined(program):
    return any("_then_" in name for name in launched(program))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("function", JOINED, ids=lambda f: f.__name__)
def test_one_kernel_has_the_interpreters_bits(function, length, rng):
    shape = (2, length) if length < 100 else (length,)
    x, y = rng.normal(size=shape), rng.normal(size=shape)
    x[rng.random(shape) < 0.2] = -0.0
    x[..., length // 2 :][rng.random(x[..., length // 2 :].shape) < 0.01] = np.nan
    lowered, program = planned(function, x, y)
    assert is_joined(program)
    found = run_plain(program, [x, y])
    for one, expected in zip(found, interpret(lowered, [x, y]), strict=True):
        assert_same_bits(one, np.asarray(expected))


def depths_down(x, y):
    return x / np.maximum.accumulate(x, axis=0) - 1


def means_down(x, y):
    totals = np.cumsum(x * y, axis=0)
    return totals / np.arange(1, len(x) + 1).reshape(-1, *[1] * (x.ndim - 1)), totals > y


def kept_down(x, y):
    totals = np.cumprod(x, axis=-2)
    return totals, totals - y


def below_a_first_one(x, y):
    return np.concatenate([y[:1], np.minimum.accumulate(x + y, axis=0) * 2], axis=0)


def deepest_down(x, y):
    depths = x / np.maximum.accumulate(x, axis=0) - 1
    return depths.min(axis=0), depths.max(axis=0), (depths < -0.5).sum(axis=0)


def ever_down(x, y):
    totals = np.cumsum(x, axis=0)
    return totals * 2, (totals > y).any(axis=0), (totals > y - 3).all(axis=0)


def upwards(x, y):
    return lax.cummax(x, axis=0, reverse=True) - y


@pytest.mark.parametrize("shape", [(6, 3), (5, 130), (4, 3, 70)])
@pytest.mark.parametrize(
    "function",
    [depths_down, means_down, kept_down, below_a_first_one, upwards, deepest_down, ever_down],
    ids=lambda f: f.__name__,
)
def test_one_kernel_down_columns_has_the_interpreters_bits(function, shape, rng):
    x, y = rng.normal(size=shape), rng.normal(size=shape)
    x[rng.random(shape) < 0.2] = -0.0
    x[2:][rng.random(x[2:].shape) < 0.05] = np.nan
    lowered, program = planned(function, x, y)
    assert is_joined(program)
    found = run_plain(program, [x, y])
    for one, expected in zip(found, interpret(lowered, [x, y]), strict=True):
        assert_same_bits(one, np.asarray(expected))


APART = {
    "other places": lambda x: np.cumsum(x)[10:] - np.cumsum(x)[:-10],
    "the last one": lambda x: np.cumsum(x) / np.cumsum(x)[-1],
    "backwards": lambda x: np.cumsum(x[::-1])[::-1] * 2,
    "short lines": lambda x: np.cumsum(x.reshape(-1, 8), axis=1) * 2,
    "the last of columns": lambda x: (np.cumsum(x.reshape(-1, 8), axis=0) * 2).sum(axis=0),
    "dear elements of few lines": lambda x: 1 / np.sqrt(np.sqrt(np.sqrt(np.sqrt(np.abs(np.cumsum(x)))))),
    "in order of another axis": lambda x: np.cumsum(x.reshape(8, -1), axis=1).sum(axis=0),
}


@pytest.mark.parametrize("function", APART.values(), ids=APART)
def test_what_is_needed_elsewhere_stays_apart(function, rng):
    x = rng.normal(size=400)
    lowered, program = planned(function, x)
    assert not is_joined(program)
    (found,), (expected,) = run_plain(program, [x]), interpret(lowered, [x])
    assert_same_bits(found, np.asarray(expected))


def test_long_lines_look_whether_to_stop():
    def sources(length):
        _, program = planned(drawdown, np.ones(length), np.ones(length))
        return [kernel.source for kernel in program.kernels]

    assert not any("interrupted(ctx)" in source for source in sources(1000))
    assert any("interrupted(ctx)" in source for source in sources(100_000))


@pytest.mark.usefixtures("first_answers")
@pytest.mark.parametrize("function", [drawdown, behind_a_first_one, padded, flags], ids=lambda f: f.__name__)
def test_first_answers_come_from_the_ops(function, rng):
    x, y = rng.normal(size=100), rng.normal(size=100)
    np.testing.assert_allclose(numhlo.jit(function)(x, y), function(x, y), rtol=1e-13)
