"""Training steps against JAX: `python -m benchmarks.training`.

A step takes parameters and a batch, and returns new parameters and the loss: value, gradient and update in one jitted
function, float32, written once for both. The libraries take turns on two threads; a ratio is how many times longer JAX
takes, of each library's best time: the machine may be busy.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from benchmarks.calls import module_of
from benchmarks.environment import pin_threads
from benchmarks.program import difference, select
from benchmarks.side_by_side import best_times

TOLERANCE = 1e-3
"""Relative to a result's largest number: sums of float32 in another order."""

RATE = 0.01


class Training(NamedTuple):
    """One model: its name, its loss ``loss(lib, parameters, *batch)``, and the shapes of parameters and batch."""

    name: str
    loss: Callable[..., Any]
    parameters: dict[str, tuple[int, ...]]
    batch: tuple[tuple[int, ...], ...]


def cross_entropy(np: Any, scores: Any, target: Any) -> Any:
    """Return the mean of minus the logarithm of softmax, weighed by the target."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return (np.log(np.exp(shifted).sum(axis=-1)) * target.sum(axis=-1) - (shifted * target).sum(axis=-1)).mean()


def mlp(lib: ModuleType, p: dict[str, Any], x: Any, target: Any) -> Any:
    """Three dense layers."""
    np = lib.numpy
    h = np.maximum(x @ p["a"] + p["b"], 0)
    h = np.maximum(h @ p["c"] + p["d"], 0)
    return cross_entropy(np, h @ p["e"], target)


def convolutional(lib: ModuleType, p: dict[str, Any], x: Any, target: Any) -> Any:
    """Two convolutions with pooling, and a dense layer."""
    np, lax = lib.numpy, lib.lax
    for name in ("k", "l"):
        x = np.maximum(lax.conv_general_dilated(x, p[name], (1, 1), "SAME"), 0)
        x = lax.reduce_window(x, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return cross_entropy(np, x.reshape(x.shape[0], -1) @ p["w"], target)


def transformer(lib: ModuleType, p: dict[str, Any], x: Any) -> Any:
    """One block: attention of four heads, and a dense layer of four times the width."""
    np = lib.numpy

    def normed(x: Any, gain: Any) -> Any:
        centred = x - x.mean(axis=-1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-5) * gain

    n, t, width = x.shape
    h = normed(x, p["g"])
    q, k, v = ((h @ p[name]).reshape(n, t, 4, width // 4) for name in "qkv")
    scores = np.einsum("nthd,nshd->nhts", q, k) / (width // 4) ** 0.5
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    x = x + np.einsum("nhts,nshd->nthd", weights, v).reshape(n, t, width) @ p["o"]
    h = normed(x, p["f"])
    u = h @ p["w"]
    return ((x + 0.5 * u * (1 + np.tanh(0.79788456 * (u + 0.044715 * u**3))) @ p["z"]) ** 2).mean()


def lstm(lib: ModuleType, p: dict[str, Any], xs: Any) -> Any:
    """A recurrent network over time, by scan."""
    np, lax = lib.numpy, lib.lax

    def step(state: Any, x: Any) -> Any:
        h, c = state
        gates = x @ p["w"] + h @ p["u"] + p["b"]
        i, f, g, o = np.split(gates, 4, axis=-1)
        c = lax.logistic(f) * c + lax.logistic(i) * np.tanh(g)
        h = lax.logistic(o) * np.tanh(c)
        return (h, c), (h * h).mean()

    zeros = np.zeros((xs.shape[1], p["u"].shape[0]), xs.dtype)
    return lax.scan(step, (zeros, zeros), xs)[1].mean()


TRAININGS = (
    Training(
        "mlp",
        mlp,
        {"a": (256, 256), "b": (256,), "c": (256, 128), "d": (128,), "e": (128, 10)},
        ((128, 256), (128, 10)),
    ),
    Training(
        "mlp of a small batch",
        mlp,
        {"a": (64, 32), "b": (32,), "c": (32, 32), "d": (32,), "e": (32, 10)},
        ((16, 64), (16, 10)),
    ),
    Training(
        "convolutional",
        convolutional,
        {"k": (8, 1, 3, 3), "l": (16, 8, 3, 3), "w": (784, 10)},
        ((16, 1, 28, 28), (16, 10)),
    ),
    Training(
        "transformer",
        transformer,
        {**dict.fromkeys("qkvo", (64, 64)), "g": (64,), "f": (64,), "w": (64, 256), "z": (256, 64)},
        ((8, 32, 64),),
    ),
    Training("lstm", lstm, {"w": (32, 256), "u": (64, 256), "b": (256,)}, ((32, 16, 32),)),
)


def arguments(training: Training) -> tuple[Any, ...]:
    """Return parameters and a batch."""
    rng = np.random.default_rng(0)
    made = {k: (rng.normal(size=s) / np.sqrt(s[0])).astype("f4") for k, s in training.parameters.items()}
    return made, *[rng.normal(size=s).astype("f4") for s in training.batch]


def step_of(training: Training, lib: Any) -> Any:
    """Return a library's jitted training step."""

    def step(p: dict[str, Any], *batch: Any) -> Any:
        value, slope = lib.value_and_grad(lambda p: training.loss(lib, p, *batch))(p)
        return {name: p[name] - RATE * slope[name] for name in p}, value

    return lib.jit(step)


def flat(result: Any) -> list[Any]:
    """Return a step's results as a list of arrays."""
    parameters, value = result
    return [*[np.asarray(parameters[name]) for name in sorted(parameters)], np.asarray(value)]


def made(training: Training) -> tuple[dict[str, Callable[[], Any]], str]:
    """Return each library's call, and what is wrong with its result, if something is."""
    numhlo, jax = module_of("numhlo"), module_of("jax")
    given = arguments(training)
    own, theirs = step_of(training, numhlo), step_of(training, jax)
    placed = jax.device_put(given)
    wanted = flat(theirs(*placed))
    own(*given)
    own.wait()
    found = difference(flat(own(*given)), wanted)
    wrong = "" if found < TOLERANCE else f"differs from JAX's by {found:.1e}"
    return {"numhlo": lambda: own(*given), "jax": lambda: jax.block_until_ready(theirs(*placed))}, wrong


def main() -> None:
    """Print a table of times."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], help="models whose name begins so")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each model")
    options = parser.parse_args()
    pin_threads()
    rows = ((training.name, *made(training)) for training in select(TRAININGS, options.only))
    print(best_times(rows, ("numhlo", "jax"), options.seconds))


if __name__ == "__main__":
    main()
