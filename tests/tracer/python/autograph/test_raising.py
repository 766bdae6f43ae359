"""`raise` where a traced condition decides: the compiled program raises what Python raises."""

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import ConcretizationError, UnsupportedError

X = np.arange(5.0)


def first_above(x, limit):
    for i in range(len(x)):
        if x[i] > limit:
            return i
    raise ValueError("no element is larger")


def newton(x0):
    x = x0
    for k in range(6):  # noqa: B007 - it is used where the loop is over
        step = (x * x - 2) / (2 * x)
        x = x - step
        if abs(step) < 1e-12:
            return x
    raise RuntimeError(f"no convergence from {x0}: {x:.3f} after {k} steps")


def checked_root(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    return np.sqrt(x)


def multiple_of_seven(n):
    while n > 0:
        if n % 7 == 0:
            return n
        n -= 1
    raise ValueError("none")


def limited(x):
    if x > 10:
        raise OverflowError("large", x)
    return x + 1


def calls_helpers(x):
    y = limited(x)
    if y > 5:
        y = limited(2 * y)
    return y


def by_kind(kind, x):
    if kind == 0:
        y = x
    elif kind == 1:
        y = -x
    else:
        raise KeyError(f"kind {kind}")
    return y


def roots(x, out):
    for k in range(len(x)):
        if x[k] < 0:
            raise ValueError(f"negative at {k}: {x[k]}")
        out[k] = np.sqrt(x[k])
    return out.sum()


def halvings(x):
    n = 0
    while x > 1:
        x = x / 2
        n += 1
        if n > 5:
            raise RuntimeError(f"too many: {n}")
    return n


def push(ring, head, tail):
    if (head + 1) % 4 == tail:
        raise IndexError("full") from None
    ring[head] = 1.0
    return (head + 1) % 4


def by_sign(sign, x):
    if sign > 0:
        x = limited(x)
    elif sign < 0:
        raise ValueError("negative")
    else:
        raise LookupError("zero")
    return x


def outcome(fun, arguments):
    given = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
    try:
        return np.asarray(fun(*given)).tolist()
    except (ValueError, RuntimeError, LookupError, OverflowError) as error:
        return type(error), str(error)


CALLS = [
    (first_above, [(X, 2.0), (X, 9.0), (X, 0.0)]),
    (newton, [(1.0,), (1e9,), (2.0,)]),
    (checked_root, [(1.0,), (-2.0,), (4.0,)]),
    (multiple_of_seven, [(20,), (5,), (7,)]),
    (calls_helpers, [(1.0,), (7.0,), (50.0,), (2.0,)]),
    (by_kind, [(0, 1.0), (1, 1.0), (2, 1.0), (0, 3.0)]),
    (roots, [(X, np.zeros(5)), (X - 2, np.zeros(5)), (X, np.zeros(5))]),
    (roots, [(np.ones(300), np.zeros(300)), (np.r_[np.ones(299), -1], np.zeros(300))]),
    (halvings, [(3.0,), (3e9,), (1.0,)]),
    (by_sign, [(1, 1.0), (-1, 1.0), (0, 1.0), (1, 12.0)]),
    (push, [(np.zeros(4), 0, 2), (np.zeros(4), 1, 2), (np.zeros(4), 2, 2)]),
]


@pytest.mark.parametrize("tier0", [None, False])
@pytest.mark.parametrize(("fun", "calls"), CALLS, ids=lambda f: getattr(f, "__name__", None))
def test_the_program_raises_what_python_raises(fun, calls, tier0):
    jitted = numhlo.jit(fun, tier0=tier0)
    jitted.clear_cache()  # functions share what is compiled
    for arguments in [*calls, *calls]:
        assert outcome(jitted, arguments) == outcome(fun, arguments)
    assert jitted.cache_info().misses == 1


def test_under_transformations():
    assert numhlo.jit(numhlo.grad(checked_root))(4.0) == 0.25
    mapped = numhlo.jit(numhlo.vmap(checked_root))
    assert mapped(np.array([4.0, 9.0])).tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match=r"negative: -9\.0"):
        mapped(np.array([4.0, -9.0]))
    inner = numhlo.jit(checked_root)
    outer = numhlo.jit(lambda x: inner(x) + 1)
    assert outer(4.0) == 3.0
    with pytest.raises(ValueError, match=r"negative: -4\.0"):
        outer(-4.0)


def test_a_known_condition_raises_while_tracing():
    @numhlo.jit
    def checked(x):
        if x.ndim != 1:
            raise ValueError(f"{x.ndim} dimensions")
        return checked_root(x[0])

    with pytest.raises(ValueError, match="2 dimensions"):
        checked(np.ones((2, 2)))
    assert checked(np.array([4.0])) == 2.0


def test_clauses_around_it_are_refused():
    def named(x):
        try:
            return checked_root(x)
        except ValueError:
            return 0 * x

    with pytest.raises(UnsupportedError, match="except ValueError around a raise"):
        numhlo.jit(named)(4.0)

    def any_error(x):
        try:
            return checked_root(x)
        except Exception:  # noqa: BLE001 - what is tested
            return 0 * x

    with pytest.raises(ConcretizationError, match="a raise on a traced condition, whose error was caught"):
        numhlo.jit(any_error)(4.0)


def test_what_may_not_run_and_is_no_branch_is_refused():

    def always(x):
        raise ValueError(f"always {x}")

    with pytest.raises(ConcretizationError, match="a raise in a conditional expression"):
        numhlo.jit(lambda x: always(x) if x > 0 else x)(1.0)

    def in_jitted(x):
        if x > 0:
            x = numhlo.jit(always)(x)
        return x

    with pytest.raises(ConcretizationError, match="a raise in a transformation or a jitted function"):
        numhlo.jit(in_jitted)(1.0)
