"""Clauses that wait for errors which depend on values are refused; those that can run, run."""

import contextlib
import fractions
import json
import struct
import warnings

import numpy as np
import pytest

import numhlo
from numhlo.errors import ConcretizationError, DataDependentShapeError, DTypeError, UnsupportedError

MATRIX = np.array([[1.0, 2.0], [2.0, 4.0]])
REGULAR = np.array([[2.0, 1.0], [1.0, 2.0]])


def invert(a):
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(a)


def is_positive_definite(a):
    try:
        np.linalg.cholesky(a)
    except (TypeError, np.linalg.LinAlgError):
        return False
    return True


def divide(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return 0.0


def neighbour(x, i):
    try:
        return x[i + 1]
    except IndexError:
        return 0.0


@pytest.mark.parametrize(
    ("fun", "arguments", "told"),
    [
        (invert, (MATRIX,), "except np.linalg.LinAlgError around the solution of equations with a traced array"),
        (is_positive_definite, (MATRIX,), "except np.linalg.LinAlgError around the Cholesky factor"),
        (divide, (1.0, 0.0), "except ZeroDivisionError around a division by a traced number float64"),
        (divide, (1, 0), "except ZeroDivisionError"),
        (neighbour, (np.ones(3), 2), "except IndexError around a traced index int64"),
        (lambda a: invert(a) + 1, (MATRIX,), "in invert:  return np.linalg.inv"),
    ],
)
def test_clauses_that_wait_for_what_is_not_raised_are_refused(fun, arguments, told):
    with pytest.raises(UnsupportedError, match="where or lax") as caught:
        numhlo.jit(fun)(*arguments)
    assert told in str(caught.value)


def test_constants_raise_while_traced():
    def last(x):
        total = x.sum()
        try:
            total = total + x[3]
        except IndexError:
            total = total - 1
        try:
            return total / 0.0 + np.linalg.inv(REGULAR)[0, 0]
        except np.linalg.LinAlgError:
            return total

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert numhlo.jit(last)(np.ones(3)) == last(np.ones(3)) == np.inf


def test_clauses_that_only_tell_it_otherwise_are_none():
    def solve(a, b):
        try:
            return np.linalg.solve(a, b)
        except np.linalg.LinAlgError as error:
            raise ValueError("a is singular") from error

    assert np.isnan(numhlo.jit(solve)(MATRIX, np.ones(2))).all()


def test_clauses_around_the_traced_function_are_its_callers_matter():
    try:
        result = numhlo.jit(np.linalg.inv)(MATRIX)
    except np.linalg.LinAlgError:
        result = None
    assert np.isnan(result).all()


def test_clauses_beside_the_operation_do_not_matter():
    def solve(a, b):
        try:
            k = {"x": 1}["y"]
        except LookupError:
            k = 0
        return np.linalg.solve(a, b)[k]

    assert numhlo.jit(solve)(REGULAR, np.ones(2)) == solve(REGULAR, np.ones(2))


def test_outside_tracing_they_run():
    assert invert(MATRIX.view(numhlo.Array)).shape == (2, 2)
    assert not is_positive_definite(numhlo.numpy.asarray(-MATRIX))


def swallowing_all(x):
    try:
        if x[0] > 0:
            return x
    except Exception:  # noqa: BLE001
        return x * 2
    return x * 3


def swallowing_bare(x):
    try:
        return x if x.sum() else x + 1
    except:  # noqa: E722
        return x * 2


@pytest.mark.parametrize("fun", [swallowing_all, swallowing_bare])
def test_a_branch_that_is_not_known_is_told_even_if_the_error_is_caught(fun):
    with pytest.raises(
        ConcretizationError, match=r"whose error was caught\n  at test_except_clauses.py:\d+ in swallow"
    ):
        numhlo.jit(fun, autograph=False)(np.zeros(3))
    with pytest.raises(ConcretizationError, match="whose error was caught"):
        numhlo.jit(lambda x: numhlo.grad(lambda y: fun(y).sum())(x), autograph=False)(np.zeros(3))


def test_errors_that_are_caught_on_purpose_stay_so():
    def by_name(x):
        try:
            return x if x[0] else x + 1
        except ConcretizationError:
            return np.where(x[0], x, x + 1)

    def asked(x):
        try:
            return {x: 0}[x]
        except TypeError:  # it can't be hashed
            return x + 1

    def ambiguous(x):
        try:
            return x if x else x + 1
        except (TypeError, ValueError):  # of several elements NumPy knows no truth either
            return x + 2

    x = np.arange(3.0)
    assert numhlo.jit(by_name)(x).tolist() == by_name(x).tolist() == [1.0, 2.0, 3.0]
    assert numhlo.jit(asked)(x).tolist() == asked(x).tolist()
    assert numhlo.jit(ambiguous)(x).tolist() == ambiguous(x).tolist()


def distinct(x, n):
    try:
        return np.unique(x).reshape(-1, 1)
    except Exception:  # noqa: BLE001 - what is tested
        return -1


def letter(x, n):
    try:
        return float("abc"[n] == "a")
    except (KeyError, TypeError):
        return 2.0


def made(x, n):
    try:
        return np.zeros(n)
    except TypeError as error:
        raise ValueError("n") from error


def kept(x, n):
    found = {}
    try:
        found[x[0]] = 1
    except:  # noqa: E722 - what is tested
        found["x"] = 2
    return found.get("x", 1)


def suppressed(x, n):
    with contextlib.suppress(TypeError):
        return np.zeros(n).sum()
    return x


@pytest.mark.parametrize("autograph", [False, True])
@pytest.mark.parametrize("fun", [distinct, letter, made, kept, suppressed])
def test_what_can_not_be_traced_is_not_caught(fun, autograph):
    with pytest.raises((ConcretizationError, DataDependentShapeError), match=r"whose error was caught\n  at") as caught:
        numhlo.jit(fun, autograph=autograph)(np.ones(3), 1)
    assert caught.value.__cause__ is not None or caught.value.__context__ is not None


def leaves(n):
    found = 0
    for k in range(5):
        try:
            if k > n:
                break
        except Exception:  # noqa: BLE001 - what is tested
            pass
        found += k
    return found


def test_what_autograph_refuses_is_not_caught():
    with pytest.raises(ConcretizationError, match="with a break, whose error was caught"):
        numhlo.jit(leaves, autograph=True)(2)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x.astype("datetime64[s]"), lambda x: x.astype(object), lambda x: x.view("S8"), lambda x: json.dumps(x[0]),
        lambda x: struct.pack("d", x[0]), lambda x: fractions.Fraction(x[0]), lambda x: np.ma.masked_array(x, x > 0),
        lambda x: "%d" % x[0], lambda x: "%s: %x" % ("a", x[0].astype(int)), lambda x: "%(n)d" % {"n": x[0]},  # noqa: UP031
        lambda x: memoryview(x), lambda x: x.tofile("x"), lambda x: x.data, lambda x: x + fractions.Fraction(1, 2),
    ],
)  # fmt: skip
def test_what_needs_memory_or_other_types_is_not_caught(use):
    def f(x):
        try:
            use(x)
        except Exception:  # noqa: BLE001 - what is tested
            return x - 1
        return x + 1

    with pytest.raises((ConcretizationError, DTypeError, UnsupportedError), match="whose error was caught"):
        numhlo.jit(f)(np.ones(3))


def test_what_numpy_raises_and_our_own_classes_are_caught():
    def f(x):
        found = []
        for ask in (hash, float, lambda v: v.nothing, lambda v: v + "a", lambda v: len(v[0]), lambda v: v[7]):
            try:
                found.append(ask(x))
            except (TypeError, AttributeError, IndexError):
                found.append(x.sum())
        return found

    assert numhlo.jit(f)(np.ones(3)) == f(np.ones(3))

    def none(x):
        for operate in (lambda: x + None, lambda: json.dumps(x), lambda: x.append(1)):
            try:
                operate()
            except (TypeError, AttributeError):
                x = x + 1
        return x

    assert numhlo.jit(none)(np.ones(3)).tolist() == none(np.ones(3)).tolist() == [4.0, 4.0, 4.0]

    def sizes(x):
        try:
            return np.unique(x).reshape(-1, 1)
        except numhlo.errors.DataDependentShapeError:
            return x.size

    assert numhlo.jit(sizes)(np.ones(3)) == 3
