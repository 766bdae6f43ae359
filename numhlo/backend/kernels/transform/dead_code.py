"""Dead code elimination: what computes only values that nothing needs is left out.

Writers define values before it is known who needs them: an index that is counted from the end is added to the count,
and then placed by one test. Only what has no effect is dropped, as `numhlo.backend.kernels.effects` has it.
"""

from __future__ import annotations

from collections import Counter

from numhlo.backend.kernels import ir
from numhlo.backend.kernels.effects import effects_of


def eliminate_dead_code(module: ir.Module) -> bool:
    """Remove the definitions of variables that nothing reads, and those that only these needed.

    Returns
    -------
    bool
        Whether there were any. Variables that change are left alone: those have meanings of their own.
    """
    found = [_Function(function).run() for function in module.functions]
    return any(found)


class _Function:
    """Goes through a function from its end to its start, with how often each variable is still read before that."""

    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.reads = Counter(
            node.variable
            for statement in ir.walk(function.body)
            for node in ir.expressions(statement)
            if isinstance(node, ir.Read)
        )
        self.found = False

    def run(self) -> bool:
        """Remove the function's dead code and return whether there was any."""
        self.block(self.function.body)
        return self.found

    def block(self, statements: list[ir.Statement]) -> None:
        """Remove what is dead in a block and those inside it."""
        kept: list[ir.Statement] = []
        for statement in reversed(statements):
            if isinstance(statement, ir.Let) and self.is_dead(statement):
                self.found = True
                for node in ir.expressions(statement):
                    if isinstance(node, ir.Read):
                        self.reads[node.variable] -= 1
                continue
            for inner in reversed(ir.blocks_of(statement)):
                self.block(inner)
            kept.append(statement)
        if len(kept) < len(statements):
            statements[:] = reversed(kept)

    def is_dead(self, statement: ir.Let) -> bool:
        """Return whether nothing reads a value that has no effect."""
        return not self.reads[statement.variable] and effects_of(statement.value).is_pure
