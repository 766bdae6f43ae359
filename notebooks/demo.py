"""The demonstration: `python -m notebooks.demo` (or `make demo`). Learns from handwritten digits with jitted functions.

Trains a classifier, clusters, finds principal components; checks all of it against scikit-learn, shows what was
traced, what it became and how long it takes, and leaves a picture, StableHLO text and kernels in ``demo_output/``.
Fails where a check does not hold.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.environment import run_child
from benchmarks.report import grid, seconds
from benchmarks.timing import interleave
from notebooks.digits import checks, data, learning, numpy_twins, output, parts

CALLS, SHOWN = 24, 3
"""Calls of the training, `parts.STEPS` gradient steps each; every so many are shown."""
TIMING_SECONDS = 0.6
"""For each part, all libraries together."""
WARM_SECONDS = 60.0


def show(text: str) -> None:
    """Print at once, however the output is buffered."""
    print(text, flush=True)


class Stopwatch:
    """Calls each part's jitted function, and keeps how long the first call and the way to machine code took."""

    def __init__(self) -> None:
        self.first: dict[str, float] = {}
        self.native: dict[str, float] = {}

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a part for the first time."""
        function = getattr(learning, name)
        start = time.perf_counter()
        result = function(*arguments)
        self.first[name] = time.perf_counter() - start
        function.wait()
        self.native[name] = time.perf_counter() - start
        answer, native = seconds(self.first[name]), seconds(self.native[name])
        show(f"  {name}: first answer after {answer}, machine code after {native}")
        return result


def train(watch: Stopwatch, x: np.ndarray, labels: np.ndarray) -> tuple[Any, list[float]]:
    """Return trained parameters and the losses on the way."""
    state = parts.start_of_training(x.shape[1])
    state, loss = watch.call("train", state, x, labels, parts.STEPS)
    losses = [float(loss)]
    for _ in range(CALLS - 1):
        start = time.perf_counter()
        state, loss = learning.train(state, x, labels, parts.STEPS)
        losses.append(float(loss))
        if len(losses) % SHOWN == 0:
            bar = "█" * round(20 * len(losses) / CALLS)
            taken = seconds(time.perf_counter() - start)
            show(f"  {bar:20} {parts.STEPS * len(losses):4} steps, loss {loss:.5f}, the last {parts.STEPS} in {taken}")
    return state[0], losses


def learn(digits: data.Digits, watch: Stopwatch, folder: Path) -> list[checks.Check]:
    """Run every part, draw the picture, and return how the results compare with scikit-learn's."""
    show("\nplain NumPy, jitted as it stands")
    scaled = watch.call("standardize", digits.images)
    show("\nlogistic regression: numhlo.grad inside lax.fori_loop")
    parameters, losses = train(watch, scaled[digits.training], digits.labels[digits.training])
    show("\nk-means: lax.while_loop until nothing moves")
    centres, labels, inertia, rounds = watch.call("k_means", digits.images, digits.images[: data.CLASSES])
    show("\nprincipal components: orthogonal iteration")
    start = parts.start_of_components(digits.images.shape[1])
    _, variances, projected = watch.call("components", digits.images, start)
    show("\nconfusion matrix of the classifier on unseen digits")
    weights, bias = parameters
    found = (scaled[digits.testing] @ weights + bias).argmax(axis=1)
    confused = watch.call("confusion", digits.labels[digits.testing], found)
    show("\n".join("    " + " ".join(f"{n:3}" for n in row) for row in confused))
    output.plot(folder / "digits.png", digits, losses, projected, centres)
    return [
        *checks.check_standardize(digits, scaled),
        *checks.check_classifier(digits, scaled, parameters, confused),
        *checks.check_k_means(digits, labels, inertia, rounds),
        *checks.check_components(digits, variances, projected),
    ]


def show_checks(made: list[checks.Check]) -> bool:
    """Print the comparisons with scikit-learn; return whether all hold."""
    rows = [
        [c.what, f"{c.found:.6g}", f"{c.wanted:.6g}", f"{c.tolerance:g}", "ok" if c.holds else "MISMATCH"] for c in made
    ]
    show("\n" + grid(["against scikit-learn", "numhlo", "scikit-learn", "tolerance", ""], rows))
    return all(c.holds for c in made)


def look_inside(arguments: dict[str, tuple[Any, ...]], folder: Path) -> dict[str, list[str]]:
    """Write every part's programs and kernels, print one kernel, and return the sizes of graphs."""
    sizes = {}
    for name, given in arguments.items():
        lowered = getattr(learning, name).lower(*given)
        compiled = lowered.compile()
        output.write_programs(folder, name, lowered, compiled)
        before, after = output.count_ops(lowered.as_text()), output.count_ops(compiled.as_text())
        sizes[name] = [str(before), str(after), str(len(compiled.kernels))]
        if name == "standardize":
            show(f"\none of the kernels of {name}, as it was generated:\n")
            show("    " + output.shortest_kernel(compiled.kernels).replace("\n", "\n    "))
    return sizes


def steady(arguments: dict[str, tuple[Any, ...]]) -> dict[str, dict[str, float]]:
    """Return seconds of a call by part and library, once everything is compiled."""
    has_jax = importlib.util.find_spec("jax") is not None
    twins = import_module("notebooks.digits.jax_twins") if has_jax else None
    found = {}
    for name, given in arguments.items():
        calls: dict[str, Callable[[], Any]] = {
            "numhlo": functools.partial(getattr(learning, name), *given),
            "NumPy": functools.partial(getattr(numpy_twins, name), *given),
        }
        if twins is not None:
            calls["JAX"] = _waiting_call(getattr(twins, name), given)
        found[name] = {library: t.median for library, t in interleave(calls, TIMING_SECONDS).items()}
    return found


def _waiting_call(function: Callable[..., Any], given: tuple[Any, ...]) -> Callable[[], Any]:
    """Return a call of JAX's on its own arrays that waits for the result."""
    jax = import_module("jax")
    moved = jax.tree.map(lambda leaf: leaf if isinstance(leaf, int) else jax.numpy.asarray(leaf), given)
    return lambda: jax.block_until_ready(function(*moved))


def show_times(watch: Stopwatch, warm: dict[str, float], times: dict[str, Any], sizes: dict[str, list[str]]) -> None:
    """Print sizes and times of all parts."""
    libraries = list(next(iter(times.values())))
    header = ["part", "ops traced", "optimized", "kernels", "first call", "native", "warm start", *libraries]
    rows = []
    for name in parts.NAMES:
        starts = [watch.first[name], watch.native[name], warm.get(name)]
        rows.append([name, *sizes[name], *map(seconds, starts), *(seconds(times[name][x]) for x in libraries)])
    show("\n" + grid(header, rows))
    show("first call, native: empty cache, until the answer, until machine code; warm start: until machine code in a")
    show(f"new process with the cache of this one; then one call in steady state ({parts.STEPS} steps of training)")


def main() -> int:
    """Run the demonstration; return 1 where a check does not hold."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.demo", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo_output"), metavar="FOLDER")
    folder: Path = parser.parse_args().output.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NUMHLO_CACHE_DIR"] = cache  # read when the first function is compiled
        digits, watch = data.load(), Stopwatch()
        show(f"{len(digits.images)} handwritten digits; numhlo's cache is empty")
        good = show_checks(learn(digits, watch, folder))
        arguments = parts.arguments(digits)
        sizes = look_inside(arguments, folder)
        outcome = run_child("notebooks.digits.warm", [], cache, WARM_SECONDS)
        warm = json.loads(outcome.output) if not outcome.failure else {}
        show_times(watch, warm, steady(arguments), sizes)
    if outcome.failure:
        show(f"the second process failed: {outcome.failure}")
    show(f"\n{time.perf_counter() - begin:.0f} s; picture, StableHLO and kernels are in {folder}")
    return 0 if good and not outcome.failure else 1


if __name__ == "__main__":
    sys.exit(main())
