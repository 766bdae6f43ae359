"""Static single assignment form of a kernel, as Numba's own pass makes it, in time linear in the kernel's length.

Numba's pass walks all statements twice for each variable that is assigned more than once: a fifth of the time that a
kernel of a thousand lines takes to compile. This one finds the statements of every variable in one walk, then visits
only them. Versions are numbered, and phis are placed, as Numba's pass does: what follows can't tell them apart.

Source: Choi et al., Automatic construction of sparse data flow evaluation graphs, and "Static Single Assignment Book",
chapters 4 and 5, which numba.core.ssa follows too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from copy import copy
from dataclasses import field
from typing import Any

from numba.core import ir, ir_utils, ssa
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import register_pass
from numba.core.untyped_passes import ReconstructSSA

from numhlo.lowering.ir.records import record

Place = tuple[int, int]
"""A statement: its block's label and its position there."""
PHI = -1
"""The position of phis: before all statements of the block."""


@register_pass(mutates_CFG=False, analysis_only=False)
class SingleAssignment(ReconstructSSA):
    """Numba's pass `ReconstructSSA`, linear."""

    _name = "single_assignment"

    def run_pass(self, state: Any) -> bool:
        """Rewrite the function, and what Numba knows of its variables."""
        function = state.func_ir
        function.blocks = in_single_assignment(function.blocks)
        self._patch_locals(state)
        function._definitions = ir_utils.build_definitions(function.blocks)
        return True  # lifetimes, which Numba's pass finds again here, are next read after the phis are gone


def in_single_assignment(blocks: dict[int, Any]) -> dict[int, Any]:
    """Return blocks in which each variable is assigned once.

    Parameters
    ----------
    blocks : dict
        Numba's blocks by their labels; their statements may be shared with what is returned.
    """
    flow = compute_cfg_from_blocks(blocks)
    frontiers = ssa._iterated_domfronts(flow)
    bodies = {label: list(block.body) for label, block in blocks.items()}
    definitions, uses = places(blocks)
    phis: dict[int, list[Any]] = defaultdict(list)
    for name in ssa._find_defs_violators(blocks, flow):
        variable = Variable(name, flow, blocks)
        variable.version(bodies, definitions[name])
        variable.phi_places = ssa._compute_phi_locations(frontiers, variable.versions)
        variable.connect(bodies, uses[name])
        for label, phi in variable.phis.items():
            phis[label].insert(0, phi)
    made = {}
    for label, block in blocks.items():
        made[label] = ir.Block(scope=block.scope, loc=block.loc)
        made[label].body = phis[label] + bodies[label]
    return made


def places(blocks: dict[int, Any]) -> tuple[dict[str, list[Place]], dict[str, list[Place]]]:
    """Return where each variable is assigned, and where it is read, in the order of the blocks."""
    definitions: dict[str, list[Place]] = defaultdict(list)
    uses: dict[str, list[Place]] = defaultdict(list)
    for label, block in blocks.items():
        for position, statement in enumerate(block.body):
            read = statement
            if isinstance(statement, ir.Assign):
                definitions[statement.target.name].append((label, position))
                read = statement.value
            for name in dict.fromkeys(used.name for used in variables(read)):
                uses[name].append((label, position))
    return definitions, uses


def variables(node: Any) -> list[Any]:
    """Return the variables that a statement, or what it assigns, reads."""
    if isinstance(node, ir.Var):
        return [node]
    read: list[Any] = node.list_vars() if isinstance(node, ir.Inst) else []
    return read


@record
class Variable:
    """A variable that is assigned more than once, or read where its assignment is not sure to have been.

    Attributes
    ----------
    versions : dict of list of (position, assignment)
        The assignments of each block in their order, the block's phi first.
    phi_places : set of int
        Labels of the blocks where several versions meet.
    phis : dict
        The phis that are needed, by label.
    """

    name: str
    flow: Any
    blocks: dict[int, Any]
    versions: dict[int, list[tuple[int, Any]]] = field(default_factory=lambda: defaultdict(list))
    phi_places: set[int] = field(default_factory=set)
    phis: dict[int, Any] = field(default_factory=dict)

    @property
    def scope(self) -> Any:
        """Return the function's scope, which knows the names that are taken."""
        return next(iter(self.blocks.values())).scope

    def version(self, bodies: dict[int, list[Any]], assigned: list[Place]) -> None:
        """Give each assignment a variable of its own; the first keeps the name."""
        for number, (label, position) in enumerate(assigned):
            old = bodies[label][position]
            target = self.scope.redefine(self.name, loc=old.loc) if number else old.target
            new = ir.Assign(target=target, value=old.value, loc=old.loc)
            bodies[label][position] = new
            self.versions[label].append((position, new))

    def connect(self, bodies: dict[int, list[Any]], used: list[Place]) -> None:
        """Let each use read the version that reaches it."""
        for label, position in used:
            target = self.reaching(label, position)
            if target is ir.UNDEFINED or target.name == self.name:
                continue
            bodies[label][position] = self.reading(bodies[label][position], target)

    def reading(self, statement: Any, target: Any) -> Any:
        """Return the statement with ``target`` for the variable."""
        if not isinstance(statement, ir.Assign):
            statement = copy(statement)
            ir_utils.replace_vars_stmt(statement, {self.name: target})
            return statement
        value = target
        if not isinstance(statement.value, ir.Var):
            value = copy(statement.value)
            ir_utils.replace_vars_inner(value, {self.name: target})
        return ir.Assign(target=statement.target, value=value, loc=statement.loc)

    def reaching(self, label: int, position: int) -> Any:
        """Return the variable that holds the value before a statement."""
        before = bisect_left(self.versions[label], position, key=lambda version: version[0])
        if before:
            return self.versions[label][before - 1][1].target
        return self.on_entry(label)

    def on_entry(self, label: int) -> Any:
        """Return the variable that holds the value where a block begins: a phi's, or its dominator's last."""
        dominators = self.flow.immediate_dominators()
        while label not in self.phi_places:
            dominator = dominators[label]
            if dominator == label:
                return ir.UNDEFINED
            if self.versions[dominator]:
                return self.versions[dominator][-1][1].target
            label = dominator
        return self.phi(label)

    def on_exit(self, label: int) -> Any:
        """Return the variable that holds the value where a block ends."""
        if self.versions[label]:
            return self.versions[label][-1][1].target
        return self.on_entry(label)

    def phi(self, label: int) -> Any:
        """Return the variable of a new phi, which stands before it looks at where values come from: loops lead back."""
        loc = self.blocks[label].loc
        phi = ir.Assign(target=self.scope.redefine(self.name, loc=loc), value=ir.Expr.phi(loc=loc), loc=loc)
        self.versions[label].insert(0, (PHI, phi))
        self.phis[label] = phi
        for origin, _ in self.flow.predecessors(label):
            phi.value.incoming_values.append(self.on_exit(origin))
            phi.value.incoming_blocks.append(origin)
        return phi.target
