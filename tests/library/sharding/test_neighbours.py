"""Halos and shifts: what parts of an array are beside, against `numpy.pad` and `numpy.roll` of the whole."""

from __future__ import annotations

import numpy as np
import pytest

import numhlo
from numhlo import distributed as d
from numhlo.distributed import PartitionSpec as P
from numhlo.errors import ArgumentError, ShapeError
from tests.every_call.harness import check_every_call

LINE = d.make_mesh((4,), ("x",))
SQUARE = d.make_mesh((2, 2), ("x", "y"))


def halos(x, width, periodic, parts):
    """Return the parts of an array along axis 0 with their halos, one behind the other."""
    wide = np.pad(x, [width] + [(0, 0)] * (x.ndim - 1), mode="wrap" if periodic else "constant")
    step = len(x) // parts
    return np.concatenate([wide[k * step : (k + 1) * step + sum(width)] for k in range(parts)])


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("width", [1, 2, (2, 0), (0, 1), 0])
def test_halos(width, periodic):
    x = np.sin(np.arange(24.0)).reshape(8, 3)
    both = width if isinstance(width, tuple) else (width, width)
    mapped = d.shard_map(
        lambda a: d.halo_exchange(a, "x", width, periodic), mesh=LINE, in_specs=P("x"), out_specs=P("x")
    )
    wanted = halos(x, both, periodic, 4)
    np.testing.assert_array_equal(mapped(x), wanted)
    weights = np.cos(np.arange(wanted.size)).reshape(wanted.shape)
    slope = numhlo.jit(numhlo.grad(lambda x: np.sum(mapped(x) * weights)))(x)
    unit = np.eye(x.size).reshape(x.size, *x.shape)
    expected = [np.sum(halos(e, both, periodic, 4) * weights) for e in unit]
    np.testing.assert_allclose(slope.reshape(-1), expected, rtol=1e-14)


def heat(x):
    edge = np.pad(x, 1)
    return x + 0.1 * (edge[:-2, 1:-1] + edge[2:, 1:-1] + edge[1:-1, :-2] + edge[1:-1, 2:] - 4 * x) + edge[2:, 2:]


def test_a_stencil_on_two_axes_compiled():
    def step(a):
        e = d.halo_exchange(a, ("x", "y"))
        return a + 0.1 * (e[:-2, 1:-1] + e[2:, 1:-1] + e[1:-1, :-2] + e[1:-1, 2:] - 4 * a) + e[2:, 2:]

    specs = {"mesh": SQUARE, "in_specs": P("x", "y"), "out_specs": P("x", "y")}
    steps = d.shard_map(lambda a: numhlo.lax.fori_loop(0, 3, lambda _, a: step(a), a), **specs)
    inputs = [(np.sin(k * np.arange(48.0)).reshape(6, 8),) for k in (1.0, 0.6)]
    check_every_call(numhlo.jit(steps), inputs, reference=lambda a: heat(heat(heat(a))), written=())
    program = d.lower_shard(step, **specs)(*inputs[0])
    parts = d.ProcessGrid(partitions=4).run(program.module, program.split(*inputs[0]))
    np.testing.assert_allclose(program.join(parts), heat(inputs[0][0]), rtol=1e-14)


def test_shifts():
    x = np.arange(8.0)
    for steps in (-5, -1, 0, 2):
        specs = {"mesh": LINE, "in_specs": P("x"), "out_specs": P("x")}
        around = d.shard_map(lambda a, s=steps: d.sendrecv(a, "x", s, periodic=True), **specs)
        np.testing.assert_array_equal(around(x), np.roll(x, 2 * steps))
        open_ended = d.shard_map(lambda a, s=steps: d.sendrecv({"a": a}, "x", s)["a"], **specs)
        wanted = np.pad(x, 16)[16 - 2 * steps : 24 - 2 * steps]
        np.testing.assert_array_equal(open_ended(x), wanted)


def test_refusals():
    def mapped(*args, **options):
        f = d.shard_map(lambda a: d.halo_exchange(a, *args, **options), mesh=LINE, in_specs=P("x"), out_specs=P("x"))
        return f(np.ones(8))

    with pytest.raises(ShapeError, match="a halo of 3 beside a part of 2 along dimension 0"):
        mapped("x", 3)
    with pytest.raises(ArgumentError, match="give widths of 0 or more, and one dimension for each axis"):
        mapped("x", -1)
    with pytest.raises(ArgumentError, match="give widths of 0 or more, and one dimension for each axis"):
        mapped("x", 1, dimension=(0, 1))
    with pytest.raises(NameError, match="sendrecv: unbound axis name: 'y'"):
        mapped("y")
