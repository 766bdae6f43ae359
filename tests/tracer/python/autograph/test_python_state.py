"""Loops whose rounds change Python's objects, draw numbers or use iterators up: none is traced for all rounds at once."""

import array
import collections
import functools
import io
import itertools
import random
import types

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import ConcretizationError, UnsupportedError
from numhlo.switches import using
from numhlo.tracer.python.autograph import staging
from numhlo.tracer.python.autograph.object_contents import contents_of
from numhlo.tracer.python.autograph.python_state import PythonState

X = np.linspace(0.1, 2.0, 110)
total = 0
space = types.SimpleNamespace(n=0)


def bump():
    global total  # noqa: PLW0603 - what is tested
    total += 1
    return total


class Counting:
    n = 0

    def __init__(self):
        self.rng = np.random.default_rng(3)

    @classmethod
    def count(cls):
        cls.n += 1
        return cls.n

    def draw(self):
        return self.rng.random()


class Slotted:
    __slots__ = ("n",)

    def step(self):
        self.n = getattr(self, "n", 0) + 1
        return self.n


def sending():
    value = 0.0
    while True:
        value += yield value


def of_global():
    global total  # noqa: PLW0603
    total = 0
    return bump


def of_class():
    Counting.n = 0
    return Counting.count


def of_space():
    space.n = 0
    return lambda: (setattr(space, "n", space.n + 1), space.n)[1]


def of_function():
    def step():
        step.n += 1
        return step.n

    step.n = 0
    return step


def of_items(made, name):
    def step():
        made[name] = made[name] + 1
        return float(made[name])

    return step


def of_shuffled():
    rng, order = np.random.RandomState(2), np.random.default_rng(2).permutation(9)
    return lambda: (rng.shuffle(order), float(order[0]))[1]


def of_generator():
    averages = sending()
    next(averages)
    return lambda: averages.send(1.0)


def of_file():
    file = io.StringIO()
    return lambda: (file.write("a"), file.tell())[1]


def of_bits():
    bits = np.random.PCG64(4)
    return lambda: np.random.Generator(bits).random()


def of_seeds():
    seeds = np.random.SeedSequence(5)
    return lambda: np.random.default_rng(seeds.spawn(1)[0]).random()


STEPS = {
    "global": of_global,
    "class": of_class,
    "namespace": of_space,
    "function": of_function,
    "slots": lambda: Slotted().step,
    "default": lambda: lambda *, memo=[]: (memo.append(1), len(memo))[1],
    "partial": lambda: functools.partial(lambda memo: (memo.append(1), len(memo))[1], []),
    "counter": lambda: of_items(collections.Counter(), "a"),
    "ordered": lambda: of_items(collections.OrderedDict(b=1, a=2), "a"),
    "bytes": lambda: of_items(bytearray(2), 0),
    "array": lambda: of_items(array.array("i", [3, 4]), 1),
    "numbers": lambda: of_items(np.random.default_rng(1).random(3), 2),
    "generator object": of_generator,
    "iterator": lambda: functools.partial(next, itertools.cycle([1.0, -2.0, 0.5])),
    "file": of_file,
    "numpy generator": lambda: np.random.default_rng(3).random,
    "held generator": lambda: Counting().draw,
    "old generator": of_shuffled,
    "bits": of_bits,
    "seeds": of_seeds,
    "python generator": lambda: random.Random(3).random,
}


QUICK = {"global", "counter", "numbers", "iterator", "numpy generator"}


@pytest.mark.parametrize("how", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in STEPS]
)
def test_every_round_has_its_own(name, how):
    def f(x):
        step = STEPS[name]()
        c = np.zeros(len(x))
        for i in range(len(x)):
            c[i] = step() * np.sin(x[i])
        return c

    with using(engine="interpreter"):
        np.testing.assert_allclose(numhlo.jit(f, autograph=how)(X), f(X), rtol=1e-12)


def test_what_is_put_back():
    held = [
        [1], {2}, {"a": 3}, collections.Counter("aab"), collections.OrderedDict(z=1, a=2), collections.deque([1], 3),
        bytearray(b"ab"), array.array("d", [1.5]), np.arange(3.0), random.Random(1), np.random.default_rng(2),
        np.random.RandomState(3), np.random.PCG64(4), types.SimpleNamespace(n=1), Slotted(), Counting, Counting(), bump,
    ]  # fmt: skip
    before = [[content.read() for content in contents_of(x)] for x in held]
    state = PythonState([tuple(held)])
    assert state.whole and not state.draws and not state.has_changed()
    for x in (held[0], held[5]):
        x.append(9)
    held[1].add(7)
    for x in held[2:5]:
        x["new"] = 4
    held[6][0], held[7][0], held[8][1] = 0, 2.5, -1.0
    held[9].random(), held[10].normal(), held[11].rand(), held[12].random_raw(), bump()
    held[13].n, held[14].n, Counting.n, held[16].more = 2, 3, 4, 5
    assert state.has_changed()
    state.put_back()
    assert not state.has_changed()
    assert not hasattr(held[14], "n") and held[3] == collections.Counter("aab") and [*held[4]] == ["z", "a"]
    after = [[content.read() for content in contents_of(x)] for x in held]
    assert repr(before) == repr(after)


def of_list():
    log = [0]
    return lambda: (log.append(1), float(len(log)))[1]


def branching(step):
    def f(x):
        return x * (step() if x > 0 else 1.0)

    return f


def looping(step):
    def f(x):
        while x < 3:
            x = x + step()
        return x

    return f


def choosing(step):
    def f(x):
        return x > 9 or step() > 0.5

    return f


def deciding(step):
    def f(x):
        return x > 0 and step() > 0.5

    return f


@pytest.mark.parametrize(
    ("make", "what"),
    [(branching, "conditional expression"), (looping, "while"), (choosing, "or"), (deciding, "and")],
)
def test_what_traced_conditions_decide_changes_nothing(make, what):
    name = "an" if what in ("or", "and") else "a"
    with pytest.raises(
        UnsupportedError, match=rf"{name} {what} on a traced condition draws from a random generator\n  at"
    ):
        numhlo.jit(make(random.Random(3).random), autograph=True).trace(1.0)
    with pytest.raises(
        UnsupportedError, match=rf"{name} {what} on a traced condition changes a list in a function that"
    ):
        numhlo.jit(make(of_list()), autograph=True).trace(1.0)


def doubled(x):
    for v in x:
        yield 2 * v


ITERATORS = {
    "list": lambda x: iter([1.0, 2.0, 3.0, 4.0]),
    "array": iter,
    "generator": doubled,
    "map": lambda x: map(sum, zip(x, [1.0, 2.0, 3.0, 4.0], strict=True)),
    "enumerate": lambda x: (v for _, v in enumerate(x)),
    "count": lambda x: itertools.count(),
    "cycle": lambda x: itertools.cycle([1.0, 2.0]),
}


@pytest.mark.parametrize("name", ITERATORS)
@pytest.mark.parametrize("way", ["if", "while", "helper", "comprehension"])
def test_iterators_are_not_drawn_from_where_traced_conditions_decide(name, way):
    def f(x):
        items, total = ITERATORS[name](x), x[0]
        if way == "if" and x[0] > 1:
            total = total + next(items)
        if way == "helper":
            total = total if x[0] > 1 else total + take(items)
        if way == "comprehension" and x[0] > 1:
            total += sum([v for _, v in zip(range(2), items, strict=False)])
        while way == "while" and total < 10:
            total = total + next(items)
        return total + next(items)

    def take(items):
        return next(items)

    with pytest.raises(UnsupportedError, match=r"on a traced condition draws from an iterator\n  at"):
        numhlo.jit(f, autograph=True).trace(np.arange(4.0))


def test_loops_over_iterators_are_not_left_where_these_are_used_again():
    def both(x):
        items, total = iter([1.0, 2.0, 3.0, 4.0]), 0.0
        for _, v in enumerate(items):
            if x[0] < v:
                break
            total += v
        return total + sum(items)

    def alone(x):
        items, total = doubled(x), 0.0
        for v in items:
            if x[1] < v:
                break
            total += v
        return total

    with pytest.raises(UnsupportedError, match="a break on a traced condition out of a loop that draws from an iter"):
        numhlo.jit(both, autograph=True).trace(np.arange(4.0))
    x = np.array([1.0, 3.0, 2.0, 5.0])
    assert numhlo.jit(alone, autograph=True)(x) == alone(x) == 2.0


def test_branches_change_no_other_objects():
    def f(x):
        counting = Counting()
        if x > 0:
            counting.seen = x
            bump()
        return x

    with pytest.raises(UnsupportedError, match=r"an if on a traced condition changes a function in a function"):
        numhlo.jit(f, autograph=True).trace(1.0)


class Account:
    def __init__(self):
        self.balance = 100.0

    def withdraw(self, x):
        if self.balance >= x:
            self.balance -= x


def test_objects_that_a_while_asks_and_changes():
    def f(x):
        account = Account()
        while account.balance > x:
            account.withdraw(x)
        return account.balance

    with pytest.raises(
        UnsupportedError, match=r"a while on a traced condition changes an Account object in a function"
    ):
        numhlo.jit(f, autograph=True).trace(30.0)


def test_methods_of_generators_are_seen():
    draw = np.random.default_rng(3).random
    with pytest.raises(ConcretizationError, match="draws random numbers from Generator"):
        numhlo.jit(lambda x: x + draw()).trace(1.0)


def test_loops_without_an_end_are_refused(monkeypatch):
    def counts(x):
        total = 0.0
        for k in itertools.count():
            if total > x[0]:
                break
            total += k
        return total

    def doubles(x):
        def powers():
            v = 1.0
            while True:
                yield v
                v *= 2

        for v in powers():
            if v > x[0]:
                return v
        return 0.0

    monkeypatch.setattr(staging, "MOST_ITERATIONS", 10)
    for f in (counts, doubles):
        with pytest.raises(UnsupportedError, match="a loop over an iterator that has no end, or a late one, left on"):
            numhlo.jit(f, autograph=True).trace(np.arange(4.0))
