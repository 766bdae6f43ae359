"""Programs that are written for JAX: sorting, sums, Fourier transforms, linear algebra, random numbers, simulations."""

from __future__ import annotations

from typing import Any

from benchmarks.written_data import Written, double, positive, program, regular, rising, seed, single, tree, whole

ARRAYS: list[Written] = []


@program(ARRAYS, single(10000, 64), whole(10000, 512))
def sum_of_rows(jax: Any, table: Any, places: Any) -> Any:
    return table[places].sum(0)


@program(ARRAYS, single(20000), whole(100, 20000))
def segment_sum(jax: Any, x: Any, segments: Any) -> Any:
    return jax.ops.segment_sum(x, segments, 100)


@program(ARRAYS, single(50000), whole(1000, 50000))
def scatter_add(jax: Any, x: Any, places: Any) -> Any:
    return jax.numpy.zeros(1000, x.dtype).at[places].add(x)


@program(ARRAYS, single(64, 1000))
def top_k(jax: Any, x: Any) -> Any:
    return jax.lax.top_k(x, 10)


@program(ARRAYS, single(50000))
def sort_line(jax: Any, x: Any) -> Any:
    return jax.numpy.sort(x)


@program(ARRAYS, double(200, 300))
def sort_rows(jax: Any, x: Any) -> Any:
    return jax.numpy.sort(x, axis=1)


@program(ARRAYS, double(200, 300))
def argsort_rows(jax: Any, x: Any) -> Any:
    return jax.numpy.argsort(x, axis=1)


@program(ARRAYS, double(200, 300))
def sort_columns(jax: Any, x: Any) -> Any:
    return jax.numpy.sort(x, axis=0)


@program(ARRAYS, double(300, 400))
def cumsum_columns(jax: Any, x: Any) -> Any:
    return jax.numpy.cumsum(x, 0)


@program(ARRAYS, double(300, 400))
def cumsum_rows(jax: Any, x: Any) -> Any:
    return jax.numpy.cumsum(x, 1)


@program(ARRAYS, double(100000))
def cumsum_line(jax: Any, x: Any) -> Any:
    return jax.numpy.cumsum(x)


@program(ARRAYS, double(300, 400))
def cumprod_rows(jax: Any, x: Any) -> Any:
    return jax.numpy.cumprod(x, 1)


@program(ARRAYS, double(4096))
def fft_line(jax: Any, x: Any) -> Any:
    return jax.numpy.fft.fft(x + 0j)


@program(ARRAYS, double(128, 128))
def fft_image(jax: Any, x: Any) -> Any:
    return jax.numpy.fft.fft2(x)


@program(ARRAYS, single(64, 1024))
def rfft_and_back(jax: Any, x: Any) -> Any:
    return jax.numpy.fft.irfft(jax.numpy.fft.rfft(x) * 0.5)


@program(ARRAYS, regular(64, 16))
def cholesky_batch(jax: Any, a: Any) -> Any:
    return jax.numpy.linalg.cholesky(a @ a.transpose(0, 2, 1))


@program(ARRAYS, regular(500, 4), double(500, 4))
def solve_batch(jax: Any, a: Any, b: Any) -> Any:
    return jax.numpy.linalg.solve(a, b[..., None])


@program(ARRAYS, regular(2000, 3))
def inv_batch(jax: Any, a: Any) -> Any:
    return jax.numpy.linalg.inv(a)


@program(ARRAYS, regular(2000, 3))
def det_batch(jax: Any, a: Any) -> Any:
    return jax.numpy.linalg.det(a)


@program(ARRAYS, regular(1, 100), double(100))
def solve_one(jax: Any, a: Any, b: Any) -> Any:
    return jax.numpy.linalg.solve(a[0], b)


@program(ARRAYS, double(80, 80), signs=False)
def eigh(jax: Any, a: Any) -> Any:
    return tuple(jax.numpy.linalg.eigh(a + a.T))


@program(ARRAYS, double(80, 40), signs=False)
def svd(jax: Any, a: Any) -> Any:
    return tuple(jax.numpy.linalg.svd(a, full_matrices=False))


@program(ARRAYS, double(80, 40), signs=False)
def qr(jax: Any, a: Any) -> Any:
    return tuple(jax.numpy.linalg.qr(a))


@program(ARRAYS, double(30, 30, scale=0.1))
def expm(jax: Any, a: Any) -> Any:
    return jax.scipy.linalg.expm(a)


@program(ARRAYS, double(200, 200, scale=0.05))
def matrix_power(jax: Any, a: Any) -> Any:
    return jax.numpy.linalg.matrix_power(a, 5)


@program(ARRAYS, double(100, 100))
def product_of_triangles(jax: Any, a: Any) -> Any:
    return jax.numpy.triu(a) @ jax.numpy.tril(a)


@program(ARRAYS, seed())
def draw_normal(jax: Any, number: Any) -> Any:
    return jax.random.normal(jax.random.PRNGKey(number), (20000,))


@program(ARRAYS, seed())
def draw_uniform(jax: Any, number: Any) -> Any:
    return jax.random.uniform(jax.random.PRNGKey(number), (20000,))


@program(ARRAYS, seed())
def draw_permutation(jax: Any, number: Any) -> Any:
    return jax.random.permutation(jax.random.PRNGKey(number), 5000)


@program(ARRAYS, seed())
def draw_gamma(jax: Any, number: Any) -> Any:
    return jax.random.gamma(jax.random.PRNGKey(number), 2.5, (500,))


@program(ARRAYS, seed())
def draw_categorical(jax: Any, number: Any) -> Any:
    return jax.random.categorical(jax.random.PRNGKey(number), jax.numpy.ones((100, 50)))


@program(ARRAYS, double(1000), rising(500), double(500))
def interp(jax: Any, x: Any, places: Any, values: Any) -> Any:
    return jax.numpy.interp(x, places, values)


@program(ARRAYS, double(20000))
def histogram(jax: Any, x: Any) -> Any:
    counts, edges = jax.numpy.histogram(x, 50, (-3, 3))
    return counts.astype(float), edges


@program(ARRAYS, double(5000), double(31))
def convolve(jax: Any, x: Any, window: Any) -> Any:
    return jax.numpy.convolve(x, window, "same")


@program(ARRAYS, double(101, 200))
def median(jax: Any, x: Any) -> Any:
    return jax.numpy.median(x, 0)


@program(ARRAYS, double(101, 200))
def quantile(jax: Any, x: Any) -> Any:
    return jax.numpy.quantile(x, jax.numpy.array([0.1, 0.5, 0.9]), axis=1)


@program(ARRAYS, double(500, 3), double(400, 3))
def distances(jax: Any, a: Any, b: Any) -> Any:
    return jax.numpy.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))


@program(ARRAYS, double(500, 20), double(400, 20))
def nearest(jax: Any, a: Any, b: Any) -> Any:
    return jax.numpy.argmin(((a[:, None] - b[None]) ** 2).sum(-1), 1)


@program(ARRAYS, double(2000), double(2000))
def sum_of_gaussians(jax: Any, a: Any, b: Any) -> Any:
    return jax.numpy.sum(jax.numpy.exp(-((a[:, None] - b) ** 2)))


@program(ARRAYS, double(64, 64, 3))
def blurred_grey(jax: Any, image: Any) -> Any:
    grey = jax.numpy.pad(image @ jax.numpy.array([0.3, 0.6, 0.1]), 1, mode="edge")
    return sum(grey[i : i + 64, k : k + 64] for i in range(3) for k in range(3)) / 9


@program(ARRAYS, double(64), double(64))
def vmap_of_grad(jax: Any, w: Any, x: Any) -> Any:
    return jax.vmap(jax.grad(lambda a, b: jax.numpy.sin(a * b) * jax.numpy.exp(-a * a)))(w, x)


@program(ARRAYS, double(10))
def hessian(jax: Any, x: Any) -> Any:
    def rosenbrock(x: Any) -> Any:
        return jax.numpy.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    return jax.hessian(rosenbrock)(x)


@program(ARRAYS, double(6))
def newton(jax: Any, x: Any) -> Any:
    def step(carried: Any) -> Any:
        x, value = carried
        x = x - value / (3 * x**2 + 1)
        return x, x**3 + x - 1

    start = (x, x**3 + x - 1)  # what is left of the latter in the end is rounding, other digits in each library
    return jax.lax.while_loop(lambda carried: jax.numpy.abs(carried[1]).max() > 1e-10, step, start)[0]


@program(ARRAYS, double(3))
def runge_kutta(jax: Any, y: Any) -> Any:
    def slope(y: Any) -> Any:
        return jax.numpy.array([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 2.6 * y[2]])

    def step(y: Any, _: Any) -> Any:
        first = slope(y)
        second = slope(y + 0.005 * first)
        third = slope(y + 0.005 * second)
        y = y + 0.01 / 6 * (first + 2 * second + 2 * third + slope(y + 0.01 * third))
        return y, y

    return jax.lax.scan(step, y, None, length=500)[1]


@program(ARRAYS, tree(a=positive(12, 12), b=positive(12, 6), start=positive(12)), whole(6, 200))
def hidden_markov(jax: Any, p: Any, seen: Any) -> Any:
    def step(alpha: Any, o: Any) -> Any:
        alpha = (alpha @ p["a"]) * p["b"][:, o]
        total = alpha.sum()
        return alpha / total, jax.numpy.log(total)

    return jax.lax.scan(step, p["start"], seen)[1].sum()


@program(ARRAYS, double(200, 50))
def covariance(jax: Any, x: Any) -> Any:
    return jax.numpy.cov(x, rowvar=False)


@program(ARRAYS, double(200, 50))
def normalized_columns(jax: Any, x: Any) -> Any:
    return (x - x.mean(0)) / (x.std(0) + 1e-6)


@program(ARRAYS, double(100))
def unique_of_known_size(jax: Any, x: Any) -> Any:
    return jax.numpy.unique(jax.numpy.round(x * 3), size=20)


@program(ARRAYS, double(100000))
def variance_and_extremes(jax: Any, x: Any) -> Any:
    return x.var(), x.max(), x.min()


@program(ARRAYS, double(300, 300))
def sum_with_transposed(jax: Any, x: Any) -> Any:
    return x + x.T


@program(ARRAYS, double(30, 40, 50))
def other_order_of_axes(jax: Any, x: Any) -> Any:
    return jax.numpy.transpose(x, (2, 0, 1)) * 2


@program(ARRAYS, whole(2, 100, 100))
def life(jax: Any, cells: Any) -> Any:
    near = sum(jax.numpy.roll(cells, (i, k), (0, 1)) for i in (-1, 0, 1) for k in (-1, 0, 1)) - cells
    return ((near == 3) | ((cells == 1) & (near == 2))).astype(cells.dtype)


@program(ARRAYS, double(100, 100))
def associative_scan(jax: Any, x: Any) -> Any:
    return jax.lax.associative_scan(lambda a, b: a * 0.5 + b, x)


@program(ARRAYS, rising(200), double(200))
def searchsorted(jax: Any, places: Any, x: Any) -> Any:
    return jax.numpy.searchsorted(places, x).astype(float)
