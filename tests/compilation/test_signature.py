"""Static arguments as cache keys: how deep they may be nested."""

import dataclasses
import time

import numpy as np
import pytest

import numhlo
from numhlo.compilation.signature import MOST_LEVELS, static_key
from numhlo.lowering.ir.errors import EndlessRecursionError, StaticArgumentError


def nested(levels, inner=1):
    for _ in range(levels):
        inner = (inner,)
    return inner


@dataclasses.dataclass(frozen=True)
class Link:
    rest: object


def test_how_deep_static_arguments_may_be_nested():
    f = numhlo.jit(lambda x, static: x, static_argnums=1)
    assert f(np.ones(3), nested(MOST_LEVELS)).tolist() == [1, 1, 1]
    start = time.process_time()
    for levels in (MOST_LEVELS + 1, 10_000, 100_000):
        with pytest.raises(EndlessRecursionError) as caught:
            f(np.ones(3), nested(levels))
    assert time.process_time() - start < 5
    assert str(caught.value) == (
        "static argument 1 is nested too deeply\n"
        f"  at {caught.value.where.describe()}\n"
        "  a static value is part of a cache key; tuples in it may be nested 200 deep; "
        "make it flat: one tuple of all that it consists of"
    )


def test_an_object_whose_hash_is_too_deep():
    link = Link(None)
    for _ in range(5000):
        link = Link(link)
    with pytest.raises(EndlessRecursionError, match="static argument 's' is nested too deeply"):
        static_key(link, "s")


def test_what_cannot_be_hashed_is_named_inside_tuples_too():
    with pytest.raises(StaticArgumentError, match="static argument 1 is of class list"):
        static_key((1, ([2],)), 1)
    assert static_key((1, (2.0, slice(1, 2))), 1) == static_key((1, (2.0, slice(1, 2))), 1)
    assert static_key((1,), 1) != static_key((True,), 1)
