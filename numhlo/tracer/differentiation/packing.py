"""Few arrays instead of many: what a shared body hands to its linear half, where it would be too much to list.

Residuals add up over levels: a function that calls another one twice has those of both calls, and so has a loop. Were
they computed again instead, the innermost ones would be, once for every level. So the small ones go together in one
array for each dtype, and the largest stay as they are: what was packed once is large, and not copied again at the next
level.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from numhlo.lowering.ir import Function, TensorType
from numhlo.tracer.core.arrangement import concatenate_arrays, slice_axis
from numhlo.tracer.core.bind import trace_closed
from numhlo.tracer.core.operands import reshape_to
from numhlo.tracer.core.replay import replay_function

MOST_RESIDUALS = 256
"""Arrays that a shared body may hand to its linear half, from where on small ones go together."""

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


Sources = list[tuple[str, Any]]
"""Where each residual is found: what it is of, an input or a result, with its number there, or itself."""


def pack_residuals(
    primal: Function, linear: Function, sources: Sources, count: int, kind: str
) -> tuple[Function, Function, Sources]:
    """Return two halves that hand residuals on packed, and where these are found then.

    Parameters
    ----------
    primal : Function
        Its results from ``count`` on are residuals.
    linear : Function
        Its last arguments are all residuals, one for each source.
    sources : list of (str, object)
    count : int
    kind : str
        That of the sources that are results of ``primal``.
    """
    packing = Packing([v.tensor for v in primal.body.returns[count:]])
    if not packing.groups:
        return primal, linear, sources
    made = [k for k, (of, where) in enumerate(sources) if of == kind and where >= count]
    others = [k for k in range(len(sources)) if k not in set(made)]
    moved, given = linear.argument_types[: -len(sources)], linear.argument_types[-len(sources) :]

    def run(*arrays: Any) -> list[Any]:
        found = replay_function(primal, arrays)
        return [*found[:count], *packing.pack(found[count:])]

    def run_linear(*arrays: Any) -> list[Any]:
        first = len(moved)
        tangents, rest, packed = arrays[:first], arrays[first : first + len(others)], arrays[first + len(others) :]
        unpacked = packing.unpack(packed)
        found = {**dict(zip(others, rest, strict=True)), **{k: unpacked[sources[k][1] - count] for k in made}}
        return replay_function(linear, [*tangents, *[found[k] for k in range(len(sources))]])

    wide = trace_closed(primal.name, run, primal.argument_types)
    extra = wide.result_types[count:]
    narrow = trace_closed(linear.name, run_linear, [*moved, *[given[k] for k in others], *extra])
    return wide, narrow, [*[sources[k] for k in others], *[(kind, count + k) for k in range(len(extra))]]
