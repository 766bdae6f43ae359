"""Benchmark kernels: linear algebra, stencils, filters and solvers, as collections of benchmarks have them."""

import numpy as np

from tests.end_to_end.plain_programs.collection import always, integers, normal, program, uniform


@program(
    normal(5, 5), always(2), kind="alternating directions, backward sweeps over rows and columns", static=("steps",)
)
def adi(u, steps):
    n = len(u)
    v, p, q = np.empty_like(u), np.empty_like(u), np.empty_like(u)
    b1, b2 = 0.4, 0.2
    a, b, c = -b1 / 2.0, 1.0 + b1, -b1 / 2.0
    d, e, f = -b2 / 2.0, 1.0 + b2, -b2 / 2.0
    for _ in range(1, steps + 1):
        v[0, 1 : n - 1] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = v[0, 1 : n - 1]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -c / (a * p[1 : n - 1, j - 1] + b)
            q[1 : n - 1, j] = (
                -d * u[j, 0 : n - 2] + (1.0 + 2.0 * d) * u[j, 1 : n - 1] - f * u[j, 2:n] - a * q[1 : n - 1, j - 1]
            ) / (a * p[1 : n - 1, j - 1] + b)
        v[n - 1, 1 : n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1 : n - 1] = p[1 : n - 1, j] * v[j + 1, 1 : n - 1] + q[1 : n - 1, j]
        u[1 : n - 1, 0] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = u[1 : n - 1, 0]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -f / (d * p[1 : n - 1, j - 1] + e)
            q[1 : n - 1, j] = (
                -a * v[0 : n - 2, j] + (1.0 + 2.0 * a) * v[1 : n - 1, j] - c * v[2:n, j] - d * q[1 : n - 1, j - 1]
            ) / (d * p[1 : n - 1, j - 1] + e)
        u[1 : n - 1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1 : n - 1, j] = p[1 : n - 1, j] * u[1 : n - 1, j + 1] + q[1 : n - 1, j]


@program(normal(6, 4), normal(4), kind="a product with a matrix and with its transpose")
def atax(a, x):
    return (a @ x) @ a


@program(normal(5, 4), normal(4), normal(5), kind="two products in a tuple")
def bicg(a, p, r):
    return r @ a, a @ p


@program(normal(8, 4), kind="correlation by loops, in place over the data")
def correlation(data):
    points, count = data.shape
    mean, deviation = np.mean(data, axis=0), np.std(data, axis=0)
    deviation[deviation <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(float(points)) * deviation
    found = np.eye(count, dtype=data.dtype)
    for i in range(count - 1):
        found[i + 1 : count, i] = found[i, i + 1 : count] = data[:, i] @ data[:, i + 1 : count]
    return found


@program(normal(8, 4), kind="covariance by rows, chained assignment")
def covariance(data):
    data -= np.mean(data, axis=0)
    found = np.zeros((data.shape[1], data.shape[1]))
    for i in range(data.shape[1]):
        found[i:, i] = found[i, i:] = data[:, i] @ data[:, i:] / (len(data) - 1.0)
    return found


@program(integers(12, high=256), always(0x8408), kind="a cyclic redundancy check with bits and masks", static=("poly",))
def crc16(data, poly):
    crc = 0xFFFF
    for value in data:
        current = 0xFF & value
        for _ in range(8):
            if (crc & 0x0001) ^ (current & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            current >>= 1
    crc = ~crc & 0xFFFF
    return ((crc << 8) | ((crc >> 8) & 0xFF)) & 0xFFFF


@program(normal(6, 5), always(0.25), kind="recursive filter over columns, forwards and backwards", static=("alpha",))
def deriche(image, alpha):
    k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
    a1, a2 = k, k * np.exp(-alpha) * (alpha - 1.0)
    b1, b2 = 2.0**-alpha, -np.exp(-2.0 * alpha)
    y = np.empty_like(image)
    y[:, 0] = a1 * image[:, 0]
    y[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * y[:, 0]
    for j in range(2, image.shape[1]):
        y[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * y[:, j - 1] + b2 * y[:, j - 2]
    z = np.empty_like(image)
    z[:, -1] = 0.0
    z[:, -2] = a1 * image[:, -1]
    for j in range(image.shape[1] - 3, -1, -1):
        z[:, j] = a1 * image[:, j + 1] + a2 * image[:, j + 2] + b1 * z[:, j + 1] + b2 * z[:, j + 2]
    return y + z


@program(normal(3, 4, 5), normal(5, 5), kind="tensor times matrix, written back in slices")
def doitgen(a, c):
    for r in range(a.shape[0]):
        for q in range(a.shape[1]):
            a[r, q, :] = a[r, q] @ c


@program(uniform(6, low=0.0, high=0.2), kind="Toeplitz solver, slices turned around")
def durbin(r):
    y = np.empty_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    for k in range(1, len(r)):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


@program(normal(5, 6), normal(5, 6), normal(5, 6), kind="electromagnetic fields, three arrays updated in turn")
def fdtd_2d(ex, ey, hz):
    for t in range(6):
        ey[0, :] = float(t)
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@program(normal(4, 4), normal(4), normal(4), normal(4), kind="rank-two update and products, arguments written")
def gemver(a, u, v, x):
    a += np.outer(u, v) + np.outer(v, u)
    x += 0.3 * (v @ a)
    return 1.5 * a @ x


@program(normal(6, 4), kind="Gram and Schmidt, columns normalized")
def gram_schmidt(a):
    q, r = np.zeros_like(a), np.zeros((a.shape[1], a.shape[1]))
    for k in range(a.shape[1]):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


@program(normal(5, 5, 5), normal(5, 5, 5), kind="three-dimensional stencil, two arrays in turn")
def heat_3d(a, b):
    for _ in range(1, 4):
        for source, target in ((a, b), (b, a)):
            inner = source[1:-1, 1:-1, 1:-1]
            target[1:-1, 1:-1, 1:-1] = (
                0.125 * (source[2:, 1:-1, 1:-1] - 2.0 * inner + source[:-2, 1:-1, 1:-1])
                + 0.125 * (source[1:-1, 2:, 1:-1] - 2.0 * inner + source[1:-1, :-2, 1:-1])
                + 0.125 * (source[1:-1, 1:-1, 2:] - 2.0 * inner + source[1:-1, 1:-1, :-2])
                + inner
            )


@program(uniform(5, 5), kind="elimination in place, lower and upper together")
def lu_in_place(m):
    a = m @ m.T + 5 * np.eye(len(m))
    for i in range(len(a)):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, len(a)):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


@program(integers(9, high=4), kind="base pairs by dynamic programming over diagonals, max of ints")
def nussinov(sequence):
    n = len(sequence)
    table = np.zeros((n, n), np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j], table[i, j - 1])
            table[i, j] = max(table[i, j], table[i + 1, j])
            if i < j - 1:
                pair = 1 if sequence[i] + sequence[j] == 3 else 0
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + pair)
            else:
                table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


@program(normal(2, 6, 6, 3), normal(3, 3, 3, 4), kind="convolution of images by loops over the output")
def convolve_images(x, weights):
    size = weights.shape[0]
    height, width = x.shape[1] - size + 1, x.shape[2] - size + 1
    out = np.empty((x.shape[0], height, width, weights.shape[3]))
    for i in range(height):
        for j in range(width):
            window = x[:, i : i + size, j : j + size, :, np.newaxis]
            out[:, i, j, :] = np.sum(window * weights[np.newaxis], axis=(1, 2, 3))
    return np.maximum(out, 0)


@program(normal(4, 3, 2, 2), normal(4, 3, 2, 2), integers(4, 2, high=4), kind="six nested loops with a test on indices")
def self_energies(g, d, neighbours):
    sigma = np.zeros_like(g)
    for k in range(g.shape[0]):
        for e in range(g.shape[1]):
            for w in range(d.shape[1]):
                for b in range(neighbours.shape[1]):
                    if e - w >= 0:
                        sigma[k, e] += g[neighbours[k, b], e - w] @ d[k, w]
    return sigma


@program(uniform(6, 6), kind="Gauss and Seidel, each element from new ones")
def seidel_2d(a):
    n = len(a)
    for _ in range(2):
        for i in range(1, n - 1):
            a[i, 1:-1] += a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2] + a[i + 1, 1:-1]
            a[i, 1:-1] += a[i + 1, 2:]
            for j in range(1, n - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0


@program(normal(16), normal(16), kind="Fourier transform by stages, reshaped and transposed")
def stockham(real, imaginary):
    y = real + 1j * imaginary
    n, levels = 16, 4
    for level in range(levels):
        width = 2**level
        view = y.reshape(2, n // 2)
        angles = np.exp(-2j * np.pi * np.arange(width) / (2 * width))
        turned = view[1].reshape(n // 2 // width, width) * angles
        kept = view[0].reshape(n // 2 // width, width)
        y = np.concatenate([kept + turned, kept - turned], axis=1).reshape(n)
    return y


@program(normal(4, 4), normal(4, 5), kind="triangles of products, slices of lower parts")
def symm(a, b):
    c = np.zeros(b.shape)
    for i in range(len(c)):
        for j in range(c.shape[1]):
            c[:i, j] += 1.5 * b[i, j] * a[i, :i]
            c[i, j] += 1.5 * b[i, j] * a[i, i] + 1.5 * (b[:i, j] @ a[i, :i])
    return c


@program(normal(4, 4), normal(4, 3), normal(4, 3), kind="rank-two-k update of a lower triangle")
def syr2k(c, a, b):
    for i in range(len(a)):
        c[i, : i + 1] *= 1.2
        for k in range(a.shape[1]):
            c[i, : i + 1] += a[: i + 1, k] * 1.5 * b[i, k] + b[: i + 1, k] * 1.5 * a[i, k]


@program(normal(4, 4), normal(4, 3), kind="triangular product and solve, elements from later rows")
def trmm(a, b):
    for i in range(len(b)):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= 1.5
    x = np.zeros(len(a))
    for i in range(len(a)):
        x[i] = (b[i, 0] - a[i, :i] @ x[:i]) / (3.0 + a[i, i] ** 2)
    return x


@program(
    normal(3, 4, 5), uniform(3, 4, 5, low=1.0, high=2.0), kind="vertical advection: Thomas' algorithm along an axis"
)
def vertical_advection(d, w):
    levels = d.shape[2]
    c = np.zeros_like(d)
    for k in range(levels):
        below = -0.25 * w[:, :, k]
        if k == 0:
            c[:, :, k] = below / (4.0 + w[:, :, k])
            d[:, :, k] = d[:, :, k] / (4.0 + w[:, :, k])
        else:
            divided = 1.0 / (4.0 + w[:, :, k] - below * c[:, :, k - 1])
            c[:, :, k] = below * divided
            d[:, :, k] = (d[:, :, k] - below * d[:, :, k - 1]) * divided
    for k in range(levels - 2, -1, -1):
        d[:, :, k] -= c[:, :, k] * d[:, :, k + 1]


@program(normal(8, 8, 2), uniform(8, 8, 2), kind="horizontal diffusion with limited fluxes, np.where")
def horizontal_diffusion(field, coefficient):
    laplace = 4.0 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    along = laplace[1:, 1:-1] - laplace[:-1, 1:-1]
    along = np.where(along * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0, 0, along)
    across = laplace[1:-1, 1:] - laplace[1:-1, :-1]
    across = np.where(across * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0, 0, across)
    inner = along[1:] - along[:-1] + across[:, 1:] - across[:, :-1]
    return field[2:-2, 2:-2] - coefficient[2:-2, 2:-2] * inner


def pressure_sweeps(p, b, dx):
    before = np.empty_like(p)
    for _ in range(5):
        before[:] = p[:]
        neighbours = before[1:-1, 2:] + before[1:-1, :-2] + before[2:, 1:-1] + before[:-2, 1:-1]
        p[1:-1, 1:-1] = neighbours / 4.0 - dx * dx / 4.0 * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


@program(normal(7, 7), normal(7, 7), normal(7, 7), kind="flow in a cavity: helpers that write into their arguments")
def cavity_flow(u, v, p):
    dx, dt = 0.3, 0.01
    b = np.zeros_like(u)
    for _ in range(3):
        before_u, before_v = u.copy(), v.copy()
        b[1:-1, 1:-1] = (u[1:-1, 2:] - u[1:-1, :-2] + v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dx * dt)
        pressure_sweeps(p, b, dx)
        for w, before, slope in (
            (u, before_u, p[1:-1, 2:] - p[1:-1, :-2]),
            (v, before_v, p[2:, 1:-1] - p[:-2, 1:-1]),
        ):
            w[1:-1, 1:-1] = before[1:-1, 1:-1] - dt / (2 * dx) * slope
            w[0, :] = w[:, 0] = w[:, -1] = 0
        u[-1, :] = 1


@program(uniform(7, 7), uniform(7, 7), kind="flow in a channel until it is steady: while with a ratio")
def channel_flow(u, v):
    difference, steps = 1.0, 0
    while difference > 0.01 and steps < 50:
        before = u.copy()
        u[1:-1, 1:-1] = before[1:-1, 1:-1] + 0.1 * (
            before[1:-1, 2:] - 2 * before[1:-1, 1:-1] + before[1:-1, :-2] - v[1:-1, 1:-1] + 0.5
        )
        u[:, 0], u[:, -1] = u[:, -2], u[:, 1]
        u[0, :] = u[-1, :] = 0
        difference = (np.sum(u) - np.sum(before)) / np.sum(u)
        steps += 1
    return steps


@program(uniform(60), uniform(60), kind="averages over rings of radii, masks in a loop")
def azimuthal_integration(data, radius):
    greatest = radius.max()
    found = np.zeros(5)
    for i in range(5):
        low, high = greatest * i / 5, greatest * (i + 1) / 5
        mask = np.logical_and(low <= radius, radius < high)
        found[i] = data[mask].mean() if mask.any() else 0.0
    return found


@program(normal(4, 4), normal(4, 2), kind="contour integral: complex linear systems in a loop over points")
def contour_integral(m, y):
    total = np.zeros(y.shape, np.complex128)
    for k in range(6):
        z = 2.0 * np.exp(2j * np.pi * (k + 0.5) / 6)
        total += z * np.linalg.solve(z * np.eye(len(m)) - m, y.astype(np.complex128))
    return np.abs(total / 6).sum()


@program(integers(4, 5, high=50), integers(4, 5, high=50), kind="clipping of integers, scaled and added")
def compute(first, second):
    return np.clip(first, 2, 10) * 4 + second * 3 + 9


@program(uniform(6, 6), kind="a trace of elements' functions, added to all")
def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def max_pool(x):
    out = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return out


@program(normal(2, 8, 8, 1), normal(3, 3, 1, 2), normal(18, 3), kind="a network of convolution, pooling and softmax")
def small_network(image, kernel, weights):
    x = max_pool(convolve_images(image, kernel))
    x = np.reshape(x, (x.shape[0], -1)) @ weights
    shifted = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


@program(integers(5, high=3), uniform(12), normal(6), kind="sparse rows with slices of traced bounds summed by a loop")
def sparse_rows(counts, data, x):
    start, y = 0, np.zeros(len(counts))
    for i in range(len(counts)):
        for k in range(counts[i]):
            y[i] += data[(start + k) % len(data)] * x[k]
        start += counts[i]
    return y


@program(
    normal(5, 3), normal(5, 3), uniform(5, low=0.5), kind="bodies under gravity by matrices of differences, energies"
)
def n_body(position, velocity, mass):
    def accelerations(position):
        x, y, z = position[:, 0:1], position[:, 1:2], position[:, 2:3]
        dx, dy, dz = x.T - x, y.T - y, z.T - z
        inverse = dx**2 + dy**2 + dz**2 + 0.01
        inverse[inverse > 0] = inverse[inverse > 0] ** (-1.5)
        return np.hstack([(d * inverse) @ mass[:, None] for d in (dx, dy, dz)])

    velocity -= np.mean(mass[:, None] * velocity, 0) / np.mean(mass)
    a = accelerations(position)
    energies = np.zeros(4)
    for k in range(4):
        velocity += a * 0.005
        position += velocity * 0.01
        a = accelerations(position)
        velocity += a * 0.005
        energies[k] = 0.5 * np.sum(mass[:, None] * velocity**2)
    return energies
