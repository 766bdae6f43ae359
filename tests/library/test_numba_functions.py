"""Functions that users compiled by Numba, called from jitted functions: compared with calls of them by Numba."""

import math

import numba
import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import ControlFlowTypeError, UnsupportedError

X = np.array([0.5, 1.5, 3.0, 0.2, 7.0])


@numba.njit
def kept(x, limit):
    """Branch on elements in a loop."""
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] > limit:
            total += x[i]
        else:
            total -= 0.5
    return total


@numba.njit
def fill(x, out):
    """Write into an argument."""
    for i in range(len(x)):
        out[i] = x[i] * 2


@numba.njit
def nested(x):
    """Call other helpers."""
    out = np.empty_like(x)
    fill(x, out)
    return out + kept(x, 1.0)


@numba.njit
def side_by_side(x):
    """Loop over Numba's range."""
    out = np.empty_like(x)
    for i in numba.prange(x.shape[0]):
        out[i] = math.sqrt(x[i]) + i
    return out


@numba.njit
def first_terms(x, n):
    """Loop over Numba's range of a length that is an argument."""
    total = 0.0
    for i in numba.prange(n):
        total += x[i]
    return total


@numba.njit
def root(a):
    """Loop until a condition holds."""
    x = a
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
    return x


@numba.njit
def found(x, value):
    """Return from inside a loop."""
    for i in range(x.shape[0]):
        if x[i] >= value:
            return i
    return -1


@numba.njit
def cast(x):
    """Convert by a type of Numba's."""
    return numba.float32(x[0]) + x


@numba.njit
def squares(n):
    """Return an array that depends on no array."""
    out = np.zeros(n)
    for i in range(n):
        out[i] = i * i
    return out


@numba.vectorize
def distance(x, y):
    """Branch on elements."""
    if x > y:
        return x - y
    return y - x


@numba.vectorize(["float64(float64, float64)"])
def product(x, y):
    """Compile for one type."""
    return x * y + 1


@numba.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
def shifted(x, y, out):
    """Fill in an array."""
    for i in range(x.shape[0]):
        out[i] = x[i] + y


@numba.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
def summed(x, out):
    """Fill in a scalar."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
    out[0] = total


def filled(x):
    """Give a helper an array of the program's to write into."""
    out = np.zeros_like(x)
    fill(x, out)
    return out


def with_table(x):
    """Write into what a helper returned for known arguments."""
    table = squares(4)
    table[0] = x[1]
    return table * x[:4]


PROGRAMS = {
    "branches": lambda x: kept(x * 1.0, 1.0),
    "arguments written into": filled,
    "helpers of helpers": lambda x: nested(x) * 2,
    "prange": lambda x: side_by_side(x),
    "while": lambda x: root(x[2]),
    "returns from loops": lambda x: found(x, 2.0),
    "types as functions": lambda x: cast(x),
    "constants": with_table,
    "vectorize": lambda x: (distance(x, 1.0), distance(x[:, None], x)),
    "vectorize of a type": lambda x: product(x, 2),
    "guvectorize": lambda x: (shifted(x, 2.0), shifted(np.stack([x, x]), x[:2])),
    "guvectorize to scalars": lambda x: summed(np.stack([x, x + 1])),
    "map": lambda x: sum(map(root, x)),
    "numpy.vectorize": lambda x: np.vectorize(root)(x),
}


def same(one, other):
    """Compare one result, or a tuple of them."""
    pairs = zip(one, other, strict=True) if isinstance(other, tuple) else [(one, other)]
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-12)
        assert np.asarray(a).dtype == np.asarray(b).dtype


@pytest.mark.parametrize("name", PROGRAMS)
def test_helpers_are_traced(name):
    program, x = PROGRAMS[name], X.copy()
    compiled = numhlo.jit(program)
    for k in range(3):
        same(compiled(x + k), program(x + k))
    np.testing.assert_array_equal(x, X)
    assert "custom_call @numhlo.kernel" not in compiled.lower(x).as_text()


def test_jit_of_a_compiled_function():
    for compiled in (numhlo.jit(kept), numhlo.jit(kept, autograph=True)):
        for limit in (1.0, 2.0):
            same(compiled(X, limit), kept(X, limit))


def test_prange_of_a_traced_length():
    compiled = numhlo.jit(lambda x, n: first_terms(x, n))
    for n in (0, 3, 5):
        same(compiled(X, n), first_terms(X, n))


def test_helpers_under_transformations():
    rows = np.stack([X, X + 1, X * 2])
    batched = numhlo.jit(numhlo.vmap(lambda row: kept(row, 1.0)))
    np.testing.assert_allclose(batched(rows), [kept(row, 1.0) for row in rows])
    np.testing.assert_allclose(numhlo.vmap(kept, in_axes=(0, None))(rows, 1.0), [kept(row, 1.0) for row in rows])
    np.testing.assert_array_equal(numhlo.grad(lambda x: kept(x, 1.0))(X), X > 1.0)
    np.testing.assert_array_equal(numhlo.jit(numhlo.grad(lambda x: nested(x).sum()))(X), 2.0 + 5.0 * (X > 1.0))


@numba.njit
def longer(x):
    """Grow a list, which tracing can't."""
    items = [0.0]
    for i in range(x.shape[0]):
        if x[i] > 1.0:
            items.append(x[i])
    return len(items), items[-1]


@numba.njit
def longer_and_written(x):
    """Grow a list, and write into the argument."""
    items = [0.0]
    for i in range(x.shape[0]):
        if x[i] > 1.0:
            items.append(x[i])
    x[0] = len(items)
    return len(items)


@numba.njit
def selected(x):
    """Return an array of an unknown length."""
    items = [0.0]
    for i in range(x.shape[0]):
        if x[i] > 1.0:
            items.append(x[i])
    return np.array(items)


def test_what_cannot_be_traced_is_a_native_kernel():
    compiled = numhlo.jit(lambda x: longer(x * 1.5)[0] + longer(x)[1])
    for k in range(3):
        same(compiled(X + k), longer((X + k) * 1.5)[0] + longer(X + k)[1])
    compiled.wait()
    same(compiled(X), longer(X * 1.5)[0] + longer(X)[1])
    assert "custom_call @numhlo.kernel" in compiled.lower(X).as_text()
    rows = np.stack([X, X + 1])
    np.testing.assert_array_equal(
        numhlo.jit(numhlo.vmap(lambda row: longer(row)[0]))(rows), [longer(r)[0] for r in rows]
    )


@pytest.mark.parametrize("helper", [longer_and_written, selected])
def test_others_are_refused_by_name(helper):
    with pytest.raises(ControlFlowTypeError, match=f"in {helper.__name__}, made by numba.njit: .*") as caught:
        numhlo.jit(lambda x: helper(x * 1.0))(X)
    assert "test_numba_functions.py" in str(caught.value)


def test_options_and_types_that_are_not_there_are_refused():
    with pytest.raises(UnsupportedError, match=r"product\(\.\.\., where=\.\.\.\)"):
        numhlo.jit(lambda x: product(x, x, where=x > 1))(X)
    with pytest.raises(UnsupportedError, match="product of complex128, complex128"):
        numhlo.jit(lambda x: product(x, x))(X + 1j)
