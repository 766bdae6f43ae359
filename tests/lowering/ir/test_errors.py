"""Errors go from process to process: their class, their parts and the line stay."""

import copy
import pickle

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import NumhloError


@pytest.mark.parametrize("name", numhlo.errors.__all__)
def test_every_class_can_be_pickled(name):
    error = getattr(numhlo.errors, name)("what happened", why="since", fix="write it")
    error.add_note("seen before")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error) and again.__notes__ == ["seen before"]
        assert (str(again), again.what, again.why, again.fix) == (str(error), error.what, error.why, error.fix)


def multiply(x):
    return x @ np.ones(5)


def draw(x):
    return x + np.random.rand()  # noqa: NPY002 - what is refused


@pytest.mark.parametrize("function", [multiply, draw])
def test_the_line_stays(function):
    with pytest.raises(NumhloError) as caught:
        numhlo.jit(function)(np.ones(3))
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.where.place == caught.value.where.place and again.where.source == caught.value.where.source
    assert str(again) == str(caught.value).replace(f" in {function.__name__}:", ":")
