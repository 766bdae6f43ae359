"""Finding the first greatest or least of contiguous elements: what argmax and argmin along memory are made of.

The greatest element is found in vectors, as fast as memory is read, and then looked for; a loop that carries the best
position so far has to wait for each comparison.
"""

from __future__ import annotations

import numpy as np

from numhlo.backend.primitives.storage import STORAGES, Storage
from numhlo.lowering.ir.records import record


@record(frozen=True)
class FirstExtreme:
    """``word(pointer, first, count)`` gives the place, from ``first``, of the best of ``count`` (at least 1) elements.

    The best one is the first NaN; or else the first of the greatest (least) ones, 0.0 and -0.0 being equal.

    Attributes
    ----------
    storage : Storage
    name : str
        ``maximum`` or ``minimum``.
    quick : bool
        Few elements are looked at one by one, none of which is expected to be better than those before: nobody waits
        for comparisons then, as far as the processor guesses right.
    """

    storage: Storage
    name: str
    quick: bool = False

    def __call__(self, pointer: int, first: int, count: int) -> int:
        """Return the place."""
        values = self.storage.view(pointer + int(first) * self.storage.dtype.itemsize, int(count))
        return int(np.argmax(values) if self.name == "maximum" else np.argmin(values))


def _pair(suffix: str, *, quick: bool = False) -> tuple[FirstExtreme, FirstExtreme]:
    return FirstExtreme(STORAGES[suffix], "maximum", quick), FirstExtreme(STORAGES[suffix], "minimum", quick)


first_maximum_f32, first_minimum_f32 = _pair("f32")
first_maximum_f64, first_minimum_f64 = _pair("f64")
first_maximum_i8, first_minimum_i8 = _pair("i8")
first_maximum_i16, first_minimum_i16 = _pair("i16")
first_maximum_i32, first_minimum_i32 = _pair("i32")
first_maximum_i64, first_minimum_i64 = _pair("i64")
first_maximum_u8, first_minimum_u8 = _pair("u8")
first_maximum_u16, first_minimum_u16 = _pair("u16")
first_maximum_u32, first_minimum_u32 = _pair("u32")
first_maximum_u64, first_minimum_u64 = _pair("u64")
quick_first_maximum_f32, quick_first_minimum_f32 = _pair("f32", quick=True)
quick_first_maximum_f64, quick_first_minimum_f64 = _pair("f64", quick=True)
quick_first_maximum_i32, quick_first_minimum_i32 = _pair("i32", quick=True)
quick_first_maximum_i64, quick_first_minimum_i64 = _pair("i64", quick=True)
