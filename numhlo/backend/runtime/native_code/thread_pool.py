"""The thread pool's two sides: a launch that hands out chunks, and the threads that take them. Kernel source.

A job is open while ``JOB_STATE`` holds ``JOB_OPEN``; the rest of that word counts the threads inside. Who is inside
may read the job's words, which stay as they are until the last one has left. Sequentially consistent read-modify-
writes stand wherever one side writes a word and then reads another that the other side writes.
"""

from numhlo.backend.primitives import (
    atomic_add,
    atomic_compare_exchange,
    atomic_exchange,
    call_function,
    call_kernel,
    fail,
    interrupted,
    load_acquire,
    load_i64,
    pause,
    store_i64,
    store_release,
)
from numhlo.backend.primitives.layout import (
    CLOCK,
    CONDITION_BROADCAST,
    CONDITION_WAIT,
    CUT_SHORT,
    JOB_BUFS,
    JOB_CHUNK,
    JOB_CTX,
    JOB_DIMS,
    JOB_EXTENT,
    JOB_KERNEL,
    JOB_LIMIT,
    JOB_NEXT,
    JOB_OPEN,
    JOB_STATE,
    LAUNCH_DIMS,
    LAUNCH_EXTENT,
    LAUNCH_GRAIN,
    LAUNCH_KERNEL,
    LAUNCH_SPAN,
    LIBRARY,
    MUTEX_LOCK,
    MUTEX_UNLOCK,
    OK,
    OWNER_CONDITION,
    POOL,
    POOL_CONDITION,
    POOL_GENERATION,
    POOL_LIMIT,
    POOL_MODE,
    POOL_MUTEX,
    POOL_OVERRIDE_TABLE,
    POOL_OVERRIDES,
    POOL_OWNED,
    POOL_OWNER_SLEEPS,
    POOL_SLEEPERS,
    POOL_SPINS,
    POOL_STOP,
    POOL_WORKERS,
    STATUS,
    SYSCALL,
    THREAD_SELF,
    WORD,
)
from numhlo.backend.runtime.native_code.trials import note_alone, note_shared, takes_turn_alone, time_of_trial
from numhlo.backend.vector_math.jitable import jitable

WAIT_PRIVATE, WAKE_PRIVATE = 128, 129
CHUNKS_PER_THREAD = 4
MOST_TRIED = 256  # chunks of a launch from which on it is shared untried


@jitable
def sleep_while(library, block, word, value, condition):
    """Sleep while a word of the pool's block has a value, or for no reason for less."""
    futex = load_i64(block, POOL_MODE)
    if futex != 0:
        low = value & 0xFFFFFFFF
        call_function(load_i64(library, SYSCALL), futex, block + word * WORD, WAIT_PRIVATE, low, 0, 0, 0)
    else:
        mutex = block + POOL_MUTEX * WORD
        call_function(load_i64(library, MUTEX_LOCK), mutex)
        if atomic_add(block, word, 0) == value:
            call_function(load_i64(library, CONDITION_WAIT), block + condition * WORD, mutex)
        call_function(load_i64(library, MUTEX_UNLOCK), mutex)


@jitable
def wake(library, block, word, condition, count):
    """Wake up to ``count`` threads that sleep on a word."""
    futex = load_i64(block, POOL_MODE)
    if futex != 0:
        call_function(load_i64(library, SYSCALL), futex, block + word * WORD, WAKE_PRIVATE, count, 0, 0, 0)
    else:
        mutex = block + POOL_MUTEX * WORD
        call_function(load_i64(library, MUTEX_LOCK), mutex)
        call_function(load_i64(library, CONDITION_BROADCAST), block + condition * WORD)
        call_function(load_i64(library, MUTEX_UNLOCK), mutex)


@jitable
def take_chunks(block, kernel, ctx, bufs, dims, extent, chunk):
    """Run chunks of the job until there are none left, or the call has failed."""
    start = atomic_add(block, JOB_NEXT, chunk)
    while start < extent and load_acquire(ctx, STATUS) == OK:
        call_kernel(kernel, ctx, bufs, dims, start, min(start + chunk, extent))
        start = atomic_add(block, JOB_NEXT, chunk)
        if start < extent and interrupted(ctx):
            fail(ctx, CUT_SHORT)


@jitable
def run_alone(kernel, ctx, bufs, dims, extent, span):
    """Run all of a job on this thread."""
    start = 0
    while start < extent and load_acquire(ctx, STATUS) == OK:
        call_kernel(kernel, ctx, bufs, dims, start, min(start + span, extent))
        start += span
        if start < extent and interrupted(ctx):
            fail(ctx, CUT_SHORT)


@jitable
def allowed_threads(library, block):
    """Return how many threads this thread's launches may use."""
    limit = load_i64(block, POOL_LIMIT)
    slots = load_i64(block, POOL_OVERRIDES)
    if slots != 0:
        own = call_function(load_i64(library, THREAD_SELF))
        table = load_i64(block, POOL_OVERRIDE_TABLE)
        for k in range(slots):
            if load_i64(table, 2 * k) == own:
                limit = load_i64(table, 2 * k + 1)
    return limit


@jitable
def publish(block, kernel, ctx, bufs, dims, extent, chunk, threads):
    """Write the job's words and open it."""
    store_i64(block, JOB_LIMIT, threads)
    store_i64(block, JOB_KERNEL, kernel)
    store_i64(block, JOB_CTX, ctx)
    store_i64(block, JOB_BUFS, bufs)
    store_i64(block, JOB_DIMS, dims)
    store_i64(block, JOB_EXTENT, extent)
    store_i64(block, JOB_CHUNK, chunk)
    store_i64(block, JOB_NEXT, 0)
    store_release(block, JOB_STATE, JOB_OPEN)
    atomic_add(block, POOL_GENERATION, 1)


@jitable
def close_job(ctx, library, block):
    """Let nobody in any more and wait for those who are inside, who wake this thread when signals arrive."""
    inside = atomic_add(block, JOB_STATE, -JOB_OPEN) - JOB_OPEN
    spins = load_i64(block, POOL_SPINS)
    while inside != 0 and spins > 0:
        pause()
        spins -= 1
        inside = load_acquire(block, JOB_STATE)
    while inside != 0:
        atomic_exchange(block, POOL_OWNER_SLEEPS, 1)
        inside = atomic_add(block, JOB_STATE, 0)
        if inside != 0:
            sleep_while(library, block, JOB_STATE, inside, OWNER_CONDITION)
            if interrupted(ctx):
                fail(ctx, CUT_SHORT)
            inside = load_acquire(block, JOB_STATE)
    store_i64(block, POOL_OWNER_SLEEPS, 0)


def pool_launch(ctx, bufs, dims, lo, hi):
    """Run the launch that the step record ``dims`` describes; serially if another call owns the pool."""
    kernel = load_i64(dims, LAUNCH_KERNEL)
    numbers = load_i64(dims, LAUNCH_DIMS)
    extent = load_i64(dims, LAUNCH_EXTENT)
    grain = load_i64(dims, LAUNCH_GRAIN)
    library = load_i64(ctx, LIBRARY)
    block = load_i64(ctx, POOL)
    span = load_i64(dims, LAUNCH_SPAN)
    threads = min(load_i64(block, POOL_WORKERS) + 1, allowed_threads(library, block))
    threads = min(threads, extent // grain)
    tried = extent < grain * MOST_TRIED and load_i64(library, CLOCK) != 0
    if threads > 1 and tried and takes_turn_alone(dims):
        begin = time_of_trial(ctx, dims)
        run_alone(kernel, ctx, bufs, numbers, extent, span)
        note_alone(ctx, dims, begin)
        return 0
    if threads < 2 or atomic_compare_exchange(block, POOL_OWNED, 0, 1) != 0:
        run_alone(kernel, ctx, bufs, numbers, extent, span)
        return 0
    begin = time_of_trial(ctx, dims) if tried else 0
    pieces = threads * CHUNKS_PER_THREAD
    chunk = min(max(grain, (extent + pieces - 1) // pieces), span)
    publish(block, kernel, ctx, bufs, numbers, extent, chunk, threads)
    if atomic_add(block, POOL_SLEEPERS, 0) > 0:
        wake(library, block, POOL_GENERATION, POOL_CONDITION, threads - 1)
    take_chunks(block, kernel, ctx, bufs, numbers, extent, chunk)
    close_job(ctx, library, block)
    store_release(block, POOL_OWNED, 0)
    if tried:
        note_shared(ctx, dims, begin)
    return 0


@jitable
def await_job(library, block, seen):
    """Return once the generation is another one than ``seen``, or the pool ends."""
    spins = load_i64(block, POOL_SPINS)
    while load_acquire(block, POOL_GENERATION) == seen and spins > 0:
        pause()
        spins -= 1
    while load_acquire(block, POOL_GENERATION) == seen and load_acquire(block, POOL_STOP) == 0:
        atomic_add(block, POOL_SLEEPERS, 1)
        sleep_while(library, block, POOL_GENERATION, seen, POOL_CONDITION)
        atomic_add(block, POOL_SLEEPERS, -1)


@jitable
def join_job(block, number):
    """Enter the job if it is open and thread ``number`` is among those that may; return whether it has."""
    joined = False
    state = load_acquire(block, JOB_STATE)
    while state >= JOB_OPEN and number < load_i64(block, JOB_LIMIT) and not joined:
        found = atomic_compare_exchange(block, JOB_STATE, state, state + 1)
        joined = found == state
        state = found
    return joined


def pool_worker(ctx, bufs, dims, lo, hi):
    """Work until told to stop.

    ``ctx`` is the pool's block, ``bufs`` the library table, ``lo`` the thread's number, ``hi`` the last generation.
    """
    seen = hi
    while load_acquire(ctx, POOL_STOP) == 0:
        await_job(bufs, ctx, seen)
        seen = load_acquire(ctx, POOL_GENERATION)
        if join_job(ctx, lo):
            kernel = load_i64(ctx, JOB_KERNEL)
            context = load_i64(ctx, JOB_CTX)
            buffers = load_i64(ctx, JOB_BUFS)
            numbers = load_i64(ctx, JOB_DIMS)
            take_chunks(ctx, kernel, context, buffers, numbers, load_i64(ctx, JOB_EXTENT), load_i64(ctx, JOB_CHUNK))
            last = atomic_add(ctx, JOB_STATE, -1) == 1
            if last and atomic_add(ctx, POOL_OWNER_SLEEPS, 0) != 0:
                wake(bufs, ctx, JOB_STATE, OWNER_CONDITION, 1)
    return 0
