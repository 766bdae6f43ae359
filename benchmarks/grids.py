"""Collectives in programs on grids of processes: `python -m benchmarks.grids`, on threads and on MPI.

A program does a collective again and again in a loop; what is shown is an iteration, the loop's own work included. On
MPI the same exchange by mpi4py's buffer calls takes turns with it, in the same processes, as often. Bandwidth is bytes
of one process's operand by time. `deterministic` combines in the group's order, `any order` is MPI's own reduction.
The last table has the programs of `tests.backend.communication.grids`, compiled and interpreted op by op.
Oversubscribed cores, or others at work on them, make all of MPI wait for turns: look at the columns side by side.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calls import module_of
from benchmarks.report import grid, seconds
from numhlo import distributed
from numhlo.distributed import ProcessGrid
from numhlo.stablehlo import Module, ProgramFunction, parse
from tests.backend.communication.grids import heat, train, training_data

SIZES = (4, 1 << 14, 1 << 20)
"""Float32 numbers of each process's operand."""
ITERATIONS = {4: 400, 1 << 14: 200, 1 << 20: 10}
REPEATS = 5
ADD = """({
      ^bb0(%u: tensor<f32>, %v: tensor<f32>):
        %w = stablehlo.add %u, %v : tensor<f32>
        stablehlo.return %w : tensor<f32>
    })"""
NAMES = ("all_reduce", "all_gather", "all_to_all", "collective_permute")


def looped(name: str, size: int, count: int) -> Module:
    """Return a program that does a collective as many times as its last argument says."""
    one, wide = f"tensor<{size}xf32>", f"tensor<{size * count}xf32>"
    groups = f"replica_groups = dense<{[[*range(count)]]}> : tensor<1x{count}xi64>"
    pairs = [[k, (k + 1) % count] for k in range(count)]
    attributes, region, result = {
        "all_reduce": (groups, ADD, one),
        "all_gather": (f"all_gather_dim = 0 : i64, {groups}", "", wide),
        "all_to_all": (
            f"split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = {count} : i64, {groups}",
            "",
            one,
        ),
        "collective_permute": (f"source_target_pairs = dense<{pairs}> : tensor<{count}x2xi64>", "", one),
    }[name]
    kept = f"%2 = stablehlo.slice %r [0:{size}] : ({wide}) -> {one}" if result == wide else ""
    return parse(f"""
    func.func @main(%x: {one}, %n: tensor<i32>) -> {one} {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0:2 = stablehlo.while(%k = %zero, %y = %x) : tensor<i32>, {one}
      cond {{
        %1 = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      }} do {{
        %1 = stablehlo.add %k, %one : tensor<i32>
        %r = "stablehlo.{name}"(%y) <{{{attributes}}}> {region} : ({one}) -> {result}
        {kept}
        stablehlo.return %1, {"%2" if kept else "%r"} : tensor<i32>, {one}
      }}
      return %0#1 : {one}
    }}""")


def by_buffers(name: str, x: np.ndarray, comm: Any) -> Callable[[], object]:
    """Return the same exchange by mpi4py's buffer calls, into memory that is there."""
    count, rank = comm.Get_size(), comm.Get_rank()
    y = np.empty(x.size * count if name == "all_gather" else x.size, np.float32)
    after, before = (rank + 1) % count, (rank - 1) % count
    calls: dict[str, Callable[[], object]] = {
        "all_reduce": lambda: comm.Allreduce(x, y),
        "all_gather": lambda: comm.Allgather(x, y),
        "all_to_all": lambda: comm.Alltoall(x, y),
        "collective_permute": lambda: comm.Sendrecv(x, after, recvbuf=y, source=before),
    }
    return calls[name]


def best(call: Callable[[], object], times: int) -> float:
    """Return the fewest seconds that one of some repeats takes, by `times`."""
    found = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        found.append((time.perf_counter() - start) / times)
    return min(found)


def ready(function: ProgramFunction) -> None:
    """Wait for machine code."""
    for program in function.programs.values():
        program.wait()


def on_threads(count: int) -> Iterator[list[str]]:
    """Yield a row for each collective and size."""
    processes = ProcessGrid(count)
    for name in NAMES:
        for size in SIZES:
            function, x = looped(name, size, count).callable(), np.ones(size, np.float32)
            times = ITERATIONS[size]

            def run(function: ProgramFunction = function, x: np.ndarray = x, times: int = times) -> None:
                processes.run(function, [(x, np.int32(times))] * count)

            run()
            ready(function)
            found = best(run, times)
            yield [name, f"{4 * size:,}", seconds(found), f"{4 * size / found / 1e9:.2f}"]


def in_mpi(*, deterministic: bool) -> None:
    """Measure as one process of a job; the first one writes what it has found."""
    comm = module_of("mpi4py.MPI").COMM_WORLD
    distributed.initialize(deterministic=deterministic)
    count, rows = distributed.process_count(), []
    for name in NAMES if deterministic else ("all_reduce",):
        for size in SIZES:
            function, x = looped(name, size, count).callable(), np.ones(size, np.float32)
            times, buffers = ITERATIONS[size], by_buffers(name, x, comm)
            function.run(x, np.int32(2))
            ready(function)
            ours, theirs = [], []
            for _ in range(REPEATS):
                comm.Barrier()
                start = time.perf_counter()
                function.run(x, np.int32(times))
                ours.append((time.perf_counter() - start) / times)
                comm.Barrier()
                start = time.perf_counter()
                for _ in range(times):
                    buffers()
                theirs.append((time.perf_counter() - start) / times)
            rows.append([name, size, min(ours), min(theirs)])
    if distributed.process_index() == 0:
        sys.stdout.write(json.dumps(rows) + "\n")
    distributed.shutdown()


def mpiexec() -> str | None:
    """Return the command that starts MPI jobs, None where there is none or no mpi4py."""
    beside = Path(sys.executable).parent / "mpiexec"
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    return found if find_spec("mpi4py") is not None else None


def on_mpi(count: int, kind: str) -> Iterator[list[str]]:
    """Yield a row for each collective and size, from a job of so many processes."""
    command = [str(mpiexec()), "-n", str(count), sys.executable, "-m", "benchmarks.grids", f"--in-mpi={kind}"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for name, size, ours, theirs in json.loads(output.splitlines()[-1]):
        bandwidth = f"{4 * size / ours / 1e9:.2f}"
        yield [name, f"{4 * size:,}", seconds(ours), bandwidth, seconds(theirs), f"{ours / theirs:.2f}"]


def compiled_and_interpreted(count: int) -> Iterator[list[str]]:
    """Yield a row for each of two programs: how long they take both ways."""
    processes, rng = ProcessGrid(count), np.random.default_rng(0)
    weights, data = training_data(count)
    boxes: list[tuple[Any, ...]] = [(rng.random((256, 512)), np.int32(20)) for _ in range(count)]
    small: list[tuple[Any, ...]] = [(rng.random((8, 16)), np.int32(200)) for _ in range(count)]
    programs: list[tuple[str, Module, list[tuple[Any, ...]]]] = [
        ("heat, 8 x 16 a process, 200 steps", heat(count, (8, 16)), small),
        ("heat, 256 x 512 a process, 20 steps", heat(count, (256, 512)), boxes),
        ("training, 8 samples a process, 10 steps", train(count, 8, 5), [(weights, *part) for part in data]),
    ]
    for name, module, arguments in programs:
        function = module.callable()
        processes.run(function, arguments)
        ready(function)

        def run(function: ProgramFunction = function, arguments: Any = arguments, **options: bool) -> None:
            processes.run(function, arguments, **options)

        compiled, interpreted = best(run, 1), best(lambda run=run: run(interpret=True), 1)  # type: ignore[misc]
        yield [name, seconds(compiled), seconds(interpreted), f"{interpreted / compiled:.1f}"]


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grids", description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--in-mpi", choices=["ordered", "any"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.in_mpi is not None:
        in_mpi(deterministic=given.in_mpi == "ordered")
        return
    count = given.processes
    columns = ["collective", "bytes", "iteration", "GB/s"]
    print(f"{count} threads")
    print(grid(columns, on_threads(count)))
    if mpiexec() is None:
        print("\nno MPI here: pip install mpi4py mpich")
    else:
        for kind, title in (("ordered", "deterministic"), ("any", "any order")):
            print(f"\n{count} MPI processes, {title}")
            print(grid([*columns, "mpi4py", "ratio"], on_mpi(count, kind)))
    print(f"\nprograms on {count} threads")
    print(grid(["program", "compiled", "interpreted", "ratio"], compiled_and_interpreted(count)))


if __name__ == "__main__":
    main()
