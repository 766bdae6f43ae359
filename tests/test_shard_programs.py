"""Programs of one device: a grid of processes gives what `shard_map` gives in one, and XLA's parser takes the text."""

from __future__ import annotations

import numpy as np
import pytest

import numhlo
from numhlo import distributed as d
from numhlo.distributed import PartitionSpec as P
from numhlo.errors import ArgumentError, ShapeError
from tests.oracle import official_parse
from tests.shards import check_on_every_call

LINE = d.make_mesh((4,), ("x",))
SQUARE = d.make_mesh((2, 2), ("x", "y"))


def assert_a_grid_gives_the_same(f, args, **options):
    program = d.lower_shard(f, **options)(*args)
    official_parse(program.module.as_text())
    check_on_every_call(program, args, d.shard_map(f, **options), rtol=1e-13, atol=1e-15)
    return program


def test_every_collective():
    def part(a, k):
        moves = d.ppermute(a, "x", [(0, 1)]), d.pbroadcast(a, "y", 1), d.pshuffle(a, "y", [1, 0])
        sums = d.psum_scatter(a, "x", scatter_dimension=1, tiled=True), d.psum_scatter(a, ("y", "x"), tiled=True)
        exchanged = d.all_to_all(a, "y", 1, 0, tiled=True), d.all_to_all(a, "y", 1, 0)
        number = a + d.axis_index("x") * 10 + d.axis_index(("y", "x")) * k
        gathered = d.all_gather(a, ("x", "y"), tiled=True)[:2] * d.axis_size("x")
        return [d.psum(a, "y")], [*moves, *sums, *exchanged, number, gathered, d.pcast(k, ("x", "y"), to="varying") * a], [
            d.pmax(a, ("x", "y")), d.pmin(a, ("x", "y")), d.pmean(k, "x")
        ]  # fmt: skip

    x = np.sin(np.arange(32.0)).reshape(8, 4)
    specs = [P("x")], P("x", "y"), P()
    program = assert_a_grid_gives_the_same(part, (x, 3.0), mesh=SQUARE, in_specs=(P("x", "y"), P()), out_specs=specs)
    text = program.module.as_text()
    assert text.count("all_reduce") == 4 and text.count("dense<[[0, 1, 2, 3]]>") == 2  # over two axes at once


def test_training_in_a_loop():
    shift = np.linspace(0, 1, 100)  # what a function uses from outside is part of the program

    def part(w, x):
        def step(_, w):
            return w - 0.1 * numhlo.grad(lambda w: d.pmean(np.mean((x @ w - shift[:2]) ** 2) + shift.sum(), "x"))(w)

        return numhlo.lax.fori_loop(0, 3, step, w), numhlo.lax.scan(lambda c, r: (c + d.psum(r, "x"), c), w, x)[1]

    w, x = np.arange(3.0), np.sin(np.arange(24.0)).reshape(8, 3)
    specs = {"mesh": LINE, "in_specs": (P(), P("x")), "out_specs": (P(), P())}
    program = assert_a_grid_gives_the_same(part, (w, x), **specs)
    again = d.lower_shard(part, **specs)(w, x)
    assert again.module.as_text() == program.module.as_text()
    (one, *_) = program.split(w, x)
    types = [numhlo.ShapeDtypeStruct(a.shape, a.dtype) for a in (w, x)]
    assert d.lower_shard(part, **specs)(*types).module.as_text() == program.module.as_text()
    assert [part.shape for part in one] == [(3,), (2, 3)] and "num_partitions = 4" in program.module.as_text()


def test_an_axis_that_is_not_mapped_has_the_same_on_all_its_devices():
    specs = {"mesh": SQUARE, "in_specs": P("y"), "out_specs": P("y"), "axis_names": {"y"}}
    assert_a_grid_gives_the_same(lambda a: a - d.pmean(a, "y"), (np.arange(4.0),), **specs)


def test_each_process_gets_whole_results():
    x = np.arange(48.0).reshape(2, 8, 3)
    program = d.lower_shard(
        lambda a: {"cut": a + 1, "total": d.psum(a.sum(), ("x", "y"))},
        mesh=SQUARE,
        in_specs=P(None, ("y", "x")),
        out_specs={"cut": P(None, ("y", "x")), "total": P()},
    )(x)
    grid = d.ProcessGrid(partitions=4)
    parts = grid.run(program.module, program.split(x))
    official_parse(program.gathering.as_text())
    for leaves in grid.run(program.gathering, parts):
        found = program.tree_of(leaves)
        np.testing.assert_array_equal(found["cut"], x + 1, strict=True)
        assert found["total"] == x.sum()


def test_each_process_reads_its_own_part_of_a_file(tmp_path):
    whole = np.arange(32.0).reshape(8, 4)
    whole.tofile(tmp_path / "x")
    x = np.memmap(tmp_path / "x", whole.dtype, "r", shape=whole.shape)
    program = d.lower_shard(lambda a: a, mesh=SQUARE, in_specs=P("y", "x"), out_specs=P("y", "x"))(x)
    for number in range(4):
        (own,) = program.part(number, x)
        row, column = number % 2, number // 2
        np.testing.assert_array_equal(own, whole[4 * row : 4 * row + 4, 2 * column : 2 * column + 2], strict=True)
        own[...] = 0  # a copy, and not the file


def test_other_arguments_are_refused():
    program = d.lower_shard(lambda a: a, mesh=LINE, in_specs=P("x"), out_specs=P("x"))(np.ones(8))
    with pytest.raises(ShapeError, match=r"arguments of shapes \[\(4,\)\]\n.*\n  the program was made for \[\(8,\)\]"):
        program.split(np.ones(4))
    with pytest.raises(ArgumentError, match="results of 1 device, of 4"):
        program.join([(np.ones(2),)])
