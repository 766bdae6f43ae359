"""`python -m benchmarks.compile_stages`: what machine code for programs of `cold` costs, stage by stage.

Milliseconds of processor time, on one core and without a cache, so a busy machine changes little: until a compiler
process is ready; in the user's process from the first call to its answer, once the backend is loaded (tracing, passes,
plan, kernel text, NumPy's work); and of each kernel what reading and lowering its text, LLVM's optimizer, its code
generator and loading take. Functions of vector math are compiled before, or read from disk, as the installation has
been prepared; *functions* is what that took.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from benchmarks.calls import module_of
from benchmarks.cold_programs import NAMES, prepare
from benchmarks.environment import child_environment
from benchmarks.report import grid

STAGES = ("first answer", "functions", "read, lower", "optimize", "emit", "load")
EXPORTS = "import sys, pathlib; from benchmarks import cold_programs as c; c.export(c.NAMES, pathlib.Path(sys.argv[1]))"


class Stages:
    """Milliseconds by stage."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(STAGES, 0.0)

    @contextlib.contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the processor time of a block."""
        start = time.process_time()
        yield
        self.spent[stage] += (time.process_time() - start) * 1e3


def kernels_of_first_call(name: str, folder: Path, stages: Stages) -> list[Any]:
    """Call a program once, and return the kernels that it asks for; nobody compiles them."""
    cache = module_of("numhlo.backend.kernel_cache").kernel_cache()
    cache.clear()
    call = prepare(name, "numhlo", folder)()
    with stages.timed("first answer"):
        call()
    natives = module_of("numhlo.backend.runtime.native_functions").FILES
    return [handle.kernel for handle in cache.handles() if handle.kernel.name not in natives]


def compile_in_stages(kernel: Any, stages: Stages) -> None:
    """Do what a compiler process and a loader do with a kernel."""
    compiler = module_of("numhlo.backend.compiler.kernel_compiler")
    with stages.timed("functions"):
        compiler._lowering_of(kernel.name, kernel.source, "direct")[0]()
    with stages.timed("read, lower"):
        lower, callees, _ = compiler._lowering_of(kernel.name, kernel.source, "direct")
        module = lower()
    lanes, polynomials = compiler._reduces_lanes(callees), compiler.evaluates_polynomials(callees)
    target = compiler.host_target(widest=lanes or polynomials or compiler._searches_columns(callees))
    with stages.timed("optimize"):
        compiler._optimize(module, target, interleaves=polynomials or not lanes)
    with stages.timed("emit"):
        code = bytes(target.machine.emit_object(module))
    with stages.timed("load"):
        loaded = module_of("numhlo.backend.loader").LoadedKernel(kernel.name, code)
    assert loaded.address


def seconds_to_start() -> float:
    """Return the processor seconds until a compiler process is ready, the least of three."""
    process = module_of("numhlo.backend.compiler.process")
    found = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process.CompilerProcess().close()
        process.end_fork_server()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def measure(names: list[str], folder: Path) -> str:
    """Return the table."""
    os.environ.update(child_environment(""))
    start = seconds_to_start()
    service = module_of("numhlo.backend.compiler.service").CompilerService
    service.submit = lambda *_given: Future()
    service.start_early = lambda *_given: None
    module_of("numhlo.backend.compiler.numba_registries").load_few()
    kernels_of_first_call("softmax", folder, Stages())  # loads the backend
    gc.disable()  # as in a compiler process
    lines, kernels = [], []
    for name in names:
        stages = Stages()
        found = kernels_of_first_call(name, folder, stages)
        for kernel in found:
            own = Stages()
            compile_in_stages(kernel, own)
            own.spent["functions"] = max(0.0, own.spent["functions"] - own.spent["read, lower"])
            kernels.append(own.spent)
            stages.spent = {stage: stages.spent[stage] + own.spent[stage] for stage in STAGES}
        lines.append([name, str(len(found)), *(f"{stages.spent[stage]:.0f}" for stage in STAGES)])
        print("  ".join(lines[-1]), file=sys.stderr, flush=True)
    for title, mean in (("a kernel, median", statistics.median), ("a kernel, mean", statistics.mean)):
        lines.append([title, "", "", *(f"{mean([one[stage] for one in kernels]):.1f}" for stage in STAGES[1:])])
    return (
        f"{grid(['ms of processor time', 'kernels', *STAGES], lines)}\na compiler process is ready after {start:.2f} s"
    )


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compile_stages", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=NAMES, metavar="NAME", default=list(NAMES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as given:
        subprocess.run([sys.executable, "-c", EXPORTS, given], env=child_environment(""), check=True)
        print(measure(options.only, Path(given)))


if __name__ == "__main__":
    main()
