"""What programs choose by: the class of a value, its attributes, `functools.singledispatch`, `match`; as in NumPy."""

import collections.abc
import functools
import numbers
import typing

import numpy as np
import pytest

import numhlo
from numhlo.errors import UnsupportedError

X = np.array([1.5, -0.5, 2.0])


@functools.singledispatch
def kind(value):
    return 0.0


@kind.register
def _(value: np.ndarray):
    return np.ones(2) * value[0]


kind.register(float, lambda value: value * 10)


class Shapes:
    @functools.singledispatchmethod
    def name(self, value):
        return 0

    @name.register
    def _(self, value: np.ndarray):
        return value.ndim

    @name.register
    def _(self, value: int):
        return -value

    @property
    def doubled(self):
        made = np.zeros(2)
        made[0] = self.value
        return made


def classes(x, n, y):
    return [
        [type(v) is c for v in (x, x[0], x.sum(), n, y, n > 1, x > 1) for c in (np.ndarray, np.float64, float, int)],
        [x.__class__ is np.ndarray, n.__class__ is int, type(x).__name__ == "ndarray", type(n)(2.5), type(x[0])(n)],
        {np.ndarray: 1, int: 2}[type(n)],
        issubclass(type(x), np.ndarray),
    ]


def attributes(x, n, y):
    scalar = x[1]
    names = ("shape", "dtype", "__len__", "__iter__", "size", "real", "append", "bit_length")
    return [
        [hasattr(v, name) for v in (x, scalar, n, y, [1]) for name in names],
        [getattr(n, "ndim", 7), getattr(scalar, "ndim", 7), getattr(y, "nothing", None), getattr(x, "T", 0)],
        np.zeros(2, dtype=getattr(n, "dtype", np.float32)),
    ]


def protocols(x, n, y):
    kinds = (
        collections.abc.Iterable, collections.abc.Sized, collections.abc.Sequence, collections.abc.Container,
        numbers.Number, numbers.Real, typing.SupportsFloat, np.number, object,
    )  # fmt: skip
    return [isinstance(v, c) for v in (x, x[0], n, y) for c in kinds]


def dispatched(x, n, y):
    shapes = Shapes()
    setattr(shapes, "value", y)  # noqa: B010 - what is tested
    return [kind(x), kind(x[1]), kind(n), kind(y), shapes.name(x), shapes.name(n), getattr(shapes, "doubled")]  # noqa: B009


def user_class(x, n, y):
    match Shapes():
        case Shapes():
            return x * n


@pytest.mark.parametrize("autograph", [False, True])
@pytest.mark.parametrize("fun", [classes, attributes, protocols, dispatched, user_class])
def test_values_are_taken_for_what_numpy_has(fun, autograph):
    arguments = X, 3, 2.5
    with numhlo.debugging(engine="interpreter"):
        found = numhlo.jit(fun, autograph=autograph)(*arguments)
    expected = fun(*arguments)
    assert numhlo.tree_util.tree_structure(found) == numhlo.tree_util.tree_structure(expected)
    for a, b in zip(numhlo.tree_util.tree_leaves(found), numhlo.tree_util.tree_leaves(expected), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
        assert np.asarray(a).dtype == np.asarray(b).dtype


def by_class(x):
    match x:
        case float() | np.ndarray() as y:
            return y + 1
    return 0


def by_classes(x, n):
    match (n, x):
        case (int(), str()):
            return 1
        case (0, np.ndarray()):
            return 2
    return 0


@pytest.mark.parametrize(("fun", "arguments"), [(by_class, (X,)), (by_class, (2.0,)), (by_classes, (X, 1))])
@pytest.mark.parametrize("autograph", [False, True])
def test_class_patterns_are_refused_where_they_would_miss(fun, arguments, autograph):
    with pytest.raises(UnsupportedError, match=r"match of a traced array .* by its class\n  at .*match "):
        numhlo.jit(fun, autograph=autograph)(*arguments)
