"""Runs a program's steps: the native engine. Kernel source."""

from numhlo.backend.primitives import (
    atomic_exchange,
    call_function,
    call_kernel,
    fail,
    interrupted,
    library_function,
    load_i32,
    load_i64,
    load_u8,
    pause,
    store_i32,
    store_i64,
    store_release,
    to_i32,
)
from numhlo.backend.primitives.layout import (
    ADVANCED,
    ADVANCED_BY,
    BELOW_LIMIT,
    BELOW_TARGET,
    BLAS_GET_THREADS,
    BLAS_HELD,
    BLAS_HOLDERS,
    BLAS_LOCK,
    BLAS_SET_THREADS,
    BLAS_THREADS,
    COPY_BYTES,
    COPY_SOURCE,
    COPY_TARGET,
    COUNTER,
    COUNTER_BYTES,
    CUT_SHORT,
    DO_ADVANCE,
    DO_COPY,
    DO_END,
    DO_EXCHANGE,
    DO_HOLD_BLAS,
    DO_JUMP,
    DO_JUMP_UNLESS,
    DO_LAUNCH,
    DO_LEAVE_UNLESS_BELOW,
    DO_RELEASE_BLAS,
    DO_REPEAT,
    DO_SWITCH,
    DONE,
    EXCHANGE_FIRST,
    EXCHANGE_SECOND,
    GATHER,
    INTERRUPT,
    INTERRUPT_BLOCK,
    INTERRUPTED,
    JUMP_TARGET,
    LAUNCH_COUNT,
    LAUNCH_DIMS,
    LAUNCH_EXTENT,
    LAUNCH_GRAIN,
    LAUNCH_KERNEL,
    LAUNCH_NUMBERS,
    LAUNCH_SPAN,
    LAUNCHER,
    MEMCPY,
    OK,
    OPCODE,
    POOL,
    STATUS,
    STEP_WORDS,
    SWITCH_BUFFER,
    SWITCH_BYTES,
    SWITCH_COUNT,
    SWITCH_TARGETS,
    UNLESS_BUFFER,
    UNLESS_TARGET,
    WORD,
)
from numhlo.backend.runtime.native_code.listening import counts_look, is_early
from numhlo.backend.vector_math.jitable import jitable


@jitable
def launch(ctx, bufs, record, kernel):
    """Put the kernel's buffers together and run it, on the pool if there is enough to do."""
    gather = load_i64(ctx, GATHER)
    launcher = load_i64(ctx, LAUNCHER)
    numbers = load_i64(record, LAUNCH_NUMBERS)
    for k in range(load_i64(record, LAUNCH_COUNT)):
        store_i64(gather, k, load_i64(bufs, load_i64(numbers, k)))
    extent = load_i64(record, LAUNCH_EXTENT)
    if launcher != 0 and extent >= 2 * load_i64(record, LAUNCH_GRAIN):
        call_kernel(launcher, ctx, gather, record, 0, 0)
    else:
        dims = load_i64(record, LAUNCH_DIMS)
        span = load_i64(record, LAUNCH_SPAN)
        call_kernel(kernel, ctx, gather, dims, 0, min(span, extent))
        start = span
        while start < extent and load_i64(ctx, STATUS) == OK:
            if interrupted(ctx):
                fail(ctx, CUT_SHORT)
            else:
                call_kernel(kernel, ctx, gather, dims, start, min(start + span, extent))
            start += span


@jitable
def exchange(bufs, record):
    """Swap the places of two buffers."""
    first = load_i64(record, EXCHANGE_FIRST)
    second = load_i64(record, EXCHANGE_SECOND)
    kept = load_i64(bufs, first)
    store_i64(bufs, first, load_i64(bufs, second))
    store_i64(bufs, second, kept)


@jitable
def copy(ctx, bufs, record):
    """Copy the bytes of one buffer into another."""
    source = load_i64(bufs, load_i64(record, COPY_SOURCE))
    target = load_i64(bufs, load_i64(record, COPY_TARGET))
    call_function(library_function(ctx, MEMCPY), target, source, load_i64(record, COPY_BYTES))


@jitable
def counted(bufs, record):
    """Return what a loop's counter is."""
    place = load_i64(bufs, load_i64(record, COUNTER))
    if load_i64(record, COUNTER_BYTES) == 4:
        return load_i32(place, 0) + 0
    return load_i64(place, 0)


@jitable
def advance_counter(bufs, record):
    """Write the next value of a loop's counter."""
    place = load_i64(bufs, load_i64(record, ADVANCED))
    following = counted(bufs, record) + load_i64(record, ADVANCED_BY)
    if load_i64(record, COUNTER_BYTES) == 4:
        store_i32(place, 0, to_i32(following))
    else:
        store_i64(place, 0, following)


@jitable
def branch_start(bufs, record):
    """Return the first step of the branch that a switch chooses."""
    place = load_i64(bufs, load_i64(record, SWITCH_BUFFER))
    last = load_i64(record, SWITCH_COUNT) - 1
    if load_i64(record, SWITCH_BYTES) == 1:
        chosen = load_u8(place, 0) + 0
    else:
        chosen = load_i32(place, 0) + 0
    if chosen < 0 or chosen > last:
        chosen = last
    return load_i64(load_i64(record, SWITCH_TARGETS), chosen)


@jitable
def count_blas_holder(ctx, change):
    """Keep BLAS to one thread from the first holder on, and give it back its own number after the last."""
    set_threads = library_function(ctx, BLAS_SET_THREADS)
    if set_threads != 0 and (change > 0) != (load_i64(ctx, BLAS_HELD) != 0):
        block = load_i64(ctx, POOL)
        while atomic_exchange(block, BLAS_LOCK, 1) != 0:
            pause()
        holders = load_i64(block, BLAS_HOLDERS) + change
        store_i64(block, BLAS_HOLDERS, holders)
        if change > 0 and holders == 1:
            threads = call_function(library_function(ctx, BLAS_GET_THREADS)) & 0xFFFF
            store_i64(block, BLAS_THREADS, threads)
            call_function(set_threads, 1)
        elif change < 0 and holders == 0:
            call_function(set_threads, load_i64(block, BLAS_THREADS))
        store_release(block, BLAS_LOCK, 0)
        store_i64(ctx, BLAS_HELD, 1 if change > 0 else 0)


@jitable
def waits(ctx):
    """Return whether nobody listens for signals yet, and need not."""
    return is_early(ctx, library_function(ctx, INTERRUPT_BLOCK)) and counts_look(ctx)


@jitable
def next_step(ctx, bufs, record, step, opcode):  # noqa: C901, PLR0912 - one branch an operation
    """Do a step that is no launch and return the next one."""
    following = step + 1
    if opcode in (DO_JUMP, DO_REPEAT):
        following = load_i64(record, JUMP_TARGET)
        if opcode == DO_REPEAT and load_i64(load_i64(ctx, INTERRUPT), 0) != 0 and not waits(ctx):
            store_i64(ctx, STATUS, INTERRUPTED)
    elif opcode == DO_JUMP_UNLESS:
        if load_u8(load_i64(bufs, load_i64(record, UNLESS_BUFFER)), 0) == 0:
            following = load_i64(record, UNLESS_TARGET)
    elif opcode == DO_EXCHANGE:
        exchange(bufs, record)
    elif opcode == DO_SWITCH:
        following = branch_start(bufs, record)
    elif opcode == DO_COPY:
        copy(ctx, bufs, record)
    elif opcode == DO_HOLD_BLAS:
        count_blas_holder(ctx, 1)
    elif opcode == DO_RELEASE_BLAS:
        count_blas_holder(ctx, -1)
    elif opcode == DO_END:
        following = DONE
    else:
        following = step
    return following


def driver(ctx, bufs, dims, lo, hi):
    """Run the steps of table ``dims`` from number ``lo`` on; ``bufs`` is the frame's table of buffer addresses.

    Returns the number of the step that needs Python, the step after a kernel that failed, or DONE.
    """
    step = lo
    while step != DONE:
        record = dims + step * STEP_WORDS * WORD
        opcode = load_i64(record, OPCODE)
        if opcode in (DO_LAUNCH, DO_ADVANCE, DO_LEAVE_UNLESS_BELOW):
            kernel = load_i64(record, LAUNCH_KERNEL)
            if kernel == 0:
                return step
            following = step + 1
            if opcode == DO_LAUNCH:
                launch(ctx, bufs, record, kernel)
            elif opcode == DO_ADVANCE:
                advance_counter(bufs, record)
            elif counted(bufs, record) < load_i64(record, BELOW_LIMIT):
                following += 1  # the jump that leaves
            else:
                following = load_i64(record, BELOW_TARGET)
            step = following
        else:
            following = next_step(ctx, bufs, record, step, opcode)
            if following == step:
                return step
            step = following
        if load_i64(ctx, STATUS) != 0:
            return step
    return DONE
