"""Interleaved timing: A B C D, C A D B, ... so that a machine that slows down slows down everybody.

A round runs a batch of calls of each function, after one call that is not timed and brings back its threads and caches.
The ratio of two functions is the median of the ratios of rounds, which drifts less than the ratio of medians.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

BATCH_SECONDS = 0.002
"""A batch lasts at least this long: far more than the clock's resolution."""

PAUSE_SECONDS = 0.0005
"""Between functions, so that idle worker threads of the one before stop spinning."""

FEWEST, MOST = 5, 40
"""Rounds."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one call, by round.

    Attributes
    ----------
    rounds : tuple of float
    """

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Return the median round."""
        return statistics.median(self.rounds)

    @property
    def best(self) -> float:
        """Return the fastest round."""
        return min(self.rounds)

    @property
    def spread(self) -> float:
        """Return the distance of the quartiles, relative to the median: how noisy the rounds are."""
        first, _, third = statistics.quantiles(self.rounds, n=4)
        return (third - first) / self.median

    def ratio(self, other: Timing) -> float:
        """Return how many times longer ``other`` takes, as the median over rounds."""
        return statistics.median(b / a for a, b in zip(self.rounds, other.rounds, strict=True))


def seconds_of(call: Callable[[], Any]) -> float:
    """Return the seconds that one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def batch_of(call: Callable[[], Any]) -> int:
    """Return how many calls make a batch long enough to be timed."""
    return max(1, round(BATCH_SECONDS / min(seconds_of(call) for _ in range(3))))


def _time_batch(call: Callable[[], Any], count: int) -> float:
    call()
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def orders(names: Iterable[str]) -> Iterator[list[str]]:
    """Yield one order after the other, so that nobody always runs after the same one, whose idle threads may spin."""
    order, chance = list(names), random.Random(0)
    while True:
        yield list(order)
        chance.shuffle(order)


def interleave(calls: Mapping[str, Callable[[], Any]], budget: float) -> dict[str, Timing]:
    """Time functions against each other.

    Parameters
    ----------
    calls : mapping from str to callable
    budget : float
        Seconds for all of them together; at least `FEWEST` rounds are run whatever they take.
    """
    batches = {name: batch_of(call) for name, call in calls.items()}
    found: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + budget
    gc.collect()
    gc.disable()
    try:
        for round, order in enumerate(orders(calls)):
            if round >= FEWEST and (time.perf_counter() >= end or round >= MOST):
                break
            for name in order:
                time.sleep(PAUSE_SECONDS)
                found[name].append(_time_batch(calls[name], batches[name]))
    finally:
        gc.enable()
    return {name: Timing(tuple(rounds)) for name, rounds in found.items()}
