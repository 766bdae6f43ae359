"""What readers of kernel text share: the error for what the IR has no form for, and what they ask of types."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Protocol

from numhlo.backend.kernels import ir
from numhlo.lowering.ir.errors import InternalError


class UnreadableError(InternalError):
    """Kernel text that the kernel IR has no form for."""


class Typing(Protocol):
    """What the primitives' definitions say of types."""

    def result(self, callee: Any, operands: Sequence[ir.Expression]) -> ir.Type:
        """Return the type of a call of a primitive, an operator or a builtin.

        Raises
        ------
        UnreadableError
            If it takes no such operands.
        """

    def counter(self, bounds: Sequence[ir.Expression]) -> ir.Number:
        """Return the type of the counter of a `range`."""


def unreadable(what: str, node: ast.AST) -> UnreadableError:
    """Return the error for a part of the text."""
    return UnreadableError(f"the kernel IR has no {what}", why=f"line {getattr(node, 'lineno', 0)} of the text")
