"""Public functions on narrow types, compiled beside interpreted. ``python -m tests.sweep.narrow_functions --help``.

Every function of the sweep of NumPy's names, linear algebra and Fourier transforms, on float16, bfloat16, floats of
8 bits and integers of 2, 4 and 8 bits: short rows and long ones, with NaNs and without. What the interpreter refuses is
left out; a kernel that does not compile is an error.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np

import numhlo
import numhlo.numpy as n
from numhlo.lowering.ir.errors import NumhloError
from numhlo.lowering.ir.types import FLOATS, UNSIGNED
from tests.numpy.coverage import INNER, MATRICES, SIZED, TRANSFORMS
from tests.numpy.test_sweep import FAMILIES, OF_TWO, function_of
from tests.sweep.program import tolerance
from tests.sweep.sweep import differ

NAMES = ["float16", "bfloat16", "float8_e5m2", "float8_e4m3fn", "int2", "int4", "int8", "uint2", "uint4", "uint8"]
TYPES = {name: np.dtype(getattr(ml_dtypes, name, name)) for name in NAMES}
SHAPES = [(7,), (300,), (6, 6), (4, 70)]
DRAWN = frozenset({"empty", "empty_like", "made empty"})
"""What has no values to compare."""


def _member(name: str) -> Callable[..., Any]:
    def call(np: Any, *arrays: Any) -> Any:
        found = np
        for part in name.split("."):
            found = getattr(found, part)
        return found(*arrays)

    return call


def functions() -> dict[str, Callable[..., Any]]:
    """Return all functions by name; they take the namespace first."""
    found = {name: function_of(name) for names in FAMILIES.values() for name in names}
    found |= {name: _member(name) for name in (*MATRICES.split(), *TRANSFORMS.split())}
    return found | {name: f for name, f in INNER.items() if name not in SIZED}


def sample(shape: tuple[int, ...], dtype: np.dtype, seed: int) -> np.ndarray:
    """Return small numbers, halves among them; floats of odd seeds have NaNs and infinities."""
    rng = np.random.default_rng(seed)
    if dtype not in FLOATS:
        return np.asarray(rng.integers(0 if dtype in UNSIGNED else -2, 2, shape)).astype(dtype)
    numbers = np.asarray(rng.integers(-6, 7, shape) / 2)
    if seed % 2:
        numbers = np.where(rng.random(shape) < 0.2, rng.choice([np.nan, np.inf, -0.0], shape), numbers)
    with np.errstate(all="ignore"):
        return numbers.astype(dtype)


def faults_of(name: str, f: Callable[..., Any], arrays: Sequence[np.ndarray]) -> Iterator[str]:
    """Yield what is wrong with a function compiled; nothing where the interpreter refuses it."""

    def run(*xs: Any) -> Any:
        return numhlo.tree.leaves(f(n, *xs))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with numhlo.debugging(engine="interpreter"):
                expected = [np.asarray(x) for x in numhlo.jit(run)(*arrays)]
        except Exception:  # noqa: BLE001 - whatever it refuses
            return
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="NumPy does what")
        try:
            found = [np.asarray(x) for x in numhlo.jit(run, tier0=False)(*arrays)]
        except (NumhloError, RuntimeWarning) as error:
            yield f"{type(error).__name__}: {str(error)[:600]}"
            return
        except Exception:  # noqa: BLE001 - an escape is a finding
            yield traceback.format_exc(limit=-3)
            return
    for k, (x, y) in enumerate(zip(found, expected, strict=True)):
        text = None if name in DRAWN else differ(x, y, 4 * _error(x.dtype, arrays[0].dtype))
        if text:
            yield f"result {k}: {text}"


def _error(result: np.dtype, operand: np.dtype) -> float:
    """Return how far results may be apart: as sums of the operand's type are, or of the result's."""
    types = [d for d in (result, operand) if d.kind == "c" or d in FLOATS]
    return max([tolerance(d) for d in types], default=0.0)


def main() -> int:
    """Run all functions that are asked for, and return 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.sweep.narrow_functions", description=__doc__)
    parser.add_argument("--types", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--only", nargs="+", choices=sorted(functions()))
    parser.add_argument("--shapes", nargs="+", type=int, default=list(range(len(SHAPES))), help="numbers of shapes")
    given = parser.parse_args()
    faults, calls, begin = 0, 0, time.time()
    chosen = functions() if given.only is None else {name: functions()[name] for name in given.only}
    for dtype, (name, f), place in itertools.product(given.types, chosen.items(), given.shapes):
        for seed in (0, 1) if TYPES[dtype] in FLOATS else (0,):
            count = 2 if name in OF_TWO else 1
            arrays = [sample(SHAPES[place], TYPES[dtype], 2 * k + seed) for k in range(count)]
            calls += 1
            for text in faults_of(name, f, arrays):
                faults += 1
                sys.stdout.write(f"{name} of {dtype}{SHAPES[place]}, seed {seed}: {text}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{calls} calls, {faults} faults, {time.time() - begin:.0f} seconds\n")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
