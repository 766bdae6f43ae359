"""Loops over single elements, as textbooks print them: a sieve, Collatz chains, a random walk, Levinson's recursion."""

from functools import partial

import numpy as np

from benchmarks.program import Program, versions

SIZES = {"tiny": 12, "small": 1000, "large": 50_000, "other": 1001}
MULTIPLIER, INCREMENT, MODULUS = 1103515245, 12345, 1 << 31


def sieve(flags):
    """Return which numbers are prime; ``flags`` are true."""
    prime = flags.copy()
    prime[:2] = False
    i = 2
    while i * i < len(prime):
        if prime[i]:
            j = i * i
            while j < len(prime):
                prime[j] = False
                j += i
        i += 1
    return prime


def _sieve(np, lax):
    def jitted(flags):
        count = len(flags)

        def clear(i, prime):
            def body(s):
                j, prime = s
                return j + i, prime.at[j].set(False)

            return lax.while_loop(lambda s: s[0] < count, body, (i * i, prime))[1]

        def step(s):
            i, prime = s
            return i + 1, lax.cond(prime[i], lambda p: clear(i, p), lambda p: p, prime)

        start = (2, flags.at[:2].set(False))
        return lax.while_loop(lambda s: s[0] * s[0] < count, step, start)[1]

    return jitted


def collatz(limit):
    """Return the number below a limit whose chain is longest, and that length."""
    best, longest = 1, 1
    for start in range(1, limit):
        x, length = start, 1
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            length += 1
        if length > longest:
            best, longest = start, length
    return best, longest


def _collatz(np, lax):
    def chain(start):
        def body(s):
            x, length = s
            return np.where(x % 2 == 0, x // 2, 3 * x + 1), length + 1

        return lax.while_loop(lambda s: s[0] != 1, body, (start, start * 0 + 1))[1]

    def step(start, s):
        best, longest = s
        length = chain(start)
        return np.where(length > longest, start, best), np.maximum(length, longest)

    return lambda limit: lax.fori_loop(1, limit, step, (np.int64(1), np.int64(1)))


def random_walk(state, steps):
    """Return where a walk is after each step, by a linear congruential generator."""
    places, place = np.empty(len(steps), np.int64), 0
    for t in range(len(steps)):
        state = (state * MULTIPLIER + INCREMENT) % MODULUS
        place += steps[t] if state > MODULUS // 2 else -steps[t]
        places[t] = place
    return places


def _random_walk(np, lax):
    def step(s, size):
        state, place = s
        state = (state * MULTIPLIER + INCREMENT) % MODULUS
        place = np.where(state > MODULUS // 2, place + size, place - size)
        return (state, place), place

    return lambda state, steps: lax.scan(step, (state, state * 0), steps)[1]


def levinson(r):
    """Return the coefficients of linear prediction from autocorrelations, and the error's variance."""
    a, new, error = np.zeros(len(r)), np.zeros(len(r)), r[0]
    a[0] = 1.0
    for i in range(1, len(r)):
        total = r[i]
        for j in range(1, i):
            total += a[j] * r[i - j]
        k = -total / error
        for j in range(1, i):
            new[j] = a[j] + k * a[i - j]
        a[1:i] = new[1:i]
        a[i] = k
        error *= 1.0 - k * k
    return a, error


def _levinson(np, lax):
    def order(r, i, s):
        a, error = s
        k = -lax.fori_loop(1, i, lambda j, total: total + a[j] * r[i - j], r[i]) / error
        new = lax.fori_loop(1, i, lambda j, new: new.at[j].set(a[j] + k * a[i - j]), a)
        return new.at[i].set(k), error * (1.0 - k * k)

    def jitted(r):
        first = np.where(np.arange(len(r)) == 0, 1.0, 0.0)
        return lax.fori_loop(1, len(r), partial(order, r), (first, r[0]))

    return jitted


def loop_program(plain, written, arguments, sizes=SIZES):
    """Return a loop over single elements, written for NumPy and Numba alike, and as a traced one."""
    return Program(
        plain.__name__,
        sizes,
        arguments,
        versions(
            lambda numhlo: numhlo.jit(written(np, numhlo.lax)),
            lambda jax: jax.jit(written(jax.numpy, jax.lax)),
            lambda numba: numba.njit(plain),
            lambda _: plain,
        ),
    )


PROGRAMS = (
    loop_program(sieve, _sieve, lambda size, rng: (np.ones(size, np.bool_),)),
    loop_program(collatz, _collatz, lambda size, rng: (size,)),
    loop_program(random_walk, _random_walk, lambda size, rng: (42, rng.integers(1, 6, size))),
    loop_program(
        levinson,
        _levinson,
        lambda size, rng: (0.9 ** np.arange(size) + 0.1 * (np.arange(size) == 0),),
        {"tiny": 6, "small": 40, "large": 1000, "other": 41},
    ),
)
