"""Python's numbers beside floats that ml_dtypes defines, outside tracing: they are weak there, too.

NumPy knows no order between such dtypes and its own, and widens: bfloat16 times 0.5 would be float32. `Array` has
operators that do so, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.tracer.array import UNORDERED

__all__ = ["clip", "with_weak_numbers"]


def with_weak_numbers(operands: Sequence[Any]) -> Sequence[Any]:
    """Return operands with Python's numbers in the dtype of a float that ml_dtypes defines, if one is among them.

    Parameters
    ----------
    operands : sequence of array_like

    Returns
    -------
    sequence
        The same where there is nothing to do.

    Examples
    --------
    >>> import ml_dtypes
    >>> with_weak_numbers([np.ones(1, ml_dtypes.bfloat16), 0.5])[1].dtype.name
    'bfloat16'
    """
    for x in operands:
        if isinstance(x, np.ndarray | np.generic) and x.dtype in UNORDERED:
            return [x.dtype.type(y) if type(y) in (int, float) else y for y in operands]
    return operands


def clip(*args: Any, **kwargs: Any) -> Any:
    """Return what NumPy's `clip` does, which has no loop for such floats, and computes in float32."""
    operands = [x for x in (*args, *kwargs.values()) if x is not None and not isinstance(x, str)]
    found = with_weak_numbers(operands)
    result = np.clip(*args, **kwargs)
    return result if found is operands else result.astype(np.result_type(*found), copy=False)
