"""Elementwise ops on concatenated and padded arrays, taken apart at the seams.

``roll(x, 1) + x`` is the sum of two concatenations. Kernels read neither a concatenation nor a padded array: on either
side of a seam, elements lie in different arrays. So these would be written to memory, each in a pass of its own. Where
elementwise ops alone read them, what these compute is cut at the seams instead, and each part is computed where it
reads plain views. `parts` puts them together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product

from numhlo.backend.emit.sizes import settled
from numhlo.backend.emit.support import emits_element
from numhlo.backend.planning.parts import put_together
from numhlo.backend.planning.reached import JOINED, VIEWED, Reached, whole_axes
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops import indexing, layout, reduction
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.primitive import make_op

LEAST = 1000
"""Elements of an array from which on it is cut: those of smaller ones are copied as fast as kernels are launched."""

MOST_PARTS = 27
MOST_PADDED_PARTS = 9
"""Of arrays with padding, each part may be another kernel: which of its elements are padding is another choice."""

MOST_OPS = 600
"""Elementwise ops of all parts."""

READ_ONCE = frozenset({reduction.REDUCE, indexing.DYNAMIC_UPDATE_SLICE, indexing.SCATTER})
"""Ops that compute what they read in their own kernels: these need no array in memory, and get none for a seam."""

Users = dict[Value, list[Op]]


def has_seams(op: Op) -> bool:
    """Return whether an op concatenates or pads large arrays."""
    return op.definition in JOINED and op.result.tensor.is_static and op.result.tensor.size >= LEAST


def cut_at_seams(region: Region) -> int:
    """Cut what is worth it in a region that nobody else holds, and return how often; what is not needed then stays."""
    count = sum([cut_at_seams(inner) for op in region.ops for inner in op.regions])
    if any(map(has_seams, region.ops)):
        count += _Seams(region).cut()
    return count


def _is_pointwise(op: Op) -> bool:
    """Return whether every element of an op's result comes of elements at its place, or of single numbers."""
    if op.definition is COMPOSITE or op.regions or not emits_element(op) or len(op.results) != 1:
        return False
    type = op.result.tensor
    return type.is_static and all(v.tensor.shape in (type.shape, ()) for v in op.operands)


class _Seams:
    """The seams of one region, and what reads them."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.place = {op: k for k, op in enumerate(region.ops)}
        self.users: Users = {}
        for op in region.ops:
            for value in dict.fromkeys([*op.operands, *free_values(op)] if op.regions else op.operands):
                self.users.setdefault(value, []).append(op)
        self.returned = set(region.returns)
        self.pointwise = {op for op in region.ops if _is_pointwise(op)}
        self.touching = self._touching()

    def _touching(self) -> set[Op]:
        """Return the elementwise ops that depend on seams through nothing but views and elementwise ops."""
        touched: set[Value] = set()
        found: set[Op] = set()
        for op in self.region.ops:
            if has_seams(op):
                touched.add(op.result)
            elif not touched.isdisjoint(op.operands):
                if op in self.pointwise:
                    found.add(op)
                    touched.add(op.result)
                elif op.definition in VIEWED:
                    touched.add(op.result)
        return found

    def cut(self) -> int:
        """Cut what is worth it and return how often; later ops first, so that what they read is still there."""
        done: set[Op] = set()
        cuts: dict[Op, list[Op]] = {}
        replaced: dict[Value, Value] = {}
        for op in reversed(self.region.ops):
            if op not in self.touching or op in done or op.result.tensor.size < LEAST:
                continue
            for members in self._groups(op, done):
                made = self._cut_group(members)
                if made is not None:
                    done.update(members)
                    cuts[max(members, key=self.place.__getitem__)] = made[0]
                    replaced.update(made[1])
                    break
        if cuts:
            self._replace(cuts, replaced)
        return len(cuts)

    def _replace(self, cuts: dict[Op, list[Op]], replaced: dict[Value, Value]) -> None:
        """Put the ops of parts where the last op of a group was, and their results in place of the group's."""
        ops: list[Op] = []
        for op in self.region.ops:
            ops.append(op)
            ops += cuts.get(op, ())
        self.region.ops = ops
        for op in self.region.walk():
            op.operands[:] = [replaced.get(v, v) for v in op.operands]
            for inner in op.regions:
                inner.returns[:] = [replaced.get(v, v) for v in inner.returns]
        self.region.returns[:] = [replaced.get(v, v) for v in self.region.returns]

    # What is cut together

    def _groups(self, op: Op, done: set[Op]) -> Iterator[dict[Op, None]]:
        """Give groups of elementwise ops to cut together: those that share what they read, else what leads to one."""
        together = self._worthwhile(self._around(op, done))
        if op in together and self._may_run_at_once(together):
            yield together
        alone = self._with_sources({op: None})
        if alone.keys() != together.keys() and op in self._worthwhile(alone):
            yield alone

    def _around(self, op: Op, done: set[Op]) -> dict[Op, None]:
        """Return the ops of one shape that depend on seams and feed each other, or need the same elementwise ops."""
        shape = op.result.tensor.shape
        seen = {op: None}
        waiting = [op]
        while waiting:
            one = waiting.pop()
            sources = [op for op in (v.owner for v in one.operands) if isinstance(op, Op) and op in self.pointwise]
            users = [user for user in self.users.get(one.result, ()) if user in self.touching]
            for other in (*sources, *users):
                if other not in seen and other not in done and other.result.tensor.shape == shape:
                    seen[other] = None
                    waiting.append(other)
        return {one: None for one in seen if one in self.touching}

    def _worthwhile(self, members: dict[Op, None]) -> dict[Op, None]:
        """Leave out what only reductions and their kin need, and add what is computed for the rest alone."""
        kept: dict[Op, None] = {}
        for op in sorted(members, key=self.place.__getitem__, reverse=True):
            users = self.users.get(op.result, ())
            needed = any(u in kept or (u not in members and u.definition not in READ_ONCE) for u in users)
            if needed or op.result in self.returned:
                kept[op] = None
        return self._with_sources(kept)

    def _with_sources(self, members: dict[Op, None]) -> dict[Op, None]:
        """Add the ops of the same shape whose results nobody else reads."""
        found = dict(members)
        waiting = list(found)
        while waiting:
            one = waiting.pop()
            for value in one.operands:
                op = value.owner
                if not isinstance(op, Op) or op not in self.pointwise or op in found or value in self.returned:
                    continue
                if value.tensor.shape == one.result.tensor.shape and all(u in found for u in self.users[value]):
                    found[op] = None
                    waiting.append(op)
        return found

    def _may_run_at_once(self, members: dict[Op, None]) -> bool:
        """Return whether all that others read of a group is read after the last of it."""
        last = max(map(self.place.__getitem__, members))
        users = [u for op in members for u in self.users.get(op.result, ()) if u not in members]
        return all(self.place[user] > last for user in users)

    # Cutting

    def _cut_group(self, members: dict[Op, None]) -> tuple[list[Op], dict[Value, Value]] | None:
        """Return the ops that compute a group part by part, and what takes the place of its results."""
        shape = next(iter(members)).result.tensor.shape
        reached = Reached(shape, self.users, self.returned, members)
        for op in members:
            for value in op.operands:
                if value.owner not in members and value.tensor.shape == shape:
                    reached.visit(value, whole_axes(shape))
        cuts = [_in_order([0, n, *places]) for n, places in zip(shape, reached.cuts, strict=True)]
        count = math.prod(len(places) - 1 for places in cuts)
        most = MOST_PADDED_PARTS if reached.pads else MOST_PARTS
        if not 1 < count <= most or count * len(members) > MOST_OPS:
            return None
        order = sorted(members, key=self.place.__getitem__)
        sinks = [op for op in order if self._is_read_outside(op, members)]
        writer = _Writer(order, reached)
        boxes = list(product(*[list(pairwise(places)) for places in cuts]))
        parts = [writer.part(sinks, box) for box in boxes]
        starts = [tuple(first for first, _ in box) for box in boxes]
        types = [op.result.tensor for op in sinks]
        results = put_together(parts, starts, types, writer.ops.append, sinks[-1].location)
        return writer.ops, dict(zip([op.result for op in sinks], results, strict=True))

    def _is_read_outside(self, op: Op, members: dict[Op, None]) -> bool:
        users = self.users.get(op.result, ())
        return op.result in self.returned or any(user not in members for user in users)


def _in_order(places: Iterable[int]) -> list[int]:
    """Return places in order, each once; they may be unknowns, which a set would not know to be the same."""
    found: list[int] = []
    for place in sorted(places):
        if not found or found[-1] != place:
            found.append(place)
    return found


class _Writer:
    """Writes the ops of parts.

    Parameters
    ----------
    members : sequence of Op
        In program order.
    reached : Reached
    """

    def __init__(self, members: Sequence[Op], reached: Reached) -> None:
        self.members, self.reached = members, reached
        self.ops: list[Op] = []

    def part(self, sinks: Iterable[Op], box: tuple[tuple[int, int], ...]) -> list[Value]:
        """Write a part of the members, and return that of the sinks' results."""
        shape = tuple(settled(end - first) for first, end in box)
        starts = tuple(first for first, _ in box)
        known: dict[Value, Value] = {}
        for op in self.members:
            for value in op.operands:
                if value not in known:
                    whole = value.tensor.shape != op.result.tensor.shape
                    known[value] = value if whole else self._seen(value, starts, shape)
            type = op.result.tensor.with_shape(shape)
            made = Op(op.definition, [known[v] for v in op.operands], op.attributes, [], [type], op.location)
            self.ops.append(made)
            known[op.result] = made.result
        return [known[op.result] for op in sinks]

    def _add(self, op: Op) -> Value:
        self.ops.append(op)
        return op.result

    def _seen(self, value: Value, starts: tuple[int, ...], shape: tuple[int, ...]) -> Value:
        """Return a box of a value."""
        op = value.owner
        if value.tensor.shape == shape and value not in self.reached.followed:
            return value
        if not isinstance(op, Op) or value not in self.reached.followed:
            return self._slice(value, starts, shape)
        match op.definition:
            case layout.CONCATENATE:
                return self._of_joined(op, starts, shape)
            case layout.PAD:
                return self._of_padded(op, starts, shape)
            case layout.SLICE:
                moved = zip(starts, op.attributes["start_indices"], strict=True)
                return self._seen(op.operands[0], tuple(settled(a + b) for a, b in moved), shape)
        axes = whole_axes(value.tensor.shape)
        below = self.reached.below(op, axes)
        assert below is not None
        inner = tuple(0 if axis is None else starts[axis] for axis, _ in below)
        extents = tuple(1 if axis is None else shape[axis] for axis, _ in below)
        seen = self._seen(op.operands[0], inner, extents)
        type = value.tensor.with_shape(shape)
        attributes = {} if op.definition is layout.RESHAPE else op.attributes
        return self._add(Op(op.definition, [seen], attributes, [], [type], op.location))

    def _slice(self, value: Value, starts: tuple[int, ...], shape: tuple[int, ...]) -> Value:
        limits = tuple(settled(a + n) for a, n in zip(starts, shape, strict=True))
        bounds = {"start_indices": starts, "limit_indices": limits, "strides": (1,) * len(shape)}
        location = value.owner.location if isinstance(value.owner, Op) else self.members[-1].location
        return self._add(make_op(layout.SLICE, [value], bounds, location=location))

    def _of_joined(self, op: Op, starts: tuple[int, ...], shape: tuple[int, ...]) -> Value:
        axis: int = op.attributes["dimension"]
        first = starts[axis]
        for operand in op.operands:
            extent = operand.tensor.shape[axis]
            if first < extent:
                return self._seen(operand, (*starts[:axis], first, *starts[axis + 1 :]), shape)
            first = settled(first - extent)
        raise AssertionError(op)

    def _of_padded(self, op: Op, starts: tuple[int, ...], shape: tuple[int, ...]) -> Value:
        operand, padding = op.operands
        moved = tuple(settled(a - low) for a, low in zip(starts, op.attributes["edge_padding_low"], strict=True))
        if all(0 <= a < n for a, n in zip(moved, operand.tensor.shape, strict=True)):
            return self._seen(operand, moved, shape)
        type = operand.tensor.with_shape(shape)
        dims: dict[str, object] = {"broadcast_dimensions": ()}
        return self._add(Op(layout.BROADCAST_IN_DIM, [padding], dims, [], [type], op.location))
