"""Structures of programs: classes, dataclasses, generators, recursion, errors, containers, queues in arrays."""

from collections import namedtuple
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from tests.end_to_end.plain_programs.collection import always, integers, normal, program, uniform

Point = namedtuple("Point", "x y")


class Phase(Enum):
    COLD = 0
    HOT = 1


@dataclass
class Body:
    position: np.ndarray
    velocity: np.ndarray
    mass: float = 1.0

    def kick(self, force, dt):
        self.velocity = self.velocity + force / self.mass * dt

    def drift(self, dt):
        self.position = self.position + self.velocity * dt


@dataclass(frozen=True)
class Settings:
    rate: float = 0.1
    steps: int = 5
    names: tuple = field(default=("a", "b"))


class Oscillator:
    def __init__(self, x, v, k=2.0):
        self.x, self.v, self.k = x, v, k
        self.log = []

    @property
    def energy(self):
        return 0.5 * self.v**2 + 0.5 * self.k * self.x**2

    def step(self, dt):
        self.v -= self.k * self.x * dt
        self.x += self.v * dt
        self.log.append(self.energy)
        return self


class Polynomial:
    def __init__(self, *coefficients):
        self.coefficients = coefficients

    def __call__(self, x):
        total = 0.0
        for c in self.coefficients:
            total = total * x + c
        return total

    def __add__(self, other):
        return Polynomial(*[a + b for a, b in zip(self.coefficients, other.coefficients)])


@program(normal(3), normal(3), kind="dataclasses with methods that rebind fields")
def leapfrog(position, velocity):
    body = Body(position, velocity, mass=2.0)
    for _ in range(10):
        body.kick(-body.position, 0.05)
        body.drift(0.1)
        body.kick(-body.position, 0.05)
    return body.position, body.velocity


@program(uniform(), uniform(), kind="classes with properties, lists of traced values as attributes")
def oscillate(x, v):
    o = Oscillator(x, v)
    for _ in range(8):
        o.step(0.1)
    return np.array(o.log), o.x


@program(normal(5), kind="callable objects, special methods")
def evaluate_polynomials(x):
    p = Polynomial(1.0, -2.0, 3.0)
    q = Polynomial(0.5, 0.0, 1.0)
    return (p + q)(x) + p(x)


@program(normal(4), kind="frozen dataclasses as settings, replace")
def descend(x):
    settings = replace(Settings(), rate=0.2)
    for _ in range(settings.steps):
        x = x - settings.rate * 2 * x
    return x, len(settings.names)


@program(normal(2), kind="named tuples")
def rotate(p):
    point = Point(*p)
    for _ in range(3):
        point = Point(point.x * 0.8 - point.y * 0.6, point.x * 0.6 + point.y * 0.8)
    return point._replace(y=point.y + 1)


def halves(x):
    while len(x) > 1:
        x = x[: len(x) // 2] + x[len(x) // 2 :]
        yield x


@program(normal(16), kind="generators")
def tree_sum(x):
    sums = [part.max() for part in halves(x)]
    return np.array(sums)


@program(normal(8), kind="recursion with a known depth")
def fft_by_recursion(x):
    def fft(v):
        n = len(v)
        if n == 1:
            return v.astype(complex)
        even, odd = fft(v[::2]), fft(v[1::2])
        t = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
        return np.concatenate([even + t, even - t])

    return fft(x)


@program(normal(6), always("mean"), kind="strings that choose, dicts of functions", static=("how",))
def summarize(x, how):
    methods = {"mean": np.mean, "largest": np.max}
    if how not in methods:
        raise ValueError(f"unknown method {how!r}")
    return methods[how](x)


@program(normal(6), kind="try with an error of known values, f-strings in errors")
def guarded(x):
    try:
        if x.shape[0] != 5:
            raise ValueError(f"expected 5 values, got {x.shape[0]}")
        return x * 2
    except ValueError:
        return x + 1


@program(normal(6), kind="assertions on shapes, isinstance, len")
def checked(x):
    assert x.ndim == 1, "a vector is needed"
    assert isinstance(x, np.ndarray)
    if len(x) > 3 and x.dtype == np.float64:
        return x[:3]
    return x


@program(uniform(2), kind="enum members as known states")
def phases(x):
    phase = Phase.COLD
    total = 0.0
    for k in range(6):
        total += x[0] if phase is Phase.COLD else x[1]
        phase = Phase.HOT if phase is Phase.COLD else Phase.COLD
    return total


@program(integers(10, high=6), kind="a queue in an array, with head and tail")
def serve_queue(arrivals):
    queue = np.zeros(64, dtype=np.int64)
    head, tail, served = 0, 0, 0
    for minute in range(10):
        for _ in range(2):
            if arrivals[minute] > 2:
                queue[tail] = minute
                tail += 1
        if tail > head:
            served += minute - queue[head]
            head += 1
    return served, tail - head


@program(integers(12, high=5), kind="a stack in an array, with matching")
def balanced(tokens):
    stack = np.zeros(12, dtype=np.int64)
    top = 0
    ok = True
    for t in tokens:
        if t < 3:
            stack[top] = t
            top += 1
        elif top > 0:
            top -= 1
        else:
            ok = False
    return ok and top == 0, top


@program(integers(8, high=8), kind="union-find with while loops")
def components(links):
    parent = np.arange(8)
    for a in range(8):
        b = links[a]
        ra, rb = a, b
        while parent[ra] != ra:
            ra = parent[ra]
        while parent[rb] != rb:
            rb = parent[rb]
        if ra != rb:
            parent[ra] = rb
    count = 0
    for k in range(8):
        if parent[k] == k:
            count += 1
    return count


@program(
    always(np.array([0, 2, 3, 5])),
    always(np.array([0, 2, 1, 0, 2])),
    normal(5),
    normal(3),
    kind="sparse rows by pointers",
)
def sparse_product(starts, columns, data, x):
    y = np.zeros(len(starts) - 1)
    for i in range(len(y)):
        for k in range(starts[i], starts[i + 1]):
            y[i] += data[k] * x[columns[k]]
    return y


@program(uniform(20), uniform(20), kind="agents in arrays, masks")
def flock(x, v):
    for _ in range(10):
        x = x + 0.1 * v
        out = (x < 0) | (x > 1)
        v[out] *= -1
        x = np.clip(x, 0, 1)
        crowded = np.abs(x[:, None] - x[None, :]) < 0.05
        v += 0.01 * (crowded.sum(1) - 1)
    return x, v


@program(integers(6, 6, high=2), kind="cellular automaton with np.roll")
def life(grid):
    for _ in range(5):
        n = sum(np.roll(np.roll(grid, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        grid = ((n == 3) | ((grid == 1) & (n == 2))).astype(grid.dtype)
    return grid


@program(integers(14, low=48, high=58), kind="parsing digits")
def parse_number(codes):
    value, sign = 0, 1
    for c in codes[:6]:
        value = value * 10 + (c - 48)
    if codes[6] > 52:
        sign = -1
    return sign * value


@program(normal(10), kind="walrus, chained comparison, conditional expression")
def clipped_mean(x):
    if (m := x.mean()) > 0:
        x = x - m
    total, n = 0.0, 0
    for v in x:
        if -1 < v < 1:
            total += v
            n += 1
    return total / n if n > 0 else 0.0


@program(normal(5), kind="global constants and default arguments")
def with_defaults(x, scale=2.0, *, offset=1.0):
    return scale * x + offset


@program(normal(4), normal(4), kind="*args and **kwargs")
def combine(*arrays):
    def add(*xs, weight=1.0, **rest):
        return sum(xs) * weight + len(rest)

    return add(*arrays, weight=0.5, extra=1)


@program(normal(6), kind="with np.errstate, warnings ignored")
def safe_division(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = 1.0 / np.where(x > 0, x, 0.0)
    return np.where(np.isfinite(y), y, -1.0)


@program(uniform(3, 3), kind="match statements on known values")
def by_shape(x):
    match x.shape:
        case (3, 3):
            return np.trace(x)
        case (n,):
            return x.sum() * n
        case _:
            return 0.0


@program(normal(7), kind="lists of arrays, list methods, zip and reversed")
def backwards(x):
    parts = []
    for a, b in zip(x[:-1], x[1:]):
        parts.append(a * b)
    parts.reverse()
    parts.insert(0, x.sum())
    return np.array(parts[:4]), parts.pop()


@program(normal(9), kind="elements moved up and down by slices, with a count")
def smallest_in_order(x):
    kept, count = np.full(6, np.inf), 0
    for value in x:
        place = 0
        while place < count and kept[place] < value:
            place += 1
        if place < 5:
            kept[place + 1 :] = kept[place:-1]
            kept[place] = value
            count = min(count + 1, 5)
    least = kept[0]
    worst = np.argmax(kept[:5])
    kept[worst:-1] = kept[worst + 1 :]
    return kept[:3], least, count
