"""A tile of memory, rows and columns exchanged: whole vectors are read and written, and elements change places between.

Loops that read along one axis and write along another load elements one by one, which is several times slower.
"""

from __future__ import annotations

from numhlo.backend.primitives.storage import STORAGES, Storage
from numhlo.lowering.ir.records import record

TILE = 64
"""Rows and columns of a tile, mostly.

A tile's rows lie in different pages; larger tiles change pages less often.
"""


@record(frozen=True)
class TransposeTile:
    """``word(tile, pitch, source, first, stride, rows, columns, ahead)`` copies elements of as many bytes.

    ``tile[j * pitch + i] = source[first + i * stride + j]`` for ``i < rows`` and ``j < columns``. Meanwhile the first
    cache is asked for the rows that lie ``ahead`` further on, a literal, wherever these are; for none if it is 0.
    """

    storage: Storage

    def __call__(
        self, tile: int, pitch: int, source: int, first: int, stride: int, rows: int, columns: int, ahead: int
    ) -> None:
        """Copy."""
        size = self.storage.dtype.itemsize
        for i in range(int(rows)):
            row = self.storage.view(source + (int(first) + i * int(stride)) * size, int(columns))
            for j in range(int(columns)):
                self.storage.view(tile + (j * int(pitch) + i) * size)[0] = row[j]


transpose_tile_b1, transpose_tile_b2 = TransposeTile(STORAGES["u8"]), TransposeTile(STORAGES["u16"])
transpose_tile_b4, transpose_tile_b8 = TransposeTile(STORAGES["u32"]), TransposeTile(STORAGES["u64"])
transpose_tile_b16 = TransposeTile(STORAGES["c128"])
