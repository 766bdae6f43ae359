"""The Array API standard 2024.12, from its text: special cases, promotion, indexing, DLPack, at once and jitted."""

from __future__ import annotations

import cmath
import itertools
import math
import re

import numpy as np
import pytest

import numhlo
import numhlo.numpy as n

NAN, INF, PI = math.nan, math.inf, math.pi

# -------------------------------------------------------------------------------------------------- special cases

UNARY = {
    "abs": [(NAN, NAN), (-0.0, 0.0), (INF, INF), (-INF, INF)],
    "acos": [(NAN, NAN), (1.5, NAN), (-1.5, NAN), (1.0, 0.0)],
    "acosh": [(NAN, NAN), (0.5, NAN), (1.0, 0.0), (INF, INF)],
    "asin": [(NAN, NAN), (1.5, NAN), (-1.5, NAN), (0.0, 0.0), (-0.0, -0.0)],
    "asinh": [(NAN, NAN), (0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "atan": [(NAN, NAN), (0.0, 0.0), (-0.0, -0.0), (INF, PI / 2), (-INF, -PI / 2)],
    "atanh": [(NAN, NAN), (-1.5, NAN), (1.5, NAN), (-1.0, -INF), (1.0, INF), (0.0, 0.0), (-0.0, -0.0)],
    "ceil": [(3.0, 3.0), (INF, INF), (-INF, -INF), (0.0, 0.0), (-0.0, -0.0), (NAN, NAN)],
    "cos": [(NAN, NAN), (0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN)],
    "cosh": [(NAN, NAN), (0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF)],
    "exp": [(NAN, NAN), (0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0)],
    "expm1": [(NAN, NAN), (0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0)],
    "floor": [(3.0, 3.0), (INF, INF), (-INF, -INF), (0.0, 0.0), (-0.0, -0.0), (NAN, NAN)],
    "isfinite": [(NAN, False), (INF, False), (-INF, False), (1.0, True)],
    "isinf": [(NAN, False), (INF, True), (-INF, True), (1.0, False)],
    "isnan": [(NAN, True), (INF, False), (1.0, False)],
    "log": [(NAN, NAN), (-1.0, NAN), (0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF)],
    "log1p": [(NAN, NAN), (-1.5, NAN), (-1.0, -INF), (-0.0, -0.0), (0.0, 0.0), (INF, INF)],
    "log2": [(NAN, NAN), (-1.0, NAN), (0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF)],
    "log10": [(NAN, NAN), (-1.0, NAN), (0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF)],
    "round": [(3.0, 3.0), (INF, INF), (-INF, -INF), (0.0, 0.0), (-0.0, -0.0), (NAN, NAN), (2.5, 2.0), (-1.5, -2.0)],
    "sign": [(-0.0, 0.0), (0.0, 0.0), (2.5, 1.0), (-2.5, -1.0), (NAN, NAN), (INF, 1.0), (-INF, -1.0)],
    "signbit": [(0.0, False), (-0.0, True), (INF, False), (-INF, True), (2.0, False), (-2.0, True), (NAN, False)],
    "sin": [(NAN, NAN), (0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "sinh": [(NAN, NAN), (0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "sqrt": [(NAN, NAN), (-1.0, NAN), (0.0, 0.0), (-0.0, -0.0), (INF, INF)],
    "tan": [(NAN, NAN), (0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "tanh": [(NAN, NAN), (0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0)],
    "trunc": [(3.0, 3.0), (INF, INF), (-INF, -INF), (0.0, 0.0), (-0.0, -0.0), (NAN, NAN)],
}
"""Function, then operand and result of each case that the standard lists for real floating-point numbers."""

SIGNS = [(a, b, math.copysign(1.0, a) * math.copysign(1.0, b)) for a, b in itertools.product((1.0, -1.0), repeat=2)]
ADD = [
    (INF, -INF, NAN), (-INF, INF, NAN), (INF, INF, INF), (-INF, -INF, -INF), (INF, 2.0, INF), (-INF, 2.0, -INF),
    (2.0, INF, INF), (2.0, -INF, -INF), (-0.0, -0.0, -0.0), (-0.0, 0.0, 0.0), (0.0, -0.0, 0.0), (0.0, 0.0, 0.0),
    (0.0, 3.0, 3.0), (-0.0, 3.0, 3.0), (3.0, 0.0, 3.0), (3.0, -0.0, 3.0), (3.0, -3.0, 0.0),
]  # fmt: skip
NANS = [(NAN, 1.0, NAN), (1.0, NAN, NAN), (NAN, NAN, NAN)]
DIVIDE = [
    *[(s * INF, t * INF, NAN) for s, t, _ in SIGNS], *[(s * 0.0, t * 0.0, NAN) for s, t, _ in SIGNS],
    *[(s * 0.0, t * 2.0, st * 0.0) for s, t, st in SIGNS], *[(s * 2.0, t * 0.0, st * INF) for s, t, st in SIGNS],
    *[(s * INF, t * 2.0, st * INF) for s, t, st in SIGNS], *[(s * 2.0, t * INF, st * 0.0) for s, t, st in SIGNS],
]  # fmt: skip
BINARY = {
    "add": [*NANS, *ADD],
    "subtract": [*NANS, *[(a, -b, c) for a, b, c in ADD]],
    "atan2": [
        *NANS, (1.0, 0.0, PI / 2), (1.0, -0.0, PI / 2), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0), (0.0, -0.0, PI),
        (0.0, -1.0, PI), (-0.0, 1.0, -0.0), (-0.0, 0.0, -0.0), (-0.0, -0.0, -PI), (-0.0, -1.0, -PI),
        (-1.0, 0.0, -PI / 2), (-1.0, -0.0, -PI / 2), (1.0, INF, 0.0), (1.0, -INF, PI), (-1.0, INF, -0.0),
        (-1.0, -INF, -PI), (INF, 1.0, PI / 2), (-INF, 1.0, -PI / 2), (INF, INF, PI / 4), (INF, -INF, 3 * PI / 4),
        (-INF, INF, -PI / 4), (-INF, -INF, -3 * PI / 4),
    ],
    "copysign": [(s * a, t * b, t * a) for s, t, _ in SIGNS for a, b in ((2.0, 3.0), (0.0, 0.0), (INF, 0.0), (2.0, INF))],
    "divide": [*NANS, *DIVIDE],
    "floor_divide": [
        *NANS, *[(s * INF, t * INF, NAN) for s, t, _ in SIGNS], *[(s * 0.0, t * 0.0, NAN) for s, t, _ in SIGNS],
        *[(s * 0.0, t * 2.0, st * 0.0) for s, t, st in SIGNS], *[(s * 2.0, t * 0.0, st * INF) for s, t, st in SIGNS],
        (2.0, INF, 0.0), (-2.0, -INF, 0.0), (-2.0, INF, -1.0), (2.0, -INF, -1.0),
        *[(s * INF, t * 2.0, NAN) for s, t, _ in SIGNS],
    ],
    "hypot": [(INF, NAN, INF), (NAN, -INF, INF), (-INF, 1.0, INF), (1.0, INF, INF), (NAN, 1.0, NAN), (1.0, NAN, NAN), (0.0, -3.0, 3.0), (3.0, -0.0, 3.0)],
    "maximum": [*NANS, (1.0, INF, INF), (-INF, 1.0, 1.0)],
    "minimum": [*NANS, (1.0, INF, 1.0), (-INF, 1.0, -INF)],
    "multiply": [
        *NANS, *[(s * INF, t * 0.0, NAN) for s, t, _ in SIGNS], *[(s * 0.0, t * INF, NAN) for s, t, _ in SIGNS],
        *[(s * INF, t * INF, st * INF) for s, t, st in SIGNS], *[(s * INF, t * 2.0, st * INF) for s, t, st in SIGNS],
        *[(s * 2.0, t * INF, st * INF) for s, t, st in SIGNS], *[(s * 2.0, t * 0.0, st * 0.0) for s, t, st in SIGNS],
    ],
    "nextafter": [*NANS, (0.0, -0.0, -0.0), (2.0, 2.0, 2.0)],
    "pow": [
        (2.0, NAN, NAN), (NAN, 0.0, 1.0), (NAN, -0.0, 1.0), (0.0, 0.0, 1.0), (INF, -0.0, 1.0), (NAN, 2.0, NAN),
        (1.0, 5.0, 1.0), (1.0, INF, 1.0), (2.0, INF, INF), (-2.0, INF, INF), (2.0, -INF, 0.0), (1.0, -INF, 1.0),
        (-1.0, INF, 1.0), (-1.0, -INF, 1.0), (0.5, INF, 0.0), (-0.5, INF, 0.0), (0.5, -INF, INF), (INF, 2.0, INF),
        (INF, -2.0, 0.0), (-INF, 3.0, -INF), (-INF, 2.0, INF), (-INF, 2.5, INF), (-INF, -3.0, -0.0), (-INF, -2.0, 0.0),
        (-INF, -2.5, 0.0), (0.0, 2.0, 0.0), (0.0, -2.0, INF), (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (-0.0, 2.5, 0.0),
        (-0.0, -3.0, -INF), (-0.0, -2.0, INF), (-0.0, -2.5, INF), (-8.0, 1 / 3, NAN), (-2.0, -0.5, NAN),
    ],
    "remainder": [
        *NANS, *[(s * INF, b, NAN) for s in (1, -1) for b in (2.0, -2.0, INF, -INF, 0.0)],
        *[(s * 0.0, t * 0.0, NAN) for s, t, _ in SIGNS], (0.0, 2.0, 0.0), (-0.0, 2.0, 0.0), (0.0, -2.0, -0.0),
        (-0.0, -2.0, -0.0), *[(s * 2.0, t * 0.0, NAN) for s, t, _ in SIGNS], (2.0, INF, 2.0), (2.0, -INF, -INF),
        (-2.0, INF, INF), (-2.0, -INF, -2.0),
    ],
    "equal": [(NAN, NAN, False), (NAN, 1.0, False), (INF, INF, True), (-INF, -INF, True), (-0.0, 0.0, True)],
    "not_equal": [(NAN, NAN, True), (INF, INF, False), (-0.0, 0.0, False)],
    "less": [(NAN, 1.0, False), (1.0, NAN, False), (-INF, INF, True), (-0.0, 0.0, False)],
    "less_equal": [(NAN, 1.0, False), (1.0, NAN, False), (-0.0, 0.0, True)],
    "greater": [(NAN, 1.0, False), (1.0, NAN, False), (INF, -INF, True)],
    "greater_equal": [(NAN, 1.0, False), (1.0, NAN, False), (-0.0, 0.0, True)],
}  # fmt: skip
"""As `UNARY`. `floor_divide` with infinities is NumPy's: NaN and -1 where the standard has infinities and -0."""


def run_each_way(function, *arrays):
    """Return what a function gives at once, and jitted."""
    with np.errstate(all="ignore"):
        return function(*arrays), numhlo.jit(function, tier0=False)(*arrays)


def assert_special(name, found, wanted, operands):
    """Compare with signs of zeros, to three units in the last place."""
    assert found.dtype == wanted.dtype, name
    if wanted.dtype.kind == "f":
        same = np.isclose(found, wanted, rtol=3 * np.finfo(wanted.dtype).eps, atol=0, equal_nan=True)
        same &= (np.signbit(found) == np.signbit(wanted)) | np.isnan(wanted)
    else:
        same = found == wanted
    assert same.all(), (name, [(*[x[k] for x in operands], found[k], wanted[k]) for k in np.flatnonzero(~same)])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("table", [UNARY, BINARY], ids=["unary", "binary"])
def test_special_cases(table, dtype):
    columns = {name: [np.array(c) for c in zip(*rows, strict=True)] for name, rows in table.items()}
    operands = {name: [c.astype(dtype) for c in cs[:-1]] for name, cs in columns.items()}
    every = lambda given: {name: getattr(n, name)(*given[name]) for name in table}
    for results in run_each_way(every, operands):
        for name, cs in columns.items():
            wanted = cs[-1].astype(dtype) if cs[-1].dtype.kind == "f" else cs[-1]
            assert_special(name, np.asarray(results[name]), wanted, operands[name])


COMPLEX = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "log", "sin", "sinh", "sqrt", "tan", "tanh")  # fmt: skip
WITHOUT_C = ("exp2", "log10", "log1p", "log2", "reciprocal")
PARTS = (0.0, -0.0, 1.0, -1.0, INF, -INF, NAN)


def by_the_c_standard(name, z):
    """Return Python's value, which has the special cases of C99's annex G, as the standard does; None where it raises."""
    try:
        return getattr(cmath, name)(z)
    except (ValueError, OverflowError):
        return None


def complex_fault(operand, found, wanted):
    """Return whether a result is not what the standard lists.

    Signs of zeros and infinities are unspecified beside a NaN, and where both parts of the operand are infinite.
    """
    unsigned = cmath.isnan(wanted) or (math.isinf(operand.real) and math.isinf(operand.imag))
    pairs = [(found.real, wanted.real), (found.imag, wanted.imag)]
    if unsigned:
        pairs = [(abs(a), abs(b)) for a, b in pairs]
    same = [math.isnan(a) if math.isnan(b) else math.isclose(a, b, rel_tol=1e-14) for a, b in pairs]
    return not all(same) or not (unsigned or all(math.copysign(1, a) == math.copysign(1, b) for a, b in pairs))


@pytest.mark.slow
def test_special_cases_of_complex_numbers():
    z = np.array([complex(a, b) for a, b in itertools.product(PARTS, repeat=2)])
    every = lambda x: {name: getattr(n, name)(x) for name in (*COMPLEX, *WITHOUT_C)}
    with np.errstate(all="ignore"):
        by_numpy = {name: value.tolist() for name, value in every(z).items()}
    wrong = []
    for results in run_each_way(every, z):
        for name, values in by_numpy.items():
            for operand, found, value in zip(z.tolist(), np.asarray(results[name]).tolist(), values, strict=True):
                by_c = None if name in WITHOUT_C or cmath.isnan(operand) else by_the_c_standard(name, operand)
                wanted = value if by_c is None else by_c  # C's editions differ on operands with a NaN
                if complex_fault(operand, found, wanted):
                    wrong.append((name, operand, found, wanted))
    assert wrong == []


# ------------------------------------------------------------------------------------------------------ promotion

SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
FLOATS, COMPLEXES = ("float32", "float64"), ("complex64", "complex128")
NUMERIC = (*SIGNED, *UNSIGNED, *FLOATS, *COMPLEXES)


def promoted(a, b):
    """Return the standard's table: within a kind the wider; signed and unsigned the signed that holds both."""
    if a == b:
        return a
    kinds = [next(k for k in (SIGNED, UNSIGNED, FLOATS, COMPLEXES, ("bool",)) if x in k) for x in (a, b)]
    if kinds[0] is kinds[1]:
        return max(a, b, key=kinds[0].index)
    if set(kinds) == {SIGNED, UNSIGNED}:
        signed, unsigned = (a, b) if kinds[0] is SIGNED else (b, a)
        place = max(SIGNED.index(signed), UNSIGNED.index(unsigned) + 1)
        return SIGNED[place] if place < 4 else None
    if set(kinds) == {FLOATS, COMPLEXES}:
        place = max(k.index(x) for k, x in zip(kinds, (a, b), strict=True))
        return COMPLEXES[place]
    return None  # mixed kinds are left to the library


def test_promotion():
    pairs = [(a, b, promoted(a, b)) for a in ("bool", *NUMERIC) for b in ("bool", *NUMERIC)]
    pairs = [pair for pair in pairs if pair[2] is not None]
    assert len(pairs) == 1 + 16 + 16 + 24 + 4 + 4 + 8  # bools; signed, unsigned, mixed; floats, complex, mixed
    arrays = {name: np.ones(2, name) for name in ("bool", *NUMERIC)}
    add = lambda given: [
        n.maximum(given[a], given[b]) if "complex" in a + b else n.add(given[a], given[b]) for a, b, _ in pairs
    ]
    for results in run_each_way(add, arrays):
        assert [x.dtype.name for x in results] == [c for _, _, c in pairs]
    assert [n.result_type(a, b).name for a, b, _ in pairs] == [c for _, _, c in pairs]

    def with_scalars(given):
        return [[given[d] * 2 for d in NUMERIC], [given[d] * 2.0 for d in FLOATS], [given[d] + 1j for d in (*FLOATS, *COMPLEXES)],
                [given["bool"] & True], [n.where(given["bool"], given[d], 1) for d in NUMERIC]]  # fmt: skip

    for results in run_each_way(with_scalars, arrays):
        names = [[x.dtype.name for x in row] for row in results]
        assert names == [list(NUMERIC), list(FLOATS), [*COMPLEXES, *COMPLEXES], ["bool"], list(NUMERIC)]


def test_sums_are_wide_enough():
    x = {name: np.ones(3, name) for name in ("bool", *NUMERIC)}
    for function in (n.sum, n.prod, n.cumulative_sum, n.cumulative_prod):
        for results in run_each_way(lambda given, f=function: {k: f(v) for k, v in given.items() if k != "bool"}, x):
            for name, result in results.items():
                wanted = "int64" if name in SIGNED else "uint64" if name in UNSIGNED else name
                assert result.dtype.name == wanted
    assert n.argmax(x["int8"]).dtype == n.searchsorted(x["float32"], 1.0).dtype == np.int64
    assert n.mean(x["float32"]).dtype == n.std(x["float32"], correction=1).dtype == np.float32


# -------------------------------------------------------------------------------- the array object, indexing, exchange

METHODS = "__abs__ __add__ __and__ __array_namespace__ __bool__ __complex__ __dlpack__ __dlpack_device__ __eq__ __float__ __floordiv__ __ge__ __getitem__ __gt__ __index__ __int__ __invert__ __le__ __lshift__ __lt__ __matmul__ __mod__ __mul__ __ne__ __neg__ __or__ __pos__ __pow__ __rshift__ __setitem__ __sub__ __truediv__ __xor__ to_device"  # fmt: skip


@pytest.mark.oracle("numpy>=2.3")
def test_array_objects():
    x = n.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

    def look(y):
        missing = [m for m in METHODS.split() if not hasattr(y, m)]
        missing += [
            f"__{w}{o}__"
            for o in [
                "add",
                "sub",
                "mul",
                "truediv",
                "floordiv",
                "pow",
                "mod",
                "matmul",
                "and",
                "or",
                "xor",
                "lshift",
                "rshift",
            ]
            for w in "ri"
            if not hasattr(y, f"__{w}{o}__")
        ]
        assert missing == [] and (y.shape, y.ndim, y.size, y.device) == ((2, 3), 2, 6, "cpu")
        assert (
            y.dtype == n.float64
            and y.to_device("cpu").shape == (2, 3)
            and y.__array_namespace__(api_version="2024.12") is n
        )
        with pytest.raises(ValueError, match="gpu"):
            y.to_device("gpu")
        return y.mT, y.T, +y, -y, abs(y), y @ y.mT, y // 2, y % 2, y**2, 2 - y, y == 2.0, y.__pow__(2)

    for results in run_each_way(look, x):
        for found, wanted in zip(results, look(np.asarray(x).view(numhlo.Array)), strict=True):
            np.testing.assert_array_equal(found, wanted)
    one = n.asarray(3)
    assert (bool(one), int(one), float(one), complex(one), one.__index__()) == (True, 3, 3.0, 3 + 0j, 3)


INDICES = [
    0, -1, (1, 2), (1, -1), slice(None), slice(0, 1), slice(None, None, -1), slice(5, 0, -2), slice(-2, 10), ...,
    (..., 0), (0, ...), (None, 0), (0, None), (..., None, 1), (slice(None), None, slice(1, 3)), (slice(2, 1),), (),
]  # fmt: skip


def test_indexing():
    x = np.arange(12.0).reshape(3, 4)
    rows, columns = np.array([2, 0]), np.array([[1], [3]])

    def read(y, r, c):
        return [
            *[y[index] for index in INDICES],
            y[r, c],
            y[r, 1],
            n.take(y, r, axis=1),
            n.take_along_axis(y, n.argsort(-y), axis=1),
        ]

    for results in run_each_way(read, x, rows, columns):
        for found, wanted in zip(results, read(x, rows, columns), strict=True):
            np.testing.assert_array_equal(found, wanted)
    assert n.asarray(x)[n.asarray(x) > 5].shape == (6,) and n.asarray(5.0)[n.asarray(True)].shape == (1,)

    def write(y, m):
        for k, index in enumerate(INDICES):
            y[index] = k
        y[m] = -1.0
        y[0, 1:] = y[1, :3]
        return y

    mask = x % 3 == 0
    for found in run_each_way(write, x.copy(), mask):
        np.testing.assert_array_equal(found, write(x.copy(), mask))
    for wrong in (3, -4, (0, 4), (0, 0, 0)):
        for way in (lambda i: n.asarray(x)[i], lambda i: numhlo.jit(lambda y: y[i])(x)):
            with pytest.raises(IndexError):
                way(wrong)
    with pytest.raises(IndexError):
        n.expand_dims(x, axis=4)
    with pytest.raises(ValueError, match="squeeze"):
        n.squeeze(x, axis=0)


@pytest.mark.oracle("numpy>=2.3")
def test_exchange_by_dlpack():
    x = n.asarray(np.arange(6.0).reshape(2, 3))
    assert x.__dlpack_device__() == (1, 0)
    for library in (np, n):
        shared = library.from_dlpack(x)
        shared[0, 0] = 7.0
        assert x[0, 0] == 7.0
        own = library.from_dlpack(x, copy=True)
        own[0, 0] = 0.0
        assert x[0, 0] == 7.0
    capsule = x.__dlpack__(stream=None, max_version=(1, 0), dl_device=(1, 0), copy=False)
    assert re.search("dltensor", repr(capsule))
    assert type(n.from_dlpack(np.ones(2), device="cpu")) is numhlo.Array
    np.testing.assert_array_equal(numhlo.jit(lambda y: n.from_dlpack(np.ones(2)) + y)(2.0), [3.0, 3.0])


def test_inspection():
    info = n.__array_namespace_info__()
    assert n.__array_api_version__ == "2024.12"
    assert set(info.capabilities()) >= {"boolean indexing", "data-dependent shapes", "max dimensions"}
    assert info.default_dtypes(device="cpu") == {
        "real floating": n.float64, "complex floating": n.complex128, "integral": n.int64, "indexing": n.int64,
    }  # fmt: skip
    kinds = {"bool": ("bool",), "signed integer": SIGNED, "unsigned integer": UNSIGNED, "real floating": FLOATS,
             "complex floating": COMPLEXES, "integral": SIGNED + UNSIGNED, "numeric": NUMERIC}  # fmt: skip
    for kind, names in kinds.items():
        assert set(info.dtypes(kind=kind)) == set(names)
        assert all(n.isdtype(n.dtype(name), kind) for name in names)
        assert not any(n.isdtype(n.dtype(name), kind) for name in {"bool", *NUMERIC} - set(names))
    for name, bits in (("float32", 32), ("float64", 64)):
        limits = n.finfo(name)
        assert limits.bits == bits and limits.dtype == np.dtype(name)
        assert {type(v) for v in (limits.eps, limits.max, limits.min, limits.smallest_normal)} == {float}
    assert isinstance(n.meshgrid(np.ones(2), np.ones(3)), list | tuple) and n.pi == math.pi and n.newaxis is None


@pytest.mark.parametrize("run", [lambda fun: fun, numhlo.jit])
def test_versions_that_there_are_not(run):
    with pytest.raises(ValueError, match=r"1999\.01"):
        run(lambda x: x.__array_namespace__(api_version="1999.01").sum(x))(n.ones(2))
