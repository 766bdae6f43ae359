"""A convolution on paper, as tiles of sums that stay in registers: what is a row, what lies side by side in vectors.

Nothing is copied: vectors are neighbours in the padded input (then rows of the tile are features), or features that are
neighbours in the kernel (then rows are whatever of the result is far enough apart). Rows of an image that follow each
other in memory are one run, gaps between them included; what falls into a gap is not stored. This file knows extents
and strides; next: `convolutions.direct` writes the loops.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from numhlo.backend.emit.access import Access, contiguous
from numhlo.backend.primitives.products import MOST_VECTORS, VECTOR_BYTES
from numhlo.lowering.ir import Op
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.convolution import reversals, spatial_windows
from numhlo.lowering.ops.dimension_numbers import ConvolutionDimensionNumbers

MOST_ROWS = 8
"""Of a tile."""

WASTE = 2.5
"""Times the least work per element up to which tiles are taken."""


class Dim(NamedTuple):
    """A loop: its extent, and the strides in input, kernel and result."""

    extent: int
    input: int
    kernel: int
    out: int


NONE = Dim(1, 0, 0, 0)


@record(frozen=True, slots=True)
class Nest:
    """All loops of a convolution.

    Attributes
    ----------
    kept, summed : tuple of Dim
    input_offset, kernel_offset : int
    """

    kept: tuple[Dim, ...]
    summed: tuple[Dim, ...]
    input_offset: int
    kernel_offset: int

    @property
    def depth(self) -> int:
        """Return the number of products that are summed."""
        return math.prod([dim.extent for dim in self.summed])


@record(frozen=True, slots=True)
class Tiling:
    """How tiles cover the result.

    Attributes
    ----------
    from_input : bool
        Whether vectors are read from the input; else from the kernel.
    row : Dim
        What the tile's rows are.
    inner, outer : Dim
        What vectors run along: ``inner`` without gaps, ``outer`` over gaps to the next one.
    rows, width : int
        Of a tile.
    cost : float
        For each element of the result, in vectors of work.
    """

    from_input: bool
    row: Dim
    inner: Dim
    outer: Dim
    rows: int
    width: int
    cost: float

    @property
    def pitch(self) -> int:
        """Return the distance of runs in memory."""
        return (self.outer.input if self.from_input else self.outer.kernel) or self.inner.extent

    @property
    def tiles(self) -> int:
        """Return the number of tiles along vectors."""
        return -(-self.length // self.width)

    @property
    def blocks(self) -> int:
        """Return the number of tiles along rows."""
        return -(-self.row.extent // self.rows)

    @property
    def length(self) -> int:
        """Return the number of places that vectors run over, gaps included."""
        return (self.outer.extent - 1) * self.pitch + self.inner.extent


def nest_of(op: Op, input_access: Access, kernel_access: Access, panel: int = 0) -> Nest:
    """Return the loops of a convolution without padding, whose operands lie where the accesses say.

    With a ``panel``, the kernel is one that was copied: so many features, all that is summed, the next features.
    """
    numbers: ConvolutionDimensionNumbers = op.attributes["dimension_numbers"]
    lhs, rhs, out = (v.tensor.shape for v in (*op.operands, op.result))
    windows = spatial_windows(op.attributes, [rhs[d] for d in numbers.kernel_spatial_dimensions])
    features, batches = (op.attributes[f"{kind}_group_count"] for kind in ("feature", "batch"))
    there, weights, here = input_access.strides, kernel_access.strides, contiguous(out)
    batch, feature = numbers.input[:2]
    groups = features * batches
    group_step = lhs[feature] // features * there[feature] if batches == 1 else lhs[batch] // batches * there[batch]
    into, across = numbers.output_feature_dimension, weights[numbers.kernel_output_feature_dimension]
    columns = out[into] // groups
    result = numbers.output_batch_dimension
    kept = [
        Dim(groups, group_step, columns * across, columns * here[into]),
        *_feature_dims(columns, across, here[into], panel),
        Dim(out[result], there[batch], 0, here[result]),
    ]
    channel = numbers.kernel_input_feature_dimension
    summed = [Dim(rhs[channel], there[feature], weights[channel], 0)]
    offset = input_access.offset
    reversal = reversals(op.attributes, len(windows.sizes))
    for k, dim in enumerate(numbers.input_spatial_dimensions):
        place = numbers.output_spatial_dimensions[k]
        kept.append(Dim(out[place], there[dim] * windows.strides[k], 0, here[place]))
        step = there[dim] * windows.window_dilations[k]
        if reversal[k]:
            offset += (windows.sizes[k] - 1) * step
            step = -step
        summed.append(Dim(windows.sizes[k], step, weights[numbers.kernel_spatial_dimensions[k]], 0))
    return Nest(_loops(kept), _loops(summed), offset, kernel_access.offset)


def panel_of(columns: int, itemsize: int) -> int:
    """Return how many features of a group lie side by side in a copy of a kernel: all, or as many as a tile has."""
    lanes = VECTOR_BYTES // itemsize
    wide = MOST_VECTORS // MOST_ROWS
    return next((v * lanes for v in range(wide, 0, -1) if columns % (v * lanes) == 0), columns)


def _feature_dims(columns: int, across: int, out: int, panel: int) -> list[Dim]:
    if not panel:
        return [Dim(columns, 0, across, out)]
    return [Dim(columns // panel, 0, panel * across, panel * out), Dim(panel, 0, 1, out)]


def panel_access(shape: Sequence[int], feature: int, panel: int) -> Access:
    """Return where the elements of a kernel lie in a copy of panels, its features standing for whole panels."""
    others = [n for dim, n in enumerate(shape) if dim != feature]
    strides = [n * panel for n in contiguous(others)]
    strides.insert(feature, math.prod(others))
    return Access(0, tuple(strides))


def _loops(dims: Sequence[Dim]) -> tuple[Dim, ...]:
    return tuple([dim for dim in dims if dim.extent > 1])


def best_tiling(nest: Nest, itemsize: int) -> Tiling | None:
    """Return the tiling with the least work, or None where tiles would be mostly empty."""
    found = min(_tilings(nest, VECTOR_BYTES // itemsize), key=lambda tiling: tiling.cost, default=None)
    full = _work(MOST_ROWS, MOST_VECTORS // MOST_ROWS) / (MOST_VECTORS * VECTOR_BYTES // itemsize)
    return found if found is not None and found.cost <= WASTE * full else None


def _work(rows: int, vectors: int) -> float:
    """Return what one step of the sum takes: multiplications, loads; a few multiplications wait for each other."""
    return max(rows * vectors, MOST_ROWS) + (rows + 2 * vectors) / 4


def _tilings(nest: Nest, lanes: int) -> Iterator[Tiling]:
    for from_input in (True, False):
        for row, inner, outer in _choices(nest, lanes, from_input=from_input):
            rows = min(MOST_ROWS, row.extent)
            size = row.extent * inner.extent * outer.extent
            for vectors in range(1, min(MOST_VECTORS // rows, 2 * MOST_VECTORS // MOST_ROWS) + 1):
                tiling = Tiling(from_input, row, inner, outer, rows, vectors * lanes, 0.0)
                if tiling.length >= tiling.width:
                    work = tiling.tiles * tiling.blocks * _work(rows, vectors)
                    yield replace(tiling, cost=work / size)


def _choices(nest: Nest, lanes: int, *, from_input: bool) -> Iterator[tuple[Dim, Dim, Dim]]:
    """Return the rows of a tile, what its vectors run along, and what they go on with."""
    features = [dim for dim in nest.kept if dim.kernel and not dim.input]
    places = [dim for dim in nest.kept if dim.input and not dim.kernel]
    along, across = (places, features) if from_input else (features, places)
    for inner in along:
        if (inner.input if from_input else inner.kernel) != 1:
            continue
        if not from_input and inner.extent > lanes * MOST_VECTORS // MOST_ROWS:
            continue  # what one tile takes of the kernel would lie in few sets of the caches
        rest = [dim for dim in along if dim.input >= inner.extent] if from_input else []
        for outer in (NONE, *rest):
            for row in (*across, *([] if across else [NONE])):
                yield row, inner, outer


def places_of(nest: Nest, *, from_input: bool) -> np.ndarray:
    """Return where the factors of each product lie, those of rows first."""
    inputs, kernels = (_sums(nest.summed, name, 0) for name in ("input", "kernel"))
    pair = [kernels, inputs] if from_input else [inputs, kernels]
    return np.stack(pair, 1)


def origins_of(nest: Nest, tiling: Tiling) -> np.ndarray:
    """Return where rows, vectors and elements of the result begin, for all that is no part of a tile."""
    rest = [dim for dim in nest.kept if dim not in (tiling.row, tiling.inner, tiling.outer)]
    inputs, kernels = _sums(rest, "input", nest.input_offset), _sums(rest, "kernel", nest.kernel_offset)
    pair = [kernels, inputs] if tiling.from_input else [inputs, kernels]
    return np.stack([*pair, _sums(rest, "out", 0)], 1)


def _sums(dims: Sequence[Dim], name: str, first: int) -> np.ndarray:
    """Return the places that nested loops go through, from ``first`` on."""
    total = np.array([first], np.int64)
    for dim in dims:
        total = (total[:, None] + np.arange(dim.extent, dtype=np.int64) * getattr(dim, name)).reshape(-1)
    return total
