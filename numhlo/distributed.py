"""`numhlo.distributed`: programs of several processes, run together: as threads of this process, or in an MPI job.

A StableHLO program may be written for a grid of replicas and partitions: each process runs it on arrays of its own, and
collectives, channels, infeed and outfeed carry values between processes, and between a process and its host. This is
the host's module. Programs run compiled: what is between two collectives is fused as ever, and a transport
(`numhlo.backend.communication`) gets buffers as they lie. `numhlo.lowering.process_grid` is the interpreter's way.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

import numhlo
from numhlo.backend.communication.mpi import World
from numhlo.backend.communication.operations import run_in_process
from numhlo.backend.communication.threads import run_threads
from numhlo.backend.communication.transport import current_world, set_world
from numhlo.backend.runtime.pool import share_processors
from numhlo.compilation.program_function import ProgramFunction
from numhlo.library.lax.collective_moves import all_gather as all_gather
from numhlo.library.lax.collective_moves import all_to_all as all_to_all
from numhlo.library.lax.collective_moves import pbroadcast as pbroadcast
from numhlo.library.lax.collective_moves import ppermute as ppermute
from numhlo.library.lax.collective_moves import pshuffle as pshuffle
from numhlo.library.lax.collective_moves import psum_scatter as psum_scatter
from numhlo.library.lax.collectives import axis_index as axis_index
from numhlo.library.lax.collectives import axis_size as axis_size
from numhlo.library.lax.collectives import pcast as pcast
from numhlo.library.lax.collectives import pmax as pmax
from numhlo.library.lax.collectives import pmean as pmean
from numhlo.library.lax.collectives import pmin as pmin
from numhlo.library.lax.collectives import psum as psum
from numhlo.library.sharding.meshes import Mesh as Mesh
from numhlo.library.sharding.meshes import PartitionSpec as PartitionSpec
from numhlo.library.sharding.meshes import make_mesh as make_mesh
from numhlo.library.sharding.neighbours import halo_exchange as halo_exchange
from numhlo.library.sharding.neighbours import sendrecv as sendrecv
from numhlo.library.sharding.shard_map import shard_map as shard_map
from numhlo.library.sharding.shardings import NamedSharding as NamedSharding
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.counted import counted
from numhlo.lowering.ir.errors import ArgumentError, CommunicationError, UnsupportedError
from numhlo.lowering.ops.communication import run_by
from numhlo.lowering.ops.process_groups import GridShape, Process
from numhlo.lowering.process_grid import (
    FROM_HOST,
    HOST,
    INFEED,
    OUTFEED,
    TO_HOST,
    Exchange,
    Key,
    Mailboxes,
    run_together,
)
from numhlo.lowering.shards import parse_meshes
from numhlo.shard_programs import ShardProgram as ShardProgram
from numhlo.shard_programs import lower_shard as lower_shard
from numhlo.shard_programs import partition as partition
from numhlo.stablehlo import Module
from numhlo.switches import value_of
from numhlo.tracer.core.array import Array

__all__ = [
    "Mesh", "NamedSharding", "PartitionSpec", "ProcessGrid", "ShardProgram", "all_gather", "all_to_all", "axis_index",
    "axis_size", "halo_exchange", "initialize", "lower_shard", "make_mesh", "partition", "pbroadcast", "pcast", "pmax",
    "pmean", "pmin", "ppermute", "process_count", "process_index", "pshuffle", "psum", "psum_scatter", "sendrecv",
    "shard_map", "shutdown",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


def initialize(comm: Any = None, *, deterministic: bool = True, timeout: float | None = None) -> None:
    """Make this Python process one process of a grid, with all others of its MPI job.

    From then on programs with collectives run on the grid, wherever they are called: by `Module.run`, by what
    `Module.callable` returns. Each process gives its own arrays, and gets its own results. What has no collectives runs
    in this process alone, as ever. A grid has the replicas and partitions that a program says; where it says nothing,
    each process is a replica. All processes must run the same programs, in the same order, by the same version. Those
    on one machine that may run on the same processors share these: each has its part of them for threads.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        Whose processes make up the grid; by default all of the job. It is duplicated.
    deterministic : bool, optional
        Reductions combine in the order of the group, so that all bits are those of `ProcessGrid` and of every run.
        Otherwise sums and products of floats are MPI's, in whatever order is fastest there.
    timeout : float, optional
        How many seconds a process waits for others before it raises; by default as long as they run.

    Raises
    ------
    UnsupportedError
        If mpi4py is not installed.
    ArgumentError
        If this process is in a grid already.

    Notes
    -----
    A process that raises, or that ends while others wait for it, is named in the error that the others raise, with its
    own error; then the job ends. ``NUMHLO_VERIFY=1`` compares what processes are about to do before each collective.

    Examples
    --------
    In a program that ``mpiexec -n 4 python program.py`` runs: ``numhlo.distributed.initialize()``, then
    ``module.run("main", x)``, with this process's ``x``.

    >>> process_index(), process_count()
    (0, 1)
    """
    if current_world() is not None:
        raise ArgumentError("numhlo.distributed.initialize was called before", where=capture_location())
    try:
        mpi = import_module("mpi4py.MPI")
    except ImportError as error:
        raise UnsupportedError(
            "a grid of processes needs mpi4py",
            where=capture_location(),
            why=str(error),
            fix='pip install "numhlo[mpi]"; where there is no MPI, pip install mpich, too',
        ) from error
    world = World(
        mpi,
        mpi.COMM_WORLD if comm is None else comm,
        numhlo.__version__,
        deterministic=deterministic,
        timeout=timeout,
        verifies=lambda: bool(value_of("verify")),
    )
    run_by(run_in_process)
    set_world(world)
    share_processors(world.sharers)
    atexit.register(world.end)


def process_index() -> int:
    """Return which process of the grid this is.

    Returns
    -------
    int
        From 0 on; 0 outside of a grid.

    Examples
    --------
    >>> process_index()
    0
    """
    world = current_world()
    return 0 if world is None else world.rank


def process_count() -> int:
    """Return how many processes the grid has.

    Returns
    -------
    int
        1 outside of a grid.

    Examples
    --------
    >>> process_count()
    1
    """
    world = current_world()
    return 1 if world is None else world.size


def shutdown() -> None:
    """Leave the grid, together with all other processes; outside of one, do nothing.

    Examples
    --------
    >>> shutdown()
    """
    world = current_world()
    if world is not None:
        set_world(None)
        share_processors(1)
        atexit.unregister(world.end)
        world.close()


class ProcessGrid:
    """A grid of processes that run StableHLO programs at once, and their host.

    Processes are known by their places, ``(replica, partition)``, and listed in the order of their flattened ids:
    ``replica * partitions + partition``. Queues of the host outlive a run, and may be filled while one goes on.

    Parameters
    ----------
    replicas, partitions : int, optional
        How many processes there are.

    Attributes
    ----------
    shape : tuple of int

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo import stablehlo
    >>> module = stablehlo.parse('''
    ... func.func @main(%x: tensor<2xf32>) -> tensor<4xf32> {
    ...   %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64,
    ...     replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
    ...   return %0 : tensor<4xf32>
    ... }''')
    >>> x = np.arange(2, dtype=np.float32)
    >>> ProcessGrid(replicas=2).run(module, [(x,), (x + 10,)])
    [(Array([ 0.,  1., 10., 11.], dtype=float32),), (Array([ 0.,  1., 10., 11.], dtype=float32),)]
    """

    def __init__(self, replicas: int = 1, partitions: int = 1) -> None:
        extents: dict[str, Any] = {"replicas": replicas, "partitions": partitions}
        for name, extent in extents.items():
            if isinstance(extent, bool) or not isinstance(extent, int | np.integer) or extent < 1:
                raise ArgumentError(
                    f"{name}={extent!r}",
                    where=capture_location(),
                    why="a grid has at least one process along each axis",
                )
        self.shape = GridShape(int(replicas), int(partitions))
        self._host = Mailboxes()
        self._hosting = threading.local()

    def __repr__(self) -> str:
        return str(self.shape)

    def run(
        self,
        program: Module | ProgramFunction | Sequence[Module | ProgramFunction],
        arguments: Sequence[Sequence[Any]],
        *,
        interpret: bool = False,
        host: Callable[[ProcessGrid], object] | None = None,
    ) -> list[tuple[Any, ...]]:
        """Run a program in every process, and return what each of them returns.

        Parameters
        ----------
        program : Module, or ProgramFunction, or sequence of them
            What `numhlo.stablehlo.parse` or `Module.callable` returns; one for all processes, or one a process. Of a
            module the function is run that `Module.callable` finds.
        arguments : sequence of sequences of array_like
            One sequence a process: the function's arguments, which are given as to `Module.run`.
        interpret : bool, optional
            Run op by op on the reference interpreter: slow, and the same bits.
        host : callable, optional
            Called with the grid in a thread of its own while the processes run, to answer what they send: in it,
            `fetch` and `receive` wait for the next arrays. What is fed and sent before the run needs none.

        Returns
        -------
        list of tuple of Array
            One tuple a process.

        Examples
        --------
        >>> import numpy as np
        >>> from numhlo import stablehlo
        >>> module = stablehlo.parse('''func.func @main(%t: !stablehlo.token, %x: tensor<f32>) -> tensor<f32> {
        ...   %0 = "stablehlo.outfeed"(%x, %t) : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
        ...   %1:2 = "stablehlo.infeed"(%0) : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
        ...   return %1#0 : tensor<f32>
        ... }''')
        >>> ProcessGrid().run(module, [(None, 3)], host=lambda grid: grid.feed(grid.fetch()[0] + 1))
        [(Array(4., dtype=float32),)]

        Raises
        ------
        CommunicationError
            If processes wait for what nobody sends, or something that was sent is not received, or is not what
            the program says.
        ArgumentError
            If there is not one program and one sequence of arguments a process, or the program is for another grid.
        UnsupportedError
            If the program is still to be partitioned.
        """
        processes = self.shape.processes()
        functions = self._functions(program, len(processes))
        if len(arguments) != len(processes):
            raise ArgumentError(
                f"arguments of {counted(len(arguments), 'process', 'processes')}, of {self!r}",
                where=capture_location(),
                fix="give one tuple of arguments a process",
            )
        triples = zip(processes, functions, arguments, strict=True)
        answer = None if host is None else partial(self._answer, host)
        try:
            if interpret:
                placed = {process: f.prepare_interpreted(given, self.shape) for process, f, given in triples}
                found = run_together(placed, self.shape, self._host, answer)
            else:
                calls = {process: f.prepare(given, self.shape) for process, f, given in triples}
                found = run_threads(calls, self.shape, self._host, answer)
        except CommunicationError as error:
            error.where = error.where or capture_location()
            raise
        return [found[process] for process in processes]

    def _answer(self, host: Callable[[ProcessGrid], object], exchange: Exchange) -> None:
        """Call the host's function, with queues that wait."""
        self._hosting.exchange = exchange
        host(self)

    def _next(self, key: Key) -> tuple[Array, ...] | None:
        """Return the next arrays of a queue; None where there are none, unless the host's function waits for them."""
        exchange: Exchange | None = getattr(self._hosting, "exchange", None)
        found = self._host.take_now(key) if exchange is None else exchange.take(key, HOST)
        return None if found is None else tuple([array.view(Array) for array in found])

    def run_sharded(self, program: Module, *arrays: Any, interpret: bool = False) -> tuple[Any, ...]:
        """Run a program of whole arrays, whose manual computations run in all processes, each on its part.

        That is what JAX exports of `shard_map` over several devices: the grid must have as many partitions.

        Parameters
        ----------
        program : Module
        *arrays : array_like
            As to `Module.run`.
        interpret : bool, optional
            As of `run`. What is around manual computations is always run op by op.

        Returns
        -------
        tuple of Array

        Raises
        ------
        CommunicationError
            If the processes are not the devices of the program's meshes; and as of `run`.

        Examples
        --------
        >>> import numpy as np
        >>> from numhlo import stablehlo
        >>> module = stablehlo.parse('''
        ... module attributes {mhlo.num_partitions = 2 : i32} {
        ...   sdy.mesh @mesh = <["x"=2]>
        ...   func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
        ...     %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
        ...         manual_axes={"x"} (%y: tensor<2xi32>) {
        ...       %1 = stablehlo.reverse %y, dims = [0] : tensor<2xi32>
        ...       sdy.return %1 : tensor<2xi32>
        ...     } : (tensor<4xi32>) -> tensor<4xi32>
        ...     return %0 : tensor<4xi32>
        ...   }
        ... }''')
        >>> ProcessGrid(partitions=2).run_sharded(module, np.arange(4, dtype=np.int32))
        (Array([1, 0, 3, 2], dtype=int32),)
        """
        if not isinstance(program, Module):
            raise ArgumentError(f"a program of class {type(program).__qualname__}", where=capture_location())
        lines = [str(line) for line in program.graph.attributes.get("numhlo.preamble", ())]
        meshes = parse_meshes(lines)
        return program.callable().run_sharded(arrays, self.shape, meshes, self._host, interpret=interpret)

    def feed(self, *arrays: Any, process: tuple[int, int] = (0, 0)) -> None:
        """Add what a process's ``infeed`` reads next; an infeed that finds nothing waits while another process runs.

        Examples
        --------
        >>> grid = ProcessGrid()
        >>> grid.feed(np.float32(1), np.arange(3))
        """
        self._host.put((INFEED, self._place(process)), _copies(arrays))

    def fetch(self, *, process: tuple[int, int] = (0, 0)) -> tuple[Array, ...] | None:
        """Return what a process's ``outfeed`` wrote first, and drop it there; None if there is nothing.

        Examples
        --------
        >>> ProcessGrid().fetch() is None
        True
        """
        return self._next((OUTFEED, self._place(process)))

    def send(self, channel: int, *arrays: Any, process: tuple[int, int] = (0, 0)) -> None:
        """Send arrays over a channel to a process's ``recv`` that has ``is_host_transfer``.

        Examples
        --------
        >>> ProcessGrid().send(1, np.arange(3))
        """
        self._host.put((FROM_HOST, int(channel), self._place(process)), _copies(arrays))

    def receive(self, channel: int, *, process: tuple[int, int] = (0, 0)) -> tuple[Array, ...] | None:
        """Return what a process's ``send`` to its host sent first over a channel; None if there is nothing.

        Examples
        --------
        >>> ProcessGrid().receive(1) is None
        True
        """
        return self._next((TO_HOST, int(channel), self._place(process)))

    def _place(self, process: tuple[int, int]) -> Process:
        if process not in self.shape.processes():
            raise ArgumentError(f"process {process!r} is not in {self!r}", where=capture_location())
        return Process(*process)

    def _functions(self, program: Any, count: int) -> list[ProgramFunction]:
        given = list(program) if isinstance(program, list | tuple) else [program] * count
        for item in given:
            if not isinstance(item, Module | ProgramFunction):
                raise ArgumentError(
                    f"a program of class {type(item).__qualname__}",
                    where=capture_location(),
                    fix="pass what numhlo.stablehlo.parse or its callable() returns",
                )
        if len(given) != count:
            raise ArgumentError(f"{counted(len(given), 'program')}, of {self!r}", where=capture_location())
        return [item.callable() if isinstance(item, Module) else item for item in given]


def _copies(arrays: Sequence[Any]) -> list[np.ndarray]:
    return [np.array(array) for array in arrays]
