"""Copies at the end of a branch's side that move arrays wrongly, in plans that were right."""

from numhlo.backend.program import Launch, Program
from tests.backend.plan_checking import correct_plans as texts
from tests.backend.plan_checking.plan_faults import Fault
from tests.backend.plan_checking.plan_parts import branch_of, put_at, reroute


def moves_of(program: Program) -> list[Launch]:
    """Return the copies of the side that lets two arrays change places."""
    moves = [step for step in branch_of(program).branches[1] if isinstance(step, Launch)]
    assert len(moves) == 3
    return moves


def array_not_saved_before_a_move(program: Program) -> None:
    moves_of(program)
    moves = branch_of(program).branches[1]
    moves[0], moves[1] = moves[1], moves[0]


def moves_by_two_copies(program: Program) -> None:
    moves = moves_of(program)
    saved = moves[0].outputs[0][1]
    reroute(moves[2], saved, moves[0].inputs[0][1])
    del branch_of(program).branches[1][0]


def array_saved_over_another_one(program: Program) -> None:
    save, move, _ = moves_of(program)
    put_at(program, save.outputs[0][1], move.inputs[0][1])


def results_of_a_branch_in_one_buffer(program: Program) -> None:
    _, move, last = moves_of(program)
    reroute(last, last.outputs[0][1], move.outputs[0][1])


MOVING_FAULTS = [
    Fault(texts.EXCHANGES, array_not_saved_before_a_move, "wrote over before"),
    Fault(texts.EXCHANGES, moves_by_two_copies, "wrote over before"),
    Fault(texts.EXCHANGES, array_saved_over_another_one, "wrote over before"),
    Fault(texts.EXCHANGES, results_of_a_branch_in_one_buffer, "where nothing has written it by then"),
]
