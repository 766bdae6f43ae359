"""Branches and loops on traced values under plain `jit`: rewritten where the function needs it, and there alone."""

import linecache
import textwrap

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import ConcretizationError, UnsupportedError


def sign(x):
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0


def digits(n):
    count = 0
    while n > 0:
        n = n // 10
        count += 1
    return count


def first_above(x, limit):
    found = -1
    for k in range(len(x)):
        if x[k] <= limit:
            continue
        found = k
        break
    return found


def total_to(n):
    total = 0
    for k in range(n):
        total += k * k
    return total


class Clipper:
    def __init__(self, limit):
        self.limit = limit

    @numhlo.jit
    def clip(self, x):
        if x > self.limit:
            return self.limit
        return x


X = np.array([0.5, 2.0, -1.0, 7.0])

CALLS = [
    (sign, [(2.0,), (-2.0,), (0.0,), (5.0,)]),
    (digits, [(0,), (7,), (123456,), (99,)]),
    (first_above, [(X, 1.0), (X, 9.0), (X[::-1], 1.0), (X, 0.0)]),
    (total_to, [(4,), (0,), (10,), (1,)]),
    (Clipper(2.0).clip.__wrapped__.__get__(Clipper(2.0)), [(1.0,), (5.0,), (2.0,)]),
    (lambda x: x if x > 0 else -x, [(1.0,), (-5.0,), (2.0,)]),
]


@pytest.mark.parametrize("tier0", [None, False])
@pytest.mark.parametrize(("fun", "calls"), CALLS, ids=lambda f: getattr(f, "__name__", None))
def test_python_branches_and_loops_on_traced_values(fun, calls, tier0):
    jitted = numhlo.jit(fun, tier0=tier0)
    for arguments in [*calls, *calls]:
        assert float(jitted(*arguments)) == fun(*arguments)
    assert jitted.cache_info().misses == 1


def test_methods_and_lambdas_that_share_a_line():
    assert [float(Clipper(2.0).clip(x)) for x in (1.0, 5.0)] == [1.0, 2.0]
    pair = (lambda x: x if x > 1 else 0 * x, lambda x: 0 * x if x > 1 else x)  # fmt: skip
    assert [float(numhlo.jit(f)(x)) for f in pair for x in (0.5, 2.0)] == [0, 2.0, 0.5, 0]
    factor = 3.0
    assert float(numhlo.jit(lambda x: max(x, 1.0) * factor if x > 0 else x)(2.0)) == 6.0


def test_under_transformations():
    x = np.array([-2.0, 0.5, 3.0])

    def steep(x):
        return x * x if x > 1 else -x

    expected = [2.0, -0.5, 9.0]
    assert numhlo.vmap(numhlo.jit(steep))(x).tolist() == expected
    assert numhlo.jit(numhlo.vmap(steep))(x).tolist() == expected
    assert [float(numhlo.grad(numhlo.jit(steep))(v)) for v in x] == [-1, -1, 6]
    assert [float(numhlo.jit(numhlo.grad(steep))(v)) for v in x] == [-1, -1, 6]
    inner = numhlo.jit(steep)
    assert numhlo.jit(lambda x: inner(x[0]) + inner(x[2]))(x) == 11.0


def test_a_function_that_needs_it_is_traced_once_for_each_signature(capsys):
    @numhlo.jit
    def halved(x):
        print("traced")  # noqa: T201 - told apart by what it shows
        while x.sum() > 1:
            x = x / 2
        return x

    assert halved(np.ones(2)).tolist() == [0.5, 0.5]
    assert capsys.readouterr().out == "traced\n"
    assert halved(np.ones(4)).tolist() == [0.25] * 4
    assert capsys.readouterr().out == "traced\n"


def test_a_condition_that_no_reading_of_the_source_finds_is_found_by_the_first_trace(capsys):
    class Box:
        value = 0.0

    @numhlo.jit
    def clipped(x):
        print("traced")  # noqa: T201 - told apart by what it shows
        box, name = Box(), "value"
        setattr(box, name, x.min())
        if box.value > 0:
            x = x - box.value
        return x

    assert clipped(np.array([1.0, 3.0])).tolist() == [0.0, 2.0]
    assert capsys.readouterr().out == "traced\n" * 2
    assert clipped(np.array([1.0, 3.0, 4.0])).tolist() == [0.0, 2.0, 3.0]
    assert capsys.readouterr().out == "traced\n"


def test_a_function_that_needs_nothing_is_traced_once(capsys):
    @numhlo.jit
    def kept(x, flag):
        print("traced")  # noqa: T201 - told apart by what it shows
        return x if flag is None else -x

    assert kept(1.0, None) == 1.0
    assert capsys.readouterr().out == "traced\n"


def test_what_python_did_before_is_undone():
    seen, counts, written = [], {"calls": 0}, np.zeros(2)

    @numhlo.jit
    def noted(x):
        seen.append("call")
        counts["calls"] += 1
        written[0] += 1
        if x > 0:
            return x
        return -x

    assert noted(-2.0) == 2.0
    assert (seen, counts) == (["call"], {"calls": 1})
    assert written.tolist() == [1, 0]
    assert noted(3.0) == 3.0
    assert written.tolist() == [2, 0]


def test_what_can_not_be_done_twice_is_done_once(tmp_path):
    path = tmp_path / "log"

    @numhlo.jit
    def writes(x):
        with open(path, "a") as file:
            file.write("call\n")
        return x if x > 0 else -x

    assert writes(-1.0) == 1.0
    assert path.read_text() == "call\n"
    tokens = iter([2.0, 3.0])

    @numhlo.jit
    def draws(x):
        factor = next(tokens)
        return x * factor if x > 0 else -x

    assert draws(4.0) == 8.0
    assert list(tokens) == [3.0]


def test_what_can_not_be_done_twice_is_not():
    class Box:
        value = 0.0

    tokens = iter([1.0, 2.0])

    @numhlo.jit
    def draws(x):
        factor, box, name = next(tokens), Box(), "value"
        setattr(box, name, x)
        return x * factor if box.value > 0 else -x

    with pytest.raises(ConcretizationError, match="the truth value"):
        draws(1.0)
    assert list(tokens) == [2.0]


def test_where_it_is_switched_off():
    with pytest.raises(ConcretizationError, match="the truth value"):
        numhlo.jit(sign, autograph=False)(1.0)
    off = numhlo.jit(sign, autograph=False)
    with pytest.raises(ConcretizationError, match="the truth value"):
        numhlo.jit(lambda x: off(x) if x > 0 else x)(1.0)
    assert numhlo.jit(sign)(1.0) == 1  # they share nothing


def test_without_a_source_the_first_error_stands():
    scope = {}
    text = textwrap.dedent(
        """
        def branch(x):
            if x > 0:
                return x
            return -x
        """
    )
    exec(text, scope)  # noqa: S102 - code without a file
    with pytest.raises(ConcretizationError, match="where the source can be read"):
        numhlo.jit(scope["branch"])(1.0)
    with pytest.raises(ConcretizationError, match="where the source can be read"):
        numhlo.jit(eval("lambda x: x if x > 0 else -x"))(1.0)


def test_a_lambda_whose_file_has_another_in_its_place_is_left_alone():
    def lambda_of(text):
        scope = {"np": np}
        exec(compile(text, "numhlo-test-lambdas", "exec"), scope)  # noqa: S102 - a file of lambdas
        return scope["f"]

    def tell(text):
        linecache.cache["numhlo-test-lambdas"] = (
            len(text),
            None,
            text.splitlines(keepends=True),
            "numhlo-test-lambdas",
        )

    fun = lambda_of(text := "f = lambda x: x if x > 0 else -x\n")
    tell(text.replace("x", "y"))
    with pytest.raises(ConcretizationError):
        numhlo.jit(fun)(1.0)
    tell(text)
    assert numhlo.jit(fun)(-1.0) == 1.0
    del linecache.cache["numhlo-test-lambdas"]


def test_what_is_wrong_with_the_rewritten_function_is_told():
    def leaves_text(x):
        kind = "small"
        if x > 1:
            kind = "large"
        return kind

    with pytest.raises(UnsupportedError, match="leaves 'kind' as a str"):
        numhlo.jit(leaves_text)(2.0)

    def fails_either_way(x):
        if x < 1:
            raise ValueError("x is too small")
        raise ValueError("x is too large")

    with pytest.raises(ConcretizationError, match="a raise after another one"):
        numhlo.jit(fails_either_way)(2.0)


def test_an_array_is_neither_true_nor_false_as_in_numpy():
    with pytest.raises(ConcretizationError, match=r"the truth value of a traced array bool\[4\]"):
        numhlo.jit(lambda x: 1 if x > 0 else 2)(X)
