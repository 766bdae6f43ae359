"""Functions of Python that need values: on traced arrays they are what Python gives outside."""

import math

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import UnsupportedError

X = np.array([2.0, -1.0, 3.5, 0.0])

PROGRAMS = {
    "any and all of an array": lambda x: (any(x > 3), all(x > 3), any(x), all(x)),
    "of generators": lambda x: (any(v > 3 for v in x), all(v > -2 for v in x)),
    "of known and unknown": lambda x: (any([False, x[0]]), all([1, x[3]]), any([x[3], True]), all([x[0], False])),
    "of nothing": lambda x: (any([]), all([]), any(v for v in x[:0])),
    "sorted": lambda x: (*sorted(x), *sorted(x, reverse=True), *sorted([3, 1])),
    "in": lambda x: (3.5 in x, x[1] in x, 9 in x, x[0] in [1, x[1]], x[0] not in (2.0, 5.0), 3 in range(4)),
    "vectorized": lambda x: (
        *np.round(np.vectorize(math.erf)(x), 12),
        *np.vectorize(lambda a, b: max(a, float(b)))(x, 1),
    ),
    "scalars": lambda x: (np.isscalar(x[0]), np.isscalar(x), np.isscalar(2), np.require(x, requirements="CO").sum()),
    "required dtypes": lambda x: np.require(x, np.float32),
    "flags": lambda x: (
        x.flags.c_contiguous,
        x[::2].flags["C"],
        x.reshape(2, 2).T.flags.f_contiguous,
        x.flags.writeable,
        x[1:].flags.owndata,
        x.reshape(2, 2).flags.fnc,
        x.reshape(2, 2)[:, 0].flags.forc,
        x.flags.owndata,
    ),
    "of what is chosen": lambda x: (sum(x[x > 0]), max(x[x < 3]), min(x[x < 3]), sum(x[x > 0] > 3)),
    "ordered by keys": lambda x: (
        max(range(4), key=lambda k: x[k]),
        min(enumerate(x), key=lambda pair: pair[1]),
        *sorted(range(4), key=lambda k: x[k] ** 2),
        *sorted([x[0], x[3], 1.0], reverse=True),
        *sorted(((k % 2, v) for k, v in enumerate(x)), key=lambda pair: (pair[0], -pair[1])),
        max(range(40), key=lambda k: np.sin(x[0] * k)),
    ),
    "ordered pairs": lambda x: (max((v, k) for k, v in enumerate(x)), min((v > 0, v) for v in x), in_order(list(x))),
    "defaults": lambda x: (max((v for v in x[:0]), default=3), min([x[0]], default=2), max(x[0], x[2], key=abs)),
    "equal keys": lambda x: (
        max([(1.0, x[0]), (2.0, x[0])], key=lambda pair: pair[1])[0],
        *[k for k, _ in sorted([(1, x[0]), (2, x[0]), (0, x[1])], key=lambda pair: pair[1], reverse=True)],
    ),
    "bool": lambda x: (bool(x[0]), bool(x[3] > 1), bool(x[3])),
    "from an iterator": lambda x: (np.fromiter((2 * v for v in x), float), np.fromiter(iter(range(5)), int, 2)),
    "module math": lambda x: (
        math.isclose(x[0], x[0] + 1e-12),
        math.isclose(x[0], x[1], rel_tol=5),
        math.isclose(x[0] * np.inf, np.inf),
        math.dist(x[:2], x[2:]),
        math.hypot(x[0], x[1], 2.0),
        math.fsum(x),
        *math.modf(x[2]),
        math.ulp(x[1]),
        math.gamma(x[0]),
        math.lgamma(x[2]) - math.log(math.gamma(x[2])) > 1e-9,
    ),
    "integers of module math": lambda x: (
        *[math.isqrt(int(abs(x[k])) + n) for k in range(4) for n in (*range(5), 2**52, 2**63 - 4097)],
        math.isqrt(int(x[0]) * 0 + 3037000499**2 - 1),
        math.gcd(int(x[3]), 12, int(4 * x[2])),
        math.lcm(int(x[3]), 12),
        np.float32(2) * math.gcd(int(x[0]), 3),
    ),
    "parts of floats": lambda x: (*math.frexp(x[2]), math.ldexp(x[0], 3), math.ldexp(0.5, int(x[0])), *math.frexp(8.0)),
    "sorted lists": lambda x: (*sorted_as_a_list(x),),
    "mapped classes": lambda x: (*map(float, x), *map(int, x), *map(bool, x), *filter(bool, [1, 0])),
    "own tables": lambda x: ([3, 1, 2, 0][x.argmax()], (1.5, 2.5)[int(x[0] > 0)], [x, -x][x.argmin() % 2]),
    "complex": lambda x: (complex(x[0], x[1]), complex(x[0], 2), complex(x[0]), complex(1, 2)),
}


def sorted_as_a_list(x):
    items = list(x)
    items.sort()
    return items


def in_order(items):
    items.sort(key=lambda v: -v)
    return np.array(items)


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_outside(name):
    f = PROGRAMS[name]
    found, expected = numhlo.jit(f)(X), f(X)
    assert [np.asarray(x).tolist() for x in found] == [np.asarray(x).tolist() for x in expected]
    assert [np.asarray(x).dtype for x in found] == [np.asarray(x).dtype for x in expected]


NAN = np.nan
LINES = [
    np.sin(np.arange(40.0)), np.sin(np.arange(40.0)).astype(np.float32), np.arange(40, dtype=np.uint8) * 7, np.arange(40) % 3 > 0,
    np.exp(1j * np.arange(20)), np.sin(np.arange(60.0)).reshape(20, 3), np.array([NAN, 1, 2] * 7), np.array([1, NAN, 2] * 7),
    np.array([-np.inf, NAN] * 10), np.full(20, NAN), np.array([-0.0] * 10 + [0.0] * 10), np.array([0.0, -0.0] * 10),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(LINES)))
@pytest.mark.parametrize(
    "f",
    [
        lambda x: sum(x),
        lambda x: sum(x, 1),
        lambda x: sum(x, 1.5),
        lambda x: sum(x, x[0]),
        lambda x: sum(x != 0),
        lambda x: max(x),
        lambda x: min(x),
    ],
)
def test_many_elements_as_outside(f, k):
    try:
        with np.errstate(over="ignore"):
            expected = np.asarray(f(LINES[k]))
    except (TypeError, ValueError):
        pytest.skip("no number")
    found = numhlo.jit(f)(LINES[k])
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found.real), np.signbit(expected.real))


def test_many_elements_are_few_operations():
    x = np.arange(2000.0)
    for f in (lambda x: sum(x), lambda x: max(x), lambda x: min(x)):
        assert len(numhlo.jit(f).lower(x).as_text().splitlines()) < 100


def test_numbers_stay_weak():
    f = numhlo.jit(lambda x: np.float32(1) * complex(x[0], x[1]))
    assert f(X).dtype == np.complex64


@pytest.mark.parametrize(("name", "fix"), [("comb", "special.comb"), ("perm", "poch"), ("factorial", "factorial")])
def test_integers_of_any_length(name, fix):
    with pytest.raises(
        UnsupportedError, match=rf"math.{name} of a traced value\n  at test_stand_ins.*\n.*write .*{fix}"
    ):
        numhlo.jit(lambda n: getattr(math, name)(*[n, 2][: 1 + (name != "factorial")]))(5)
    assert numhlo.jit(lambda x: x * getattr(math, name)(*[3, 3][: 1 + (name == "comb")]))(1.0) in (1, 6)


def test_what_can_not_be_chosen_by_keys():
    names = ["first", "second"]
    with pytest.raises(UnsupportedError, match=r"(?s)max\(\) by traced keys.*test_stand_ins.*index it by argmax"):
        numhlo.jit(lambda x: max(names, key=lambda name: x[names.index(name)]))(X)
    with pytest.raises(ValueError, match="empty"):
        numhlo.jit(lambda x: max(v for v in x[:0]))(X)


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.fromfunction(lambda i, j: i + 0.5 * j, (3, 3)),
        lambda: np.mgrid[0:3.0, 0:3][0],
        lambda: np.ogrid[0:3.0, 0:3][0],
        lambda: np.hanning(5),
        lambda: np.kaiser(5, 2.0),
    ],
    ids=["fromfunction", "mgrid", "ogrid", "hanning", "kaiser"],
)
def test_arrays_made_of_numbers_alone_are_written(make):
    def write(x):
        made = make()
        made[0] = x
        made[1:] += x
        return made

    jitted = numhlo.jit(write)
    for x in (2.5, -1.0, 2.5):
        np.testing.assert_allclose(jitted(x), write(x), rtol=1e-12, atol=1e-12)
        jitted.wait()
