"""Errors of traced arrays that are used as a bool, an integer, an array or an index."""

from __future__ import annotations

from numhlo.lowering.ir.errors import ConcretizationError, DataDependentShapeError
from numhlo.lowering.ir.jax_errors import (
    NonConcreteBooleanIndexError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
)


class TruthValueError(ConcretizationError, TracerBoolConversionError):
    """The truth value of a traced array is needed.

    Examples
    --------
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x: not x, autograph=False)(3.0)
    ... except numhlo.errors.TruthValueError as error:
    ...     print(error.what)
    the truth value of a traced array float64[]
    """


class IntegerConversionError(ConcretizationError, TracerIntegerConversionError):
    """A traced array is used as a Python index or length.

    Examples
    --------
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda n: (1, 2)[n], autograph=False)(1)
    ... except numhlo.errors.IntegerConversionError as error:
    ...     print(error.what)
    the use as a Python index or length of a traced array int64[]
    """


class ArrayConversionError(ConcretizationError, TracerArrayConversionError):
    """NumPy asks a traced array for its elements.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x: x.__array__())(np.ones(3))
    ... except numhlo.errors.ArrayConversionError as error:
    ...     print(error.what)
    conversion to a NumPy array of a traced array float64[3]
    """


class DataDependentIndexError(DataDependentShapeError, NonConcreteBooleanIndexError):
    """The extent of what an index selects depends on the values of a traced array.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> try:
    ...     numhlo.jit(lambda x, n: x[:n].reshape(2, 1))(np.ones(3), 2)
    ... except numhlo.errors.DataDependentIndexError as error:
    ...     print(error.what)
    a slice with a traced bound
    """


for _found in (
    TruthValueError,
    IntegerConversionError,
    ArrayConversionError,
    DataDependentIndexError,
):
    _found.__module__ = "numhlo.errors"
