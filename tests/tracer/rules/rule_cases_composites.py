"""Random programs of one composite with rules of its own each: special functions and those of matrices."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.tracer.rules.rule_cases import Draw, Program, normal, shapes, uniform


def of_library(path: str, name: str) -> Callable[[Any], Callable[..., Any]]:
    """Return a function by its place in the library that a ``lax`` belongs to."""
    return lambda lax: getattr(importlib.import_module(f"{lax.__name__.removesuffix('.lax')}.{path}"), name)


SPECIAL: dict[str, tuple[list[tuple[float, float]], tuple[int, ...], bool]] = {
    "beta": ([(0.5, 3), (0.5, 3)], (0, 1), True),
    "betaln": ([(0.5, 3), (0.5, 3)], (0, 1), True),
    "erfcx": ([(-0.5, 2)], (0,), False),
    "gamma": ([(0.5, 3)], (0,), True),
    "ndtri": ([(0.1, 0.9)], (0,), True),
    "spence": ([(0.3, 3)], (0,), False),
}
"""Ranges of the operands, those that are differentiated, and whether JAX's function has the same derivative."""


def special(name: str) -> Callable[[Draw], Program]:
    """Return the case of a special function."""
    ranges, moving, same = SPECIAL[name]

    def case(draw: Draw) -> Program:
        shape = draw(shapes(2))
        return Program(of_library("scipy.special", name), [uniform(*r, shape) for r in ranges], moving, jax=same)

    return case


def logarithm(name: str) -> Callable[[Draw], Program]:
    """Return the case of a logarithm."""
    return lambda draw: Program(of_library("numpy", name), [uniform(0.3, 3, draw(shapes()))])


def expn(draw: Draw) -> Program:
    shape, n = draw(shapes(2)), draw(st.integers(1, 3))
    function = of_library("scipy.special", "expn")
    return Program(lambda lax: lambda x: function(lax)(np.full(shape, n), x), [uniform(0.5, 3, shape)], jax=False)


def igamma_slope(draw: Draw) -> Program:
    """The derivative of an incomplete gamma function by its order, as a function of the other argument."""
    import_grad = of_library("tracer.transformations.differentiating", "grad")
    function = of_library("scipy.special", "gammainc")
    orders = uniform(0.5, 2.5, (2,))(np.random.default_rng(draw(st.integers(0, 9))))
    slope = lambda lax: lambda x: import_grad(lax)(lambda a: function(lax)(a, x).sum())(orders)
    return Program(slope, [uniform(0.4, 2.5, (2,))], jax=False, second=False)


def matrix(
    name: str, symmetric: bool = False, same: bool = True, dtype: Any = np.float64, least: int = 1
) -> Callable[[Draw], Program]:
    """Return the case of a function of a matrix whose eigenvalues and singular values are far apart."""

    def case(draw: Draw) -> Program:
        lead, n = draw(shapes(1)), draw(st.integers(least, least + 2))
        noise = normal((*lead, n, n), dtype)
        sampler = lambda rng: np.diag(1.5 * np.arange(1, n + 1)) + 0.05 * noise(rng)
        function = of_library("numpy.linalg", name)

        def fun(lax: Any) -> Callable[..., Any]:
            def run(x: Any) -> Any:
                result = function(lax)((x + lax.transpose(x, (*range(len(lead)), -1 + x.ndim, -2 + x.ndim))) / 2)
                return tuple(result) if isinstance(result, tuple) else result

            return run if symmetric else function(lax)

        return Program(fun, [sampler], jax=same)

    return case


def absolute_logarithm(draw: Draw) -> Program:
    program = matrix("slogdet")(draw)
    return program._replace(fun=lambda lax: lambda x: program.fun(lax)(x)[1])


def singular_values(draw: Draw) -> Program:
    program = matrix("svd")(draw)
    return program._replace(fun=lambda lax: lambda x: program.fun(lax)(x, compute_uv=False))


def eigenvectors(draw: Draw) -> Program:
    """Products of eigenvectors and their inverse do not hang on how these are scaled."""
    program = matrix("eig", same=False, dtype=np.complex128)(draw)

    def fun(lax: Any) -> Callable[..., Any]:
        def run(x: Any) -> Any:
            values, vectors = program.fun(lax)(x)
            return values, vectors * lax.conj(vectors[..., :1, :])

        return run

    return program._replace(fun=fun)


def solve(draw: Draw) -> Program:
    lead, n = draw(shapes(1)), draw(st.integers(1, 3))
    noise = normal((*lead, n, n))
    sampler = lambda rng: 3 * np.eye(n) + 0.3 * noise(rng)
    return Program(of_library("numpy.linalg", "solve"), [sampler, normal((*lead, n, 2))], (0, 1))


CASES: dict[str, Callable[[Draw], Program]] = {
    **{name: special(name) for name in SPECIAL},
    **{name: logarithm(name) for name in ("log2", "log10")},
    "expn": expn,
    "igamma_slope": igamma_slope,
    "det": matrix("det"),
    "det of more rows": matrix("det", least=4),  # those of fewer rows are sums of products
    "slogdet": absolute_logarithm,
    "eigvals": matrix("eigvals", same=False, dtype=np.complex128),
    "eigvalsh": matrix("eigvalsh", symmetric=True),
    "eig": eigenvectors,
    "svdvals": singular_values,
    "solve": solve,
}
