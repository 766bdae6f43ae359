"""Conversions between dtypes as NumPy's names make them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy
import pytest

import numhlo
from numhlo import lax
from numhlo.lowering.ir.errors import DTypeError
from tests.library.agreement import check_all

Z = numpy.array([2j, 1j, 0, 1, 1 + 1j, -0.0, complex(0, numpy.nan)])


def put(np: Any, z: Any) -> Any:
    flags = np.zeros(z.shape, bool)
    flags[::2] = z[::2]
    return flags


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_imaginary_numbers_are_true(dtype):
    z = Z.astype(dtype)
    check_all([
        ("astype", lambda np, z: z.astype(bool), z),
        ("beside a bool", lambda np, z: (np.logical_and(z, True), np.logical_or(False, z), np.logical_xor(z, z > 1)), z),
        ("accumulate", lambda np, z: (np.logical_and.accumulate(z), np.logical_or.accumulate(z)), z),
        ("reduceat", lambda np, z: np.logical_and.reduceat(z, [0, 1, 3]), z),
        ("where", lambda np, z: np.sum(numpy.arange(7), where=z.astype(bool)), z),
    ])  # fmt: skip
    made = [("array", lambda np, z: np.array(z, dtype=bool), z), ("assigned", put, z)]
    check_all(made, plain=False)


def test_imaginary_numbers_are_true_in_batches():
    z = Z.astype(numpy.complex64)[:6].reshape(2, 3)
    found = numhlo.vmap(lambda z: numpy.logical_and.reduceat(z, [0, 1]))(z)
    numpy.testing.assert_array_equal(found, numpy.logical_and.reduceat(z, [0, 1], axis=1))


def test_the_op_drops_the_imaginary_part():
    wanted = [False, False, False, True, True, False, False]
    numpy.testing.assert_array_equal(numhlo.jit(lambda z: lax.convert_element_type(z, bool))(Z), wanted)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_classes_with_arithmetic_of_their_own():
    masked = numpy.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    found = numhlo.numpy.add(masked, 1)
    assert type(found) is type(masked) and found.tolist() == [2.0, None, 4.0]
    assert numhlo.numpy.asarray(masked).tolist() == [1.0, 2.0, 3.0]
    for kind, program in (
        ("MaskedArray", lambda x: x + masked),
        ("MaskedArray", lambda x: x * numhlo.numpy.asanyarray(masked)),
        ("matrix", lambda x: numpy.matrix(numpy.eye(3)) * x),
        ("matrix", lambda x: x * numpy.matrix(numpy.eye(3))),
    ):
        with pytest.raises(DTypeError, match=f"a {kind} in a traced function(.|\n)*at "):
            numhlo.jit(program)(numpy.ones(3))
    assert numhlo.jit(lambda x: x * numpy.asarray(masked))(numpy.ones(3)).tolist() == [1.0, 2.0, 3.0]


def test_narrow_floats_computed_in_wider_ones():
    x = numpy.array([1.5, 3.0], ml_dtypes.bfloat16)
    for program in (lambda x: numpy.log(x, dtype=numpy.float32), lambda x: numpy.add(x, x, dtype=numpy.float64)):
        found = numhlo.jit(program)(x)
        assert found.dtype == program(x).dtype
        numpy.testing.assert_allclose(found, program(x), rtol=1e-6)
