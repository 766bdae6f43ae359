"""Which inputs of a kernel its results depend on: a kernel that reads none of the memory of one of them is wrong.

By what ops mean. An operand is not needed where no element of it reaches the result: padding that cuts all of it away,
an update that overwrites everything, an index into an axis that is taken whole. Next: `walk` knows what is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from numhlo.backend.plan_checking.updates import has_parts, updated_array
from numhlo.backend.plan_checking.values import Roots, constant_of, is_anything, used_by
from numhlo.backend.program import Launch
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.comparison import CLAMP, COMPARE, SELECT
from numhlo.lowering.ops.control_flow import CALL, CASE, COMPOSITE, IF, WHILE
from numhlo.lowering.ops.creation import IOTA
from numhlo.lowering.ops.elementwise import ADD, AND, MAXIMUM, MINIMUM, NOT, OR
from numhlo.lowering.ops.indexing import DYNAMIC_SLICE, DYNAMIC_UPDATE_SLICE, GATHER
from numhlo.lowering.ops.layout import BROADCAST_IN_DIM, PAD, RESHAPE, REVERSE, SLICE, TRANSPOSE
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.ops.sorting import SORT


class Known(NamedTuple):
    """What makes the values of a kernel, or of a region; and the body of the program."""

    made: Mapping[Value, Op]
    body: Region


CALLEES = {COMPOSITE: "decomposition", CALL: "callee"}
"""Ops that a function says the meaning of, and the attribute that it is."""
VIEWS = frozenset({BROADCAST_IN_DIM, RESHAPE, REVERSE, SLICE, TRANSPOSE})
"""Ops whose results' elements are some of their operand's."""
LOGIC = frozenset({AND, NOT, OR})


class Needs:
    """What results depend on.

    Parameters
    ----------
    roots : Roots
    body : Region
        Of the program.
    """

    def __init__(self, roots: Roots, body: Region) -> None:
        self._roots, self._body = roots, body
        self._regions: dict[tuple[Region, int], frozenset[Value]] = {}

    def unread(
        self,
        launch: Launch,
        is_read: Callable[[Value], bool],
        is_in_place: Callable[[Value, Value, int], bool],
    ) -> Value | None:
        """Return an input that a launch's outputs depend on and that no kernel reads, if there is one.

        Parameters
        ----------
        launch : Launch
        is_read : callable
            Tells whether kernels read memory with a value.
        is_in_place : callable
            Tells whether an array, of which an output is a changed copy, is in the output's buffer but for the change.
        """
        root_of, places, buffers = self._roots.of, dict(launch.outputs), dict(launch.inputs)
        same = {root_of(value): value for value in buffers}
        known = Known({value: op for op in launch.ops for value in op.results}, self._body)
        kept = {number for value, number in launch.outputs if has_parts(value) or _is_chosen(value)}
        folds = any(op.regions for op in launch.ops)  # bounds, counters and indices that are known from ranges
        waiting, seen = list(places), set[Value]()
        while waiting:
            value = waiting.pop()
            if value in seen or is_anything(value):
                continue
            seen.add(value)
            root = root_of(value)
            if value in buffers or root in same:
                found = value if value in buffers else same[root]
                is_there = buffers[found] in kept or constant_of(root) is not None
                is_there |= value in places and is_in_place(found, found, places[value])
                is_there |= folds and _is_integer(found) and not _is_given(found, known)
                if not (is_there or any(map(is_read, _sources(found)))):
                    return found
            elif root in known.made:
                needed = self.of(known.made[root], root, known)
                array = updated_array(root)
                if value in places and array is not None and is_in_place(array, root, places[value]):
                    needed = [operand for operand in needed if operand is not array]
                waiting += needed
        return None

    def of(self, op: Op, result: Value, known: Known) -> Sequence[Value]:
        """Return the values that an op's result depends on."""
        number = op.results.index(result)
        needed: Sequence[Value]
        if op.definition is WHILE:
            needed = self._of_loop(op, number)
        elif op.definition in (IF, CASE):
            given = {value for region in op.regions for value in self._of_region(region, number)}
            needed = [] if _may_be_known(op.operands[0], known) else [op.operands[0], *given]
        elif op.definition in CALLEES and (function := op.attributes.get(CALLEES[op.definition])) is not None:
            used = self._of_region(function.body, number)
            needed = [operand for operand, own in zip(op.operands, function.body.arguments, strict=True) if own in used]
        else:
            rule = RULES.get(op.definition)
            needed = used_by(op) if rule is None else rule(op, number, known)
        return [value for value in needed if value.tensor.size]

    def _of_loop(self, op: Op, number: int) -> list[Value]:
        """Return what the iterations use for a result; that it is there if there are none, the walk shows."""
        condition, body = op.regions
        used = {*self._of_region(condition, 0), *self._of_region(body, number)}
        parts = set[int]()
        while True:
            pairs = enumerate(zip(condition.arguments, body.arguments, strict=True))
            found = {part for part, arguments in pairs if not used.isdisjoint(arguments)} - parts
            if not found:
                break
            parts |= found
            used.update(value for part in found for value in self._of_region(body, part))
        return [*[op.operands[part] for part in sorted(parts)], *used - {*condition.arguments, *body.arguments}]

    def _of_region(self, region: Region, number: int) -> frozenset[Value]:
        """Return which arguments and values from outside something that a region gives depends on."""
        key = region, number
        if key not in self._regions:
            known = Known({value: op for op in region.ops for value in op.results}, self._body)
            self._regions[key] = frozenset(self._reached(region.returns[number], known))
        return self._regions[key]

    def _reached(self, value: Value, known: Known) -> Iterator[Value]:
        waiting, seen = [value], set[Value]()
        while waiting:
            root = self._roots.within(waiting.pop())
            if root in seen or is_anything(root):
                continue
            seen.add(root)
            if root in known.made:
                waiting += self.of(known.made[root], root, known)
            elif constant_of(root) is None:
                yield root


def _is_chosen(value: Value) -> bool:
    """Return whether a branch gives a value: what is in its buffer already may be one of those to choose from."""
    return isinstance(value.owner, Op) and value.owner.definition in (IF, CASE)


def _sources(value: Value) -> Iterator[Value]:
    """Give a value, and those that it is a view of: a kernel may read these in the view's order."""
    yield value
    while isinstance(value.owner, Op) and value.owner.definition in VIEWS:
        value = value.owner.operands[0]
        yield value


def _is_varied(array: Value, known: Known) -> bool:
    """Return whether it is known to matter which element of an array is taken: it is not one element many times."""
    waiting, seen = [array], set[Value]()
    while waiting:
        value = waiting.pop()
        op = known.made.get(value)
        if constant_of(value) is not None or (op is not None and op.definition in (BROADCAST_IN_DIM, IOTA)):
            return False
        if op is not None and op.definition is GATHER and _takes_one_window(op):
            return False
        if op is not None and value not in seen:
            seen.add(value)
            waiting += used_by(op)
    return True


def _padded(op: Op, number: int, known: Known) -> Sequence[Value]:
    """Return what is left of an array and its padding: each of them may have no element in the result."""
    kept = 1
    steps = zip(op.attributes["edge_padding_low"], op.attributes["interior_padding"], strict=True)
    for (low, interior), extent, size in zip(steps, op.operands[0].tensor.shape, op.result.tensor.shape, strict=True):
        kept *= sum(0 <= low + place * (interior + 1) < size for place in range(extent))
    array, padding = op.operands
    return [value for value, is_seen in ((array, kept > 0), (padding, kept < op.result.tensor.size)) if is_seen]


def _moving(starts: Sequence[Value], extents: Iterable[int], sizes: Iterable[int]) -> list[Value]:
    """Return the indices of a window that may be in several places."""
    return [start for start, extent, size in zip(starts, extents, sizes, strict=True) if size != extent]


def _updated(op: Op, number: int, known: Known) -> Sequence[Value]:
    array, update, *starts = op.operands
    moving = _moving(starts, array.tensor.shape, update.tensor.shape)
    return [array, update, *moving] if moving else [update]


def _sliced(op: Op, number: int, known: Known) -> Sequence[Value]:
    array, *starts = op.operands
    moving = _moving(starts, array.tensor.shape, op.result.tensor.shape)
    return [array, *moving] if _is_varied(array, known) else [array]


def _takes_one_window(op: Op) -> bool:
    """Return whether all windows of a gather are in one place: each indexed axis is taken whole."""
    sizes, indexed = op.attributes["slice_sizes"], op.attributes["dimension_numbers"].start_index_map
    return all(op.operands[0].tensor.shape[axis] == sizes[axis] for axis in indexed)


def _gathered(op: Op, number: int, known: Known) -> Sequence[Value]:
    array, indices = op.operands
    return [array] if _takes_one_window(op) or not _is_varied(array, known) else [array, indices]


def _sorted(op: Op, number: int, known: Known) -> Sequence[Value]:
    """Return what is sorted, and what is compared."""
    (region,) = op.regions
    used = {*region.returns, *[value for inner in region.ops for value in used_by(inner)]}
    pairs = zip(region.arguments[::2], region.arguments[1::2], strict=True)
    compared = [operand for operand, pair in zip(op.operands, pairs, strict=True) if not used.isdisjoint(pair)]
    return [op.operands[number], *compared, *used_by(op)[len(op.operands) :]]


def _selected(op: Op, number: int, known: Known) -> Sequence[Value]:
    """Return what a choice needs: where it hangs on whole numbers, it may be known which of both is chosen."""
    predicate, *chosen = op.operands
    if not _may_be_known(predicate, known):
        return op.operands
    first, second = map(_terms, chosen)
    return [value for value in first if value in second]


def _compared(op: Op, number: int, known: Known) -> Sequence[Value]:
    """Return what a comparison needs: that of whole numbers may be known, as that of an index with an extent."""
    return (
        []
        if _is_integer(op.operands[-1]) and not any(_is_given(value, known) for value in op.operands)
        else op.operands
    )


def _is_given(value: Value, known: Known) -> bool:
    """Return whether a value is an argument of the program, of which nothing is known."""
    owner = value.owner
    if isinstance(owner, Op):
        return owner.definition in VIEWS and _is_given(owner.operands[0], known)
    return owner is known.body


def _terms(value: Value) -> Sequence[Value]:
    op = value.owner
    return op.operands if isinstance(op, Op) and op.definition is ADD else [value]


def _is_integer(value: Value) -> bool:
    return value.tensor.dtype.kind in "iu"


def _may_be_known(value: Value, known: Known) -> bool:
    """Return whether a predicate hangs on whole numbers alone: these may be known to be in a range."""
    op = value.owner
    if not isinstance(op, Op):
        return False
    if op.definition is COMPARE:
        return _is_integer(op.operands[0]) and not any(_is_given(value, known) for value in op.operands)
    return op.definition in VIEWS | LOGIC and any(_may_be_known(operand, known) for operand in op.operands)


RULES: Mapping[Primitive, Callable[[Op, int, Known], Sequence[Value]]] = {
    PAD: _padded,
    DYNAMIC_UPDATE_SLICE: _updated,
    DYNAMIC_SLICE: _sliced,
    GATHER: _gathered,
    SORT: _sorted,
    SELECT: _selected,
    **dict.fromkeys((CLAMP, COMPARE, MAXIMUM, MINIMUM), _compared),
}
"""What the results of ops need that may be independent of some operands."""
