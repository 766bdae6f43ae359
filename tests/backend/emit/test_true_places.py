"""Places of true elements: rows in one unit and in blocks, fewer and more places than there are."""

import numpy as np
import pytest

from numhlo.backend.emit.true_places import BLOCK
from numhlo.backend.executable import Executable
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import tensor_type_of
from numhlo.lowering.ops import FunctionBuilder, control_flow
from numhlo.lowering.ops.true_places import make_true_places
from tests.backend.plain_engine import run_plain
from tests.backend.programs import evaluated, launched, plan


def places_of(mask, size):
    type = tensor_type_of(mask)
    b = FunctionBuilder("main", [type])
    return b.finish(b.ops(control_flow.COMPOSITE, *b.arguments, **make_true_places(type, size)))


def masks(shape, rng):
    yield np.zeros(shape, bool)
    yield np.ones(shape, bool)
    yield rng.uniform(size=shape) < 0.5
    yield rng.uniform(size=shape) < 0.001
    late = np.zeros(shape, bool)
    late[..., -1] = True
    yield late


@pytest.mark.parametrize("shape", [(300,), (3, 50), (3 * BLOCK + 5,), (2, BLOCK + 1)])
def test_every_kind_of_row(shape, rng):
    for size in (1, 40, shape[-1], shape[-1] + 7):
        function = places_of(np.zeros(shape, bool), size)
        program = plan(function)
        assert len(launched(program)) == (1 if shape[-1] <= BLOCK else 2)
        executable = Executable(program)
        assert executable.wait(60)
        for mask in masks(shape, rng):
            (expected,) = interpret(function, [mask])
            np.testing.assert_array_equal(np.asarray(executable([mask])[0]), expected)


def test_same_text_in_plain_python(rng):
    for length, size in ((40, 30), (BLOCK + 50, 20)):
        mask = rng.uniform(size=length) < 0.002
        function = places_of(mask, size)
        np.testing.assert_array_equal(run_plain(plan(function), [mask])[0], interpret(function, [mask])[0])


def test_nothing_to_look_for():
    for mask, size in ((np.ones(4, bool), 0), (np.ones(0, bool), 3)):
        program = plan(places_of(mask, size))
        assert not evaluated(program)
        assert not any("true_places" in name for name in launched(program))
