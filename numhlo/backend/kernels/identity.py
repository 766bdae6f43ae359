"""What a kernel computes, as a hash: names of variables and functions, and how its text is written, don't matter."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from numhlo.backend.kernels import ir
from numhlo.backend.kernels.spelling import load_name, spelling, store_name


def identity(module: ir.Module) -> str:
    """Return the hash of a module: equal for modules that differ in names and lines alone.

    Notes
    -----
    Variables are numbered in the order in which they first occur, functions in theirs. Statements and expressions are
    written down with brackets, so that none can be mistaken for another.
    """
    functions = {function: number for number, function in enumerate(module.functions)}
    found = hashlib.sha256()
    for function in module.functions:
        for word in _Words(functions).function(function):
            found.update(word.encode() + b" ")
    return found.hexdigest()


class _Words:
    """Writes down one function."""

    def __init__(self, functions: dict[ir.Function, int]) -> None:
        self.functions = functions
        self.numbers: dict[ir.Variable, int] = {}

    def function(self, function: ir.Function) -> Iterator[str]:
        """Yield the words of a function."""
        yield f"function {function.result} ("
        for parameter in function.parameters:
            yield self.variable(parameter)
        yield from self.block(function.body)
        yield ")"

    def variable(self, variable: ir.Variable) -> str:
        """Return a variable's number and type."""
        number = self.numbers.setdefault(variable, len(self.numbers))
        return f"{'changing' if variable.mutable else 'fixed'} {number} {variable.type}"

    def block(self, statements: list[ir.Statement]) -> Iterator[str]:
        """Yield the words of a block."""
        yield "{"
        for statement in statements:
            yield f"{type(statement).__name__} ("
            for value in ir.values_of(statement):
                yield from self.value(value)
            match statement:
                case ir.Let(variable=variable) | ir.Assign(variable=variable) | ir.For(counter=variable):
                    yield self.variable(variable)
                case ir.Store():
                    yield store_name(statement.storage, statement.rounded)
            for inner in ir.blocks_of(statement):
                yield from self.block(inner)
            yield ")"
        yield "}"

    def value(self, node: ir.Expression) -> Iterator[str]:
        """Yield the words of an expression."""
        yield f"{type(node).__name__} {node.type} {self._own(node)} ("
        for operand in ir.operands_of(node):
            yield from self.value(operand)
        yield ")"

    def _own(self, node: ir.Expression) -> str:
        """Return what an expression says beside its operands."""
        match node:
            case ir.Constant(value=value):
                return value.hex() if isinstance(value, float) else repr(value)
            case ir.Read(variable=variable):
                return self.variable(variable)
            case ir.Load(storage=storage):
                return load_name(storage)
            case ir.Call(callee=ir.Function() as callee):
                return f"function {self.functions[callee]}"
            case ir.Call(callee=callee):
                return ".".join(spelling(callee))
            case ir.Part(name=name):
                return name
            case ir.Logical(is_and=is_and):
                return "and" if is_and else "or"
            case _:
                return ""
