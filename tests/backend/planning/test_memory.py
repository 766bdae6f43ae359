"""Where buffers lie in the arena."""

from itertools import pairwise

import numpy as np
import pytest

from numhlo.backend.planning.memory import Memory
from numhlo.backend.program import Buffer, Place
from numhlo.lowering.ir import TensorType


def floats(count):
    return TensorType((count,), np.dtype(np.float64))


def spans(memory):
    return [(b.offset, b.offset + b.type.nbytes) for b in memory.buffers]


def overlap(a, b):
    return a[0] < b[1] and b[0] < a[1]


def test_what_became_a_result_leaves_no_gap():
    memory = Memory()
    first, second = memory.allocate(floats(1000)), memory.allocate(floats(1000))
    memory.release(first)
    third = memory.allocate(floats(2000))
    memory.buffers[first] = Buffer(floats(1000), Place.RESULT)
    assert memory.place_all() == 3000 * 8
    assert not overlap(spans(memory)[second], spans(memory)[third])


def test_what_is_released_is_used_again():
    memory = Memory()
    for _ in range(5):
        memory.release(memory.allocate(floats(100)))
    assert memory.place_all() == 832  # of lines of 64 bytes


def test_numbers_share_lines():
    memory = Memory()
    for _ in range(10):
        memory.allocate(floats(1))
    memory.allocate(TensorType((), np.dtype(np.complex128)))
    memory.allocate(floats(100))
    assert memory.place_all() == 832 + 10 * 8 + 16
    found = sorted(spans(memory))
    assert all(a[1] <= b[0] for a, b in pairwise(found))
    assert all(start % 8 == 0 for start, _ in found)


def test_what_has_no_elements_has_no_place():
    memory = Memory()
    memory.allocate(floats(0))
    assert memory.place_all() == 0


def test_what_a_loop_keeps_is_apart_from_what_its_rounds_used_before():
    memory = Memory()
    before = memory.allocate(floats(100))
    memory.release(before)
    since = memory.now
    passing = memory.allocate(floats(100))
    memory.release(passing)
    kept = memory.allocate(floats(100), since)
    assert memory.place_all() == 2 * 832
    found = spans(memory)
    assert not overlap(found[kept], found[passing])
    assert overlap(found[kept], found[before])


def test_buffers_that_change_places_are_released_together():
    memory = Memory()
    first, second = memory.allocate(floats(100)), memory.allocate(floats(100))
    memory.tie(first, second)
    memory.release(first)
    third = memory.allocate(floats(100))
    memory.release(second)
    memory.allocate(floats(100))
    assert memory.place_all() == 3 * 832
    assert not overlap(spans(memory)[first], spans(memory)[third])


def test_released_buffers_are_set_apart_from_what_is_alive_and_from_each_other():
    memory = Memory()
    numbers = [memory.allocate(floats(100))]
    memory.release(numbers[0])
    numbers.append(memory.allocate(floats(100)))
    memory.release(numbers[1])
    alive = memory.allocate(floats(100))
    memory.set_apart(numbers)
    memory.place_all()
    found = spans(memory)
    assert not overlap(found[numbers[0]], found[numbers[1]])
    assert not any(overlap(found[alive], found[number]) for number in numbers)


def test_what_is_allocated_apart_overlaps_nothing_else():
    memory = Memory()
    memory.release(memory.allocate(floats(100)))
    with memory.apart():
        memory.release(memory.allocate(floats(50)))
        inner = memory.allocate(floats(50))
    memory.allocate(floats(200))
    memory.place_all()
    found = spans(memory)
    assert not any(overlap(found[inner], span) for number, span in enumerate(found) if number not in (1, inner))
    assert overlap(found[1], found[inner])


@pytest.mark.parametrize("seed", range(20))
def test_buffers_that_are_alive_at_once_do_not_overlap(seed):
    rng, memory = np.random.default_rng(seed), Memory()
    alive, pairs = [], []
    for _ in range(60):
        if alive and rng.random() < 0.4:
            memory.release(alive.pop(rng.integers(len(alive))))
        else:
            number = memory.allocate(floats(int(rng.choice([1, 2, 3, 10, 100, 1000]))))
            pairs += [(number, other) for other in alive]
            alive.append(number)
    size = memory.place_all()
    found = spans(memory)
    assert not any(overlap(found[a], found[b]) for a, b in pairs)
    assert max(end for _, end in found) <= size


def test_buffers_that_change_places_are_reserved_from_the_first_ones_use():
    memory = Memory()
    first = memory.allocate(floats(100))
    passing = memory.allocate(floats(100))
    memory.release(passing)
    second = memory.allocate(floats(100))
    memory.tie(first, second)
    memory.release(first)
    memory.release(second)
    memory.place_all()
    found = spans(memory)
    assert not overlap(found[second], found[passing])  # the first one's value lies there after an exchange
