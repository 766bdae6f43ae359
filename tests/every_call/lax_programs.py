"""Random lax programs by seed: the same seed makes the same program, and the same inputs for it."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.every_call import lax_control, lax_values, lax_views, lax_whole
from tests.every_call.lax_generator import Generator
from tests.every_call.lax_syntax import Program, Type
from tests.every_call.lax_text import module_text

MAKERS = {"values": [*lax_values.MAKERS, *lax_views.MAKERS, *lax_whole.MAKERS], "control": lax_control.MAKERS}
COUNTS = ((1, 2, 3), (2, 3, 0), (3, 1, 2))
"""The counts among the arguments, for each input: odd and even numbers of iterations follow each other."""


def make_program(seed: int, statements: tuple[int, int] = (3, 9)) -> Program:
    """Return the random program of a seed.

    Parameters
    ----------
    seed : int
    statements : (int, int), optional
        The least and the most of the outermost ones.
    """
    rng = np.random.default_rng(seed)
    return Generator(rng, MAKERS).whole(seed, statements)


def make_inputs(program: Program) -> list[list[Any]]:
    """Return three lists of arguments."""
    made = []
    for number, own in enumerate(COUNTS):
        rng, left = np.random.default_rng([program.seed, number]), list(own)
        parameters = program.body.parameters
        made.append([np.int32(left.pop(0)) if "count" in p.name else array(rng, p.type) for p in parameters])
    return made


def array(rng: np.random.Generator, type: Type) -> np.ndarray:
    """Return random numbers of a type, as the printed programs make them."""
    shape, dtype = type.shape, type.dtype
    match np.dtype(dtype).kind:
        case "b":
            return np.asarray(rng.random(shape) < 0.5)
        case "i" | "u":
            return np.asarray(rng.integers(0, 9, shape)).astype(dtype)
        case "c":
            return np.asarray(rng.uniform(-0.7, 0.7, shape) + 1j * rng.uniform(-0.7, 0.7, shape)).astype(dtype)
    return np.asarray(rng.uniform(-1, 1, shape)).astype(dtype)


def build(program: Program) -> Callable[..., Any]:
    """Return the program as a Python function: its text is written to a file and imported."""
    with tempfile.TemporaryDirectory(prefix="lax-program-") as folder:
        path = Path(folder) / f"seed_{program.seed}.py"
        path.write_text(module_text(program), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    function: Callable[..., Any] = module.program
    return function
