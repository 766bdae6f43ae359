"""Single expressions on which JAX's rules and NumPy's part, with JAX as the oracle: at once and traced."""

from __future__ import annotations

import re

import jax
import numpy as np
import pytest

import numhlo
import numhlo.compat.jax as compat
from numhlo.lowering.ir.errors import (
    AxisOutOfBoundsError,
    ControlFlowTypeError,
    DTypeError,
    ShapeError,
    UnsupportedError,
)

jax.config.update("jax_enable_x64", True)

UNEVEN = [[4.0, 1.0], [0.5, 5.0]]


def matrix(j):
    return j.numpy.array(UNEVEN)


CASES = {
    "powers multiply where indices repeat": lambda j: (
        j.numpy.arange(4.0).at[j.numpy.array([3, 3, 2, 9])].power(2),
        j.numpy.arange(4).at[j.numpy.array([3, 3, 2])].power(2),
        j.numpy.arange(4.0).at[1:].power(j.numpy.array([2, 3, 0.5])),
        j.grad(lambda x: x.at[j.numpy.array([1, 0])].power(3.0).sum())(j.numpy.arange(1.0, 4.0)),
    ),
    "a function is applied again where indices repeat": lambda j: (
        j.numpy.arange(4.0).at[j.numpy.array([3, 3, 2, 9])].apply(lambda v: v * 2 + 1),
        j.numpy.arange(6.0).reshape(2, 3).at[j.numpy.array([1, 1])].apply(j.numpy.sin),
        j.numpy.arange(6.0).at[1:3].apply(lambda v: -v),
        j.vmap(lambda x, i: x.at[i].apply(lambda v: v + 1))(j.numpy.zeros((2, 3)), j.numpy.array([[0, 0], [1, 2]])),
    ),
    "integers divided become floats": lambda j: (
        j.numpy.arange(4).at[1].divide(2),
        j.numpy.arange(4).at[j.numpy.array([2, 2, 3])].divide(2),
    ),
    "indices are not counted from the end": lambda j: (
        j.numpy.arange(4.0).at[-1].set(9.0, wrap_negative_indices=False),
        j.numpy.arange(4.0).at[j.numpy.array([-1, 1])].add(9.0, wrap_negative_indices=False, mode="clip"),
        j.numpy.arange(4.0).at[j.numpy.array([-1, 1])].get(wrap_negative_indices=False, mode="fill", fill_value=-5.0),
        j.numpy.arange(6.0).reshape(2, 3).at[:, j.numpy.array([-1, 1])].set(7.0, wrap_negative_indices=False),
    ),
    "modes by name": lambda j: (
        j.numpy.arange(4.0).at[j.numpy.array([7])].set(1.0, mode=j.lax.GatherScatterMode.CLIP),
        j.numpy.arange(4.0).at[j.numpy.array([1, 7])].get(mode=j.lax.GatherScatterMode.FILL_OR_DROP),
        j.numpy.arange(4.0).at[j.numpy.array([1, 7])].get(mode="drop"),
        j.numpy.arange(4.0).at[j.numpy.array([1, 7])].set(5.0, mode="fill"),
    ),
    "clipped indices are counted from the end first": lambda j: (
        j.numpy.arange(3.0).at[j.numpy.array([-1, -4])].add(9.0, mode="clip"),
        j.numpy.arange(3.0).at[j.numpy.array([-1, -4, 5])].get(mode="clip"),
        j.jit(lambda i: j.numpy.arange(3.0).at[i].set(9.0, mode="clip"))(-1),
    ),
    "an integer far below the first beside an array": lambda j: j.jit(
        lambda x, k: (
            x[j.numpy.array([0, 1]), k],
            x.at[j.numpy.array([0, 1]), k].add(10.0),
            x.at[j.numpy.array([0, 1]), k].get(mode="clip"),
            x.at[0, k].get(mode="fill", fill_value=-1.0),
        )
    )(j.numpy.arange(6.0).reshape(2, 3), -5),
    "unrolled scans of nothing": lambda j: j.jit(
        lambda c, xs: j.lax.scan(lambda c, x: (c + x, {"y": c * x}), c, xs, unroll=True)
    )(1.0, j.numpy.zeros((0,))),
    "numbers in the state of unrolled scans": lambda j: j.jit(
        lambda xs: j.lax.scan(
            lambda s, x: ({"n": s["n"] + 1, "x": x * s["n"].astype(float)}, s["n"].dtype == int),
            {"n": 0, "x": 0.0},
            xs,
            unroll=True,
        )
    )(j.numpy.ones(2)),
    "numbers in the state of loops take the dtype of what is added": lambda j: (
        j.lax.scan(lambda c, x: (c + x, c), 0, j.numpy.ones(3, "float32")),
        j.lax.fori_loop(0, 2, lambda i, c: c + 0.5, j.numpy.array(1)),
        j.lax.while_loop(lambda c: c < 3, lambda c: c + 0.5, 1),
    ),
    "integers beside narrow floats": lambda j: [
        f(x, y)
        for x, y in [(j.numpy.ones(3, "bfloat16"), j.numpy.arange(3, dtype="int32")), (np.arange(3), np.ones(3))]
        for x, y in [(x.astype("bfloat16"), j.numpy.asarray(y)), (j.numpy.asarray(y), x.astype("bfloat16"))]
        for f in (
            lambda x, y: x * y + y,
            j.numpy.subtract,
            j.numpy.hypot,
            j.numpy.convolve,
            lambda x, y: j.numpy.where(x > y, x, y),
            lambda x, y: j.numpy.concatenate([x, y]),
            lambda x, y: j.numpy.stack([x, y]) @ j.numpy.ones(3, "float16"),
        )
    ],
    "integers out of bounds wrap": lambda j: [
        (
            [f(x, n) for n in (200, -300, 2**40)],
            [200 - x, x % 77 & 200, 300 | x, divmod(x, 300), x << 1 ^ 1000],
            [x.at[1].add(200), x.at[j.numpy.array([1, 1])].multiply(300), x.at[0].min(200)],
            j.numpy.full(2, 300, x.dtype),
            j.numpy.full_like(a=x, fill_value=-300),
        )
        for x in (j.numpy.arange(3, dtype="int8"), j.numpy.arange(3, dtype="uint8"))
        for f in (j.numpy.add, lambda x, n: n * x, lambda x, n: j.numpy.maximum(x, n))
    ],
    "bounds, choices and powers of small integers": lambda j: [
        (
            [j.numpy.clip(x, 5), j.numpy.clip(x, 0, 200), j.numpy.clip(x, max=1)],
            j.jit(lambda x: j.numpy.where(x > 1, x, 300))(x),
            [
                x**300,
                j.jit(lambda x: x**1000)(x),
                j.numpy.power(x, 257),
                300 ** (x & 7),
                j.jit(lambda x: 300**x)(x & 3),
            ],
        )
        for x in (j.numpy.arange(-3, 6).astype("int8"), j.numpy.arange(9, dtype="uint8"))
    ],
    "complex numbers where NumPy has no loop": lambda j: [
        (
            [f(z, w) for f in (j.numpy.arctan2, j.jit(j.numpy.logaddexp), j.numpy.logaddexp2)],
            [f(z) for f in (j.numpy.deg2rad, j.numpy.degrees, j.nn.softplus, j.nn.log_sigmoid, j.nn.mish)],
            j.grad(lambda z: j.numpy.logaddexp(z, 2j).real.sum())(z),
        )
        for z in [j.numpy.array([1 + 2j, -0.5 + 0.3j, 0.2j, 3 - 1j])]
        for w in [j.numpy.array([0.5 - 1j, 2j, 1 + 7j, -1 - 1j])]
    ],
    "dicts come back sorted": lambda j: [
        np.array([ord(key) for key in tree])
        for d in [{"b": 1.0, "a": (2.0, {"d": 3, "c": 4})}]
        for leaves, structure in [j.tree_util.tree_flatten(d)]
        for tree in (
            j.tree.map(lambda x: x, d),
            j.tree_util.tree_unflatten(structure, leaves),
            structure.unflatten(leaves),
            j.tree_util.tree_map_with_path(lambda path, x: x, d)["a"][1],
            structure.children()[0].children()[1].node_data()[1],
        )
    ],
    "slopes of eigenvectors are asked for": lambda j: j.jvp(
        lambda x: j.lax.linalg.eig(x, compute_left_eigenvectors=False, enable_eigvec_derivs=True),
        (matrix(j),),
        (j.numpy.cos(matrix(j)),),
    ),
    "numbers that bodies take are arrays": lambda j: j.jit(
        lambda p: (
            j.lax.cond(p, lambda x: x.astype(float), lambda x: x * 1.5, 3),
            j.lax.switch(1, [lambda x: x * 1.0, lambda x: x.astype(float) + x.ndim], 3),
            j.lax.fori_loop(0, 3, lambda i, c: c + i.astype(float) * c.dtype.itemsize, 1.0, unroll=True),
            j.lax.cond(p, lambda x, y: x * y, lambda x, y: x, j.numpy.ones(2, "float32"), 2.0),
        )
    )(True),
    "slopes of convolutions without elements": lambda j: (
        j.jacrev(lambda x, w: j.lax.conv_general_dilated(x, w, (3,), [(-1, -1)]), argnums=(0, 1))(
            j.numpy.ones((2, 2, 2)), j.numpy.ones((4, 2, 1))
        )
        + j.vjp(
            lambda x, w: j.lax.conv_general_dilated(x, w, (3,), [(-1, -1)]),
            j.numpy.ones((2, 2, 2)),
            j.numpy.ones((4, 2, 1)),
        )[1](j.numpy.ones((2, 4, 0)))
    ),
    "slopes at nodes": lambda j: j.jacrev(j.numpy.interp, argnums=(0, 1, 2))(
        j.numpy.array([-1.0, -0.5, -0.2, 0.0, 0.7, 1.0]),
        j.numpy.array([-0.5, 0.0, 0.7]),
        j.numpy.array([1.0, -1.0, 2.0]),
    ),
    "edits that return": lambda j: (
        j.numpy.fill_diagonal(matrix(j), 3.0, inplace=False),
        j.numpy.put(j.numpy.zeros(4), j.numpy.array([0, 2]), j.numpy.array([7.0, 8.0]), inplace=False),
        j.numpy.place(j.numpy.arange(4.0), j.numpy.arange(4) > 1, j.numpy.array([7.0, 8.0]), inplace=False),
        j.numpy.put_along_axis(j.numpy.zeros((2, 4)), j.numpy.array([[0], [2]]), 7.0, axis=1, inplace=False),
    ),
    "matrices are symmetrized": lambda j: (
        j.numpy.linalg.cholesky(matrix(j)),
        j.numpy.linalg.cholesky(matrix(j), symmetrize_input=False),
        j.numpy.linalg.cholesky(matrix(j) * (1 + 0.1j), upper=True),
        j.numpy.abs(j.numpy.linalg.eigh(matrix(j))[1]),
        j.numpy.linalg.eigvalsh(matrix(j), "U", symmetrize_input=False),
        j.scipy.linalg.eigh(matrix(j), eigvals_only=True),
        j.jacrev(j.numpy.linalg.cholesky)(matrix(j)),
        j.jacfwd(j.numpy.linalg.eigvalsh)(matrix(j)),
        j.numpy.linalg.cholesky(j.numpy.array([[True, False], [True, True]])).astype("float32"),
        j.numpy.linalg.eigvalsh(j.numpy.array([[200, 100], [100, 200]], "uint8")).round().astype("float32"),
    ),
    "no matrix is refused for its numbers": lambda j: (
        j.numpy.linalg.cholesky(j.numpy.array([[1.0, 2.0], [2.0, 1.0]])),
        j.numpy.isfinite(j.numpy.linalg.inv(j.numpy.ones((2, 2)))),
        j.numpy.linalg.svd(j.numpy.full((2, 2), np.nan))[1],
    ),
    "integers have no slopes": lambda j: (
        j.vjp(lambda x, i: x[i] * 2, j.numpy.arange(3.0), j.numpy.array([0, 2, 2]))[1](j.numpy.ones(3))[0],
        j.vjp(lambda d: d["x"] * d["n"], {"x": j.numpy.arange(3.0), "n": 3})[1](j.numpy.ones(3))[0]["x"],
        j.linearize(lambda x, i: x[i], j.numpy.arange(3.0), 1)[1](j.numpy.ones(3), np.zeros((), j.dtypes.float0)),
        j.jacrev(lambda x, i: x[i], argnums=(0, 1), allow_int=True)(j.numpy.arange(3.0), j.numpy.array([0, 2])),
    ),
    "strict operations spread extents of 1": lambda j: (
        j.lax.max(j.numpy.ones((2, 1)), j.numpy.arange(3.0)[None]),
        j.lax.atan2(j.numpy.ones((2, 3)), j.numpy.arange(3.0)[None]),
        j.grad(lambda x: j.lax.mul(x, j.numpy.arange(6.0).reshape(2, 3)).sum())(j.numpy.ones((2, 1))),
    ),
    "rows of slopes by complex numbers": lambda j: j.jacrev(lambda z: j.numpy.real(z * z))(
        j.numpy.array([1 + 2j, 3 - 1j])
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_agrees_with_jax(name):
    wanted = jax.tree.leaves(jax.jit(lambda: CASES[name](jax))())
    with numhlo.debugging(engine="interpreter"):  # kernels have their own tests
        traced = compat.jit(lambda: CASES[name](compat))()
    for found in (CASES[name](compat), traced):
        for mine, theirs in zip(compat.tree.leaves(found), wanted, strict=True):
            assert mine.dtype == theirs.dtype
            np.testing.assert_allclose(mine, np.asarray(theirs), rtol=1e-12, atol=1e-15)


LOOPS = {
    "while_loop": lambda j, x: j.lax.while_loop(lambda c: c[0] < 3, lambda c: c + 0.5, x),
    "fori_loop": lambda j, x: j.lax.fori_loop(0, 3, lambda i, c: c + 1.5, x),
    "scan": lambda j, x: j.lax.scan(lambda c, y: (c + y, None), x, j.numpy.ones(2)),
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("dtype", ["bool", "int32"])
def test_loops_keep_the_kind_of_what_they_carry(loop, dtype):
    with pytest.raises(TypeError):
        LOOPS[loop](jax, jax.numpy.ones(1, dtype))
    for run in (LOOPS[loop], lambda j, x: compat.jit(lambda x: LOOPS[loop](j, x))(x)):
        with pytest.raises(ControlFlowTypeError, match="changes the type of the carry"):
            run(compat, compat.numpy.ones(1, dtype))


def test_what_stands_for_slopes_by_integers():
    values = {"w": 2.0, "n": 3}
    slopes = compat.grad(lambda p: p["w"] ** p["n"], allow_int=True)(values)
    assert slopes["n"].dtype == compat.float0 and slopes["w"] == 12
    pulled = compat.vjp(lambda x, i: x[i], np.arange(3.0), np.array([1, 1]))[1](np.ones(2))
    assert pulled[1].dtype == compat.float0 and pulled[1].shape == (2,)
    assert repr(pulled[1]).startswith("Array([(b'',), (b'',)]")
    moved = compat.jvp(lambda x: (x * 2, compat.numpy.argmax(x)), (np.arange(3.0),), (np.ones(3),))[1]
    assert moved[0].tolist() == [2, 2, 2] and moved[1].dtype == compat.float0
    slopes = compat.jacfwd(lambda x: (x * 2, compat.numpy.argmax(x)))(np.arange(3.0))
    assert slopes[0][0, 0] == 2 and slopes[1].tolist() == [0, 0, 0] and slopes[1].dtype == np.int64
    mapped = compat.vmap(compat.grad(lambda i: i * 2.0, allow_int=True))(np.arange(3))
    assert mapped.shape == (3,) and mapped.dtype == bool  # a traced array can't be of nothing


def test_what_repeats_has_no_slope():
    f = lambda x, i, **hints: x.at[i].apply(compat.numpy.sin, **hints).sum()
    x = compat.numpy.arange(3.0)
    np.testing.assert_allclose(compat.grad(f)(x, np.array([0, 2])), np.cos(np.asarray(x)) * [1, 0, 1] + [0, 1, 0])
    with pytest.raises(UnsupportedError, match="unique_indices=True"):
        compat.grad(f)(x, np.array([2, 2]))
    traced = compat.jit(lambda x, i: compat.grad(f)(x, i, unique_indices=True))
    np.testing.assert_allclose(traced(x, np.array([0, 2])), compat.grad(f)(x, np.array([0, 2])))


def test_misspelt_options_and_shapes():
    with pytest.raises(TypeError, match="unique_indexes"):
        compat.numpy.arange(3.0).at[0].set(1.0, unique_indexes=True)
    with pytest.raises(ShapeError, match="indices have 1 dimensions"):
        compat.numpy.take_along_axis(np.ones((2, 2)), np.array([0]), 0)


def test_refused_as_in_jax():
    with pytest.raises(DTypeError, match=re.escape("lax.select: operands float64[2], int64[2] differ in dtype")):
        compat.lax.select(np.array([True, False]), np.ones(2), np.ones(2, int))
    with pytest.raises(DTypeError, match=r"clip of complex numbers[\s\S]*they have no order"):
        compat.numpy.clip(np.ones(2), 1j)


def test_conditions_of_piecewise():
    x, rows = np.arange(9.0).reshape(3, 3), np.array([True, False, False])
    cases = lambda x, m: np.piecewise(x, [m], [lambda v: v + 1, -1.0])
    np.testing.assert_array_equal(numhlo.jit(cases)(x, rows), cases(x, rows))
    with pytest.raises(AxisOutOfBoundsError, match="mask of the array's first axes"):
        numhlo.jit(cases)(x, rows[:2])
    traced = compat.jit(lambda x, m: compat.numpy.piecewise(x, [m], [lambda v: v + 1, -1.0]))
    wanted = jax.numpy.piecewise(jax.numpy.asarray(x), [rows], [lambda v: v + 1, -1.0])
    np.testing.assert_array_equal(traced(x, rows), wanted)
