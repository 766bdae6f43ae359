"""How much memory a call takes: `python -m benchmarks.memory`, numhlo's plan beside XLA's for every program.

Both say what they will need before they run: arguments, results, and what lies in between (constants included; what a
result takes from a donated argument counts once). Nothing is timed.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from benchmarks.calls import module_of
from benchmarks.program import Program, select
from benchmarks.registry import all_programs
from benchmarks.report import grid


def _jitted(program: Program, library: str) -> Any:
    """Return a program's version as something that can be lowered."""
    module = module_of(library)
    function = program.versions[library](module)
    return function if hasattr(function, "lower") else module.jit(function)


def bytes_of(program: Program, size: str) -> tuple[int, int, int]:
    """Return the bytes of arguments and results, and those in between, of numhlo and of XLA."""
    arguments = program.arguments(size)
    own = _jitted(program, "numhlo").lower(*arguments).compile().memory_analysis()
    xla = _jitted(program, "jax").lower(*arguments).compile().memory_analysis()
    shared = own.argument_bytes + own.result_bytes
    theirs = xla.argument_size_in_bytes + xla.output_size_in_bytes - xla.alias_size_in_bytes + xla.temp_size_in_bytes
    return shared, own.arena_bytes + own.constant_bytes, theirs - shared


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="programs whose name begins so")
    parser.add_argument("--size", default="large")
    options = parser.parse_args()
    os.environ |= {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
    rows, more = [], []
    for program in select(all_programs(), options.only):
        shared, own, xla = bytes_of(program, options.size)
        ratio = (shared + own) / (shared + xla)
        rows.append([program.name, f"{shared:,}", f"{own:,}", f"{xla:,}", f"{ratio:.3f}"])
        if ratio > 1.0:
            more.append(program.name)
    print(grid([f"bytes ({options.size})", "arguments, results", "numhlo", "XLA", "all, numhlo/XLA"], rows))
    print(f"more than XLA: {', '.join(more) or 'none'}")


if __name__ == "__main__":
    main()
