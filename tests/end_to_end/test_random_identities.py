"""Random plain programs leave in every array what NumPy leaves, or say that it can't be told which array a name means.

Nothing is compiled: what names mean is decided while tracing.
"""

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import MutationError
from numhlo.switches import using
from tests.end_to_end.random_identities import function_of, source

ITERATIONS = (0, 1, 2, 3, 4, 5, 20, 21, 60, 61)
START = np.array([0.5, 0.3, 0.1, 0.7]), np.array([0.2, 0.6, 0.8, 0.45])
PROGRAMS = 30


def left_by(run, iterations):
    """Return the results of a run, and what it leaves in the arguments."""
    arrays = [x.copy() for x in START]
    return [*run(iterations, *arrays), *arrays]


def is_refused(seed, *, traced, **options):
    """Compare a program with NumPy; return whether it was refused."""
    function = function_of(source(seed, traced=traced), f"random identities {seed} {traced}")
    iterations = ITERATIONS[seed % len(ITERATIONS)]
    wanted = left_by(function, iterations)
    try:
        with using(engine="interpreter"):
            found = left_by(numhlo.jit(function, **options), iterations)
    except MutationError as error:
        assert error.is_undecided
        return True
    for one, other in zip(wanted, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-9, err_msg=source(seed, traced=traced))
    return False


@pytest.mark.parametrize("autograph", [False, True])
def test_known_iterations_and_conditions(autograph):
    """All is decided, by the analysis or by unrolling."""
    options = {"static_argnums": 0, "autograph": autograph}
    assert not any(is_refused(seed, traced=False, **options) for seed in range(PROGRAMS))


@pytest.mark.parametrize(
    ("traced", "options", "most"),
    [(True, {"static_argnums": 0}, 0.5), (False, {}, 0.6), (True, {}, 0.8)],
    ids=["conditions", "iterations", "both"],
)
def test_traced_ones(traced, options, most):
    """Where values decide what names mean, these programs write through nearly all of them."""
    refused = [is_refused(seed, traced=traced, autograph=True, **options) for seed in range(PROGRAMS)]
    assert sum(refused) <= most * PROGRAMS
