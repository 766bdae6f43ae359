"""Arrays that plain NumPy makes in a traced function: written into, known, made in helpers, and left alone elsewhere."""

import ast
import collections
import copy
import functools
import importlib
import math
import sys
import threading
import types

import numpy as np
import pytest
from numpy import array as make_array
from numpy import zeros

import numhlo
import numhlo.compat.jax
from numhlo.lowering.ir.errors import ConcretizationError, MutationError, ShapeError
from numhlo.tracer.core.definitions import definition_of

X = np.array([5.0, 6.0, 7.0])
calls = 0
scale = 2.0


def check(f, *arguments):
    expected = f(*copy.deepcopy(arguments))
    found = numhlo.jit(f)(*copy.deepcopy(arguments))
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


def test_lists_of_traced_values():
    def f(x):
        a, b = x[0], x[1]
        pairs = [[a, 1.0], [b, 2.0]]
        return (
            [np.mean([a, b]), np.sum((a, b)), np.dot([a, b], [b, 1]), np.sqrt([a, b]), np.minimum([a, b], 5.5)],
            [
                np.linalg.det(pairs).round(9),
                np.linalg.norm([a, b]).round(9),
                np.fft.fft([a, b]),
                np.add.reduce([a, b]),
                np.outer([a, 1], [b]),
            ],
            [np.argmax([a, b]), np.all([a > 0, b > 0]), np.median([a, b, 1]), np.einsum("i,i", [a, b], [1, 2])],
            [
                np.max(collections.deque([a, b])),
                np.where([a > 5, True, b > 5], x, 0),
                np.std(a=[a, b]).round(9),
                np.array([*x]).sum(),
            ],
        )

    check(f, X)
    check(lambda x: (x[range(1, 3)], x[[]], np.meshgrid(x, x)), X)


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


class Model:
    def __init__(self, n):
        self.n = n

    def __call__(self, x):
        return self.run(x)

    def run(self, x):
        out = np.zeros(self.n)
        out[0] = x[0]
        return out

    @classmethod
    def of_two(cls, x):
        return cls(2)(x)

    @staticmethod
    def twice(x):
        out = np.empty(2)
        out[:] = x[0]
        return out


class Longer(Model):
    def __init__(self, n, x):
        super().__init__(n + 1)
        self.start = np.zeros(self.n)
        self.start[0] = x[2]

    def run(self, x):
        out = super().run(x)
        out[1:] = x[1]
        return out + self.start


def decorated(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)

    return wrapper


@decorated
def through_decorator(x):
    out = np.zeros(2)
    out[1] = x[1]
    return out


def counts(x):
    for k in range(2):
        out = np.zeros(2)
        out[k] = x[k]
        yield out


TABLE = {"method": Model(2).run, "lambda": lambda x: counted() * x, "decorated": through_decorator, "maker": np.zeros}


def test_callees_from_anywhere():
    def apply(make, x):
        out = make(3)
        out[1] = x[1]
        return out

    def f(x):
        class Local:
            n = max(x[0], x[1])

            def made(self, x):
                out = np.zeros(2)
                out[0] = self.n
                return out

        longer = Longer(2, x)
        return (
            [TABLE[name](x) for name in ("method", "lambda", "decorated")],
            apply(TABLE["maker"], x),
            apply(functools.partial(np.full, fill_value=2.0), x),
            longer(x),
            Longer.run(longer, x),
            Model.of_two(x),
            longer.twice(x),
            Local().made(x),
            list(counts(x)),
            list(map(through_decorator, [x, x])),
            [make(3) * x for make in (lambda n: np.ones(n),)],
            [g(x) for g in (Model(3), longer.run)],
        )

    check(f, X)
    check(Model(2), X)
    check(Model(2).run, X)
    assert numhlo.jit(lambda model, x: model.run(x), static_argnums=0)(Model(2), X).tolist() == [5, 0]


class Node:
    def __init__(self, rest):
        self.rest = rest

    def head(self, x):
        return x + 1


def test_long_chains_of_objects():
    node = None
    for _ in range(3000):
        node = Node(node)
    check(node.head, X)
    check(lambda x: node.head(x) * len([[0] * 50] * 50), X)


def test_without_source():
    scope = {"__name__": "typed_in"}
    exec(  # noqa: S102 - what is tested
        "import math, numpy as np\n"
        "def helper(x):\n    out = np.zeros(2)\n    out[1] = x[0]\n    return out\n"
        "def f(x):\n    s = np.ones(3, dtype=bool)\n    s[0] = x[0] > 9\n"
        "    return s, max(x[0], x[1]), math.sqrt(x[0]), isinstance(x[0], float), helper(x)\n",
        scope,
    )
    check(scope["f"], X)


def test_an_edited_file_does_not_count(tmp_path, monkeypatch):
    source = "import numpy as np\ndef f(x):\n    out = np.zeros(2)\n    out[0] = x[0]\n    return out\n"
    (tmp_path / "edited.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    edited = importlib.import_module("edited")

    (tmp_path / "edited.py").write_text(source.replace("zeros", "ones"))
    check(edited.f, X)


def test_numbers_and_iterators_of_python():
    table = np.vectorize(lambda v, w: v * w + 1)
    start = np.arange(3.0)

    def f(x, n):
        begun = start.copy()
        begun[1] = x[1]
        total = 0.0
        for v in np.nditer(x):
            total = total + v
        scaled = np.zeros(3)
        for (k,), v in np.ndenumerate(x):
            scaled[k] = v * k
        with np.nditer(scaled, op_flags=["readwrite"]) as it:
            for v in it:
                v[...] = v + 1
        steps = np.nditer(scaled, flags=["multi_index"], op_flags=["readwrite"])
        while not steps.finished:
            steps[0] = steps.value * steps.multi_index[0]
            steps.iternext()
        single = np.ones(2, np.float32)
        return (
            begun,
            total,
            scaled,
            [float(x.sum()) * single, int(x[0] / 2), complex(x[1]), round(x[1] / 4, 1), round(x[0] / 2)],
            [max(x[0], x[1], 6.5), min(0.0, x[2]), max([x[0], x[1]]), min(n, 5), max(3, 4)],
            [math.sqrt(x[0]) * single, math.log(x[1], 2), math.atan2(x[0], 2), math.floor(x[0] / 2), math.isnan(x[2])],
            [np.float32(x[0]), np.int8(x[1]), np.float64(n)],
            table(x, 2),
            [x[1].item() * single, x.item(2), x.max().item(), x.reshape(1, 3).item(0, 1), (x > 6).item(1)],
            np.c_[x, x],
            np.r_[x, 1.0],
        )

    check(f, X, 3)


WEIGHTS, NAMED = np.linspace(0, 1, 7), {"codes": np.arange(8) ** 2}
POINTS = [(1.0, 2.0), (3.0, 4.0)]


def test_constants_are_indexed_by_traced_values():
    shifts = [3, 1, 2, 0]

    def f(i, x):
        k = i[1]
        matrix = WEIGHTS.reshape(1, 7)
        return (
            [
                WEIGHTS[i],
                WEIGHTS[k],
                WEIGHTS[k, None],
                matrix[0, i],
                WEIGHTS[i[:2]][::-1],
                WEIGHTS[2],
                WEIGHTS[1:3] + x,
            ],
            [np.take(WEIGHTS, i), WEIGHTS.take(i), WEIGHTS[:2].dot(x), WEIGHTS.searchsorted(x), NAMED["codes"][i] + k],
            [shifts[k], shifts[k] * np.ones(2, np.float32), (5, 6, 7)[k], [x, x + 1][k], [shifts[j] for j in range(2)]],
            [POINTS[j][0] for j in (0, 1)],
        )

    check(f, np.array([0, 1, 2]), X[:2] / 10)
    with pytest.raises(ConcretizationError, match="use as a Python index"):
        numhlo.jit(lambda i: POINTS[i], autograph=False)(1)
    assert numhlo.jit(lambda i: POINTS[i])(1).tolist() == list(POINTS[1])


def test_lists_and_layouts_as_numpy_has_them():
    def f(a, n, y):
        t = a.T
        t[0] = 5
        copied, viewed = np.ascontiguousarray(t), np.asfortranarray(t)
        kept = np.asarray(t, order="C")
        copied[0, 0], viewed[1, 1], kept[0, 1] = -1, -2, -3
        return [np.array([a[0, 0], n, y]), np.array([n, True]), np.stack([a[0], [1, 2]]), copied, viewed, kept, a]

    check(f, np.ones((2, 2), np.float32), 3, 2.5)
    with pytest.raises(ShapeError, match="the items of a list have one shape"):
        numhlo.jit(lambda x: np.array([x, 1.0]))(X)


def test_isinstance_tells_what_numpy_would_have():
    def f(x, n, y):
        kinds = (float, int, np.floating, np.float64, np.ndarray, np.generic, bool, np.integer, complex)
        return [
            sum(2**k for k, kind in enumerate(kinds) if isinstance(value, kind))
            for value in (x, x[0], x.sum(), x.argmax(), n, y, n > 1, x > 1, x[0] > 1, x[0] * 1j, x[:1])
        ] + [isinstance(n, int | float), isinstance(y, (int, (str, float)))]

    check(f, X, 3, 2.5)


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


def test_evaluated_code_runs_as_it_is():
    def f(x):
        return x + eval("np.ones(3)")

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

    with pytest.raises(MutationError, match="does not belong to the traced program"):
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


def test_a_statement_of_a_file_is_enough_to_find_a_function(monkeypatch):
    def inner(x):
        return np.sum(x) + np.linalg.norm(x)

    parsed, parse = [], ast.parse

    def noted(text, *args):
        parsed.append(text)
        return parse(text, *args)

    monkeypatch.setattr(ast, "parse", noted)
    assert definition_of(inner.__code__, globals()).node.name == "inner"
    assert [len(text.strip().splitlines()) < 30 for text in parsed] == [True]
