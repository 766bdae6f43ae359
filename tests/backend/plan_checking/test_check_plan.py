"""`check_plan` finds every kind of mistake in plans that were right, and says what it is; right plans pass."""

import numpy as np
import pytest

import numhlo
import numhlo.numpy as hnp
from numhlo import lax
from numhlo.backend.plan_checking import check_plan
from numhlo.backend.planning.memory import Memory
from numhlo.lowering.ir.errors import InternalError
from numhlo.lowering.passes import outlining
from tests.backend.plan_checking.correct_plans import planned
from tests.backend.plan_checking.moving_faults import MOVING_FAULTS
from tests.backend.plan_checking.plan_faults import FAULTS
from tests.backend.plan_checking.reading_faults import READING_FAULTS


@pytest.fixture(autouse=True)
def small_subroutines(monkeypatch):
    """Let every function that is called twice be a subroutine."""
    monkeypatch.setattr(outlining, "MOST_OPS", 3)
    monkeypatch.setattr(outlining, "SMALL", 0)


@pytest.mark.parametrize("fault", [*FAULTS, *READING_FAULTS, *MOVING_FAULTS], ids=lambda fault: fault.make.__name__)
def test_faults_are_found(fault):
    program, function, donated = planned(fault.text, fault.donated, fault.written)
    check_plan(program, function, donated)
    fault.make(program)
    with pytest.raises(InternalError) as caught:
        check_plan(program, function, donated)
    assert fault.words in str(caught.value), str(caught.value)


def test_an_error_shows_the_plan_around_the_step():
    fault = next(fault for fault in FAULTS if fault.make.__name__ == "step_removed")
    program, function, donated = planned(fault.text, fault.donated, fault.written)
    fault.make(program)
    with pytest.raises(InternalError) as caught:
        check_plan(program, function, donated)
    assert str(caught.value) == (
        "the plan is wrong: the launch of product_f32 reads the dot_general, float32[64,64] from buffer 2 "
        "(arena 16384:32768, float32[64,64]), where nothing has written it by then: it lies nowhere\n"
        "  at <string>:3:8\n"
        "  a proof of the plan failed here:\n"
        "    product_f32[0, 1]: [0] -> [1], 1 units of 1\n"
        "  > product_f32[2, 1, 3]: [2, 1] -> [3], 1 units of 1\n"
        "    product_f32[3, 0, 4]: [3, 0] -> [4], 1 units of 1"
    )


def test_a_planner_that_goes_wrong_is_caught_where_passes_are_verified(monkeypatch):
    place_all = Memory.place_all

    def in_one_place(memory):
        """Let large buffers lie at the beginning of the arena, all of them."""
        size = place_all(memory)
        memory.buffers[:] = [b.at(0) if b.type.nbytes > 1000 else b for b in memory.buffers]
        return size

    monkeypatch.setattr(Memory, "place_all", in_one_place)

    def powers(x, n):
        return lax.fori_loop(0, n, lambda i, y: hnp.tanh(y @ x), x @ x) @ x

    arguments = np.eye(64, dtype=np.float32), np.int32(3)
    with pytest.raises(InternalError, match="the plan is wrong"), numhlo.debugging(verify=True):
        numhlo.jit(powers)(*arguments)
    with numhlo.debugging(verify=False):
        numhlo.jit(powers)(*arguments)


def _begun_by_one_value(n):
    start = hnp.linspace(-0.5, 0.5, 240)
    return lax.fori_loop(0, n, lambda i, c: (hnp.minimum(c[0] + c[1], 1.0), c[1]), (start, start))


def _all_branches_give_what_is_there(n):
    padded = hnp.pad(hnp.linspace(-0.5, 0.5, 64), 2)
    return lax.switch(n, [lambda: padded, lambda: padded])


def _no_iteration_writes(n):
    inner = lambda c: lax.fori_loop(0, n, lambda i, s: (s[0], s[1] * 2), (c, n))[0]
    return lax.fori_loop(0, n, lambda i, c: (inner(c[0]), c[1] + 1), (hnp.arange(40), n))


def _padding_cuts_everything_away(n):
    return hnp.asarray(lax.pad(hnp.arange(4.0) * n, 7.0, [(3, -7, 0)])), n


def _index_into_equal_rows(n):
    rows = hnp.broadcast_to(hnp.tanh(hnp.linspace(-1.0, 1.0, 6)), (4, 6))
    return hnp.sin(lax.dynamic_index_in_dim(rows, n, 0))


def _index_into_copies_of_one_element(n):
    copies = hnp.take(hnp.reshape(hnp.float64(n), (1,)), np.arange(34) % 7 % 1, axis=0)
    return copies[n % 34]


def _index_into_copies_of_one_row(n):
    row = hnp.sin(hnp.arange(3.0)).reshape(1, 3) * n
    rows = hnp.take(row, (np.arange(6) % 7).reshape(3, 2) % 1, axis=0)
    first, second = (lax.iota(np.int32, 3) * 3 + 1) % 3, lax.iota(np.int32, 2)
    loss = lambda x: hnp.minimum(x, rows[first[None], second[:, None]]).mean()
    return numhlo.grad(loss)(hnp.ones((2, 3, 3)))


def _branch_updates_what_is_there(n):
    start = hnp.zeros((4, 33)) + n
    return lax.switch(n, [lambda: start, lambda: start.at[2].set(1.5), lambda: start])


def _unused_in_each_lane(n):
    rows = hnp.arange(80.0).reshape(40, 2) * n
    return lax.map(lambda x: lax.fori_loop(0, n, lambda i, c: (c[1], c[1]), (x[0], hnp.float64(2.0)))[1], rows)


@pytest.mark.parametrize(
    "fun",
    [
        _padding_cuts_everything_away,
        _index_into_equal_rows,
        _index_into_copies_of_one_element,
        _index_into_copies_of_one_row,
        _branch_updates_what_is_there,
        _unused_in_each_lane,
    ],
)
def test_kernels_need_not_read_what_no_result_depends_on(fun):
    with numhlo.debugging(verify=True):
        numhlo.jit(fun).lower(np.int32(2)).compile()


@pytest.mark.parametrize("fun", [_begun_by_one_value, _all_branches_give_what_is_there, _no_iteration_writes])
def test_plans_that_leave_values_where_they_are_pass(fun):
    with numhlo.debugging(verify=True):
        numhlo.jit(fun).lower(np.int32(2)).compile()
