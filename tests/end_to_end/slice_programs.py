"""Textbook programs of slices whose length a loop's counter, or the data, decides: triangles, sparse rows, windows.

They know nothing of numhlo, and loop as books do. Sizes are those of tests; `benchmarks.textbook` takes larger ones.
"""

from __future__ import annotations

import numpy as np

from tests.end_to_end.numpy_programs import program


def _definite(rng, n):
    m = rng.normal(size=(n, n))
    return m @ m.T + n * np.eye(n)


@program(lambda rng, n: (_definite(rng, n),))
def cholesky_by_dots(a):
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])
    return a


@program(lambda rng, n: (_definite(rng, n),))
def lu_by_dots(a):
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[:j, j])
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= np.dot(a[i, :i], a[:i, j])
    return a


@program(lambda rng, n: (rng.normal(size=(n, n)), rng.normal(size=(n, n)), 1.5, 1.2))
def symmetric_rank_k(a, c, alpha, beta):
    c = c.copy()
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]
    return c


@program(lambda rng, n: (rng.normal(size=(n, n)), rng.normal(size=(n, n)), 1.5))
def triangular_product(a, b, alpha):
    b = b.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    return b * alpha


@program(lambda rng, n: (np.tril(_definite(rng, n)), rng.normal(size=n)))
def forward_substitution(a, b):
    x = np.zeros_like(b)
    for i in range(b.shape[0]):
        x[i] = (b[i] - np.dot(a[i, :i], x[:i])) / a[i, i]
    return x


@program(lambda rng, n: (_definite(rng, n), rng.normal(size=n)))
def elimination_by_rows(a, b):
    a, b = a.copy(), b.copy()
    n = len(b)
    for k in range(n - 1):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - np.dot(a[i, i + 1 :], x[i + 1 :])) / a[i, i]
    return x


@program(lambda rng, n: (rng.normal(size=(n + 4, n)),))
def gram_schmidt_by_columns(a):
    a = a.copy()
    n = a.shape[1]
    q, r = np.zeros_like(a), np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


@program(lambda rng, n: (0.1 * rng.random(n),))
def durbin(r):
    y = np.empty_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = alpha
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def _sparse(rng, n):
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 12, 2 * n))])
    return starts, rng.integers(0, n, starts[-1]), rng.normal(size=starts[-1]), rng.normal(size=n)


@program(_sparse)
def sparse_rows(starts, columns, values, x):
    y = np.zeros(len(starts) - 1)
    for i in range(len(starts) - 1):
        places = columns[starts[i] : starts[i + 1]]
        y[i] = np.dot(values[starts[i] : starts[i + 1]], x[places])
    return y


@program(lambda rng, n: (rng.random(3 * n),))
def longest_increasing(x):
    length = np.ones(len(x), np.int64)
    for i in range(1, len(x)):
        for j in range(i):
            if x[j] < x[i]:
                length[i] = max(length[i], length[j] + 1)
    return length.max()


@program(lambda rng, n: (rng.normal(size=(4 * n)),))
def repulsion(x):
    force = np.zeros_like(x)
    for i in range(x.shape[0]):
        apart = x[i + 1 :] - x[i]
        each = apart / (np.abs(apart) + 1.0)
        force[i] += each.sum()
        force[i + 1 :] -= each
    return force
