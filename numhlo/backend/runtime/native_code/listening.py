"""Who hears of signals while a call runs: our file from when its loops have gone on for a while until it ends.

Kernel source. Setting the file that CPython's signal handler writes to costs as much as a loop of a thousand rounds. So
a call begins with a word that is never 0 in the flag's place: loops that look call `attend`, which listens, and asks
Python what arrived before, once they have looked a few times. Calls whose other threads look, too, or that may do much
between two looks, listen at once.
"""

from numhlo.backend.primitives import call_function, load_i64, store_i64
from numhlo.backend.primitives.layout import (
    API_AS_INTEGER,
    API_CALL,
    API_CLEAR_ERROR,
    API_DECREF,
    API_SEEK,
    API_SET_WAKEUP,
    API_THREAD_IDENT,
    API_WRITE,
    ATTEND_LISTEN,
    ATTEND_LOWER,
    FLAG_ADDRESS,
    FLAG_BEFORE,
    FLAG_BEFORE_OBJECT,
    FLAG_DEPTH,
    FLAG_EARLY,
    FLAG_FILE,
    FLAG_FILE_OBJECT,
    FLAG_MAIN_THREAD,
    FLAG_NEVER,
    INTERRUPT,
    LOOKS,
    WORD,
)
from numhlo.backend.vector_math.jitable import jitable

FROM_START, FROM_HERE = 0, 1
MOST_SIGNALS = 4096
FEW_LOOKS = 16
"""Looks before a call listens: some 50,000 rounds of loops."""


@jitable
def begin_listening(api, flag):
    """Make our file the one that signals are written to; return whether that worked."""
    set_wakeup = load_i64(api, API_SET_WAKEUP)
    before = call_function(load_i64(api, API_CALL), set_wakeup, load_i64(flag, FLAG_FILE_OBJECT))
    if before == 0:
        call_function(load_i64(api, API_CLEAR_ERROR))
    else:
        store_i64(flag, FLAG_BEFORE_OBJECT, before)
        store_i64(flag, FLAG_BEFORE, call_function(load_i64(api, API_AS_INTEGER), before))
    return before != 0


@jitable
def listen(api, flag, frame):
    """Let signals set the flag that the frame's loops look at; return whether this thread is the one that gets them."""
    place = load_i64(flag, FLAG_ADDRESS)
    main = call_function(load_i64(api, API_THREAD_IDENT)) == load_i64(flag, FLAG_MAIN_THREAD)
    depth = load_i64(flag, FLAG_DEPTH)
    listens = main and load_i64(flag, FLAG_FILE) >= 0
    if listens and depth == 0:
        listens = begin_listening(api, flag)
    if listens:
        store_i64(flag, FLAG_DEPTH, depth + 1)
    else:
        place = flag + FLAG_NEVER * WORD
    store_i64(frame, INTERRUPT, place)
    return listens


@jitable
def listen_later(api, flag, frame):
    """Let the frame's loops listen once they have looked a few times: most calls are over before."""
    place = flag + FLAG_NEVER * WORD
    main = call_function(load_i64(api, API_THREAD_IDENT)) == load_i64(flag, FLAG_MAIN_THREAD)
    if main and load_i64(flag, FLAG_FILE) >= 0:
        place = flag + FLAG_EARLY * WORD
    store_i64(frame, LOOKS, 0)
    store_i64(frame, INTERRUPT, place)


@jitable
def is_early(frame, flag):
    """Return whether nobody listens for this call yet."""
    return load_i64(frame, INTERRUPT) == flag + FLAG_EARLY * WORD


@jitable
def counts_look(frame):
    """Count a look for signals; return whether these are still few."""
    looks = load_i64(frame, LOOKS) + 1
    store_i64(frame, LOOKS, looks)
    return looks < FEW_LOOKS


@jitable
def hand_on(api, flag):
    """Set the flag back, and tell whoever listened before what arrived."""
    file = load_i64(flag, FLAG_FILE)
    before = load_i64(flag, FLAG_BEFORE)
    place = load_i64(flag, FLAG_ADDRESS)
    arrived = min(call_function(load_i64(api, API_SEEK), file, 0, FROM_HERE), MOST_SIGNALS)
    if before >= 0 and before != file:
        call_function(load_i64(api, API_WRITE), before, place, arrived)
    call_function(load_i64(api, API_SEEK), file, 0, FROM_START)
    for k in range((arrived + WORD - 1) // WORD):
        store_i64(place, k, 0)


@jitable
def lower_flag(api, flag):
    """Set the flag back, and hand on what arrived to whoever listened before."""
    place = load_i64(flag, FLAG_ADDRESS)
    if load_i64(place, 0) != 0 and load_i64(flag, FLAG_BEFORE) != load_i64(flag, FLAG_FILE):
        hand_on(api, flag)
    store_i64(place, 0, 0)


@jitable
def stop_listening(api, flag):
    """Undo one `listen`."""
    depth = load_i64(flag, FLAG_DEPTH) - 1
    store_i64(flag, FLAG_DEPTH, depth)
    if depth == 0:
        before = load_i64(flag, FLAG_BEFORE_OBJECT)
        ours = call_function(load_i64(api, API_CALL), load_i64(api, API_SET_WAKEUP), before)
        call_function(load_i64(api, API_DECREF), before)
        if ours == 0:
            call_function(load_i64(api, API_CLEAR_ERROR))
        else:
            call_function(load_i64(api, API_DECREF), ours)
        lower_flag(api, flag)


@jitable
def obey(api, flag, frame, order):
    """Listen for a frame's loops, or, if they are listened for, lower the flag, or stop."""
    if order == ATTEND_LISTEN:
        listen(api, flag, frame)
    elif load_i64(frame, INTERRUPT) == load_i64(flag, FLAG_ADDRESS):
        if order == ATTEND_LOWER:
            lower_flag(api, flag)
        else:
            store_i64(frame, INTERRUPT, flag + FLAG_NEVER * WORD)
            stop_listening(api, flag)
