"""Storage that a branch or a body may write into: the cells of the arrays that it changes in place.

While it is traced, such a cell belongs to the inner trace and holds what the inner trace made of it. So all that looks
at it there, by whatever name, attribute or view, sees each write at once; afterwards the cell is given back, and takes
what the branch or the loop leaves in it as one of its results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from numhlo.lowering.ir import Value
from numhlo.tracer.cell import Cell
from numhlo.tracer.control_flow.bodies import own_arrays
from numhlo.tracer.trace import Tracer, current_trace
from numhlo.tracer.trees.pytrees import tree_flatten, tree_leaves, tree_map, tree_unflatten


def can_be_lent(x: Any) -> bool:
    """Return whether a leaf is an array whose storage the current trace owns."""
    return isinstance(x, Tracer) and not x.is_scalar and x.cell.trace is current_trace()


class LentStorage:
    """The cells of some arrays.

    Parameters
    ----------
    arrays : dict
        Pytrees by name; other leaves than arrays of the current trace are left out.

    Attributes
    ----------
    cells : dict
        By what to call them.
    changed : set of str
        Those that were written into while lent.
    """

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        found: dict[int, tuple[str, Cell]] = {}
        for name, tree in arrays.items():
            for number, leaf in enumerate(tree_leaves(tree)):
                if can_be_lent(leaf):
                    found.setdefault(id(leaf.cell), (f"storage of {name} {number}", leaf.cell))
        self.cells = dict(found.values())
        self.changed: set[str] = set()
        self._refused: list[Cell] = []

    def holds(self, x: Any) -> bool:
        """Return whether an array is of this storage: one of the arrays, another name of one, or a view."""
        return isinstance(x, Tracer) and any(x.cell is cell for cell in self.cells.values())

    def takes(self, cell: object) -> bool:
        """Return whether a cell that could not be written into can be lent; it is, from the next time on."""
        taken = isinstance(cell, Cell) and cell.trace is current_trace()
        if not taken or any(cell is c for c in (*self.cells.values(), *self._refused)):
            return False
        assert isinstance(cell, Cell)
        self.cells[f"storage {len(self.cells)}"] = cell
        return True

    def leave_out(self, arrays: Sequence[Tracer]) -> None:
        """Lend the cells of some arrays no more."""
        self._refused += [x.cell for x in arrays]
        self.cells = {n: cell for n, cell in self.cells.items() if all(cell is not c for c in self._refused)}

    @contextmanager
    def lent(self, contents: Mapping[str, Any] | None = None) -> Iterator[None]:
        """Let the current trace, an inner one, have the cells for a while.

        Parameters
        ----------
        contents : dict, optional
            What they hold at first; as outside if not given.
        """
        trace = current_trace()
        assert trace is not None
        before = [(cell, cell.trace, cell.value, cell.version) for cell in self.cells.values()]
        first = {n: trace.read(_whole(c) if contents is None else contents[n]) for n, c in self.cells.items()}
        for name, cell in self.cells.items():
            cell.trace, cell.value = trace, first[name]
        try:
            yield
            self.changed |= {n for n, cell in self.cells.items() if cell.value is not first[n]}
        finally:
            for cell, owner, value, version in before:
                cell.trace, cell.value, cell.version = owner, value, version

    def own(self, operands: Any) -> Any:
        """Return operands for a body: arrays of this storage as they are, of others a version of its own."""
        trace = current_trace()
        assert trace is not None
        return tree_map(lambda leaf: leaf if self.holds(leaf) else own_arrays(trace, leaf), operands)

    def settled(self, results: Any) -> Any:
        """Return results that stay what they are when the storage is given back."""
        trace = current_trace()
        assert trace is not None
        return tree_map(lambda leaf: own_arrays(trace, leaf) if self.holds(leaf) else leaf, results)

    def contents(self) -> dict[str, Any]:
        """Return what the cells hold now, as arrays of their own, by name."""
        trace = current_trace()
        assert trace is not None
        return {name: trace.wrap(trace.read(_whole(cell))) for name, cell in self.cells.items()}

    def write(self, contents: Mapping[str, Any]) -> None:
        """Make cells hold what a branch or a loop left in them."""
        for name, new in contents.items():
            _whole(self.cells[name]).assign(new)


def _whole(cell: Cell) -> Tracer:
    value: Value = cell.value
    return Tracer(cell, (), value.tensor)


class KeptLeaves:
    """Which leaves of a variable are the same arrays of a storage after either branch: only their contents changed.

    Parameters
    ----------
    storage : LentStorage
    first, second : pytree
        The variable's values after either branch.

    Attributes
    ----------
    all, any : bool
    """

    def __init__(self, storage: LentStorage, first: Any, second: Any) -> None:
        leaves, self._tree = tree_flatten(first)
        others, tree = tree_flatten(second)
        same = tree == self._tree
        self._leaves = [
            x if same and x is y and storage.holds(x) else None for x, y in zip(leaves, others, strict=same)
        ]
        kept = [x is not None for x in self._leaves]
        self.all, self.any = same and bool(kept) and all(kept), any(kept)

    def rest(self, value: Any) -> Any:
        """Return what a branch has to hand on of the variable."""
        if not self.any:
            return value
        return [leaf for leaf, kept in zip(tree_leaves(value), self._leaves, strict=True) if kept is None]

    def joined(self, rest: Any) -> Any:
        """Return the variable's value, from what the branches handed on."""
        if not self.any:
            return rest
        new = iter(rest)
        return tree_unflatten(self._tree, [next(new) if kept is None else kept for kept in self._leaves])

    def tie(self, joined: Any, *sides: Any) -> None:
        """Note of the arrays that the branches handed on which outer ones they may be: what either branch named.

        Parameters
        ----------
        joined : pytree
            The variable's value now.
        *sides : pytree
            Its values after each branch.
        """
        leaves = tree_leaves(joined)
        for side in map(tree_leaves, sides):
            if len(side) == len(leaves):
                pairs = zip(leaves, side, strict=True)
                for cell, outer in [(x.cell, y.cell) for x, y in pairs if x is not y and can_be_lent(y)]:
                    cell.twins += ((outer, outer.version),)
                    outer.twins += ((cell, cell.version),)

    def replaced(self, value: Any) -> list[Tracer]:
        """Return those of the arrays in whose place a value has others."""
        leaves, tree = tree_flatten(value)
        if tree != self._tree:
            return [kept for kept in self._leaves if kept is not None]
        pairs = zip(leaves, self._leaves, strict=True)
        return [kept for leaf, kept in pairs if kept is not None and leaf is not kept]
