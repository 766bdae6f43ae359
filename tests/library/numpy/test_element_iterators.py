"""`numpy.nditer` of traced arrays: NumPy's own as the oracle, for elements, places, what is written, and refusals."""

import copy

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import UnsupportedError

M, X = np.arange(6.0).reshape(2, 3) - 2.5, np.array([2.0, -1.0, 3.5])


def into_a_third(m, x):
    out = np.empty(3)
    for a, b, c in np.nditer([x, m[1], out], op_flags=[["readonly"], ["readonly"], ["writeonly"]]):
        c[...] = a * b
    return out


def allocated(m, x):
    it = np.nditer([m, x, None])
    for a, b, c in it:
        c[...] = a + b
    with np.nditer([x[:, None], m[0], None], flags=["multi_index"]) as other:
        for a, b, c in other:
            c[...] = a * b + other.multi_index[0]
        return it.operands[2], other.operands[2], it.finished, [*it]


def orders(m, x):
    total = 0.0
    for order in "CFK":
        for v in np.nditer(m, order=order):
            total = total * 0.5 + v
    for flag in ("c_index", "f_index"):
        it = np.nditer(m, flags=[flag])
        for v in it:
            total = total + v * it.index
    return total


def reduced(m, x):
    totals = np.zeros((2, 1))
    with np.nditer([m, totals], ["reduce_ok"], [["readonly"], ["readwrite"]]) as it:
        for a, b in it:
            b[...] += a
    pieces = [piece.sum() for piece in np.nditer(m, flags=["external_loop", "buffered"])]
    return totals, pieces, [*np.nditer(m[:0], flags=["zerosize_ok"])]


def stepwise(m, x):
    it = np.nditer(m)
    first, second = next(it), next(it)
    it.reset()
    again = next(it)
    it.iternext()
    return first, second, again, it[0], [*it]


def in_place(m, x):
    with np.nditer([m, x], op_flags=["readwrite"], flags=["reduce_ok"]) as it:
        for a, b in it:
            a[...] = a * 2
            b[...] += 1
    return m.sum()


@pytest.mark.parametrize("f", [into_a_third, allocated, orders, reduced, stepwise, in_place])
def test_as_numpy(f):
    mine, theirs = copy.deepcopy((M, X)), copy.deepcopy((M, X))
    found, wanted = numhlo.jit(f)(*mine), f(*theirs)
    assert numhlo.tree_util.tree_structure(found) == numhlo.tree_util.tree_structure(wanted)
    pairs = zip(*map(numhlo.tree_util.tree_leaves, ((found, mine), (wanted, theirs))), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-15)
        assert np.asarray(a).dtype == np.asarray(b).dtype


def write_read_only(m, x):
    for v in np.nditer(m):
        v[...] = 0


REFUSED = {
    "shapes": lambda m, x: np.nditer([m, x[:2]]),
    "index": lambda m, x: np.nditer(m).index,
    "multi_index": lambda m, x: np.nditer(m).multi_index,
    "empty": lambda m, x: np.nditer(m[:0]),
    "operand": lambda m, x: np.nditer(m)[1],
    "broadcast": lambda m, x: np.nditer([m, x], op_flags=["readwrite"]),
    "attribute": lambda m, x: np.nditer(m).nothing,
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_as_by_numpy(name):
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - whatever NumPy raises
        REFUSED[name](M, X)
    with pytest.raises(theirs.type):
        numhlo.jit(REFUSED[name]).trace(M, X)


def test_what_is_left_out():
    with pytest.raises(TypeError, match="assignment to elements of a scalar"):
        numhlo.jit(write_read_only).trace(M, X)
    for f, text in (
        (lambda m, x: np.nditer(m.T), "in another order than the elements are written in"),
        (lambda m, x: np.nditer([m, x], op_axes=[[0, 1], [-1, 0]]), "with options on axes, dtypes or buffers"),
        (
            lambda m, x: np.nditer([m, x], ["external_loop"]),
            "in pieces of operands that are no whole arrays of one shape",
        ),
        (lambda m, x: np.nditer(m).remove_axis(0), "and its remove_axis"),
    ):
        with pytest.raises(UnsupportedError, match=rf"numpy.nditer {text}, while tracing\n  at test_element"):
            numhlo.jit(f).trace(M, X)
