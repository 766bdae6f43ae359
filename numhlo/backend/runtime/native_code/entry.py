"""The fast entry: a Python-callable function that checks its arguments, makes the results and runs the program.

Kernel source, called by the interpreter as ``PyObject *entry(PyObject *self, PyObject *const *args, Py_ssize_t count)``
with the GIL held. ``self`` is the array of words that describes the executable, or a route to it, which says where in
the arguments the executable's are: in tuples, or Python's and NumPy's scalars, whose values are read where they lie.
"""

from numhlo.backend.primitives import call_function, integer_address, load_i32, load_i64, stack_array, store_i64
from numhlo.backend.primitives.layout import (
    API_CHECK_SIGNALS,
    API_DECREF,
    API_FROM_INTEGER,
    API_INCREF,
    API_NONE,
    API_RESTORE_ERROR,
    API_RESTORE_THREAD,
    API_SAVE_THREAD,
    ARENA,
    ARENA_HEADER,
    ARENA_NEXT,
    ARENAS_FREE,
    ARENAS_OFFERED,
    ARRAY_DATA,
    ARRAY_DESCR,
    ARRAY_FLAGS_HALF,
    ARRAY_NDIM_HALF,
    ARRAY_SHAPE,
    BUFFERS,
    DONE,
    ENTRY_API,
    ENTRY_ARENA_BUFFERS,
    ENTRY_ARENA_COUNT,
    ENTRY_ARENAS,
    ENTRY_ARGUMENT_RECORDS,
    ENTRY_ARGUMENTS,
    ENTRY_CLEAN_UP,
    ENTRY_DRIVER,
    ENTRY_FLAG,
    ENTRY_FRAME,
    ENTRY_OFFERED_FRAME,
    ENTRY_POOL,
    ENTRY_RELEASES_GIL,
    ENTRY_ROUTE,
    ENTRY_SUBTYPE,
    ENTRY_TABLE,
    ENTRY_TYPE,
    ENTRY_WRITTEN,
    EXCEPTION,
    FLAG_ADDRESS,
    FLAG_DEPTH,
    INTERRUPT,
    INTERRUPTED,
    NEXT_FRAME,
    OBJECT_TYPE,
    OK,
    POOL_LIMIT,
    POOL_WORKERS,
    RAISED,
    RECORD_BUFFER,
    RECORD_BYTES,
    RECORD_DESCR,
    RECORD_FLAGS,
    RECORD_NDIM,
    RECORD_SHAPE,
    RECORD_WORDS,
    RECORD_WRITTEN,
    ROUTE_ARGUMENTS,
    ROUTE_CAPTURE_COUNT,
    ROUTE_LEAVES,
    ROUTE_MOST,
    STATUS,
    WORD,
)
from numhlo.backend.runtime.native_code.listening import listen, listen_later, stop_listening
from numhlo.backend.runtime.native_code.results import make_results
from numhlo.backend.runtime.native_code.route import find_leaves, nothing_changed, read_scalars
from numhlo.backend.vector_math.jitable import jitable

LOW_HALF = 0xFFFFFFFF


@jitable
def array_fits(block, array, record):
    """Return whether an object is an array of the type, element type, shape and flags that a record says."""
    kind = load_i64(array, OBJECT_TYPE)
    if kind != load_i64(block, ENTRY_TYPE) and kind != load_i64(block, ENTRY_SUBTYPE):
        return False
    ndim = load_i64(record, RECORD_NDIM)
    flags = load_i64(record, RECORD_FLAGS)
    fits = (
        load_i64(array, ARRAY_DESCR) == load_i64(record, RECORD_DESCR)
        and load_i32(array, ARRAY_NDIM_HALF) == ndim
        and (load_i32(array, ARRAY_FLAGS_HALF) & flags) == flags
    )
    if fits:
        expected = load_i64(record, RECORD_SHAPE)
        shape = load_i64(array, ARRAY_SHAPE)
        for axis in range(ndim):
            if load_i64(shape, axis) != load_i64(expected, axis):
                fits = False
    return fits


@jitable
def place_arguments(block, buffers, arguments, places, count):
    """Put the arguments' addresses into the frame's table; return whether they are what the program takes."""
    record = load_i64(block, ENTRY_ARGUMENT_RECORDS)
    for k in range(count):
        place = load_i64(places, k) if places != 0 else 0
        if place == 0:
            array = load_i64(arguments, k)
            if not array_fits(block, array, record):
                return False
            place = load_i64(array, ARRAY_DATA)
        store_i64(buffers, load_i64(record, RECORD_BUFFER), place)
        record += RECORD_WORDS * WORD
    return True


@jitable
def shares_memory(record, buffers, count, written):
    """Return whether the memory of one argument has a byte in common with that of another."""
    own = record + written * RECORD_WORDS * WORD
    size, start = load_i64(own, RECORD_BYTES), load_i64(buffers, load_i64(own, RECORD_BUFFER))
    shares = False
    for k in range(count):
        other = load_i64(buffers, load_i64(record, RECORD_BUFFER))
        if k != written and start < other + load_i64(record, RECORD_BYTES) and other < start + size:
            shares = True
        record += RECORD_WORDS * WORD
    return shares


@jitable
def may_write(block, buffers, count):
    """Return whether the arguments that the program writes into share no memory with others."""
    record = load_i64(block, ENTRY_ARGUMENT_RECORDS)
    for k in range(count):
        written = load_i64(record + k * RECORD_WORDS * WORD, RECORD_WRITTEN)
        if written != 0 and shares_memory(record, buffers, count, k):
            return False
    return True


@jitable
def run(block, frame, buffers, step):
    """Run the program from a step on; return where it stopped."""
    return call_function(load_i64(block, ENTRY_DRIVER), frame, buffers, load_i64(block, ENTRY_TABLE), step, 0)


@jitable
def run_without_gil(block, api, frame, buffers, step):
    """Run the program while other Python threads do as they like."""
    state = call_function(load_i64(api, API_SAVE_THREAD))
    stopped = run(block, frame, buffers, step)
    call_function(load_i64(api, API_RESTORE_THREAD), state)
    return stopped


@jitable
def run_listening(block, api, frame, buffers, step):
    """Run the program from a step on until it ends or a signal arrives; return where it stopped."""
    flag = load_i64(block, ENTRY_FLAG)
    at_once = load_i64(block, ENTRY_POOL) != 0 or load_i64(block, ENTRY_RELEASES_GIL) != 0
    if step == 0 and not at_once and load_i64(flag, FLAG_DEPTH) == 0:
        listen_later(api, flag, frame)
    else:
        listen(api, flag, frame)
    stopped = run_without_gil(block, api, frame, buffers, step)
    if load_i64(frame, INTERRUPT) == load_i64(flag, FLAG_ADDRESS):
        stop_listening(api, flag)
    return stopped


@jitable
def run_interruptibly(block, api, frame, buffers):
    """Run a program with loops; where a signal arrives, let Python's handlers run, and go on unless one raises."""
    step = run_listening(block, api, frame, buffers, 0)
    while step != DONE and load_i64(frame, STATUS) == INTERRUPTED:
        if call_function(load_i64(api, API_CHECK_SIGNALS)) & LOW_HALF != 0:
            store_i64(frame, STATUS, RAISED)
        else:
            store_i64(frame, STATUS, OK)
            step = run_listening(block, api, frame, buffers, step)
    return step


@jitable
def raise_kept(api, frame):
    """Set the exception that a signal handler raised while the program ran."""
    kind, value, trace = load_i64(frame, EXCEPTION), load_i64(frame, EXCEPTION + 1), load_i64(frame, EXCEPTION + 2)
    store_i64(frame, EXCEPTION, 0)
    call_function(load_i64(api, API_RESTORE_ERROR), kind, value, trace)


@jitable
def run_program(block, api, frame, buffers):
    """Run the program; return 0, or the status of its failure, after which nothing is held."""
    if load_i64(block, ENTRY_FLAG) != 0:
        step = run_interruptibly(block, api, frame, buffers)
    elif load_i64(block, ENTRY_RELEASES_GIL) != 0:
        step = run_without_gil(block, api, frame, buffers, 0)
    else:
        step = run(block, frame, buffers, 0)
    status = OK + 0
    if step != DONE:
        status = load_i64(frame, STATUS)
        store_i64(frame, STATUS, OK)
        run(block, frame, buffers, load_i64(block, ENTRY_CLEAN_UP))
        if load_i64(frame, EXCEPTION) != 0:
            raise_kept(api, frame)
    return status


@jitable
def lacks_threads(block):
    """Return whether the program wants the pool's threads and there are none: Python starts them, also after a fork."""
    pool = load_i64(block, ENTRY_POOL)
    return pool != 0 and load_i64(pool, POOL_WORKERS) == 0 and load_i64(pool, POOL_LIMIT) > 1


@jitable
def take(lists, free, offered):
    """Return the first of a list of free things, else the one that Python offers; 0 if there is none."""
    found = load_i64(lists, free)
    if found == 0:
        found = load_i64(lists, offered)
        store_i64(lists, offered, 0)
    return found


@jitable
def take_frame(block):
    """Return a context that no call uses, or 0."""
    frame = take(block, ENTRY_FRAME, ENTRY_OFFERED_FRAME)
    if frame != 0:
        store_i64(block, ENTRY_FRAME, load_i64(frame, NEXT_FRAME))
    return frame


@jitable
def give_frame_back(block, frame):
    """Let other calls use a context."""
    store_i64(frame, NEXT_FRAME, load_i64(block, ENTRY_FRAME))
    store_i64(block, ENTRY_FRAME, frame)


@jitable
def put_into_arena(block, frame, base):
    """Put the addresses of the buffers in the arena into the frame's table, if they aren't there."""
    if load_i64(frame, ARENA) != base:
        store_i64(frame, ARENA, base)
        buffers = load_i64(frame, BUFFERS)
        pairs = load_i64(block, ENTRY_ARENA_BUFFERS)
        for k in range(load_i64(block, ENTRY_ARENA_COUNT)):
            store_i64(buffers, load_i64(pairs, 2 * k), base + load_i64(pairs, 2 * k + 1))


@jitable
def decline(api):
    """Return None: Python is to make the call."""
    none = load_i64(api, API_NONE)
    call_function(load_i64(api, API_INCREF), none)
    return none


@jitable
def call_on(block, api, frame, arguments, places, count):
    """Return what the entry returns, all on one frame; 0 with an exception set."""
    buffers = load_i64(frame, BUFFERS)
    fit = place_arguments(block, buffers, arguments, places, count)
    if fit and load_i64(block, ENTRY_WRITTEN) != 0:
        fit = may_write(block, buffers, count)
    if not fit:
        return decline(api)
    made = make_results(block, api, buffers)
    if made == 0:
        return 0
    status = run_program(block, api, frame, buffers)
    if status == OK:
        return made
    call_function(load_i64(api, API_DECREF), made)
    if status == RAISED:
        return 0
    return call_function(load_i64(api, API_FROM_INTEGER), status)


@jitable
def call_in_arena(block, api, frame, arguments, places, count):
    """Return what the entry returns, with an arena of the size that the program needs."""
    free = load_i64(block, ENTRY_ARENAS)
    if free == 0:
        return call_on(block, api, frame, arguments, places, count)
    arena = take(free, ARENAS_FREE, ARENAS_OFFERED)
    if arena == 0:
        return decline(api)
    store_i64(free, ARENAS_FREE, load_i64(arena, ARENA_NEXT))
    put_into_arena(block, frame, arena + ARENA_HEADER)
    outcome = call_on(block, api, frame, arguments, places, count)
    store_i64(arena, ARENA_NEXT, load_i64(free, ARENAS_FREE))
    store_i64(free, ARENAS_FREE, arena)
    return outcome


@jitable
def call_free(block, api, arguments, places, count):
    """Return what the entry returns, on a frame that no other call uses.

    The frame and the arena are taken out of their lists meanwhile: other threads, signal handlers, and finalizers that
    run while results are made may call the same executable.
    """
    if count != load_i64(block, ENTRY_ARGUMENTS) or lacks_threads(block):
        return decline(api)
    frame = take_frame(block)
    if frame == 0:
        return decline(api)
    outcome = call_in_arena(block, api, frame, arguments, places, count)
    give_frame_back(block, frame)
    return outcome


def entry(ctx, bufs, dims, lo, hi):
    """Return a tuple of result arrays, None if the arguments are not those expected, or the status of a failure."""
    words = load_i64(ctx, ARRAY_DATA)
    block = load_i64(words, ENTRY_ROUTE)
    arguments, places, count = bufs, 0, dims
    if block == 0:
        block = words
    else:
        api = load_i64(block, ENTRY_API)
        arguments = integer_address(stack_array(ROUTE_MOST, WORD))
        places = integer_address(stack_array(ROUTE_MOST, WORD))
        fits = dims == load_i64(words, ROUTE_ARGUMENTS) and nothing_changed(words, api)
        if not fits or not find_leaves(words, api, bufs, arguments) or not read_scalars(words, api, arguments, places):
            return decline(api)
        count = load_i64(words, ROUTE_LEAVES) + load_i64(words, ROUTE_CAPTURE_COUNT)
    return call_free(block, load_i64(block, ENTRY_API), arguments, places, count)
