"""What traced integers can't exceed, as far as their program says: for shapes that depend on the greatest value.

Functions that find places (`argmin`, `searchsorted`, ``x % 5``) note the bound of what they return; through operations
that only choose or clip it is found from their operands. It refuses to know values: that is `Tracer.known`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.tracer.building import Trace, Tracer

NOTED = "greatest value"
"""What a trace's memo has bounds under, with the value."""

MOST_OPS = 200
"""How many operations are looked at."""

PASSED_ON = frozenset({
    "broadcast_in_dim", "concatenate", "dynamic_slice", "gather", "maximum", "reshape", "reverse", "select",
    "slice", "sort", "transpose",
})  # fmt: skip
"""Operations whose elements are those of operands."""

CHOOSERS = {"select": slice(1, 3), "gather": slice(0, 1), "dynamic_slice": slice(0, 1)}
"""Which operands the elements come from, where not from all."""


def note_greatest(x: Any, bound: int) -> Any:
    """Return a result, of which no element is greater than a bound."""
    if isinstance(x, Tracer):
        x.home.memo[NOTED, x.value()] = bound
    return x


def greatest(x: Tracer) -> int:
    """Return what no element of a traced array of integers or booleans is greater than."""
    return _Search(x.home).of(x.value())


def _may_wrap(source: np.dtype, target: np.dtype) -> bool:
    """Return whether a small integer may become a greater one: a negative one that loses its sign or its high bits."""
    return source.kind not in "bu" and (target.kind != "i" or target.itemsize < source.itemsize)


class _Search:
    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._left = MOST_OPS

    def of(self, value: Value) -> int:
        dtype = value.tensor.dtype
        if dtype.kind not in "biu":
            return int(np.iinfo(np.int64).max)
        widest = 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)
        noted: int | None = self._trace.memo.get((NOTED, value))
        if noted is not None:
            return min(noted, widest)
        self._left -= 1
        known = self._trace.values.find(value, 1 << 16) if self._left > 0 else None
        if known is not None:
            return int(known.max(initial=0))
        owner = value.owner
        return min(widest, self._by_op(owner, value, widest)) if isinstance(owner, Op) and self._left > 0 else widest

    def _by_op(self, op: Op, value: Value, widest: int) -> int:
        name = op.definition.name
        operands = [x for x in op.operands if isinstance(x.type, TensorType)]
        if name in PASSED_ON:
            if name == "sort":
                operands = [op.operands[op.results.index(value)]]
            return max(map(self.of, operands[CHOOSERS.get(name, slice(None))]), default=widest)
        if name == "convert" and not _may_wrap(operands[0].tensor.dtype, value.tensor.dtype):
            return self.of(operands[0])
        if name == "minimum":
            return min(map(self.of, operands))
        if name == "clamp":
            return self.of(operands[2])
        if name == "and":
            return min(map(self._bound_of_mask, operands))
        return widest

    def _bound_of_mask(self, value: Value) -> int:
        """Return what the bits that a number leaves can't exceed: the number, unless it is negative."""
        known = self._trace.values.find(value, 1 << 16)
        if known is None or known.size == 0 or known.min() < 0:
            return 1 if value.tensor.dtype.kind == "b" else int(np.iinfo(value.tensor.dtype).max)
        return int(known.max())
