"""Functions of Python that need values: on traced arrays they are what Python gives outside."""

import math

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import ConcretizationError

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
    "complex": lambda x: (complex(x[0], x[1]), complex(x[0], 2), complex(x[0]), complex(1, 2)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_outside(name):
    f = PROGRAMS[name]
    found, expected = numhlo.jit(f)(X), f(X)
    assert [np.asarray(x).tolist() for x in found] == [np.asarray(x).tolist() for x in expected]
    assert [np.asarray(x).dtype for x in found] == [np.asarray(x).dtype for x in expected]


def test_numbers_stay_weak():
    f = numhlo.jit(lambda x: np.float32(1) * complex(x[0], x[1]))
    assert f(X).dtype == np.complex64


def test_a_key_needs_values():
    with pytest.raises(ConcretizationError):
        numhlo.jit(lambda x: sorted(x, key=lambda v: -v))(X)
