"""What the functions of a module say about its numbered buffers, and what they call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numhlo.backend.kernels import ir

UNKNOWN = 1
"""Bytes: the alignment that every address has."""


def buffers_of(functions: Sequence[ir.Function]) -> dict[int, ir.Buffer]:
    """Return what is known of the buffers whose pointers occur in some functions, by number."""
    found: dict[int, set[tuple[str, int]]] = {}
    for function in functions:
        for statement in ir.walk(function.body):
            if isinstance(statement, ir.Store):
                _see(found, statement.pointer, statement.storage.name, statement.storage.dtype.alignment)
            for node in ir.expressions(statement):
                if isinstance(node, ir.Load):
                    _see(found, node.pointer, node.storage.name, node.storage.dtype.alignment)
                elif isinstance(node, ir.Call) and not isinstance(node.callee, ir.Function):
                    for operand in node.operands:
                        _see(found, operand, "", UNKNOWN)
    return {number: _buffer(number, uses) for number, uses in sorted(found.items())}


def _see(found: dict[int, set[tuple[str, int]]], pointer: ir.Expression, element: str, alignment: int) -> None:
    if isinstance(pointer.type, ir.Pointer) and pointer.type.buffer is not None:
        found.setdefault(pointer.type.buffer, set()).add((element, alignment))


def _buffer(number: int, uses: set[tuple[str, int]]) -> ir.Buffer:
    element, alignment = next(iter(uses)) if len(uses) == 1 else ("", UNKNOWN)
    return ir.Buffer(number, element, alignment)


def callees_of(functions: Sequence[ir.Function]) -> list[Callable[..., Any]]:
    """Return the primitives, operators and functions of other modules that some functions call, each once."""
    found = {
        node.callee: None
        for function in functions
        for statement in ir.walk(function.body)
        for node in ir.expressions(statement)
        if isinstance(node, ir.Call) and not isinstance(node.callee, ir.Function)
    }
    return list(found)
