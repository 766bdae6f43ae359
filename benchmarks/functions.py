"""Typical array functions one by one, against JAX and NumPy: `python -m benchmarks.functions`.

Each is written once, for a namespace with NumPy's names, and timed on two threads with the libraries taking turns. A
ratio is how many times longer the other one takes, of each library's best time: the machine may be busy.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from benchmarks.environment import pin_threads
from benchmarks.program import difference, select
from benchmarks.side_by_side import best_times

Names = SimpleNamespace
"""What a function is written for: ``np`` and ``lax``, which is None for NumPy."""

TOLERANCE = 1e-3
"""Relative to a result's largest number: sums of float32 in another order."""


class Function(NamedTuple):
    """One function: its name, what it computes from names and arrays, shapes, and the element type of its arguments."""

    name: str
    compute: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    dtype: str = "f4"
    in_numpy: bool = True


def softmax(n: Names, x: Any) -> Any:
    """Return exponentials of rows, summing to one."""
    y = n.np.exp(x - x.max(axis=-1, keepdims=True))
    return y / y.sum(axis=-1, keepdims=True)


def logsumexp(n: Names, x: Any) -> Any:
    """Return the logarithm of the sum of exponentials of rows."""
    top = x.max(axis=-1, keepdims=True)
    return n.np.log(n.np.exp(x - top).sum(axis=-1)) + top[..., 0]


def normalized(n: Names, x: Any, axis: Any) -> Any:
    """Return an array with mean 0 and variance 1 along axes."""
    mean = x.mean(axis=axis, keepdims=True)
    return (x - mean) / n.np.sqrt(x.var(axis=axis, keepdims=True) + 1e-5)


def arguments(function: Function) -> tuple[np.ndarray, ...]:
    """Return arrays for a function: normal numbers; small integers where a shape is that of indices."""
    rng = np.random.default_rng(0)
    dtype = np.dtype(function.dtype)

    def array(shape: tuple[int, ...]) -> np.ndarray:
        if dtype.kind == "i" or shape == INDICES:
            return rng.integers(0, 4096, shape).astype(dtype if dtype.kind == "i" else np.int32)
        numbers = rng.normal(size=shape)
        return (numbers + 1j * rng.normal(size=shape) if dtype.kind == "c" else numbers).astype(dtype)

    return tuple(array(shape) for shape in function.shapes)


def attention(n: Names, q: Any, k: Any, v: Any) -> Any:
    """Return scaled dot-product attention over (batch, heads, length, width)."""
    return softmax(n, q @ k.swapaxes(-1, -2) / 8.0) @ v


def scattered(n: Names, x: Any, i: Any) -> Any:
    """Return an array with rows added to it."""
    if n.lax is None:
        y = x.copy()
        np.add.at(y, i % len(x), 1.0)
        return y
    return x.at[i % len(x)].add(1.0)


def counted(n: Names, i: Any) -> Any:
    """Return how often each of some small numbers comes."""
    more = {} if n.lax is None else {"length": 256}
    return n.np.bincount(i % 256, minlength=256, **more)


def kalman(n: Names, ys: Any) -> Any:
    """Return the filtered means of four states, of which two are measured: a solution inside a scan."""
    transition, noise = np.eye(4) + 0.1 * np.eye(4, k=2), 0.01 * np.eye(4)

    def step(carry: Any, y: Any) -> Any:
        mean, covariance = carry
        mean, covariance = transition @ mean, transition @ covariance @ transition.T + noise
        spread = covariance[:2, :2] + 0.1 * np.eye(2)
        gain = n.np.linalg.solve(spread, covariance[:2]).T
        mean = mean + gain @ (y - mean[:2])
        return (mean, covariance - gain @ spread @ gain.T), mean

    return n.lax.scan(step, (n.np.zeros(4), n.np.eye(4)), ys)[1]


INDICES = (8192,)
ROWS, SQUARE, LONG = ((4096, 256),), ((1000, 1000),), ((1_000_000,),)
FUNCTIONS = [
    Function("softmax", softmax, ROWS),
    Function("logsumexp", logsumexp, ROWS),
    Function("layer_norm", lambda n, x: normalized(n, x, -1), ROWS),
    Function("batch_norm", lambda n, x: normalized(n, x, (0, 2, 3)), ((16, 32, 28, 28),)),
    *[
        Function(f"{name}_axis_{axis}_{dtype}", lambda n, x, f=name, a=axis: getattr(n.np, f)(x, axis=a), SQUARE, dtype)
        for name in ("sum", "var", "max")
        for axis in (0, 1)
        for dtype in ("f4", "f8")
    ],
    *[
        Function(f"{name}_axis_{axis}", lambda n, x, f=name, a=axis: getattr(n.np, f)(x, axis=a), SQUARE)
        for name in ("argmax", "cumsum", "sort", "argsort", "any")
        for axis in (0, 1)
    ],
    Function("sum_all", lambda n, x: n.np.sum(x), LONG, "f8"),
    Function("norm", lambda n, x: n.np.linalg.norm(x, axis=-1), ROWS),
    Function("transpose", lambda n, x: x.T + 0, SQUARE, "f8"),
    Function("transpose_4d", lambda n, x: n.np.transpose(x, (0, 2, 3, 1)) + 0, ((16, 32, 28, 28),)),
    Function("concatenate", lambda n, x, y: n.np.concatenate([x, y], 1), SQUARE * 2),
    Function("stack", lambda n, x, y: n.np.stack([x, y], -1), SQUARE * 2),
    Function("pad", lambda n, x: n.np.pad(x, 3), SQUARE),
    Function("roll", lambda n, x: n.np.roll(x, 5, axis=1), SQUARE),
    Function("gather_rows", lambda n, x, i: n.np.take(x, i, axis=0, mode="clip"), (*ROWS, INDICES), "f4"),
    Function("scatter_add_rows", scattered, (*ROWS, INDICES), "f4"),
    Function("one_hot", lambda n, i: (i[:, None] % 128 == n.np.arange(128)).astype("f4"), ((4096,),), "i4"),
    Function("where", lambda n, x: n.np.where(x > 0, x, 0.1 * x), LONG),
    Function("clip", lambda n, x: n.np.clip(x, -1, 1), LONG),
    Function("outer", lambda n, x, y: n.np.outer(x, y), ((1000,), (1000,))),
    Function("integers", lambda n, i: (i * 3 + 1) % 7 & 5, LONG, "i4"),
    Function("integers_64", lambda n, i: (i * 3 + 1) // 7, LONG, "i8"),
    Function("booleans", lambda n, x: ((x > 0) & (x < 1)).sum(), LONG),
    Function("bincount", counted, LONG, "i4"),
    Function("float16", lambda n, x: x.astype("f2") * n.np.float16(2), LONG),
    Function("complex_multiply", lambda n, x, y: x * y + x, LONG * 2, "c8"),
    Function("complex_abs", lambda n, x: n.np.abs(x), LONG, "c8"),
    Function("complex_exp", lambda n, x: n.np.exp(x), ((100_000,),), "c16"),
    *[
        Function(f"{name}_{dtype}", lambda n, x, f=name: getattr(n.np, f)(x), LONG, dtype)
        for name in ("tanh", "exp", "sin")
        for dtype in ("f4", "f8")
    ],
    Function("power", lambda n, x: n.np.abs(x) ** 1.7, LONG, "f4"),
    Function("log1p", lambda n, x: n.np.log1p(n.np.abs(x)), LONG, "f8"),
    *[Function(f"matmul_{k}", lambda n, x, y: x @ y, ((k, k), (k, k))) for k in (8, 32, 128, 512, 1024)],
    Function("matvec", lambda n, x, y: x @ y, ((1000, 1000), (1000,)), "f4"),
    Function("vecmat", lambda n, x, y: y @ x, ((1000, 1000), (1000,)), "f4"),
    Function("matmul_tall", lambda n, x, y: x.T @ y, ((10000, 32), (10000, 32)), "f4"),
    Function("batched_4x4", lambda n, x, y: x @ y, ((4096, 4, 4), (4096, 4, 4))),
    Function("batched_16x16", lambda n, x, y: x @ y, ((1024, 16, 16), (1024, 16, 16))),
    Function("batched_64x64", lambda n, x, y: x @ y, ((128, 64, 64), (128, 64, 64))),
    Function("batched_matvec", lambda n, x, y: n.np.einsum("bij,bj->bi", x, y), ((1024, 32, 32), (1024, 32))),
    Function("einsum_bhqk", lambda n, x, y: n.np.einsum("bqhd,bkhd->bhqk", x, y), ((4, 128, 8, 32), (4, 128, 8, 32))),
    Function("einsum_trace", lambda n, x, y: n.np.einsum("ij,ij->i", x, y), SQUARE * 2),
    Function("attention", attention, ((4, 8, 128, 64),) * 3),
    Function("fft", lambda n, x: n.np.fft.fft(x), ((256, 1024),), "c8"),
    Function("rfft2", lambda n, x: n.np.fft.rfft2(x), ((512, 512),), "f4"),
    Function("convolve_1d", lambda n, x, y: n.np.convolve(x, y, "same"), ((100_000,), (31,)), "f4"),
    Function(
        "convolve_2d",
        lambda n, x, w: n.lax.conv_general_dilated(x, w, (1, 1), "SAME"),
        ((8, 32, 28, 28), (32, 32, 3, 3)),
        "f4",
        False,
    ),
    Function("top_k", lambda n, x: n.lax.top_k(x, 8), ROWS, "f4", False),
    Function("solve", lambda n, x, y: n.np.linalg.solve(x, y), ((500, 500), (500, 1)), "f8"),
    Function("solve_3x3", lambda n, x, y: n.np.linalg.solve(x, y), ((10_000, 3, 3), (10_000, 3, 1)), "f8"),
    Function("solve_8x8", lambda n, x, y: n.np.linalg.solve(x, y), ((1000, 8, 8), (1000, 8, 1)), "f8"),
    Function("cholesky", lambda n, x: n.np.linalg.cholesky(x @ x.T + 100 * n.np.eye(100)), ((100, 100),), "f8"),
    Function("eigh", lambda n, x: n.np.linalg.eigvalsh(x + x.T), ((100, 100),), "f8"),
    Function("kalman_scan", kalman, ((1000, 2),), "f8", False),
]


def made(function: Function) -> tuple[dict[str, Callable[[], Any]], str]:
    """Return each library's call, compiled, and which of them give other results than JAX."""
    given = arguments(function)
    import_ = importlib.import_module
    numhlo, jax = import_("numhlo"), import_("jax")
    own = numhlo.jit(partial(function.compute, SimpleNamespace(np=numhlo.numpy, lax=numhlo.lax)))
    theirs = jax.jit(partial(function.compute, SimpleNamespace(np=jax.numpy, lax=jax.lax)))
    plain = partial(function.compute, SimpleNamespace(np=np, lax=None))
    moved = jax.block_until_ready([jax.numpy.asarray(x) for x in given])
    own(*given)
    own.wait()
    expected = theirs(*moved)
    calls: dict[str, Callable[[], Any]] = {
        "numhlo": partial(own, *given),
        "jax": lambda: jax.block_until_ready(theirs(*moved)),
    }
    wrong = [] if difference(own(*given), expected) < TOLERANCE else ["numhlo"]
    if function.in_numpy:
        calls["numpy"] = partial(plain, *given)
        wrong += [] if difference(plain(*given), expected) < TOLERANCE else ["numpy"]
    return calls, ", ".join(wrong)


def main() -> None:
    """Time what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.functions", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], help="functions whose name begins so")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each function")
    options = parser.parse_args()
    pin_threads()
    rows = ((function.name, *made(function)) for function in select(FUNCTIONS, options.only))
    print(best_times(rows, ("numhlo", "jax", "numpy"), options.seconds))


if __name__ == "__main__":
    main()
