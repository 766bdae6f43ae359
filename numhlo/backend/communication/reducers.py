"""How a collective combines elements of several processes: from the group's first to its last, always in this order.

The order is part of a result: sums of floats depend on it. All transports combine by the rules here, so that results
have the same bits whichever moves the data. What a reducer's region means is its ops' own definition.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir.types import INTEGERS
from numhlo.lowering.ops.casting import cast
from numhlo.lowering.ops.dtype_table import NARROW_INTEGERS, ufunc_of
from numhlo.lowering.ops.elementwise import ADD, Elementwise
from numhlo.lowering.ops.primitive import RegionFunction
from numhlo.lowering.ops.region_function import full, region_of, single_op, takes_arrays

BLOCK = 1 << 15
"""Elements that are combined before the next ones: what is combined so far stays in a core's cache (256 KiB)."""


class Reducer:
    """A collective's computation.

    Parameters
    ----------
    body : callable or None
        Takes and gives scalars; None stands for a sum.
    dtype : numpy.dtype
        Of what is combined: operands are converted to it.

    Attributes
    ----------
    name : str
        The only op's that the region applies; "" where it does something else.
    is_exact : bool
        The order does not matter to any bit.
    """

    def __init__(self, body: RegionFunction | None, dtype: np.dtype) -> None:
        self.dtype = dtype
        region = None if body is None else region_of(body)
        op = single_op(region)
        definition = op.definition if op is not None else (ADD if body is None else None)
        self.name = definition.name if definition is not None else ""
        is_known = isinstance(definition, Elementwise)
        self.ufunc = ufunc_of(definition.evaluate, dtype) if definition is not None and is_known else None
        associates = isinstance(definition, Elementwise) and definition.associative
        self.is_exact = associates and dtype in INTEGERS and dtype not in NARROW_INTEGERS
        self._evaluate = definition.evaluate if body is None and definition is not None else None
        self._body = body
        self._takes_arrays = body is None or takes_arrays(region)

    @property
    def is_elementwise(self) -> bool:
        """Return whether elements may be combined part by part, in arrays of any length."""
        return self._takes_arrays

    def fold(self, parts: Sequence[np.ndarray], out: np.ndarray) -> None:
        """Write what parts of one shape give, combined from first to last; ``out`` must not overlap with them."""
        with np.errstate(all="ignore"):
            if out.size > BLOCK and self.is_elementwise and all(a.flags.c_contiguous for a in (*parts, out)):
                flat, target = [part.reshape(-1) for part in parts], out.reshape(-1)
                for start in range(0, out.size, BLOCK):
                    block = slice(start, start + BLOCK)
                    self._fold_block([part[block] for part in flat], target[block])
            else:
                self._fold_block(parts, out)

    def _fold_block(self, parts: Sequence[np.ndarray], out: np.ndarray) -> None:
        given = [part if part.dtype == self.dtype else cast(part, self.dtype) for part in parts]
        if self.ufunc is not None and len(given) > 1:
            self.ufunc(given[0], given[1], out=out)
            for part in given[2:]:
                self.ufunc(out, part, out=out)
            return
        result = given[0]
        for part in given[1:]:
            result = self._combined(result, part)
        out[...] = result

    def _combined(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        if self._body is None:
            assert self._evaluate is not None
            return np.asarray(self._evaluate((one, other), {}, ())[0], self.dtype)
        if self._takes_arrays:
            return full(self._body(one, other), one.shape)[0]
        pairs = zip(one.reshape(-1), other.reshape(-1), strict=True)
        items = [self._body(np.asarray(x, self.dtype), np.asarray(y, self.dtype))[0] for x, y in pairs]
        return np.array(items, self.dtype).reshape(one.shape)
