"""Random programs of one op each, written once for `numhlo.lax` and `jax.lax`; `test_rules` checks every rule on them.

A case draws shapes, axes and attributes, and returns the program with samplers of its arguments. Cases of one operand
and family share a function; those with structure of their own are in `rule_cases_structured`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

Draw = Callable[[Any], Any]
Sampler = Callable[[np.random.Generator], np.ndarray]


class Program(NamedTuple):
    """A function of a namespace's ops and what it is called with.

    Attributes
    ----------
    fun : callable
        ``fun(lax)(*arrays)``, an array or a tuple of arrays.
    samplers : list of callable
        ``sampler(rng) -> array``, one for each argument.
    moving : tuple of int
        Arguments that are differentiated.
    smooth : bool
        Finite differences are the derivative there; else only JAX's choice is compared.
    jax : bool
        JAX has the same function, with the same derivative.
    second : bool
        It has second derivatives.
    """

    fun: Callable[[Any], Callable[..., Any]]
    samplers: list[Sampler]
    moving: tuple[int, ...] = (0,)
    smooth: bool = True
    jax: bool = True
    second: bool = True


def shapes(most: int = 3, least: int = 0, extent: int = 3) -> Any:
    """Return a strategy of shapes."""
    return st.lists(st.integers(1, extent), min_size=least, max_size=most).map(tuple)


def normal(shape: tuple[int, ...], dtype: Any = np.float64) -> Sampler:
    """Return a sampler of normal numbers."""
    if np.dtype(dtype).kind == "c":
        return lambda rng: (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    return lambda rng: rng.normal(size=shape).astype(dtype)


def uniform(low: float, high: float, shape: tuple[int, ...]) -> Sampler:
    """Return a sampler of numbers between two limits."""
    return lambda rng: rng.uniform(low, high, size=shape)


def integers(low: int, high: int, shape: tuple[int, ...], dtype: Any = np.int64) -> Sampler:
    """Return a sampler of integers."""
    return lambda rng: rng.integers(low, high, size=shape).astype(dtype)


def distinct(shape: tuple[int, ...]) -> Sampler:
    """Return a sampler of numbers that are far from each other, so that their order is clear."""
    size = int(np.prod(shape, dtype=int))
    return lambda rng: (rng.permutation(size) * 0.5 - 0.2 * size + 0.13).reshape(shape)


def tied(shape: tuple[int, ...]) -> Sampler:
    """Return a sampler of few different numbers, zero among them."""
    return lambda rng: rng.integers(-1, 3, size=shape).astype(float)


def dtypes() -> Any:
    """Return a strategy of dtypes that have derivatives."""
    return st.sampled_from([np.float64, np.float64, np.complex128])


UNARY: dict[str, tuple[float, float]] = {
    **dict.fromkeys(["neg", "sin", "cos", "tanh", "sinh", "cosh", "atan", "asinh", "exp", "exp2", "expm1"], (-2, 2)),
    **dict.fromkeys(["logistic", "erf", "erfc", "abs", "sign", "square", "cbrt", "tan"], (0.1, 1.4)),
    **dict.fromkeys(["log", "sqrt", "rsqrt", "lgamma", "digamma", "reciprocal"], (0.3, 3)),
    **dict.fromkeys(["asin", "acos", "atanh", "erf_inv", "log1p"], (-0.9, 0.9)),
    **dict.fromkeys(["floor", "ceil", "round"], (0.1, 0.4)),
    **dict.fromkeys(["bessel_i0e", "bessel_i1e"], (-3, 3)),
    "acosh": (1.2, 3),
}
"""Functions of one operand, with a range where they are smooth."""

COMPLEX = ("neg", "sin", "cos", "tanh", "exp", "log", "sqrt", "rsqrt", "square", "logistic", "expm1", "log1p")

BINARY: dict[str, tuple[float, float]] = {
    **dict.fromkeys(["add", "sub", "mul", "div", "pow", "atan2", "rem", "igamma", "igammac"], (0.4, 2.5)),
    **dict.fromkeys(["max", "min"], (-1, 1)),
}

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right_arithmetic", "shift_right_logical")


def unary(name: str) -> Callable[[Draw], Program]:
    """Return the case of a function of one operand."""

    def case(draw: Draw) -> Program:
        shape = draw(shapes())
        if name in COMPLEX and draw(st.booleans()):
            return Program(lambda lax: getattr(lax, name), [normal(shape, np.complex128)])
        return Program(lambda lax: getattr(lax, name), [uniform(*UNARY[name], shape)])

    return case


def binary(name: str) -> Callable[[Draw], Program]:
    """Return the case of a function of two operands."""

    def case(draw: Draw) -> Program:
        gamma = name.startswith("igamma")  # a long series
        shape = draw(shapes(1, extent=2) if gamma else shapes())
        # in rem, 0.4..2.5 by 2.6..4 has no multiple between, and by 0.4..2.5 has jumps
        second = uniform(2.6, 4, shape) if name == "rem" else uniform(*BINARY[name], shape)
        return Program(
            lambda lax: getattr(lax, name), [uniform(*BINARY[name], shape), second], (0, 1), second=not gamma
        )

    return case


def extremum_of_equal(draw: Draw) -> Program:
    shape, name = draw(shapes()), draw(st.sampled_from(["max", "min"]))
    return Program(lambda lax: getattr(lax, name), [tied(shape), tied(shape)], (0, 1), smooth=False)


def comparison(draw: Draw) -> Program:
    shape, name = draw(shapes()), draw(st.sampled_from(COMPARISONS))
    return Program(lambda lax: getattr(lax, name), [tied(shape), tied(shape)], ())


def bits(name: str) -> Callable[[Draw], Program]:
    """Return the case of a function of two integers."""

    def case(draw: Draw) -> Program:
        shape = draw(shapes())
        return Program(lambda lax: getattr(lax, name), [integers(-99, 99, shape), integers(0, 40, shape)], ())

    return case


def round_to_even(draw: Draw) -> Program:
    rounded = lambda lax: lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
    return Program(rounded, [uniform(0.1, 0.4, draw(shapes()))])


def counted_bits(draw: Draw) -> Program:
    given = [integers(-99, 99, draw(shapes()))]
    return Program(lambda lax: lambda x: (lax.clz(x), lax.population_count(x), lax.bitwise_not(x)), given, ())


def is_finite(draw: Draw) -> Program:
    return Program(lambda lax: lax.is_finite, [normal(draw(shapes()))], ())


def parts(draw: Draw) -> Program:
    given = [normal(draw(shapes()), np.complex128)]
    return Program(lambda lax: lambda z: (lax.real(z), lax.imag(z), lax.conj(z), lax.abs(z)), given)


def complex_of_parts(draw: Draw) -> Program:
    shape = draw(shapes())
    return Program(lambda lax: lax.complex, [normal(shape), normal(shape)], (0, 1))


def integer_pow(draw: Draw) -> Program:
    shape, n = draw(shapes()), draw(st.integers(-3, 4))
    return Program(lambda lax: lambda x: lax.integer_pow(x, n), [uniform(0.4, 2, shape)])


def betainc(draw: Draw) -> Program:
    shape = draw(shapes())
    return Program(lambda lax: lax.betainc, [uniform(0.5, 3, shape)] * 2 + [uniform(0.1, 0.9, shape)], (2,))


def polygamma(draw: Draw) -> Program:
    shape, n = draw(shapes()), draw(st.integers(1, 3))
    return Program(lambda lax: lambda x: lax.polygamma(lax.full_like(x, n), x), [uniform(0.5, 3, shape)])


def zeta(draw: Draw) -> Program:
    shape = draw(shapes())
    return Program(lambda lax: lax.zeta, [uniform(1.5, 3, shape), uniform(0.5, 3, shape)], (1,), jax=False)


def clamp(draw: Draw) -> Program:
    shape = draw(shapes())
    limits = () if draw(st.booleans()) else shape
    low, high = uniform(-0.6, -0.5, limits), uniform(0.45, 0.6, limits)
    return Program(lambda lax: lax.clamp, [low, distinct(shape), high], (0, 1, 2), jax=limits == shape)


def select(draw: Draw) -> Program:
    shape, dtype = draw(shapes()), draw(dtypes())
    chosen = integers(0, 2, () if draw(st.booleans()) else shape, np.bool_)
    return Program(lambda lax: lax.select, [chosen, normal(shape, dtype), normal(shape, dtype)], (1, 2))


def convert(draw: Draw) -> Program:
    shape, source = draw(shapes()), draw(dtypes())
    target = draw(st.sampled_from([np.complex128] if source is np.complex128 else [np.float64, np.complex128]))
    return Program(lambda lax: lambda x: lax.convert_element_type(x, target), [normal(shape, source)])


def bitcast(draw: Draw) -> Program:
    shape = draw(shapes())
    target = draw(st.sampled_from([np.int64, np.int32]))
    return Program(lambda lax: lambda x: lax.bitcast_convert_type(x, target), [normal(shape)], ())


def reduce_precision(draw: Draw) -> Program:
    return Program(lambda lax: lambda x: lax.reduce_precision(x, 11, 52), [normal(draw(shapes()))])


def barrier(draw: Draw) -> Program:
    shape = draw(shapes())
    return Program(lambda lax: lambda x, y: tuple(lax.optimization_barrier((x, y))), [normal(shape)] * 2, (0, 1))


def stop_gradient(draw: Draw) -> Program:
    return Program(lambda lax: lambda x: lax.mul(x, lax.stop_gradient(x)), [normal(draw(shapes()))], smooth=False)


def broadcast(draw: Draw) -> Program:
    shape, dtype = draw(shapes(2)), draw(dtypes())
    rank = draw(st.integers(len(shape), 4))
    dims = tuple(sorted(draw(st.permutations(range(rank)))[: len(shape)]))
    wide = [draw(st.integers(1, 3)) for _ in range(rank)]
    for d, n in zip(dims, shape, strict=True):
        wide[d] = n if n > 1 else draw(st.sampled_from([1, 3]))
    return Program(lambda lax: lambda x: lax.broadcast_in_dim(x, tuple(wide), dims), [normal(shape, dtype)])


def reshape(draw: Draw) -> Program:
    shape = draw(shapes())
    flat = draw(st.sampled_from([(-1,), (1, -1), (-1, 1)]))
    size = int(np.prod(shape))
    target = tuple(size if n == -1 else n for n in flat)
    return Program(lambda lax: lambda x: lax.reshape(x, target), [normal(shape, draw(dtypes()))])


def transpose(draw: Draw) -> Program:
    shape = draw(shapes())
    order = tuple(draw(st.permutations(range(len(shape)))))
    return Program(lambda lax: lambda x: lax.transpose(x, order), [normal(shape, draw(dtypes()))])


def reverse(draw: Draw) -> Program:
    shape = draw(shapes())
    axes = tuple(draw(st.lists(st.integers(0, len(shape) - 1), unique=True))) if shape else ()
    return Program(lambda lax: lambda x: lax.rev(x, axes), [normal(shape)])


def slicing(draw: Draw) -> Program:
    shape = draw(shapes(extent=5))
    start = [draw(st.integers(0, n - 1)) for n in shape]
    limit = [draw(st.integers(a, n)) for a, n in zip(start, shape, strict=True)]
    strides = [draw(st.integers(1, 3)) for _ in shape]
    return Program(lambda lax: lambda x: lax.slice(x, start, limit, strides), [normal(shape)])


def concatenate(draw: Draw) -> Program:
    shape = draw(shapes(least=1))
    axis = draw(st.integers(0, len(shape) - 1))
    extents = draw(st.lists(st.integers(0, 3), min_size=2, max_size=3))
    parts = [normal((*shape[:axis], n, *shape[axis + 1 :])) for n in extents]
    return Program(lambda lax: lambda *xs: lax.concatenate(xs, axis), parts, tuple(range(len(parts))))


def pad(draw: Draw) -> Program:
    shape = draw(shapes(extent=4))
    widths = [(draw(st.integers(-1, 2)), draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in shape]
    return Program(lambda lax: lambda x, v: lax.pad(x, v, widths), [normal(shape), normal(())], (0, 1))


CASES: dict[str, Callable[[Draw], Program]] = {
    **{name: unary(name) for name in UNARY},
    **{name: binary(name) for name in BINARY},
    "max of equal": extremum_of_equal,
    "comparison": comparison,
    **{name: bits(name) for name in BITS},
    "round to even": round_to_even,
    "counted bits": counted_bits,
    "is_finite": is_finite,
    "parts": parts,
    "complex": complex_of_parts,
    "integer_pow": integer_pow,
    "betainc": betainc,
    "polygamma": polygamma,
    "zeta": zeta,
    "clamp": clamp,
    "select": select,
    "convert": convert,
    "bitcast": bitcast,
    "reduce_precision": reduce_precision,
    "barrier": barrier,
    "stop_gradient": stop_gradient,
    "broadcast": broadcast,
    "reshape": reshape,
    "transpose": transpose,
    "reverse": reverse,
    "slice": slicing,
    "concatenate": concatenate,
    "pad": pad,
}
