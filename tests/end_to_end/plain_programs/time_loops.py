"""Time loops: simulations that step forward, with conditions, early ends and work arrays."""

import math

import numpy as np

from tests.end_to_end.plain_programs.collection import always, integers, normal, program, uniform


@program(normal(6), always(40), kind="for over a range, arrays updated in place", static=())
def heat_bar(u, steps):
    for _ in range(40):
        new = u.copy()
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return u * steps


@program(uniform(), kind="while with a traced condition")
def bouncing_ball(height):
    velocity, bounces, t = 0.0, 0, 0.0
    while bounces < 3 and t < 10.0:
        velocity -= 9.81 * 0.01
        height += velocity * 0.01
        if height < 0.0:
            height = -height
            velocity = -0.8 * velocity
            bounces += 1
        t += 0.01
    return height, velocity, bounces


@program(uniform(2), kind="for with break on a traced condition")
def predator_and_prey(start):
    rabbits, foxes = start[0] + 1.0, start[1] + 0.5
    history = np.zeros((60, 2))
    for k in range(60):
        rabbits, foxes = (
            rabbits + 0.05 * (rabbits - rabbits * foxes),
            foxes + 0.05 * (rabbits * foxes - foxes),
        )
        history[k, 0] = rabbits
        history[k, 1] = foxes
        if rabbits < 0.1 or foxes > 4.0:
            break
    return history, k


@program(normal(4, 3), normal(4, 3), uniform(4, low=0.5), kind="nested for over elements, augmented assignment")
def gravity_step(positions, velocities, masses):
    n = positions.shape[0]
    forces = np.zeros_like(positions)
    for i in range(n):
        for j in range(n):
            if i != j:
                d = positions[j] - positions[i]
                r = math.sqrt(d[0] ** 2 + d[1] ** 2 + d[2] ** 2 + 0.01)
                forces[i] += masses[i] * masses[j] * d / r**3
    velocities += 0.01 * forces / masses[:, None]
    positions += 0.01 * velocities
    return positions, velocities


@program(uniform(), uniform(), kind="while with continue")
def rejection_free_steps(a, b):
    total, k = 0.0, 0
    while k < 50:
        k += 1
        a = (a * 1.37 + b) % 1.0
        if a < 0.3:
            continue
        total += a
    return total


@program(normal(30), kind="else of a for loop, return inside a loop")
def first_crossing(x):
    for k in range(len(x)):
        if x[k] > 1.2:
            return k
    return -1


@program(uniform(20), kind="while with break and else")
def first_above(x):
    k = 0
    while k < len(x):
        if x[k] > 0.9:
            break
        k += 1
    else:
        k = -1
    return k


@program(uniform(8, 8), kind="red-black sweeps over strided slices")
def relaxation(u):
    for _ in range(10):
        for parity in (0, 1):
            for i in range(1, 7):
                start = 1 + (i + parity) % 2
                u[i, start:-1:2] = 0.25 * (
                    u[i - 1, start:-1:2] + u[i + 1, start:-1:2] + u[i, start - 1 : -2 : 2] + u[i, start + 1 :: 2]
                )
    return u


@program(normal(3), always(0.01), kind="a helper that is called in a loop")
def lorenz(state, dt):
    def slope(s):
        x, y, z = s
        return np.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])

    path = np.empty((25, 3))
    for k in range(25):
        k1 = slope(state)
        k2 = slope(state + dt / 2 * k1)
        k3 = slope(state + dt / 2 * k2)
        k4 = slope(state + dt * k3)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path[k] = state
    return path


@program(uniform(50), kind="generator expressions and sum")
def weighted_sum(x):
    return sum(w * v for w, v in zip(np.linspace(1.0, 0.0, 50), x))


@program(integers(high=30), kind="while on an integer argument, // and %")
def collatz_length(n):
    n = n + 1
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@program(integers(high=100), integers(high=100), kind="tuple assignment in a while loop")
def greatest_divisor(a, b):
    a, b = a + 1, b + 1
    while b:
        a, b = b, a % b
    return a


@program(uniform(low=1.0, high=9.0), kind="a while loop that converges, with a tolerance")
def square_root(x):
    guess = x
    while abs(guess * guess - x) > 1e-12 * x:
        guess = 0.5 * (guess + x / guess)
    return guess


@program(uniform(5, 5), integers(2, low=1, high=4), kind="indices from arrays, bounds tested by if")
def random_walker(field, start):
    i, j = start
    for step in range(12):
        best = field[i, j]
        bi, bj = i, j
        for di, dj in [(-1, 0), (1, 0), (0, -1), (0, 1)]:
            if 0 <= i + di < 5 and 0 <= j + dj < 5 and field[i + di, j + dj] > best:
                best = field[i + di, j + dj]
                bi, bj = i + di, j + dj
        if bi == i and bj == j:
            break
        i, j = bi, bj
    return i, j, best
