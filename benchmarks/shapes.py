"""Many shapes of one function: `python -m benchmarks.shapes`. Fails where numhlo breaks what it promises of them.

A new shape compiles no kernel, keeps the processor busy for at most 2 ms and 50 µs an op beyond a later call, and 500
of them take less than 10 MB. Measured on a function of a few ops, on one of some thirty, on small updates, and on a
loop.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

import numhlo
from benchmarks.environment import memory, pin_threads, run_child
from benchmarks.startup import kernel_compiles
from benchmarks.timing import seconds_of
from numhlo.lowering.ir import Function

SHAPES = 500
MOST_MEGABYTES = 10.0
BASE_SECONDS, SECONDS_PER_OP = 2e-3, 50e-6
CHILD_SECONDS = 300.0
SETTLING = (0, 1, 2, 150, 300, 600)
"""Shapes that come before counting: the first of each kind of extent (how long a reduction is) may ask for kernels."""


def forward(x: Any, w: Any, b: Any) -> Any:
    """Return a layer of a network with its normalization: products, reductions, elementwise maps."""
    y = np.tanh(x @ w + b)
    y = y - y.mean(axis=0)
    y = y / np.sqrt((y * y).mean(axis=0) + 1e-5)
    return np.exp(y - y.max(axis=1, keepdims=True)).sum(axis=1)


def standardize(x: Any, w: Any, b: Any) -> Any:
    """Return a few ops of all three arguments."""
    return (x - x.mean()) @ w + b


def updated(x: Any, w: Any, b: Any) -> Any:
    """Return an array with rows, a column and a rectangle of it renewed one after the other."""
    y = x @ w + b
    for row in range(6):
        y[row] = y[row + 1] * 2.0
    y[1:-1] = 0.5 * (y[2:] + y[:-2])
    y[:, 0] = 0.0
    y[2:9, 1:5] += 1.0
    return y


def relaxed(x: Any, w: Any, b: Any) -> Any:
    """Return an array, after rounds of a loop that updates its inside, over how far it still moved."""

    def step(_: Any, state: Any) -> Any:
        y, _ = state
        moved = 0.25 * (y[2:, 1:-1] + y[:-2, 1:-1] + y[1:-1, 2:] + y[1:-1, :-2]) - y[1:-1, 1:-1]
        y[1:-1, 1:-1] += 0.9 * moved
        return y, np.abs(moved).max()

    y, moved = numhlo.lax.fori_loop(0, 4, step, (x @ w + b, 0.0))
    return y / moved


FUNCTIONS = {"few ops": standardize, "a layer": forward, "small updates": updated, "a loop": relaxed}


def arguments(number: int) -> tuple[np.ndarray, ...]:
    """Return arrays of the shapes with a number, all different, none of them one."""
    rng = np.random.default_rng(number)
    rows, inner, columns = 20 + number, 16 + number % 37, 24 + number % 23
    return rng.normal(size=(rows, inner)), rng.normal(size=(inner, columns)), rng.normal(size=columns)


class Calls(NamedTuple):
    """Seconds that calls on one shape took.

    Attributes
    ----------
    first, later : float
        By the clock.
    busy : float
        Of the processor, beyond what a later call takes: other programs on the machine don't lengthen it.
    """

    first: float
    later: float
    busy: float


def first_and_later(function: Any, plain: Any, shapes: Iterable[int]) -> Iterator[Calls]:
    """Yield the seconds of calls for each shape, results checked."""
    for number in shapes:
        given = arguments(number)
        busy = time.process_time()
        first = seconds_of(lambda given=given: function(*given))
        busy = time.process_time() - busy
        np.testing.assert_allclose(function(*given), plain(*given), rtol=1e-10, atol=1e-10)
        later = statistics.median(seconds_of(lambda given=given: function(*given)) for _ in range(3))
        yield Calls(first, later, busy - later)


def measure(plain: Any, shapes: int) -> dict[str, float]:
    """Return figures of a function for a number of shapes: seconds, MB and counts."""
    function = numhlo.jit(plain)
    for _ in first_and_later(function, plain, SETTLING):
        function.wait()
    ops = count_ops(function.trace(*arguments(0)).module.functions)
    gc.collect()
    held, compiles = memory("VmRSS"), kernel_compiles()
    found = list(first_and_later(function, plain, [k for k in range(shapes + len(SETTLING)) if k not in SETTLING]))
    gc.collect()
    return {
        "shapes": shapes,
        "ops": ops,
        "kernel compiles": kernel_compiles() - compiles,
        "new shape": statistics.median(calls.first - calls.later for calls in found),
        "new shape, processor": statistics.median(calls.busy for calls in found),
        "new shape, allowed": BASE_SECONDS + SECONDS_PER_OP * ops,
        "megabytes grown": memory("VmRSS") - held,
        "later call": statistics.median(calls.later for calls in found),
    }


def count_ops(functions: Iterable[Any]) -> int:
    """Return how many ops functions have, those inside loops and in functions that they refer to included."""
    waiting, seen = list(functions), set()
    ops = 0
    while waiting:
        function = waiting.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        for op in function.body.walk():
            ops += 1
            parts = [*op.attributes.values(), *op.attributes.get("composite_attributes", {}).values()]
            waiting += [part for part in parts if isinstance(part, Function)]
    return ops


def broken_promises(found: dict[str, float]) -> list[str]:
    """Return what the figures show to be broken."""
    promises = {
        "no kernel is compiled for a new shape": found["kernel compiles"] == 0,
        "a new shape takes 2 ms and 50 µs an op": found["new shape, processor"] <= found["new shape, allowed"],
        "500 shapes take less than 10 MB": not found["megabytes grown"] > MOST_MEGABYTES * found["shapes"] / SHAPES,
    }
    return [promise for promise, kept in promises.items() if not kept]


def main() -> int:
    """Print the figures, measured in processes of their own; return 1 where a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shapes", description=__doc__)
    parser.add_argument("--shapes", type=int, default=SHAPES)
    parser.add_argument("--child", choices=FUNCTIONS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(FUNCTIONS[options.child], options.shapes)))
        return 0
    pin_threads()
    return max([report(name, options.shapes) for name in FUNCTIONS])


def report(name: str, shapes: int) -> int:
    """Print one function's figures; return 1 where a promise is broken."""
    print(f"{name}:")
    with tempfile.TemporaryDirectory() as cache:
        outcome = run_child("benchmarks.shapes", ["--child", name, "--shapes", str(shapes)], cache, CHILD_SECONDS)
    if outcome.failure:
        print(outcome.failure)
        return 1
    found = json.loads(outcome.output)
    for figure, value in found.items():
        shown = f"{value * 1e3:.3f} ms" if figure.startswith(("new", "later")) else f"{value:.6g}"
        print(f"  {figure:20} {shown}")
    broken = broken_promises(found)
    print("\n".join(f"  BROKEN: {promise}" for promise in broken) or "  all promises kept")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
