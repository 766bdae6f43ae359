"""What a long loop in native code calls when a signal has arrived: Python's handlers run, in the middle of the kernel.

Kernel source. Only the main thread runs handlers; others wake it if it sleeps until they are done. Where no handler
raises, everything goes on where it was. Where one does, the exception is kept in the context, whose status ends all
loops of the call.
"""

from numhlo.backend.primitives import call_function, load_acquire, load_i64, store_i64, store_release
from numhlo.backend.primitives.layout import (
    API_CHECK_SIGNALS,
    API_FETCH_ERROR,
    API_HOLD_GIL,
    API_RELEASE_GIL,
    API_THREAD_IDENT,
    ATTEND_LOOK,
    CONDITION_BROADCAST,
    EXCEPTION,
    FLAG_ADDRESS,
    FLAG_MAIN_THREAD,
    INTERRUPT_BLOCK,
    JOB_STATE,
    LIBRARY,
    MUTEX_LOCK,
    MUTEX_UNLOCK,
    OK,
    OWNER_CONDITION,
    POOL,
    POOL_MODE,
    POOL_MUTEX,
    PYTHON_API,
    RAISED,
    STATUS,
    SYSCALL,
    WORD,
)
from numhlo.backend.runtime.native_code.listening import counts_look, hand_on, is_early, listen, obey
from numhlo.backend.vector_math.jitable import jitable

LOW_HALF = 0xFFFFFFFF
WAKE_PRIVATE = 129


@jitable
def wake_owner(library, block):
    """Wake the thread that owns the pool, if it sleeps."""
    futex = load_i64(block, POOL_MODE)
    if futex != 0:
        call_function(load_i64(library, SYSCALL), futex, block + JOB_STATE * WORD, WAKE_PRIVATE, 1, 0, 0, 0)
    else:
        mutex = block + POOL_MUTEX * WORD
        call_function(load_i64(library, MUTEX_LOCK), mutex)
        call_function(load_i64(library, CONDITION_BROADCAST), block + OWNER_CONDITION * WORD)
        call_function(load_i64(library, MUTEX_UNLOCK), mutex)


@jitable
def look(ctx, library, api, flag):
    """Let Python attend to what arrived; return whether the call is to end."""
    early = is_early(ctx, flag)
    if early and counts_look(ctx):
        return 0
    if load_acquire(ctx, STATUS) == OK:
        if call_function(load_i64(api, API_THREAD_IDENT)) != load_i64(flag, FLAG_MAIN_THREAD):
            wake_owner(library, load_i64(ctx, POOL))
        else:
            held = call_function(load_i64(api, API_HOLD_GIL)) & LOW_HALF
            if early:
                listen(api, flag, ctx)
            else:
                hand_on(api, flag)
            if call_function(load_i64(api, API_CHECK_SIGNALS)) & LOW_HALF != 0:
                kept = ctx + EXCEPTION * WORD
                call_function(load_i64(api, API_FETCH_ERROR), kept, kept + WORD, kept + 2 * WORD)
                store_i64(load_i64(flag, FLAG_ADDRESS), 0, 1)  # the other threads look up, too, and see the status
                store_release(ctx, STATUS, RAISED)
            call_function(load_i64(api, API_RELEASE_GIL), held)
    return 1 if load_acquire(ctx, STATUS) != OK else 0


def attend(ctx, bufs, dims, lo, hi):
    """Do what ``lo`` says: look, and return whether the call is to end, or, for Python: listen, lower the flag, stop.

    Python can't do the latter itself: a signal's handler that raises in between would leave them half done.
    """
    library = load_i64(ctx, LIBRARY)
    api = load_i64(library, PYTHON_API)
    flag = load_i64(library, INTERRUPT_BLOCK)
    if lo == ATTEND_LOOK:
        return look(ctx, library, api, flag)
    held = call_function(load_i64(api, API_HOLD_GIL)) & LOW_HALF
    obey(api, flag, ctx, lo)
    call_function(load_i64(api, API_RELEASE_GIL), held)
    return 0
