"""Storage that a branch or a body may write into: the cells of the arrays that it changes in place.

While it is traced, such a cell belongs to the inner trace and holds what the inner trace made of it. So all that looks
at it there, by whatever name, attribute or view, sees each write at once; afterwards the cell is given back, and takes
what the branch or the loop leaves in it as one of its results.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from numhlo.tracer.control_flow.bodies import own_arrays
from numhlo.tracer.core.cell import Cell
from numhlo.tracer.core.trace import Tracer, current_trace
from numhlo.tracer.python.autograph.memory import is_array, unchecked, whole
from numhlo.tracer.trees.pytrees import tree_leaves, tree_map


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
        self._taken = 0

    def holds(self, x: Any) -> bool:
        """Return whether an array is of this storage: one of the arrays, another name of one, or a view."""
        return isinstance(x, Tracer) and any(x.cell is cell for cell in self.cells.values())

    def takes(self, cell: object) -> bool:
        """Return whether a cell that could not be written into can be lent; it is, from the next time on."""
        taken = isinstance(cell, Cell) and cell.trace is current_trace()
        if not taken or any(cell is c for c in self.cells.values()):
            return False
        assert isinstance(cell, Cell)
        self._taken += 1
        self.cells[f"storage {self._taken}"] = cell
        return True

    def leave_out(self, cells: Collection[Cell]) -> None:
        """Lend some cells no more, unless something writes into them."""
        self.cells = {n: cell for n, cell in self.cells.items() if cell not in cells}

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
        first = {n: trace.read(unchecked(whole(c)) if contents is None else contents[n]) for n, c in self.cells.items()}
        for name, cell in self.cells.items():
            cell.trace, cell.value = trace, first[name]
        try:
            yield
            self.changed |= {n for n, cell in self.cells.items() if cell.value is not first[n]}
        finally:
            for cell, owner, value, version in before:
                cell.trace, cell.value, cell.version = owner, value, version

    def own(self, operands: Any) -> Any:
        """Return operands for a body: traced arrays as they are, a version of its own of anything else."""
        trace = current_trace()
        assert trace is not None
        return tree_map(lambda leaf: leaf if is_array(leaf) else own_arrays(trace, leaf), operands)

    def settled(self, results: Any) -> Any:
        """Return results that stay what they are when the storage is given back."""
        trace = current_trace()
        assert trace is not None
        return tree_map(lambda leaf: own_arrays(trace, leaf) if self.holds(leaf) else leaf, results)

    def contents(self) -> dict[str, Any]:
        """Return what the cells hold now, as arrays of their own, by name."""
        trace = current_trace()
        assert trace is not None
        return {name: trace.wrap(trace.read(unchecked(whole(cell)))) for name, cell in self.cells.items()}

    def write(self, contents: Mapping[str, Any]) -> None:
        """Make cells hold what a branch or a loop left in them."""
        for name, new in contents.items():
            whole(self.cells[name]).assign(new)
