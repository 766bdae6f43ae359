"""Random draws and convolutions beside JAX's and NumPy's or SciPy's: `python -m benchmarks.draws`.

Everybody has two threads, arrays of its own, and takes turns. Draws have JAX's bits; NumPy's generator has others,
which are cheaper to make and can't be made in parallel.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.calls import module_of
from benchmarks.environment import THREADS, pin_threads
from benchmarks.side_by_side import Calls, best_times

COUNT = 1_000_000


def draws() -> dict[str, Calls]:
    """Return calls that draw a million numbers, by distribution and library."""
    numhlo, jax = module_of("numhlo"), module_of("jax")
    generator = np.random.default_rng(0)
    plain: dict[str, Callable[[], Any]] = {
        "bits": lambda: generator.integers(0, 2**32, COUNT, np.uint32),
        "uniform": lambda: generator.random(COUNT),
        "normal": lambda: generator.standard_normal(COUNT),
        "exponential": lambda: generator.standard_exponential(COUNT),
    }
    found = {}
    for name, call in plain.items():
        own = numhlo.jit(lambda key, name=name: getattr(numhlo.random, name)(key, (COUNT,)))
        theirs = jax.jit(lambda key, name=name: getattr(jax.random, name)(key, (COUNT,)))
        found[f"draw {name}"] = _calls(own, (numhlo.random.key(0),), theirs, (jax.random.key(0),), call)
    return found


def convolutions() -> dict[str, Calls]:
    """Return calls of convolutions, by kind and library."""
    numhlo, jax = module_of("numhlo"), module_of("jax")
    signal = module_of("scipy.signal")
    rng = np.random.default_rng(0)
    line, short, image, window = rng.random(100_000), rng.random(31), rng.random((500, 500)), rng.random((5, 5))
    images, filters = rng.random((8, 16, 32, 32)), rng.random((32, 16, 3, 3))

    def layer(lax: Any) -> Callable[..., Any]:
        return lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME")

    def smooth(lax: Any) -> Callable[..., Any]:
        return lambda x, w: lax.conv_general_dilated(x[None, None], w[None, None], (1, 1), "VALID")[0, 0]

    kinds: dict[str, tuple[Any, Any, tuple[np.ndarray, ...], Callable[[], Any] | None]] = {
        "convolve 100,000 by 31": (np.convolve, jax.numpy.convolve, (line, short), lambda: np.convolve(line, short)),
        "correlate 500 x 500 by 5 x 5": (
            smooth(numhlo.lax),
            smooth(jax.lax),
            (image, window),
            lambda: signal.correlate2d(image, window, "valid"),
        ),
        "8 images, 16 to 32 channels, 3 x 3": (layer(numhlo.lax), layer(jax.lax), (images, filters), None),
    }
    return {
        name: _calls(numhlo.jit(own), arrays, jax.jit(theirs), tuple(map(jax.numpy.asarray, arrays)), call)
        for name, (own, theirs, arrays, call) in kinds.items()
    }


def _calls(own: Any, own_arguments: Any, theirs: Any, arguments: Any, plain: Callable[[], Any] | None) -> Calls:
    """Return one call for each library, compiled."""
    own(*own_arguments)
    own.wait()
    ready = module_of("jax").block_until_ready
    calls: dict[str, Callable[[], Any]] = {
        "numhlo": lambda: own(*own_arguments),
        "jax": lambda: ready(theirs(*arguments)),
    }
    return calls if plain is None else {**calls, "numpy": plain}


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.draws", description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row")
    options = parser.parse_args()
    os.environ |= {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": str(THREADS)}
    pin_threads()
    rows = ((name, calls, "") for name, calls in {**draws(), **convolutions()}.items())
    print(best_times(rows, ("numhlo", "jax", "numpy"), options.seconds))


if __name__ == "__main__":
    main()
