"""argmax and argmin by NumPy's own functions, where a reduction's body turns out to be one.

The interpreter knows a body only as something to call, which takes a dozen ops for every halving of an axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.backend.emit.reductions.extreme import extreme_of
from numhlo.lowering.interpreter import Plans
from numhlo.lowering.ir import Op
from numhlo.lowering.ops.primitive import Arrays, EvaluateRule, RegionFunction
from numhlo.lowering.ops.reduction import REDUCE, evaluate_reduce, reduced_last

SEARCHES = {"maximum": (np.argmax, np.greater), "minimum": (np.argmin, np.less)}
SEARCHED = frozenset(np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)) | {
    np.dtype("f4"),
    np.dtype("f8"),
    np.dtype("?"),
}
"""Element types that NumPy searches by itself."""


class QuickPlans(Plans):
    """Plans of an interpretation that knows bodies by what they do."""

    __slots__ = ()

    def rule(self, op: Op) -> EvaluateRule:
        """Return what evaluates an op."""
        if op.definition is not REDUCE or len(op.results) != 2 or op.results[0].tensor.dtype not in SEARCHED:
            return super().rule(op)
        if any(v.tensor.dtype != r.tensor.dtype for v, r in zip(op.operands, op.results, strict=False)):
            return super().rule(op)
        name = extreme_of(op.regions[0], value_matters=True)
        return super().rule(op) if not name else _searching(*SEARCHES[name])


class _Lines:
    """Places along the axis that is searched: whether they rise, and a line of them for each result."""

    def __init__(self, places: np.ndarray, axes: Sequence[int]) -> None:
        self.places = places  # as long as it lives, no other array is it
        last = reduced_last(places, axes)
        self.rise = last.size > 0 and bool(np.all(last[..., 1:] > last[..., :-1]))
        self.shape = last.shape[:-1]
        self.lines = last.reshape(-1, last.shape[-1])
        self.numbers = np.arange(len(self.lines))


def _searching(search: Any, is_better: np.ufunc) -> EvaluateRule:
    lines: _Lines | None = None  # of a loop's last round: most go through the same places in each

    def evaluate(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
        nonlocal lines
        axes = sorted(attributes["dimensions"])
        known = lines
        if known is None or known.places is not arrays[1] or arrays[1].flags.writeable:
            known = lines = _Lines(arrays[1], axes)
        if not known.rise:
            return evaluate_reduce(arrays, attributes, regions)
        values = reduced_last(arrays[0], axes).reshape(known.lines.shape)
        index = known.numbers, search(values, axis=-1)
        best = [a[index].reshape(known.shape) for a in (values, known.lines)]
        if np.all(is_better(best[0], arrays[2])):
            return best
        starts = [np.broadcast_to(a, b.shape) for a, b in zip(arrays[2:], best, strict=True)]
        return [np.broadcast_to(a, b.shape) for a, b in zip(regions[0](*starts, *best), best, strict=True)]

    return evaluate
