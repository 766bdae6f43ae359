"""Programs in grids of processes: collectives as the specification's formulas have them, channels, infeed and outfeed."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.distributed import ProcessGrid
from numhlo.lowering.ir.errors import ArgumentError, CommunicationError, UnsupportedError, VerificationError

GRIDS = [(1, 1), (2, 1), (1, 2), (4, 2)]
TOKEN = "!stablehlo.token"
COMBINE = """({
  ^bb0(%x: tensor<i64>, %y: tensor<i64>):
    %z = stablehlo.NAME %x, %y : tensor<i64>
    stablehlo.return %z : tensor<i64>
  })"""
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"


def dense(rows):
    return f"dense<{rows}> : tensor<{len(rows)}x{len(rows[0])}xi64>"


def program(line, shape, result):
    kinds = ["x".join(map(str, (*s, "i64"))) for s in (shape, result)]
    return stablehlo.parse(
        f"func.func @main(%a: tensor<{kinds[0]}>) -> tensor<{kinds[1]}> {{\n"
        f"  %0 = {line} : (tensor<{kinds[0]}>) -> tensor<{kinds[1]}>\n  return %0 : tensor<{kinds[1]}>\n}}"
    )


def groupings(replicas, partitions):
    """Yield how processes are grouped, as text, and the groups as lists of places."""
    rows = [[*range(replicas)][::-1]]
    yield f"replica_groups = {dense(rows)}", [[(r, p) for r in rows[0]] for p in range(partitions)]
    both = [(r, p) for p in range(partitions) for r in rows[0]]
    yield f"replica_groups = {dense(rows)}, {CHANNEL}", [both]
    numbers = [*range(replicas * partitions)][::-1]
    flat = [divmod(n, partitions) for n in numbers]
    yield f"replica_groups = {dense([numbers])}, {CHANNEL}, use_global_device_ids", [flat]
    yield "replica_groups = dense<> : tensor<0x0xi64>", [[(r, p) for r in range(replicas)] for p in range(partitions)]


def model(name, group, arrays, place):
    """Return what a process has after a collective of its group."""
    given = [arrays[p] for p in group]
    here = group.index(place)
    if name == "all_gather":
        return np.concatenate(given, 1)
    if name == "all_reduce":
        return np.sum(given, 0)
    if name == "reduce_scatter":
        return np.split(np.max(given, 0), len(group))[here]
    return np.concatenate([np.split(g, len(group))[here] for g in given], 1)


OPS = {
    "all_gather": (lambda n: (8, 3 * n), "all_gather_dim = 1 : i64", ""),
    "all_reduce": (lambda n: (8, 3), "", COMBINE.replace("NAME", "add")),
    "reduce_scatter": (lambda n: (8 // n, 3), "scatter_dimension = 0 : i64", COMBINE.replace("NAME", "maximum")),
}


@pytest.mark.specifies("all_gather all_reduce reduce_scatter, grids of processes, collectives by replica groups")
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("name", OPS)
def test_collectives_of_all_groups(name, grid):
    shape, attributes, region = OPS[name]
    places = [(r, p) for r in range(grid[0]) for p in range(grid[1])]
    arrays = {place: np.random.default_rng(k).integers(-9, 9, (8, 3)) for k, place in enumerate(places)}
    for text, groups in groupings(*grid):
        line = f'"stablehlo.{name}"(%a) <{{{", ".join(filter(None, [attributes, text]))}}}> {region}'
        found = ProcessGrid(*grid).run(program(line, (8, 3), shape(len(groups[0]))), [(arrays[p],) for p in places])
        for place, (result,) in zip(places, found, strict=True):
            group = next(g for g in groups if place in g)
            np.testing.assert_array_equal(result, model(name, group, arrays, place), strict=True)


@pytest.mark.specifies("all_to_all")
@pytest.mark.parametrize(("grid", "channel"), [((4, 2), ""), ((4, 2), f", {CHANNEL}"), ((1, 2), f", {CHANNEL}")])
def test_all_to_all_along_either_axis(grid, channel):
    count = grid[1] if channel else grid[0]
    rows = [[*range(count)][::-1]]
    attributes = f"split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = {count} : i64"
    line = f'"stablehlo.all_to_all"(%a) <{{{attributes}, replica_groups = {dense(rows)}{channel}}}>'
    places = [(r, p) for r in range(grid[0]) for p in range(grid[1])]
    arrays = {place: np.arange(24).reshape(8, 3) + 100 * k for k, place in enumerate(places)}
    found = ProcessGrid(*grid).run(program(line, (8, 3), (8 // count, 3 * count)), [(arrays[p],) for p in places])
    for (r, p), (result,) in zip(places, found, strict=True):
        group = [(r, q) if channel else (q, p) for q in rows[0]]
        np.testing.assert_array_equal(result, model("all_to_all", group, arrays, (r, p)), strict=True)


@pytest.mark.specifies("collective_broadcast collective_permute")
def test_what_is_passed_on():
    arrays = [np.array([[k, k + 1]]) for k in (1, 3, 5, 7)]
    line = f'"stablehlo.collective_broadcast"(%a) <{{replica_groups = {dense([[2, 1]])}}}>'
    found = ProcessGrid(4).run(program(line, (1, 2), (1, 2)), [(a,) for a in arrays])
    assert [r[0].tolist() for r in found] == [[[0, 0]], [[5, 6]], [[5, 6]], [[0, 0]]]  # the specification's
    line = f'"stablehlo.collective_permute"(%a) <{{source_target_pairs = {dense([[0, 1], [1, 2], [3, 3]])}}}>'
    found = ProcessGrid(4).run(program(line, (1, 2), (1, 2)), [(a,) for a in arrays])
    assert [r[0].tolist() for r in found] == [[[0, 0]], [[1, 2]], [[3, 4]], [[7, 8]]]
    line = f'"stablehlo.collective_permute"(%a) <{{source_target_pairs = {dense([[1, 0]])}, {CHANNEL}}}>'
    found = ProcessGrid(2, 2).run(program(line, (1, 2), (1, 2)), [(a,) for a in arrays])
    assert [r[0].tolist() for r in found] == [[[3, 4]], [[0, 0]], [[7, 8]], [[0, 0]]]


@pytest.mark.specifies("replica_id partition_id, ReplicaId")
def test_processes_know_their_places_and_meet_in_loops():
    text = """
    func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<ui32>, tensor<ui32>) {
      %r = stablehlo.replica_id : tensor<ui32>
      %p = stablehlo.partition_id : tensor<ui32>
      %n = stablehlo.constant dense<0> : tensor<i32>
      %0:2 = stablehlo.while(%k = %n, %y = %x) : tensor<i32>, tensor<f32>
      cond {
        %c = stablehlo.constant dense<3> : tensor<i32>
        %1 = stablehlo.compare LT, %k, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %c = stablehlo.constant dense<1> : tensor<i32>
        %1 = stablehlo.add %k, %c : tensor<i32>
        %2 = "stablehlo.all_reduce"(%y) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
          ^bb0(%u: tensor<f64>, %v: tensor<f64>):
            %w = stablehlo.add %u, %v : tensor<f64>
            stablehlo.return %w : tensor<f64>
        }) : (tensor<f32>) -> tensor<f64>
        %3 = stablehlo.convert %2 : (tensor<f64>) -> tensor<f32>
        stablehlo.return %1, %3 : tensor<i32>, tensor<f32>
      }
      return %0#1, %r, %p : tensor<f32>, tensor<ui32>, tensor<ui32>
    }"""
    found = ProcessGrid(3, 2).run(stablehlo.parse(text), [(k,) for k in range(6)])
    assert [tuple(x.item() for x in row) for row in found] == [
        (9.0 * (6 + 3 * p), r, p) for r in range(3) for p in range(2)
    ]
    assert [x.dtype.name for x in found[0]] == ["float32", "uint32", "uint32"]


FEEDS = f"""
func.func @main(%t: {TOKEN}) -> tensor<2xi64> {{
  %r:2 = "stablehlo.infeed"(%t) <{{infeed_config = ""}}> : ({TOKEN}) -> (tensor<2xi64>, {TOKEN})
  %s:3 = "stablehlo.infeed"(%r#1) <{{infeed_config = ""}}> : ({TOKEN}) -> (tensor<2xi64>, tensor<f32>, {TOKEN})
  %x = stablehlo.subtract %r#0, %s#0 : tensor<2xi64>
  %o = "stablehlo.outfeed"(%x, %s#1, %s#2) : (tensor<2xi64>, tensor<f32>, {TOKEN}) -> {TOKEN}
  %o2 = "stablehlo.outfeed"(%o) : ({TOKEN}) -> {TOKEN}
  return %r#0 : tensor<2xi64>
}}"""


@pytest.mark.specifies("infeed outfeed")
def test_hosts_feed_and_fetch_in_order():
    grid = ProcessGrid(replicas=2)
    for k in (0, 1):
        grid.feed(np.array([5, 6]) + k, process=(k, 0))
        grid.feed(np.array([1, 2]), np.float32(k), process=(k, 0))
    first, second = grid.run(stablehlo.parse(FEEDS), [(None,)] * 2)
    assert first[0].tolist() == [5, 6] and second[0].tolist() == [6, 7]
    x, y = grid.fetch(process=(1, 0))
    assert (x.tolist(), y.item(), y.dtype) == ([5, 5], 1.0, np.float32)
    assert grid.fetch(process=(1, 0)) == () and grid.fetch(process=(1, 0)) is None


def test_an_infeed_of_nothing_or_of_something_else():
    module, grid = stablehlo.parse(FEEDS), ProcessGrid()
    with pytest.raises(
        CommunicationError, match=r"^process \(0, 0\) waits for its infeed\n  at <string>:3:10\n  nobody"
    ):
        grid.run(module, [(None,)])
    grid.feed(np.array([1, 2, 3]))
    with pytest.raises(CommunicationError, match=r"is sent tensor<3xi64>\n.*\n  it receives tensor<2xi64>"):
        grid.run(module, [(None,)])
    with pytest.raises(UnsupportedError, match=r"infeed can't be run\n.*\n.*by numhlo\.distributed\.ProcessGrid"):
        module.run("main", None)


@pytest.mark.specifies("Infeed")
def test_builders_make_programs_of_processes():
    b, grid = stablehlo.Builder("main"), ProcessGrid(replicas=2)
    x = b.parameter(0, (3,), np.float32)
    token = b.create_token()
    fed, token = b.infeed(token, result=(x, token))
    total = b.all_reduce(fed * x, regions=[lambda u, v: u + v], replica_groups=[[0, 1]], result=x)
    b.outfeed(b.op("cross-replica-sum", total, replica_groups=[[0, 1]], result=x), token, result=token)
    b.set_return_value(total)
    for k in (0, 1):
        grid.feed(np.full(3, k + 1, np.float32), process=(k, 0))
    found = grid.run(b.build(), [(np.full(3, 10 + k, np.float32),) for k in (0, 1)])
    assert [r[0].tolist() for r in found] == [[32.0] * 3] * 2
    assert grid.fetch(process=(1, 0))[0].tolist() == [64.0] * 3


def channels(handle, send_type, recv_type, is_host):
    def attributes(kind):
        text = f"handle = {handle}, type = {kind}>, is_host_transfer = {is_host}"
        return f"<{{channel_handle = #stablehlo.channel_handle<{text}}}>"

    return f"""
    func.func @sends(%a: tensor<2xi64>, %t: {TOKEN}) -> {TOKEN} {{
      %r = "stablehlo.send"(%a, %t) {attributes(send_type)} : (tensor<2xi64>, {TOKEN}) -> {TOKEN}
      return %r : {TOKEN}
    }}
    func.func @receives(%t: {TOKEN}) -> tensor<2xi64> {{
      %r:2 = "stablehlo.recv"(%t) {attributes(recv_type)} : ({TOKEN}) -> (tensor<2xi64>, {TOKEN})
      return %r#0 : tensor<2xi64>
    }}"""


@pytest.mark.specifies("send recv, Send and Recv")
def test_channels_between_processes_and_to_the_host():
    module, x = stablehlo.parse(channels(1, 1, 1, "false")), np.array([1, 2])
    sends, receives = module.callable("sends"), module.callable("receives")
    for order in (1, -1):
        found = ProcessGrid(2).run([sends, receives][::order], [(x, None), (None,)][::order])
        assert found[order > 0][0].tolist() == [1, 2]
    with pytest.raises(CommunicationError, match=r"^nobody receives what was sent over channel 1"):
        ProcessGrid(2).run([sends, sends], [(x, None)] * 2)
    with pytest.raises(CommunicationError, match=r"every process that has not ended waits; process \(0, 0\) waits for"):
        ProcessGrid(2).run([receives, receives], [(None,)] * 2)
    module, grid = stablehlo.parse(channels(7, 2, 3, "true")), ProcessGrid()
    assert grid.run(module.callable("sends"), [(x, None)]) == [(None,)]
    assert grid.receive(7)[0].tolist() == [1, 2] and grid.receive(7) is None
    grid.send(7, x + 1)
    assert grid.run(module.callable("receives"), [(None,)])[0][0].tolist() == [2, 3]


LATE = f"""
func.func @all(%t: {TOKEN}) -> {TOKEN} {{
  %x = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = "stablehlo.collective_permute"(%x) <{{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}}>
    : (tensor<f32>) -> tensor<f32>
  return %t : {TOKEN}
}}
func.func @none(%t: {TOKEN}) -> {TOKEN} {{ return %t : {TOKEN} }}
func.func @fails(%t: {TOKEN}) -> {TOKEN} {{
  %x = stablehlo.custom_call @nobody_knows_this() {{has_side_effect = true}} : () -> tensor<f32>
  return %t : {TOKEN}
}}
func.func @endless(%t: {TOKEN}) -> tensor<ui32> {{
  %p = stablehlo.replica_id : tensor<ui32>
  %0 = stablehlo.while(%k = %p) : tensor<ui32>
  cond {{
    %c = stablehlo.constant dense<9> : tensor<ui32>
    %1 = stablehlo.compare LT, %k, %c : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }} do {{
    %c = stablehlo.constant dense<7> : tensor<ui32>
    %1 = stablehlo.and %k, %c : tensor<ui32>
    stablehlo.return %1 : tensor<ui32>
  }}
  return %0 : tensor<ui32>
}}"""


def test_one_process_that_ends_or_fails_ends_the_others():
    module, grid, arguments = stablehlo.parse(LATE), ProcessGrid(2), [(None,)] * 2
    pick = module.callable
    with pytest.raises(CommunicationError, match=r"^process \(1, 0\) waits for collective_permute of process \(0, 0\)"):
        grid.run([pick("none"), pick("all")], arguments)
    with pytest.raises(CommunicationError, match="nobody receives what was sent over collective_permute of process"):
        grid.run([pick("all"), pick("none")], arguments, interpret=True)
    with pytest.raises(CommunicationError, match=r"^process \(0, 0\) waits for collective_permute of process \(1, 0\)"):
        grid.run([pick("all"), pick("none")], arguments)
    for other in ("all", "endless"):
        with pytest.raises(UnsupportedError, match="nobody_knows_this") as caught:
            grid.run([pick("fails"), pick(other)], arguments)
        assert caught.value.__notes__[-1] == "in process (0, 0) of ProcessGrid(replicas=2, partitions=1)"
    assert grid.run(module.callable("all"), arguments) == [(None,), (None,)]


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs timers")
def test_processes_end_when_they_are_interrupted():
    module = stablehlo.parse(LATE)
    threads = threading.active_count()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ProcessGrid(2).run(module.callable("endless"), [(None,)] * 2)
    timer.join()
    end = time.monotonic() + 10
    while threading.active_count() > threads and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() <= threads


def test_what_does_not_fit_the_grid():
    module, grid = stablehlo.parse(LATE), ProcessGrid(2)
    with pytest.raises(ArgumentError, match=r"^arguments of 1 process, of ProcessGrid\(replicas=2, partitions=1\)"):
        grid.run(module.callable("all"), [(None,)])
    with pytest.raises(ArgumentError, match=r"^1 program, of"):
        grid.run([module.callable("all")], [(None,)] * 2)
    with pytest.raises(ArgumentError, match=r"^a program of class str"):
        grid.run("all", [(None,)] * 2)
    with pytest.raises(ArgumentError, match=r"^process \(2, 0\) is not in ProcessGrid"):
        grid.feed(1, process=(2, 0))
    with pytest.raises(ArgumentError, match=r"^replicas=0"):
        ProcessGrid(0)
    text = "module attributes {mhlo.num_replicas = 4 : i32} { func.func @main() -> () { return } }"
    with pytest.raises(ArgumentError, match=r"^the program is for another grid: mhlo\.num_replicas is 4, not 2"):
        grid.run(stablehlo.parse(text), [()] * 2)
    assert ProcessGrid(4).run(stablehlo.parse(text), [()] * 4) == [()] * 4
    text = "func.func @main(%x: tensor<f32>) { %0 = stablehlo.custom_call @Sharding(%x) : (tensor<f32>) -> tensor<f32> return }"
    with pytest.raises(UnsupportedError, match="can't be run in a grid of processes"):
        grid.run(stablehlo.parse(text), [(1.0,)] * 2)


MANUAL = """
module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2, "j"=2]> {stablehlo.mesh = {axes = [{name = "i", size = 2 : i64}, {name = "j", size = 2 : i64}]}}
  func.func public @main(%x: tensor<4x4xf64>, %k: tensor<i32>) -> (tensor<2x4xf64>, tensor<4xui32>) {
    %c = stablehlo.constant dense<3.0> : tensor<4x4xf64>
    %y = stablehlo.multiply %x, %c : tensor<4x4xf64>
    %0:2 = sdy.manual_computation(%y, %k) in_shardings=[<@mesh, [{"i"}, {"j"}]>, <@mesh, []>]
        out_shardings=[<@mesh, [{}, {"j"}]>, <@mesh, [{"i", "j"}]>] manual_axes={"i", "j"}
        (%a: tensor<2x2xf64>, %n: tensor<i32>) {
      %1 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
        ^bb0(%u: tensor<f64>, %v: tensor<f64>):
          %w = stablehlo.add %u, %v : tensor<f64>
          stablehlo.return %w : tensor<f64>
      }) : (tensor<2x2xf64>) -> tensor<2x2xf64>
      %2 = stablehlo.partition_id : tensor<ui32>
      %3 = stablehlo.reshape %2 : (tensor<ui32>) -> tensor<1xui32>
      sdy.return %1, %3 : tensor<2x2xf64>, tensor<1xui32>
    } : (tensor<4x4xf64>, tensor<i32>) -> (tensor<2x4xf64>, tensor<4xui32>)
    %4 = sdy.sharding_constraint %0#0 <@mesh, [{}, {"j"}]> : tensor<2x4xf64>
    %5 = stablehlo.add %4, %4 : tensor<2x4xf64>
    return %5, %0#1 : tensor<2x4xf64>, tensor<4xui32>
  }
}"""


def test_programs_of_whole_arrays_run_in_a_grid():
    """As JAX writes `shard_map` over four devices."""
    module, x = stablehlo.parse(MANUAL), np.random.default_rng(0).normal(size=(4, 4))
    for interpret in (False, True, False):
        total, numbers = ProcessGrid(partitions=4).run_sharded(module, x, 0, interpret=interpret)
        np.testing.assert_array_equal(total, 2 * (3 * x[:2] + 3 * x[2:]), strict=True)
        np.testing.assert_array_equal(numbers, np.arange(4, dtype=np.uint32), strict=True)
        for _, programs in module.callable()._whole.values():
            for program in programs.programs.values():
                program.wait()
    with pytest.raises(UnsupportedError, match=r"^the program is for several devices: mhlo\.num_partitions is 4"):
        module.run("main", x, 0)
    with pytest.raises(ArgumentError, match=r"^the program is for another grid: mhlo\.num_partitions is 4, not 2"):
        ProcessGrid(partitions=2).run_sharded(module, x, 0)
    with pytest.raises(UnsupportedError, match=r"^sdy\.manual_computation can't be run in a grid of processes"):
        ProcessGrid(partitions=4).run(module, [(x, 0)] * 4)
    with pytest.raises(ArgumentError, match=r"^a program of class ProgramFunction"):
        ProcessGrid(partitions=4).run_sharded(module.callable(), x, 0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"j"=2]>', '"j"=3]>', r"^a mesh of 6 devices, in a grid of 4 processes\n  at <string>:7:12"),
        ('[{"i"}, {"j"}]>, <@mesh, []>', '[{"i"}, {}]>, <@mesh, []>', r"^a manual computation takes parts of shapes"),
        (
            'out_shardings=[<@mesh, [{}, {"j"}]>',
            "out_shardings=[<@mesh, [{}, {}]>",
            r"^a manual computation gives parts",
        ),
    ],
)
def test_parts_are_what_the_program_says(old, new, message):
    assert old in MANUAL
    with pytest.raises(CommunicationError, match=message):
        ProcessGrid(partitions=4).run_sharded(stablehlo.parse(MANUAL.replace(old, new)), np.ones((4, 4)), 0)


RAGGED = {
    "all_gather": (OPS["all_gather"][1], ""),
    "all_reduce": ("", OPS["all_reduce"][2]),
    "reduce_scatter": (OPS["reduce_scatter"][1], OPS["reduce_scatter"][2]),
    "all_to_all": ("split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64", ""),
}


@pytest.mark.parametrize("name", RAGGED)
def test_extents_that_are_not_known(name):
    """They follow from the operands' and from how many are in a group."""
    attributes, region = RAGGED[name]
    attributes = ", ".join(filter(None, [attributes, f"replica_groups = {dense([[0, 1]])}"]))
    types = "(tensor<?x?xi64>) -> tensor<?x?xi64>"
    text = f"""func.func @main(%a: tensor<?x?xi64>) -> tensor<?x?xi64> {{
      %0 = "stablehlo.{name}"(%a) <{{{attributes}}}> {region} : {types}
      return %0 : tensor<?x?xi64>
    }}"""
    places = [(0, 0), (1, 0)]
    arrays = {place: np.random.default_rng(k).integers(-9, 9, (8, 3)) for k, place in enumerate(places)}
    found = ProcessGrid(2).run(stablehlo.parse(text), [(arrays[p],) for p in places])
    for place, (result,) in zip(places, found, strict=True):
        np.testing.assert_array_equal(result, model(name, places, arrays, place), strict=True)


def test_extents_that_the_grid_decides():
    line = f'"stablehlo.all_gather"(%a) <{{all_gather_dim = 0 : i64, replica_groups = {dense([[0, 1]])}, {CHANNEL}}}>'
    text = f"""func.func @main(%a: tensor<?xi64>) {{
      %0 = {line} : (tensor<?xi64>) -> tensor<?xi64>
      return
    }}"""
    with pytest.raises(UnsupportedError, match=r"^all_gather: the extents of its result tensor<\?xi64> are not known"):
        ProcessGrid(2, 2).run(stablehlo.parse(text), [(np.arange(3),)] * 4)


ASYNCHRONOUS = """
func.func @main(%x: tensor<2xf32>) -> tensor<4xf32> {
  %f = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<2xf32>):
      %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
        : (tensor<2xf32>) -> tensor<4xf32>
      stablehlo.return %0 : tensor<4xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>>
  %y = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  %z = stablehlo.add %y, %r : tensor<4xf32>
  return %z : tensor<4xf32>
}"""


@pytest.mark.specifies("asynchronous pairs")
def test_what_begins_asynchronously_is_there_when_it_is_waited_for():
    module = stablehlo.parse(ASYNCHRONOUS, strict=True)
    found = ProcessGrid(2).run(module, [(np.float32([1, 2]),), (np.float32([3, 5]),)])
    assert [r[0].tolist() for r in found] == [[2, 4, 4, 7], [4, 7, 6, 10]]
    with pytest.raises(VerificationError, match=r"async_start.*must be a !stablehlo\.future<tensor<4xf32>>"):
        stablehlo.parse(ASYNCHRONOUS.replace("future<tensor<4x", "future<tensor<5x")).verify()


QUANTIZED = "tensor<2x!quant.uniform<i8:f32, 0.5:1>>"


@pytest.mark.specifies("infeed outfeed")
def test_hosts_and_processes_exchange_the_integers_of_quantized_tensors():
    lines = f"""func.func @main(%t: {TOKEN}) -> {QUANTIZED.replace("2x", "4x")} {{
      %r:2 = "stablehlo.infeed"(%t) <{{infeed_config = ""}}> : ({TOKEN}) -> ({QUANTIZED}, {TOKEN})
      %s = stablehlo.add %r#0, %r#0 : {QUANTIZED}
      %o = "stablehlo.outfeed"(%s, %r#1) : ({QUANTIZED}, {TOKEN}) -> {TOKEN}
      %g = "stablehlo.all_gather"(%s) <{{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}>
        : ({QUANTIZED}) -> {QUANTIZED.replace("2x", "4x")}
      return %g : {QUANTIZED.replace("2x", "4x")} }}"""
    grid = ProcessGrid(2)
    grid.feed(np.int8([3, -4]), process=(0, 0))
    grid.feed(np.int8([100, 1]), process=(1, 0))
    found = grid.run(stablehlo.parse(lines), [(None,)] * 2)
    assert [r[0].tolist() for r in found] == [[5, -9, 127, 1]] * 2  # (q - 1) / 2, twice that, within 8 bits
    assert grid.fetch(process=(1, 0))[0].tolist() == [127, 1]


def test_several_arrays_are_broadcast_together():
    text = """func.func @main(%x: tensor<2xf32>, %y: tensor<i32>) -> (tensor<2xf32>, tensor<i32>) {
      %0:2 = "stablehlo.collective_broadcast"(%x, %y) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}>
        : (tensor<2xf32>, tensor<i32>) -> (tensor<2xf32>, tensor<i32>)
      return %0#0, %0#1 : tensor<2xf32>, tensor<i32> }"""
    given = [(np.float32([k, k]), np.int32(-k)) for k in (1, 2)]
    found = ProcessGrid(2).run(stablehlo.parse(text, strict=True), given)
    assert [(x.tolist(), y.item()) for x, y in found] == [([2, 2], -2)] * 2


ANSWERED = f"""
func.func @main(%t: {TOKEN}, %x: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>) {{
  %0 = "stablehlo.send"(%x, %t) {{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>,
    is_host_transfer = true}} : (tensor<2xi64>, {TOKEN}) -> {TOKEN}
  %1:2 = "stablehlo.recv"(%0) {{channel_handle = #stablehlo.channel_handle<handle = 2, type = 3>,
    is_host_transfer = true}} : ({TOKEN}) -> (tensor<2xi64>, {TOKEN})
  %2 = "stablehlo.outfeed"(%1#0, %1#1) : (tensor<2xi64>, {TOKEN}) -> {TOKEN}
  %3:2 = "stablehlo.infeed"(%2) : ({TOKEN}) -> (tensor<2xi64>, {TOKEN})
  return %1#0, %3#0 : tensor<2xi64>, tensor<2xi64>
}}"""


@pytest.mark.specifies("send recv infeed outfeed")
def test_a_host_answers_while_processes_run():
    module, grid = stablehlo.parse(ANSWERED), ProcessGrid(2)
    given = [(None, np.array([1, 2])), (None, np.array([3, 4]))]

    def answer(grid):
        for process in ((1, 0), (0, 0)):
            (sent,) = grid.receive(1, process=process)
            grid.send(2, sent * 10, process=process)
        for process in ((0, 0), (1, 0)):
            grid.feed(grid.fetch(process=process)[0] + 1, process=process)

    found = grid.run(module, given, host=answer)
    assert [[r.tolist() for r in results] for results in found] == [[[10, 20], [11, 21]], [[30, 40], [31, 41]]]
    assert grid.fetch() is None and grid.receive(1) is None
    waits = r"the host waits for its outfeed; process \(0, 0\) waits for channel 2"
    with pytest.raises(CommunicationError, match=waits):
        grid.run(module, given, host=lambda grid: grid.fetch())
    grid = ProcessGrid(2)
    with pytest.raises(ZeroDivisionError) as caught:
        grid.run(module, given, host=lambda grid: 1 // 0)
    assert caught.value.__notes__ == ["in the host of ProcessGrid(replicas=2, partitions=1)"]
    with pytest.raises(CommunicationError, match="waits for channel 2 from the host"):
        ProcessGrid(2).run(module, given)
