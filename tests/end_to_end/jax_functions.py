"""Functions of JAX, many to a group, that make JAX export most of what it can: `GROUPS` has them, with arguments.

A group is lowered and compiled as one program, so that so many functions cost a dozen compilations. Linear algebra,
convolutions, windows, Fourier transforms and generators of random bits have their own tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

Function = Callable[..., Any]

X = np.linspace(-1.5, 2.0, 12, dtype=np.float32).reshape(3, 4)
D = np.linspace(-1.5, 2.0, 12).reshape(3, 4)[::-1] ** 3
N = np.array([[7, -3, 0, 5], [-8, 2, 2, 1], [4, 4, -128, 127]], np.int32)
Z = np.array([1 + 2j, -0.5 - 1j, 3 - 0.25j, -1 + 0j], np.complex64)
V = np.array([0.3, 2.5, 1.25, 4.0], np.float32)
KEY = np.array([3, 4], np.uint32)

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
FLOAT8 = ("float8_e3m4", "float8_e4m3fn", "float8_e4m3b11fnuz", "float8_e5m2")


def each(dtypes: tuple[str, ...], function: Function) -> Function:
    """Return a function that converts its argument to every dtype and applies ``function`` to it."""
    return lambda x: [function(x.astype(dtype)) for dtype in dtypes]


def integer_arithmetic(n: Any) -> list[Any]:
    """Return what integers of one dtype go through."""
    k = n[::-1]
    divided = [lax.div(n, jnp.where(k == 0, 3, k).astype(n.dtype)), lax.rem(n, jnp.where(k == 0, 3, k).astype(n.dtype))]
    bits = [n & k, n | k, n ^ k, ~n, lax.population_count(n), lax.clz(n)]
    shifts = [
        n << 3,
        lax.shift_right_logical(n, jnp.full_like(n, 2)),
        lax.shift_right_arithmetic(n, jnp.full_like(n, 2)),
    ]
    return [n + k, n - k, n * k, lax.neg(n), jnp.abs(n), jnp.sign(n), lax.integer_pow(n, 3), *divided, *bits, *shifts]


def integer_choices(n: Any) -> list[Any]:
    """Return comparisons, choices and reductions of integers of one dtype."""
    k = n[::-1]
    compared = [n == k, n != k, n < k, n <= k, n > k, n >= k, jnp.maximum(n, k), jnp.minimum(n, k)]
    reduced = [n.sum(0), n.prod(1), n.max(), n.min(0), n.argmax(1), n.argmin(), (n > 0).any(0), (n != 0).all(1)]
    return [*compared, *reduced, jnp.clip(n, 0, 5), jnp.where(n > k, n, k), jnp.sort(n, 0), jnp.cumsum(n, 1)]


def float_arithmetic(x: Any) -> list[Any]:
    """Return what floats of one dtype go through, exact or nearly so."""
    y = x[::-1]
    rounded = [jnp.floor(x), jnp.ceil(x), jnp.round(x), lax.round(x), jnp.trunc(x), jnp.sign(x), jnp.isfinite(x)]
    compared = [x < y, x == y, jnp.maximum(x, y), jnp.minimum(x, y), jnp.where(x > y, x, y), jnp.clip(x, -1, 1)]
    return [x + y, x - y, x * y, x / (y + 4), lax.rem(x, y + 3), jnp.abs(x), -x, *rounded, *compared]


def float_functions(x: Any) -> list[Any]:
    """Return elementary functions of floats of one dtype."""
    positive = jnp.abs(x) + 0.5
    roots = [jnp.sqrt(positive), lax.rsqrt(positive), jnp.cbrt(x), positive**x, lax.integer_pow(x, 3)]
    logs = [jnp.exp(x), jnp.expm1(x), jnp.log(positive), jnp.log1p(positive), lax.logistic(x)]
    return [*roots, *logs, jnp.sin(x), jnp.cos(x), lax.tan(x), jnp.tanh(x), lax.atan2(x, positive)]


def special_functions(x: Any) -> list[Any]:
    """Return what exports as ops of the dialect chlo, and what JAX writes out itself."""
    near, positive = x / 4, jnp.abs(x) + 0.5
    hyperbolic = [jnp.sinh(x), jnp.cosh(x), jnp.arcsinh(x), jnp.arccosh(positive + 1), jnp.arctanh(near)]
    inverse = [jnp.arcsin(near), jnp.arccos(near), jnp.arctan(x), lax.erf(x), lax.erfc(x), lax.erf_inv(near)]
    gamma = [lax.lgamma(positive), lax.digamma(positive), lax.square(x), jnp.nextafter(x, 2 * x)]
    more = [jax.scipy.special.zeta(positive + 1, 1.5), jax.scipy.special.polygamma(1, positive), lax.bessel_i1e(x)]
    return [*hyperbolic, *inverse, *gamma, *more, jax.scipy.special.i0e(x), jax.scipy.special.xlogy(x, positive)]


def more_special_functions(x: Any) -> list[Any]:
    """Return functions that JAX writes as loops."""
    positive = jnp.abs(x) + 0.5
    special = jax.scipy.special
    return [
        special.gammainc(positive, 1.5),
        special.betainc(positive, 2.0, jnp.full_like(x, 0.3)),
        special.ndtri(x / 5 + 0.5),
    ]


def complex_arithmetic(z: Any) -> list[Any]:
    """Return what complex numbers go through."""
    w = z[::-1] + 1
    plain = [z + w, z - w, z * w, z / w, -z, jnp.conj(z), z.real, z.imag, jnp.abs(z), jnp.angle(z), jnp.sign(z)]
    functions = [jnp.exp(z), jnp.log(z), jnp.sqrt(z), jnp.sin(z), jnp.cosh(z), jnp.tanh(z), z**w, lax.rsqrt(z)]
    return [*plain, *functions, z == w, z != w, lax.complex(z.real, w.imag), z.sum(), z.prod(), jnp.sort(z)]


def bitcasts(x: Any) -> list[Any]:
    """Return bits of numbers as other numbers."""
    single = [lax.bitcast_convert_type(x, dtype) for dtype in (jnp.int32, jnp.uint16, jnp.uint8, jnp.bfloat16)]
    words = lax.bitcast_convert_type(x.astype(jnp.float16), jnp.int16)
    back = lax.bitcast_convert_type(lax.bitcast_convert_type(x, jnp.uint8), jnp.float32)
    return [*single, words, back, x.astype(jnp.float64).view(jnp.int64), x.astype(jnp.float8_e5m2).view(jnp.uint8)]


def narrow_floats(x: Any) -> list[Any]:
    """Return arithmetic of eight-bit floats."""
    found = []
    for dtype in FLOAT8:
        y = x.astype(dtype)
        found += [y + y[::-1], y * y, -y, jnp.maximum(y, y[::-1]), y < y[::-1], y.astype(jnp.float32)]
    return found


def four_bits(n: Any) -> list[Any]:
    """Return arithmetic of four-bit integers."""
    found = []
    for dtype in (jnp.int4, jnp.uint4):
        k = n.astype(dtype)
        found += [
            k + k,
            k * k,
            k.astype(jnp.int32),
            jnp.maximum(k, k[::-1]),
            k < k[::-1],
            lax.cummax(k, 1),
            k & k[::-1],
        ]
    return found


def casts(x: Any) -> list[Any]:
    """Return conversions as programs have them."""
    booleans = x > 0
    plain = [x.astype(dtype) for dtype in (*INTEGERS, *FLOATS, "complex64", "complex128", "bool")]
    return [*plain, booleans.astype(jnp.float16), booleans.astype(jnp.int8), lax.reduce_precision(x, 5, 3)]


def reductions(x: Any) -> list[Any]:
    """Return reductions, those of several operands too."""
    rows = [x.sum(1), x.prod(0), x.max(), x.min(1), x.mean(), x.std(0), x.var(1), jnp.median(x), jnp.ptp(x, 0)]
    places = [x.argmax(), x.argmin(1), jnp.nanargmax(x, 0), jnp.count_nonzero(x > 0)]
    pairs = [jax.nn.logsumexp(x, 1), jax.nn.softmax(x, 0), jnp.quantile(x, 0.3), jnp.average(x, 0, jnp.arange(3.0))]
    two = lax.reduce((x, x * x), (np.float32(0), np.float32(1)), lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,))
    return [*rows, *places, *pairs, *two, lax.reduce_xor(x.astype(jnp.int32), (0, 1))]


def scans(x: Any) -> list[Any]:
    """Return cumulative functions."""
    plain = [jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cummax(x, 1), lax.cummin(x, 0), lax.cumlogsumexp(x, 1)]
    return [*plain, lax.associative_scan(jnp.maximum, x), jnp.diff(x), jnp.cumsum(x, 1, dtype=jnp.float64)]


def sorts(x: Any) -> list[Any]:
    """Return sorts of one and of several operands."""
    flat = x.reshape(-1)
    several = lax.sort((jnp.round(flat), flat, jnp.arange(12)), num_keys=2)
    found = [
        jnp.sort(x),
        jnp.sort(x, 0, descending=True),
        jnp.argsort(x, 0),
        *lax.top_k(x, 2),
        jnp.lexsort((flat, -flat)),
    ]
    near = [jnp.searchsorted(jnp.sort(flat), x[0]), jnp.searchsorted(jnp.sort(flat), x[1], side="right", method="sort")]
    return [*found, *several, *near, jnp.unique(jnp.round(flat), size=5), jnp.digitize(flat, V), jnp.partition(flat, 3)]


def indexing(x: Any) -> list[Any]:
    """Return every form of reading by indices."""
    rows, columns = jnp.array([2, 0, -1]), jnp.array([[1], [3], [0]])
    slices = [x[1:, ::2], x[::-1], x[..., None, 1], x[1], x[-1, 2], x[0:0], x[:, ::-2]]
    arrays = [x[rows], x[:, rows], x[rows, rows], x[rows, columns], x[columns, None, 1:3], x[rows, 1:][:, None]]
    out = [
        x.at[rows].get(mode="fill", fill_value=9),
        x.at[rows + 9].get(mode="clip"),
        x.at[7, 1].get(mode="promise_in_bounds") * 0,
    ]
    picked = [
        jnp.take(x, rows, 0),
        jnp.take_along_axis(x, columns, 1),
        jnp.choose(1, [x, -x], mode="clip"),
        jnp.diagonal(x),
    ]
    moved = [jnp.roll(x, 1, 0), jnp.tile(x, (2, 1)), jnp.repeat(x, 2, 1), jnp.where(x > 0, size=4)[0], jnp.tril(x)]
    return [*slices, *arrays, *out, *picked, *moved, x[jnp.argmax(x[0])]]


def scatters(x: Any) -> list[Any]:
    """Return every form of writing by indices."""
    rows, columns = jnp.array([2, 0, 2]), jnp.array([1, 1, 3])
    plain = [x.at[1].set(0), x.at[rows].add(1), x.at[rows, columns].multiply(2), x.at[:, 1].set(x[:, 0])]
    choices = [x.at[rows].min(0), x.at[rows, columns].max(0.5), x.at[::2, 1:3].add(5), x.at[1, 2].divide(2)]
    modes = [x.at[rows + 1].add(3, mode="drop"), x.at[rows + 1].set(3, mode="clip"), x.at[jnp.array([-1])].set(3)]
    sums = [jax.ops.segment_sum(x, rows, 4), jax.ops.segment_max(x, rows, 3), jnp.bincount(columns, length=5)]
    return [*plain, *choices, *modes, *sums, x.at[rows].apply(jnp.sin), jnp.histogram(x, 4)[0]]


def dynamic_slices(x: Any, n: Any) -> list[Any]:
    """Return slices whose places are data, inside and outside."""
    inside = lax.dynamic_slice(x, (n[0, 3], n[0, 1]), (2, 2))
    written = lax.dynamic_update_slice(x, x[:2, :1] * 7, (n[1, 2], n[0, 0]))
    return [inside, written, lax.dynamic_index_in_dim(x, n[1, 3], 1), x[n[1, 3]], lax.dynamic_slice_in_dim(x, 1, 2)]


def layouts(x: Any) -> list[Any]:
    """Return elements moved about."""
    joined = [jnp.concatenate([x, x], 1), jnp.stack([x, x], -1), jnp.pad(x, ((1, 0), (0, 2)), constant_values=3)]
    shapes = [x.T, x.reshape(2, 6), jnp.flip(x, 1), jnp.rot90(x), jnp.moveaxis(x[None], 0, 2), jnp.squeeze(x[None])]
    grids = [*jnp.meshgrid(x[0], x[:, 0]), jnp.eye(3), jnp.arange(5)[:, None] + jnp.arange(3), jnp.linspace(0, 1, 5)]
    pads = [lax.pad(x, np.float32(1), ((1, -1, 1), (-1, 2, 0))), jnp.pad(x, 1, "reflect"), jnp.pad(x, 1, "edge")]
    return [*joined, *shapes, *grids, *pads, lax.rev(x, (0, 1)), lax.broadcasted_iota(jnp.int16, (2, 3), 1)]


def contractions(x: Any) -> list[Any]:
    """Return products of matrices and of more."""
    cube = jnp.stack([x, x + 1])
    products = [
        x @ x.T,
        jnp.outer(x[0], x[1]),
        jnp.vdot(x, x),
        jnp.tensordot(cube, cube, ((0, 1), (0, 1))),
        jnp.kron(x, x[:1]),
    ]
    sums = [
        jnp.einsum("ij,kj->ik", x, x),
        jnp.einsum("bij,bkj->bik", cube, cube),
        jnp.einsum("ijk,ijl,ij->kl", cube, cube, cube[..., 0]),
    ]
    mixed = lax.dot_general(
        x.astype(jnp.int8), x.astype(jnp.int8), (((1,), (1,)), ((), ())), preferred_element_type=jnp.int32
    )
    narrow = jnp.matmul(x.astype(jnp.bfloat16), x.T.astype(jnp.bfloat16), preferred_element_type=jnp.float32)
    return [
        *products,
        *sums,
        mixed,
        narrow,
        jnp.matmul(cube, cube.swapaxes(1, 2), precision="highest"),
        jnp.inner(x, x),
    ]


def branches(x: Any, n: Any) -> list[Any]:
    """Return branches, of data that is captured too."""
    y = x * 2
    two = lax.cond(n[0, 0] > 3, lambda v: jnp.sin(v) + y, lambda v: v, x)
    three = lax.switch(n[0, 3], [lambda v: v, lambda v: v * y, lambda v: -v], x)
    nested = lax.cond(n[0, 1] > 0, lambda: two, lambda: lax.cond(n[0, 0] > 0, lambda: three, lambda: x))
    return [two, three, nested, *lax.cond(x[0, 0] > 0, lambda: (1, x), lambda: (2, -x))]


def loops(x: Any) -> list[Any]:
    """Return loops of every kind, nested too."""
    counted = lax.fori_loop(0, 4, lambda i, v: jnp.sin(v) + i, x)
    until = lax.while_loop(lambda s: (s[0] < 9) & (s[1].sum() < 50), lambda s: (s[0] + 2, s[1] * 1.5 + x), (0, x))
    nested = lax.fori_loop(0, 3, lambda i, v: lax.fori_loop(0, i, lambda j, w: w + j * x, v), x)
    scanned = lax.scan(lambda c, r: (c * 0.5 + r, c.sum()), x[0], x, reverse=True)
    mapped = lax.map(lambda r: jnp.sort(r) * r.sum(), x)
    return [counted, *until, nested, *scanned, mapped, lax.scan(lambda c, _: (c + 1, c), 0, None, length=4)[1]]


@jax.jit
def _named(x: Any) -> Any:
    return jnp.where(x > 0, x, 0.1 * x)


@jax.custom_jvp
def _with_slope(x: Any) -> Any:
    return jnp.log1p(jnp.exp(x))


_with_slope.defjvp(lambda primals, tangents: (_with_slope(*primals), tangents[0] * jax.nn.sigmoid(primals[0])))


def calls(x: Any) -> list[Any]:
    """Return functions that stay functions in the text."""
    once = _named(_named(x) + _named(x[::-1]))
    return [once, jax.jit(lambda v: _named(v) * 2)(x), _with_slope(x), jax.grad(lambda v: _with_slope(v).sum())(x)]


def gradients(x: Any) -> list[Any]:
    """Return what derivatives make of programs."""
    functions = [lambda v: (jax.nn.gelu(v) ** 2).sum(), lambda v: jax.nn.log_softmax(v)[:, 1].sum()]
    functions += [
        lambda v: jnp.sort(v, 1)[:, 2].sum() + v.max(),
        lambda v: lax.scan(lambda c, r: (c * r, c), v[0], v)[0].sum(),
    ]
    functions += [
        lambda v: jnp.cumprod(v, 1).sum(),
        lambda v: v[jnp.array([0, 0, 2])].prod(),
        lambda v: jnp.linalg.norm(v),
    ]
    slopes = [jax.grad(f)(x) for f in functions]
    return [*slopes, jax.hessian(lambda v: (v**3).prod())(x[0]), jax.jacfwd(lambda v: jnp.outer(v, v))(x[1])]


def activations(x: Any) -> list[Any]:
    """Return the functions of neural networks."""
    names = "relu relu6 sigmoid softplus elu selu gelu silu celu hard_tanh log_sigmoid soft_sign mish hard_silu"
    found = [getattr(jax.nn, name)(x) for name in names.split()]
    return [*found, jax.nn.glu(x), jax.nn.standardize(x), jax.nn.one_hot(jnp.array([1, 3, 0]), 4)]


def attention(x: Any) -> list[Any]:
    """Return attention with a mask, and one step of an LSTM."""
    q = jnp.stack([x, x * 0.5])
    scores = jnp.einsum("bqd,bkd->bqk", q, q) / 2
    masked = jnp.where(jnp.tril(jnp.ones((3, 3), bool)), scores, -1e30)
    gates = jnp.tanh(x @ jnp.tile(x.T, (1, 4)) / 9)
    i, f, g, o = jnp.split(gates, 4, axis=1)
    cell = jax.nn.sigmoid(f) * 0.5 + jax.nn.sigmoid(i) * jnp.tanh(g)
    return [jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(masked), q), jax.nn.sigmoid(o) * jnp.tanh(cell)]


def interpolation(x: Any) -> list[Any]:
    """Return values between others."""
    known = jnp.array([-1.0, 0.0, 0.5, 2.5], x.dtype)
    resized = jax.image.resize(x, (5, 6), "bilinear")
    found = [jnp.interp(x, known, V), resized, jnp.polyval(known, x), jnp.convolve(x[0], x[1][:1]), jnp.trapezoid(x)]
    return [*found, jax.scipy.ndimage.map_coordinates(x, [x[0] * 0 + 1.5, V * 0.5], 1), jnp.gradient(x[0])]


def vectorized(x: Any) -> list[Any]:
    """Return what vmap makes of indexing, of loops and of branches."""
    places = jnp.array([2, 0, 1])
    picked = jax.vmap(lambda row, k: row[k])(x, places)
    written = jax.vmap(lambda row, k: row.at[k].add(1))(x, places)
    sliced = jax.vmap(lambda row, k: lax.dynamic_slice(row, (k,), (2,)))(x, places)
    chosen = jax.vmap(lambda row, k: lax.cond(k > 0, jnp.sin, jnp.cos, row))(x, places)
    looped = jax.vmap(lambda row, k: lax.fori_loop(0, k, lambda i, v: v * 2, row))(x, places)
    return [picked, written, sliced, chosen, looped, jax.vmap(jnp.dot, (1, 1))(x, x), jax.vmap(jnp.sort)(x)]


def threefry(key: Any) -> list[Any]:
    """Return random numbers that JAX writes out as shifts and additions."""
    random = jax.random
    first, second = random.split(key)
    found = [random.bits(first, (3,)), random.uniform(first, (2, 2)), random.randint(second, (4,), -5, 9)]
    return [*found, random.permutation(second, 5), random.fold_in(key, 7), random.bernoulli(first, 0.3, (3,))]


def more_random(key: Any) -> list[Any]:
    """Return random numbers with a distribution."""
    random = jax.random
    found = [random.normal(key, (3,)), random.categorical(key, jnp.log(V)), random.truncated_normal(key, -1, 1, (3,))]
    return [*found, random.exponential(key, (2,)), random.choice(key, 5, (3,)), random.gumbel(key, (2,))]


def constants(x: Any) -> list[Any]:
    """Return constants of every size and dtype."""
    large = np.linspace(0, 1, 400, dtype=np.float32)
    small = [np.array([1, -2], dtype) for dtype in ("int8", "int16", "int64")]
    odd = [np.array([np.nan, np.inf, -0.0], dtype) for dtype in ("float16", "float64", ml_dtypes.bfloat16)]
    blobs = [np.arange(150) % 3 == 0, np.arange(150, dtype=np.uint8), Z * np.ones((40, 1), np.complex64)]
    return [
        x.sum() * large,
        *(jnp.asarray(a) * 1 for a in [*small, *odd]),
        *(x[0, 0].astype(a.dtype) + a for a in blobs),
    ]


GROUPS: dict[str, list[tuple[Function, Any]]] = {
    "integers": [
        (each(INTEGERS, integer_arithmetic), (N,)),
        (each(("int8", "int64", "uint16", "uint32"), integer_choices), (N,)),
        (four_bits, (N,)),
    ],
    "floats": [(each(FLOATS, float_arithmetic), (D,)), (casts, (X,)), (bitcasts, (X,)), (narrow_floats, (X,))],
    "functions": [(each(FLOATS, float_functions), (X,)), (complex_arithmetic, (Z,)), (activations, (X,))],
    "special": [(special_functions, (X,)), (special_functions, (D / 4,)), (more_special_functions, (X,))],
    "reductions": [(reductions, (X,)), (scans, (X,)), (sorts, (X,)), (contractions, (X,))],
    "indexing": [(indexing, (X,)), (scatters, (X,)), (dynamic_slices, (X, N)), (layouts, (X,))],
    "control": [(branches, (X, N)), (loops, (X,)), (calls, (X,)), (vectorized, (X,))],
    "networks": [(attention, (X,)), (interpolation, (X,)), (gradients, (X,)), (constants, (X,))],
    "random": [(threefry, (KEY,)), (more_random, (KEY,))],
}
"""Functions and their arguments by the name of what they share."""
