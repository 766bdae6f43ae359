"""Users' own primitives, with rule tables: held against JAX as it runs."""

from __future__ import annotations

import importlib

import jax
import numpy as np
import pytest

from numhlo.compat import jax as compat


def parts(lib):
    name = lib.__name__
    found = [importlib.import_module(f"{name}.{part}") for part in ("extend.core", "core")]
    return [*found, *[importlib.import_module(f"{name}.interpreters.{part}") for part in ("ad", "batching", "mlir")]]


def make_multiply_add(lib):
    """The example of JAX's documentation: x * y + z."""
    extend, core, ad, batching, mlir = parts(lib)
    p = extend.Primitive("multiply_add")
    p.def_impl(lambda x, y, z: np.add(np.multiply(x, y), z))
    p.def_abstract_eval(lambda x, y, z: core.ShapedArray(x.shape, x.dtype))
    mlir.register_lowering(p, mlir.lower_fun(lambda x, y, z: x * y + z, multiple_results=False))

    def jvp(primals, tangents):
        x, y, z = primals
        xt, yt, zt = map(ad.instantiate_zeros, tangents)
        return p.bind(x, y, z), p.bind(xt, y, p.bind(x, yt, zt))

    def transpose(ct, x, y, z):
        zeros = lib.numpy.zeros_like(ct)
        if ad.is_undefined_primal(x):
            return p.bind(ct, y, zeros), None, ct
        return None, p.bind(x, ct, zeros) if ad.is_undefined_primal(y) else None, ct

    def batch(args, axes):
        size = next(x.shape[a] for x, a in zip(args, axes, strict=True) if a is not None)
        return p.bind(*[batching.bdim_at_front(x, a, size) for x, a in zip(args, axes, strict=True)]), 0

    ad.primitive_jvps[p], ad.primitive_transposes[p], batching.primitive_batchers[p] = jvp, transpose, batch
    return lambda x, y: p.bind(x, y, x) ** 2


def make_split(lib):
    """A primitive of two results, with a parameter, whose rules are given by their names."""
    extend, core, ad, batching, mlir = parts(lib)
    p = extend.Primitive("split_by")
    p.multiple_results = True
    p.def_impl(lambda x, *, by: [x * by, x - by])
    p.def_abstract_eval(lambda x, *, by: [core.ShapedArray(x.shape, x.dtype)] * 2)
    mlir.register_lowering(p, mlir.lower_fun(lambda x, *, by: (x * by, x - by), multiple_results=True))

    def jvp(primals, tangents, *, by):
        (t,) = tangents
        return p.bind(*primals, by=by), [t if type(t) is ad.Zero else t * by, t]

    ad.primitive_jvps[p] = jvp
    batching.primitive_batchers[p] = lambda args, axes, *, by: (p.bind(*args, by=by), [axes[0]] * 2)

    def f(x, y):
        a, b = p.bind(x, by=3.0)
        return a * b + y

    return f


def make_linear(lib):
    """A linear primitive, used in a second one whose rule calls it with tangents."""
    extend, core, ad, batching, mlir = parts(lib)
    p = extend.Primitive("reversed")
    p.def_impl(lambda x: x[::-1])
    p.def_abstract_eval(lambda x: core.ShapedArray(x.shape, x.dtype))
    mlir.register_lowering(p, mlir.lower_fun(lambda x: lib.numpy.flip(x), multiple_results=False))
    ad.deflinear(p, lambda ct: [p.bind(ct)])
    batching.primitive_batchers[p] = lambda args, axes: (lib.vmap(lib.numpy.flip, axes[0])(*args), 0)
    return lambda x, y: (p.bind(x * x) * y).sum()


MAKERS = [make_multiply_add, make_split]
RNG = np.random.default_rng(5)
NUMBERS = [tuple(RNG.normal(size=2)) for _ in range(3)]
ROWS = [tuple(RNG.normal(size=(2, 4))) for _ in range(3)]


@pytest.mark.parametrize("wrap", [lambda lib, f: f, lambda lib, f: lib.jit(f)], ids=["plain", "jitted"])
@pytest.mark.parametrize("make", MAKERS)
def test_rules(make, wrap):
    found = []
    for lib in (compat, jax):
        f = make(lib)
        tests = [f, lib.grad(f), lib.grad(f, (0, 1)), lib.hessian(f), lib.jacfwd(f, (0, 1))]
        tests.append(lambda x, y, lib=lib, f=f: lib.jvp(f, (x, y), (1.0, 0.5)))
        on_rows = [lib.vmap(g) for g in (f, lib.grad(f), lib.grad(f, 1))] + [
            lib.vmap(f, (0, None)),
            lib.vmap(f, (None, 0)),
        ]
        results = [jax.tree.leaves(wrap(lib, g)(*pair)) for g in tests for pair in NUMBERS]
        results += [jax.tree.leaves(wrap(lib, g)(*pair)) for g in on_rows[:3] for pair in ROWS]
        results += [
            jax.tree.leaves(wrap(lib, on_rows[3])(ROWS[0][0], 2.0)),
            jax.tree.leaves(wrap(lib, on_rows[4])(2.0, ROWS[0][0])),
        ]
        found.append(results)
    for ours, theirs in zip(*found, strict=True):
        for got, wanted in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_a_linear_primitive():
    ours, theirs = (make_linear(lib) for lib in (compat, jax))
    for x, y in ROWS:
        np.testing.assert_allclose(compat.jit(compat.grad(ours))(x, y), jax.grad(theirs)(x, y), rtol=1e-12)
        np.testing.assert_allclose(compat.hessian(ours)(x, y), jax.hessian(theirs)(x, y), rtol=1e-12)
    stack = np.stack([x for x, _ in ROWS])
    wanted = jax.vmap(jax.grad(theirs), (0, None))(stack, ROWS[0][1])
    np.testing.assert_allclose(compat.vmap(compat.grad(ours), (0, None))(stack, ROWS[0][1]), wanted, rtol=1e-12)


def test_equations_and_what_is_missing():
    extend, core, ad, batching, mlir = parts(compat)
    p = extend.Primitive("bare")
    with pytest.raises(NotImplementedError, match="Evaluation rule for 'bare' not implemented"):
        p.bind(1.0)
    with pytest.raises(NotImplementedError, match="Abstract evaluation for 'bare' not implemented"):
        compat.jit(p.bind)(1.0)
    p.def_abstract_eval(lambda x, **params: core.ShapedArray(x.shape, x.dtype))
    with pytest.raises(NotImplementedError, match="translation rule for primitive 'bare' not found"):
        compat.jit(p.bind)(1.0)
    mlir.register_lowering(p, mlir.lower_fun(lambda x, **params: x + 1, multiple_results=False), platform="tpu")
    with pytest.raises(NotImplementedError, match="translation rule"):
        compat.jit(p.bind)(1.0)
    mlir.register_lowering(p, mlir.lower_fun(lambda x, **params: x + 1, multiple_results=False))
    assert [float(compat.jit(p.bind)(v)) for v in (1.0, 2.0)] == [2.0, 3.0]
    with pytest.raises(NotImplementedError, match="Differentiation rule for 'bare' not implemented"):
        compat.grad(p.bind)(1.0)
    with pytest.raises(NotImplementedError, match="Batching rule for 'bare' not implemented"):
        compat.vmap(p.bind)(np.ones(2))
    ad.primitive_jvps[p] = lambda primals, tangents: (p.bind(*primals), p.bind(*tangents))
    with pytest.raises(NotImplementedError, match=r"Transpose rule .* for 'bare' not implemented"):
        compat.grad(p.bind)(1.0)
    closed = compat.make_jaxpr(lambda x: p.bind(x, unhashable=[1]))(1.0)
    assert closed.eqns[0].primitive is p and closed.eqns[0].params == {"unhashable": [1]}
    assert "bare[unhashable=[1]] a" in str(closed)
    wrong = extend.Primitive("wrong")
    wrong.def_abstract_eval(lambda x: core.ShapedArray((3,), x.dtype))
    mlir.register_lowering(wrong, mlir.lower_fun(lambda x: x, multiple_results=False))
    with pytest.raises(TypeError, match=r"primitive wrong gave .*\[2\].*, where its abstract evaluation says .*\[3\]"):
        compat.jit(wrong.bind)(np.ones(2))
