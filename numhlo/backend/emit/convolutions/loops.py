"""A convolution on paper: which loops make up the rows, the columns and the sums of its matrix products.

A *patch* is what one window sees, as a row of a matrix; the product with the kernel, as a matrix, is a row of the
result. This file knows extents and strides; next: `convolution` writes the loops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from numhlo.backend.emit.access import Access
from numhlo.lowering.ir import Op
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.convolution import reversals, spatial_windows
from numhlo.lowering.ops.dimension_numbers import ConvolutionDimensionNumbers

Loop = tuple[int, int]
"""Extent, and stride in the input."""

ROWS = 256
"""Patches that are multiplied together."""

PATCH_BYTES = 640 * 1024
"""Memory for them: it should stay in the second cache."""

SHORT_RUN = 8
"""Neighbours in memory up to which it is better to copy along rows, where these are neighbours too."""


@record(frozen=True, slots=True)
class Loops:
    """How the matrix products of a convolution run through memory.

    Attributes
    ----------
    rows : tuple of Loop
        Elements of the result that are rows of one product.
    outer : tuple of Loop
        Those before its features, where these are not last: one product each.
    window : tuple of Loop
        What is summed, the last being the innermost; merged where it lies in one piece.
    kernel_dims : tuple of int
        The kernel's dimensions that are summed, in that order.
    offset : int
        Of the first patch's first element.
    groups : int
    group_stride : int
        From one group's first element to the next one's.
    columns : int
        Features of a group of the result.
    features_last : bool
        Whether the features of the result lie side by side; else its rows do.
    """

    rows: tuple[Loop, ...]
    outer: tuple[Loop, ...]
    window: tuple[Loop, ...]
    kernel_dims: tuple[int, ...]
    offset: int
    groups: int
    group_stride: int
    columns: int
    features_last: bool

    @property
    def row_count(self) -> int:
        """Return the number of rows of one product."""
        return extent(self.rows)

    @property
    def depth(self) -> int:
        """Return the number of products that are summed."""
        return extent(self.window)

    @property
    def run(self) -> Loop:
        """Return the innermost loop of a patch."""
        return self.window[-1] if self.window else (1, 1)

    @property
    def along_rows(self) -> bool:
        """Return whether patches are copied row after row of their transpose: neighbours of the result together."""
        (run, step), (_, row_step) = self.run, self.rows[-1] if self.rows else (1, 1)
        return not (step == 1 and run >= SHORT_RUN) and row_step == 1

    def tile(self, itemsize: int) -> tuple[int, int, int]:
        """Return the rows, the window's outer steps and the length of runs that are copied and multiplied together."""
        rows = min(ROWS, self.row_count)
        most = PATCH_BYTES // itemsize // rows
        run = self.run[0]
        outer = self.depth // run
        if run > most:
            return rows, 1, -(-run // -(-run // most))
        blocks = -(-outer // max(1, most // run))
        return rows, -(-outer // blocks), run


def extent(loops: Sequence[Loop]) -> int:
    """Return the number of steps of nested loops."""
    return math.prod([n for n, _ in loops])


def loops_of(op: Op, access: Access) -> Loops:
    """Return the loops of a convolution without padding, whose input lies at ``access``."""
    numbers: ConvolutionDimensionNumbers = op.attributes["dimension_numbers"]
    lhs, rhs, out = (v.tensor.shape for v in (*op.operands, op.result))
    windows = spatial_windows(op.attributes, [rhs[d] for d in numbers.kernel_spatial_dimensions])
    features, batches = (op.attributes[f"{kind}_group_count"] for kind in ("feature", "batch"))
    batch_dim, feature_dim = numbers.input[:2]
    stride = access.strides
    steps = {numbers.output_batch_dimension: stride[batch_dim]}
    offset = access.offset
    window = [
        (rhs[numbers.kernel_input_feature_dimension], stride[feature_dim], numbers.kernel_input_feature_dimension)
    ]
    reversal = reversals(op.attributes, len(windows.sizes))
    for k, dim in enumerate(numbers.input_spatial_dimensions):
        steps[numbers.output_spatial_dimensions[k]] = stride[dim] * windows.strides[k]
        step = stride[dim] * windows.window_dilations[k]
        if reversal[k]:
            offset += (windows.sizes[k] - 1) * step
            step = -step
        window.append((windows.sizes[k], step, numbers.kernel_spatial_dimensions[k]))
    window.sort(key=lambda item: -abs(item[1]))
    feature = numbers.output_feature_dimension
    before = [(out[d], steps[d]) for d in range(feature)]
    after = [(out[d], steps[d]) for d in range(feature + 1, len(out))]
    features_last = extent(after) == 1
    groups = features * batches
    share = lhs[feature_dim] // features * stride[feature_dim] if batches == 1 else 0
    return Loops(
        merged(before if features_last else after),
        () if features_last else merged(before),
        merged([(n, s) for n, s, _ in window]),
        tuple([d for _, _, d in window]),
        offset,
        groups,
        share if batches == 1 else lhs[batch_dim] // batches * stride[batch_dim],
        out[feature] // groups,
        features_last,
    )


def merged(loops: Sequence[Loop]) -> tuple[Loop, ...]:
    """Return the fewest loops that do the same.

    Examples
    --------
    >>> merged([(2, 12), (3, 4), (1, 7), (4, 1)])
    ((24, 1),)
    """
    found: list[Loop] = []
    for n, step in loops:
        if n == 1:
            continue
        if found and found[-1][1] == step * n:
            found[-1] = (found[-1][0] * n, step)
        else:
            found.append((n, step))
    return tuple(found)
