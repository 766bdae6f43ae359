"""The effects of statements: which buffers they read and write, what they assign, and whether they leave a block."""

from __future__ import annotations

from functools import cache
from typing import Any

from numhlo.backend.kernels import ir
from numhlo.backend.kernels.callees import access_of
from numhlo.backend.primitives import native
from numhlo.backend.primitives.atomic import load_acquire, pause
from numhlo.backend.primitives.memory import prefetch, prefetch_near, stack_array
from numhlo.backend.primitives.native import MatrixProduct
from numhlo.lowering.ir.records import record

ANYWHERE: frozenset[int | None] = frozenset({None})
"""Memory of which nothing is known: any buffer may be meant."""
NOWHERE: frozenset[int | None] = frozenset()


@record(frozen=True, slots=True)
class Effects:
    """What a statement or an expression does.

    Attributes
    ----------
    reads, writes : set of int or None
        Numbers of buffers; None stands for memory anywhere.
    assigns : set of Variable
        Variables that change.
    leaves : bool
        It may go on elsewhere than behind itself: out of a loop or the function.
    other : bool
        It does something else that must happen as often as it is written: calls native code, reserves memory on the
        stack, asks for a cache line, waits for what other threads have stored.
    """

    reads: frozenset[int | None] = NOWHERE
    writes: frozenset[int | None] = NOWHERE
    assigns: frozenset[ir.Variable] = frozenset()
    leaves: bool = False
    other: bool = False

    def __or__(self, others: Effects) -> Effects:
        """Return the effects of both."""
        return Effects(
            self.reads | others.reads,
            self.writes | others.writes,
            self.assigns | others.assigns,
            self.leaves or others.leaves,
            self.other or others.other,
        )

    @property
    def is_pure(self) -> bool:
        """Return whether nothing is changed: what computes only values nobody uses may be left out."""
        return not (self.writes or self.assigns or self.leaves or self.other)


NONE = Effects()
UNKNOWN = Effects(ANYWHERE, ANYWHERE, other=True)


def effects_of(node: ir.Statement | ir.Expression) -> Effects:
    """Return the effects of a statement with the blocks inside it, or of an expression with its operands."""
    if isinstance(node, ir.Expression):
        found = _own(node)
        for operand in ir.operands_of(node):
            found |= effects_of(operand)
        return found
    found = NONE
    match node:
        case ir.Store(pointer=pointer):
            found = Effects(writes=_memory(pointer))
        case ir.Assign(variable=variable):
            found = Effects(assigns=frozenset({variable}))
        case ir.Break() | ir.Continue() | ir.Return():
            found = Effects(leaves=True)
    for value in ir.values_of(node):
        found |= effects_of(value)
    for block in ir.blocks_of(node):
        for statement in block:
            found |= effects_of(statement)
    return found


def _memory(pointer: ir.Expression) -> frozenset[int | None]:
    return frozenset({pointer.type.buffer}) if isinstance(pointer.type, ir.Pointer) else ANYWHERE


def _own(node: ir.Expression) -> Effects:
    match node:
        case ir.Load(pointer=pointer):
            return Effects(reads=_memory(pointer))
        case ir.Call(callee=ir.Function()):
            return UNKNOWN
        case ir.Call(callee=callee, operands=operands):
            return _of_call(callee, operands)
        case _:
            return NONE


def _of_call(callee: Any, operands: tuple[ir.Expression, ...]) -> Effects:
    if _is_unknown(callee):
        return UNKNOWN
    if callee in (pause, prefetch, prefetch_near, stack_array):
        return Effects(other=True)
    access = access_of(callee)
    if access is None:
        return NONE
    reads, writes = (NOWHERE.union(*[_memory(operands[k]) for k in places]) for places in access)
    return Effects(reads, writes, other=callee is load_acquire or isinstance(callee, MatrixProduct))


@cache
def _is_unknown(callee: Any) -> bool:
    if callee is native.library_function:  # what it reads never changes
        return False
    return getattr(callee, "__module__", "") == native.__name__ and not isinstance(callee, MatrixProduct)
