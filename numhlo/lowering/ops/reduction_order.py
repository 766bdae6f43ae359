"""The order in which numhlo adds and multiplies floating-point numbers, so that all engines give the same bits.

Reduced axes are moved last and flattened, row-major, to ``n`` elements. These are cut into blocks of `BLOCK` (the
last may be short). Within a block, lane ``l`` of `LANES` combines elements ``l``, ``l + 16``, ``l + 32``, ... in
order, starting from its first element (a lane without elements takes no part); lanes are then combined in halves:
``l`` with ``l + 8``, then ``l + 4``, ``l + 2``, ``l + 1``. Blocks are combined left to right. The initial value comes
last, as left operand: ``init op result``. Sums are kept in the element type; narrow floats are kept in float32 and
rounded once, at the very end.

Compiled kernels implement exactly this; the backend cuts work into the same blocks whatever the number of threads.
"""

from __future__ import annotations

import numpy as np

BLOCK = 4096
"""Elements of one block: a unit of work for a thread."""

LANES = 16
"""Partial results side by side within a block: two vector registers of 8, or one of 16."""

SIDE_BY_SIDE = 64
"""Results from which on NumPy rather computes all of them step by step than one after the other."""


def reduce_in_order(ufunc: np.ufunc, array: np.ndarray) -> np.ndarray:
    """Return ``array`` reduced along its last axis, which has at least one element, in the specified order.

    Parameters
    ----------
    ufunc : numpy.ufunc
        ``np.add`` or ``np.multiply``.
    array : numpy.ndarray
        ``(..., n)``, any floating-point or complex dtype that NumPy computes in.

    Examples
    --------
    >>> reduce_in_order(np.add, np.array([1e30, 1.0, -1e30], np.float32))  # lanes 0 and 2 meet before lane 1
    array(1., dtype=float32)
    """
    n = array.shape[-1]
    if n <= BLOCK and _goes_by_rows(array):
        return np.asarray(reduce_across_in_order(ufunc, np.moveaxis(array, -1, 0)))
    array = np.ascontiguousarray(array)
    if n <= BLOCK:
        return _reduce_block(ufunc, array)
    whole = n - n % BLOCK
    parts = []
    if whole:
        blocks = array[..., :whole].reshape(*array.shape[:-1], whole // BLOCK, BLOCK)
        parts.append(_reduce_block(ufunc, blocks))
    if whole < n:
        parts.append(_reduce_block(ufunc, array[..., whole:])[..., None])
    totals = np.concatenate(parts, axis=-1)
    # accumulate goes left to right; reduce along the last axis would go pairwise
    result: np.ndarray = ufunc.accumulate(totals, axis=-1)[..., -1]
    return np.asarray(result)


def _goes_by_rows(array: np.ndarray) -> bool:
    """Return whether neighbours are of different results, or few of one: columns, windows, short rows."""
    if array.size < SIDE_BY_SIDE * array.shape[-1] or array.ndim < 2:
        return False
    return array.shape[-1] <= LANES or abs(array.strides[-1]) >= abs(array.strides[-2])


def reduce_across_in_order(ufunc: np.ufunc, array: np.ndarray) -> np.ndarray:
    """Return ``(n, ...)``, n from 1 to `BLOCK`, reduced along the first axis in the order of `reduce_in_order`.

    Rows are taken whole, which is faster than many short ones along memory.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    >>> bool(np.all(reduce_across_in_order(np.add, rows) == reduce_in_order(np.add, rows.T)))
    True
    """
    together = array[:LANES]
    if len(array) > LANES:
        together = together.copy()
        for start in range(LANES, len(array), LANES):
            rows = array[start : start + LANES]
            ufunc(together[: len(rows)], rows, out=together[: len(rows)])
    lanes = list(together)
    half = LANES // 2
    while half:
        lanes = [ufunc(low, lanes[k + half]) if k + half < len(lanes) else low for k, low in enumerate(lanes[:half])]
        half //= 2
    first: np.ndarray = lanes[0]
    return first


def _reduce_block(ufunc: np.ufunc, block: np.ndarray) -> np.ndarray:
    """Return blocks ``(..., size)`` reduced along their last axis, ``1 <= size <= BLOCK``."""
    size = block.shape[-1]
    rows, rest = divmod(size, LANES)
    tail = block[..., rows * LANES :]
    if rows:
        steps = block[..., : rows * LANES].reshape(*block.shape[:-1], rows, LANES)
        # along an axis that is not the innermost one, reduce goes row after row
        lanes = ufunc.reduce(steps, axis=-2, initial=None)  # from the first row: a sum of -0.0 stays -0.0
        lanes[..., :rest] = ufunc(lanes[..., :rest], tail)
    else:
        lanes = tail
    half = LANES // 2
    while half:
        if lanes.shape[-1] == 2 * half:
            lanes = ufunc(lanes[..., :half], lanes[..., half:])
        elif lanes.shape[-1] > half:
            low, high = lanes[..., :half].copy(), lanes[..., half:]
            width = high.shape[-1]
            low[..., :width] = ufunc(low[..., :width], high)
            lanes = low
        half //= 2
    return np.asarray(lanes[..., 0])
