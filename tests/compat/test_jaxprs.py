"""`jax.make_jaxpr`, and programs that read jaxprs: held against JAX as it runs."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from numhlo.compat import jax as compat
from numhlo.compat.jax.interpreters import partial_eval


def chain(lib):
    jnp = lib.numpy
    return lambda x, y: jnp.sum(jnp.exp(x) * y - jnp.tanh(x[::-1]), axis=0)


def product(lib):
    return lambda x, y: (x[:, None] * y) @ lib.numpy.ones((4, 2), x.dtype)


def loops(lib):
    def f(x, y):
        def step(carry, t):
            return carry * 0.5 + t, carry - t

        last, rows = lib.lax.scan(step, y[0], x)
        return lib.lax.while_loop(lambda c: c < 10, lambda c: c * 2 + 1.0, lib.numpy.abs(last)), rows

    return f


def branches(lib):
    def f(x, y):
        chosen = lib.lax.cond(x[0] > y[0], lambda a: a * y, lambda a: a - y, x)
        return lib.lax.switch(2, [lambda a: a, lambda a: -a, lambda a: a * a], chosen)

    return f


def called(lib):
    inner = lib.jit(lambda x: lib.numpy.where(x > 0, x, -2 * x))
    return lambda x, y: inner(x) + inner(y)


def sorted_and_gathered(lib):
    return lambda x, y: lib.numpy.sort(x)[lib.numpy.argsort(y)]


def ruled(lib):
    @lib.custom_jvp
    def f(x):
        return x * x

    f.defjvp(lambda primals, tangents: (f(*primals), 5.0 * tangents[0]))
    return lambda x, y: f(x) * lib.lax.stop_gradient(y)


FUNCTIONS = [chain, product, loops, branches, called, sorted_and_gathered, ruled]
RNG = np.random.default_rng(3)
PAIRS = [tuple(RNG.normal(size=(2, 4))) for _ in range(3)]


@pytest.mark.parametrize("make", FUNCTIONS)
def test_evaluation(make):
    ours, theirs = make(compat), make(jax)
    closed = compat.make_jaxpr(ours)(*PAIRS[0])
    assert isinstance(closed, compat.core.ClosedJaxpr) and closed.in_avals[0].shape == (4,)
    for evaluate in (compat.core.eval_jaxpr, compat.jit(compat.core.eval_jaxpr, static_argnums=0)):
        for pair in PAIRS:
            found = evaluate(closed.jaxpr, closed.consts, *pair)
            for got, wanted in zip(found, jax.tree.leaves(theirs(*pair)), strict=True):
                np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)
    wanted = jax.grad(lambda x, y: sum(t.sum() for t in jax.tree.leaves(theirs(x, y))))
    if make is not loops:
        total = lambda x, y: sum(t.sum() for t in compat.core.eval_jaxpr(closed.jaxpr, closed.consts, x, y))
        np.testing.assert_allclose(compat.grad(total)(*PAIRS[1]), wanted(*PAIRS[1]), rtol=1e-12, atol=1e-12)


def test_equations_are_jax_own():
    def f(lib):
        return lambda x: lib.lax.transpose(lib.lax.mul(lib.lax.sin(x), x), (1, 0))

    x = np.ones((2, 3), np.float32)
    ours, theirs = (lib.make_jaxpr(f(lib))(x) for lib in (compat, jax))
    assert [e.primitive.name for e in ours.eqns] == [e.primitive.name for e in theirs.eqns]
    assert ours.eqns[2].params["permutation"] == theirs.eqns[2].params["permutation"]
    assert ours.eqns[0].primitive is compat.lax.sin_p is compat.extend.core.primitives.sin_p
    assert str(ours).startswith("{ lambda ; a:f32[2,3]. let") and "mul b a" in str(ours)
    assert [str(v.aval) for v in ours.jaxpr.outvars] == [str(v.aval) for v in theirs.jaxpr.outvars]


def test_an_interpreter_of_jaxprs():
    """The inverse of a function, as JAX's own tutorial makes it."""
    lax, core = compat.lax, compat.core
    registry = {lax.exp_p: lax.log, lax.tanh_p: lax.atanh, lax.neg_p: lax.neg}

    def inverse(fun):
        def run(*args):
            closed = compat.make_jaxpr(fun)(*args)
            known = dict(zip(closed.jaxpr.outvars, args, strict=True))
            for eqn in closed.jaxpr.eqns[::-1]:
                known[eqn.invars[0]] = registry[eqn.primitive](known[eqn.outvars[0]])
            return [known[v] for v in closed.jaxpr.invars]

        return run

    assert isinstance(compat.make_jaxpr(lambda x: x + 1)(1.0).eqns[0].invars[1], core.Literal)
    f = lambda x: compat.numpy.exp(compat.numpy.tanh(-x))
    (back,) = compat.jit(inverse(f))(f(0.3))
    np.testing.assert_allclose(back, 0.3, rtol=1e-12)


def test_shapes_static_arguments_and_names():
    f = lambda x, n: {"a": compat.lax.psum(x, "i") * n}
    closed, shape = compat.make_jaxpr(f, static_argnums=1, axis_env=[("i", 2)], return_shape=True)(np.ones(3), 2)
    assert shape["a"].shape == (3,) and shape["a"].dtype == np.float64 and len(closed.in_avals) == 1
    around = []

    @compat.jit
    def g(x):
        closed = compat.make_jaxpr(lambda y: y * x + np.arange(100.0).sum())(2.0)
        around.append(len(closed.consts))
        return compat.core.jaxpr_as_fun(closed)(4.0)[0]

    assert [float(g(v)) for v in (1.0, 2.0)] == [4954.0, 4958.0] and around == [1]


def test_dead_equations_and_known_results():
    closed = compat.make_jaxpr(lambda x, y: (x * 2, compat.numpy.sin(y)))(1.0, 2.0)
    kept, used = partial_eval.dce_jaxpr(closed.jaxpr, [True, False])
    assert used == [True, False] and len(kept.eqns) == 1
    fun = compat.extend.linear_util.wrap_init(lambda x, y: [x + 1, x * y])
    pvals = [partial_eval.PartialVal.known(3.0), partial_eval.PartialVal.unknown(compat.core.get_aval(2.0))]
    jaxpr, results, consts = partial_eval.trace_to_jaxpr_nounits(fun, pvals)
    assert results[0].is_known() and float(results[0].get_known()) == 4 and not results[1].is_known()
    assert [float(x) for x in compat.core.eval_jaxpr(jaxpr, (), *consts, 5.0)] == [15.0]


MATRIX = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
STRUCTURED = {
    "cholesky": (lambda j: j.lax.linalg.cholesky, MATRIX),
    "conv_general_dilated": (lambda j: lambda x: j.lax.conv(x, x[:, :, :2], (1, 1), "SAME"), MATRIX[None, None]),
    "eigh": (lambda j: j.lax.linalg.eigh, MATRIX),
    "fft": (lambda j: lambda x: j.lax.fft(x, j.lax.FftType.RFFT, (3,)), MATRIX),
    "gather": (lambda j: lambda x: x[j.numpy.array([2, 0])], MATRIX),
    "lu": (lambda j: j.lax.linalg.lu, MATRIX),
    "qr": (lambda j: j.lax.linalg.qr, MATRIX),
    "reduce_window_max": (lambda j: lambda x: j.lax.reduce_window(x, -np.inf, j.lax.max, (2, 2), (1, 1), "VALID"), MATRIX),
    "reduce_window_sum": (lambda j: lambda x: j.lax.reduce_window(x, 0.0, j.lax.add, (2, 2), (1, 1), "SAME"), MATRIX),
    "round": (lambda j: j.numpy.round, MATRIX / 3),
    "scatter": (lambda j: lambda x: x.at[j.numpy.array([2, 0])].set(7.0), MATRIX),
    "scatter-add": (lambda j: lambda x: x.at[j.numpy.array([2, 0])].add(7.0), MATRIX),
    "svd": (lambda j: j.lax.linalg.svd, MATRIX),
    "top_k": (lambda j: lambda x: j.lax.top_k(x, 2), MATRIX),
    "triangular_solve": (lambda j: lambda x: j.lax.linalg.triangular_solve(x, x, lower=True), MATRIX),
}  # fmt: skip
"""By primitive of operations with structure, a function of an array that becomes it."""


@pytest.mark.parametrize("name", STRUCTURED)
def test_operations_with_structure_are_primitives(name):
    make, x = STRUCTURED[name]
    function, array = make(compat), compat.numpy.asarray(x)
    closed = compat.make_jaxpr(function)(array)
    equation = next(e for e in closed.jaxpr.eqns if e.primitive.name == name)
    assert equation.primitive is getattr(compat.extend.core.primitives, f"{name.replace('-', '_')}_p")
    again = compat.extend.core.jaxpr_as_fun(closed)(array)
    for found, wanted in zip(again, compat.tree.leaves(function(array)), strict=True):
        np.testing.assert_array_equal(found, wanted, strict=True)
    theirs = next(e for e in _all_equations(jax.make_jaxpr(make(jax))(x).jaxpr) if e.primitive.name == name)
    assert equation.params.keys() <= {*theirs.params, "sort_eigenvalues"}
    assert [v.aval.shape for v in equation.outvars] == [v.aval.shape for v in theirs.outvars]


def _all_equations(jaxpr):
    for equation in jaxpr.eqns:
        yield equation
        for inner in equation.params.values():
            yield from _all_equations(inner.jaxpr) if hasattr(inner, "jaxpr") else ()
