"""Functions with branches and loops on values, as Python writes them: what `jit(autograph=True)` is for."""

import numpy as np


def relu(x):
    if x > 0:
        return x
    return 0.0


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def newton(a):
    x = a
    err = 1.0
    it = 0
    while err > 1e-10 and it < 50:
        new = 0.5 * (x + a / x)
        err = abs(new - x)
        x = new
        it += 1
    return x, it


def summing(x, n):
    s = 0.0
    for i in range(n):
        s += x[i]
        if x[i] < 0:
            s -= 2 * x[i]
    return s


def sign(x):
    if x > 0:
        r = 1
    elif x < 0:
        r = -1
    else:
        r = 0
    return r


def mutate(x, flag):
    y = x
    if flag > 0:
        x[0] = 10.0
        x += 1
    return y


def bisect(lo, hi):
    while hi - lo > 1e-8:
        mid = (lo + hi) / 2
        if mid**3 - mid - 2 < 0:
            lo = mid
        else:
            hi = mid
    return lo


def sieve(n, size):
    s = np.ones(size, dtype=bool)
    s[:2] = False
    i = 2
    while i * i < n:
        if s[i]:
            j = i * i
            while j < n:
                s[j] = False
                j += i
        i += 1
    return s


def clamp(x):
    return 1.0 if x > 1 else (x if 0 < x < 5 else 0.0)


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def pow_(x, n):
    r = 1.0
    while n > 0:
        if n & 1:
            r = r * x
        x = x * x
        n >>= 1
    return r


def early(x):
    y = x * 2
    if y > 10:
        z = y - 1
        if z > 20:
            return z
        return -z
    elif y < 0:  # noqa: RET505 - what is tested
        return 0.0
    w = y + 1
    return w  # noqa: RET504


def binary(x, v):
    lo, hi = 0, len(x)
    while lo < hi:
        mid = (lo + hi) // 2
        if x[mid] < v:
            lo = mid + 1
        else:
            hi = mid
    return lo


def bubble(x):
    n = len(x)
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                t = x[j]
                x[j] = x[j + 1]
                x[j + 1] = t
    return x


def choose_function(x, functions):
    kind = "plain"
    if x > 0:
        apply = functions[0]
        y = apply(x)
    else:
        y = functions[1](x)
    if kind == "plain":
        y = y + 1
    return y, kind == "plain"


def unconverted(x):
    total = 0.0
    for k in range(4):
        if k == 2:
            continue
        if k == 3:
            break
        total += x[k] if x[k] > 0 else -x[k]

    def peek():
        return total

    if total > 1 and not (total > 100 or x[0] > 50):
        y = peek()
    else:
        y = peek() * 2
    return y


def containers(x):
    state = {"n": 0, "pair": (x, 2.0)}
    while state["n"] < x:
        state = {"n": state["n"] + 1, "pair": (state["pair"][1], state["pair"][0] + 1)}
    if state["n"] > 2:
        a, (b, *_) = state["n"], state["pair"]
    else:
        a, b = 0, 1.0
    return a, b, [v for v in (1, 2) if v > 1]


def backwards(x, n):
    out, last = np.zeros(6), -1
    for i in range(n, 0, -2):
        out[i - 1] = x[i - 1]
        last = i
    for i in range(3):
        out[i] += i
    return out, last, i


def leaves_early(x, limit):
    total, seen = 0.0, 0
    for i in range(len(x)):
        if x[i] < 0:
            continue
        total += x[i]
        if total > limit:
            seen = i
            break
        seen = -1
    return total, seen, i


def doubles(x):
    rounds = 0
    while True and rounds < 30:
        rounds += 1
        if x > 100:
            break
        if x < 0:
            x = -x
            continue
        x = x * 2
    return x, rounds


def skips(x):
    total = 0.0
    for v in x:
        if v < 0:
            if v < -5:
                total -= 1
            continue
        for j in range(3):
            if j == 1:
                continue
            if v > 4:
                break
            total += v * j
        total += 1
    return total


def known_exits(x):
    for i in range(10**9):
        if i > 3:
            break
        x = x + i
    return x, i


def chooses(x, y):
    return (x > 0 and y > 0) or not x < 5, x or y, 0 < x < y < 9, not y


def magnitude(v):
    if v < 0:
        return -v
    return v


class Bounds:
    def __init__(self, low):
        self.low = low

    def above(self, x):
        while x < self.low:
            x = x + 1
        return x


def calls_others(x):
    return magnitude(x) + Bounds(3.0).above(x)


def dominant(matrix):
    v, error, w = np.ones(len(matrix)), 1.0, None
    while error > 1e-8:
        w = matrix @ v
        w /= np.linalg.norm(w)
        error, v = np.abs(w - v).max(), w
    return v


def own_copy(x, y):
    if x[0] > 0:
        y = x.copy()
        y[0] += 1
    return y


def within(x, low):
    return low <= x[0] < x[1] <= 2 * x[0] + 1 != low


def first_above(x, limit):
    for i in range(len(x)):
        if x[i] > limit:
            return i
    return -1


def first_in_rows(matrix, limit):
    for i, row in enumerate(matrix):
        for j in range(len(row)):
            if row[j] > limit:
                return i, j
    return -1, -1


def halvings(n):
    steps = 0
    while True:
        if n < 2:
            return steps
        n, steps = n / 2, steps + 1


def loops_with_else(x, limit):
    for v in x:
        if v > limit:
            found = v
            break
    else:
        found = -1.0
    n = limit
    while n > 1:
        n -= 2
        if n == 1:
            break
    else:
        found += 100
    return found, v


def assigns_in_tests(x, limit):
    if (total := x.sum()) > limit:
        total *= 2
    n = 0
    while (y := total - n) > limit and n < 5:
        n += 1
    return total, y, n


class Tally:
    def __init__(self, n):
        self.total, self.marks = 0.0, np.zeros(n)

    def add(self, i, v):
        if v > 1:
            self.total += v
            self.marks[i] = v
            self.last = v
        else:
            self.last = 0.0


def keeps_state(x):
    tally, kept, table = Tally(len(x)), [], {"n": 0}
    again = kept
    for i in range(len(x)):
        tally.add(i, x[i])
        if x[i] > 2:
            kept.append(x[i])
            table["n"] += 1
        else:
            kept.append(-1.0)
    return tally.total, tally.marks, tally.last, again, table


def writes_by_calls(x, limit):
    y = np.zeros(3)
    if x[0] > limit:
        np.add.at(y, [0, 0], x[0])
        x.sort()
        np.multiply(x, 2, out=x)
    else:
        x.fill(7)
    return y


def is_among(x, limit):
    return (limit in x), (limit not in (1.0, x[0])), (x[1] in [2.0, limit])


def total(x, depth=3):
    return x.sum() if depth == 0 else total(x, depth - 1) + (1 if x[0] > 0 else 2)


def stops_within(n):
    count = 0
    for i in range(n):
        for j in range(i):
            if i * j > 6:
                return i, j, count
            if (i + j) % 3 == 0:
                continue
            count += 1
    return -1, -1, count


def searches_rows(matrix, wanted):
    for row in matrix:
        k = 0
        while k < 3:
            if row[k] == wanted:
                return row.sum(), k
            if row[k] > 8:
                break
            k += 1
        else:
            if row[0] > 100:
                return 0.0, -2
    return -1.0, -1


def machine(events):
    state = count = 0
    for event in events:
        match (state, event):
            case (0, 1):
                state = 1
            case (1, 2) | (1, 0):
                state = 2
                count += 1
            case (2, _):
                state = 0
            case (s, e):
                count = count + 10 * e + s
    return state, count


def matches(x):
    total = 0.0
    for v in x:
        match v:
            case 1 | 3 as odd:
                total += odd
            case big if big > 5:
                double = big * 2
                total += double
                del double
            case None:
                total = -1.0
            case _:
                total += 100
    match x[0] * 1:
        case 3:
            return total
        case _:
            return -total


def local_classes(x):
    class Total:
        def __init__(self, least):
            self.total, self.seen, self.least = 0.0, np.zeros(2), least

        def add(self, v):
            if v > self.least:
                self.total += v
                self.seen[0] += 1
            elif v < 0:
                self.seen[1] -= v
            return self

        @staticmethod
        def halved(v):
            return v / 2 if v > 1 else v

        def __iadd__(self, v):
            while v > 1:
                v = self.halved(v)
            self.total += v
            return self

    class Less(Total):
        def add(self, v):
            super().add(v)
            if v > 2:
                self.total -= 1
            return self

    first, second = Total(0.5), Less(1.0)
    for v in x:
        first.add(v)
        second.add(v)
    first += x[0]
    return first.total, first.seen, second.total


def second_below(x, limit):
    count = 0
    for k in range(4):
        if x[k] < limit:
            count += 1
            if count == 2:
                return k
    return -1


def found_or_else(x, limit):
    for v in x:
        if v > limit:
            return v * 2
    return -1.0
