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

PIECES, PIECE_PRODUCTS, PIECE_ROWS = 4, 2_000_000, 32
"""A result of one tile is cut: into how many, at most, from how many multiplications on for several threads, and how
many rows or columns a piece has at least. Pieces of fewer cost more than a second thread gains.
"""

PACKED_ROWS = 96
"""Rows or columns of more than two pieces that BLAS packs its operands for: each piece packs all of one operand again.

On one thread, 200 x 200 x 200 of float32 take 135 us in four pieces, 114 in two and 108 whole; 256 x 256 x 256 259, 238
and 224, of float64 529, 485 and 490.
"""

SMALL_PRODUCT = 1_000_000
"""Multiplications of a call whose operands OpenBLAS does not pack; those of complex numbers it always does.

On one thread, 112 x 112 x 112 of float64 take 36 us in two calls and 48 whole, 150 x 150 x 150 95 in four and 112
whole; times a transposed matrix 150 in four and 120 whole.
"""

EDGE = 8
"""Rows or columns of which a call's are a multiple: 48 of 128 take 0.93 of the time of 43."""

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


def cut_of(kind: str, m: int, n: int, k: int, batch: int, *, by_rows: bool = False) -> Cut:
    """Return how products of an ``m`` by ``k`` and a ``k`` by ``n`` matrix are cut, by kind of number.

    ``by_rows``: whether what is summed lies along the rows of both in memory; such operands BLAS had better pack.
    """
    if m > TILE_ROWS or n > TILE_COLUMNS:
        rows, columns = TILE_ROWS, TILE_COLUMNS
        if k <= MOST_THIN_DEPTH:
            rows = _thin(m, n * k, TILE_ROWS) if n <= TILE_COLUMNS and m > TILE_ROWS else TILE_ROWS
            columns = _thin(n, m * k, TILE_COLUMNS) if m <= TILE_ROWS and n > TILE_COLUMNS else TILE_COLUMNS
        return Cut(rows, columns, k, k)
    products, longest, real = m * n * k, max(m, n), kind != "c"
    shared = batch == 1 and products >= PIECE_PRODUCTS
    if shared and k >= DEEP * longest:
        depth = -(-k // min(PIECES, products // (PIECE_PRODUCTS // 2)))
        return Cut(TILE_ROWS, TILE_COLUMNS, depth, _step(m * n, depth) if real else depth)
    step = _step(m * n, k) if real else k
    if longest >= 2 * PIECE_ROWS and (shared or step == k):
        piece = _small_piece(products, longest) if real and not by_rows else longest
        if shared and piece == longest:
            piece = -(-longest // max(2, min(PIECES, longest // PACKED_ROWS)))
        if piece != longest:
            return Cut(piece, TILE_COLUMNS, k, k) if m >= n else Cut(TILE_ROWS, piece, k, k)
    return Cut(TILE_ROWS, TILE_COLUMNS, k, step)


@reckoned
def _small_piece(products: int, longest: int) -> int:
    """Return how many rows or columns a call takes for which BLAS packs nothing; all if that are too many calls."""
    if products <= SMALL_PRODUCT:
        return longest
    most = SMALL_PRODUCT * longest // products // EDGE * EDGE
    calls = -(-longest // most) if most >= PIECE_ROWS else PIECES + 1
    return -(-longest // calls // EDGE) * EDGE if calls <= PIECES else longest


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
