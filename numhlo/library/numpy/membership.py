"""Which elements are among others: few are compared with each, many are one named op."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import reductions, sorting
from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.searching import searchsorted
from numhlo.lowering.ir import Function, TensorType
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.tracer.building import (
    as_traced,
    asarray,
    bind1,
    convert,
    full_of,
    implements,
    reshape_to,
    result_dtype,
    trace_region,
)

__all__ = ["isin"]

FEW = 32
"""Elements with which each of an array is compared sooner than it is searched among them."""


@implements(np.isin)
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None
) -> Any:
    """Return where elements are among ``test_elements``.

    Parameters
    ----------
    element, test_elements : array_like
    assume_unique : bool, optional
        NumPy's; without a meaning while tracing.
    invert : bool, optional
        Return where they are not.
    kind : optional
        NumPy's; without a meaning while tracing, where many are looked up in a hash table.

    Returns
    -------
    Array
        Of booleans, and the shape of ``element``. NaN is not among anything.

    Examples
    --------
    >>> isin([1, 2, 3], [2, 3])
    Array([False,  True,  True])
    """
    array, tested = as_traced(asarray(element)), as_traced(asarray(test_elements))
    wanted = result_dtype(array, tested)
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    if kind == "table" and {array.dtype.kind, tested.dtype.kind} - set("biu"):
        raise ValueError("The 'table' method is only supported for boolean or integer arrays.")
    array, tested = convert(array, wanted), convert(tested, wanted)
    if tested.size == 0:
        return full_of(invert, array.shape, np.bool_)
    if tested.size <= FEW:
        pairs = ufuncs.equal(reshape_to(tested, (tested.size, 1)), reshape_to(array, (1, array.size)))
        found = reshape_to(reductions.any(pairs, 0), array.shape)
    else:
        found = _among(array, as_traced(reshape_to(tested, (tested.size,))))
    return ufuncs.logical_not(found) if invert else found


def _among(array: Any, line: Any) -> Any:
    """Return which elements are among a line's, as one named op that searches for them."""
    types = [TensorType(x.shape, x.dtype) for x in (array, line)]
    body = trace_region(lambda x, tested: [_by_search(x, tested)], types)
    attributes = {"name": "numhlo.isin", "decomposition": Function("isin", body, visibility="private")}
    return bind1(COMPOSITE, array, line, attributes=attributes, results=[TensorType(array.shape, np.dtype(np.bool_))])


def _by_search(array: Any, line: Any) -> Any:
    ordered = sorting.sort(line, None)
    place = searchsorted(ordered, array, "left")
    return ufuncs.equal(advanced.take(ordered, place, 0, "clip"), array)
