"""Shapes rearranged, arrays joined, cut, padded and edited: traced as NumPy does it."""

from __future__ import annotations

import functools

import numpy
import pytest

import numhlo.numpy
from numhlo.lowering.ir.errors import DataDependentShapeError, ShapeError
from tests.library.agreement import assert_same, check, check_all, refusal, run_traced, same_refusal

X = numpy.arange(24.0).reshape(2, 3, 4)
Y = numpy.arange(12.0).reshape(3, 4) - 5
V = numpy.array([3.0, -1.0, 2.5, 0.0, 7.0])
I = numpy.arange(12).reshape(3, 4)


def _border(line, widths, axis, options):
    line[: widths[0]] = options["value"] + axis
    line[-widths[1] :] = line[widths[0]]


CASES = [
    ("reshape", lambda np, x: (x.reshape(6, 4), x.reshape((4, -1)), np.reshape(x, -1), x.reshape(2, 3, 2, 2)), X),
    (
        "reshape F",
        lambda np, x: (np.reshape(x, (6, 4), order="F"), x.reshape(4, 6, order="F"), x.T.reshape(-1, order="A")),
        X,
    ),
    ("reshape empty", lambda np, x: (x[:0].reshape(0, 7), x[:0].reshape(7, 0), x[:0].reshape(3, -1)), X),
    ("reshape copy", lambda np, x: np.reshape(x, (6, 4), copy=True), X),
    ("ravel", lambda np, x: (x.ravel(), np.ravel(x, order="F"), x.T.ravel(), x.T.ravel("F"), x.flatten("F")), X),
    ("ravel K", lambda np, x: (x.T.ravel("K"), x.transpose(1, 0, 2).ravel("K"), x.ravel("A"), x.T.ravel("A")), X),
    (
        "transpose",
        lambda np, x: (x.T, x.transpose(), x.transpose(1, 0, 2), x.transpose((2, 0, 1)), x.transpose(None)),
        X,
    ),
    (
        "permute",
        lambda np, x: (np.transpose(x, (0, 2, 1)), np.permute_dims(x, (-1, 0, 1)), x.mT, np.matrix_transpose(x)),
        X,
    ),
    ("transpose by arrays", lambda np, x: (x.transpose(np.array([1, 0, 2])), np.transpose(x, np.array([2, 0, 1]))), X),
    ("swapaxes", lambda np, x: (np.swapaxes(x, 0, -1), x.swapaxes(1, 2)), X),
    ("moveaxis", lambda np, x: (np.moveaxis(x, 0, -1), np.moveaxis(x, [0, 1], [-1, -2]), np.rollaxis(x, 2)), X),
    (
        "rollaxis",
        lambda np, x: (np.rollaxis(x, 1, 3), np.rollaxis(x, 2, 1), np.rollaxis(x, -1), np.rollaxis(x, 0, -1)),
        X,
    ),
    ("expand_dims", lambda np, x: (np.expand_dims(x, 0), np.expand_dims(x, (0, -1)), np.expand_dims(x, -2)), X),
    (
        "squeeze",
        lambda np, x: (
            np.squeeze(x[:1]),
            np.squeeze(x[:1], 0),
            np.squeeze(x[0, 0, 0], -1),
            x[:1, :, :1].squeeze(axis=(0, 2)),
        ),
        X,
    ),
    (
        "broadcast",
        lambda np, y: (
            np.broadcast_to(y, (2, 3, 4)),
            np.broadcast_arrays(y, y[0], 1),
            np.broadcast_to(y[:, :1], (3, 4)),
        ),
        Y,
    ),
    ("flip", lambda np, x: (np.flip(x), np.flip(x, 1), np.flip(x, (0, 2)), np.fliplr(x), np.flipud(x)), X),
    ("rot90", lambda np, x: (np.rot90(x), np.rot90(x, 2), np.rot90(x, 3, (1, 2)), np.rot90(x, -1), np.rot90(x, 4)), X),
    (
        "roll",
        lambda np, x: (
            np.roll(x, 1),
            np.roll(x, -2, 1),
            np.roll(x, (1, 2), (0, 1)),
            np.roll(x, 5, 0),
            np.roll(x, 1, (0, 1)),
        ),
        X,
    ),
    ("roll traced", lambda np, x, s: (np.roll(x, s), np.roll(x, s, 1)), X, numpy.int64(-3)),
    ("roll traced pair", lambda np, x, s: np.roll(x, s, (0, 1)), X, numpy.array([1, -2])),
    (
        "repeat",
        lambda np, x: (
            np.repeat(x, 2),
            np.repeat(x, 3, 1),
            x.repeat([1, 0, 2], 1),
            np.repeat(x, [2], 0),
            np.repeat(x, 0, 0),
        ),
        X,
    ),
    (
        "tile",
        lambda np, y: (np.tile(y, 2), np.tile(y, (2, 1)), np.tile(y, (2, 1, 3)), np.tile(y[0], (2, 2)), np.tile(y, 0)),
        Y,
    ),
    (
        "diagonal",
        lambda np, x: (
            np.diagonal(x),
            x.diagonal(1, 1, 2),
            np.diagonal(x, -1),
            np.diagonal(x, 9),
            np.diagonal(x, 1, 2, 0),
        ),
        X,
    ),
    (
        "diag",
        lambda np, x: (np.diag(x[0]), np.diag(x[0], 1), np.diag(x[0, 0]), np.diag(x[0, 0], -2), np.diag(x[0, 0], 1)),
        X,
    ),
    ("diagflat", lambda np, x: (np.diagflat(x[0]), np.diagflat(x[0, 0], 1)), X),
    ("trace", lambda np, x: (np.trace(x), x.trace(1), np.trace(x, 0, 1, 2)), X),
    ("triangles", lambda np, x: (np.tril(x), np.triu(x, 1), np.tril(x, -1), np.triu(x[0, 0]), np.tril(x[0] > 3)), X),
    (
        "pad",
        lambda np, x: (
            np.pad(x, 1),
            np.pad(x, (1, 2)),
            np.pad(x, ((0, 1), (2, 0), (1, 1))),
            np.pad(x, 1, constant_values=3),
        ),
        X,
    ),
    ("pad values", lambda np, x: np.pad(x, ((0, 1), (2, 0), (1, 1)), constant_values=((1, 2), (3, 4), (5, 6))), X),
    (
        "pad edges",
        lambda np, x: (np.pad(x, 1, "edge"), np.pad(x, 1, "reflect"), np.pad(x, 2, "symmetric"), np.pad(x, 3, "wrap")),
        X,
    ),
    (
        "pad statistics",
        lambda np, x: (np.pad(x, 1, "mean"), np.pad(x, 2, "maximum"), np.pad(x, 1, "median"), np.pad(x, 1, "minimum")),
        X,
    ),
    ("pad ramp", lambda np, x: (np.pad(x, 2, "linear_ramp"), np.pad(x, (1, 4), "linear_ramp", end_values=(5, -4))), X),
    (
        "pad odd",
        lambda np, x: (
            np.pad(x, 1, "reflect", reflect_type="odd"),
            np.pad(x, ((5, 2), (0, 9)), "reflect", reflect_type="odd"),
            np.pad(x, (4, 11), "symmetric", reflect_type="odd"),
            np.pad(x, 3, "symmetric", reflect_type="even"),
        ),
        I,
    ),
    (
        "pad part",
        lambda np, x: (
            np.pad(x, 2, "mean", stat_length=2),
            np.pad(x, 1, "maximum", stat_length=((1, 2), (2, 9), (1, 1))),
        ),
        X,
    ),
    ("pad by a function", lambda np, x: np.pad(x, (1, 2), _border, value=7), X),
    ("pad dict", lambda np, x: np.pad(x, {0: 1, 2: (1, 2)}), X),
    ("pad ints", lambda np, x: (np.pad(x, 1, constant_values=2), np.pad(x, 2, "mean"), np.pad(x, 2, "linear_ramp")), I),
    (
        "atleast",
        lambda np, x, v: (
            np.atleast_2d(v),
            np.atleast_3d(v),
            np.atleast_3d(x),
            np.atleast_2d(v, x),
            np.atleast_3d(x[0]),
        ),
        X,
        V,
    ),
    (
        "concatenate",
        lambda np, x: (np.concatenate([x, x]), np.concatenate((x, x[:, :1]), 1), np.concatenate([x, x], None)),
        X,
    ),
    (
        "concatenate dtypes",
        lambda np, x, i: (np.concatenate([x, i]), np.concatenate([i, i], dtype="f4"), np.concat([i, [[1, 2, 3, 4.5]]])),
        Y,
        I,
    ),
    ("concatenate out", lambda np, x, o: np.concatenate([x, x], out=o), X, numpy.zeros((4, 3, 4))),
    (
        "stack",
        lambda np, x: (
            np.stack([x, x]),
            np.stack([x, x], 1),
            np.stack([x, x], -1),
            np.vstack([x, x]),
            np.hstack([x, x]),
        ),
        X,
    ),
    (
        "columns",
        lambda np, x: (
            np.dstack([x, x]),
            np.column_stack([x[0], x[0]]),
            np.block([[x, x], [x, x]]),
            np.block([x[0], 1.0 * x[0]]),
        ),
        X,
    ),
    (
        "stack vectors",
        lambda np, v: (
            np.vstack([v, v]),
            np.dstack([v, v]),
            np.column_stack([v, v, np.outer(v, v)]),
            np.hstack([1, v]),
        ),
        V,
    ),
    (
        "split",
        lambda np, x: (
            np.split(x, 2),
            np.split(x, 3, 1),
            np.split(x, [1, 2], 1),
            np.array_split(x, 3, 2),
            np.array_split(x, 3, 0),
        ),
        X,
    ),
    (
        "splits",
        lambda np, x: (
            np.hsplit(x, 3),
            np.vsplit(x, 2),
            np.dsplit(x, 2),
            np.split(x, [1, 5], 1),
            np.unstack(x, axis=1),
        ),
        X,
    ),
    ("append", lambda np, x: (np.append(x, x), np.append(x, x, 1), np.append(x, 1)), X),
    (
        "astype",
        lambda np, x: (
            np.astype(x, numpy.float32),
            x.astype(int),
            x.astype("c16"),
            x.astype(bool),
            x.astype(numpy.int8),
        ),
        X,
    ),
    (
        "insert",
        lambda np, x: (np.insert(x, 1, 5.0), np.insert(x, 1, 0.0, axis=1), np.insert(x, [0, 2], 7.0, axis=2)),
        X,
    ),
    (
        "insert many",
        lambda np, x: (np.insert(x, -1, [1, 2, 3, 4.0], axis=1), np.insert(x, [1], [[7], [8], [9]], axis=2)),
        X,
    ),
    ("insert traced", lambda np, v, k: np.insert(v, k, 9.0), V, numpy.int64(2)),
    (
        "delete",
        lambda np, x: (
            np.delete(x, 1),
            np.delete(x, 1, axis=1),
            np.delete(x, [0, 2], axis=2),
            np.delete(x, slice(0, 2), 1),
        ),
        X,
    ),
    ("delete traced", lambda np, v, k: np.delete(v, k), V, numpy.int64(-2)),
    ("resize", lambda np, x: (np.resize(x, (5, 7)), np.resize(x, 3), np.resize(x, (0, 2)), np.resize(x[:0], 2)), X),
    (
        "empty",
        lambda np, x: (x[:0] + x[:0], np.concatenate([x[:0], x]), x[:0].T, np.stack([x[:0], x[:0]]), np.tile(x[:0], 2)),
        X,
    ),
    (
        "empty more",
        lambda np, x: (np.roll(x[:0], 1), np.flip(x[:0]), np.sort(x[:0]), np.cumsum(x[:0]), x[:0] @ x[:0].mT),
        X,
    ),
]


@pytest.mark.oracle("numpy>=2.4")
def test_values():
    check_all(CASES, ulps=16)


BAD = {
    "reshape": lambda np, x: x.reshape(5, 5),
    "two unknown": lambda np, x: x.reshape(-1, -1),
    "unknown of empty": lambda np, x: x[:0].reshape(-1, 0),
    "axes too few": lambda np, x: np.transpose(x, (0, 1)),
    "axes twice": lambda np, x: np.transpose(x, (0, 1, 1)),
    "axis outside": lambda np, x: np.transpose(x, (0, 1, 3)),
    "swapaxes": lambda np, x: np.swapaxes(x, 0, 3),
    "moveaxis": lambda np, x: np.moveaxis(x, (0, 1), 0),
    "expand_dims": lambda np, x: np.expand_dims(x, 5),
    "expand_dims twice": lambda np, x: np.expand_dims(x, (0, 0)),
    "squeeze": lambda np, x: np.squeeze(x, 0),
    "broadcast_to": lambda np, x: np.broadcast_to(x, (3, 5)),
    "broadcast_to fewer": lambda np, x: np.broadcast_to(x, (4,)),
    "diag": lambda np, x: np.diag(x),
    "concatenate": lambda np, x: np.concatenate([x, x[:, :1]]),
    "concatenate ranks": lambda np, x: np.concatenate([x, x[0]]),
    "concatenate nothing": lambda np, x: np.concatenate([]),
    "concatenate scalars": lambda np, x: np.concatenate([1, x]),
    "stack": lambda np, x: np.stack([x, x[0]]),
    "stack nothing": lambda np, x: np.stack([]),
    "split": lambda np, x: np.split(x, 3),
    "split axis": lambda np, x: np.split(x, 2, 5),
    "sum axis": lambda np, x: np.sum(x, 3),
    "flip axis": lambda np, x: np.flip(x, 4),
    "concatenate casting": lambda np, x: np.concatenate([x, x], dtype=np.int32, casting="safe"),
    "vstack casting": lambda np, x: np.vstack([x, x], dtype=np.int32, casting="safe"),
    "roll": lambda np, x: np.roll(x, (1, 2, 3), (0, 1)),
    "compress beyond": lambda np, x: np.compress(numpy.ones(5, bool), x, 2),
    "insert": lambda np, x: np.insert(x, 99, 1.0),
    "putmask": lambda np, x: np.putmask(x.astype("f4"), x > 1, x),
    "place": lambda np, x: np.place(x.astype("i8"), x > 1, x[0]),
}


@pytest.mark.parametrize("case", BAD)
def test_refused_as_by_numpy(case):
    same_refusal(BAD[case], X)


def test_messages():
    assert refusal(lambda np, x: x.reshape(5, 5), X) == (
        "cannot reshape array of size 24 into shape (5, 5)\n  at test_shapes.py\n  the array is float64[2,3,4]"
    )
    assert refusal(lambda np, x: np.broadcast_to(x, (3, 5)), X, kind=ShapeError) == (
        "broadcast_to: cannot broadcast float64[2,3,4] to shape [3, 5]\n  at test_shapes.py\n"
        "  trailing sizes must be equal, or 1 in the array"
    )
    assert refusal(lambda np, x, n: x.reshape(n, -1), X, 2, kind=DataDependentShapeError) == (
        "an array's shape with a traced extent\n  at test_shapes.py\n  every shape must be known while tracing; "
        "mark the argument static (static_argnums, static_argnames), or work at full size under a mask"
    )


@pytest.mark.parametrize("repeats", [[1, 0, 2], [2, 3, 1], 2])
def test_repeat_to_a_fixed_length(repeats):
    x = numpy.array([5, 6, 7])
    for length in (2, 9):
        wanted = numpy.append(numpy.repeat(x, repeats), [7] * length)[:length]
        call = functools.partial(numhlo.numpy.repeat, total_repeat_length=length)
        assert_same(call(x, repeats), wanted)
        assert_same(run_traced(call, (x, numpy.array(repeats)))[0], wanted)


RUNS = {
    "first": (0, lambda np, x, k: np.delete(x, k)),
    "last": (-1, lambda np, x, k: np.delete(x, k)),
    "every second": (slice(0, 9, 2), lambda np, x, k: np.delete(x, k)),
    "many": (slice(0, 30, 2), lambda np, x, k: np.delete(x, k)),
    "before all": (0, lambda np, x, k: np.insert(x, k, 7)),
    "behind all": (30, lambda np, x, k: np.insert(x, k, 7)),
    "in some places": ([3, 3, 30], lambda np, x, k: np.insert(x, k, [7, 8, 9])),
}


@pytest.mark.parametrize("case", RUNS)
def test_few_runs_are_slices(case):
    places, edit = RUNS[case]
    x = numpy.arange(30)
    wanted = edit(numpy, x, places)

    def changed(np, x):
        found = edit(np, x, places)
        found[0] = -1  # what is left is a copy
        return found, x

    call = functools.partial(changed, numhlo.numpy)
    found, same = run_traced(call, (x,))[0]
    numpy.testing.assert_array_equal(found[1:], wanted[1:])
    numpy.testing.assert_array_equal(same, numpy.arange(30))
    text = numhlo.jit(lambda x: edit(numhlo.numpy, x, places)).lower(x).as_text()
    assert ("gather" in text) == (case == "many")


@pytest.mark.parametrize("mode", ["minimum", "median", "linear_ramp", "reflect"])
def test_padding_beside_an_empty_axis(mode):
    check(lambda np, x: (np.pad(x, 0, mode), np.pad(x, [(0, 0), (1, 2)], mode)), numpy.zeros((0, 3)))


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
def test_padding_truth_values(mode):
    """Reflected at an odd edge, several times over, and ramps: what is not 0 is true."""
    for axis in (0, 1):
        widths = [(0, 0), (0, 0)]
        widths[axis] = (5, 14)
        for bits in ([[0, 1, 1]], [[1, 0, 0]], [[0, 1, 0], [0, 0, 0]], [[0, 0], [1, 0], [0, 0]]):
            x = numpy.array(bits, bool)
            check(lambda np, x, widths=widths: np.pad(x, widths, mode, reflect_type="odd"), x)
            check(lambda np, x: np.pad(x, 3, "linear_ramp", end_values=(1, -0.5)), x)
    same_refusal(lambda np, x: np.pad(x, 1, mode, reflect_type="odd"), numpy.zeros((0, 2), bool))
