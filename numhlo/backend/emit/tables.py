"""The three tables of emission rules: an op is emitted per element, as a view, or as kernels of its own.

Rules live in the family files beside this one (`elementwise`, `layout`, `reduction`, ...). An op in none of the
tables is run by its own definition on NumPy, a step that `explain` names with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numhlo.backend.emit.access import Access
from numhlo.lowering.ir import Op
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.rule_table import RuleTable

FOLDER = "numhlo/backend/emit"

ElementRule = Callable[[Op, Sequence[str]], str]
"""``rule(op, operands) -> expression``: the text of one result element from the names of the operands' elements."""

UNEMITTED = ""
"""What an element rule returns where it has no text for the operands' element types."""

ELEMENT: RuleTable[ElementRule] = RuleTable("emit", FOLDER)

ViewRule = Callable[..., Access]
"""``rule(op, access, expressions, chain) -> Access``: where a result's elements lie, given where the operand's lie."""

VIEW: RuleTable[ViewRule] = RuleTable("emit as a view", FOLDER)


@record(frozen=True)
class RootRule:
    """How an op becomes steps of its own.

    Attributes
    ----------
    emit : callable
        ``emit(op, site)`` appends steps to ``site``; see `numhlo.backend.planning.site`.
    refuse : callable
        ``refuse(op)`` gives the reason why the op can't be emitted, or an empty string.
    fusible : callable
        ``fusible(op)`` gives the numbers of the operands that the op's kernels compute themselves if they are given as
        expressions; the others must be buffers.
    strided : callable
        ``strided(op, number, access)`` says whether the kernels can read an operand through a view.
    apart : callable
        ``apart(op)`` says whether operands that the kernels compute are computed in a kernel each.
    """

    emit: Callable[..., None]
    refuse: Callable[[Op], str] = lambda op: ""
    fusible: Callable[[Op], Sequence[int]] = lambda op: ()
    strided: Callable[[Op, int, Access], bool] = lambda op, number, access: False
    apart: Callable[[Op], bool] = lambda op: False

    def __call__(self, op: Op, site: object) -> None:
        """Append the op's steps."""
        self.emit(op, site)


KERNELS: RuleTable[RootRule] = RuleTable("emit as kernels", FOLDER)
