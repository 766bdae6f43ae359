"""Maps on all lanes at once give every lane the bits that it has alone."""

import jax
import numpy as np
import pytest

from numhlo.backend.interim.lanes import BLOCK, FEW_LANES
from numhlo.backend.planning.mapped import MANY
from numhlo.lowering.interpreter import interpret
from tests.backend.interim.in_python import InPython
from tests.backend.interim.random_loops import random_lane
from tests.backend.plain_engine import assert_same_bits
from tests.backend.programs import from_jax, mapped
from tests.work import count_calls

LANES = FEW_LANES + 9
IN_BLOCKS = MANY + 9
"""Lanes whose kernel has fewer units than lanes."""


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_lanes_have_the_bits_they_have_alone(first):
    at_once = 0
    for seed in range(first, first + 20):
        lanes = IN_BLOCKS if seed % 4 == 0 else LANES
        body, arrays = random_lane(seed, lanes)
        function = mapped(body, 1, lanes)
        found = InPython(function)
        at_once += "op by op on all lanes at once" in found.engine.ways()
        for left, right in zip(found(arrays), interpret(function, arrays), strict=True):
            try:
                assert_same_bits(left, np.asarray(right))
            except AssertionError as error:
                error.add_note(f"seed {seed}")
                raise
    assert at_once >= 10


def test_few_lanes_run_one_after_the_other():
    body, arrays = random_lane(3, 5)
    function = mapped(body, 1, 5)
    found = InPython(function)
    assert "op by op on all lanes at once" not in found.engine.ways()
    found.translate()
    for left, right in zip(found(arrays), interpret(function, arrays), strict=True):
        assert_same_bits(left, np.asarray(right))


@pytest.mark.parametrize("lanes", [BLOCK - 1, BLOCK + 3])
def test_lanes_in_blocks(lanes, rng):
    """Each lane counts how often it can be halved, up to its own number of rounds."""

    def one(x, rounds):
        return jax.lax.while_loop(lambda s: (s[0] > 1) & (s[1] < rounds), lambda s: (s[0] / 2, s[1] + 1), (x, 0))[1]

    function = mapped(from_jax(one, np.float64(0), np.int64(0)), 0, lanes)
    x, rounds = rng.uniform(0, 2**20, lanes), rng.integers(0, 9, lanes)
    found = InPython(function)
    assert found.engine.ways() == {"op by op on all lanes at once": 1}
    expected = np.minimum(np.maximum(np.ceil(np.log2(x)), 0), rounds)
    np.testing.assert_array_equal(found([x, rounds])[0], expected)


@pytest.mark.parametrize("lanes", [LANES, IN_BLOCKS, 1000])
def test_the_work_of_lanes_with_loops_and_branches_is_that_of_one(lanes, rng):
    """Half of the lanes take a branch with a loop in it; each op is done once a round, however many lanes there are."""

    def one(x, t):
        dear = lambda x: jax.lax.fori_loop(0, 50, lambda _, y: y * 0.5 + x / (1.0 + y * y), x)
        return jax.lax.cond(t > 0.0, dear, lambda x: x + 1.0, x)

    function = mapped(from_jax(one, np.float64(0), np.float64(0)), 0, lanes)
    found = InPython(function)
    assert found.engine.ways() == {"op by op on all lanes at once": 1}
    x, t = rng.random(lanes), np.where(np.arange(lanes) % 2, 1.0, -1.0)
    assert count_calls(found, [x, t]) < 50 * 40
