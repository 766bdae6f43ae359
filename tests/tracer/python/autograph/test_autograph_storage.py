"""`jit(autograph=True)`: branches and loops that change an array are seen through its other names, views and owners."""

import io
from types import SimpleNamespace

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import MutationError
from numhlo.switches import using


def two_names(x):
    t = x * 2
    u = t
    if x[0] > 0:
        t[0] = 5.0
        u[1] = t[0] + 1
    return t, u


def base_and_view(x):
    t = x * 2
    u = t[1:]
    if x[0] > 0:
        t[1] = 5.0
        u[1] = u[0] + 1
    return t, u


def two_owners(x):
    t = x * 2
    o, p = SimpleNamespace(t=t), SimpleNamespace(t=t)
    if x[0] > 0:
        o.t[0] = 5.0
        y = p.t[0]
    else:
        y = 0.0
    return o.t, p.t, t, y


def two_items(x):
    d = {"a": x, "b": x}
    if x[0] > 0:
        d["a"][0] = 9.0
        d["b"][1] = d["a"][0]
    return d["a"], d["b"]


def rebound_later(x):
    o = SimpleNamespace(t=x)
    if x[0] > 0:
        o.t[0] = 1.0
        x[1] = o.t[0] * 2
        o.t = o.t * 2
    return o.t, x


def by_a_helper(x):
    def bump(k):
        x[k] += 1

    k = 0
    while k < 3 and x[k] > 0:
        bump(k + 1)
        k += 1
    if x[1] > 3:
        bump(0)
    return x


def loop_with_view(x):
    a = x.reshape(2, 2)
    k = 0
    while k < 3 and x[k] > 0:
        a[0, 1] = x[k] * 2
        x[k + 1] = a[0, 1] - 1
        k += 1
    return x, a


def loop_beside_its_row(x):
    a = x.reshape(2, 2)
    row = a[0]
    k = 0
    while k < 1 and row[k] > 0:
        row[k + 1] = a[0, k] * 2
        k += 1
    return a, row


def list_of_old_and_new(x):
    items = [x, x * 2]
    k = 0
    while k < 3 and x[k] > 0:
        items[0][k] += items[1][k]
        k += 1
        items[1] = items[0] * 2
    return items[0], items[1], x


def writes_then_rebinds(x):
    y = x
    if x[0] > 0:
        x[0] = 5.0
        x = x * 2
    return x, y


PROGRAMS = [
    two_names,
    base_and_view,
    two_owners,
    two_items,
    rebound_later,
    by_a_helper,
    loop_with_view,
    loop_beside_its_row,
    list_of_old_and_new,
    writes_then_rebinds,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_writes_are_seen_by_every_name(program):
    run = numhlo.jit(program, autograph=True)
    for given in (np.array([1.0, 2.0, 3.0, -4.0]), np.array([-1.0, 2.0, 3.0, 4.0])):
        expected, found = given.copy(), given.copy()
        results = program(expected)
        for result, wanted in zip(run(found), results, strict=True):
            np.testing.assert_array_equal(result, wanted, strict=True)
        np.testing.assert_array_equal(found, expected)


def test_a_name_that_may_mean_either_array_is_not_read_after_a_write():
    def chooses(x):
        best = np.zeros(2)
        if x[0] > 0:
            best = x
        x[1] = 7.0
        return best.sum()

    with pytest.raises(MutationError) as caught:
        numhlo.jit(chooses, autograph=True)(np.ones(2))
    lines = str(caught.value).splitlines()
    assert lines[0] == "an array float64[2] is read that may be the one just written, or another one"
    assert "return best.sum()" in lines[1]
    assert (
        lines[2]
        == "  an if on a traced condition chose which of them the name means; copy in the branch: best = x.copy()"
    )

    def copies(x):
        best = np.zeros(2)
        if x[0] > 0:
            best = x.copy()
        x[1] = 7.0
        return best.sum()

    assert float(numhlo.jit(copies, autograph=True)(np.ones(2))) == 2.0


def test_branches_in_branches_are_traced_few_times():
    traced = io.StringIO()

    def choose(x, kind, out):
        total = 0.0
        if kind == 0:
            out[0] = x
        elif kind == 1:
            out[1:] += x
            total = x * 2
        elif kind == 2:
            out *= x
        elif kind == 3:
            total += 1
            if x > 1:
                return total, out
        elif kind == 4:
            out[:] = -out
            for i in range(3):
                out[i] += i
                if out[i] > 1:
                    total = total + out[i]
        elif kind == 5:
            while total < x:
                total += 0.75
        elif kind == 6:
            total = x
            out[...] = 0
        elif kind == 7:
            total = 7
        else:
            traced.write("a")
            total = x - 1
        return total * 2, out

    f = numhlo.jit(choose, autograph=True)
    with using(engine="interpreter"):
        for x, kind in [(1.5, k) for k in range(9)] + [(0.5, 3)]:
            mine, theirs = np.arange(3.0), np.arange(3.0)
            for found, wanted in zip(f(x, kind, mine), choose(x, kind, theirs), strict=True):
                np.testing.assert_array_equal(found, wanted)
            np.testing.assert_array_equal(mine, theirs)
    assert len(traced.getvalue()) <= 10 + 9  # once for each branch around it, once for good; nine times by Python
