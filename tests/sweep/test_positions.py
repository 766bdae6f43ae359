"""Chains of views over computed positions are planned, whatever no strides express: no exception of ours comes out."""

import pytest

import numhlo
from numhlo import lax
from numhlo.backend.emit.access import NonlinearViewError
from numhlo.backend.planning import units
from numhlo.lowering.passes.legalization import legalize
from numhlo.lowering.passes.pipeline import optimize
from tests.backend.programs import plan
from tests.sweep import positions
from tests.sweep.sweep import disagreements, make

import numpy as np  # isort: skip

PROGRAMS = 200
LOOPED_IOTA, INDICES_OF_A_COPY = 101935, 14
"""Programs that were not planned: a table made outside of a loop and flattened inside; indices through two copies."""


def test_chains_are_planned_and_right():
    """Kernels' text gives what the interpreter gives."""
    for number in range(PROGRAMS):
        faults = disagreements(make(number, 2, positions.MAKERS), ["kernels"])
        assert not faults, f"program {number}: " + "\n".join(faults)


@pytest.mark.parametrize("number", [LOOPED_IOTA, INDICES_OF_A_COPY])
def test_chains_as_machine_code(number):
    program = make(number, 2, positions.MAKERS)
    assert not disagreements(program, ["compiled"])


def test_a_table_outside_a_loop_is_flattened_inside():
    """What a loop takes from outside lies in memory; its kernels read that where they can't count in that order."""

    @numhlo.jit
    def walk(x):
        rows, columns = (lax.broadcasted_iota(np.int64, (3, 4), axis) for axis in range(2))

        def body(_, total):
            table = (rows.T.reshape(12) * 2 + columns.reshape(12)) % 7
            return total + x[table]

        return lax.fori_loop(0, 3, body, np.zeros(12))

    x = np.arange(7.0) ** 2
    rows, columns = np.indices((3, 4))
    table = (rows.T.reshape(12) * 2 + columns.reshape(12)) % 7
    np.testing.assert_array_equal(walk(x), 3 * x[table])


def test_a_copied_view_never_fails_again(monkeypatch):
    """What a reshape looks at, once it is to be copied, is stored before whoever reads it: one attempt a reshape."""
    attempts = []
    analyse = units.Layout._analyse

    def counted(self, copying):
        attempts.append(set(copying))
        analyse(self, copying)

    monkeypatch.setattr(units.Layout, "_analyse", counted)
    raised = 0
    for number in range(60):
        plan(optimize(legalize(make(number, 2, positions.MAKERS).function())))
        raised += sum(len(copying) for copying in attempts)
        attempts.clear()
    assert raised > 10  # or nothing was shown
    assert issubclass(NonlinearViewError, Exception)
