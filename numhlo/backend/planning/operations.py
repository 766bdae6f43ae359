"""What each op of a region is to the planner, and which values somebody needs in a buffer.

Most ops are emitted per element, or as views, and get a buffer only where it pays; matrix products, sorts, loops and
their kin read and write whole buffers. A view that must be a buffer is copied, unless it has its operand's own order
in memory.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection
from enum import Enum, auto

from numhlo.backend.emit.access import whole_array
from numhlo.backend.emit.expressions import MADE_UP, is_splat
from numhlo.backend.emit.reduction import Combiner, combiner_of, emits_combiner, keeps_types
from numhlo.backend.emit.support import emits_element
from numhlo.backend.emit.tables import KERNELS, VIEW
from numhlo.backend.planning.overwritten import early_views, find_overwritten
from numhlo.backend.planning.views import View, find_views, is_view
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops import creation
from numhlo.lowering.ops.reduction import REDUCE

SMALL_CONSTANT = 64
"""Bytes up to which a constant that is needed in a buffer is one from the start; larger splats are filled in."""


class Kind(Enum):
    """How an op is emitted."""

    VIRTUAL = auto()  # a constant or view: index arithmetic in the kernels that use it
    ELEMENT = auto()  # one expression per element of a loop nest
    REDUCTION = auto()  # accumulates in a loop nest
    ROOT = auto()  # on its own: kernels of its own, a step tree, or NumPy


VIRTUAL, ELEMENT, REDUCTION, ROOT = Kind
"""Under these names: Python 3.11 looks a member up by calls, and that for some twenty questions about every op."""


class Roots(dict[Value, Value]):
    """The value whose buffer holds a value; itself, where it is no view that shares another's.

    Parameters
    ----------
    alias : dict from Value to Value
        What views share the buffer of: other views, perhaps.
    """

    def __init__(self, alias: dict[Value, Value]) -> None:
        super().__init__()
        self._alias = alias

    def __missing__(self, value: Value) -> Value:
        root = value
        while root in self._alias:
            root = self._alias[root]
        self[value] = root
        return root


class Operations:
    """The ops of a region, classified.

    Attributes
    ----------
    kinds : dict from Op to Kind
    views : Views
    splats : set of Op
        Constants whose elements are all the same.
    needed : set of Value
        Values that must be in a buffer.
    copied : set of Value
        Views that must be in a buffer of their own.
    alias : dict from Value to Value
        Views that must be in a buffer and have their operand's order in memory: they share its buffer.
    roots : Roots
    root : callable
        ``root(value)``: the value whose buffer holds ``value``.
    uses : dict from Value to int
        How many ops use a value, be it through views.
    read : dict from Value to int
        How many of a value's elements ops use, all of them together, where all of them use views of it.
    strided : dict from (Op, int) to View
        Operands that an op's kernels read through a view of a buffer.
    overwritten : dict from Value to Op
        Arrays that are overwritten in part, and the first op that does so.
    """

    def __init__(self, region: Region, copying: Collection[Op] = (), overwritable: Collection[Value] = ()) -> None:
        self.splats = {op for op in region.ops if op.definition is creation.CONSTANT and is_splat(op)}
        self._emits: dict[Region, bool] = {}
        self._combiners: dict[Region, Combiner] = {}
        self.kinds: dict[Op | Region, Kind] = {op: self._kind(op) for op in region.ops}
        self._inputs: dict[Op, list[Value]] = {}
        self._fusible: dict[Op, frozenset[int]] = {}
        elementwise = {op for op in region.ops if self.kinds[op] is ELEMENT}
        looking = {op for op in region.ops if self.kinds[op] is VIRTUAL and op.operands}
        self.views = find_views(region, elementwise, looking, copying)
        overwritten = find_overwritten(region, self.views, overwritable)
        early = early_views(region, self.views, overwritten)
        if early:
            self.views = find_views(region, elementwise, looking, copying, early)
        self.needed: set[Value] = set()
        self.copied: set[Value] = set()
        self.alias: dict[Value, Value] = {}
        self.uses: defaultdict[Value, int] = defaultdict(int)
        self.read: defaultdict[Value, int] = defaultdict(int)
        self.strided: dict[tuple[Op, int], View] = {}
        for value in region.returns:
            self._need(value)
            self._use(value)
        for value in self.views.forced:
            self._need(value)
        for op in reversed(region.ops):
            self._visit(op)
        self.roots = Roots(self.alias)
        self.root = self.roots.__getitem__
        self.overwritten = {self.root(base): op for base, op in overwritten.items()}

    def _kind(self, op: Op) -> Kind:
        if emits_element(op):
            return ELEMENT
        if op.definition is REDUCE:
            return REDUCTION if keeps_types(op) and self._emits_combiner(op.regions[0]) else ROOT
        return VIRTUAL if op.definition in MADE_UP or is_view(op) else ROOT

    def _emits_combiner(self, body: Region) -> bool:
        """Return whether reductions with a body are emitted; copies of an op share one."""
        found = self._emits.get(body)
        if found is None:
            found = self._emits[body] = emits_combiner(body)
        return found

    def combiner(self, body: Region) -> Combiner:
        """Return how reductions with a body combine elements."""
        found = self._combiners.get(body)
        if found is None:
            found = self._combiners[body] = combiner_of(body)
        return found

    def inputs(self, op: Op) -> list[Value]:
        """Return an op's operands, then the values that its regions use from outside where these are kernels' own."""
        if not op.regions or self.kinds[op] is not ROOT:
            return op.operands
        found = self._inputs.get(op)
        if found is None:
            found = self._inputs[op] = [*op.operands, *free_values(op)]
        return found

    def fusible(self, op: Op) -> frozenset[int]:
        """Return the numbers of the inputs that the op's kernel may compute itself."""
        found = self._fusible.get(op)
        if found is None:
            found = self._fusible[op] = self._find_fusible(op)
        return found

    def _find_fusible(self, op: Op) -> frozenset[int]:
        if self.kinds[op] is not ROOT:
            return frozenset(range(len(op.operands)))
        rule = KERNELS.find(op.definition)
        return frozenset(() if rule is None or rule.refuse(op) else rule.fusible(op))

    def computes_apart(self, op: Op) -> bool:
        """Return whether an op's kernels compute each of its operands in a kernel of its own."""
        rule = KERNELS.find(op.definition)
        return rule is not None and rule.apart(op)

    def _visit(self, op: Op) -> None:
        kind = self.kinds[op]
        if kind is VIRTUAL:
            if op.results[0] in self.alias:  # who needs the view needs the buffer that it shares
                self.uses.setdefault(Roots(self.alias)[op.results[0]], 1)
            return
        if kind is not ROOT:
            views = self.views.of
            for value in dict.fromkeys(op.operands):
                if value in views:
                    self._use(value)
                else:
                    self.uses[value] += 1
                    self.read[value] = sys.maxsize
            return
        fusible = self.fusible(op)
        for number, value in enumerate(self.inputs(op)):
            view = self.views.of.get(value)
            if number not in fusible:
                if view is not None and self._reads_strided(op, number, view):
                    self.strided[op, number] = view
                    self._need(view.base)
                else:
                    self._need(value)
            self._use(value)  # after that: a view that is copied uses what it looks at, and who uses the copy does not

    def _reads_strided(self, op: Op, number: int, view: View) -> bool:
        rule = KERNELS.find(op.definition)
        if rule is None or number >= len(op.operands) or view.indices or rule.refuse(op):
            return False
        return rule.strided(op, number, view.access)

    def _use(self, value: Value) -> None:
        view = None if value in self.copied else self.views.of.get(value)
        if view is None:
            self.uses[value] += 1
            self.read[value] = sys.maxsize
            return
        self.uses[view.base] += 1
        self.read[view.base] += value.tensor.size
        for index in view.indices:
            self._use(index)

    def _need(self, value: Value) -> None:
        """Note that a value must be in a buffer."""
        op = value.owner
        if value in self.needed or not isinstance(op, Op) or op not in self.kinds:
            return
        self.needed.add(value)
        if op.definition is creation.CONSTANT:
            if op in self.splats and value.tensor.nbytes > SMALL_CONSTANT:
                self.kinds[op] = ELEMENT
        elif op.definition is creation.IOTA:
            self.kinds[op] = ELEMENT
        elif is_view(op):
            if _keeps_order(op):
                self.alias[value] = op.operands[0]
                self._need(op.operands[0])
            else:
                self.kinds[op] = ELEMENT
                self.copied.add(value)


def _keeps_order(op: Op) -> bool:
    """Return whether a view's elements lie in memory just as its operand's."""
    from_shape, shape = op.operands[0].tensor.shape, op.result.tensor.shape
    if op.operands[0].tensor.size != op.result.tensor.size or len(op.operands) > 1:
        return False
    access = VIEW[op.definition](op, whole_array(from_shape), None, 0)
    return access == whole_array(shape)
