"""Mistakes in plans, one of a kind each: how one is made in a right plan, and what the proof says of it."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from numhlo.backend.program import Buffer, Exchange, Launch, Place, Program
from tests.backend.plan_checking import correct_plans as texts
from tests.backend.plan_checking.plan_parts import (
    branch_of,
    exchange_of,
    launches,
    loop_of,
    new_buffer,
    put_at,
    remove,
    reroute,
    rewrite,
)


class Fault(NamedTuple):
    """A mistake: in which plan, how it is made, what the error says; and which arguments the plan may write."""

    text: str
    make: Callable[[Program], None]
    words: str
    donated: frozenset[int] = frozenset()
    written: tuple[int, ...] = ()


# -- memory


def second_product_over_the_first(program: Program) -> None:
    put_at(program, 2, 1)


def buffer_outside_the_arena(program: Program) -> None:
    program.buffers[3] = program.buffers[3].at(program.arena_bytes - 64)


def buffer_half_over_a_live_one(program: Program) -> None:
    program.buffers[3] = program.buffers[3].at(program.buffers[1].offset + program.buffers[1].type.nbytes // 2)


def result_of_another_type(program: Program) -> None:
    type = program.buffers[4].type
    program.buffers[4] = Buffer(type.with_shape((64, 63)), Place.RESULT)


def product_into_an_argument(program: Program) -> None:
    for launch in launches(program, "product"):
        reroute(launch, 3, 0)


def product_into_a_constant(program: Program) -> None:
    copy = launches(program, "copy")[1]
    launch = launches(program, "product")[0]
    reroute(launch, launch.outputs[0][1], copy.inputs[0][1])


def two_buffers_of_a_kernel_in_one_place(program: Program) -> None:
    put_at(program, 3, 2)


# -- reads and writes


def read_before_write(program: Program) -> None:
    program.steps[1], program.steps[2] = program.steps[2], program.steps[1]


def step_removed(program: Program) -> None:
    del program.steps[1]


def in_place_step_twice(program: Program) -> None:
    program.steps.insert(1, program.steps[0])


def reads_another_buffer(program: Program) -> None:
    launch = launches(program, "product")[3]
    launch.inputs = [(value, 1 if number == 3 else number) for value, number in launch.inputs]


def kernel_of_another_buffer(program: Program) -> None:
    launch = launches(program, "product")[3]
    launch.buffers = tuple(2 if number == 3 else number for number in launch.buffers)


def kernel_writes_its_input(program: Program) -> None:
    launch = launches(program, "product")[1]
    launch.buffers = (2, *launch.buffers[1:2], 1)


def input_not_listed(program: Program) -> None:
    launch = launches(program, "product")[2]
    launch.inputs = launch.inputs[:1]


def output_not_written(program: Program) -> None:
    launch = launches(program, "product")[3]
    launch.outputs = [(launch.outputs[0][0], new_buffer(program, 4, Place.RESULT, index=1))]


def result_listed_elsewhere(program: Program) -> None:
    program.results = [3]


def result_missing(program: Program) -> None:
    program.results = []


def result_written_twice(program: Program) -> None:
    launch = launches(program, "product")[2]
    again = replace(launch)
    reroute(again, 3, 4)
    program.steps.append(again)


def unknown_word(program: Program) -> None:
    rewrite(launches(program, "product")[0], "gemm_f32(", "copy_all(")


def word_that_takes_no_pointer(program: Program) -> None:
    rewrite(launches(program, "copy")[0], "store_i32(out0", "absolute(out0")


# -- loops


def exchange_dropped(program: Program) -> None:
    remove(program, exchange_of(program))


def exchange_doubled(program: Program) -> None:
    body = loop_of(program).body
    body.append(Exchange(exchange_of(program).pairs))


def exchange_with_a_result(program: Program) -> None:
    exchange_of(program).pairs = ((6, 12),)


def exchange_of_unlike_buffers(program: Program) -> None:
    exchange_of(program).pairs = ((6, 8),)


def exchange_of_overlapping_buffers(program: Program) -> None:
    program.buffers[10] = program.buffers[10].at(program.buffers[6].offset + 64)


def second_buffer_from_the_loop_on(program: Program) -> None:
    put_at(program, 10, 4)  # dead when the loop begins; in the next call, the state begins where it lies


def second_buffer_over_a_later_value(program: Program) -> None:
    put_at(program, 11, 10)
    put_at(program, 10, 4)


def second_buffer_over_a_value_behind_the_loop(program: Program) -> None:
    put_at(program, 3, 10)


def value_of_the_loop_over_the_second_buffer(program: Program) -> None:
    put_at(program, 9, 10)


def two_parts_in_one_buffer(program: Program) -> None:
    loop = loop_of(program)
    loop.state = [5, 6, 6, 1, 3]
    for launch in launches(program, "product"):
        reroute(launch, 7, 6)


def state_shares_an_argument(program: Program) -> None:
    remove(program, next(c for c in launches(program, "copy") if c.outputs[0][1] == 7))
    loop_of(program).state = [5, 6, 1, 1, 3]
    for launch in launches(program, "product"):
        reroute(launch, 7, 1)
    exchange_of(program).pairs = ((1, 10),)


def state_shares_a_constant(program: Program) -> None:
    remove(program, next(c for c in launches(program, "copy") if c.outputs[0][1] == 5))
    loop_of(program).state = [4, *loop_of(program).state[1:]]
    for name in ("map_add", "map_compare"):
        reroute(launches(program, name)[0], 5, 4)


def part_that_stays_is_overwritten(program: Program) -> None:
    put_at(program, 9, 3)


def first_copy_removed(program: Program) -> None:
    remove(program, next(c for c in launches(program, "copy") if c.outputs[0][1] == 7))


def counter_never_begins(program: Program) -> None:
    remove(program, launches(program, "copy")[0])


def predicate_elsewhere(program: Program) -> None:
    loop_of(program).predicate = new_buffer(program, 9, Place.ARENA)


def predicate_reused(program: Program) -> None:
    loop = loop_of(program)
    loop.condition.append(loop.condition[0])
    put_at(program, 9, 8)


def state_lists_another_buffer(program: Program) -> None:
    loop_of(program).state = [8, 10]
    program.results = [12, 10]


def counts_to_another_limit(program: Program) -> None:
    loop_of(program).counting = replace(loop_of(program).counting, limit=8)


def counts_by_another_step(program: Program) -> None:
    loop_of(program).counting = replace(loop_of(program).counting, step=2)


def counts_in_another_buffer(program: Program) -> None:
    loop_of(program).counting = replace(loop_of(program).counting, advanced=9)


def counts_in_place_of_another_step(program: Program) -> None:
    loop_of(program).counting = replace(loop_of(program).counting, advance=1)


def joined_parts_in_one_buffer(program: Program) -> None:
    loop_of(program).state = [4, 5, 5]


def joined_exchange_dropped(program: Program) -> None:
    exchange_of(program).pairs = exchange_of(program).pairs[:1]


def joined_memory_overlaps(program: Program) -> None:
    put_at(program, 8, 9)


# -- updates


def copy_before_an_update_removed(program: Program) -> None:
    copy, update = launches(program, "copy")
    update.ops, update.inputs, update.outputs, update.follows = copy.ops, copy.inputs, copy.outputs, False
    remove(program, copy)


def update_over_a_value_still_needed(program: Program) -> None:
    copy_before_an_update_removed(program)
    for name in ("copy", "product"):
        for launch in launches(program, name)[-2:]:
            reroute(launch, 3, 2)
    program.results = [4, 2]


def window_copy_removed(program: Program) -> None:
    remove(program, next(c for c in launches(program, "copy") if c.outputs[0][1] == 6))


def window_copy_of_another_array(program: Program) -> None:
    copy = next(c for c in launches(program, "copy") if c.outputs[0][1] == 6)
    program.steps.remove(copy)
    program.steps.insert(0, copy)


def update_left_out(program: Program) -> None:
    remove(program, launches(program, "copy")[1])


# -- branches


def branch_writes_elsewhere(program: Program) -> None:
    branch = branch_of(program)
    reroute(branch.branches[0][1], 4, 6)  # type: ignore[arg-type]


def branch_writes_the_other_ones_target(program: Program) -> None:
    branch = branch_of(program)
    reroute(branch.branches[0][1], 4, 3)  # type: ignore[arg-type]


def branch_lacks_a_step(program: Program) -> None:
    branch = branch_of(program)
    del branch.branches[0][1]


def branch_overwrites_what_is_needed(program: Program) -> None:
    put_at(program, 3, 2)


def branch_on_another_number(program: Program) -> None:
    branch = branch_of(program)
    branch.index = 2


def sides_changed(program: Program) -> None:
    branch = branch_of(program)
    branch.branches.reverse()


# -- subroutines


def routine_buffer(program: Program) -> int:
    """Return a buffer that a subroutine writes in its steps."""
    return launches(program, "product")[-2].outputs[0][1]


def subroutine_over_a_value_of_its_caller(program: Program) -> None:
    number = next(launch.outputs[0][1] for launch in program.steps if isinstance(launch, Launch))
    put_at(program, routine_buffer(program), number)


def subroutine_without_operand(program: Program) -> None:
    (routine,) = program.subroutines
    remove(program, next(c for c in launches(program, "copy") if c.outputs[0][1] == routine.arguments[0]))


def subroutine_over_its_place(program: Program) -> None:
    (routine,) = program.subroutines
    put_at(program, routine.place, routine_buffer(program))


# -- arguments that are given away or written


def written_before_the_last_read(program: Program) -> None:
    for launch in launches(program, "map_tanh"):
        program.steps.remove(launch)
        program.steps.append(launch)
        program.steps.insert(0, replace(launch))


def old_value_read_too_late(program: Program) -> None:
    again = replace(launches(program, "map_tanh")[0])
    again.outputs = [(again.outputs[0][0], 2)]
    again.buffers = (0, 2)
    rewrite(again, "store_f32(out0", "store_f32(out1")
    rewrite(again, "out0 = address(bufs, 0)", "out0 = address(bufs, 0)\n    out1 = address(bufs, 1)")
    program.steps.append(again)


def not_given_away(program: Program) -> None:
    program.overwritten = frozenset()


# -- several launches of a unit, and chunks


def sums_over_the_input(program: Program) -> None:
    launch = launches(program, "reduce_add_blocks")[0]
    launch.buffers = tuple(0 if number == 3 else number for number in launch.buffers)


def parts_before_blocks(program: Program) -> None:
    first, second = launches(program, "reduce_add")
    first.kernel, second.kernel = second.kernel, first.kernel
    first.buffers, second.buffers = second.buffers, first.buffers


def blocks_left_out(program: Program) -> None:
    first, second = launches(program, "reduce_add")
    second.ops, second.inputs, second.outputs, second.follows = first.ops, first.inputs, first.outputs, False
    remove(program, first)


def shifted_reads_in_place(program: Program) -> None:
    rewrite(launches(program, "map_tanh")[0], "load_f32(out0, i0)", "load_f32(out0, i0 + 1)")


def all_chunks_write_one_element(program: Program) -> None:
    rewrite(launches(program, "map_tanh")[0], "store_f32(out0, i0,", "store_f32(out0, 0,")


# -- lists


def list_of(program: Program) -> Launch:
    """Return the launch of a list."""
    return next(step for step in program.steps if isinstance(step, Launch) and step.parts)


def listed_buffer_changed(program: Program) -> None:
    launch = list_of(program)
    dims = list(launch.dims)
    place = next(k for k in range(len(dims) - 1, 0, -1) if launch.buffers[dims[k] % len(launch.buffers)] != 0)
    dims[place - 1] = (dims[place - 1] + 1) % len(launch.buffers)
    launch.dims = tuple(dims)


def listed_launch_left_out(program: Program) -> None:
    list_of(program).parts = list_of(program).parts[:-1]


def listed_launches_in_another_order(program: Program) -> None:
    launch = list_of(program)
    first, second, *rest = launch.parts
    launch.parts = [second, first, *rest]


GIVEN = frozenset({0})
LIST = texts.many_short_launches()
FAULTS = [
    Fault(texts.CHAIN, second_product_over_the_first, "share memory"),
    Fault(texts.CHAIN, buffer_outside_the_arena, "is not in the arena"),
    Fault(texts.CHAIN, buffer_half_over_a_live_one, "share memory"),
    Fault(texts.CHAIN, result_of_another_type, "does not fit into its buffer"),
    Fault(texts.CHAIN, product_into_an_argument, "which must stay as it is"),
    Fault(texts.THREE, product_into_a_constant, "which must stay as it is"),
    Fault(texts.CHAIN, two_buffers_of_a_kernel_in_one_place, "share memory"),
    Fault(texts.CHAIN, read_before_write, "where nothing has written it by then"),
    Fault(texts.CHAIN, step_removed, "where nothing has written it by then"),
    Fault(texts.MAP, in_place_step_twice, "wrote over before", GIVEN),
    Fault(texts.CHAIN, reads_another_buffer, "it lies in 3"),
    Fault(texts.CHAIN, kernel_of_another_buffer, "which is none of its inputs"),
    Fault(texts.CHAIN, kernel_writes_its_input, "which is none of its inputs"),
    Fault(texts.CHAIN, input_not_listed, "which is none of its inputs"),
    Fault(texts.CHAIN, output_not_written, "writes nothing into"),
    Fault(texts.CHAIN, result_listed_elsewhere, "result 0 is the dot_general"),
    Fault(texts.CHAIN, result_missing, "it lists 0 results of 1"),
    Fault(texts.CHAIN, result_written_twice, "wrote over before"),
    Fault(texts.CHAIN, unknown_word, "no call of copy_all"),
    Fault(texts.STENCIL, word_that_takes_no_pointer, "of a pointer"),
    Fault(texts.LOOP, exchange_dropped, "to go on with the dot_general"),
    Fault(texts.LOOP, exchange_doubled, "to go on with the dot_general"),
    Fault(texts.LOOP, exchange_with_a_result, "not both in the arena"),
    Fault(texts.LOOP, exchange_of_unlike_buffers, "differ in type"),
    Fault(texts.LOOP, exchange_of_overlapping_buffers, "buffers that are exchanged share memory"),
    Fault(texts.LOOP, second_buffer_from_the_loop_on, "share memory"),
    Fault(texts.LOOP, second_buffer_over_a_later_value, "share memory"),
    Fault(texts.LOOP, second_buffer_over_a_value_behind_the_loop, "wrote over before"),
    Fault(texts.LOOP, value_of_the_loop_over_the_second_buffer, "wrote over before"),
    Fault(texts.THREE, two_parts_in_one_buffer, "part 2 of a loop's state is to begin with argument 1"),
    Fault(texts.THREE, state_shares_an_argument, "not both in the arena"),
    Fault(texts.THREE, state_shares_a_constant, "which must stay as it is"),
    Fault(texts.THREE, part_that_stays_is_overwritten, "wrote over before"),
    Fault(texts.THREE, first_copy_removed, "to begin with argument 1"),
    Fault(texts.LOOP, counter_never_begins, "to begin with the constant"),
    Fault(texts.LOOP, predicate_elsewhere, "as its predicate"),
    Fault(texts.LOOP, predicate_reused, "share memory"),
    Fault(texts.LOOP, state_lists_another_buffer, "to begin with the dot_general"),
    Fault(texts.COUNTED, counts_to_another_limit, "it counts up to 8, the condition to 9"),
    Fault(texts.COUNTED, counts_by_another_step, "it counts by 2, the step by 1"),
    Fault(texts.COUNTED, counts_in_another_buffer, "it counts in other buffers"),
    Fault(texts.COUNTED, counts_in_place_of_another_step, "does something else"),
    Fault(texts.JOINED, joined_parts_in_one_buffer, "to begin with argument 1"),
    Fault(texts.JOINED, joined_exchange_dropped, "to go on with the add"),
    Fault(texts.JOINED, joined_memory_overlaps, "to go on with the multiply"),
    Fault(texts.UPDATE, copy_before_an_update_removed, "writes 16 at most"),
    Fault(texts.UPDATE, update_left_out, "only copies buffer 2"),
    Fault(texts.UPDATE, update_over_a_value_still_needed, "wrote over before"),
    Fault(texts.STENCIL, window_copy_removed, "writes 158404 at most"),
    Fault(texts.STENCIL, window_copy_of_another_array, "writes 158404 at most"),
    Fault(texts.BRANCHES, branch_writes_elsewhere, "where nothing has written it by then"),
    Fault(texts.BRANCHES, branch_writes_the_other_ones_target, "where nothing has written it by then"),
    Fault(texts.BRANCHES, branch_lacks_a_step, "where nothing has written it by then"),
    Fault(texts.BRANCHES, branch_overwrites_what_is_needed, "share memory"),
    Fault(texts.BRANCHES, branch_on_another_number, "to choose"),
    Fault(texts.BRANCHES, sides_changed, "where nothing has written it by then"),
    Fault(texts.CALLS, subroutine_over_a_value_of_its_caller, "the call of @twice"),
    Fault(texts.CALLS, subroutine_without_operand, "as an operand"),
    Fault(texts.CALLS, subroutine_over_its_place, "which of its calls to go on after"),
    Fault(texts.MAP, written_before_the_last_read, "wrote over before", GIVEN),
    Fault(texts.MAP, old_value_read_too_late, "wrote over before", GIVEN),
    Fault(texts.SUM, sums_over_the_input, "which must stay as it is"),
    Fault(texts.SUM, parts_before_blocks, "which is none of its inputs"),
    Fault(texts.SUM, blocks_left_out, "which is none of its inputs"),
    Fault(texts.MAP, shifted_reads_in_place, "one reads what another writes: load_f32(out0, i0 + 1)", GIVEN),
    Fault(texts.MAP, all_chunks_write_one_element, "all write the same element", GIVEN),
    Fault(LIST, listed_buffer_changed, "the list has the launch of"),
    Fault(LIST, listed_launch_left_out, "is made of"),
    Fault(LIST, listed_launches_in_another_order, "the list has the launch of"),
]
