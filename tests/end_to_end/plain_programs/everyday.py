"""Everyday programs: what scripts of scientists, traders and students hold, a screen each."""

import itertools
import math

import numpy as np

from tests.end_to_end.plain_programs.collection import always, integers, normal, program, uniform

GRAVITY = 9.81


@program(uniform(low=5, high=30), uniform(low=0.1, high=1.4), kind="while until the ground, module constants")
def projectile(speed, angle):
    x, y = 0.0, 0.0
    vx, vy = speed * math.cos(angle), speed * math.sin(angle)
    t, dt = 0.0, 0.01
    while y >= 0.0:
        x += vx * dt
        y += vy * dt
        vy -= GRAVITY * dt
        t += dt
    return x, t


@program(normal(30, 2), normal(2), kind="distances, argsort, majority vote")
def nearest_neighbours(points, query):
    labels = (points[:, 0] > 0).astype(int)
    order = np.argsort(((points - query) ** 2).sum(axis=1))
    votes = labels[order[:5]]
    return 1 if votes.sum() > 2 else 0


@program(normal(50), kind="exponential smoothing, list of results")
def smooth(x):
    level, out = x[0], []
    for v in x:
        level = 0.9 * level + 0.1 * v
        out.append(level)
    return np.array(out)


@program(normal(20, 3), kind="standardize, covariance, eigenvectors, signs fixed")
def principal_component(x):
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    values, vectors = np.linalg.eigh(np.cov(z, rowvar=False))
    first = vectors[:, np.argmax(values)]
    if first[0] < 0:
        first = -first
    return first, values[::-1]


@program(normal(40, 3), integers(40, high=2), kind="gradient descent written out")
def logistic_regression(x, y):
    w, b = np.zeros(3), 0.0
    for _ in range(50):
        p = 1 / (1 + np.exp(-(x @ w + b)))
        w -= 0.1 * x.T @ (p - y) / len(y)
        b -= 0.1 * np.mean(p - y)
    return w, b


@program(uniform(100, low=-1, high=1), uniform(100, low=-1, high=1), kind="counting by a mask")
def estimate_pi(x, y):
    inside = x**2 + y**2 < 1
    return 4 * inside.sum() / len(x)


@program(integers(8, 8, high=2), kind="neighbours by slices, in place")
def erode(image):
    out = np.zeros_like(image)
    out[1:-1, 1:-1] = image[1:-1, 1:-1] & image[:-2, 1:-1] & image[2:, 1:-1] & image[1:-1, :-2] & image[1:-1, 2:]
    return out


@program(uniform(12, 12, low=-2, high=1), uniform(12, 12, low=-1, high=1), kind="escape times with masks")
def mandelbrot(re, im):
    c = re + 1j * im
    z = np.zeros_like(c)
    n = np.zeros(c.shape, dtype=int)
    for _ in range(20):
        alive = np.abs(z) <= 2
        z[alive] = z[alive] ** 2 + c[alive]
        n[alive] += 1
    return n


@program(uniform(low=80, high=120), uniform(low=0.1, high=0.5), kind="nested functions, math.erf")
def black_scholes(spot, sigma):
    def cdf(v):
        return 0.5 * (1 + math.erf(v / math.sqrt(2)))

    strike, r, t = 100.0, 0.02, 0.5
    d1 = (math.log(spot / strike) + (r + sigma**2 / 2) * t) / (sigma * math.sqrt(t))
    d2 = d1 - sigma * math.sqrt(t)
    return spot * cdf(d1) - strike * math.exp(-r * t) * cdf(d2)


@program(uniform(low=5, high=15), kind="Newton's iteration with derivative, tolerance, limit")
def implied_volatility(price):
    sigma = 0.3
    for _ in range(30):
        d1 = (0.02 + sigma**2 / 2) * 0.5 / (sigma * math.sqrt(0.5))
        d2 = d1 - sigma * math.sqrt(0.5)
        model = 50 * (1 + math.erf(d1 / math.sqrt(2))) - 49.5 * (1 + math.erf(d2 / math.sqrt(2)))
        vega = 100 * math.sqrt(0.5) * math.exp(-(d1**2) / 2) / math.sqrt(2 * math.pi)
        change = (model - price) / vega
        sigma -= change
        if abs(change) < 1e-10:
            break
    return sigma


@program(uniform(6, low=0.1, high=1.0), kind="itertools.product and combinations of known values")
def pairs(x):
    total = 0.0
    for i, j in itertools.combinations(range(6), 2):
        total += x[i] * x[j]
    for a, b in itertools.product((0, 1), repeat=2):
        total += a * x[0] - b * x[1]
    return total


@program(normal(16), kind="while with halves, power of two")
def haar(x):
    out = x.copy()
    n = len(out)
    while n > 1:
        half = n // 2
        mean = (out[:n:2] + out[1:n:2]) / 2
        diff = (out[:n:2] - out[1:n:2]) / 2
        out[:half], out[half:n] = mean, diff
        n = half
    return out


@program(integers(30, high=5), kind="runs of equal values")
def longest_run(x):
    best, current = 1, 1
    for k in range(1, len(x)):
        if x[k] == x[k - 1]:
            current += 1
        else:
            current = 1
        best = max(best, current)
    return best


@program(integers(20, low=1, high=100), kind="sieve with slices of steps")
def count_primes(x):
    sieve = np.ones(100, dtype=bool)
    sieve[:2] = False
    for p in range(2, 10):
        if sieve[p]:
            sieve[p * p :: p] = False
    return sieve[x].sum()


@program(integers(24, high=2), kind="shift register, bits")
def checksum(bits):
    state = 0b1011
    for b in bits:
        feedback = ((state >> 3) ^ b) & 1
        state = ((state << 1) & 0b1111) ^ (0b0011 if feedback else 0)
    return state


@program(normal(10), normal(10), kind="any, all, in-place maximum, early exit")
def converged(a, b):
    for k in range(20):
        a = 0.5 * (a + b)
        if np.all(np.abs(a - b) < 1e-3):
            return k
        if np.any(np.isnan(a)):
            return -1
    return 20


@program(normal(6, 6), kind="rows and columns sorted, unique sums")
def magic(x):
    rows = np.sort(x.sum(axis=1))
    columns = np.sort(x.sum(axis=0))
    return np.allclose(rows, columns), rows - columns


@program(uniform(5, high=3.0), always(("a", "b", "c")), kind="strings and dicts as known structure", static=("names",))
def named_columns(x, names):
    table = {name: x * (k + 1) for k, name in enumerate(names)}
    table["total"] = sum(table.values())
    return {key: value.mean() for key, value in sorted(table.items())}


@program(normal(9), kind="try and finally, nested with")
def tidy(x):
    log = []
    try:
        log.append("start")
        y = np.linalg.inv(x.reshape(3, 3) + 4 * np.eye(3))
    finally:
        log.append("end")
    return y, len(log)


@program(normal(12), kind="set and dict comprehensions over known keys")
def by_remainder(x):
    keys = {k % 3 for k in range(12)}
    groups = {key: [x[k] for k in range(12) if k % 3 == key] for key in keys}
    return np.array([np.mean(groups[key]) for key in sorted(groups)])


@program(uniform(7), kind="closures that keep state by nonlocal")
def counter(x):
    total, calls = 0.0, 0

    def add(v):
        nonlocal total, calls
        if v > 0.5:
            total += v
            calls += 1

    for v in x:
        add(v)
    return total, calls


@program(normal(4, 4), kind="matrix powers and traces, @ and .T")
def walks(a):
    p = np.eye(4)
    sums = []
    for _ in range(4):
        p = p @ (a + a.T) / 2
        sums.append(np.trace(p))
    return np.array(sums), p


@program(normal(20), kind="polynomials fitted and evaluated")
def detrend(y):
    t = np.arange(len(y)) / len(y)
    coefficients = np.polyfit(t, y, 2)
    return y - np.polyval(coefficients, t), np.poly1d(coefficients)(0.5)


@program(normal(32), kind="spectra, masks of frequencies")
def low_pass(x):
    f = np.fft.rfftfreq(len(x))
    s = np.fft.rfft(x)
    s[f > 0.2] = 0
    return np.fft.irfft(s, n=len(x))


@program(normal(15), kind="gradient, interpolation, where")
def resample(y):
    x = np.linspace(0, 1, len(y))
    fine = np.linspace(0, 1, 40)
    return np.where(fine < 0.5, np.interp(fine, x, y), np.interp(fine, x, np.gradient(y, x)))


@program(uniform(32, high=256), kind="a histogram whose length depends on the values", refused="number of counts")
def equalize_to_the_greatest(image):
    levels = image.astype(np.int64)
    counts = np.bincount(levels)
    return np.cumsum(counts)[levels] / levels.size


@program(normal(8), kind="sets of traced values", refused="hash of a traced array")
def distinct(x):
    return len({v for v in x})


@program(normal(8), kind="a list that an unknown number of items leave", refused="todo")
def drop_until(x):
    todo = list(x)
    while todo and todo[0] < 0:
        todo.pop(0)
    return np.array(todo)


@program(normal(5), kind="print of what is known")
def printing(x):
    print("shape", x.shape)
    return x * 2
