"""What functions of JAX's names take, and give, where NumPy's take or give something else: as JAX does when it runs."""

from __future__ import annotations

import importlib
import inspect

import jax
import jax.ops
import jax.scipy.fft
import jax.scipy.ndimage
import jax.scipy.signal
import numpy as np
import pytest

import numhlo.compat.jax as compat
from numhlo.compat.jax.calling import LINES, Parameters

jax.config.update("jax_enable_x64", True)
compat.config.update("jax_enable_x64", True)


def _found(module, path):
    for name in path.split("."):
        module = getattr(module, name)
    return module


@pytest.mark.oracle("jax>=0.10")
@pytest.mark.parametrize("module", sorted({module for module, _ in LINES}))
def test_parameters_are_those_of_jax(module):
    for (home, name), line in LINES.items():
        function = _found(jax, f"{home}.{name}")
        if home != module or isinstance(function, jax.numpy.ufunc):
            continue
        wanted = inspect.signature(function).parameters.values()
        ours = Parameters(line)
        by_place = [p.name for p in wanted if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        assert ours.by_place == by_place, name
        assert ours.unset == {p.name for p in wanted if p.default is None}, name
        assert set(ours.names) == {p.name for p in wanted if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}, name


class Three:
    """Stands for a number."""

    def __init__(self, numpy):
        self._numpy = numpy

    def __jax_array__(self):
        return self._numpy.array(3.0)


MASK = np.array([True, False, True, False])

CALLS = {
    **{
        f"{name} where None": lambda n, name=name: getattr(n, name)(n.arange(1.0, 5.0), where=None)
        for name in ("all", "any", "max", "mean", "min", "prod", "std", "sum", "var")
    },
    "initial None": lambda n: n.max(n.arange(4.0), initial=None, out=None),
    "None by its place": lambda n: n.sum(n.ones((2, 3)), None, None, None, True),
    "list of axes": lambda n: n.sum(n.ones((2, 3)), axis=[0, 1]),
    "axis that is a bool": lambda n: n.sum(n.ones((2, 3)), axis=True),
    "sharding of nothing": lambda n: n.dot(n.ones(2), n.ones(2), out_sharding=None, precision=("high", "default")),
    "object times": lambda n: Three(n) * n.arange(3.0),
    "times object": lambda n: n.arange(3.0) * Three(n),
    "equal to None": lambda n: n.ones(2) == None,  # noqa: E711 - what it gives is looked at
    "unlike text": lambda n: n.ones(2) != "a",
    "positive bools": lambda n: (+n.array([True]), n.positive(n.array([True]))),
    "rounded": lambda n: (round(n.array(2.5)), round(n.array(2.567), 1)),
    "difference of size": lambda n: n.setdiff1d(n.array([3, 2, 1]), n.array([3, 1]), size=3),
    "difference filled": lambda n: n.setdiff1d(n.array([3, 2, 1]), n.array([3, 1]), size=3, fill_value=9),
    "roots": lambda n: n.roots(n.array([1.0, 0.0, 0.0])),
    "roots of a constant": lambda n: n.roots(n.array(2.0)),
    "roots of float32": lambda n: n.roots(n.array([1, -3, 2], np.float32)),
    "transform of nothing": lambda n: (
        n.fft.fft(n.zeros((2, 0))),
        n.fft.irfft(n.ones(1)),
        n.fft.rfft2(n.zeros((0, 4))),
    ),
    "transform along None": lambda n: n.fft.fftn(n.ones((2, 3)), axes=()),
    "frequencies": lambda n: (n.fft.fftfreq(3.0), n.fft.fftfreq(0), n.fft.fftfreq(3, 0)),
    "counts": lambda n: n.histogram(n.arange(5.0), 2),
    "inverse of integers": lambda n: n.reciprocal(n.array([1, 2])),
    "convolution of integers": lambda n: n.convolve(n.array([1, 2]), n.array([1, 1])),
    "conjugates of bools": lambda n: n.conj(n.array([True, False])),
    "joined in a dtype": lambda n: (n.stack([n.ones(2)], dtype=np.int32), n.dstack([n.ones(2)], dtype=np.int8)),
    "order in a dtype": lambda n: n.argsort(n.array([3, 1, 2]), dtype=np.float32),
    "mean in a dtype": lambda n: n.nanmean(n.arange(4.0), dtype=np.int32),
    "choice by integers": lambda n: n.select([n.array([1, 0])], [n.array([5, 6])], 7),
    "ufunc": lambda n: (n.add.reduce(n.ones((2, 3)), axis=None), n.add.nin, n.add.nargs, n.add.identity),
    "ufunc at": lambda n: n.add.at(n.zeros(3), n.array([0, 1, 0]), 1.0, inplace=False),
    "padding by a function": lambda n: n.pad(n.arange(3), 1, mode=lambda line, width, axis, options: 0 * line + axis),
    "average without weight": lambda n: n.average(n.arange(3.0), weights=n.zeros(3)),
    "function of None": lambda n: n.vectorize(lambda x, y: x if y is None else x + y)(n.arange(3), None),
}
"""By what is given, a call of a module like `jax.numpy`."""

MORE = {
    "weights of zero": lambda j: j.scipy.special.logsumexp(np.array([-1000, -2]), b=np.array([1, 0])),
    "slope at a weight of zero": lambda j: j.grad(lambda x: j.scipy.special.logsumexp(x, b=np.array([1.0, 0.0])))(
        np.array([1.0, 2.0])
    ),
    "sum over axes": lambda j: j.vmap(lambda x: j.lax.psum(x, ("i", 0)), axis_name="i")(np.arange(6.0).reshape(2, 3)),
    "sum over named axes": lambda j: j.vmap(j.vmap(lambda x: j.lax.psum(x, ("i", "j")), axis_name="j"), axis_name="i")(
        np.arange(6.0).reshape(2, 3)
    ),
    "choice by integers": lambda j: j.lax.select(np.array([1, 0]), np.ones(2), np.zeros(2)),
    "spectra": lambda j: j.jit(lambda x: j.scipy.signal.welch(x, nperseg=4)[1])(np.sin(np.arange(16.0))),
    "there and back": lambda j: j.jit(
        lambda x: j.scipy.signal.istft(j.scipy.signal.stft(x, nperseg=4)[2], nperseg=4)[1]
    )(np.arange(16.0)),
    "shapes": lambda j: j.ShapeDtypeStruct((3,), np.float32).update(shape=(4,)).shape,
    "program": lambda j: j.jit(lambda x: x + 1).lower(np.ones(3)).in_tree.num_leaves,
}
"""By what is given, a call of a module like `jax`."""


def _agree(wanted, found):
    for mine, theirs in zip(compat.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert type(mine) is type(theirs) or (hasattr(mine, "dtype") and hasattr(theirs, "dtype"))
        ours, other = np.asarray(mine), np.asarray(theirs)
        assert (ours.dtype.kind, ours.shape) == (other.dtype.kind, other.shape)
        np.testing.assert_allclose(ours, other, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", CALLS)
def test_functions_give_what_jax_gives(name):
    _agree(CALLS[name](jax.numpy), CALLS[name](compat.numpy))


@pytest.mark.parametrize("name", MORE)
def test_others_give_what_jax_gives(name):
    _agree(MORE[name](jax), MORE[name](compat))


def test_reductions_where_none_compiled():
    for name in ("sum", "max", "all", "var"):
        reduce = compat.jit(getattr(compat.numpy, name), static_argnames="where")
        for x in (np.arange(1.0, 5.0), np.array([3.0, -1.0])):
            np.testing.assert_allclose(reduce(x, where=None), getattr(np, name)(x))


def test_deleted_arrays_are_not_read():
    n, step = compat.numpy, compat.jit(lambda x: x + 1)
    x = n.ones(3)
    kept = x[:2]
    for _ in range(3):
        step(x)
        step.wait()  # machine code must not read it, either
    x.delete()
    assert x.is_deleted() and x.shape == (3,) and kept.tolist() == [1, 1]
    for read in (lambda: x + 1, lambda: n.sum(x), lambda: step(x), lambda: x[0], lambda: str(x), lambda: 1 + x):
        with pytest.raises(RuntimeError, match=r"Array has been deleted with shape=float64\[3\]"):
            read()


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
def test_donated_arrays_are_deleted():
    def used(j):
        both = j.jit(lambda x, y: (x + y["a"], x.sum()), donate_argnums=(0,), donate_argnames="y")
        found = []
        for _ in range(3):
            x, y, z = (j.numpy.ones(3) for _ in range(3))
            both(x, y={"a": y, "b": z})
            found.append((x.is_deleted(), y.is_deleted(), z.is_deleted()))
        return found

    assert used(compat) == used(jax)


def test_functions_are_compiled_once_for_all_jits():
    traced = []

    def body(x):
        traced.append(1)
        return x + 1

    for _ in range(3):
        assert float(compat.jit(body)(2.0)) == 3.0
    assert len(traced) == 1 and compat.jit(body)._cache_size() == 1


def test_solvers_read_arrays_that_are_differentiated():
    def sum_of_solution(j, a, b):
        return j.lax.custom_root(
            lambda x: a @ x - b,
            np.zeros(2),
            lambda residual, start: j.numpy.linalg.solve(a, b),
            lambda linear, y: j.numpy.linalg.solve(a, y),
        ).sum()

    a, b = np.array([[2.0, 1.0], [0.0, 3.0]]), np.ones(2)
    for argument in (0, 1):
        found, wanted = (
            j.grad(lambda a, b, j=j: sum_of_solution(j, a, b), argument)(j.numpy.array(a), j.numpy.array(b))
            for j in (compat, jax)
        )
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_operators_that_have_products_alone():
    class Twice:
        shape, dtype = (2, 2), np.dtype(float)

        def __matmul__(self, vector):
            return 2 * vector

    for solve in ("cg", "gmres", "bicgstab"):
        found = getattr(compat.scipy.sparse.linalg, solve)(Twice(), compat.numpy.ones(2))[0]
        np.testing.assert_allclose(found, [0.5, 0.5])


@pytest.mark.parametrize(("shape", "side"), [((3, 5, 3), "right"), ((3, 4, 4), "right"), ((3, 3, 5), "left")])
def test_polar_factors_of_batches(shape, side, rng):
    a = rng.standard_normal(shape)
    unitary, positive = map(np.asarray, compat.scipy.linalg.polar(a, side=side))
    np.testing.assert_allclose(unitary @ positive if side == "right" else positive @ unitary, a, atol=1e-12)
    np.testing.assert_allclose(positive, positive.swapaxes(1, 2), atol=1e-12)
    assert np.linalg.eigvalsh(positive).min() > -1e-12


@pytest.mark.slow
def test_second_derivatives_of_solutions():
    def end(j, a):
        odeint = importlib.import_module(f"{j.__name__}.experimental.ode").odeint
        return odeint(lambda y, t, a: -a * y, j.numpy.array(1.0), j.numpy.linspace(0.0, 1.0, 3), a)[-1]

    second = compat.grad(compat.grad(lambda a: end(compat, a)))(2.0)
    np.testing.assert_allclose(second, np.exp(-2.0), rtol=1e-5)
