"""Steps of discrete Fourier transforms of several lines side by side.

An element of a transform is a *block*: the real parts of as many lines as fit into 64 bytes, then the imaginary parts.
"""

from __future__ import annotations

import numpy as np

from numhlo.backend.primitives.storage import STORAGES, Storage
from numhlo.lowering.ir.records import record

PART_BYTES = 64
"""Bytes of the real parts of a block."""

RADICES = (2, 3, 4, 5, 7, 11, 13)


@record(frozen=True)
class Butterfly:
    """``word(source, target, count, step, leap, roots, place)`` transforms ``radix`` blocks, ``count`` times.

    Time ``q`` reads the blocks ``q + k * step`` and writes the blocks ``q + k * leap``; the result ``k`` is multiplied
    by element ``k * place`` of the table ``roots``, of complex numbers.
    """

    storage: Storage
    radix: int

    def __call__(self, source: int, target: int, count: int, step: int, leap: int, roots: int, place: int) -> None:
        """Transform them."""
        radix, lanes = self.radix, PART_BYTES // self.storage.dtype.itemsize
        powers = np.arange(radix)
        matrix = np.exp(-2j * np.pi * np.outer(powers, powers) / radix)
        table = self.storage.view(roots, 2 * ((radix - 1) * int(place) + 1))
        turns = (table[::2] + 1j * table[1::2])[:: int(place)] if place else np.ones(radix)
        for q in range(int(count)):
            blocks = [self._block(source, q + k * int(step), lanes) for k in range(radix)]
            results = turns[:radix, None] * (matrix @ np.stack([block[0] + 1j * block[1] for block in blocks]))
            for k, result in enumerate(results):
                block = self._block(target, q + k * int(leap), lanes)
                block[0], block[1] = result.real, result.imag

    def _block(self, pointer: int, number: int, lanes: int) -> np.ndarray:
        return self.storage.view(int(pointer) + 2 * PART_BYTES * number, 2 * lanes).reshape(2, lanes)


F32, F64 = STORAGES["f32"], STORAGES["f64"]
butterfly2_f32, butterfly2_f64 = Butterfly(F32, 2), Butterfly(F64, 2)
butterfly3_f32, butterfly3_f64 = Butterfly(F32, 3), Butterfly(F64, 3)
butterfly4_f32, butterfly4_f64 = Butterfly(F32, 4), Butterfly(F64, 4)
butterfly5_f32, butterfly5_f64 = Butterfly(F32, 5), Butterfly(F64, 5)
butterfly7_f32, butterfly7_f64 = Butterfly(F32, 7), Butterfly(F64, 7)
butterfly11_f32, butterfly11_f64 = Butterfly(F32, 11), Butterfly(F64, 11)
butterfly13_f32, butterfly13_f64 = Butterfly(F32, 13), Butterfly(F64, 13)
