"""Products of sparse matrices under the name by which JAX calls them in programs for the CPU.

Importing this registers the target. A matrix is compressed by rows: its values, where each row begins among them, and
their columns; the other operand is a dense vector or matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ops.custom_calls import register_custom_call
from numhlo.lowering.ops.primitive import RESULT_TYPES


def multiply_compressed_rows(arrays: Sequence[np.ndarray], attributes: Mapping[str, Any]) -> Sequence[np.ndarray]:
    """Return the product; of each row, the terms are added in the order of its values.

    Examples
    --------
    >>> from numhlo.lowering.ir import TensorType
    >>> values, columns, begins = np.array([2.0, 3.0]), np.array([1, 0]), np.array([0, 1, 2])
    >>> types = {RESULT_TYPES: [TensorType((2,), np.dtype(float))]}
    >>> multiply_compressed_rows([values, begins, columns, np.array([5.0, 7.0])], types)[0].tolist()
    [14.0, 15.0]
    """
    values, begins, columns, dense = arrays
    (type,) = attributes[RESULT_TYPES]
    stored = slice(int(begins[0]), int(begins[-1]))
    rows = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    weights = values[stored].reshape(-1, *[1] * (dense.ndim - 1))
    result = np.zeros(type.shape, type.dtype)
    np.add.at(result, rows, weights * dense[columns[stored]])
    return [result]


register_custom_call("cpu_csr_sparse_dense_ffi", multiply_compressed_rows)
