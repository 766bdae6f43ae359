"""What variables mean after a branch that a traced condition chooses, by the rules of `memory`.

A variable that means the same memory after either branch is that array. Any other is handed on by value; names that
share memory after either branch share it afterwards. What a name may mean besides is tied to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from numhlo.lowering.ir.records import record
from numhlo.tracer.core.cell import Cell
from numhlo.tracer.core.orders import Either
from numhlo.tracer.core.ties import BY_BRANCH, make_stale, stale_cells, tie
from numhlo.tracer.core.trace import Trace, Tracer, current_trace
from numhlo.tracer.python.autograph.memory import Meaning, is_array, meanings, on_cell, same_memory, unchecked, whole
from numhlo.tracer.trees.pytrees import tree_flatten, tree_leaves, tree_unflatten


class Side:
    """What variables are after a branch, read in its trace.

    Attributes
    ----------
    values : dict
        By name.
    stale : set of Cell
        Storage from before the branch that it may have written by a name of which that is not known.
    """

    def __init__(self, values: dict[str, Any], mark: int) -> None:
        self.values = values
        trace = current_trace()
        assert trace is not None
        self.stale = stale_cells(trace, mark)
        self.meanings = {name: meanings(value) for name, value in values.items()}

    def fill(self, fillers: Mapping[str, Any], missing: type) -> None:
        """Give variables a value that have none."""
        for name in [n for n in fillers if isinstance(self.values[n], missing)]:
            self.values[name] = fillers[name]
            self.meanings[name] = meanings(fillers[name])


@record(eq=False, slots=True)
class _Place:
    """A leaf of a variable, and what it means after either branch."""

    name: str
    number: int
    first: Meaning
    second: Meaning

    @property
    def cells(self) -> tuple[Cell, Cell]:
        """Return the cells that the leaf is on after either branch."""
        return self.first.cell, self.second.cell

    def may_share(self, other: _Place) -> bool:
        """Return whether two leaves may be of the same memory after one of the branches."""
        pairs = ((self.first, other.first), (self.second, other.second))
        return any(a.cell in b.may_be or b.cell in a.may_be for a, b in pairs)


class Joined:
    """Which leaves of variables are kept, which are handed on, and which share memory.

    Parameters
    ----------
    names : iterable of str
        Variables that can be handed on.
    sides : list of Side
        Two.
    mark : int
        Numbers of cells that the branches made have at least this.
    """

    def __init__(self, names: Iterable[str], sides: Sequence[Side], mark: int) -> None:
        first, second = sides
        self.names, self._mark, self._stale = list(names), mark, first.stale | second.stale
        self._trees, self._kept, self._places = {}, dict[tuple[str, int], Any](), list[_Place]()
        for name in self.names:
            leaves, self._trees[name] = tree_flatten(first.values[name])
            others, tree = tree_flatten(second.values[name])
            if tree != self._trees[name]:
                continue
            known = zip(leaves, others, first.meanings[name], second.meanings[name], strict=True)
            for k, (x, y, one, two) in enumerate(known):
                if one is not None and two is not None and same_memory(x, y) and one.is_outside(mark):
                    self._kept[name, k] = x
                elif one is not None and two is not None:
                    self._places.append(_Place(name, k, one, two))
        self._groups = self._found_groups()
        self._of_group = {(p.name, p.number): k for k, group in enumerate(self._groups) for p in group}
        self._half = [
            (name, k, one or two)
            for name in self.names
            for k, (one, two) in enumerate(zip(first.meanings[name], second.meanings[name], strict=False))
            if (one is None) != (two is None)
        ]

    def _found_groups(self) -> list[list[_Place]]:
        """Return the leaves that share memory after either branch, and show the same parts of it."""
        found: dict[Any, list[_Place]] = {}
        for place in self._places:
            one, two = place.cells
            steps = place.first.steps
            alike = steps == place.second.steps and one.value.tensor == two.value.tensor
            if alike and not any(getattr(step, "starts", ()) and not _is_static(step) for step in steps):
                found.setdefault((one, two), []).append(place)
        return [group for group in found.values() if len(group) > 1]

    def handed(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], list[Any]]:
        """Return what a branch hands on: of each variable, and the memory that several share.

        Parameters
        ----------
        values : dict
            The variables' values after the branch, by name.
        """
        named: dict[str, Any] = {}
        flat = {name: tree_leaves(values[name]) for name in self.names}
        for name, leaves in flat.items():
            rest = [unchecked(x) for k, x in enumerate(leaves) if self._is_handed(name, k)]
            if len(rest) == len(leaves):
                named[name] = tree_unflatten(tree_flatten(values[name])[1], rest)
            elif rest:
                named[name] = rest
        shared = [flat[group[0].name][group[0].number] for group in self._groups]
        return named, [unchecked(whole(x.cell)) for x in shared]

    def _is_handed(self, name: str, number: int) -> bool:
        return (name, number) not in self._kept and (name, number) not in self._of_group

    def values(self, named: Mapping[str, Any], shared: Sequence[Any]) -> dict[str, Any]:
        """Return the variables' values, from what the branches handed on."""
        found = {}
        for name in self.names:
            tree = self._trees[name]
            rest = iter(tree_leaves(named.get(name, ())))
            leaves = []
            for k in range(tree.num_leaves):
                if self._is_handed(name, k):
                    leaves.append(next(rest))
                elif (name, k) in self._kept:
                    leaves.append(self._kept[name, k])
                else:
                    group = self._of_group[name, k]
                    like = next(p.first.array for p in self._groups[group] if (p.name, p.number) == (name, k))
                    leaves.append(on_cell(shared[group].cell, like))
            found[name] = tree_unflatten(tree, leaves)
        return found

    def kept_of(self, name: str, value: Any) -> Any:
        """Return a variable's value with the arrays in place that are the same after either branch."""
        leaves, tree = tree_flatten(value)
        return tree_unflatten(tree, [self._kept.get((name, k), x) for k, x in enumerate(leaves)])

    @staticmethod
    def _lay_out(place: _Place, x: Any) -> None:
        """Note that an array lies in memory as that of one of the branches."""
        sides = [place.first.array, place.second.array]
        if not x.steps and all(x.cell is not side.cell and not side.steps for side in sides):
            x.cell.order = Either(sides)

    def tie(self, trace: Trace, values: Mapping[str, Any]) -> None:
        """Note what the arrays that the branches handed on may be.

        Parameters
        ----------
        trace : Trace
        values : dict
            The variables' values now.
        """
        make_stale(trace, self._stale, BY_BRANCH)
        flat = {name: tree_leaves(value) for name, value in values.items()}
        done: list[tuple[_Place, Cell]] = []
        for place in self._places:
            x = flat[place.name][place.number]
            if not is_array(x):
                continue
            may_be = {c for c in place.first.may_be | place.second.may_be if c.serial < self._mark}
            near = {cell for other, cell in done if cell is not x.cell and place.may_share(other)}
            if all(cell is not x.cell for _, cell in done):
                self._lay_out(place, x)
                tie(trace, x.cell, may_be | near, BY_BRANCH, stale=place.first.is_stale or place.second.is_stale)
            done.append((place, x.cell))
        for name, number, known in self._half:
            x = flat[name][number] if number < len(flat[name]) else None
            if isinstance(x, Tracer) and not x.ndim:
                x.cell.is_array = True  # a number after one branch, an array without dimensions after the other
            if x is not None and is_array(x) and known is not None:
                tie(trace, x.cell, {c for c in known.may_be if c.serial < self._mark}, BY_BRANCH, stale=known.is_stale)


def _is_static(step: Any) -> bool:
    return not any(isinstance(start, Tracer) for start in step.starts)
