"""Runs a program with a library twice, under JAX and with our modules in JAX's place, and compares what it prints."""

from __future__ import annotations

import importlib.util
import math
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "programs"
TOLERANCE = 2e-4
"""Relative difference of numbers: programs compute in float32, iterate and draw random numbers."""

SMALLEST = 1e-2
"""Numbers are compared as if they were at least this large."""

LONGEST = 900
"""Seconds, to end what hangs."""


class Library(NamedTuple):
    """A library and its program.

    Attributes
    ----------
    name : str
        The distribution's.
    module : str
        What is imported.
    program : str
        Its file, without the ending.
    """

    name: str
    module: str
    program: str

    @property
    def is_installed(self) -> bool:
        """Return whether the library can be imported."""
        return importlib.util.find_spec(self.module) is not None

    @property
    def version(self) -> str:
        """Return the version that is installed."""
        return metadata.version(self.name)


LIBRARIES = [
    Library("optax", "optax", "optax"),
    Library("chex", "chex", "chex"),
    Library("jaxtyping", "jaxtyping", "jaxtyping"),
    Library("equinox", "equinox", "equinox"),
    Library("flax", "flax", "flax_linen"),
    Library("flax", "flax", "flax_nnx"),
    Library("dm-haiku", "haiku", "haiku"),
    Library("jraph", "jraph", "jraph"),
    Library("distrax", "distrax", "distrax"),
    Library("jaxopt", "jaxopt", "jaxopt"),
    Library("lineax", "lineax", "lineax"),
    Library("optimistix", "optimistix", "optimistix"),
    Library("diffrax", "diffrax", "diffrax"),
    Library("blackjax", "blackjax", "blackjax"),
    Library("numpyro", "numpyro", "numpyro"),
    Library("einops", "einops", "einops"),
]
"""In the order in which they build on each other."""


class Outcome(NamedTuple):
    """What a program printed, and how it ended."""

    output: str
    error: str


def run(library: Library, *, under_jax: bool) -> Outcome:
    """Run a library's program in a process of its own.

    Parameters
    ----------
    library : Library
    under_jax : bool
        Whether JAX is what it imports.
    """
    program = str(FOLDER / f"{library.program}_program.py")
    command = [sys.executable, "-W", "ignore", *([] if under_jax else ["-m", "numhlo.compat.jax"]), program]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    found = subprocess.run(
        command, capture_output=True, text=True, timeout=LONGEST, check=False, env=environment, cwd=FOLDER
    )
    lines = [line for line in found.stderr.splitlines() if line and not line.startswith(" ")]
    return Outcome(found.stdout, (lines[-1] if lines else "it ended early") if found.returncode else "")


def differences(ours: str, theirs: str) -> list[tuple[str, str]]:
    """Return the words that differ: numbers by more than the tolerance, others at all.

    Examples
    --------
    >>> differences("1.0 yes", "1.00001 no")
    [('yes', 'no')]
    """
    pairs = zip(ours.split(), theirs.split(), strict=False)
    found = [(x, y) for x, y in pairs if not _agree(x, y)]
    if len(ours.split()) != len(theirs.split()):
        found.append((f"{len(ours.split())} words", f"{len(theirs.split())} words"))
    return found


def _agree(x: str, y: str) -> bool:
    try:
        first, second = float(x), float(y)
    except ValueError:
        return x == y
    if math.isnan(first):
        return math.isnan(second)
    return first == second or abs(first - second) <= TOLERANCE * max(SMALLEST, abs(second))
