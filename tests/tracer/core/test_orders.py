"""New arrays lie in memory as NumPy's do, so that reshaping one is a view where it is in NumPy, and a copy where not."""

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import MutationError

P, Q, C = np.arange(12.0).reshape(3, 4), np.arange(24.0).reshape(2, 3, 4), np.arange(12.0).reshape(4, 3) + 1

MADE = {
    "ufunc": lambda p, q, c: p.T + 1,
    "two of F": lambda p, q, c: p.T * p.T + np.tanh(p.T),
    "F and C": lambda p, q, c: p.T + c,
    "F and a row": lambda p, q, c: p.T + c[:1],
    "C and a plane of F": lambda p, q, c: q.transpose(0, 2, 1) + c[None],
    "three axes": lambda p, q, c: q.transpose(1, 2, 0) * 2,
    "reversed": lambda p, q, c: -p.T[::-1],
    "power": lambda p, q, c: p.T**2,
    "divmod": lambda p, q, c: divmod(p.T, 2.0)[0],
    "hypot": lambda p, q, c: np.hypot(p.T, 1.0),
    "where": lambda p, q, c: np.where(p.T > 3, p.T, 0.0),
    "clip": lambda p, q, c: np.clip(p.T, 0, 5),
    "round": lambda p, q, c: np.round(p.T, 1),
    "nan_to_num": lambda p, q, c: np.nan_to_num(p.T),
    "astype": lambda p, q, c: p.T.astype("f4"),
    "astype C": lambda p, q, c: p.T.astype("f4", order="C"),
    "np.copy": lambda p, q, c: np.copy(p.T),
    "copy": lambda p, q, c: p.T.copy(),
    "copy F": lambda p, q, c: p.copy(order="F"),
    "copy A": lambda p, q, c: p.T.copy(order="A"),
    "copy K": lambda p, q, c: q.transpose(1, 0, 2).copy(order="K"),
    "array": lambda p, q, c: np.array(p.T),
    "array C": lambda p, q, c: np.array(p.T, order="C"),
    "asfortranarray": lambda p, q, c: np.asfortranarray(p) * 2,
    "zeros F": lambda p, q, c: np.zeros((3, 4), order="F") + 1,
    "zeros_like": lambda p, q, c: np.zeros_like(p.T),
    "full_like": lambda p, q, c: np.full_like(p.T, 2.0),
    "sum": lambda p, q, c: (q.transpose(1, 2, 0) * 2).sum(0),
    "mean": lambda p, q, c: q.transpose(2, 1, 0).mean(1),
    "cumsum": lambda p, q, c: np.cumsum(p.T, 0),
    "sort": lambda p, q, c: np.sort(p.T, 0),
    "concatenate": lambda p, q, c: np.concatenate([p.T, p.T]),
    "stack": lambda p, q, c: np.stack([p.T, p.T]),
    "roll": lambda p, q, c: np.roll(p.T, 1, 0),
    "pad": lambda p, q, c: np.pad(p.T, 1),
    "diff": lambda p, q, c: np.diff(p.T, axis=0),
    "gradient": lambda p, q, c: np.gradient(p.T)[0],
    "select": lambda p, q, c: np.select([p.T > 2], [p.T], 0.0),
    "product": lambda p, q, c: p.T @ p,
    "columns": lambda p, q, c: c[:, [0, 2, 1]],
    "columns of F": lambda p, q, c: p.T[:, [0, 1]],
    "rows of F": lambda p, q, c: p.T[[0, 1]],
    "middle": lambda p, q, c: q[:, [0, 2], :3],
    "two indices": lambda p, q, c: q[:, [0, 2], [1, 3]],
    "planes": lambda p, q, c: q[:, np.array([[0, 1], [1, 2]])],
    "last axis": lambda p, q, c: q[:, :, [0, 2]],
    "apart": lambda p, q, c: q[[0, 1], :, [1, 2]],
    "new axis": lambda p, q, c: c[:, None, [0, 2]],
    "take": lambda p, q, c: np.take(c, [0, 2], 1),
    "after a write": lambda p, q, c: _written(p.T * 2) * 3,
}


def _written(y):
    y[0] = 1
    return y


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_strides_are_numpys(make):
    found = []

    def traced(p, q, c):
        made = make(p, q, c)
        found.append(made.strides)
        return made

    wanted = make(P.copy(), Q.copy(), C.copy())
    numhlo.jit(traced).trace(P.copy(), Q.copy(), C.copy())
    assert found[-1] == wanted.strides


def test_orders_of_random_operands_are_numpys():
    rng = np.random.default_rng(3)
    for _ in range(60):
        shape = tuple(rng.integers(2, 4, 4))
        arrays, turns = [], []
        for _ in range(rng.integers(1, 4)):
            turn, is_spread = rng.permutation(4), rng.random(4) < 0.25
            own = np.where(is_spread, 1, shape)
            arrays.append(np.ones([own[k] for k in np.argsort(turn)]))
            turns.append(turn)
        found = []

        def traced(*given, turns=turns, found=found):
            total = sum(x.transpose(turn) for x, turn in zip(given, turns, strict=True))
            found.append(tuple(s for n, s in zip(total.shape, total.strides, strict=True) if n != 1))
            return total

        traced(*arrays)
        numhlo.jit(traced).trace(*arrays)
        assert found[0] == found[-1]


def copies(x, p, n):
    y = p.T * 2
    q = y.reshape(12)
    q[0] = 7
    r = y.T.reshape(12)
    r[1] = 5
    return y, q, r


def stays_in_a_loop(x, p, n):
    y, k = p.T * 1, 0
    while k < n:
        q = y.reshape(12)
        q[0] = 7
        y = y * 2
        k = k + 1
    q = y.ravel()
    q[1] = 5
    return y, q


def changes_in_a_known_loop(x, p, n):
    y = x[:, ::2]
    for _ in range(9):
        q = y.reshape(-1)
        q[0] = 3
        y = y + 1
    q = y.reshape(-1)
    q[1] = 5
    return x, y, q


def changes_in_a_loop(x, p, n):
    y, k = x * 1, 0
    while k < n:
        y = p.T * y.sum()
        k = k + 1
    q = y.ravel()
    q[1] = 5
    return q


def chosen(x, p, n):
    y = p.T * 2 if n > 2 else x * 2
    q = y.reshape(12)
    return q, y


def reads_what_may_be_written(x, p, n):
    y, k = x * 1, 0
    while k < n:
        y = p.T * y.sum()
        k = k + 1
    q = y.ravel()
    q[1] = 5
    return q, y


@pytest.mark.parametrize("f", [copies, stays_in_a_loop, changes_in_a_known_loop, changes_in_a_loop, chosen])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_reshapes_of_new_arrays_are_copies_where_numpys_are(f, n):
    given = np.random.default_rng(0).uniform(-1, 1, (2, 12))
    mine, own = [given[0].reshape(4, 3).copy(), given[1].reshape(3, 4).copy()], list(given.copy())
    own = [own[0].reshape(4, 3), own[1].reshape(3, 4)]
    jitted = numhlo.jit(f, autograph=True)
    for _ in range(3):
        wanted, found = f(*own, n), jitted(*mine, n)
        for a, b in zip(
            wanted if isinstance(wanted, tuple) else (wanted,),
            found if isinstance(found, tuple) else (found,),
            strict=True,
        ):
            np.testing.assert_allclose(b, a)
        np.testing.assert_allclose(mine[0], own[0])


def test_arguments_in_another_order_are_traced_anew():
    def f(x):
        y = x * 2
        q = y.reshape(-1)
        q[0] = 7
        return y

    jitted = numhlo.jit(f)
    for x in (C, P.T, C, P.T):
        np.testing.assert_array_equal(jitted(x), f(x))
    assert jitted.cache_info().misses == 2


def test_what_a_traced_number_decides_is_refused_where_it_matters():
    with pytest.raises(MutationError, match="decides how it lies in memory, and so whether reshaping it makes a copy"):
        numhlo.jit(reads_what_may_be_written, autograph=True)(C.copy(), P.copy(), 2)


def test_loops_give_arrays_in_the_order_of_c():
    found = []

    def f(x):
        rows, tables = numhlo.lax.map(lambda k: (x[0] * k, x * k), x)
        both = np.sin(tables) + rows[:, None]
        found.extend([rows.strides, tables.strides, both.strides])
        return both

    numhlo.jit(f)(C.T.copy(order="F"))
    assert found[:3] == [(32, 8), (96, 32, 8), (96, 32, 8)]
