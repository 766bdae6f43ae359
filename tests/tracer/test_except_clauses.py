"""Clauses that wait for errors which depend on values are refused; those that can run, run."""

import warnings

import numpy as np
import pytest

import numhlo
from numhlo.errors import ConcretizationError, UnsupportedError

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
        numhlo.jit(fun)(np.zeros(3))
    with pytest.raises(ConcretizationError, match="whose error was caught"):
        numhlo.jit(lambda x: numhlo.grad(lambda y: fun(y).sum())(x))(np.zeros(3))


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
