"""Whether a launch is worth other threads: found by trying, launch by launch. Kernel source.

What it takes to wake a thread depends on the machine (2 µs to 50 µs on virtual ones) and on what else runs there, and
what a launch takes is known roughly before it runs. So short launches are tried both ways, and go the faster one until
the next trial: two shared runs, then two alone, and the second of each is timed, as the first one brings threads and
caches to where they stay. Each trial is a vote, so that no single interruption decides. Trials become rarer while they
agree. Results don't depend on the way.

A launch's record holds how it stands. Several calls may write it at once, and a lost vote is no harm.
"""

from numhlo.backend.primitives import call_function, load_i64, store_i64
from numhlo.backend.primitives.layout import (
    CLOCK,
    CLOCK_NANOSECONDS,
    CLOCK_SECONDS,
    LAUNCH_PAUSE,
    LAUNCH_SCORE,
    LAUNCH_SHARED_TIME,
    LAUNCH_TURN,
    LIBRARY,
    POOL,
    POOL_CLOCK,
    WORD,
)
from numhlo.backend.vector_math.jitable import jitable

SETTLED = 3  # votes
LEAST_PAUSE, MOST_PAUSE = 64, 4096  # launches between trials
LONG, LONG_PAUSE = 500_000, 512  # nanoseconds that are long beside waking a thread; launches before such a one is tried
SECOND_SHARED, FIRST_ALONE, SECOND_ALONE = -1, -2, -3


@jitable
def nanoseconds_now(ctx):
    """Return what a clock says that only goes forward."""
    clock = load_i64(load_i64(ctx, POOL), POOL_CLOCK)
    call_function(load_i64(load_i64(ctx, LIBRARY), CLOCK), clock, ctx + CLOCK_SECONDS * WORD)
    return load_i64(ctx, CLOCK_SECONDS) * 1_000_000_000 + load_i64(ctx, CLOCK_NANOSECONDS)


@jitable
def takes_turn_alone(record):
    """Return whether this thread runs the launch alone this time."""
    turn = load_i64(record, LAUNCH_TURN)
    return turn <= FIRST_ALONE or (turn > 0 and load_i64(record, LAUNCH_SCORE) < 0)


@jitable
def time_of_trial(ctx, record):
    """Return what time it is if this run is timed, else 0."""
    turn = load_i64(record, LAUNCH_TURN)
    return nanoseconds_now(ctx) if turn == SECOND_SHARED or turn <= SECOND_ALONE else 0


@jitable
def note_shared(ctx, record, begin):
    """Go to the next turn after a shared run, which began at a time or is not timed."""
    turn = load_i64(record, LAUNCH_TURN) - 1
    if begin != 0:
        time = nanoseconds_now(ctx) - begin
        store_i64(record, LAUNCH_SHARED_TIME, time)
        if time > LONG and load_i64(record, LAUNCH_PAUSE) == 0:
            store_i64(record, LAUNCH_PAUSE, LONG_PAUSE)
            turn = LONG_PAUSE
    store_i64(record, LAUNCH_TURN, turn)


@jitable
def note_alone(ctx, record, begin):
    """Go to the next turn after a run alone; a timed one ends a trial."""
    turn = load_i64(record, LAUNCH_TURN) - 1
    if begin != 0:
        turn = vote(record, load_i64(record, LAUNCH_SHARED_TIME), nanoseconds_now(ctx) - begin)
    store_i64(record, LAUNCH_TURN, turn)


@jitable
def vote(record, shared, alone):
    """Count a trial's two times and return how many launches go before the next one.

    To share takes a gain of an eighth, as it has costs elsewhere: what follows finds its data in other threads' caches.
    A gain of a quarter settles it: it can't come from threads that were slow.
    """
    before = load_i64(record, LAUNCH_SCORE)
    score = max(before - 1, -SETTLED)
    if 8 * shared < 7 * alone:
        score = min(before + 1, SETTLED)
    if 4 * shared < 3 * alone and before >= 0:
        score = SETTLED
    pause = LEAST_PAUSE
    if score == before:
        pause = min(max(2 * load_i64(record, LAUNCH_PAUSE), LEAST_PAUSE), MOST_PAUSE)
    store_i64(record, LAUNCH_SCORE, score)
    store_i64(record, LAUNCH_PAUSE, pause)
    return pause if score in (-SETTLED, SETTLED) else 0
