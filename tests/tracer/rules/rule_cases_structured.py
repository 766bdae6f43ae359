"""Random programs of one op with structure: contractions, windows, indexing, reductions, matrices, control flow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.tracer.rules.rule_cases import (
    Draw,
    Program,
    Sampler,
    distinct,
    dtypes,
    integers,
    normal,
    shapes,
    tied,
    uniform,
)


def dot(draw: Draw) -> Program:
    batch, contracted, left, right = (draw(st.lists(st.integers(1, 3), max_size=2)) for _ in range(4))
    named = [(k, n) for k, n in enumerate([*batch, *contracted])]

    def arranged(free: list[int]) -> tuple[tuple[int, ...], list[int], list[int]]:
        order = draw(st.permutations(range(len(named) + len(free))))
        extents = [n for _, n in named] + free
        place = {k: order.index(k) for k in range(len(named))}
        axes = [place[k] for k in range(len(named))]
        shape = tuple(extents[k] for k in order)
        return shape, axes[: len(batch)], axes[len(batch) :]

    lhs, lhs_batch, lhs_contract = arranged(left)
    rhs, rhs_batch, rhs_contract = arranged(right)
    numbers = ((lhs_contract, rhs_contract), (lhs_batch, rhs_batch))
    dtype = draw(dtypes())
    return Program(
        lambda lax: lambda x, y: lax.dot_general(x, y, numbers), [normal(lhs, dtype), normal(rhs, dtype)], (0, 1)
    )


def convolution(draw: Draw) -> Program:
    rank = draw(st.integers(0, 2))
    groups = draw(st.sampled_from(["none", "features", "batches"]))
    count = 1 if groups == "none" else 2
    features, outputs, batches = draw(st.integers(1, 2)), draw(st.integers(1, 2)) * count, draw(st.integers(1, 2))
    small = lambda low, high: tuple(draw(st.integers(low, high)) for _ in range(rank))
    space, window = small(3, 5), small(1, 3)
    strides, lhs_dilation, rhs_dilation = small(1, 2), small(1, 2), small(1, 2)
    padding = [(draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in range(rank)]
    padding = [
        (a, b + max(0, (w - 1) * d + 1 - n))
        for (a, b), w, d, n in zip(padding, window, rhs_dilation, space, strict=True)
    ]
    lhs = (batches * (count if groups == "batches" else 1), features * (count if groups == "features" else 1), *space)
    options = {
        "window_strides": strides, "padding": padding, "lhs_dilation": lhs_dilation, "rhs_dilation": rhs_dilation,
        "feature_group_count": count if groups == "features" else 1,
        "batch_group_count": count if groups == "batches" else 1,
    }  # fmt: skip
    return Program(
        lambda lax: lambda x, w: lax.conv_general_dilated(x, w, **options),
        [normal(lhs), normal((outputs, features, *window))],
        (0, 1),
    )


def fft(draw: Draw) -> Program:
    kind = draw(st.sampled_from(["FFT", "IFFT", "RFFT", "IRFFT"]))
    axes = tuple(draw(st.lists(st.integers(2, 5), min_size=1, max_size=2)))
    lead = draw(shapes(1))
    last = axes[-1] // 2 + 1 if kind == "IRFFT" else axes[-1]
    shape = (*lead, *axes[:-1], last)
    sampler = normal(shape, np.float64 if kind == "RFFT" else np.complex128)
    return Program(lambda lax: lambda x: lax.fft(x, lax.FftType[kind], axes), [sampler], smooth=kind != "IRFFT")


def dynamic_slice(draw: Draw) -> Program:
    shape = draw(shapes(least=1, extent=4))
    sizes = [draw(st.integers(1, n)) for n in shape]
    starts = [integers(-2, 5, ())] * len(shape)
    return Program(lambda lax: lambda x, *at: lax.dynamic_slice(x, at, sizes), [normal(shape), *starts])


def dynamic_update(draw: Draw) -> Program:
    shape = draw(shapes(least=1, extent=4))
    sizes = tuple(draw(st.integers(1, n)) for n in shape)
    starts = [integers(-2, 5, ())] * len(shape)
    samplers = [normal(shape), normal(sizes), *starts]
    return Program(lambda lax: lambda x, y, *at: lax.dynamic_update_slice(x, y, at), samplers, (0, 1))


def _points(draw: Draw) -> tuple[tuple[int, ...], tuple[int, ...], list[int], list[int], tuple[int, ...]]:
    """Draw an operand's shape, a shape of index vectors, indexed axes, collapsed ones among them, and a window."""
    shape = draw(shapes(least=1, extent=4))
    indexed = sorted(draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True)))
    collapsed = [d for d in indexed if draw(st.booleans())]
    window = tuple(1 if d in collapsed else draw(st.integers(1, n)) for d, n in enumerate(shape))
    return shape, draw(shapes(2)), indexed, collapsed, window


def gather(draw: Draw) -> Program:
    shape, lead, indexed, collapsed, window = _points(draw)
    kept = len(shape) - len(collapsed)
    offsets = tuple(range(len(lead), len(lead) + kept))

    def fun(lax: Any) -> Callable[..., Any]:
        numbers = lax.GatherDimensionNumbers(offsets, tuple(collapsed), tuple(indexed))
        return lambda x, at: lax.gather(x, at, numbers, window, mode="clip")

    return Program(fun, [normal(shape), integers(-2, 5, (*lead, len(indexed)))])


def scatter(name: str, distinct_places: bool = False, equal: bool = False) -> Callable[[Draw], Program]:
    """Return the case of a scatter; JAX has derivatives of products at distinct places only."""

    def case(draw: Draw) -> Program:
        shape, lead, indexed, collapsed, window = _points(draw)
        if distinct_places:
            lead = ()
        kept = [n for d, n in enumerate(window) if d not in collapsed]
        update_dims = tuple(range(len(lead), len(lead) + len(kept)))

        def fun(lax: Any) -> Callable[..., Any]:
            numbers = lax.ScatterDimensionNumbers(update_dims, tuple(collapsed), tuple(indexed))
            return lambda x, at, u: getattr(lax, name)(x, at, u, numbers, unique_indices=distinct_places)

        indices = integers(-1, 5, (*lead, len(indexed)))
        extremes = name in ("scatter_min", "scatter_max")
        make = tied if equal else distinct if extremes else normal
        updates = make((*lead, *kept))
        shifted: Sampler = (lambda rng: updates(rng) + 0.07) if make is distinct else updates
        alike = distinct_places or name != "scatter_mul"
        return Program(fun, [make(shape), indices, shifted], (0, 2), smooth=not (extremes and equal), jax=alike)

    return case


def reduction(
    name: str, sampler: Callable[[tuple[int, ...]], Sampler], smooth: bool = True
) -> Callable[[Draw], Program]:
    """Return the case of a named reduction."""

    def case(draw: Draw) -> Program:
        shape = draw(shapes())
        axes = tuple(draw(st.lists(st.integers(0, len(shape) - 1), unique=True))) if shape else ()
        return Program(lambda lax: lambda x: getattr(lax, name)(x, axes), [sampler(shape)], smooth=smooth)

    return case


def logical(draw: Draw) -> Program:
    shape, name = draw(shapes(least=1)), draw(st.sampled_from(["reduce_and", "reduce_or", "reduce_xor"]))
    return Program(lambda lax: lambda x: getattr(lax, name)(x, (0,)), [integers(0, 2, shape, np.bool_)], ())


def arg_extremum(draw: Draw) -> Program:
    shape, name = draw(shapes(least=1)), draw(st.sampled_from(["argmax", "argmin"]))
    axis = draw(st.integers(0, len(shape) - 1))
    return Program(lambda lax: lambda x: getattr(lax, name)(x, axis, np.int64), [tied(shape)], ())


def cumulative(name: str) -> Callable[[Draw], Program]:
    """Return the case of a cumulative op."""

    def case(draw: Draw) -> Program:
        shape = draw(shapes(least=1, extent=5))
        axis, reverse = draw(st.integers(0, len(shape) - 1)), draw(st.booleans())
        sampler = distinct(shape) if name in ("cummax", "cummin") else normal(shape)
        return Program(lambda lax: lambda x: getattr(lax, name)(x, axis, reverse), [sampler])

    return case


def windows(name: str) -> Callable[[Draw], Program]:
    """Return the case of a reduction over windows."""
    start = {"add": 0.0, "mul": 1.0, "max": -np.inf, "min": np.inf}[name]

    def case(draw: Draw) -> Program:
        shape = draw(shapes(least=1, extent=5, most=2))
        small = lambda high: tuple(draw(st.integers(1, high)) for _ in shape)
        sizes, strides, base, window = small(3), small(2), small(2), small(2)
        padding = [(draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in shape]
        padding = [
            (a, b + max(0, (w - 1) * d + 1 - n)) for (a, b), w, d, n in zip(padding, sizes, window, shape, strict=True)
        ]

        def fun(lax: Any) -> Callable[..., Any]:
            return lambda x: lax.reduce_window(
                x, start, getattr(lax, name), sizes, strides, padding, base_dilation=base, window_dilation=window
            )

        sampler = distinct(shape) if name in ("max", "min") else normal(shape)
        # a window of padding alone has the initial value, infinity, whose differences are not numbers
        alike = name == "add" or (name != "mul" and max((*base, *window)) == 1)
        return Program(fun, [sampler], smooth=name in ("add", "mul"), jax=alike)

    return case


def sort(draw: Draw) -> Program:
    shape = draw(shapes(least=1, extent=4))
    axis = draw(st.integers(0, len(shape) - 1))
    keys = draw(st.integers(1, 2))
    return Program(
        lambda lax: lambda x, y: tuple(lax.sort((x, y), dimension=axis, num_keys=keys)),
        [distinct(shape), normal(shape)],
        (0, 1),
    )


def top_k(draw: Draw) -> Program:
    shape = draw(shapes(least=1, extent=5))
    k = draw(st.integers(1, shape[-1]))
    return Program(lambda lax: lambda x: tuple(lax.top_k(x, k)), [distinct(shape)])


def _definite(n: int, lead: tuple[int, ...], dtype: Any) -> Sampler:
    def sample(rng: np.random.Generator) -> np.ndarray:
        x = normal((*lead, n, n), dtype)(rng)
        return np.asarray(x @ np.conj(np.swapaxes(x, -1, -2)) + (1 + np.arange(n)) * np.eye(n))

    return sample


def cholesky(draw: Draw) -> Program:
    sampler = _definite(draw(st.integers(1, 3)), draw(shapes(1)), draw(dtypes()))
    # the tangent of a Hermitian matrix is Hermitian: half of each triangle counts
    return Program(lambda lax: lambda x: lax.linalg.cholesky((x + _adjoint(lax, x)) / 2), [sampler])


def _adjoint(lax: Any, x: Any) -> Any:
    order = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    turned = lax.transpose(x, order)
    return lax.conj(turned) if x.dtype.kind == "c" else turned


def triangular_solve(draw: Draw) -> Program:
    n, m, lead, dtype = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(shapes(1)), draw(dtypes())
    left = draw(st.booleans())
    names = ("lower", "transpose_a", "conjugate_a", "unit_diagonal")
    options = {name: draw(st.booleans()) for name in names}
    options["conjugate_a"] &= options["transpose_a"]
    rhs = (*lead, n, m) if left else (*lead, m, n)
    return Program(
        lambda lax: lambda a, b: lax.linalg.triangular_solve(a, b, left_side=left, **options),
        [_definite(n, lead, dtype), normal(rhs, dtype)],
        (0, 1),
    )


def eigh(draw: Draw) -> Program:
    """Eigenvalues, and the projector on the first eigenvector, which has no sign to choose."""
    sampler = _definite(draw(st.integers(1, 3)), draw(shapes(1)), draw(dtypes()))

    def fun(lax: Any) -> Callable[..., Any]:
        def values(x: Any) -> Any:
            v, w = lax.linalg.eigh((x + _adjoint(lax, x)) / 2)
            first = v[..., :, :1]
            return w, first * lax.conj(first.swapaxes(-1, -2)) if x.dtype.kind == "c" else first * first.swapaxes(
                -1, -2
            )

        return values

    return Program(fun, [sampler])


def svd(draw: Draw) -> Program:
    m, n, lead = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(shapes(1))

    def fun(lax: Any) -> Callable[..., Any]:
        def rebuilt(x: Any) -> Any:
            u, s, vh = lax.linalg.svd(x, full_matrices=False)
            return s, (u[..., :1] * s[..., None, :1]) * vh[..., :1, :]

        return rebuilt

    return Program(fun, [normal((*lead, m, n), draw(dtypes()))])


def qr(draw: Draw) -> Program:
    n = draw(st.integers(1, 3))
    m, lead = n + draw(st.integers(0, 2)), draw(shapes(1))
    return Program(lambda lax: lambda x: tuple(lax.linalg.qr(x, full_matrices=False)), [normal((*lead, m, n))])


def lu(draw: Draw) -> Program:
    m, n, lead = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(shapes(1))
    return Program(lambda lax: lambda x: lax.linalg.lu(x)[0], [normal((*lead, m, n), draw(dtypes()))])


def cond(draw: Draw) -> Program:
    shape = draw(shapes())
    return Program(
        lambda lax: lambda p, x, y: lax.cond(p > 0, lambda a: a * y, lambda a: lax.sin(a), x),
        [normal(()), normal(shape), normal(shape)],
        (1, 2),
    )


def switch(draw: Draw) -> Program:
    shape = draw(shapes())
    return Program(
        lambda lax: lambda k, x: lax.switch(k, [lambda a: a * a, lambda a: a, lambda a: lax.exp(a) * x], x),
        [integers(-1, 4, ()), normal(shape)],
        (1,),
    )


def fori(draw: Draw) -> Program:
    shape, steps = draw(shapes()), draw(st.integers(0, 3))
    return Program(
        lambda lax: lambda x, y: lax.fori_loop(0, steps, lambda i, c: lax.sin(c) * y + i, x),
        [normal(shape), normal(shape)],
        (0, 1),
    )


def scan(draw: Draw) -> Program:
    shape, steps, reverse = draw(shapes(2)), draw(st.integers(1, 3)), draw(st.booleans())

    def fun(lax: Any) -> Callable[..., Any]:
        def run(x: Any, y: Any, xs: Any) -> Any:
            def step(carry: Any, row: Any) -> Any:
                a, n = carry
                return (a * row + y, n + 1), a * a

            (last, _), stacked = lax.scan(step, (x, 0), xs, reverse=reverse)
            return last, stacked

        return run

    return Program(fun, [normal(shape), normal(shape), normal((steps, *shape))], (0, 1, 2))


def mapping(draw: Draw) -> Program:
    shape, lanes = draw(shapes(2)), draw(st.integers(1, 3))
    return Program(
        lambda lax: lambda x, xs: lax.map(lambda row: lax.sin(row) * x, xs),
        [normal(shape), normal((lanes, *shape))],
        (0, 1),
    )


def bounded_while(draw: Draw) -> Program:
    """A loop whose number of steps depends on the lane; forward mode only."""
    shape = draw(shapes())
    return Program(
        lambda lax: lambda n, x: lax.while_loop(lambda s: s[0] > 0, lambda s: (s[0] - 1, lax.sin(s[1])), (n, x))[1],
        [integers(0, 4, ()), normal(shape)],
        (),
    )


def general_reduce(draw: Draw) -> Program:
    shape = draw(shapes(least=1))
    axis = draw(st.integers(0, len(shape) - 1))
    sampler = uniform(0.2, 0.9, shape)
    return Program(lambda lax: lambda x: lax.reduce(x, 0.0, lambda a, b: a + b - a * b, (axis,)), [sampler])


def random_bits(draw: Draw) -> Program:
    shape = draw(shapes())
    sampler = integers(0, 99, (2,), np.uint64)
    return Program(lambda lax: lambda key: lax.rng_bit_generator(key, shape, np.uint32)[1], [sampler], (), jax=False)


CASES: dict[str, Callable[[Draw], Program]] = {
    "dot": dot,
    "convolution": convolution,
    "fft": fft,
    "dynamic_slice": dynamic_slice,
    "dynamic_update": dynamic_update,
    "gather": gather,
    "scatter": scatter("scatter"),
    "scatter_add": scatter("scatter_add"),
    "scatter_mul": scatter("scatter_mul", distinct_places=True),
    "scatter_mul of zeros": scatter("scatter_mul", equal=True),
    "scatter_min": scatter("scatter_min"),
    "scatter_max": scatter("scatter_max"),
    "scatter_max of equal": scatter("scatter_max", equal=True),
    "reduce_sum": reduction("reduce_sum", normal),
    "reduce_prod": reduction("reduce_prod", normal),
    "reduce_max": reduction("reduce_max", distinct),
    "reduce_min": reduction("reduce_min", distinct),
    "reduce_max of equal": reduction("reduce_max", tied, smooth=False),
    "reduce_prod of zeros": reduction("reduce_prod", tied),
    "reduce": general_reduce,
    "logical": logical,
    "argmax": arg_extremum,
    **{name: cumulative(name) for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")},
    **{f"windows {name}": windows(name) for name in ("add", "mul", "max", "min")},
    "sort": sort,
    "top_k": top_k,
    "cholesky": cholesky,
    "triangular_solve": triangular_solve,
    "eigh": eigh,
    "svd": svd,
    "qr": qr,
    "lu": lu,
    "cond": cond,
    "switch": switch,
    "fori": fori,
    "scan": scan,
    "map": mapping,
    "while": bounded_while,
    "random bits": random_bits,
}
