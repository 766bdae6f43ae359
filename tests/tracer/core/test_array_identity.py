"""Which name means which memory: loops and branches leave in every array, name and view what NumPy leaves."""

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import ControlFlowTypeError, MutationError
from numhlo.switches import using

RNG = np.random.default_rng(0)
ITERATIONS = (0, 1, 2, 3, 4, 5, 60, 61, 300, 301)


def same(x):
    return x


def part_of(x):
    return x[::-1][1:]


def view_of_argument(iterations, a, b):
    part = b[1:]
    for i in range(iterations):
        a[i % 3] = 0.5 * np.sort(a)[0] + 0.1
        part = a[1:]
    part[0] = 5.0
    return part


def view_of_own_array(iterations, a, b):
    c, part = a.copy(), b
    for i in range(iterations):
        c[i % 3] = 0.5 * np.sort(c)[0] + 0.1
        part = c[::-1]
    c[2] = 6.0
    return part


def other_array(iterations, a, b):
    flux = a
    for _ in range(iterations):
        b[1:] = 0.5 * b[:-1] + 0.1
        flux = b
    flux[0] = 5.0


def from_helpers(iterations, a, b):
    x, y = b, a[1:]
    for i in range(iterations):
        x = same(a)
        y = part_of(b)
        x[i % 4] = 0.5 * y[0] + np.sort(a)[0] * 0.1
        y[1] = 0.25 * x[i % 2]
    y[0] = 3.0
    x[1] = 4.0
    return x, y


def chain_of_names(iterations, a, b):
    x = y = z = a
    for i in range(iterations):
        z = y
        y = x
        x = b
        b[i % 4] = 0.5 * np.sort(a)[1] + 0.2
    z[1] = 7.0
    y[2] = 8.0


def arrays_that_share(iterations, a, b):
    c = a.copy()
    part = c[1:]
    for i in range(iterations):
        c[0] = 0.5 * part[1]
        part[0] = 0.5 * b[i % 4]
        c = 0.5 * np.sort(c) + 0.1
        part = c[1:]
    part[0] = 6.0
    c[2] = 7.0
    return c, part


def written_then_bound(iterations, a, b):
    x = a
    for i in range(iterations):
        x[i % 3] = 0.5 * np.sort(b)[1]
        x = x * 0.5 + 0.1
    x[3] = 2.0
    return x


def read_and_exchanged(iterations, a, b):
    total = 0.0
    for _ in range(iterations):
        total = np.sort(a)[1] + 0.5 * total
        a, b = b, a
    a[0] = 7.0
    return total


def ping_pong(iterations, a, b):
    for _ in range(iterations):
        b[1:-1] = 0.5 * (a[2:] + a[:-2]) + 0.1
        a, b = b, a
    a[0] = 0.5
    return a, b


def three_in_a_ring(iterations, a, b):
    c = np.zeros(4)
    for i in range(iterations):
        c[i % 4] = 0.5 * np.sort(a)[1] + 0.25 * b[0]
        a, b, c = b, c, a
    b[1] = 3.0
    return c


def beside_a_view(iterations, a, b):
    view = a[1:]
    for _ in range(iterations):
        a, b = b, a
        view[0] = 0.5 * b[2] + 0.1
        view[1] = 0.5 * a[0] + 0.1 * view[0]
    return a, b, view


def beside_another_name(iterations, a, b):
    first = a
    for _ in range(iterations):
        a, b = b, a
        first[0] = 0.5 * b[2] + 0.1
        first[1] = 0.5 * a[0] + 0.2
    return a, b, first


def nested(iterations, a, b):
    x = b
    for i in range(iterations):
        for j in range(3):
            a[j] = 0.5 * b[(i + j) % 4] + 0.1
            x = a
            a, b = b, a
    x[0] = 2.0
    return a, x


def by_while(iterations, a, b):
    i, x = 0, b
    while i < iterations:
        a[i % 4] = 0.5 * np.sort(b)[1] + 0.1
        x = a[:2]
        a, b = b, a
        i += 1
    x[1] = 2.0
    return x, b


def by_the_iteration(iterations, a, b):
    x = a
    for i in range(iterations):
        b[i % 4] = 0.5 * np.sort(x)[1] + 0.1
        if i == 40:
            x = b
    x[0] = 2.0


def in_a_list(iterations, a, b):
    pair = [a, b]
    for i in range(iterations):
        pair[0][i % 4] = 0.5 * pair[1][0] + 0.1 * np.sort(a)[0]
        pair = pair[::-1]
    pair[0][3] = 4.0
    return pair[1]


DECIDED = [
    view_of_argument, view_of_own_array, other_array, from_helpers, chain_of_names, arrays_that_share,
    written_then_bound, read_and_exchanged, ping_pong, three_in_a_ring, beside_a_view, beside_another_name, nested,
    by_while, by_the_iteration, in_a_list,
]  # fmt: skip
"""Programs whose names mean known arrays, as the number of iterations is known."""


def agree(function, iterations, *arrays, **options):
    """Call a function by NumPy and jitted, and compare results and arguments."""
    wanted, found = [x.copy() for x in arrays], [x.copy() for x in arrays]
    right = function(iterations, *wanted)
    jitted = numhlo.jit(function, **options)
    with using(engine="interpreter"):
        got = jitted(iterations, *found)
    for one, other in zip(
        numhlo.tree_util.tree_leaves((right, wanted)), numhlo.tree_util.tree_leaves((got, found)), strict=True
    ):
        np.testing.assert_allclose(other, one, rtol=1e-12)
    return jitted


@pytest.mark.parametrize("autograph", [False, True])
@pytest.mark.parametrize("function", DECIDED, ids=lambda f: f.__name__)
def test_known_iterations_leave_what_numpy_leaves(function, autograph):
    rng = np.random.default_rng(1)
    for iterations in ITERATIONS:
        agree(function, iterations, *rng.random((2, 4)), static_argnums=0, autograph=autograph)


@pytest.mark.parametrize("function", [f for f in DECIDED if f is not by_the_iteration], ids=lambda f: f.__name__)
def test_they_stay_loops(function):
    """The decision is one of the analysis: nothing is unrolled for it."""
    text = numhlo.jit(function, static_argnums=0, autograph=True).lower(301, *RNG.random((2, 4))).as_text()
    assert "stablehlo.while" in text
    assert str(text).count(" = ") < 400


@pytest.mark.parametrize("function", DECIDED, ids=lambda f: f.__name__)
def test_traced_iterations_leave_what_numpy_leaves_or_are_refused(function):
    rng = np.random.default_rng(1)
    for iterations in (0, 1, 2, 3, 8):
        try:
            agree(function, iterations, *rng.random((2, 4)), autograph=True)
        except (MutationError, ControlFlowTypeError) as error:
            assert "may be" in str(error) or "changes 'x' from float64[4]" in str(error)
            assert "test_array_identity.py" in str(error)


def read_only_exchange(iterations, a, b):
    total = 0.0
    for _ in range(iterations):
        total = 0.5 * total + a[0]
        a, b = b, a
    return total, a, b


def best_so_far(iterations, a, b):
    best, least = a, 10.0
    for i in range(iterations):
        trial = 0.5 * b + 0.1 * i
        if trial.sum() < least:
            best, least = trial, trial.sum()
        b = trial
    return best, least


def row_by_row(iterations, a, b):
    rows, total, row = a.reshape(2, 2), 0.0, a[:2]
    for i in range(iterations):
        row = rows[i % 2]
        row *= 0.5
        total += row[0] + b[i % 4]
    return rows, total, row


def updated_in_a_branch(iterations, a, b):
    part = a[1:]
    for i in range(iterations):
        if b[i % 4] > 0.5:
            part[0] += 0.5 * a[0]
            b[i % 4] *= 0.5
        part = part  # noqa: PLW0127 - bound again, to the same memory
    return part


def view_again(iterations, a, b):
    part = a[1:]
    for i in range(iterations):
        part = a[1:]
        part[i % 3] = 0.5 * b[0] + 0.1 * a[0]
    part[1] = 4.0
    return part


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    "function", [read_only_exchange, best_so_far, row_by_row, updated_in_a_branch, view_again], ids=lambda f: f.__name__
)
def test_what_is_only_read_or_stays_the_same_is_never_refused(function, traced):
    rng = np.random.default_rng(2)
    for iterations in ITERATIONS:
        agree(function, iterations, *rng.random((2, 4)), autograph=True, static_argnums=() if traced else 0)


def until_still(most, a, b):
    change, k = 1.0, 0
    while change > 1e-3 and k < most:
        b[1:-1] = 0.5 * (a[2:] + a[:-2])
        change = np.abs(b - a).max()
        a, b = b, a
        k += 1
    return a, change


def until_still_in_own_arrays(most, a, b):
    old, new, change, k = a.copy(), b.copy(), 1.0, 0
    while change > 1e-3 and k < most:
        old, new = new, old
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        change = np.abs(new - old).max()
        k += 1
    return new, old[0]


def in_a_ring_until_still(most, a, b):
    c, change, k = np.zeros_like(a), 1.0, 0
    while change > 1e-3 and k < most:
        c[1:-1] = 0.25 * (b[2:] + b[:-2]) + 0.5 * a[1:-1]
        change = np.abs(c - b).max()
        a, b, c = b, c, a
        k += 1
    return c + b


def for_a_traced_number(most, a, b):
    for i in range(most):
        b[1:-1] = 0.5 * (a[2:] + a[:-2]) + 0.01 * i
        a, b = b, a
    return a - b


@pytest.mark.parametrize(
    "function",
    [until_still, until_still_in_own_arrays, in_a_ring_until_still, for_a_traced_number],
    ids=lambda f: f.__name__,
)
def test_buffers_exchanged_a_traced_number_of_times_hold_what_was_written_into_each(function):
    for most in (0, 1, 2, 3, 4, 7, 60):
        agree(function, most, *RNG.random((2, 6)), autograph=True)
    text = numhlo.jit(function, autograph=True).lower(3, *RNG.random((2, 6))).as_text()
    body = str(text).partition(" do {")[2].partition("stablehlo.return")[0]
    assert "tensor<6xi1>" not in body  # what each array holds in the end is chosen once, after the loop


def test_a_view_of_exchanged_buffers_is_not_read_before_a_write_of_the_iteration_before():
    def function(most, a, b):
        view = b[1:]
        for _ in range(most):
            a, b = b, a
            b[1:] = 0.5 * view + 0.1

    with pytest.raises(MutationError, match="is read that may be the one just written, or another one"):
        numhlo.jit(function, autograph=True)(3, *RNG.random((2, 6)))


def test_a_view_of_exchanged_buffers_is_not_read_after_a_write():
    def function(most, a, b):
        view = a[1:]
        while most > 0:
            b[1:-1] = 0.5 * (a[2:] + a[:-2])
            most = most - 1 - 0 * view[0]
            a, b = b, a

    with pytest.raises(MutationError, match="is read that may be the one just written, or another one"):
        numhlo.jit(function, autograph=True)(3.0, *RNG.random((2, 6)))


def test_what_a_name_may_mean_goes_on_to_names_that_take_it_over():
    def function(most, a, b):
        x, y = a * 0.5, a * 0.25
        for _ in range(most):
            y, x = x, b[::-1]
        b[0] = 5.0
        return y

    with pytest.raises(MutationError, match="is read that may be the one just written, or another one"):
        numhlo.jit(function, autograph=True)(4, *RNG.random((2, 6)))


def swapped(a, b):
    if a[0] > 0.2:
        a, b = b, a
    a[1] = 5.0


def renamed(a, b):
    x = a
    if a[0] > 0.2:
        x = b
    x[1] = 5.0


def chosen(a, b):
    x = a if a[0] > 0.2 else b
    x[1] = 5.0


def picked(a, b):
    def pick():
        if a[0] > 0.2:
            return a
        return b[::1]

    pick()[1] = 5.0


def left(a, b):
    for _ in range(30):
        if a[0] > 0.4:
            break
        a, b = b, a
    a[1] = 5.0


@pytest.mark.parametrize("function", [swapped, renamed, chosen, picked, left], ids=lambda f: f.__name__)
def test_writes_into_what_may_be_an_argument_are_refused(function):
    with pytest.raises(MutationError) as caught:
        numhlo.jit(function, autograph=True)(*RNG.random((2, 3)))
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("an array float64[3] is written that may be argument ")
    assert "[1] = 5.0" in lines[1]
    assert "decides which of them the name means" in lines[2] or "chose which of them the name means" in lines[2]
    assert lines[2].endswith(
        "write into the array by its own name, where it is chosen; or bind a copy: best = x.copy()"
    )


def test_own_arrays_that_a_branch_chooses_may_be_written_while_the_others_are_not_looked_at():
    def function(a, b):
        x, y = a * 2, b * 2
        if a[0] > 0.2:
            x, y = y, x
        x[1] = 5.0
        return x

    for first in (0.1, 0.5):
        arrays = np.array([first, 0.3]), np.array([0.6, 0.7])
        np.testing.assert_array_equal(numhlo.jit(function, autograph=True)(*arrays), function(*arrays))

    def looks(a, b):
        x = y = a * 2
        if a[0] > 0.2:
            x = b * 2
        x[1] = 5.0
        return y

    with pytest.raises(MutationError, match="is read that may be the one just written, or another one"):
        numhlo.jit(looks, autograph=True)(*RNG.random((2, 3)))


def test_names_that_share_memory_after_either_branch_share_it():
    def function(a, b):
        if a[0] > 0.2:
            t = a * 2
            u = t[1:]
        else:
            t = b * 3
            u = t[1:]
        t[1] = 5.0
        u[1] = t[1] + 1
        return t, u

    for first in (0.1, 0.5):
        arrays = np.array([first, 0.3, 0.4]), np.array([0.6, 0.7, 0.8])
        for found, wanted in zip(numhlo.jit(function, autograph=True)(*arrays), function(*arrays), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_the_same_view_after_either_branch_is_that_view():
    def function(a, b):
        if b[0] > 0.2:
            part = a[1:]
            part[0] += b[1]
        else:
            part = a[1:]
        part[1] = 5.0
        return part

    for first in (0.1, 0.5):
        mine, theirs = np.ones(3), np.ones(3)
        b = np.array([first, 2.0])
        np.testing.assert_array_equal(numhlo.jit(function, autograph=True)(mine, b), function(theirs, b))
        np.testing.assert_array_equal(mine, theirs)


def number_or_array(h, x):
    h += 1.0
    if x[0] > 0:
        h = -h
    h += 5.0
    return h


def local_number_or_array(x):
    total = np.array(0.5)
    if x[0] > 0:
        total = total + x[0]
    total += 1.0
    return total


def test_an_array_without_dimensions_that_a_branch_makes_a_number():
    # NumPy's operator in place writes into the argument where the branch was not taken, and binds the name else.
    with pytest.raises(MutationError, match=r"that may be argument h of number_or_array, or another one"):
        numhlo.jit(number_or_array, autograph=True)(np.array(0.5), np.ones(2))
    jitted = numhlo.jit(local_number_or_array, autograph=True)
    for x in (np.ones(2), -np.ones(2), 3 * np.ones(2)):
        assert jitted(x) == local_number_or_array(x)
    assert numhlo.jit(number_or_array, autograph=True)(0.5, np.ones(2)) == 3.5
