"""`python -m tests.backend.kernels.identities`: what the kernels of many programs compute, as a line for each.

A line has the program, the kernel's name and its identity: the hash of the IR that is lowered, in which names and the
manner of writing don't count. What leaves kernels as they are leaves the output as it is: compare two runs with
``diff``. Programs are planned, not compiled. ``--text`` writes each kernel's text and its IR into a folder.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import jax
import numpy as np

from benchmarks import calls
from benchmarks.exported_programs import PROGRAMS
from benchmarks.registry import all_programs
from numhlo import stablehlo
from numhlo.backend import executable
from numhlo.backend.compiler.kernel_compiler import read_to_lower
from numhlo.backend.kernels.identity import identity
from numhlo.backend.kernels.text import text_of
from numhlo.backend.program import Kernel, Program


class PlannedError(Exception):
    """Raised instead of making a program ready to run: its plan is all that is asked for."""

    def __init__(self, program: Program) -> None:
        self.program = program


class PlanOnly:
    """Stands for an executable: ends the call with the plan."""

    def __init__(self, program: Program, *_arguments: object, **_options: object) -> None:
        raise PlannedError(program)


def planned() -> Iterator[tuple[str, list[Kernel]]]:
    """Yield the exported programs and those written with NumPy's names, with their kernels, in all sizes."""
    for name, (make, *sizes) in PROGRAMS.items():
        for size in sizes:
            function, arguments = make(size)
            module = stablehlo.parse(jax.jit(function).lower(*arguments).as_text(), name)
            arrays = [np.asarray(x) for x in jax.tree.leaves(arguments)]
            yield f"exported.{name}.{size}", kernels_of(lambda m=module, a=arrays: m.run("main", *a))
    for found in all_programs():
        for size in ("small", "large"):
            function = calls.make(found, "numhlo")
            arguments = found.arguments(size)
            yield f"written.{found.name}.{size}", kernels_of(lambda f=function, a=arguments: f(*a))


def kernels_of(call):
    """Return the kernels of the program that a call makes first."""
    try:
        call()
    except PlannedError as found:
        return found.program.kernels
    raise AssertionError("a call that plans nothing")


def main() -> None:
    """Write the lines."""
    parser = argparse.ArgumentParser(prog="python -m tests.backend.kernels.identities", description=__doc__)
    parser.add_argument("--text", type=Path, help="a folder for text")
    given = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    executable.Executable = PlanOnly
    for program, kernels in planned():
        for number, kernel in enumerate(kernels):
            module = read_to_lower(kernel.name, kernel.source)
            sys.stdout.write(f"{program} {kernel.name} {identity(module)}\n")
            if given.text is not None:
                given.text.mkdir(parents=True, exist_ok=True)
                name = f"{program}.{number}.{kernel.name}"
                (given.text / f"{name}.py").write_text(kernel.source)
                (given.text / f"{name}.ir.py").write_text(text_of(module))


if __name__ == "__main__":
    main()
