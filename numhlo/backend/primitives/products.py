"""A tile of a matrix product whose operands are read where they lie: sums of products of numbers with vectors.

The tile stays in registers while the sum runs, which LLVM does not find by itself. Each sum is taken in order, by fused
multiplications and additions where the machine has them, so its bits don't depend on the tile it is in.
"""

from __future__ import annotations

import numpy as np

from numhlo.backend.primitives.memory import INT64
from numhlo.backend.primitives.storage import STORAGES, Storage
from numhlo.lowering.ir.records import record

VECTOR_BYTES = 64
"""Of a vector of the right operand."""

MOST_VECTORS = 24
"""Of a tile: what the registers of the widest machines hold beside the operands."""


@record(frozen=True)
class ProductTile:
    """``word(rows, vectors, tile, left, step, right, places, count, keep)`` adds products to a tile.

    ``tile[i, j] += sum(left[places[2 * k] + i * step] * right[places[2 * k + 1] + j] for k in range(count))``: a tile
    of ``rows`` times ``vectors * VECTOR_BYTES`` bytes. The first two are literals, ``places`` int64; without ``keep``
    the sums replace what is in the tile.
    """

    storage: Storage

    def __call__(
        self,
        rows: int,
        vectors: int,
        tile: int,
        left: int,
        step: int,
        right: int,
        places: int,
        count: int,
        keep: bool,
    ) -> None:
        """Add to the tile; products are rounded here."""
        size = self.storage.dtype.itemsize
        lanes = vectors * VECTOR_BYTES // size
        target = self.storage.view(tile, rows * lanes).reshape(rows, lanes)
        sums = np.zeros_like(target)
        pairs = INT64.view(places, 2 * int(count)).reshape(-1, 2)
        with np.errstate(all="ignore"):
            for first, second in pairs.tolist():
                row = self.storage.view(right + second * size, lanes)
                for i in range(rows):
                    sums[i] += self.storage.view(left + (first + i * int(step)) * size) * row
            target[...] = target + sums if keep else sums


product_tile_f32, product_tile_f64 = ProductTile(STORAGES["f32"]), ProductTile(STORAGES["f64"])
