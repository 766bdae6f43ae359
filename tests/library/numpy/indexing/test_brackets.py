"""Indexing read and written, with every mixture of indices, known and traced; ``.at[]``; messages."""

from __future__ import annotations

import pickle
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import numhlo.numpy
from numhlo.lowering.ir.errors import (
    ArgumentError,
    AxisOutOfBoundsError,
    ConcretizationError,
    DataDependentShapeError,
    InvalidIndexError,
)
from tests.library.agreement import assert_same, check, check_all, refusal, run_traced, same_refusal

X = numpy.arange(24.0).reshape(2, 3, 4)


@st.composite
def indices(draw, shape):
    """An index for ``shape``; arrays to be passed traced are in the second list, and marked by their number."""
    entries: list[Any] = []
    traced: list[numpy.ndarray] = []
    axis = 0
    batch = draw(st.sampled_from([(), (1,), (2,), (3, 2), (2, 1)]))
    while axis < len(shape):
        extent = shape[axis]
        kinds = ["slice", "none", "mask", "stop", *(["int", "array", "traced", "list"] if extent else [])]
        kind = draw(st.sampled_from(kinds))
        if kind == "stop":
            break
        entries.append(None if kind == "none" else _entry(draw, kind, extent, batch, traced))
        axis += kind != "none"
    if draw(st.booleans()) and axis == len(shape):
        entries.insert(draw(st.integers(0, len(entries))), Ellipsis)
    elif draw(st.booleans()):
        entries.append(Ellipsis)
    return entries, traced


def _entry(draw, kind, extent, batch, traced):
    if kind == "slice":
        bounds = st.one_of(st.none(), st.integers(-extent - 1, extent + 1))
        return slice(draw(bounds), draw(bounds), draw(st.sampled_from([None, 1, 2, -1, -2])))
    if kind == "mask":
        return numpy.array([draw(st.booleans()) for _ in range(extent)], bool)
    if kind == "int":
        return draw(st.integers(-extent, extent - 1))
    own = batch[draw(st.integers(0, len(batch))) :]
    values = [draw(st.integers(-extent, extent - 1)) for _ in range(int(numpy.prod(own)))]
    array = numpy.array(values, numpy.int64).reshape(own)
    if kind == "traced" and own:
        traced.append(array)
        return ("traced", len(traced) - 1)
    return array.tolist() if kind == "list" else array


def filled(entries, traced):
    return tuple(traced[e[1]] if isinstance(e, tuple) else e for e in entries)


@pytest.mark.slow
@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.data())
def test_random_indices(data):
    shape = data.draw(st.sampled_from([(4,), (3, 4), (2, 3, 4), (1, 3), (0, 3), (2, 1, 2, 3)]))
    entries, traced = data.draw(indices(shape))
    x = numpy.arange(float(numpy.prod(shape))).reshape(shape)
    try:
        target = x[filled(entries, traced)]
    except IndexError:  # index arrays don't broadcast
        with pytest.raises(IndexError, match="shape mismatch"):
            run_traced(lambda x, *t: x[filled(entries, t)], [x, *traced])
        return
    cut = data.draw(st.integers(0, target.ndim))
    value = numpy.arange(1.0, 1 + numpy.prod(target.shape[cut:])).reshape(target.shape[cut:])

    def read(np, x, v, *t):
        return x[filled(entries, t)]

    def write(np, x, v, *t):
        x[filled(entries, t)] = v
        return x + 0

    def update(np, x, v, *t):
        x[filled(entries, t)] += v
        view = x[filled(entries, t)]
        view *= 2
        return view, x + 0

    for fun in (read, write, update):
        check(fun, x, value, *traced, label=f"{fun.__name__} {shape} {entries}")


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.data())
def test_functional_updates(data):
    shape = data.draw(st.sampled_from([(4,), (3, 4), (2, 3, 4)]))
    entries, traced = data.draw(indices(shape))
    x = numpy.arange(1.0, 1 + numpy.prod(shape)).reshape(shape)
    try:
        target = x[filled(entries, traced)]
    except IndexError:
        return
    value = numpy.arange(1.0, 1 + target.size).reshape(target.shape)
    names = ["add", "multiply", "min", "max", "subtract"]

    def expected(name):
        result, index = x.copy(), filled(entries, traced)
        ufunc = {"min": numpy.minimum, "max": numpy.maximum}.get(name) or getattr(numpy, name)
        if name == "subtract":
            numpy.add.at(result, index, -value)
        else:
            ufunc.at(result, index, value)
        return result

    def f(x, v, *t):
        at = x.at[filled(entries, t)]
        return [getattr(at, name)(v) for name in names] + [at.get()]

    found, after = run_traced(f, [x, value, *traced])
    assert_same(found, [expected(name) for name in names] + [target])
    assert_same(after[0], x)
    assert_same(f(numhlo.numpy.asarray(x), value, *traced), found)


def test_more_updates():
    x = numpy.arange(1.0, 7.0)

    def f(x, k):
        return (
            x.at[[0, 1]].divide(2.0),
            x.at[2].power(2),
            x.at[1:3].apply(lambda v: -v),
            x.at[x > 2].set(0),
            x.at[x > 2].add(10),
            x.at[k].set(9),
            x.at[k].add(1),
            x.at[k].mul(3),
            x.at[[0, 9]].set(5, mode="drop"),
            x.at[[0, 9]].set(5, mode="clip"),
            x.at[[0, 9, -9]].get(mode="fill", fill_value=-1),
            x.at[[0, 9]].get(mode="clip"),
            x.at[k + 100].set(7, mode="drop"),
            x.at[k + 100].get(mode="clip"),
        )

    found, _ = run_traced(f, [x, numpy.int64(3)])
    wanted = f(numhlo.numpy.asarray(x), numpy.int64(3))
    assert found[8].tolist() == [5, 2, 3, 4, 5, 6] and found[9].tolist() == [5, 2, 3, 4, 5, 5]
    assert found[10].tolist() == [1, -1, -1] and found[11].tolist() == [1, 6]
    assert_same(found, wanted)
    assert found[12].tolist() == x.tolist() and found[13] == 6


def test_traced_masks():
    def f(np, x, m, v):
        x[m] = 0.5
        y = x.copy()
        y[m] = v
        x[:, 0][m[:, 0]] = -1
        z = x.copy()
        z[m[:, 0]] = [1.0, 2.0, 3.0, 4.0]
        return x + 0, y, z, np.sum(x, where=m)

    x = X[0]
    mask = numpy.array([[True, False, True, False], [False] * 4, [True, True, False, True]])
    check(f, x, mask, numpy.arange(5.0) + 10)


def test_traced_positions_read_and_write():
    def f(np, x, i, j):
        x[i, 1] = 100
        x[i, j, -1] += 1
        row = x[j]
        row *= 2
        element = x[i, j, 0]
        element += 5
        return x[:, i], x[..., j, None], x[i, :, j], element, x[(i, slice(None, None, 2))], x[-i - 1]

    check(f, numpy.arange(60.0).reshape(3, 4, 5), numpy.int64(1), numpy.int32(-1))


def test_negative_zero_and_python_containers():
    check_all(
        [
            ("list", lambda np, x: x[[0, 1], [1, 2]], X),
            ("nested", lambda np, x: x[[[0, 1], [1, 0]]], X),
            ("empty list", lambda np, x: x[[]], X),
            ("true", lambda np, x: (x[True], x[None, True]), X),
            ("np.bool", lambda np, x: x[numpy.True_], X),
            ("uint8", lambda np, x: x[numpy.uint8(1)], X),
            ("list of slices", lambda np, x: x[(slice(0, 1), [0, 2])], X),
            ("ellipsis only", lambda np, x: (x[...], x[()], x[..., 0], x[0, ..., 0]), X),
            ("integer array", lambda np, x, i: x.flat[i], X, numpy.array([0, 23, 5])),
        ]
    )


@pytest.mark.parametrize("index", [[[7]], [[-3]], [[0.5]]])
def test_known_indices_along_an_axis_are_checked(index):
    same_refusal(lambda np, x: np.take_along_axis(x, np.array(index), 0), X[:, :1, 0])
    same_refusal(lambda np, x: np.put_along_axis(x, np.array(index), 1.0, 0), X[:, :1, 0])
    same_refusal(lambda np, x: np.take(x, np.array([0, 2]), 0), X)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ((0, 5), "index 5 is out of bounds for axis 1 with size 3\n  at test_brackets.py"),
        ((0, 0, 0, 0), "too many indices: the array is 3-dimensional, but 4 were indexed\n  at test_brackets.py"),
        (([0, 1], [0, 1, 2]), "shape mismatch: indexing arrays could not be broadcast together with shapes (2,) (3,)\n"
         "  at test_brackets.py\n  use numpy.ix_ to select every combination of rows and columns"),
        (numpy.ones((2, 2), bool), "boolean index of shape (2, 2) does not match the indexed axes of shape (2, 3)\n"
         "  at test_brackets.py"),
    ],
)  # fmt: skip
def test_messages_of_known_indices(index, message):
    assert refusal(lambda np, x: x[index], X, kind=AxisOutOfBoundsError) == message


class Second:
    def __index__(self):
        return 1

    def __repr__(self):
        return "Second()"


SEQUENCES = [
    (1, (1, 2)), ((1, 0), (0, 2)), ((1, 0),), ((True, False), ...), ((), 0), (0, ((1, 2), (0, 1))), (0, range(2)),
    Second(), (0, Second(), slice(1)), ([1, 0], (0, 2), 1),
]  # fmt: skip


@pytest.mark.parametrize("index", SEQUENCES, ids=str)
def test_sequences_and_numbers_of_other_classes(index):
    def write(np, x):
        x[index] = -1.0
        return x

    check(lambda np, x: x[index], X)
    check(write, X)


def test_messages_of_traced_indices():
    assert refusal(lambda np, x: x[x > 2].reshape(-1), X, kind=DataDependentShapeError) == (
        "x[mask] with a traced boolean mask bool[2,3,4]\n  at test_brackets.py\n"
        "  the extent of the result would depend on the mask's values; "
        "use where(mask, x, fill), a reduction with where=mask, or x[nonzero(mask, size=n)]"
    )
    assert refusal(lambda np, x, n: x[:n].reshape(-1), X, 2, kind=DataDependentShapeError) == (
        "a slice with a traced bound\n  at test_brackets.py\n"
        "  the extent of the result would depend on a value that is not known while tracing; "
        "use lax.dynamic_slice(x, starts, sizes) with a static size, or a mask: where(arange(n) < stop, x, 0)"
    )
    assert "only integers, slices" in refusal(lambda np, x: x["a"], X, kind=InvalidIndexError)
    assert refusal(lambda np, x: x[x], X, kind=InvalidIndexError) == (
        "an index that is float64[2,3,4]\n  at test_brackets.py\n"
        "  only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
        "indices; convert what counts elements with int(), x // y or x.astype(int)"
    )
    assert refusal(lambda np, x: x[..., ...], X, kind=IndexError).startswith("an index can only have a single ellipsis")
    assert refusal(lambda np, x: x[:1.5], X, kind=TypeError) == (
        "slice indices must be integers or None or have an __index__ method\n  at test_brackets.py"
    )
    assert refusal(lambda np, x: x[::0], X, kind=ValueError) == "slice step cannot be zero\n  at test_brackets.py"
    assert refusal(lambda np, x: x.at[0].set(1, mode="wrap"), X, kind=ArgumentError) == (
        ".at[...] with mode='wrap'\n  at test_brackets.py\n  use promise_in_bounds, clip, drop or fill"
    )
    message = refusal(lambda np, x, i: [1, 2][i], X, 1, kind=ConcretizationError)
    assert message.startswith("the use as a Python index or length of a traced array int64[]")


def test_concrete_arrays():
    x = numhlo.numpy.arange(4)
    y = x.at[1].set(9)
    assert type(y) is numhlo.Array and y.tolist() == [0, 9, 2, 3] and x.tolist() == [0, 1, 2, 3]
    assert x.at[x > 1].add(10).tolist() == [0, 1, 12, 13] and "at of" in repr(x.at)
    assert repr(x.at[2]).startswith("<at 2 of ")
    assert x.__array_namespace__() is numhlo.numpy and x.device == "cpu" and x.to_device("cpu") is x
    assert x.block_until_ready() is x
    again = pickle.loads(pickle.dumps(x))
    assert type(again) is numhlo.Array and again.tolist() == x.tolist()
    x[1:3] = 7
    assert x.tolist() == [0, 7, 7, 3] and repr(x) == "Array([0, 7, 7, 3])"


@pytest.mark.parametrize("value", [300, -1, numpy.nan, 1e300, 1j, [1, 300]])
@pytest.mark.parametrize(
    "write",
    [
        lambda np, x, v: x.__setitem__(slice(0, 2), v),
        lambda np, x, v: x.__setitem__([0, 1], v),
        lambda np, x, v: x.__setitem__(x[:, 0] > 3, v),
        lambda np, x, v: np.putmask(x, x > 3, v),
        lambda np, x, v: np.insert(x, 0, v, 1),
    ],
)
def test_numbers_that_a_dtype_cannot_hold(write, value):
    same_refusal(lambda np, x: write(np, x, value), numpy.arange(8, dtype=numpy.uint8).reshape(4, 2))


def test_narrow_arrays_filled():
    same_refusal(lambda np, x: x.fill(x[:1]), numpy.ones(2))
    same_refusal(lambda np, x: np.nonzero(x[0]), numpy.ones(2))
    same_refusal(lambda np, x: np.full_like(x, 300), numpy.ones(2, numpy.uint8))
    check(lambda np, x: np.full_like(x, 1.5), numpy.ones(2, numpy.uint8))
    check(lambda np, x: np.insert(x, -1, x[:, :1]), numpy.ones((1, 2)))


@pytest.mark.parametrize("mode", ["clip", "wrap", "raise"])
def test_bounded_places_are_not_counted_from_the_end_again(mode):
    places = numpy.array([0, 2, 1])
    function = numhlo.jit(lambda x, at: numpy.take(x, at, mode=mode))
    text = function.lower(numpy.arange(3.0), places).as_text()
    assert text.count("stablehlo.compare") == (0 if mode == "clip" else 1)  # a remainder may be negative
    far = places if mode == "raise" else places * 3 - 4
    numpy.testing.assert_array_equal(function(numpy.arange(3.0), far), numpy.take(numpy.arange(3.0), far, mode=mode))
