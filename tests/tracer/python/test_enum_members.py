"""Members of `IntEnum` and `IntFlag`, and numbers of other classes that derive from Python's, are numbers everywhere."""

import enum
import operator

import numpy as np
import pytest

import numhlo


class Mode(enum.IntEnum):
    IDLE = 0
    RUN = 1
    STOP = 2


class Bits(enum.IntFlag):
    LOW = 1
    HIGH = 2


class Meters(float):
    """A number of the user's own."""


NUMBERS = np.arange(4)
NARROW = np.arange(4, dtype=np.int8)
FLOATS = np.arange(4, dtype=np.float32)

USES = {
    "operators": (lambda x: (x + Mode.RUN, Mode.STOP - x, x**Mode.STOP, x % Mode.STOP), NUMBERS),
    "comparisons": (lambda x: (x == Mode.STOP, x < Mode.STOP, operator.le(Mode.STOP, x)), NUMBERS),
    "flags": (lambda x: (x & Bits.LOW | Bits.HIGH, x & (Bits.LOW | Bits.HIGH)), NUMBERS),
    "int8": (lambda x: (x * Mode.STOP, x == Mode.STOP, np.where(x > 1, x, Mode.STOP)), NARROW),
    "floats": (lambda x: (x * Meters(2.5), np.where(x > 1, Meters(2.5), x), np.maximum(x, Meters(1.5))), FLOATS),
    "new arrays": (lambda x: (np.full(3, Mode.STOP) + x[0], np.full_like(x, Mode.RUN) + x), NARROW),
    "arrays of members": (
        lambda x: (np.array([Mode.RUN, Mode.STOP]) + x[0], np.isin(x, [Mode.IDLE, Mode.STOP])),
        NUMBERS,
    ),
    "choices": (
        lambda x: np.select([x == Mode.IDLE, x == Mode.RUN], [Mode.STOP, Mode.RUN], default=Mode.IDLE),
        NUMBERS,
    ),
    "bounds": (lambda x: (np.clip(x, Mode.RUN, Mode.STOP), max(x[0], Mode.RUN), min(x[2], Mode.RUN)), NUMBERS),
    "indices": (lambda x: (x[Mode.STOP], x[Mode.RUN :], np.stack([x, x]).sum(axis=Mode.RUN)), NUMBERS),
    "shapes": (lambda x: np.zeros((Mode.STOP, Mode.RUN)) + x[:1], NUMBERS),
    "argument": (lambda x, mode: (x == mode, mode + 1, np.full(2, mode), x**mode), NUMBERS, Mode.STOP),
    "narrow argument": (lambda x, mode: x * mode, NARROW, Mode.STOP),
    "float argument": (lambda x, length: x * length, FLOATS, Meters(2.0)),
    "list argument": (lambda x, modes: np.array(modes) + x[:2], NUMBERS, [Mode.IDLE, Mode.STOP]),
}


def same(found, expected):
    """Compare values and dtypes of one result, or of a tuple of them."""
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for one, other in pairs:
        np.testing.assert_array_equal(one, other, strict=not np.isscalar(other))


@pytest.mark.parametrize("name", USES)
def test_members_are_numbers(name):
    function, *arguments = USES[name]
    compiled = numhlo.jit(function)
    for _ in range(3):
        same(compiled(*arguments), function(*arguments))


def stored(x):
    """Write members into an array, at indices that are members."""
    out = np.zeros(4, np.int8)
    out[Mode.RUN] = Mode.STOP
    out[2:] = Mode.RUN
    return out + x


def counted(x):
    """Loop over a class's members."""
    out = np.zeros(len(Mode), np.int64)
    for mode in Mode:
        out[mode] = np.count_nonzero(x == mode)
    return out


def last_mode(events):
    """Hold a member as the state of a loop and of branches."""
    mode, running = Mode.IDLE, 0
    for event in events:
        if mode == Mode.IDLE:
            if event > 0:
                mode = Mode.RUN
        elif event < 0:
            mode = Mode.STOP
        running += mode == Mode.RUN
    return mode, running


def stepped(x, mode):
    """Change a member that is an argument in a while loop."""
    n = 0
    while mode != Mode.STOP:
        mode = Mode.STOP if x[n] > 1 else Mode.RUN
        n += 1
    return mode, n


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (stored, [(NUMBERS,), (NUMBERS + 1,)]),
        (counted, [(NUMBERS,), (np.array([0, 1, 1, 2]),)]),
        (last_mode, [(np.array([0, 1, 0, 1, -1]),), (np.array([0, 0, 0, 0, 5]),)]),
        (stepped, [(NUMBERS, Mode.IDLE), (NUMBERS, Mode.STOP)]),
    ],
)
def test_members_are_states(function, calls):
    compiled = numhlo.jit(function, autograph=True)
    for arguments in calls * 2:
        same(compiled(*arguments), function(*arguments))


def test_members_are_one_signature():
    compiled = numhlo.jit(lambda x, mode: x * mode)
    for mode in Mode:
        np.testing.assert_array_equal(compiled(NUMBERS, mode), NUMBERS * mode)
    assert compiled.cache_info().misses == 1


def test_members_under_transformations():
    batched = numhlo.vmap(lambda x, mode: x * mode + Mode.RUN, in_axes=(0, None))
    np.testing.assert_array_equal(batched(NUMBERS, Mode.STOP), NUMBERS * 2 + 1)
    slope = numhlo.grad(lambda x, mode: (x * mode * Meters(2.0)).sum())
    np.testing.assert_array_equal(slope(FLOATS, Mode.STOP), np.full(4, 4.0, np.float32))


def test_a_member_as_static_argument_keeps_its_name():
    compiled = numhlo.jit(lambda x, mode: x * 2 if mode is Mode.RUN else x, static_argnames="mode")
    np.testing.assert_array_equal(compiled(NUMBERS, mode=Mode.RUN), NUMBERS * 2)
    np.testing.assert_array_equal(compiled(NUMBERS, mode=Mode.STOP), NUMBERS)
