"""Reductions over long windows by doubling: windows of 1, 2, 4, ... elements, and of any number from these.

``reduce_window`` with windows of ``w`` elements applies its body ``w`` times for each result; running reductions, which
exporters write as windows over everything before an element, take the square of the extent. Its body is associative, so
that neighbouring windows may be combined: ``log2(w)`` applications to arrays. Sums and extremes of one op are left to
those who know them: their order of rounding is specified, and they have gradients and kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ops import elementwise, layout
from numhlo.lowering.ops.region_function import single_op, takes_arrays
from numhlo.lowering.ops.window_geometry import Windows
from numhlo.lowering.ops.windows import windows_from
from numhlo.lowering.passes.legalize_deprecated import spread, spread_body
from numhlo.lowering.passes.legalize_promotion import is_mixed
from numhlo.lowering.passes.legalizer import Builder, legalization

EXTREMES = frozenset({elementwise.MAXIMUM, elementwise.MINIMUM})
"""Running extremes of complex numbers have no kernels, and their order does not matter."""
LONG = 32
"""Elements along one dimension from which on a window is long."""

Arrays = list[Value]


def _is_long(op: Op) -> bool:
    """Return whether a window is long, and neighbouring ones can be combined as whole arrays."""
    types = [v.type for v in (*op.operands, *op.results)]
    if not all(isinstance(t, TensorType) and t.is_static and t.size for t in types):
        return False
    (body,), count = op.regions, len(op.results)
    if is_mixed(op):
        return False
    dtypes = [v.tensor.dtype for v in op.operands[:count]]
    inner = single_op(body)
    is_known = inner is not None and dtypes[0].kind not in ("u", "b", *("c" if inner.definition in EXTREMES else ""))
    sizes = windows_from(op.attributes, op.operands[0].tensor.ndim).sizes
    return max(sizes, default=0) >= LONG and not is_known and takes_arrays(body) and not free_values(body)


@legalization("stablehlo.reduce_window", when=_is_long)
def legalize_long_windows(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Combine windows of powers of two, dimension by dimension, the last first: in row-major order."""
    (body,), count, rank = op.regions, len(op.results), operands[0].tensor.ndim
    windows = windows_from(op.attributes, rank)
    arrays = [_padded(b, x, init, windows) for x, init in zip(operands[:count], operands[count:], strict=True)]
    for axis in reversed(range(rank)):
        arrays = _over_axis(b, body, arrays, axis, windows.sizes[axis], windows.window_dilations[axis])
    arrays = _combined(b, body, [spread(b, x, arrays[0].tensor.shape) for x in operands[count:]], arrays)
    ends = [(n - 1) * step + 1 if n else 0 for n, step in zip(op.results[0].tensor.shape, windows.strides, strict=True)]
    return [_slice(b, x, (0,) * rank, ends, windows.strides) for x in arrays]


def _padded(b: Builder, x: Value, init: Value, windows: Windows) -> Value:
    if not windows.is_padded:
        return x
    low, high = (tuple([pair[side] for pair in windows.padding]) for side in (0, 1))
    interior = tuple([n - 1 for n in windows.base_dilations])
    return b.op(layout.PAD, x, init, edge_padding_low=low, edge_padding_high=high, interior_padding=interior)


def _over_axis(b: Builder, body: Region, arrays: Arrays, axis: int, size: int, dilation: int) -> Arrays:
    """Return the arrays reduced over all windows along one dimension, one for each start."""
    power, covered, width = arrays, 0, 1
    found: Arrays = []
    while size:
        if size & width:
            found = _neighbours(b, body, found, power, axis, covered * dilation) if found else power
            covered, size = covered + width, size - width
        if size:
            power, width = _neighbours(b, body, power, power, axis, width * dilation), 2 * width
    return found


def _neighbours(b: Builder, body: Region, left: Arrays, right: Arrays, axis: int, distance: int) -> Arrays:
    """Return what starts at each place on the left combined with what starts ``distance`` behind it on the right."""
    count = min(left[0].tensor.shape[axis], right[0].tensor.shape[axis] - distance)
    first, second = ([_part(b, x, axis, k, count) for x in side] for side, k in ((left, 0), (right, distance)))
    return _combined(b, body, first, second)


def _part(b: Builder, x: Value, axis: int, start: int, count: int) -> Value:
    shape = x.tensor.shape
    starts = [start if k == axis else 0 for k in range(len(shape))]
    limits = [start + count if k == axis else n for k, n in enumerate(shape)]
    return _slice(b, x, starts, limits, (1,) * len(shape))


def _slice(b: Builder, x: Value, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int]) -> Value:
    if not any(starts) and tuple(limits) == x.tensor.shape and set(strides) <= {1}:
        return x
    places = tuple(starts), tuple(limits), tuple(strides)
    return b.op(layout.SLICE, x, start_indices=places[0], limit_indices=places[1], strides=places[2])


def _combined(b: Builder, body: Region, left: Sequence[Value], right: Sequence[Value]) -> Arrays:
    """Return the body of scalars applied to arrays."""
    shape = left[0].tensor.shape
    values = dict(zip(body.arguments, (*left, *right), strict=True))
    spread_body(b, body, values, shape)
    return [spread(b, values.get(v, v), shape) for v in body.returns]
