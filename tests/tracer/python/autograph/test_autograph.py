"""`jit(autograph=True)`: Python's branches and loops on traced values do what Python does, or say why they can't."""

import functools
import inspect
import linecache

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import (
    ArgumentError,
    ConcretizationError,
    ControlFlowTypeError,
    MutationError,
    UndefinedVariableError,
    UnsupportedError,
)
from tests.tracer.python.autograph import autograph_programs as programs

CALLS = [
    *[("relu", v) for v in (2.0, -2.0)],
    ("collatz", 27),
    ("newton", 2.0),
    *[("summing", [1.0, -2.0, 3.0], n) for n in (0, 2, 3)],
    *[("sign", v) for v in (2.0, -3.0, 0.0)],
    *[("mutate", [1.0, 2.0], flag) for flag in (1, -1)],
    ("bisect", 1.0, 2.0),
    *[("clamp", v) for v in (3.0, 0.5, -1.0)],
    ("gcd", 48, 18),
    ("pow_", 1.5, 13),
    *[("early", v) for v in (3.0, 8.0, 20.0, -1.0)],
    ("binary", np.arange(10.0) * 2, 7.0),
    ("bubble", [3.0, 1.0, 2.0, 5.0, 4.0]),
    ("unconverted", [3.0, -1.0, 2.0, 5.0]),
    *[("containers", v) for v in (0, 3, 4)],
    *[("leaves_early", [1.0, -2.0, 3.0, 4.0], limit) for limit in (0.5, 3.5, 99.0)],
    *[("doubles", v) for v in (3.0, -3.0, 500.0)],
    ("skips", [1.0, -2.0, 5.0, -9.0, 2.0]),
    ("known_exits", 1.0),
    *[("chooses", x, y) for x, y in ((1.0, 2.0), (-1.0, 2.0), (0.0, 3.0), (9.0, 0.0))],
    *[("calls_others", v) for v in (5.0, -2.5)],
    ("dominant", np.diag([3.0, 1.0]) + 0.5),
    *[("own_copy", [v, 2.0], [5.0, 6.0]) for v in (1.0, -1.0)],
    *[("within", [v, 2.5], 0.5) for v in (1.0, 0.0, 3.0, 0.5)],
    *[(name, [1.0, 3.0, 2.0], v) for name in ("first_above", "is_among") for v in (0.0, 2.0, 9.0)],
    *[("first_in_rows", np.arange(6.0).reshape(2, 3), v) for v in (0.0, 3.0, 9.0)],
    *[("halvings", v) for v in (1.0, 20.0)],
    *[("loops_with_else", [1.0, 3.0, 2.0], v) for v in (2.0, 7.0)],
    *[("assigns_in_tests", [1.0, 3.0], v) for v in (0.5, 3.5, 9.0)],
    *[("keeps_state", [v, 2.5]) for v in (1.0, 3.0)],
    *[("writes_by_calls", [3.0, 1.0], v) for v in (1.0, 5.0)],
    ("total", [1.0, 2.0]),
    *[("stops_within", n) for n in (3, 8)],
    *[("searches_rows", np.arange(9.0).reshape(3, 3), v) for v in (7.0, 50.0)],
    ("machine", np.array([0, 1, 2, 1, 0, 2])),
    *[("matches", [v, 1.0, 7.0, 4.0]) for v in (3.0, 2.0)],
    *[(name, [1.0, -2.0, 3.0, 0.0], v) for name in ("second_below", "found_or_else") for v in (0.5, 1.5, 9.0)],
    ("local_classes", [1.0, -2.0, 3.0]),
    *[("backwards", np.arange(6.0), n) for n in (1, 5, 6)],
]


def arrays(values):
    return [np.array(v) if isinstance(v, list | np.ndarray) else v for v in values]


@functools.cache
def jitted(name):
    return numhlo.jit(getattr(programs, name), autograph=True)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call[0]}{call[-1]}")
def test_same_as_python(call):
    name, *values = call
    ours, theirs = arrays(values), arrays(values)
    found, expected = jitted(name)(*ours), getattr(programs, name)(*theirs)
    leaves = [numhlo.tree_util.tree_leaves(tree) for tree in ((found, ours), (expected, theirs))]
    for a, b in zip(*leaves, strict=True):
        np.testing.assert_allclose(a, b)


def test_static_arguments_and_functions():
    sieve = numhlo.jit(programs.sieve, static_argnames="size", autograph=True)
    assert np.nonzero(sieve(30, size=30))[0].tolist() == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
    choose = numhlo.jit(programs.choose_function, static_argnums=1, autograph=True)
    assert float(choose(2.0, (np.sin, np.cos))[0]) == np.sin(2.0) + 1
    assert float(choose(-2.0, (np.sin, np.cos))[0]) == np.cos(-2.0) + 1


def test_derivatives_closures_and_methods():
    factor = 3.0

    def f(x):
        y = x * factor
        if y > 1:
            y = y * y
        return y

    g = numhlo.jit(f, autograph=True)
    assert [float(numhlo.grad(g)(x)) for x in (0.1, 2.0)] == [3.0, 36.0]
    np.testing.assert_allclose(numhlo.vmap(g)(np.array([0.1, 2.0])), [0.3 * 1, 36.0])
    factor = 1.0
    assert float(g(2.0)) == 4.0

    class Model:
        limit = 2.0

        @functools.partial(numhlo.jit, autograph=True)
        def clip(self, x):
            if x > self.limit:
                return self.limit
            return x

    assert [float(Model().clip(x)) for x in (1.0, 5.0)] == [1.0, 2.0]


def fails(f, *arguments, kind):
    with pytest.raises(kind) as caught:
        numhlo.jit(f, autograph=True)(*arguments)
    return str(caught.value)


def test_what_can_not_be_traced():
    def leaves_text(x):
        kind = "small"
        if x > 1:
            kind = "large"
        return kind

    message = fails(leaves_text, 2.0, kind=UnsupportedError)
    assert (
        "leaves 'kind' as a str in one branch, and as a str in the other" in message and "test_autograph.py" in message
    )

    message = fails(eval("lambda x: x"), 2.0, kind=ArgumentError)
    assert "the source of a lambda can't be found" in message

    def uses_one_sided(x):
        if x > 1:
            y = 2.0
        return y + 1

    assert "variable 'y' has no value here" in fails(uses_one_sided, 2.0, kind=UnboundLocalError)

    def returns_one_sided(x):
        if x > 1:
            y = 2.0
        return y

    message = fails(returns_one_sided, 2.0, kind=UndefinedVariableError)
    assert message.splitlines()[0] == "variable 'y' has no value here"
    assert "if x > 1:" in message.splitlines()[1]
    assert message.splitlines()[2:] == [
        "  it gets one only in a branch or a loop that may not run; give 'y' a value before"
    ]

    def rebinds_what_it_writes(x):
        while x[0] < 9:
            x[0] = 5.0
            x = x * 2
        return x

    message = fails(rebinds_what_it_writes, np.ones(2), kind=MutationError)
    assert "is written that may be argument x of rebinds_what_it_writes, or another one" in message


def test_a_loop_that_is_left_as_it_is_says_why():
    def rebinds_what_a_helper_uses(x, n):
        c = x

        def helper():
            return c.sum()

        for _ in range(n):
            c = c + 1
            x = x + helper()
        return x

    message = fails(rebinds_what_a_helper_uses, np.ones(2), 3, kind=ConcretizationError)
    assert "a for over a range of traced length, with the variable 'c', which a function inside uses" in message


def test_arrays_that_exchange_their_names_are_written():
    def writes_what_it_exchanges(x):
        y = x * 2
        while x[0] < 9:
            x, y = y, x
            x[0] += 5.0
        return x

    mine, theirs = np.ones(2), np.ones(2)
    found = numhlo.jit(writes_what_it_exchanges, autograph=True)(mine)
    np.testing.assert_array_equal(found, writes_what_it_exchanges(theirs))
    np.testing.assert_array_equal(mine, theirs)

    def writes_in_a_list(x):
        pair = [x, x * 2]
        while x[0] < 9:
            pair[0][0] += 5.0
            pair = pair[::-1]
        return pair[0]

    message = fails(writes_in_a_list, np.ones(2), kind=MutationError)
    assert "is read that may be the one just written, or another one" in message
    assert "while x[0] < 9" in message


def test_what_loops_can_not_do():
    def returns(x):
        while x < 10:
            with np.errstate(all="ignore"):
                if x > 5:
                    return x + 1
            x = x * 2
        return x

    message = fails(returns, 1.0, kind=ConcretizationError)
    assert message.splitlines()[0] == "a while on a traced condition, with a return"

    def changes_shape(x):
        while x.sum() < 10:
            x = np.concatenate([x, x])
        return x

    fails(changes_shape, np.ones(2), kind=ControlFlowTypeError)

    def changes_text(x):
        name = "a"
        while x < 10:
            x, name = x + 1, name + "a"
        return x

    assert "changes 'name', a str" in fails(changes_text, 1.0, kind=UnsupportedError)


def test_refusals_say_what_to_write():
    def asserts(x):
        assert x > 1
        return x

    def filters(x):
        return sum(v for v in x if v > 1)

    def names(x):
        return "large" if x > 1 else "small"

    def calls_itself(x):
        if x < 1:
            return x
        return calls_itself(x / 2)

    def notes(x, log=()):
        log = [*log, "start"]
        if x > 1:
            log.append("large")
        return x

    for f, argument, kind, *lines in (
        (asserts, 2.0, ConcretizationError, "an assert on a traced condition", "assert x > 1", "return the condition"),
        (filters, np.ones(2), ConcretizationError, "an if in a comprehension", "if v > 1", "x[x > 0].sum()"),
        (
            names,
            2.0,
            UnsupportedError,
            "a conditional expression on a traced condition gives a str",
            "names",
            "outside",
        ),
        (calls_itself, 2.0, UnsupportedError, "a function that calls itself", "if x < 1", "as a while loop"),
        (notes, 2.0, UnsupportedError, "an if on a traced condition changes the list 'log'", "if x > 1", "outside"),
    ):
        message = fails(f, argument, kind=kind)
        assert [line for line in lines if line not in message] == [], message
        assert f" in test_refusals_say_what_to_write.<locals>.{f.__name__}" in message


def test_what_raises_is_not_run_while_tracing():
    def guarded(x):
        try:
            if x < 0:
                raise ValueError("negative")
        except ValueError:
            x = -x
        return x

    message = fails(guarded, 2.0, kind=UnsupportedError)
    assert message.splitlines()[0] == "except ValueError around a raise on a traced condition"
    assert 'raise ValueError("negative")' in message.splitlines()[1]
    assert message.splitlines()[2].endswith("the clause would never run; return what tells of it, and test that")


def test_errors_show_the_users_line():
    def f(x):
        if x > 1:
            x = x + np.ones(3)
        else:
            x = np.zeros(2)
        return x

    message = fails(f, 2.0, kind=ControlFlowTypeError)
    assert "test_autograph.py" in message

    def g(x):
        while x > 0:
            x = x + np.ones(2) @ np.ones(3)
        return x

    with pytest.raises(Exception) as caught:  # noqa: PT011 - NumPy's own
        numhlo.jit(g, autograph=True)(2.0)
    lines = [entry for entry in caught.traceback if entry.path.name == "test_autograph.py"]
    assert any("np.ones(2) @ np.ones(3)" in str(entry.statement) for entry in lines)


@pytest.mark.parametrize("other", ["", "import sys\n", "def g(x):\n    return 2 * x\n", "def f(:\n"])
def test_source_that_is_not_there(other, monkeypatch):
    namespace = {}
    exec(compile("def f(x):\n    return x", "<other>", "exec"), namespace)  # noqa: S102 - what is tested
    if other:
        lines = other.splitlines(keepends=True)
        monkeypatch.setitem(linecache.cache, "<other>", (len(other), None, lines, "<other>"))
    with pytest.raises(ArgumentError, match="the source of f can't be read"):
        numhlo.jit(namespace["f"], autograph=True)


def test_no_module_is_asked_where_its_source_is(monkeypatch):
    def g(x):
        return x + 1 if x > 0 else x

    with monkeypatch.context() as patch:
        patch.setattr(inspect, "getmodule", lambda *args: pytest.fail("every loaded module was asked"))
        jitted = numhlo.jit(g, autograph=True)
    assert jitted(np.float64(1.0)) == 2


def doubles_or_lowers(x):
    if x > 0:
        return x * x
    return x - 1


def raised(fun):
    @functools.wraps(fun)
    def wrapper(x):
        return fun(x) + 100

    return wrapper


class Holder:
    def __init__(self, x):
        self.x = x

    @property
    def size(self):
        return doubles_or_lowers(self.x)

    def __add__(self, other):
        return other if other > 0 else -other


def test_what_transformations_and_decorators_make_is_rewritten_inside():
    f, x = doubles_or_lowers, np.array([3.0, -1.0])

    def jitted(fun):
        return numhlo.jit(fun, autograph=True)

    assert float(jitted(numhlo.grad(f))(3.0)) == 6.0
    np.testing.assert_array_equal(jitted(numhlo.vmap(f))(x), [9.0, -2.0])
    np.testing.assert_array_equal(jitted(numhlo.vmap(raised(f)))(x), [109.0, 98.0])
    np.testing.assert_array_equal(jitted(numhlo.vmap(numhlo.grad(f)))(x), [6.0, 1.0])
    assert float(jitted(raised(f))(3.0)) == 109.0
    assert float(jitted(functools.partial(f))(-3.0)) == -4.0


def test_what_is_handed_on_and_what_python_calls_is_rewritten():
    def by_transformation(x):
        return numhlo.vmap(doubles_or_lowers)(x), numhlo.grad(raised(doubles_or_lowers))(x[0])

    def by_numpy_and_python(x):
        return np.vectorize(doubles_or_lowers)(x), np.array(list(map(doubles_or_lowers, x)))

    def by_classes(x):
        held = Holder(x[0])
        return held.size, held + x[1]

    x = np.array([3.0, -1.0])
    for f, expected in (
        (by_transformation, ([9.0, -2.0], 6.0)),
        (by_numpy_and_python, ([9.0, -2.0], [9.0, -2.0])),
        (by_classes, (9.0, 1.0)),
    ):
        for found, value in zip(numhlo.jit(f, autograph=True)(x), expected, strict=True):
            np.testing.assert_array_equal(found, value)


def test_functions_made_in_rounds():
    def halves(x):
        n = 0
        while x > 1:
            scaled = lambda v, k=n: v / (2 + k)

            def moved(v):
                return scaled(v) + 0.1

            x = moved(x)
            n += 1
        return x, n

    for x in (0.5, 50.0):
        np.testing.assert_allclose(numhlo.jit(halves, autograph=True)(x), halves(x))

    def sees_later_values(flag, x):
        if flag:
            n = 1
            f = lambda v: v + n
        n = 20
        return f(x)

    assert float(numhlo.jit(sees_later_values, static_argnums=0, autograph=True)(True, 1.0)) == 21

    def keeps_function(x):
        f = np.sin
        while x > 1:
            x = f(x) * x / 2
            f = lambda v: v / 4
        return f(x)

    def reads_function(x):
        g = lambda v: v + 1
        while x > 1:
            x = g(x) / 4
            g = lambda v: v / 4
        return x

    assert "changes 'f'" in fails(keeps_function, 5.0, kind=UnsupportedError)
    assert "variable 'g' has no value here" in fails(reads_function, 5.0, kind=UndefinedVariableError)


def test_arrays_that_functions_inside_use():
    def groups(u, v):
        parent = np.arange(8)

        def find(i):
            while parent[i] != i:
                parent[i] = parent[parent[i]]
                i = parent[i]
            return i

        for a, b in zip(u, v, strict=True):
            a, b = find(a), find(b)  # noqa: PLW2901
            if a != b:
                parent[a] = b
        return np.array([find(i) for i in range(8)]), parent

    u, v = np.array([0, 1, 3, 4, 6]), np.array([1, 2, 4, 5, 0])
    for found, expected in zip(numhlo.jit(groups, autograph=True)(u, v), groups(u, v), strict=True):
        np.testing.assert_array_equal(found, expected)

    def keeps_in_a_list(x):
        kept = [0.0]

        def last():
            return kept[-1]

        if x > 1:
            kept[0] = x
        return last()

    assert "changes a list that a function inside uses" in fails(keeps_in_a_list, 5.0, kind=UnsupportedError)
