"""Algorithms: sequences, graphs, searches, simulations with their own random numbers, parsers and data structures."""

from dataclasses import dataclass, field

import numpy as np

from tests.end_to_end.plain_programs.collection import always, integers, normal, program, uniform

GAP, MATCH, MISMATCH = -2, 3, -1


@program(integers(8, high=4), integers(10, high=4), kind="local alignment with the way back, three choices")
def smith_waterman(a, b):
    score = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    best, at = 0, (0, 0)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            diagonal = score[i - 1, j - 1] + (MATCH if a[i - 1] == b[j - 1] else MISMATCH)
            score[i, j] = max(0, diagonal, score[i - 1, j] + GAP, score[i, j - 1] + GAP)
            if score[i, j] > best:
                best, at = score[i, j], (i, j)
    i, j = at
    length = 0
    while i > 0 and j > 0 and score[i, j] > 0:
        if score[i, j] == score[i - 1, j - 1] + (MATCH if a[i - 1] == b[j - 1] else MISMATCH):
            i -= 1
            j -= 1
        elif score[i, j] == score[i - 1, j] + GAP:
            i -= 1
        else:
            j -= 1
        length += 1
    return best, length


@program(integers(7, high=3), integers(6, high=3), kind="global alignment, borders by np.arange")
def needleman_wunsch(a, b):
    n, m = len(a), len(b)
    table = np.empty((n + 1, m + 1))
    table[:, 0], table[0, :] = GAP * np.arange(n + 1), GAP * np.arange(m + 1)
    for i in range(n):
        for j in range(m):
            same = MATCH if a[i] == b[j] else MISMATCH
            table[i + 1, j + 1] = max(table[i, j] + same, table[i, j + 1] + GAP, table[i + 1, j] + GAP)
    return table[-1, -1]


@program(normal(14), kind="longest increasing run by binary search in piles")
def longest_increasing(x):
    piles = np.empty(len(x))
    size = 0
    for value in x:
        low, high = 0, size
        while low < high:
            middle = (low + high) // 2
            if piles[middle] < value:
                low = middle + 1
            else:
                high = middle
        piles[low] = value
        if low == size:
            size += 1
    return size


@program(uniform(7, 7, low=0.1, high=5.0), integers(high=7), kind="shortest paths from a node, the nearest first")
def dijkstra(weights, source):
    n = len(weights)
    distance, done = np.full(n, np.inf), np.zeros(n, dtype=bool)
    distance[source] = 0
    for _ in range(n):
        nearest, least = -1, np.inf
        for v in range(n):
            if not done[v] and distance[v] < least:
                nearest, least = v, distance[v]
        if nearest < 0:
            break
        done[nearest] = True
        for v in range(n):
            if not done[v] and least + weights[nearest, v] < distance[v]:
                distance[v] = least + weights[nearest, v]
    return distance


@program(uniform(6, 6), always(0.6), kind="percolation: sites filled from the top until nothing changes")
def percolates(grid, p):
    is_open = grid < p
    full = np.zeros_like(is_open)
    full[0] = is_open[0]
    changed = True
    while changed:
        changed = False
        for i in range(grid.shape[0]):
            for j in range(grid.shape[1]):
                if is_open[i, j] and not full[i, j]:
                    above = i > 0 and full[i - 1, j]
                    below = i < grid.shape[0] - 1 and full[i + 1, j]
                    left = j > 0 and full[i, j - 1]
                    right = j < grid.shape[1] - 1 and full[i, j + 1]
                    if above or below or left or right:
                        full[i, j] = True
                        changed = True
    return full[-1].any(), full.sum()


@program(
    normal(30), uniform(low=0.05, high=0.2), uniform(low=0.3, high=0.7), kind="likelihood of a variance that evolves"
)
def garch(returns, alpha, beta):
    variance = returns.var()
    omega = variance * (1 - alpha - beta)
    total = 0.0
    for r in returns:
        total += np.log(variance) + r * r / variance
        variance = omega + alpha * r**2 + beta * variance
        if variance < 1e-12:
            variance = 1e-12
    return -0.5 * total


@program(
    uniform(low=90, high=110), always(100.0), always(12), kind="option tree with early exercise", static=("steps",)
)
def binomial_put(spot, strike, steps):
    dt, rate, sigma = 1.0 / steps, 0.05, 0.3
    up = np.exp(sigma * np.sqrt(dt))
    probability = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    values = np.maximum(strike - spot * up ** np.arange(steps, -steps - 1, -2.0), 0)
    for k in range(steps - 1, -1, -1):
        values = np.exp(-rate * dt) * (probability * values[:-1] + (1 - probability) * values[1:])
        values = np.maximum(values, strike - spot * up ** np.arange(k, -k - 1, -2.0))
    return values[0]


@program(integers(15, high=3), kind="run-length encoding into buffers, cut at the end")
def run_lengths(x):
    values, lengths = np.empty_like(x), np.zeros(len(x), dtype=np.int64)
    count = 0
    for k in range(len(x)):
        if k > 0 and x[k] == x[k - 1]:
            lengths[count - 1] += 1
        else:
            values[count], lengths[count] = x[k], 1
            count += 1
    return values[:count], lengths[:count]


@program(always(np.frombuffer(b"12,7.5,-3;40,0.25,9;", np.uint8)), kind="parsing bytes: numbers with signs and points")
def parse_table(text):
    found = np.zeros(8)
    count, value, sign, scale, is_fraction = 0, 0.0, 1.0, 1.0, False
    for code in text:
        if code == ord("-"):
            sign = -1.0
        elif code == ord("."):
            is_fraction = True
        elif code == ord(",") or code == ord(";"):
            found[count] = sign * value * scale
            count += 1
            value, sign, scale, is_fraction = 0.0, 1.0, 1.0, False
        else:
            value = 10 * value + (int(code) - ord("0"))
            if is_fraction:
                scale /= 10
    return found, count


def sift_up(heap, k):
    while k > 0 and heap[(k - 1) // 2] > heap[k]:
        parent = (k - 1) // 2
        heap[k], heap[parent] = heap[parent], heap[k]
        k = parent


def sift_down(heap, size):
    k = 0
    while 2 * k + 1 < size:
        child = 2 * k + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[k] <= heap[child]:
            break
        heap[k], heap[child] = heap[child], heap[k]
        k = child


@program(normal(9), kind="a heap in an array: helpers with while and break that write")
def heap_sort(x):
    heap, out = np.empty(len(x)), np.empty(len(x))
    for k in range(len(x)):
        heap[k] = x[k]
        sift_up(heap, k)
    for k in range(len(x)):
        out[k] = heap[0]
        heap[0] = heap[len(x) - 1 - k]
        sift_down(heap, len(x) - 1 - k)
    return out


class RingBuffer:
    def __init__(self, size):
        self.values = np.zeros(size)
        self.head = self.count = 0

    def push(self, value):
        self.values[self.head] = value
        self.head = (self.head + 1) % len(self.values)
        self.count = min(self.count + 1, len(self.values))

    def mean(self):
        return self.values.sum() / self.count if self.count else 0.0


@program(
    normal(12),
    kind="an object whose method changes it, called where a traced condition holds",
    refused="changes a RingBuffer object",
)
def means_of_positive(x):
    ring = RingBuffer(4)
    for value in x:
        if value > 0:
            ring.push(value)
    return ring.mean()


@program(normal(12), kind="a ring buffer as a class, methods that change it")
def buffered_means(x):
    ring, out = RingBuffer(4), np.zeros(len(x))
    for k, value in enumerate(x):
        ring.push(value if value > 0 else 0.0)
        out[k] = ring.mean()
    return out


@dataclass
class Lcg:
    state: int

    def integer(self):
        self.state = (1103515245 * self.state + 12345) % 2147483648
        return self.state

    def uniform(self):
        return self.integer() / 2147483648.0


@program(integers(low=1, high=1000), kind="random walks with an own generator of random numbers")
def random_walk(seed):
    random = Lcg(seed)
    x = y = 0
    farthest = 0.0
    for _ in range(40):
        turn = random.integer() // 65536 % 4
        if turn == 0:
            x += 1
        elif turn == 1:
            x -= 1
        elif turn == 2:
            y += 1
        else:
            y -= 1
        farthest = max(farthest, np.hypot(x, y))
    return x, y, farthest


@program(uniform(6, 2), integers(low=1, high=1000), kind="simulated annealing of a round trip, swaps taken or not")
def anneal(cities, seed):
    def length(order):
        total = 0.0
        for k in range(len(order)):
            total += np.linalg.norm(cities[order[k]] - cities[order[(k + 1) % len(order)]])
        return total

    random = Lcg(seed)
    order = np.arange(len(cities))
    current, temperature = length(order), 1.0
    for _ in range(25):
        i, j = random.integer() // 8 % len(cities), random.integer() // 8 % len(cities)
        order[i], order[j] = order[j], order[i]
        proposed = length(order)
        luck = random.uniform()
        if proposed < current or luck < np.exp((current - proposed) / temperature):
            current = proposed
        else:
            order[i], order[j] = order[j], order[i]
        temperature *= 0.9
    return current, order


@program(
    integers(5, 5, high=2),
    integers(low=1, high=1000),
    uniform(low=0.2, high=1.0),
    kind="Ising spins, modulo neighbours",
)
def ising(bits, seed, beta):
    spins, random = 2 * bits - 1, Lcg(seed)
    n = len(spins)
    for i in range(n):
        for j in range(n):
            around = spins[(i + 1) % n, j] + spins[i - 1, j] + spins[i, (j + 1) % n] + spins[i, j - 1]
            cost = 2 * spins[i, j] * around
            luck = random.uniform()
            if cost <= 0 or luck < np.exp(-beta * cost):
                spins[i, j] *= -1
    return spins, spins.sum()


@program(always(5), kind="queens on a board, counted by a stack of columns", static=("n",))
def queens(n):
    columns = np.zeros(n, dtype=np.int64)
    found, row = 0, 0
    columns[0] = -1
    while row >= 0:
        columns[row] += 1
        if columns[row] == n:
            row -= 1
            continue
        is_safe = True
        for k in range(row):
            if columns[k] == columns[row] or abs(columns[k] - columns[row]) == row - k:
                is_safe = False
                break
        if is_safe:
            if row == n - 1:
                found += 1
            else:
                row += 1
                columns[row] = -1
    return found


@dataclass
class Tank:
    level: float
    capacity: float = 5.0
    spilled: float = 0.0
    history: list = field(default_factory=list)

    def fill(self, amount):
        self.level += amount
        if self.level > self.capacity:
            self.spilled += self.level - self.capacity
            self.level = self.capacity
        self.history.append(self.level)


@program(uniform(10, high=2.0), kind="dataclasses that spill over, history as a list")
def water_tanks(rain):
    tanks = [Tank(1.0), Tank(0.0, capacity=2.0)]
    for amount in rain:
        for tank in tanks:
            tank.fill(amount)
            tank.level *= 0.9
    return [tank.spilled for tank in tanks], np.array(tanks[0].history)


@program(normal(6), uniform(low=-1.0, high=2.4), kind="raise after a search that returns")
def first_larger(x, limit):
    for k in range(len(x)):
        if x[k] > limit:
            return k
    if limit < 2.5:
        return -1
    raise ValueError(f"no element is larger than {limit}")


@program(uniform(low=0.5, high=20.0), kind="raise where an iteration does not converge, checked arguments")
def cube_root(x):
    if x <= 0:
        raise ValueError(f"x is {x:.2f}, which is not positive")
    y = x
    for _ in range(60):
        step = (y**3 - x) / (3 * y**2)
        y -= step
        if abs(step) < 1e-13:
            return y
    raise RuntimeError("no convergence")


@program(integers(20, high=100), integers(20, high=100), kind="merging of sorted arrays, two fingers")
def merge(a, b):
    a, b = np.sort(a), np.sort(b)
    out = np.empty(len(a) + len(b), a.dtype)
    i = j = 0
    for k in range(len(out)):
        if j >= len(b) or (i < len(a) and a[i] <= b[j]):
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
    return out


@program(integers(8, high=2), integers(8, high=8), kind="topological order by counting, a queue in an array")
def layers(is_edge, target):
    n = len(target)
    degree = np.zeros(n, np.int64)
    for k in range(n):
        if is_edge[k] and target[k] > k:
            degree[target[k]] += 1
    queue, head, tail = np.zeros(n, np.int64), 0, 0
    for k in range(n):
        if degree[k] == 0:
            queue[tail] = k
            tail += 1
    while head < tail:
        k = queue[head]
        head += 1
        if is_edge[k] and target[k] > k:
            degree[target[k]] -= 1
            if degree[target[k]] == 0:
                queue[tail] = target[k]
                tail += 1
    return queue, tail


@program(integers(low=2, high=500), kind="factors by trial division, divmod and a buffer")
def factorize(n):
    found, count, divisor = np.zeros(12, np.int64), 0, 2
    while n > 1:
        quotient, remainder = divmod(n, divisor)
        if remainder == 0:
            found[count] = divisor
            count += 1
            n = quotient
        else:
            divisor += 1
    return found, count


@program(normal(5, 5), kind="a spiral through a matrix, known turns")
def spiral(m):
    rows, columns = m.shape
    top, bottom, left, right = 0, rows - 1, 0, columns - 1
    out = []
    while top <= bottom and left <= right:
        out.extend(m[top, left : right + 1])
        out.extend(m[top + 1 : bottom + 1, right])
        if top < bottom and left < right:
            out.extend(m[bottom, left:right][::-1])
            out.extend(m[top + 1 : bottom, left][::-1])
        top, bottom, left, right = top + 1, bottom - 1, left + 1, right - 1
    return np.array(out)


@program(integers(10, low=1, high=9), integers(low=5, high=30), kind="coins: counts of ways, sums over steps")
def ways(coins, amount):
    table = np.zeros(31, np.int64)
    table[0] = 1
    for coin in coins[:4]:
        for total in range(31):
            if total >= coin:
                table[total] += table[total - coin]
    return table[amount]


@program(
    normal(30),
    kind="an array that masks shorten until a traced condition holds",
    refused="leaves 'x' as the elements that a mask selects",
)
def without_outliers(x):
    while x.std() > 0.8:
        x = x[np.abs(x - x.mean()) < 1.5 * x.std()]
    return x.mean()


@program(normal(30), kind="a mask of what is left that shrinks until it is even")
def without_outliers_by_mask(x):
    keep = np.ones(len(x), bool)
    while x[keep].std() > 0.8:
        keep &= np.abs(x - x[keep].mean()) < 1.5 * x[keep].std()
    return x[keep].mean()
