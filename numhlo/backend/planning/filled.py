"""Arrays that are filled part by part, as ``out = np.empty(...); out[..., 0] = a; out[..., 1] = b`` is traced.

Every write is a pass over memory, after the one that fills the new array. Where the parts cover it, they are
concatenated instead; where a rectangle of it is written, the array is a padded one. Nothing is written twice then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from numhlo.backend.emit.layout import LARGE, MOST_INTERLEAVED
from numhlo.backend.planning.strided_updates import is_strided_update
from numhlo.backend.planning.writing import Writer
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.comparison import SELECT
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.lowering.ops.indexing import DYNAMIC_UPDATE_SLICE
from numhlo.lowering.ops.layout import BROADCAST_IN_DIM, CONCATENATE, PAD

WRITES = frozenset({DYNAMIC_UPDATE_SLICE, SELECT})
"""Ops that may write a part of an array."""

MOST_PARTS = MOST_INTERLEAVED
"""Writes that are looked at together."""

FIRST_SHARE = 2
"""A rectangle is what an array is padded around if that has at most so many times its elements."""


class _Part(NamedTuple):
    """What one op writes, and where: along each axis the first index, and the distance to the next one."""

    update: Value
    starts: tuple[int, ...]
    steps: tuple[int, ...]


class Filling(NamedTuple):
    """Parts of a new array, in their order along an axis; the step if they take turns, 1 if they follow each other.

    A single part is padded with the scalar that the array was filled with.
    """

    parts: tuple[_Part, ...]
    axis: int
    step: int
    fill: Value


def uses_of(region: Region) -> Mapping[Value, int]:
    """Return how often each value is used in a region."""
    used = Counter(region.returns)
    for op in region.ops:
        used.update(op.operands)
        if op.regions:
            used.update(free_values(op))
    return used


def filling_of(op: Op, uses: Callable[[], Mapping[Value, int]] | None = None) -> Filling | None:
    """Return the parts of a new array that are all there once an op has written the last one; or the only one's place.

    Parameters
    ----------
    op : Op
        One of `WRITES`.
    uses : callable, optional
        Returns how often values are used: what others read between the writes has to be there. Where it is left out,
        the answer may be one too many.
    """
    if op.result.tensor.size < LARGE:
        return None
    chain, value = [op], _array(op)
    while _writes(value.owner) and len(chain) < MOST_PARTS:
        chain.append(value.owner)  # type: ignore[arg-type]
        value = _array(chain[-1])
    fill = value.owner
    if not isinstance(fill, Op) or fill.definition is not BROADCAST_IN_DIM or fill.operands[0].tensor.ndim:
        return None
    parts = [part for part in map(_part, chain) if part is not None]
    if len(parts) < len(chain):
        return None
    shape, scalar = op.result.tensor.shape, fill.operands[0]
    if len(parts) == 1:
        (part,) = parts
        is_large = part.update.tensor.size * FIRST_SHARE >= op.result.tensor.size
        return Filling((part,), 0, 1, scalar) if is_large and all(step == 1 for step in part.steps) else None
    if uses is not None and any(uses()[written.result] > 1 for written in chain[1:]):
        return None
    return _covering(parts, shape, scalar)


def _writes(op: object) -> bool:
    return isinstance(op, Op) and (op.definition is DYNAMIC_UPDATE_SLICE or is_strided_update(op))


def _array(op: Op) -> Value:
    return op.operands[2 if op.definition is SELECT else 0]


def _part(op: Op) -> _Part | None:
    """Return what an op writes, if it says where."""
    shape = op.result.tensor.shape
    if op.definition is SELECT:
        spread = op.operands[1].owner
        if not is_strided_update(op) or not isinstance(spread, Op):
            return None
        gaps = spread.attributes["interior_padding"]
        return _Part(spread.operands[0], tuple(spread.attributes["edge_padding_low"]), tuple(gap + 1 for gap in gaps))
    update, starts = op.operands[1], []
    for index, extent, size in zip(op.operands[2:], shape, update.tensor.shape, strict=True):
        owner = index.owner
        if not isinstance(owner, Op) or owner.definition is not CONSTANT:
            return None
        starts.append(min(max(int(owner.attributes["value"]), 0), extent - size))
    return _Part(update, tuple(starts), (1,) * len(shape))


def _covering(parts: Sequence[_Part], shape: Sequence[int], scalar: Value) -> Filling | None:
    """Return parts in order if each is a part of the same axis alone, and they cover it without meeting."""
    cut = {axis for part in parts for axis, size in enumerate(part.update.tensor.shape) if size != shape[axis]}
    if len(cut) != 1:
        return None
    (axis,) = cut
    ordered = sorted(parts, key=lambda part: part.starts[axis])
    starts = [part.starts[axis] for part in ordered]
    sizes = [part.update.tensor.shape[axis] for part in ordered]
    if 0 in sizes or sum(sizes) != shape[axis]:
        return None
    if all(part.steps[axis] == 1 or size == 1 for part, size in zip(ordered, sizes, strict=True)):
        follow = all(start == sum(sizes[:k]) for k, start in enumerate(starts))
        return Filling(tuple(ordered), axis, 1, scalar) if follow else None
    step = len(parts)
    take_turns = starts == list(range(step)) and len(set(sizes)) == 1
    return (
        Filling(tuple(ordered), axis, step, scalar)
        if take_turns and all(part.steps[axis] == step for part in ordered)
        else None
    )


def filled(filling: Filling, replaced: Mapping[Value, Value], result: Value, append: Callable[[Op], None]) -> Value:
    """Append the ops that put an array together, and return it.

    Parameters
    ----------
    filling : Filling
    replaced : mapping from Value to Value
        What stands for the parts.
    result : Value
        The array as it was.
    append : callable
    """
    assert isinstance(result.owner, Op)
    writer, shape = Writer(append, result.owner.location), result.tensor.shape
    updates = [replaced[part.update] for part in filling.parts]
    if len(updates) == 1:
        starts = filling.parts[0].starts
        after = [n - start - size for n, start, size in zip(shape, starts, updates[0].tensor.shape, strict=True)]
        return writer.op(
            PAD,
            updates[0],
            replaced[filling.fill],
            edge_padding_low=starts,
            edge_padding_high=tuple(after),
            interior_padding=(0,) * len(after),
        )
    axis = filling.axis
    if filling.step == 1:
        return writer.op(CONCATENATE, *updates, dimension=axis)
    split = (*shape[:axis], shape[axis] // filling.step, 1, *shape[axis + 1 :])
    lanes = [writer.reshape(update, split) for update in updates]
    return writer.reshape(writer.op(CONCATENATE, *lanes, dimension=axis + 1), shape)
