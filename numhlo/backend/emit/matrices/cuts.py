"""How a matrix product is cut: into tiles for several threads, and into calls that BLAS is quick at.

It depends on shapes alone, so results have the same bits on any number of threads. Calls with up to `SMALL_PRODUCT`
multiplications are the best for long thin operands: BLAS reads these where they lie, but would pack them for a larger
product. Of 40000 x 20 times 20 x 20, GFLOP/s: whole 27, 256 rows at a time 27, 2500 rows 44; of its transpose times
40000 x 20: whole 27, 2500 rows at a time 49.
"""

from __future__ import annotations

from typing import NamedTuple

from numhlo.backend.emit.sizes import reckoned

TILE_ROWS, TILE_COLUMNS = 256, 512
"""Extents of a tile of the result; a call on one is long enough to hide that BLAS packs its operands again."""

PIECES, PIECE_FLOPS, PIECE_ROWS = 4, 2_000_000, 32
"""A result of one tile is cut for several threads: into how many, at most, and how much one must be at least.

256 x 256 x 256 of float64 take one thread 640 us, two 340; in four pieces one thread takes 4 to 10 % longer.
Pieces of fewer rows than this cost more than a second thread gains.
"""

SMALL_PRODUCT = 1_000_000
"""Multiplications of a call whose operands OpenBLAS does not pack; those of complex numbers it always does."""

MOST_THIN, MOST_THIN_DEPTH = 4096, 32
"""Rows of a tile of a thin result, or columns, and terms of its sums: more gain nothing."""

LEAST_STEP = 128
"""Summed elements of a call, at least: of fewer, the result is read and written too often."""

DEEP = 16
"""So many times longer than the result's sides, the summed dimension is cut, and not these."""


class Cut(NamedTuple):
    """The extents of a unit's tile, how much of the summed dimension a unit takes, and how much one call takes."""

    rows: int
    columns: int
    depth: int
    step: int


def cut_of(kind: str, m: int, n: int, k: int, batch: int) -> Cut:
    """Return how products of an ``m`` by ``k`` and a ``k`` by ``n`` matrix are cut, by kind of number."""
    if m > TILE_ROWS or n > TILE_COLUMNS:
        rows, columns = TILE_ROWS, TILE_COLUMNS
        if k <= MOST_THIN_DEPTH:
            rows = _thin(m, n * k, TILE_ROWS) if n <= TILE_COLUMNS and m > TILE_ROWS else TILE_ROWS
            columns = _thin(n, m * k, TILE_COLUMNS) if m <= TILE_ROWS and n > TILE_COLUMNS else TILE_COLUMNS
        return Cut(rows, columns, k, k)
    depth, flops, longest = k, 2 * m * n * k, max(m, n)
    if batch == 1 and flops >= 2 * PIECE_FLOPS:
        pieces = min(PIECES, flops // PIECE_FLOPS)
        if k >= DEEP * longest:
            depth = -(-k // pieces)
        elif longest >= 2 * PIECE_ROWS:
            piece = -(-longest // min(pieces, longest // PIECE_ROWS))
            return Cut(piece, TILE_COLUMNS, k, k) if m >= n else Cut(TILE_ROWS, piece, k, k)
    step = depth if kind == "c" else _step(m * n, depth)
    return Cut(TILE_ROWS, TILE_COLUMNS, depth, step)


@reckoned
def _step(results: int, depth: int) -> int:
    most = SMALL_PRODUCT // max(results, 1)
    if not 0 < most < depth:
        return depth
    step = -(-depth // -(-depth // most))  # calls are equally long: of 160 with at most 156 neither is worth it
    return step if step >= LEAST_STEP else depth


def _thin(extent: int, others: int, least: int) -> int:
    """Return the extent of tiles along the long side of a thin result: a quarter, if nothing else limits it."""
    found: int = _most_thin(_quarter(extent, least), others)
    return found if found > least else least


@reckoned
def _quarter(extent: int, least: int) -> int:
    return max(least, min(MOST_THIN, -(-extent // PIECES)))


@reckoned
def _most_thin(extent: int, others: int) -> int:
    return min(extent, SMALL_PRODUCT // max(others, 1))
