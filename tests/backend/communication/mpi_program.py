"""What each process of an MPI job runs for `test_mpi`: ``mpiexec -n 2 python -m tests.backend.communication.mpi_program``.

Each case is a function; processes print what they see, one line each, with their number first.
"""

import os
import signal
import sys
import time
from importlib import import_module

import numpy as np

import numhlo
from numhlo import distributed
from numhlo.backend.processors import available_processors
from numhlo.backend.runtime import pool
from numhlo.distributed import ProcessGrid, process_count, process_index
from numhlo.stablehlo import parse
from tests.backend.communication.grids import heat, heat_in_numpy, train, train_in_numpy, training_data
from tests.backend.communication.programs import CHANNEL, arrays_of, every_collective, same_bits

KINDS = ("bf16", "i4", "i1", "complex<f64>")
SMALL, LARGE = (4, 8), (64, 608)


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{process_index()}: {text}\n")
    sys.stdout.flush()


def collectives() -> None:
    """Compare every collective with the interpreter, which runs the whole grid in each process."""
    rank, count = process_index(), process_count()
    numbers = [*range(count)][::-1]
    everybody = f"replica_groups = dense<{[numbers]}> : tensor<1x{count}xi64>"
    modes = [everybody, f"{everybody}, {CHANNEL}, use_global_device_ids"]
    kinds, large = (KINDS, ("i64", LARGE, modes[0])) if count == 2 else (KINDS[:2], ("f32", LARGE, modes[1]))
    cases = [*[(kind, SMALL, modes[0]) for kind in kinds], large]
    for kind, shape, groups in cases:
        module = every_collective(kind, count, *shape, groups=groups)
        arrays = arrays_of(kind, count, shape)
        expected = ProcessGrid(count).run(module, [(x,) for x in arrays], interpret=True)[rank]
        for _ in range(2):
            say(f"{kind} {shape}: {same_bits(module.run('main', arrays[rank]), expected)}")


def subgroups() -> None:
    """Reduce in rows, then in columns of the grid, then among some: communicators are made where they are needed."""
    rank = process_index()
    text = REDUCE.replace("NAME", "add").split("  return")[0]
    for rows, names in (([[0, 1], [2, 3]], "01 23"), ([[0, 2], [3, 1]], "02 31"), ([[0, 1, 3], [2, -1, -1]], "013 2")):
        groups = f"dense<{rows}> : tensor<{len(rows)}x{len(rows[0])}xi64>"
        module = parse(text.replace("dense<> : tensor<0x0xi64>", groups) + "  return %0 : tensor<4xf32>\n}")
        arrays = arrays_of("f32", 4, (4,))
        expected = ProcessGrid(4).run(module, [(x,) for x in arrays], interpret=True)[rank]
        say(f"{names}: {same_bits(module.run('main', arrays[rank]), expected)}")


def again() -> None:
    """Leave the grid, and run a program in others: what two processes agreed on, they ask their next partners, too."""
    comm, module = import_module("mpi4py.MPI").COMM_WORLD, parse(REDUCE.replace("NAME", "add"))
    x = np.full(4, process_index(), np.float32)
    distributed.shutdown()
    if comm.Get_rank() < 2:
        distributed.initialize(comm.Create_group(comm.Get_group().Incl([0, 1])))
        say(f"two: {module.run('main', x)[0].tolist() == [1.0] * 4}")
        distributed.shutdown()
    comm.Barrier()
    distributed.initialize(comm.Split(comm.Get_rank() % 2))
    say(f"pairs: {module.run('main', x)[0].tolist() == [2.0 + 2 * (comm.Get_rank() % 2)] * 4}")
    distributed.shutdown()
    distributed.initialize(comm)


def grids() -> None:
    """Run a stencil and a training on this grid."""
    rank, count = process_index(), process_count()
    start = np.random.default_rng(0).normal(size=(16, 9))
    own = np.split(start, count)[rank]
    for steps in (0, 3, 8):
        (found,) = heat(count, own.shape).run("main", own, np.int32(steps))
        say(f"heat {steps}: {np.array_equal(found, np.split(heat_in_numpy(start, steps), count)[rank])}")
    weights, data = training_data(count)
    module = train(count, *data[0][0].shape)
    expected = ProcessGrid(count).run(module, [(weights, *part) for part in data])[rank]
    (found,) = module.run("main", weights, *data[rank])
    is_right = np.allclose(found, train_in_numpy(weights, data), 1e-5)
    say(f"training: {same_bits([found], expected) and is_right}")


def loss(w: np.ndarray, x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return the mean squared error of a small network."""
    return np.mean((np.tanh(x @ w) - t) ** 2)


def traced() -> None:
    """Run a step of training that is traced: gradients on a part of the data, averaged by a collective."""
    rank, count = process_index(), process_count()
    rng = np.random.default_rng(1)
    w, x, t = rng.normal(size=(3, 2)), rng.normal(size=(8, 3)), rng.normal(size=(8, 2))
    rows, everywhere = distributed.PartitionSpec("x"), distributed.PartitionSpec()
    lower = distributed.lower_shard(
        lambda w, x, t: (
            w - 0.1 * distributed.pmean(numhlo.grad(loss)(distributed.pcast(w, "x", to="varying"), x, t), "x")
        ),
        mesh=distributed.make_mesh((count,), "x"),
        in_specs=(everywhere, rows, rows),
        out_specs=everywhere,
    )
    program = lower(w, x, t)
    parts = program.split(w, x, t)
    expected = ProcessGrid(partitions=count).run(program.module, parts)[rank]
    found = program.module.run("main", *parts[rank])
    y = np.tanh(x @ w)
    slope = x.T @ (2 * (y - t) * (1 - y * y)) / t.size
    say(f"traced: {same_bits(found, expected) and np.allclose(found[0], w - 0.1 * slope, 1e-12)}")


def channels() -> None:
    """Send to the other process; refuse where it is not clear who that is, and hosts."""
    token, kind = "!stablehlo.token", "channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>"
    text = f"""func.func @main(%x: tensor<3xbf16>) -> tensor<3xbf16> {{
      %p = stablehlo.replica_id : tensor<ui32>
      %k = stablehlo.convert %p : (tensor<ui32>) -> tensor<i32>
      %r = "stablehlo.case"(%k) ({{
        %t = stablehlo.create_token : {token}
        %s = "stablehlo.send"(%x, %t) <{{{kind}, is_host_transfer = false}}> : (tensor<3xbf16>, {token}) -> {token}
        stablehlo.return %x : tensor<3xbf16>
      }}, {{
        %t = stablehlo.create_token : {token}
        %y:2 = "stablehlo.recv"(%t) <{{{kind}, is_host_transfer = false}}> : ({token}) -> (tensor<3xbf16>, {token})
        stablehlo.return %y#0 : tensor<3xbf16>
      }}) : (tensor<i32>) -> tensor<3xbf16>
      return %r : tensor<3xbf16>
    }}"""
    arrays = arrays_of("bf16", 2, (3,))
    for _ in range(2):
        say(f"channel: {same_bits(parse(text).run('main', arrays[process_index()]), arrays[:1])}")


def alone() -> None:
    """What has no collectives runs in one process, whatever the others do, on its part of the processors."""
    say(f"processors: {pool.thread_count() == max(1, available_processors() // process_count())}")
    if process_index() == 0:
        x = np.arange(3.0)
        say(f"alone: {np.array_equal(numhlo.jit(lambda x: x + 1)(x), x + 1)}")


REDUCE = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
    ^bb0(%u: tensor<f32>, %v: tensor<f32>):
      %w = stablehlo.NAME %u, %v : tensor<f32>
      stablehlo.return %w : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


def raises() -> None:
    """One process meets an op that nobody knows, before the collective that the others wait in."""
    call = (
        "%x = stablehlo.custom_call @nobody_knows_this(%a) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>"
    )
    text = f"""
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
      %p = stablehlo.replica_id : tensor<ui32>
      %k = stablehlo.convert %p : (tensor<ui32>) -> tensor<i32>
      %b = "stablehlo.case"(%k) ({{ stablehlo.return %a : tensor<4xf32> }}, {{
        {call}
        stablehlo.return %x : tensor<4xf32>
      }}, {{ stablehlo.return %a : tensor<4xf32> }}) : (tensor<i32>) -> tensor<4xf32>
      {REDUCE.split(chr(10), 1)[1].replace("NAME", "add").replace("%x)", "%b)")}"""
    parse(text).run("main", np.ones(4, np.float32))


def ends() -> None:
    """One process ends by an exception of the user's while the others wait for it."""
    module = parse(REDUCE.replace("NAME", "add"))
    module.run("main", np.ones(4, np.float32))
    if process_index() == 1:
        raise LookupError("no data for this process")
    module.run("main", np.ones(4, np.float32))


def leaves() -> None:
    """One process ends as if all were done."""
    module = parse(REDUCE.replace("NAME", "add"))
    module.run("main", np.ones(4, np.float32))
    if process_index() != 1:
        module.run("main", np.ones(4, np.float32))


def killed() -> None:
    """One process is killed while the others wait for it."""
    module = parse(REDUCE.replace("NAME", "add"))
    module.run("main", np.ones(4, np.float32))
    if process_index() == 1:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    module.run("main", np.ones(4, np.float32))


def differs() -> None:
    """Processes run different programs."""
    name = "add" if process_index() == 0 else "multiply"
    parse(REDUCE.replace("NAME", name)).run("main", np.ones(4, np.float32))


def diverges() -> None:
    """Processes take different branches, each with a collective of its own."""
    text = f"""
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %p = stablehlo.replica_id : tensor<ui32>
      %k = stablehlo.convert %p : (tensor<ui32>) -> tensor<i32>
      %b = "stablehlo.case"(%k) ({{
        {REDUCE.split(chr(10), 1)[1].split("return %0 :", maxsplit=1)[0].replace("NAME", "add")}
        stablehlo.return %0 : tensor<4xf32>
      }}, {{
        %0 = "stablehlo.collective_permute"(%x) <{{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}}>
          : (tensor<4xf32>) -> tensor<4xf32>
        stablehlo.return %0 : tensor<4xf32>
      }}) : (tensor<i32>) -> tensor<4xf32>
      return %b : tensor<4xf32>
    }}"""
    with numhlo.debugging(verify=True):
        parse(text).run("main", np.ones(4, np.float32))


def waits() -> None:
    """One process does something else for longer than the others want to wait."""
    module = parse(REDUCE.replace("NAME", "add"))
    module.run("main", np.ones(4, np.float32))
    if process_index() == 1:
        time.sleep(5)
    module.run("main", np.ones(4, np.float32))


def main(names: list[str]) -> None:
    """Run cases by their names."""
    distributed.initialize(timeout=1.0 if names == ["waits"] else None)
    for name in names:
        CASES[name]()
    if len(names) > 1:
        distributed.shutdown()


CASES = {
    f.__name__: f
    for f in (
        collectives,
        subgroups,
        again,
        grids,
        traced,
        channels,
        alone,
        raises,
        ends,
        leaves,
        killed,
        differs,
        diverges,
        waits,
    )
}

if __name__ == "__main__":
    main(sys.argv[1:])
