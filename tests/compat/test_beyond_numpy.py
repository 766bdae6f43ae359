"""What functions of jax.numpy take beyond NumPy's: JAX as the oracle."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import numhlo.compat.jax as compat
from numhlo.lowering.ir.errors import DataDependentShapeError, ImmutableArrayError

jax.config.update("jax_enable_x64", True)

CASES = {
    "take": lambda n, x, m, k: (n.take(x, n.array([0, 50, -1, -30])), n.take(k, n.array([[1, 7]]), axis=1)),
    "take by mode": lambda n, x, m, k: [n.take(x, n.array([0, 11]), mode=mode) for mode in ("clip", "wrap", "fill")],
    "take and fill": lambda n, x, m, k: (n.take(m, n.array([2, 5]), 0, fill_value=-1.0), n.take(x, 50, fill_value=3.0)),
    "take along": lambda n, x, m, k: (
        n.take_along_axis(m, n.array([[0], [3], [9]]), 1),
        n.take_along_axis(m, n.array([[0], [3], [9]]), 1, mode="clip"),
        n.take_along_axis(m, n.array([[0, 1, 2, 0]]), 0),
        n.take_along_axis(x, n.array([5, 70]), None, fill_value=0),
    ),
    "take along, negative": lambda n, x, m, k: (
        n.take_along_axis(x, n.array([-1, 50, -70]), 0, mode="clip"),
        n.take_along_axis(x, n.array([-1, 2]), 0, wrap_negative_indices=False),
    ),
    "put": lambda n, x, m, k: (
        n.put(x, n.array([50, -1]), 1.0, inplace=False),
        n.put(x, n.array([50, -1]), n.array([7.0, 8.0]), "clip", inplace=False),
        n.put_along_axis(m, n.array([[1], [7], [-1]]), 5.0, 1, inplace=False),
        n.put_along_axis(m, n.array([[1], [7], [2]]), 5.0, 1, inplace=False, mode="clip"),
        n.put_along_axis(m, n.array([4, 90]), 5.0, None, inplace=False),
    ),
    "delete": lambda n, x, m, k: n.delete(m, n.array([0, -1]), 0, assume_unique_indices=True),
    "extrapolate": lambda n, x, m, k: (
        n.interp(n.array([-2.0, 3.5, 12.0]), x, x**2, left="extrapolate", right="extrapolate"),
        n.interp(n.array([-2.0, 3.5, 12.0]), x, x**2, left=1.0, right="extrapolate"),
    ),
    "masks": lambda n, x, m, k: n.mask_indices(3, n.triu, 0, size=8),
    "sums": lambda n, x, m, k: (
        n.sum(k.astype("int8"), promote_integers=False),
        n.prod(k.astype("int8") + 1, axis=0, promote_integers=False),
        n.sum(m, 0, promote_integers=False),
    ),
    "polynomials": lambda n, x, m, k: (
        n.polymul(x[:3], n.array([0.0, 2.0])),
        *n.polydiv(x[:4], n.array([1.0, 2.0])),
        *n.polydiv(x[:2], x[3:7]),
        n.polymul(np.array([0.0, 1.0]), np.array([0.0, 2.0]), trim_leading_zeros=True),
        *n.polydiv(np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0]), trim_leading_zeros=True),
    ),
    "products": lambda n, x, m, k: (
        n.einsum("i,i", x, x, preferred_element_type="float32"),
        n.matmul(k.astype("int8"), k.T.astype("int8"), preferred_element_type="int32"),
        n.dot(x.astype("float16"), x.astype("float16"), preferred_element_type="float32", precision="highest"),
    ),
    "choices": lambda n, x, m, k: (
        n.searchsorted(x, 2.5, method="sort").astype(int),
        n.isin(x, m, method="sort"),
        n.polyval(n.ones(3), x, unroll=4),
        n.linalg.slogdet(n.eye(2), method="qr"),
    ),
    "linear products": lambda n, x, m, k: (
        n.linalg.matmul(m, m.T, precision="highest", preferred_element_type="float32"),
        n.linalg.multi_dot([m.T, m, m.T], precision="high"),
    ),
    "orders": lambda n, x, m, k: (
        n.histogram(x, 3, (0.0, 9.0), n.ones(10), True),
        n.histogramdd(m.T, 2, [[0.0, 11.0]] * 3, n.ones(4), False),
        n.zeros_like(x, n.float32, (2, 2)),
        n.full_like(x, 3, n.int8, (2,)),
        n.concatenate([x, x], 0, n.float32),
        n.array([1, 2], n.float32, copy=False, ndmin=2),
        n.linalg.matrix_rank(M=m),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_jax(name):
    arrays = np.arange(10.0), np.arange(12.0).reshape(3, 4), np.arange(6).reshape(2, 3)
    wanted = jax.tree.leaves(CASES[name](jax.numpy, *map(jax.numpy.asarray, arrays)))
    ours = [compat.numpy.asarray(a) for a in arrays]
    traced = compat.jit(lambda *xs: CASES[name](compat.numpy, *xs))(*ours)
    for found in (CASES[name](compat.numpy, *ours), traced):
        for mine, theirs in zip(compat.tree.leaves(found), wanted, strict=True):
            assert type(mine) is compat.Array and mine.dtype == theirs.dtype
            np.testing.assert_array_equal(mine, np.asarray(theirs))


NAMESPACES = {
    "strict functions": lambda j: (
        j.lax.dot(j.numpy.ones((2, 3, 1)), j.numpy.ones((2, 3)), dimension_numbers=(((1,), (1,)), ((0,), (0,)))),
        j.lax.exp(1.0, accuracy=None),
        j.lax.dynamic_slice(j.numpy.arange(5.0), (j.numpy.array(-2),), (2,), allow_negative_indices=False),
        j.lax.dynamic_slice_in_dim(j.numpy.arange(5.0), -2, 2, allow_negative_indices=True),
        j.lax.dynamic_update_index_in_dim(j.numpy.arange(5.0), 9.0, j.numpy.array(-2), 0, allow_negative_indices=False),
        j.lax.conv_transpose(
            j.numpy.arange(8.0).reshape(1, 4, 2),
            j.numpy.arange(18.0).reshape(3, 2, 3),
            (2,),
            [(1, 2)],
            use_consistent_padding=True,
            rhs_dilation=(2,),
        ),
        j.lax.linalg.svd(j.numpy.eye(2), compute_uv=False, subset_by_index=None, algorithm=None),
    ),
    "least squares": lambda j: (
        j.numpy.linalg.lstsq(j.numpy.eye(3)[:, :2] * 3.0, j.numpy.arange(6.0).reshape(3, 2)),
        j.numpy.linalg.lstsq(j.numpy.eye(3)[:, :2] * 0.0, j.numpy.arange(3.0)),
        j.numpy.linalg.lstsq(j.numpy.zeros((3, 2)), j.numpy.arange(3.0), numpy_resid=True),
    ),
    "names and orders": lambda j: (
        j.scipy.special.erf(x=j.numpy.array(0.5)),
        j.scipy.special.rel_entr(j.numpy.array(0.5), q=j.numpy.array(0.2)),
        j.scipy.special.log_ndtr(0.5, series_order=4),
        j.scipy.linalg.expm(j.numpy.eye(2), upper_triangular=True, max_squarings=8),
        j.scipy.linalg.solve(j.numpy.eye(2) * 2, j.numpy.ones(2), False, False, False, False, True, "pos"),
        j.scipy.linalg.eigh(j.numpy.eye(2), None, True, True, False, False, True, None, 1, True),
        j.scipy.signal.convolve(j.numpy.ones(3), j.numpy.ones(2), precision="highest"),
        j.random.uniform(j.random.PRNGKey(0), (2,), out_sharding=None),
        j.numpy.intersect1d(j.numpy.arange(4), j.numpy.array([1, 7, 3]), return_indices=True, size=4, fill_value=-5),
    ),
    "moved images": lambda j: [
        j.image.scale_and_translate(
            j.numpy.arange(12.0).reshape(4, 3),
            (6, 5),
            (0, 1),
            j.numpy.array([1.5, 0.7]),
            j.numpy.array([2.0, -0.3]),
            how,
            how != "bicubic-pytorch",
        )
        for how in ("linear", "cubic", "lanczos3", "area", "bicubic-pytorch")
    ],
}
"""Calls that are JAX's alone, in other modules."""


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMESPACES)
def test_other_modules_agree_with_jax(name):
    wanted, found = (j.tree.leaves(NAMESPACES[name](j)) for j in (jax, compat))
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, np.asarray(theirs), rtol=1e-12, atol=1e-14)


def test_what_is_called_wrongly(tmp_path):
    n = compat.numpy
    with pytest.raises(DataDependentShapeError, match="polymul with trim_leading_zeros"):
        compat.jit(lambda x: n.polymul(x, x, trim_leading_zeros=True))(n.ones(3))
    for wrong, error in (
        (lambda: n.histogram(np.ones(3), 3, (0, 1), np.ones(3), True, 1), "takes 5 positional"),
        (lambda: n.concatenate([np.ones(2)], 0, float, axis=1), "multiple values for argument 'axis'"),
        (lambda: n.zeros(2, out_sharding=1), r"zeros\(out_sharding=\)"),
        (lambda: n.array(None), "an array of dtype object"),
        (lambda: n.asarray("text"), "hold bools, integers, floats"),
        (
            lambda: compat.lax.dynamic_slice(np.arange(3), (-1,), (1,), allow_negative_indices=False),
            "from the start: 2",
        ),
        (lambda: n.put_along_axis(np.ones(2), np.array([0]), 1.0, 0), "inplace=False"),
        (lambda: compat.image.scale_and_translate(np.ones(2), (3,), (0,), [1.0], [0.0], "nearest"), "use resize"),
    ):
        with pytest.raises(Exception, match=error):
            wrong()
    n.save(tmp_path / "x.npy", n.arange(3))
    assert type(n.load(tmp_path / "x.npy")) is compat.Array and n.frombuffer(b"ab", "uint8").tolist() == [97, 98]


def test_what_arrays_say_of_themselves():
    x = compat.numpy.array([3.0, 1.0], device=compat.devices()[0])
    assert x.devices() == {compat.devices()[0]} and x.is_ready() and not x.weak_type and x.ptp() == 2
    assert x.copy_to_host_async() is None


def test_python_numbers_are_weak_beside_narrow_floats():
    n, x = compat.numpy, compat.numpy.ones(3, "bfloat16")
    results = (
        x * 0.5,
        2 / x,
        x - 1,
        1.5**x,
        x // 2.0,
        n.multiply(x, 0.5),
        n.maximum(0.0, x),
        n.power(x, 2),
        -x,
        x.sum() * 0.5,
    )
    assert {y.dtype.name for y in results} == {"bfloat16"} and {type(y) for y in results} == {compat.Array}
    y = x
    y *= 0.5
    assert y.dtype == x.dtype and x.tolist() == [1, 1, 1]
    assert (x * n.float32(0.5)).dtype == (x + n.ones(3, "float32")).dtype == np.float32


def test_narrow_floats_stay_narrow_outside_jit():
    n, x = compat.numpy, compat.numpy.asarray([[0.5, 1.0], [1.5, -1.0]], "bfloat16")
    results = (
        x @ x.T,
        n.matmul(x, x[0]),
        n.vecdot(x, x),
        n.linalg.norm(x),
        n.einsum("ij,kj->ik", x, x),
        n.quantile(x, 0.3),
        n.gradient(x[0]),
        n.vander(x[0]),
        x.clip(0, 1),
        x.clip(max=0.5),
    )
    assert {y.dtype.name for y in results} == {"bfloat16"} and {type(y) for y in results} == {compat.Array}
    assert (x @ x.T).tolist() == (x.astype(float) @ x.T.astype(float)).tolist()


def test_equal_elements_keep_their_order():
    x = np.random.default_rng(0).integers(0, 3, 200)
    y, wanted = compat.numpy.asarray(x), np.argsort(x, kind="stable")
    for found in (compat.numpy.argsort(y), compat.numpy.argsort(x, -1), y.argsort(), y.argsort(0, stable=True)):
        np.testing.assert_array_equal(found, wanted)
    for found in (compat.numpy.argsort(y, descending=True), y.argsort(descending=True)):
        np.testing.assert_array_equal(found, np.argsort(-x, kind="stable"))
    assert y.sort(descending=True).tolist() == np.sort(x)[::-1].tolist()


def test_older_forms_of_branches():
    lax = compat.lax
    assert lax.cond(True, lambda x: x + 1, lambda x: x, operand=2.0) == 3.0
    assert lax.cond(False, lambda _: 0, lambda _: 1, operand=None) == 1
    assert lax.switch(1, [lambda x: x, lambda x: -x], operand=4) == -4
    forms = compat.jit(lambda p, x: (lax.cond(p, x, np.sin, x + 1, np.cos), lax.cond(p, np.sin, np.cos, operand=x)))
    assert forms(False, 0.5) == (np.cos(1.5), np.cos(0.5)) and forms(True, 0.5) == (np.sin(0.5), np.sin(0.5))
    with pytest.raises(ValueError, match="operand= beside operands by position"):
        lax.cond(True, lambda x: x, lambda x: x, 1.0, operand=2.0)


def test_every_method_returns_immutable_arrays():
    n = compat.numpy
    x = n.arange(4.0).reshape(2, 2)
    arguments = {
        "astype": (int,), "clip": (0, 1), "dot": (x,), "repeat": (2,), "reshape": (-1,), "swapaxes": (0, 1), "take": (0,),
        "argpartition": (0,), "compress": ([True, False],),
    }  # fmt: skip
    plain = (
        "all any argmax argmin argsort copy cumsum diagonal flatten max mean min prod ptp ravel round std sum trace var"
    )
    results = {name: getattr(x, name)(*arguments.get(name, ())) for name in (*plain.split(), *arguments)}
    results |= {"searchsorted": x.ravel().searchsorted(1.0), "r_": n.r_[1:3, 0.5], "c_": n.c_[n.ones(2)], "T": x.T}
    results |= {"allclose": n.allclose(x, x), "array_equal": n.array_equal(x, x), "mgrid": n.mgrid[0:2]}
    results |= {"compiled": compat.jit(n.sin).lower(x).compile()(x), "vectorized": n.vectorize(lambda a: a + 1)(x)}
    wrong = [name for name, y in results.items() if type(y) is not compat.Array or y.flags.writeable]
    assert not wrong and results["r_"].tolist() == [1, 2, 0.5]


def test_methods_of_ufuncs():
    def f(np, x, places):
        return (
            np.add.at(x, (0, places), 2.0, inplace=False),
            np.maximum.at(x, (places, 1), np.ones(3), inplace=False),
            np.negative.at(x, 0, inplace=False),
            np.add.reduceat(x, np.array([0, 1]), axis=1),
            np.multiply.reduce(x, axis=1),
        )

    x, places = np.arange(6.0).reshape(2, 3) - 2, np.array([0, 0, 1])
    wanted = jax.jit(lambda x, places: f(jax.numpy, x, places))(x, places)
    for found in (f(compat.numpy, x, places), compat.jit(lambda x, places: f(compat.numpy, x, places))(x, places)):
        for mine, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(mine, other, strict=True)
            assert not mine.flags.writeable
    with pytest.raises(ImmutableArrayError, match=r"use x = add.at\(x, indices, b, inplace=False\)"):
        compat.numpy.add.at(x, 0, 1.0)
