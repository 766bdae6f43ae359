"""The sweep: random programs of every op, run in several ways. ``python -m tests.sweep.sweep --help``.

Prints every disagreement, with the seed that repeats it. `test_sweep` is its short form.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable, Sequence

import numpy as np
from ml_dtypes import finfo

import numhlo
from numhlo import stablehlo
from numhlo.lowering.ir import Op
from numhlo.lowering.ir.types import COMPLEX, FLOATS
from numhlo.lowering.passes.legalization import legalize
from numhlo.lowering.passes.pipeline import optimize
from tests.backend.plain_engine import run_plain
from tests.backend.programs import plan
from tests.oracle import official_parse, run_on_xla
from tests.sweep import combining, control, elementwise, moving
from tests.sweep.program import Program

MAKERS = [*elementwise.MAKERS, *moving.MAKERS, *combining.MAKERS, *control.MAKERS]


def make(seed: int, ops: int, makers: Sequence[Callable[[Program], None]] = MAKERS, *, narrow: bool = False) -> Program:
    """Return a random program of about so many ops, of types of less than 8 bits and their kin if they are asked for."""
    program = Program(np.random.default_rng(seed), narrow=narrow)
    for _ in range(ops):
        maker = program.pick(makers)
        program.maker = maker.__name__
        maker(program)
    return program


def differ(found: np.ndarray, expected: np.ndarray, error: float) -> str | None:
    """Return how two results differ: not at all, by more than ``error`` of the largest of them, or in any bit."""
    found = np.asarray(found)
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"{found.dtype}{found.shape} instead of {expected.dtype}{expected.shape}"
    if found.dtype not in FLOATS | COMPLEX:
        wrong = np.asarray(found != expected)
    elif error:
        wrong = _apart(found, expected, error)
    else:
        wrong = _different(found, expected)
    if not wrong.any():
        return None
    place = tuple(int(k) for k in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {wrong.size}, first at {place}: {found[place]!r} instead of {expected[place]!r}"


def _wide(x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return x.astype(np.complex128 if x.dtype in COMPLEX else np.float64)


def _different(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    x, y = _wide(found), _wide(expected)
    if x.dtype.kind == "c":
        return _unequal(x.real, y.real) | _unequal(x.imag, y.imag)
    return _unequal(x, y)


def _unequal(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    both = np.isnan(x) & np.isnan(y)
    return ~both & ((x != y) | (np.signbit(x) != np.signbit(y)))


def _apart(found: np.ndarray, expected: np.ndarray, error: float) -> np.ndarray:
    x, y = _wide(found), _wide(expected)
    finite = np.isfinite(x) & np.isfinite(y)
    scale = np.abs(y[finite]).max(initial=0)
    real = np.dtype(f"f{found.dtype.itemsize // 2}") if found.dtype in COMPLEX else found.dtype
    with np.errstate(all="ignore"):  # results as small as subnormals are zeros on XLA
        far = ~(np.abs(x - y) <= error * np.maximum(np.abs(y), min(scale, 1.0)) + float(finfo(real).smallest_normal))
    return np.where(finite, far, ~((x == y) | (np.isnan(x) & np.isnan(y))))


def interpreted(program: Program) -> Sequence[np.ndarray]:
    """Return results op by op, unoptimized: what the others are compared with."""
    return stablehlo.Module(program.module()).interpret("main", *program.arrays)


def kernels(program: Program) -> Sequence[np.ndarray]:
    """Return results of the kernels' text, run as Python."""
    return run_plain(plan(optimize(legalize(program.function()))), program.arrays)


def compiled(program: Program) -> Sequence[np.ndarray]:
    """Return results of machine code."""
    with numhlo.debugging(tier0=False):
        return stablehlo.Module(program.module()).run("main", *program.arrays)


def xla(program: Program) -> Sequence[np.ndarray]:
    """Return results of the printed program on XLA."""
    return run_on_xla(stablehlo.Module(program.module()).as_text(), program.arrays, strict=True)


def official(program: Program) -> Sequence[np.ndarray]:
    """Return results of what the official parser makes of the printed program."""
    text = official_parse(stablehlo.Module(program.module()).as_text())
    return stablehlo.parse(text).interpret("main", *program.arrays)


WAYS = {"kernels": kernels, "compiled": compiled, "xla": xla, "official": official}


def disagreements(program: Program, ways: Sequence[str] = ("kernels", "xla")) -> list[str]:
    """Return in which results some ways to run a program differ from the interpreter's."""
    expected = interpreted(program)
    found = []
    for way in ways:
        for k, (x, y) in enumerate(zip(WAYS[way](program), expected, strict=True)):
            text = differ(np.asarray(x), np.asarray(y), program.errors[k])
            if text:
                op = program.returns[k].owner
                found.append(f"{way}, {program.makers[k]} {op!r} {_shown(op)}: {text}")
    return found


def _shown(op: Op) -> str:
    attributes = {name: value for name, value in op.attributes.items() if value is not None}
    return " ".join(f"{name}={value}" for name, value in attributes.items()).replace("\n", " ")[:600]


def main() -> int:
    """Run programs for a while, and return 1 if ways to run them disagreed."""
    parser = argparse.ArgumentParser(prog="python -m tests.sweep.sweep", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the others follow")
    parser.add_argument("--ops", type=int, default=12, help="in each program")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=["kernels", "xla"])
    parser.add_argument("--only", nargs="+", choices=sorted({m.__name__ for m in MAKERS}), help="makers of ops")
    parser.add_argument("--narrow", action="store_true", help="types that XLA can't run: --ways kernels official")
    given = parser.parse_args()
    makers = [m for m in MAKERS if given.only is None or m.__name__ in given.only]
    end, seed, faults, results = time.time() + given.seconds, given.seed, 0, 0
    while time.time() < end:
        try:
            program = make(seed, given.ops, makers, narrow=given.narrow)
            results += len(program.returns)
            texts = disagreements(program, given.ways)
        except Exception:  # noqa: BLE001 - a crash is a finding, and the sweep goes on
            texts = [f"raised\n{traceback.format_exc(limit=-4)[-1500:]}"]
        for text in texts:
            faults += 1
            sys.stdout.write(f"seed {seed}: {text}\n")
            sys.stdout.flush()
        seed += 1
    sys.stdout.write(f"{seed - given.seed} programs, {results} results, {faults} disagreements\n")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
