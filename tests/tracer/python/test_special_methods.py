# ruff: noqa: RUF005 - lists are joined by +, which is what is tested
"""What Python calls by itself runs marked: arrays that operators, properties, items and iterators make are traced."""

import copy
import functools
import operator
from dataclasses import dataclass, field

import numpy as np
import pytest

import numhlo
from numhlo.tracer.python import special_methods

X = np.array([5.0, 6.0, 7.0])


def made(x, n=2):
    """Return an array that plain NumPy makes, with a traced value in it."""
    out = np.zeros(n)
    out[0] = np.sum(x)
    return out


def check(f, *arguments):
    expected = f(*copy.deepcopy(arguments))
    jitted = numhlo.jit(f)
    found = jitted(*copy.deepcopy(arguments))
    assert numhlo.tree_util.tree_structure(found) == numhlo.tree_util.tree_structure(expected)
    for a, b in zip(numhlo.tree_util.tree_leaves(found), numhlo.tree_util.tree_leaves(expected), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


class Number:
    """Its operators write into arrays that plain NumPy makes, and say which of them ran."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return NotImplemented if isinstance(other, str) else made(self.value)

    def __radd__(self, other):
        return made(-self.value)

    def __sub__(self, other):
        return NotImplemented

    def __rsub__(self, other):
        return made(10 * self.value)

    def __imul__(self, other):
        return Number(made(self.value * other)[0])

    def __itruediv__(self, other):
        return NotImplemented

    def __truediv__(self, other):
        return Number(made(self.value / other)[0])

    def __lt__(self, other):
        return made(self.value) < 6

    def __eq__(self, other):
        return made(self.value + 1)

    __hash__ = None

    def __neg__(self):
        return made(-self.value, 3)

    def __abs__(self):
        return made(np.abs(self.value))

    def __divmod__(self, other):
        return made(self.value // other), made(self.value % other)


class Heavier(Number):
    def __radd__(self, other):
        return made(100 * self.value)


class Lists(list):
    def __add__(self, other):
        return made(len(self) + len(other))


def test_operators():
    def f(x):
        a, b, heavy = Number(x[0]), Number(x[1]), Heavier(x[2])
        c = Number(x[0])
        c *= x[1]
        c /= 2.0
        holder = {"a": Number(x[2]), "n": x[0], "list": [Number(x[0])]}
        holder["a"] *= 2
        holder["n"] += 1
        holder["list"][0] *= 3
        with pytest.raises(TypeError, match="unsupported operand"):
            a - b  # of one class: the reflected method is not asked
        return (
            [a + b, a + heavy, 1.0 + a, x + a.value, a + 1, (1,) + a, heavy + a, 2.0 - a, a - heavy],
            [c.value, holder["a"].value, holder["n"], holder["list"][0].value],
            [a < b, b > a, a == b, -a, abs(a), divmod(a, 2.0), a is b],
            [operator.add(a, b), functools.reduce(operator.add, [a, b]), Lists([1]) + [2], [1] + Lists([2])],
        )

    check(f, X)


class Descriptor:
    def __set_name__(self, owner, name):
        self.name = f"_{name}"

    def __get__(self, instance, owner=None):
        return made(getattr(instance, self.name))

    def __set__(self, instance, value):
        setattr(instance, self.name, made(value)[0])


class Shadowed:
    def __get__(self, instance, owner=None):
        return made(instance.x)


class Attributes:
    described = Descriptor()
    shadowed = Shadowed()

    def __init__(self, x):
        self.x = self.__private = x

    @property
    def doubled(self):
        return made(2 * self.x)

    @doubled.setter
    def doubled(self, value):
        self.x = made(np.sum(value) / 2)[0]

    @doubled.deleter
    def doubled(self):
        self.x = made(self.x + 7)[0]

    @functools.cached_property
    def cached(self):
        return made(self.__private)

    @property
    def missing(self):
        raise AttributeError("from the property")

    def __getattr__(self, name):
        if name in ("missing", "found"):
            return made(self.x)
        raise AttributeError(name)


class Watched:
    def __getattribute__(self, name):
        return made(object.__getattribute__(self, "x")) if name == "seen" else object.__getattribute__(self, name)

    def __setattr__(self, name, value):
        object.__setattr__(self, name, made(value)[0])

    def __delattr__(self, name):
        object.__setattr__(self, "gone", made(self.x))


def test_attributes():
    def f(x):
        a, w = Attributes(x[0]), Watched()
        first = a.doubled
        a.doubled = x[1]
        a.doubled *= 3
        half = a.x
        del a.doubled
        a.described = x[2]
        a.described += 1
        before, a.shadowed = a.shadowed, 4.0
        w.x = x[1]
        del w.x
        with pytest.raises(AttributeError, match="nowhere"):
            a.nowhere
        return (
            first,
            half,
            a.x,
            a.described,
            before,
            a.shadowed,
            a.cached is a.cached,
            a.cached,
            a.missing,
            a.found,
            w.seen,
            w.gone,
        )

    check(f, X)


class Table:
    def __init__(self, x):
        self.x = x
        self.items = {}

    def __getitem__(self, k):
        if k == 3:
            raise IndexError
        return made(self.x[k]) if k not in self.items else self.items[k]

    def __setitem__(self, k, value):
        self.items[k] = made(value)

    def __delitem__(self, k):
        self.x = made(self.items.pop(k)[0], 3)


class Steps:
    def __init__(self, x):
        self.x, self.k = x, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.k == 3:
            raise StopIteration
        self.k += 1
        return made(self.x[self.k - 1])


class Generating(Table):
    def __iter__(self):
        for value in self.x:
            yield made(value)

    def __reversed__(self):
        return iter([made(v) for v in self.x[::-1]])


def test_items_and_iteration():
    def f(x):
        t, total, steps = Table(x), np.zeros(2), Steps(x)
        t[1] = x[2]
        t[1] += 1.0
        k = 2
        items = [t[0], t[1], t[k]]
        del t[1]
        for item in Table(x):
            total += item
        for item in Steps(x):
            total += item
        a, *rest = Generating(x)
        first = next(steps)
        for second in steps:
            if second.size:
                break
        return (
            (items, t.x, total, a, rest, first, second, list(steps)),
            (
                [*Steps(x)],
                sum(Steps(x)),
                list(zip(Steps(x), Table(x), strict=True)),
                [n for n, _ in enumerate(Table(x))],
            ),
            ([v[0] for v in Generating(x)], list(map(np.sum, Steps(x))), max(v[0] for v in Steps(x))),
            (list(reversed(Generating(x))), next(iter(Generating(x))), np.hypot(*made(x[0]))),
        )

    check(f, X)


class Scope:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        self.log = made(self.x)
        return self

    def __exit__(self, kind, error, trace):
        self.log[1] = self.x
        return kind is ValueError


@dataclass
class Body:
    x: np.ndarray
    log: list = field(default_factory=lambda: [np.zeros(2)])

    def __post_init__(self):
        self.log[0][0] = self.x
        self.start = made(self.x)


class Made:
    def __new__(cls, x):
        self = super().__new__(cls)
        self.start = made(x)
        return self


def test_managers_and_constructors():
    def f(x):
        with Scope(x[0]) as scope, Scope(x[1]) as other:
            other.log += 1
            raise ValueError("stopped")
        body = Body(x[0])
        return (
            "__post_init__" in vars(body),
            len(vars(body)),
            scope.log,
            other.log,
            body.start,
            body.log,
            Made(x[2]).start,
        )

    check(f, X)


def test_classes_stay_as_they_are():
    before = dict(vars(Attributes)), Attributes.__dict__["doubled"].fget.__code__
    numhlo.jit(lambda x: Attributes(x[0]).doubled)(X)
    assert (dict(vars(Attributes)), Attributes.__dict__["doubled"].fget.__code__) == before
    assert special_methods.owner(Number(1)).__class__ is Number  # outside tracing nothing is exchanged


class Stamping(type):
    """A metaclass whose calls make arrays, before and after those of the class's own methods."""

    def __call__(cls, x):
        before = made(x)
        found = super().__call__(x)
        found.before, found.after = before, made(found.kept)
        return found


class ByItself(type):
    """A metaclass that makes objects without asking `type`."""

    def __call__(cls, x):
        found = cls.__new__(cls)
        found.__init__(x)
        return found


class Stamped(metaclass=Stamping):
    def __init__(self, x):
        self.kept = made(2 * x)


class Bare(metaclass=ByItself):
    def __init__(self, x):
        self.kept = made(3 * x)


def test_metaclasses():
    def f(x):
        stamped = Stamped(x)
        return stamped.before, stamped.kept, stamped.after, Bare(x).kept

    check(f, X)


def test_objects_that_give_arrays():
    class Doubled:
        def __init__(self, x):
            self.x = x

        def __array__(self, dtype=None, copy=None):
            made = np.zeros(len(self.x))
            made[:] = self.x * 2
            return made

    def f(x):
        d = Doubled(x)
        return np.asarray(d) + x, np.array(d), np.sin(d), np.sum(d), np.add(x, d), x + d, d - x if 0 else x - d

    check(f, X)
