"""Functions of named axes against JAX: eager, jitted, nested, in loops, and differentiated."""

import jax
import numpy as np
import pytest

import numhlo
import numhlo.compat.jax
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, UnsupportedError

pytestmark = pytest.mark.usefixtures("first_answers")

jax.config.update("jax_enable_x64", True)
OURS = numhlo.compat.jax
RNG = np.random.default_rng(5)
X = RNG.normal(size=(4, 3))
SQUARE = RNG.normal(size=(4, 4, 3))
PERM = [(0, 2), (2, 1), (3, 3), (1, 0)]

# name, function of the library, its argument
CASES = {
    "psum": (lambda J, x: x / J.lax.psum(x, "i"), X),
    "psum of a tree and a number": (lambda J, x: (J.lax.psum({"a": x, "b": x[0]}, "i"), J.lax.psum(2, "i")), X),
    "pmean": (lambda J, x: x - J.lax.pmean(x, "i"), X),
    "extremes": (lambda J, x: (J.lax.pmax(x, "i"), J.lax.pmin(x[0], "i")), X),
    "axis_index": (lambda J, x: x * J.lax.axis_index("i") + J.lax.axis_size("i"), X),
    "all_gather": (lambda J, x: J.lax.all_gather(x, "i"), X),
    "all_gather along another axis": (lambda J, x: J.lax.all_gather(x, "i", axis=1), X),
    "all_gather tiled": (lambda J, x: J.lax.all_gather(x, "i", tiled=True), X),
    "all_to_all": (lambda J, x: J.lax.all_to_all(x, "i", 0, 1), SQUARE),
    "all_to_all tiled": (lambda J, x: J.lax.all_to_all(x, "i", 0, 1, tiled=True), SQUARE),
    "all_to_all tiled on one axis": (lambda J, x: J.lax.all_to_all(x, "i", 0, 0, tiled=True), np.tile(SQUARE, (1, 2, 1))),
    "ppermute": (lambda J, x: J.lax.ppermute(x, "i", PERM), X),
    "pshuffle": (lambda J, x: J.lax.pshuffle(x, "i", [3, 2, 0, 1]), X),
    "pswapaxes": (lambda J, x: J.lax.pswapaxes(x, "i", 0), SQUARE),
    "psum_scatter": (lambda J, x: J.lax.psum_scatter(x, "i"), SQUARE),
    "psum_scatter tiled": (lambda J, x: J.lax.psum_scatter(x, "i", tiled=True), np.tile(SQUARE, (1, 2, 1))),
    "in a scan": (lambda J, x: J.lax.scan(lambda c, v: (c + J.lax.psum(v, "i"), J.lax.pmean(c * v, "i")), 0.0, x), X),
    "in a loop that is the same for all": (
        lambda J, x: J.lax.fori_loop(0, 3, lambda k, c: c * 0.5 + J.lax.psum(x, "i") * J.lax.axis_index("i"), x),
        X,
    ),
    "in a jitted function": (lambda J, x: J.jit(lambda v: v + J.lax.psum(v, "i"))(x), X),
    "of what is the same for all": (lambda J, x: x + J.lax.psum(J.numpy.ones(3), "i") + J.lax.pmax(2.0, "i"), X),
    "under another vmap": (lambda J, x: J.vmap(lambda v: J.lax.psum(v, "i") + J.lax.axis_index("i"))(x), X),
    "over two axes": (
        lambda J, x: J.vmap(lambda v: (J.lax.psum(v, ("i", "j")), J.lax.all_gather(v, "i"), J.lax.psum(v, "j")), axis_name="j")(x),
        X,
    ),
    "derivative forwards": (lambda J, x: J.jvp(lambda v: J.lax.pmean(v**2, "i") * v, (x,), (x + 1.0,))[1], X),
    "Jacobian forwards": (lambda J, x: J.jacfwd(lambda v: J.lax.ppermute(v**2, "i", PERM))(x), X),
    "gradient of ppermute": (lambda J, x: J.grad(lambda v: (J.lax.ppermute(v**2, "i", PERM) * x).sum())(x), X),
    "gradient of psum": (lambda J, x: J.grad(lambda v: (J.lax.psum(v**2, "i") * x).sum())(x), X),
    "gradient of all_gather": (lambda J, x: J.grad(lambda v: (J.lax.all_gather(v**2, "i") ** 2).sum())(x), X),
    "gradient of all_to_all": (lambda J, x: J.grad(lambda v: (J.lax.all_to_all(v**2, "i", 0, 0) * x).sum())(x), SQUARE),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("jit", [False, True])
def test_same_as_jax(jit):
    def results(lib, wrap):
        return {name: wrap(lib.vmap(lambda x, f=f: f(lib, x), axis_name="i"))(x) for name, (f, x) in CASES.items()}

    expected = results(jax, jax.jit)
    found = results(OURS, OURS.jit if jit else lambda f: f)
    for name, wanted in expected.items():
        leaves = [jax.tree_util.tree_leaves(tree) for tree in (found[name], wanted)]
        assert len(leaves[0]) == len(leaves[1]), name
        for a, b in zip(*leaves, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14, err_msg=name)


def test_normalization_over_the_batch_trains_as_in_plain_code():
    def normalized(x):
        return (x - numhlo.lax.pmean(x, "batch")) / np.sqrt(numhlo.lax.pmean(x**2, "batch") + 1)

    def plain(x):
        return (x - x.mean(0)) / np.sqrt((x**2).mean(0) + 1)

    def loss(f, x):
        return (f(x) ** 3).sum()

    lanes = numhlo.vmap(normalized, axis_name="batch")
    np.testing.assert_allclose(lanes(X), plain(X))
    np.testing.assert_allclose(numhlo.grad(lambda x: loss(lanes, x))(X), numhlo.grad(lambda x: loss(plain, x))(X))


def test_mistakes():
    with pytest.raises(NameError, match=r"unbound axis name: 'j'\n  at test_collectives.py.*\n.*around here: 'i'"):
        numhlo.vmap(lambda x: numhlo.lax.psum(x, "j"), axis_name="i")(X)
    with pytest.raises(NameError, match="unbound"):
        numhlo.lax.axis_index("i")
    with pytest.raises(ArgumentError, match="at most once"):
        numhlo.vmap(lambda x: numhlo.lax.ppermute(x, "i", [(0, 1), (0, 2)]), axis_name="i")(X)
    with pytest.raises(ShapeError, match="extent 3 for 4 lanes"):
        numhlo.vmap(lambda x: numhlo.lax.all_to_all(x, "i", 0, 0), axis_name="i")(X)
    with pytest.raises(UnsupportedError, match="the derivative of pmax"):
        numhlo.vmap(numhlo.grad(lambda x: numhlo.lax.pmax(x, "i").sum()), axis_name="i")(X)

    def differs(x):
        return numhlo.lax.cond(x[0] > 0, lambda: numhlo.lax.psum(x, "i"), lambda: x)

    with pytest.raises(UnsupportedError, match="differs from lane to lane"):
        numhlo.vmap(differs, axis_name="i")(X)


def test_lanes_that_get_nothing_have_zeros():
    f = numhlo.vmap(lambda x: numhlo.lax.ppermute(x, "i", [(0, 2), (3, 1)]), axis_name="i")
    zero = np.zeros(3)
    np.testing.assert_array_equal(f(X), [zero, X[3], X[0], zero])
    np.testing.assert_array_equal(numhlo.grad(lambda x: (f(x) * X).sum())(X), [X[2], zero, zero, X[1]])


def test_all_to_all_backwards_between_different_axes():
    f = numhlo.vmap(lambda x: numhlo.lax.all_to_all(x, "i", 0, 1), axis_name="i")
    weights = RNG.normal(size=(4, 3, 4))
    gradient = numhlo.grad(lambda x: (f(x) * weights).sum())(SQUARE)
    np.testing.assert_allclose(
        (gradient * X[:, None]).sum(), (f(np.broadcast_to(X[:, None], (4, 4, 3))) * weights).sum()
    )
