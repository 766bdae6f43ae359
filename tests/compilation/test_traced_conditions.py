"""Which functions' branches and loops may depend on traced values, as their sources show before they are traced."""

import functools
import math
from dataclasses import dataclass

import numpy as np
import pytest

import numhlo
from numhlo.compilation.abstract_values import known, of_argument
from numhlo.compilation.traced_conditions import asks_for_traced_values

LIMIT = 2.0
TABLE = {"mean": np.mean, "last": lambda x: x[-1]}


def by_value(x):
    if x > 0:
        return x
    return -x


def by_shape(x):
    if x.ndim > 1 and x.shape[0] > 3:
        return x.sum()
    return x if x.size else x + len(x)


def by_dtype(x):
    return x if x.dtype == np.float64 and isinstance(x, object) else x.astype(float)


def by_none(x, weights=None):
    if weights is not None:
        x = x * weights
    return x


def by_known_number(x, n):
    for k in range(n):
        if k % 2 == 0:
            x = x + k
    while n > 0:
        n -= 1
    return x


def by_known_text(x, how):
    if how == "mean":
        return x.mean()
    while x.sum() > 1:
        x = x / 2
    return x


def while_large(x):
    while x.max() > 1:
        x = x / 2
    return x


def through_helper(x):
    return 2 * by_value(x[0])


def helper_by_shape(x):
    return by_shape(x)


def half(x):
    return x / 2, len(x)


def through_tuple(x):
    y, n = half(x)
    if n > 3:
        return y
    return -y


def through_tuple_traced(x):
    y, n = half(x)
    return n if y[0] > 0 else -n


def enumerated(x):
    total = 0.0
    for k, value in enumerate(x):
        if k % 2:
            total = total + value
    return total


def enumerated_traced(x):
    total = 0.0
    for _, value in enumerate(x):
        if value > 0:
            total += value
    return total


def through_list(x):
    kept = []
    for value in x:
        kept.append(value)
    if kept:
        return sum(kept)
    return x


def through_list_traced(x):
    kept = [0.0]
    for value in x:
        kept.append(value)
    return 1 if kept[1] > LIMIT else 0


def written(x):
    table = np.zeros(4)
    if table[0] > 1:
        return x
    table[1] = x[0]
    return table


def written_traced(x):
    table = np.zeros(4)
    table[1] = x[0]
    if table[1] > 1:
        return x
    return table


def carried(x):
    state, count = 0, 0
    for _ in range(3):
        if state > count:
            return x
        state = x[0]
    return x


def masked(x):
    found = x[x > 0]
    if len(found) == 0:
        return x
    return x + found.sum()


def indexed(x, i):
    row = x[i]
    if len(row) > 2:
        return row
    return -row


def ranged(x, n):
    for k in range(n):
        x = x + k
    return x


def logical(a, b):
    return (a > 0) and (b > 0)


def by_keys(p):
    return p["w"] + p["b"] if "b" in p else p["w"]


def by_method(x, how="mean"):
    found = TABLE[how](x)
    return found if how == "mean" else -found


def inner_function(x):
    def step(value):
        return value if value > 0 else 0 * value

    return step(x[0])


def comprehension(x):
    return sum([v * v for v in x]) + math.sqrt(len(x))


@dataclass
class Account:
    balance: float

    def pay(self, amount):
        if amount > self.balance:
            return False
        self.balance -= amount
        return True

    def name(self, long):
        return "account" if long else "a"


def object_traced(x):
    account = Account(10.0)
    account.pay(x[0])
    return account.balance


def object_known(x):
    account = Account(10.0)
    account.name(True)
    account.pay(3.0)
    return x + account.balance


class Model:
    def __init__(self, depth):
        self.depth, self.total = depth, 0.0

    def run(self, x):
        if self.depth > 1:
            return x * self.depth
        return x

    def add(self, x):
        self.total = self.total + x
        if self.total > 1:
            return x
        return -x


X, M = np.arange(4.0), np.ones((3, 3))

CASES = [
    (by_value, (1.0,), {}, True),
    (by_shape, (M,), {}, False),
    (by_dtype, (X,), {}, False),
    (by_none, (X,), {}, False),
    (by_none, (X, X), {}, False),
    (by_known_number, (X,), {"n": 5}, False),
    (by_known_number, (X, 5), {}, True),
    (by_known_text, (X,), {"how": "mean"}, False),
    (by_known_text, (X,), {"how": "sum"}, True),
    (while_large, (X,), {}, True),
    (through_helper, (X,), {}, True),
    (helper_by_shape, (M,), {}, False),
    (through_tuple, (X,), {}, False),
    (through_tuple_traced, (X,), {}, True),
    (enumerated, (X,), {}, False),
    (enumerated_traced, (X,), {}, True),
    (through_list, (X,), {}, False),
    (through_list_traced, (X,), {}, True),
    (written, (X,), {}, False),
    (written_traced, (X,), {}, True),
    (carried, (X,), {}, True),
    (masked, (X,), {}, True),
    (indexed, (M, 1), {}, False),
    (ranged, (X, 3), {}, True),
    (ranged, (X,), {"n": 3}, False),
    (logical, (1.0, 2.0), {}, True),
    (by_keys, ({"w": X, "b": X},), {}, False),
    (by_method, (X,), {}, False),
    (inner_function, (X,), {}, True),
    (comprehension, (X,), {}, False),
    (object_traced, (X,), {}, True),
    (object_known, (X,), {}, False),
    (Model(3).run, (X,), {}, False),
    (Model(3).add, (1.0,), {}, True),
    (functools.partial(by_known_text, how="mean"), (X,), {}, False),
    (functools.partial(by_known_text, how="sum"), (X,), {}, True),
    (lambda x: x + 1, (X,), {}, False),
    (lambda x: x if x[0] > 0 else -x, (X,), {}, True),
    (numhlo.vmap(by_value), (X,), {}, True),
    (np.sum, (X,), {}, False),
]


@pytest.mark.parametrize(("fun", "args", "statics", "expected"), CASES, ids=lambda f: getattr(f, "__name__", None))
def test_what_the_source_says(fun, args, statics, expected):
    named = {name: known(x) for name, x in statics.items()}
    assert asks_for_traced_values(fun, [of_argument(x) for x in args], named) is expected


@pytest.mark.parametrize(("fun", "args", "statics", "expected"), CASES, ids=lambda f: getattr(f, "__name__", None))
def test_it_is_what_tracing_needs(fun, args, statics, expected):
    def traced(autograph):
        return numhlo.jit(fun, static_argnames=[*statics], autograph=autograph).trace(*args, **statics)

    if expected:
        with pytest.raises(numhlo.errors.ConcretizationError):
            traced(False)
    else:
        traced(False)
    traced(None)


@pytest.mark.parametrize(("fun", "argument"), [(by_value, 2.0), (through_helper, X), (masked, X), (inner_function, X)])
def test_prints_show_once(fun, argument, capsys):
    @numhlo.jit
    def shown(x):
        print("traced")  # noqa: T201 - told apart by what it shows
        return fun(x)

    assert np.array_equal(shown(argument), fun(argument))
    assert capsys.readouterr().out == "traced\n"


def test_a_condition_that_is_known_after_all_changes_no_result():
    seen = []

    @numhlo.jit
    def noted(x):
        low, kind = np.zeros_like(x), "small"
        if low.max() > 1:
            kind = 3
        seen.append(kind)
        return x + low

    assert noted(X).tolist() == X.tolist()
    assert seen == ["small"]


def test_no_code_of_the_users_runs():
    class Loud:
        def __getattr__(self, name):
            raise AssertionError(name)

        @property
        def limit(self):
            raise AssertionError("read")

    loud = Loud()

    def reads(x):
        if loud.limit > loud.other:
            return x
        return -x

    assert not asks_for_traced_values(reads, [of_argument(X)], {})
