"""Calls that JAX refuses, as it runs: they raise errors under JAX's names that the same `except` clauses catch."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import numhlo.compat.jax as compat

jax.config.update("jax_enable_x64", True)
compat.config.update("jax_enable_x64", True)


class Three:
    """Stands for a number."""

    def __init__(self, numpy):
        self._numpy = numpy

    def __jax_array__(self):
        return self._numpy.array(3.0)


def _leaked(j, transform):
    kept = []
    transform(lambda x: (kept.append(x), x)[1])
    return j.numpy.sin(kept[0])


def _of_rule(j, kind, **rules):
    function = getattr(j, kind)(lambda x: x * 2)
    for name, rule in rules.items():
        getattr(function, name)(*rule(function))
    return j.grad(function)(3.0)


def _reading_around(j):
    def outer(a):
        function = j.custom_vjp(lambda x: a * x)
        function.defvjp(lambda x: (function(x), x), lambda kept, given: (given * a,))
        return function(2.0)

    return j.grad(outer)(3.0)


TRACED = {
    "truth": lambda j: j.jit(lambda x: 1 if x > 0 else 2)(1.0),
    "truth in vmap": lambda j: j.vmap(bool)(j.numpy.ones(2)),
    "maximum of Python": lambda j: j.jit(lambda x: max(x, 2.0))(1.0),
    "int": lambda j: j.jit(int)(1),
    "float": lambda j: j.jit(float)(1.0),
    "item": lambda j: j.jit(lambda x: x.item())(1.0),
    "list": lambda j: j.jit(lambda x: x.tolist())(j.numpy.ones(2)),
    "index of a list": lambda j: j.jit(lambda x: [1, 2, 3][x])(1),
    "range": lambda j: j.jit(range)(3),
    "array of NumPy": lambda j: j.jit(np.asarray)(j.numpy.ones(2)),
    "hash": lambda j: j.jit(hash)(1),
    "shape": lambda j: j.jit(j.numpy.zeros)(3),
    "range of arrays": lambda j: j.jit(j.numpy.arange)(3),
    "mask": lambda j: j.jit(lambda x: x[x > 0])(j.numpy.ones(2)),
    "slice": lambda j: j.jit(lambda x, n: x[:n])(j.numpy.ones(2), 1),
    "nonzero": lambda j: j.jit(j.numpy.nonzero)(j.numpy.ones(2)),
    "leak of jit": lambda j: _leaked(j, lambda f: j.jit(f)(1.0)),
    "leak of grad": lambda j: _leaked(j, lambda f: j.grad(f)(1.0)),
    "leak of vmap": lambda j: _leaked(j, lambda f: j.vmap(f)(np.ones(2))),
    "static list": lambda j: j.jit(lambda x, n: x, static_argnums=1)(1.0, [2]),
    "static and donated": lambda j: j.jit(lambda x: x, static_argnums=0, donate_argnums=0)(1),
    "no function": lambda j: j.jit(3),
    "dtype of branches": lambda j: j.jit(lambda p: j.lax.cond(p, lambda: 1, lambda: 2.0))(True),
    "structure of branches": lambda j: j.lax.cond(True, lambda: 1, lambda: (1,)),
    "shape of branches": lambda j: j.lax.cond(True, lambda x: x, lambda x: x[None], j.numpy.ones(2)),
    "complex predicate": lambda j: j.lax.cond(1j, lambda: 1, lambda: 2),
    "carry of while": lambda j: j.lax.while_loop(lambda c: c[0] < 9, lambda c: (c[0] + 1,), (0, 1)),
    "carry of scan": lambda j: j.lax.scan(lambda c, x: ((c, c), x), 0, j.numpy.ones(3)),
    "backwards through while": lambda j: j.jit(j.grad(lambda x: j.lax.while_loop(lambda c: c < 9, lambda c: c * 2, x)))(
        1.0
    ),
    "gradient of a vector": lambda j: j.grad(lambda x: x)(j.numpy.ones(2)),
    "gradient of an integer": lambda j: j.grad(lambda x: x)(1),
    "argument that is not there": lambda j: j.grad(lambda x: x, argnums=2)(1.0),
    "tangent of another dtype": lambda j: j.jvp(lambda x: x, (1.0,), (1,)),
    "tangents of another structure": lambda j: j.jvp(lambda x: x, (1.0,), (1.0, 2.0)),
    "cotangent of another dtype": lambda j: j.vjp(lambda x: x, 1.0)[1](1),
    "axes that are text": lambda j: j.vmap(lambda x: x, in_axes="a")(j.numpy.ones(2)),
    "unbound axis": lambda j: j.lax.psum(1.0, "i"),
    "no rule": lambda j: _of_rule(j, "custom_jvp"),
    "no rules": lambda j: _of_rule(j, "custom_vjp"),
    "rule that gives too much": lambda j: _of_rule(
        j, "custom_vjp", defvjp=lambda f: (lambda x: (f(x), x), lambda kept, given: (given, given))
    ),
    "rule that reads around": _reading_around,
}
"""By what is wrong in transformations, a call of a module like `jax`."""

CALLS = {
    "list": lambda n: n.sum([1, 2]),
    "text": lambda n: n.sin("a"),
    "None": lambda n: n.add(None, 1),
    "object": lambda n: n.exp(object()),
    "object that stands for an array": lambda n: n.exp(Three(n)),
    "list by name": lambda n: n.take(n.ones(3), indices=[0]),
    "too many": lambda n: n.sin(n.ones(2), n.ones(2)),
    "too few": lambda n: n.add(n.ones(2)),
    "unknown name": lambda n: n.sum(n.ones(2), bogus=1),
    "place by name": lambda n: n.sin(x=1.0),
    "twice": lambda n: n.sum(n.ones(2), a=1),
    "axis out of bounds": lambda n: n.sum(n.ones((2, 3)), axis=5),
    "axis twice": lambda n: n.sum(n.ones((2, 3)), axis=(0, 0)),
    "axis that is a float": lambda n: n.cumsum(n.ones((2, 3)), axis=1.5),
    "out": lambda n: n.sum(n.ones(2), out=n.ones(())),
    "where of a ufunc": lambda n: n.add(n.ones(2), n.ones(2), where=n.ones(2, bool)),
    "no initial": lambda n: n.max(n.ones(2), where=n.array([True, False])),
    "precision": lambda n: n.dot(n.ones(2), n.ones(2), precision="bogus"),
    "shapes": lambda n: n.add(n.ones(2), n.ones(3)),
    "reshape": lambda n: n.reshape(n.ones(3), (2, 2)),
    "matrix of a line": lambda n: n.tril(n.ones(3)),
    "lines of matrices": lambda n: n.meshgrid(n.ones((2, 2))),
    "no square": lambda n: n.linalg.inv(n.ones((2, 3))),
    "no matrix": lambda n: n.linalg.det(n.ones(3)),
    "order of complex numbers": lambda n: n.argmax(n.array([1j, 2])),
    "size of nothing": lambda n: n.unique(n.zeros(0), size=2),
    "two parts of where": lambda n: n.where(n.array([True]), 1),
    "mode of take": lambda n: n.take(n.arange(3), n.array([7]), mode="raise"),
    "mode of padding": lambda n: n.pad(n.ones(2), 1, mode="bogus"),
    "axis of take": lambda n: n.take(n.arange(3), 2, axis=1),
    "order A": lambda n: n.reshape(n.ones(6), (2, 3), order="A"),
    "in place": lambda n: n.add.at(n.zeros(2), 0, 1.0),
    "elements": lambda n: n.ones(3).__setitem__(0, 1.0),
    "index that is a list": lambda n: n.ones(3)[[0, 1]],
    "update at a list": lambda n: n.ones(3).at[[0, 1]].set(0.0),
    "index that is a float": lambda n: n.ones(3)[1.5],
    "sum with a list": lambda n: n.ones(2) + [1, 2],  # noqa: RUF005 - it is no concatenation
    "list times": lambda n: [1, 2] * n.ones(2),
    "equal to a list": lambda n: n.ones(2) == [1, 1],
    "less than None": lambda n: n.ones(2) < None,
    "product with text": lambda n: n.ones(2) * "a",
    "length of a number": lambda n: len(n.ones(())),
    "truth of two": lambda n: bool(n.ones(2)),
    "hash": lambda n: hash(n.ones(2)),
    "transform along axes twice": lambda n: n.fft.fftn(n.ones((2, 2)), axes=(0, 0)),
    "transform along three": lambda n: n.fft.fft2(n.ones((2, 2)), axes=(0, 1, 1)),
    "norm of a transform": lambda n: n.fft.fft(n.ones(2), norm="bogus"),
    "signature and None": lambda n: n.vectorize(lambda x, y: x, signature="(n),(n)->(n)")(n.ones(3), None),
}
"""By what is wrong, a call of a module like `jax.numpy`."""


def _error_of(call):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which it is is what is looked at
        call()
    return caught.value


def _agree(call, of_jax, of_numhlo):
    wanted, found = _error_of(lambda: call(of_jax)), _error_of(lambda: call(of_numhlo))
    names = [kind.__name__ for kind in type(found).__mro__]
    assert type(wanted).__name__ in names, (wanted, found)


@pytest.mark.parametrize("name", TRACED)
def test_transformations_refuse_what_jax_refuses(name):
    _agree(TRACED[name], jax, compat)


@pytest.mark.parametrize("name", CALLS)
def test_functions_refuse_what_jax_refuses(name):
    _agree(CALLS[name], jax.numpy, compat.numpy)


@pytest.mark.parametrize("name", ["ConcretizationTypeError", "TracerBoolConversionError"])
def test_names_of_errors_catch(name):
    with pytest.raises(getattr(compat.errors, name)):
        compat.jit(lambda x: 1 if x > 0 else 2)(1.0)
    with pytest.raises(compat.errors.UnexpectedTracerError):
        _leaked(compat, lambda f: compat.jit(f)(1.0))


def test_errors_of_users_stay_what_they_are():
    def raising(*args):
        raise KeyError("mine")

    for call in (
        lambda: compat.lax.cond(True, raising, raising),
        lambda: compat.numpy.apply_along_axis(raising, 0, compat.numpy.ones(3)),
        lambda: compat.grad(raising)(1.0),
    ):
        with pytest.raises(KeyError) as caught:
            call()
        assert type(caught.value) is KeyError


def test_an_error_names_what_is_no_array():
    with pytest.raises(TypeError) as caught:
        compat.numpy.sum([1, 2])
    first, where, fix = str(caught.value).split("\n")
    assert first == "sum requires ndarray or scalar arguments, got <class 'list'> at position 0."
    assert "test_refusals.py" in where and fix == "  write sum(jnp.asarray(...))"


def _without_rules(kind):
    return lambda j: getattr(j, kind)(lambda x: 2 * x)(1.0)


def _tangent_of_integers(j):
    f = j.custom_jvp(lambda x: 2 * x)
    f.defjvp(lambda primals, tangents: (f(*primals), 1))
    return j.grad(f)(1.0)


def _lanes(call):
    return lambda j: j.vmap(lambda x: call(j, x))(j.numpy.ones(2))


def _known_branches(j):
    return j.jit(lambda x: j.lax.cond(True, lambda: x, lambda: 1))(1.5)


STRICTER = {
    "fft_lengths": lambda j: j.lax.fft(j.numpy.ones(4), "rfft", (3,)),
    "fft_lengths, no tuple": lambda j: j.lax.fft(j.numpy.ones(4), "rfft", 4),
    "no dtype": lambda j: j.ShapeDtypeStruct((3,), None),
    "unroll": lambda j: j.lax.scan(lambda c, x: (c + x, c), 0.0, j.numpy.arange(4.0), unroll=-1),
    "linearize": lambda j: j.linearize(lambda x: x**2, 3.0)[1](1),
    "linearize, count": lambda j: j.linearize(lambda x: x**2, 3.0)[1](1.0, 2.0),
    "jvp": lambda j: j.jvp(lambda x: x * 2, (1.0,), (j.numpy.float32(1),)),
    "jacrev": lambda j: j.jacrev(lambda x: x.astype(int))(j.numpy.ones(2)),
    "custom_jvp without a rule": _without_rules("custom_jvp"),
    "custom_vjp without rules": _without_rules("custom_vjp"),
    "tangent of integers": _tangent_of_integers,
    "pure_callback in lanes": _lanes(lambda j, x: j.pure_callback(np.sin, x, x)),
    "ordered callback in lanes": _lanes(lambda j, x: j.experimental.io_callback(print, None, x, ordered=True)),
    "vectorize, results": lambda j: j.numpy.vectorize(lambda x: (x, x), signature="()->()")(j.numpy.ones(3)),
    "vectorize, core": lambda j: j.numpy.vectorize(lambda x: x.sum(), signature="(n)->()")(1.0),
    "branches": _known_branches,
    "sum of shapes": lambda j: j.numpy.ones(2) + j.numpy.ones(3),
    "product of shapes": lambda j: j.numpy.ones((2, 3)) @ j.numpy.ones((2, 3)),
    "sum of traced shapes": lambda j: j.jit(lambda x: x + j.numpy.ones(3))(j.numpy.ones(2)),
    "repeat": lambda j: j.numpy.repeat(j.numpy.arange(2), 2.0),
    "arange": lambda j: j.numpy.arange(1j),
    "ldexp": lambda j: j.numpy.ldexp(j.numpy.ones(1), 2.5),
    "pad": lambda j: j.numpy.pad(j.numpy.ones(3), {0: (1, 2)}),
}
"""What JAX refuses."""


@pytest.mark.parametrize("name", STRICTER)
def test_what_jax_refuses(name):
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - whichever JAX raises
        STRICTER[name](jax)
    kinds = [c for c in type(theirs.value).__mro__ if c.__module__ == "builtins"]
    with pytest.raises(kinds[0]):
        STRICTER[name](compat)


def test_deleted_arrays_are_read_by_nothing():
    x = compat.numpy.ones(3)
    x.delete()
    for read in (
        lambda: x.at[0].set(1), lambda: compat.vmap(lambda v: v)(x), lambda: compat.grad(lambda v: v.sum())(x),
        lambda: compat.lax.scan(lambda c, v: (c, v), 0.0, x), lambda: compat.device_get(x), lambda: x.T,
        lambda: compat.jvp(lambda v: v, (x,), (x,)),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="deleted"):
            read()


def test_what_jax_takes():
    jnp = compat.numpy
    assert jnp.bincount(jnp.array([-1, 0, 3]), minlength=-1).tolist() == [2, 0, 0, 1]
    assert jnp.insert(jnp.arange(3), 7, 9).tolist() == [0, 1, 2, 9]
    assert jnp.insert(jnp.arange(3), -7, 9).tolist() == [9, 0, 1, 2]
    for base, exponents in ((2, [-1, 2]), (3, [-2, 0])):
        wanted = jax.numpy.power(base, jax.numpy.array(exponents))
        np.testing.assert_array_equal(jnp.power(base, jnp.array(exponents)), wanted)
    assert len(compat.ShapeDtypeStruct((3, 2), float)) == 3 and compat.ShapeDtypeStruct((), float)
    seen = []
    compat.vmap(lambda v: compat.experimental.io_callback(lambda a: seen.append(float(a)), None, v))(jnp.arange(2.0))
    assert seen == [0.0, 1.0]
