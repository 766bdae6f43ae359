"""Methods of the user's classes that are replaced after a call are noticed, special ones and those of listed objects."""

import contextlib
import operator

import numpy as np
import pytest

import numhlo

X = np.arange(4.0)


def make_class():
    """Return a class whose every method gives twice the other operand."""

    class Model:
        """An object that functions find outside themselves."""

        def __call__(self, x):
            return x * 2

        def method(self, x):
            return x * 2

        def __enter__(self):
            return self.method

        def __exit__(self, *_):
            return None

        def __contains__(self, x):
            return False

        __add__ = __radd__ = __matmul__ = __getitem__ = __call__

    return Model


def other(self, x):
    """Give seven times the operand."""
    return x * 7


def uses(model):
    """Return functions that call an object's methods, by the name of the method."""
    held = [model]

    def entered(x):
        with model as found:
            return found(x)

    return {
        "method": lambda x: held[0].method(x),
        "__call__": lambda x: model(x),
        "__add__": lambda x: operator.add(model, x),
        "__radd__": lambda x: x + model,
        "__matmul__": lambda x: model @ x,
        "__getitem__": lambda x: model[x],
        "__enter__": entered,
        "listed": lambda x: sum(layer.method(x) for layer in held),
    }


@pytest.mark.parametrize("name", uses(None))
def test_replaced_methods_are_noticed(name):
    Model = make_class()
    use = uses(Model())[name]
    if name == "__radd__":
        Model.__array_ufunc__ = None  # so that NumPy's arrays leave the sum to the object
    compiled = numhlo.jit(use)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(X), use(X))
    replaced = "method" if name == "listed" else name
    setattr(Model, replaced, other if name != "__enter__" else lambda self: lambda x: x * 7)
    for x in (X, X + 1):
        np.testing.assert_array_equal(compiled(x), x * 7)
    delattr(Model, replaced)
    with contextlib.suppress(AttributeError, TypeError):
        compiled(X)
        raise AssertionError("the method is gone")


def test_inherited_methods_are_noticed():
    Model = make_class()

    class Child(Model):
        pass

    model = Child()
    compiled = numhlo.jit(lambda x: model(x))
    np.testing.assert_array_equal(compiled(X), X * 2)
    Model.__call__ = other
    np.testing.assert_array_equal(compiled(X), X * 7)


def test_methods_that_stay_trace_once():
    model = make_class()()
    compiled = numhlo.jit(lambda x: model(x))
    for k in range(5):
        np.testing.assert_array_equal(compiled(X + k), (X + k) * 2)
    assert compiled.cache_info().misses == 1
    type(model).unrelated = 3
    compiled(X)
    assert compiled.cache_info().misses == 1
