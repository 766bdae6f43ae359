"""How long each stage of compiling kernels takes, by either front end: a table of medians, means and sums."""

import gc
import statistics
import time

from numhlo.backend.compiler import kernel_compiler
from numhlo.backend.compiler.kernel_compiler import compile_kernel
from numhlo.backend.front_ends import DIRECT, FRONT_ENDS

FRONT, LLVM = "front end", "LLVM"


def stages_of(kernels):
    """Return the table for kernels, (name, source): processor time, all of them compiled once before."""
    lines = [f"{'ms a kernel':12} {'stage':10} {'median':>8} {'mean':>8} {'sum':>10}"]
    for through in FRONT_ENDS:
        for kernel in kernels:  # callees are compiled once a process, which is no part of a kernel's time
            lowered(kernel, through)
        gc.collect()
        gc.freeze()
        found = [timed(kernel, through) for kernel in kernels]
        for stage in (FRONT, LLVM, "all"):
            times = [sum(one.values()) if stage == "all" else one[stage] for one in found]
            mean = statistics.mean(times)
            lines.append(f"{through:12} {stage:10} {statistics.median(times):8.2f} {mean:8.2f} {sum(times):10.1f}")
    return "\n".join(lines) + "\n"


def lowered(kernel, through):
    """Return the linked module of a kernel."""
    lower, _, fallback = kernel_compiler._lowering_of(*kernel, through)
    assert through != DIRECT or not fallback
    return lower()


def timed(kernel, through):
    """Return the milliseconds of processor time that each stage of a kernel's compilation takes."""
    start = time.process_time()
    lowered(kernel, through)
    front = time.process_time() - start
    start = time.process_time()
    compile_kernel(*kernel, through=through)
    return {FRONT: front * 1e3, LLVM: (time.process_time() - start - front) * 1e3}
