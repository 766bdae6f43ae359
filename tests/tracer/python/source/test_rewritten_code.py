"""The one rewriter of source: names, positions, closures, defaults and classes are those of the function."""

import functools
import inspect
import traceback

import numpy as np
import pytest

import numhlo
from numhlo.tracer.core.definitions import definition_of
from numhlo.tracer.python.autograph.rewriting import RUN, rewritten
from numhlo.tracer.python.plain_numpy import CODES

X = np.array([1.0, -2.0, 3.0])


class Base:
    def limit(self):
        return 2.0


class Private(Base):
    __scale = 10.0

    def __init__(self):
        self.__calls = 0

    def scaled(self, x):
        if x > self.limit():
            return x * self.__scale
        return self.__grow(x)

    def __grow(self, x):
        return x + self.__scale if x > 0 else Private().__scale

    def limit(self):
        return super().limit() + 1.0


@functools.lru_cache(maxsize=1)
def around():
    step = 0.5

    def outer(x, *, power=2, **options):
        def falls(value, n):
            if value < step or n == 0:
                return value
            return falls(value * step, n - 1)

        class Local:
            def text(self):
                return type(self).__qualname__

        names = falls.__qualname__, Local().text(), Local.text.__qualname__
        return falls(x, 2) ** power, names, options

    return outer


def test_private_names_and_super():
    assert [float(numhlo.jit(Private().scaled)(x)) for x in (1.0, 5.0, -1.0)] == [11.0, 50.0, 10.0]


def test_names_are_the_users():
    outer = around()
    for control_flow in (None, RUN):
        code = CODES.of(outer.__code__, outer.__globals__, control_flow)
        assert code is CODES.of(outer.__code__, outer.__globals__, control_flow)
        assert (code.co_name, code.co_qualname) == ("outer", "around.<locals>.outer")
        assert code.co_firstlineno == outer.__code__.co_firstlineno
        assert code.co_freevars == outer.__code__.co_freevars == ("step",)
        assert CODES.of(code, outer.__globals__, control_flow) is code
    made = rewritten(outer)
    assert made(8.0) == outer(8.0)
    assert made(8.0, power=1, k=3)[2] == {"k": 3}
    assert made.__kwdefaults__ == {"power": 2} and made.__wrapped__ is outer
    assert inspect.signature(made) == inspect.signature(outer)


def test_defaults_are_those_of_the_function_as_it_is():
    def f(x, k=lambda v: v + 1, n=3):
        return k(x) * n if x > 0 else x

    f.__defaults__ = (lambda v: v + 2, 4)
    assert [float(numhlo.jit(lambda x: f(x))(x)) for x in (1.0, -1.0)] == [12.0, -1.0]


def test_errors_show_the_users_lines():
    def f(x):
        if x.sum() > 0:
            y = x + 1
        else:
            y = x[:2]
        return y

    with pytest.raises(numhlo.errors.NumhloError, match=r"if x\.sum") as caught:
        numhlo.jit(f)(X)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert {frame.name for frame in frames if frame.filename == __file__} <= {"f", "test_errors_show_the_users_lines"}


def test_a_decorated_function_begins_where_its_decorators_do():
    def same(fun):
        return fun

    @same
    @same
    def decorated(x):
        return x if x[0] > 0 else -x

    assert definition_of(decorated.__code__, globals()).node.name == "decorated"
    code = CODES.of(decorated.__code__, globals(), RUN)
    assert code.co_firstlineno == decorated.__code__.co_firstlineno
    assert numhlo.jit(decorated)(X).tolist() == X.tolist()


def test_lambdas_of_one_line_are_told_apart():
    pair = [lambda x, k=lambda: 2: x * k(), lambda x, k=lambda: 3: x * k() if x > 0 else x]
    assert [float(numhlo.jit(lambda x, f=f: f(x))(5.0)) for f in pair] == [10.0, 15.0]
