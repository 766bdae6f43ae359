"""Tracebacks: the user's lines alone where it is about them, everything where it may be our fault."""

import traceback

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import InternalError, ShapeError
from numhlo.tracer.core.short_tracebacks import short_tracebacks


def lines(call, *classes):
    """Return the functions that a traceback shows, ours as dots."""
    with pytest.raises(classes) as caught:
        call()
    frames = traceback.extract_tb(caught.value.__traceback__)
    return [frame.name if frame.filename == __file__ else "." for frame in frames][2:]  # without the two here


@numhlo.jit
def product(x):
    y = np.sin(x)
    return y @ y


@numhlo.jit
def outer(x):
    return product(x)


@numhlo.jit
def complaining(x):
    raise KeyError(x.shape)


def test_what_users_see():
    x = np.ones((2, 3))
    assert lines(lambda: product(x), ShapeError) == ["product"]
    assert lines(lambda: outer(x), ShapeError) == ["outer", "product"]
    assert lines(lambda: product.lower(x), ShapeError) == [".", "product"]
    assert lines(lambda: numhlo.vmap(product)(np.ones((2, 2, 3))), ShapeError) == ["product"]
    assert lines(lambda: numhlo.grad(product)(x), ShapeError) == ["product"]
    assert lines(lambda: numhlo.random.normal(numhlo.random.key(0), (-1,)), ShapeError) == []
    assert lines(lambda: complaining(x), KeyError) == ["complaining"]
    assert lines(lambda: numhlo.jit(lambda x: np.sum(x, axis=4))(x), np.exceptions.AxisError) == ["<lambda>"]
    assert lines(lambda: numhlo.jit(lambda x: np.split(x, 5, 1))(x), ValueError) == ["<lambda>"]


def fail(*_):
    raise InternalError("broken")


@pytest.mark.parametrize("broken", [fail, len])
def test_what_may_be_our_fault_is_whole(broken, monkeypatch):
    monkeypatch.setattr("numhlo.compilation.jitted_function.trace_pytree_function", broken)
    assert len(lines(lambda: numhlo.jit(lambda x: x)(1.0), InternalError, TypeError)) > 8


def test_everything_is_shown_on_request(monkeypatch):
    monkeypatch.setattr(short_tracebacks, "wanted", False)
    assert len(lines(lambda: product(np.ones((2, 3))), ShapeError)) > 10
