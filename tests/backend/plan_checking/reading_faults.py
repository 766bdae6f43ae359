"""Kernels that read nothing of what their results need, in plans that were right; `plan_faults` has other mistakes."""

from numhlo.backend.program import Program
from tests.backend.plan_checking import correct_plans as texts
from tests.backend.plan_checking.plan_faults import GIVEN, Fault
from tests.backend.plan_checking.plan_parts import launches, rewrite


def one_factor_read_twice(program: Program) -> None:
    launch = launches(program, "product")[3]
    launch.buffers = tuple(0 if number == 3 else number for number in launch.buffers)


def one_addend_read_twice(program: Program) -> None:
    follower = launches(program, "map_add")[1]
    rewrite(follower, "load_f32(in1, i0)", "load_f32(in0, i0)")


def number_instead_of_a_load_in_place(program: Program) -> None:
    rewrite(launches(program, "map_tanh")[0], "load_f32(out0, i0)", "to_f32(0.5)")


def number_instead_of_a_copied_element(program: Program) -> None:
    rewrite(launches(program, "copy")[1], "load_f32(in0, i0)", "to_f32(0.5)")


def number_instead_of_a_limit(program: Program) -> None:
    rewrite(launches(program, "while_rounds")[0], "load_i32(array0, 0)", "to_i32(3)")


READING_FAULTS = [
    Fault(texts.CHAIN, one_factor_read_twice, "reads no memory of the dot_general"),
    Fault(texts.MAP, one_addend_read_twice, "reads no memory of argument 1"),
    Fault(texts.MAP, number_instead_of_a_load_in_place, "reads no memory of argument 0", GIVEN),
    Fault(texts.JOINED, number_instead_of_a_copied_element, "reads no memory of argument 0"),
    Fault(texts.JOINED, number_instead_of_a_limit, "reads no memory of argument 2"),
]
