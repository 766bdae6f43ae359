"""Patterns of run-time positions: dynamic ones that are static, windows of windows, updates of a window of an array.

NumPy's ``table[0, j]`` is traced as a column of which one element is taken, and ``table[0, j] = x`` as a column that is
taken, changed and put back: one element at a run-time position is all that either needs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import indexing, layout
from numhlo.lowering.passes.rewriting import Rewriter, constant_array, is_empty, made_by, pattern


@pattern(indexing.DYNAMIC_SLICE)
def _dynamic_slice(rewriter: Rewriter, op: Op) -> Value | None:
    """Constant starts -> slice; a slice of everything -> x."""
    x, *starts = op.operands
    sizes = op.attributes["slice_sizes"]
    if sizes == x.tensor.shape:
        return x
    known = [constant_array(s) for s in starts]
    if any(k is None for k in known):
        return None
    limits = [n - size for n, size in zip(x.tensor.shape, sizes, strict=True)]
    first = tuple(min(max(int(k), 0), m) for k, m in zip(known, limits, strict=True))  # type: ignore[arg-type]
    ends = tuple(a + n for a, n in zip(first, sizes, strict=True))
    return rewriter.op(layout.SLICE, x, start_indices=first, limit_indices=ends, strides=(1,) * len(sizes))


@pattern(indexing.DYNAMIC_UPDATE_SLICE)
def _dynamic_update_slice(rewriter: Rewriter, op: Op) -> Value | None:
    """An update of everything -> the update; an empty update -> the operand; of a window by itself -> the operand."""
    x, update, *starts = op.operands
    if update.type == x.type:
        return update
    window = made_by(update, indexing.DYNAMIC_SLICE)
    if window is not None and window.operands == [x, *starts]:
        return x
    return x if update.tensor.size == 0 else None


@pattern(indexing.GATHER)
def _gather(rewriter: Rewriter, op: Op) -> Value | None:
    """Gather of slices without elements, along dimensions that collapse -> zeros."""
    if 0 not in op.attributes["slice_sizes"] or op.result.tensor.size == 0:
        return None
    zero = rewriter.constant(np.zeros((), op.result.tensor.dtype))
    return rewriter.op(layout.BROADCAST_IN_DIM, zero, result=op.result.tensor, broadcast_dimensions=())


@pattern(indexing.SCATTER)
def _scatter(rewriter: Rewriter, op: Op) -> Sequence[Value] | None:
    """Scatter no updates -> the inputs."""
    inputs, updates = op.operands[: len(op.results)], op.operands[len(op.results) + 1 :]
    same = all(x.type == v.type for x, v in zip(inputs, op.results, strict=True))
    return inputs if same and is_empty(updates[0]) else None


@pattern(layout.SLICE)
def _slice_of_window(rewriter: Rewriter, op: Op) -> Value | None:
    """slice(dynamic_slice(x, i)) -> dynamic_slice(x, i + start), where no start is clamped otherwise than before."""
    window = made_by(op.operands[0], indexing.DYNAMIC_SLICE)
    if window is None or set(op.attributes["strides"]) != {1}:
        return None
    x, *starts = window.operands
    sizes, first = op.result.tensor.shape, op.attributes["start_indices"]
    inner = [_position(rewriter, at, like) for at, like in zip(first, starts, strict=True)]
    found = _composed(x, op.operands[0], sizes, starts, inner)
    return None if found is None else rewriter.op(indexing.DYNAMIC_SLICE, x, *found, slice_sizes=sizes)


@pattern(indexing.DYNAMIC_SLICE)
def _window_of_window(rewriter: Rewriter, op: Op) -> Value | None:
    """dynamic_slice(dynamic_slice(x, i), j) -> dynamic_slice(x, i + j), where no start is clamped otherwise."""
    window = made_by(op.operands[0], indexing.DYNAMIC_SLICE)
    if window is None:
        return None
    x, *starts = window.operands
    sizes = op.attributes["slice_sizes"]
    found = _composed(x, op.operands[0], sizes, starts, op.operands[1:])
    return None if found is None else rewriter.op(indexing.DYNAMIC_SLICE, x, *found, slice_sizes=sizes)


@pattern(indexing.DYNAMIC_UPDATE_SLICE)
def _update_of_window(rewriter: Rewriter, op: Op) -> Value | None:
    """Update x at i by the window of x at i, updated by u at j -> update x by u at i + j, clamped as before."""
    x, changed, *starts = op.operands
    inner = made_by(changed, indexing.DYNAMIC_UPDATE_SLICE)
    window = None if inner is None else made_by(inner.operands[0], indexing.DYNAMIC_SLICE)
    if inner is None or window is None or list(window.operands) != [x, *starts]:
        return None
    update = inner.operands[1]
    found = _composed(x, changed, update.tensor.shape, starts, inner.operands[2:])
    return None if found is None else rewriter.op(indexing.DYNAMIC_UPDATE_SLICE, x, update, *found)


def _position(rewriter: Rewriter, position: int, like: Value) -> Value | None:
    """Return a constant start of the type of another one, if that can be it."""
    dtype = like.tensor.dtype
    return rewriter.constant(np.array(position, dtype)) if position <= np.iinfo(dtype).max else None


def _composed(
    x: Value, window: Value, sizes: Sequence[int], outer: Sequence[Value], inner: Sequence[Value | None]
) -> list[Value] | None:
    """Return the starts in an array of what starts somewhere in a window of it; None if they would be sums.

    Along each axis either the window has all of the array, or is needed as a whole: the other start is clamped to 0.
    """
    found: list[Value] = []
    rows = zip(x.tensor.shape, window.tensor.shape, sizes, outer, inner, strict=True)
    for extent, whole, size, there, here in rows:
        start = there if size == whole else here if whole == extent else None
        if start is None or start.type != outer[0].type:
            return None
        found.append(start)
    return found
