"""Arrays that plain NumPy makes in a traced function: written into, known, made in helpers, and left alone elsewhere."""

import functools
import sys
import threading
import types

import numpy as np
import pytest
from numpy import array as make_array
from numpy import zeros

import numhlo
import numhlo.compat.jax

X = np.array([5.0, 6.0, 7.0])
calls = 0
scale = 2.0


def check(f, *arguments):
    expected = f(*arguments)
    found = numhlo.jit(f)(*arguments)
    assert numhlo.tree_util.tree_structure(found) == numhlo.tree_util.tree_structure(expected)
    for a, b in zip(numhlo.tree_util.tree_leaves(found), numhlo.tree_util.tree_leaves(expected), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
        assert np.asarray(a).dtype == np.asarray(b).dtype


def counted():
    return np.zeros(3)


def recursive(x, depth):
    out = np.empty(2)
    out[0], out[1] = x, depth
    return out if depth == 0 else out + recursive(x * 2, depth - 1)


def test_arrays_are_made_and_written():
    def f(x):
        a, b, c = np.zeros((2, 3)), np.ones(3, np.float32), np.full((2, 2), 7)
        a[1] = x
        b[::2] = x[:2]
        c[0, 1] = 3
        e, r, g = np.eye(3), np.arange(6.0).reshape(2, 3), np.linspace(0, 1, 5)
        e[0] += x
        r[:, 1] *= x[0]
        g[-1] = x.sum()
        m = np.array([x[0], 2.0, 3])
        m[1] = x[1]
        like = np.zeros_like(g)
        like[0] = x[2]
        return a, b, c, e, r, g, m, like, np.asarray(x) + 1, np.tile([1.0, 2.0], 2), np.copy(x)

    check(f, X)


def test_makers_imported_by_name_or_inside():
    def f(x):
        import numpy  # noqa: PLC0415 - what is tested
        from numpy import ones as ones_of  # noqa: PLC0415

        a, b, c, d = zeros(3), make_array([x[0], 1.0]), numpy.empty(2), ones_of(2)
        a[1] = x[0]
        b[1] = x[1]
        c[:] = x[:2]
        d[0] = x[2]
        return a, b, c, d

    check(f, X)


def test_helpers():
    width = 2
    module = types.ModuleType("my_helpers")
    exec("import numpy as np\ndef made(n):\n    return np.zeros(n)\n", vars(module))  # noqa: S102

    def inner(x):
        out = np.zeros(width)
        out[0] = x[0]
        return out

    def f(x):
        a, b = counted(), module.made(2)
        a[0] = x[0]
        b[1] = x[1]
        return a, b, inner(x), [np.arange(3.0) * v for v in (x,)], recursive(x[0], 3)

    check(f, X)
    check(functools.partial(lambda n, x: np.zeros(n) + x, 3), X)


def test_what_follows_from_constants_is_known():
    def f(x):
        n = int(np.sqrt(np.array(16)))
        index = np.arange(3000)
        third = index % 3 == 0
        total = 0.0
        for v in np.linspace(0, 1, 3):
            total += float(v)
        table = np.zeros(4)
        for k in range(4):
            table[k] = k * k
        if table[2] > 3:
            total += 1
        chain = np.array(0)
        for k in range(300):
            chain = chain + k
        picked = np.nonzero(index > 2990)[0]
        return (
            n * total,
            (np.arange(3000.0)[third] * x[0]).sum(),
            picked,
            int(chain),
            len(np.unique(index % 7)),
            [*index[:2]],
        )

    check(f, X)


def test_classes_and_other_dtypes():
    def f(x):
        assert isinstance(x, np.ndarray) and isinstance(np.zeros(2), np.ndarray) and not isinstance(3, np.ndarray)
        names, things = np.array(["a", "b"]), np.array([None, "x"], dtype=object)
        assert names[1] == "b" and things[0] is None and np.zeros(2, "U3").dtype.kind == "U"
        return x * len(names)

    check(f, X)


def test_globals_are_read_and_written():
    global scale  # noqa: PLW0603 - what is tested

    def f(x):
        global calls  # noqa: PLW0603
        calls += 1
        out = np.zeros(2)
        out[:] = scale * x[:2]
        return out

    jitted, before = numhlo.jit(f), calls
    assert jitted(X).tolist() == [10, 12] and calls == before + 1
    scale = 3.0
    assert jitted(X).tolist() == [15, 18]
    scale = 2.0
    assert f(X).tolist() == [10, 12] and type(f(X)) is np.ndarray


def test_methods_and_objects():
    class Model:
        def __init__(self, n):
            self.n = n

        def __call__(self, x):
            return self.run(x)

        def run(self, x):
            out = np.zeros(self.n)
            out[0] = x[0]
            return out

    class Callable(Model):
        def __call__(self, x):
            out = np.ones(self.n)
            out[-1] = x[0]
            return out

    check(Model(2).run, X)
    check(Callable(2), X)
    with pytest.raises(ValueError, match="sequence") as caught:
        numhlo.jit(Model(2))(X)  # a method out of an object: its arrays are NumPy's
    assert "make that array with numhlo.numpy" in caught.value.__notes__[0]


def test_transformations():
    def f(x):
        out = np.zeros(3)
        for k in range(3):
            out[k] = x[k] ** (k + 1)
        return out

    expected = np.diag([1, 2 * 6.0, 3 * 49.0])
    total = numhlo.grad(lambda x: f(x).sum())
    for g in (total, numhlo.jit(total)):
        np.testing.assert_allclose(g(X), np.diag(expected))
    np.testing.assert_allclose(numhlo.jacfwd(f)(X), expected)
    np.testing.assert_allclose(numhlo.jit(numhlo.vmap(f))(np.stack([X, X + 1])), np.stack([f(X), f(X + 1)]))


def test_loops_inside():
    def f(x):
        def step(carry, v):
            row = np.zeros(2)
            row[0] = carry
            row[1] = v
            return carry + v, row

        return numhlo.lax.scan(step, np.array(0.0), x)

    check(f, X)


def test_code_that_bypasses_globals_runs_as_it_is():
    def f(x):
        class Local:
            n = np.arange(3).sum()

        return x * Local.n + eval("np.ones(3)")

    check(f, X)


def test_compat_arrays_stay_constants():
    def f(x):
        table = np.zeros(3)
        table[1] = 4.0
        return x * table

    assert numhlo.compat.jax.jit(f)(X).tolist() == [0, 24, 0]


def test_captured_arrays_are_not_copied_silently():
    table = np.zeros(3)

    def f(x):
        view = np.asarray(table)
        view[0] = x[0]
        return view

    with pytest.raises(ValueError, match="sequence"):
        numhlo.jit(f)(X)
    assert table.tolist() == [0, 0, 0]


def test_numpy_is_untouched_in_other_threads():
    entered, leave, seen = threading.Event(), threading.Event(), []

    def f(x):
        entered.set()
        leave.wait(10)
        return np.zeros(3) + x

    thread = threading.Thread(target=lambda: seen.append(numhlo.jit(f)(X)))
    thread.start()
    entered.wait(10)
    assert type(np.zeros(3)) is np.ndarray and type(counted()) is np.ndarray and sys.modules["numpy"] is np
    leave.set()
    thread.join()
    assert seen[0].tolist() == X.tolist()
