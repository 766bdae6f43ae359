"""Partitioning: a grid of devices, each with its part, gives what the function gives on whole arrays."""

from __future__ import annotations

import numpy as np
import pytest

import numhlo
from numhlo import distributed as d
from numhlo import lax, nn
from numhlo.distributed import PartitionSpec as P
from numhlo.errors import ArgumentError, ShapeError, UnsupportedError
from tests.oracle import official_parse
from tests.shards import check_on_every_call

LINE = d.make_mesh((4,), ("x",))
SQUARE = d.make_mesh((2, 2), ("x", "y"))

A, B = np.sin(np.arange(32.0)).reshape(8, 4), np.cos(np.arange(32.0)).reshape(4, 8)
C = np.sin(np.arange(128.0)).reshape(8, 4, 4)
V, NUMBERS = np.arange(8.0), np.array([3, 0, 7, 7, 1, 2, 5, 4])


def attention(q, k):
    return nn.softmax(np.einsum("btd,bsd->bts", q, k)) @ k


def normalized(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def loops(x, y):
    last, rows = lax.scan(lambda c, row: (np.tanh(c + row), c * row), x[0], x)
    return lax.fori_loop(0, 3, lambda k, c: np.sin(c @ y @ x) + k, x), last, rows


CASES = {
    "elementwise": (lambda x, y: np.where(x > 0, x, y.T) * 2 + np.ones((8, 4)), (A, B), (P("x", "y"), P("x", "y")), P("y")),
    "reductions": (
        lambda x: (x.sum(0), x.prod(1), x.max(), np.any(x > 0.9, 0), np.argmax(x, 0), x.std()),
        (A,), (P("x", "y"),), (P("y"), P("x"), P(), P(), P("x"), P()),
    ),
    "products": (lambda a, b: (a @ b @ a, a.T @ a), (A, B), (P("x", "y"), P(None, "y")), (P("y"), P("y", "x"))),
    "batches of products": (attention, (C, C), (P("x", "y"), P(None, "y")), P(("x", "y"))),
    "broadcasts": (normalized, (A,), (P("x", "y"),), P(None, ("x", "y"))),
    "shapes": (
        lambda x: (x.reshape(8, 2, 2, 4).transpose(0, 2, 1, 3).reshape(16, 8), x.reshape(-1), x[:, None]),
        (C,), (P("y", None, "x"),), (P("y"), P(("x", "y")), P()),
    ),
    "neighbours": (
        lambda x: np.pad(np.roll(x, 1, 0), ((0, 0), (1, 1)))[:, 1:-1] + np.concatenate([x[::-1, 2:], x[:, :2]], 1),
        (A,), (P("x", "y"),), P("x"),
    ),
    "numbers": (lambda v: v[:, None] + np.arange(8) * np.eye(8), (V,), (P(("y", "x")),), P("y", "x")),
    "whole arrays": (lambda x, k: (np.sort(x[k], 0), np.cumsum(x, 1)), (A, NUMBERS), (P("x", "y"), P("y")), P("x")),
    "loops": (loops, (A, B), (P("x"), P(None, "y")), (P("y"), P("x"), P("y", "x"))),
    "branches": (lambda x: lax.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, x), (A,), (P("x"),), P(None, "y")),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_parts_give_what_the_whole_gives(name):
    f, args, in_specs, out_specs = CASES[name]
    program = d.partition(f, mesh=SQUARE, in_specs=in_specs, out_specs=out_specs)(*args)
    official_parse(program.module.as_text())
    check_on_every_call(program, args, numhlo.jit(f), rtol=1e-12, atol=1e-13)


def test_training_adds_up_between_devices_and_gathers_nothing():
    def loss(weights, x, y):
        return np.mean((np.tanh(x @ weights[0]) @ weights[1] - y) ** 2)

    def step(weights, x, y):
        value, slopes = numhlo.value_and_grad(loss)(weights, x, y)
        return [w - 0.1 * g for w, g in zip(weights, slopes, strict=True)], value

    args = [B, A], A, np.ones((8, 4))
    columns, rows = P(None, "y"), P("y", None)
    for mesh, weights, count in ((LINE, [P(), P()], 3), (SQUARE, [columns, rows], 4)):
        specs = {"in_specs": (weights, P("x"), P("x")), "out_specs": (weights, P())}
        program = d.partition(step, mesh=mesh, **specs)(*args)
        text = program.module.as_text()
        assert (text.count('all_reduce"'), text.count('all_gather"')) == (count, 0)
        check_on_every_call(program, args, step, rtol=1e-13)


def test_what_repeats_or_is_constant_is_made_in_parts():
    program = d.partition(lambda x: x + 7.0 * np.ones(64), mesh=LINE, in_specs=P("x"), out_specs=P("x"))(np.ones(64))
    text = program.module.as_text()
    assert "tensor<64x" not in text and "dynamic_slice" not in text


def test_refusals():
    with pytest.raises(ShapeError, match="axis 0 of extent 6 can't be cut into 4 equal parts"):
        d.partition(lambda x: x, mesh=LINE, in_specs=P("x"), out_specs=P())(np.ones(6))
    with pytest.raises(ShapeError, match=r"P\('x',\) for a result of shape \(6,\)"):
        d.partition(lambda x: x[:6], mesh=LINE, in_specs=P("x"), out_specs=P("x"))(np.ones(8))
    with pytest.raises(
        UnsupportedError, match=r"^partitioning of custom_call\n.*\n  it would happen once on every device"
    ):
        d.partition(lambda x: (numhlo.debug.print("{}", x), x)[1], mesh=LINE, in_specs=P("x"), out_specs=P())(
            np.ones(8)
        )
    with pytest.raises(ArgumentError, match="names an axis 'y'"):
        d.partition(lambda x: x, mesh=LINE, in_specs=P("y"), out_specs=P())
