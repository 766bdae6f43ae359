"""Few arrays instead of many: what a shared function hands to its linear half, where it would be too much to list.

Residuals add up over levels: a function that calls another one twice has those of both calls. Were they computed again
instead, the innermost ones would be, once for every level. So the small ones go together in one array for each dtype,
and the largest stay as they are: what was packed once is large, and not copied again at the next level.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from numhlo.lowering.ir import TensorType
from numhlo.tracer.core.arrangement import concatenate_arrays, slice_axis
from numhlo.tracer.core.operands import reshape_to

MOST_RESIDUALS = 256
"""Arrays that a shared function may hand to its linear half, from where on small ones go together."""

KEPT_APART = 64
"""Arrays that then stay as they are: the largest."""


class Packing:
    """Which of some arrays go together.

    Parameters
    ----------
    types : sequence of TensorType
        The arrays' types.

    Attributes
    ----------
    apart : list of int
        Numbers of the arrays that stay as they are.
    groups : list of list of int
        Numbers of those that go together, which have one dtype.
    """

    def __init__(self, types: Sequence[TensorType]) -> None:
        self.types = types
        largest = sorted(range(len(types)), key=lambda k: -types[k].size)
        self.apart = sorted(largest[:KEPT_APART]) if len(types) > MOST_RESIDUALS else list(range(len(types)))
        together = sorted(set(range(len(types))).difference(self.apart))
        dtypes = dict.fromkeys(types[k].dtype for k in together)
        self.groups = [[k for k in together if types[k].dtype == dtype] for dtype in dtypes]

    def pack(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the arrays that stay as they are, then one for each group."""
        flat = [[reshape_to(arrays[k], (self.types[k].size,)) for k in group] for group in self.groups]
        return [*[arrays[k] for k in self.apart], *[concatenate_arrays(parts, 0) for parts in flat]]

    def unpack(self, packed: Sequence[Any]) -> list[Any]:
        """Return the arrays again."""
        found = dict(zip(self.apart, packed, strict=False))
        for group, flat in zip(self.groups, packed[len(self.apart) :], strict=True):
            ends = accumulate((self.types[k].size for k in group), initial=0)
            for k, (low, high) in zip(group, pairwise(ends), strict=True):
                found[k] = reshape_to(slice_axis(flat, low, high), self.types[k].shape)
        return [found[k] for k in range(len(self.types))]
