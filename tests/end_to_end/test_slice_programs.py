"""Programs of slices whose length a counter or the data decides, so large that their loops stay loops of the graph."""

import numpy as np
import pytest

import numhlo
from tests.end_to_end import slice_programs
from tests.end_to_end.numpy_programs import PROGRAMS
from tests.every_call.harness import check_every_call

NAMES = [name for name, (fun, _) in PROGRAMS.items() if fun.__module__ == slice_programs.__name__]
SIZE = {"durbin": 130, "forward_substitution": 130}
SCHEDULE = [("plain", 0), ("plain", 1), ("plain", 0), ("in read-only memory", 1)]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_on_every_call(name):
    fun, make = PROGRAMS[name]
    inputs = [list(make(np.random.default_rng(seed), SIZE.get(name, 70))) for seed in (0, 1)]
    if name == "sparse_rows":  # as many elements in all, in other rows
        starts = inputs[0][0]
        inputs[1] = [starts[-1] - starts[::-1], *(x[::-1].copy() for x in inputs[0][1:])]
    compiled = numhlo.jit(fun)
    check_every_call(compiled, inputs, reference=fun, written=(), schedule=SCHEDULE)
    assert len(compiled.lower(*inputs[0]).as_text().splitlines()) < 1500
