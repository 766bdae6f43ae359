"""Reads kernel text into the kernel IR, in one pass over Python's syntax tree.

Kernel text is a small part of Python: imports of primitives, numbers, and functions of numbers and pointers, one of
which is the kernel. `Typing` gives the types of calls, from the primitives' own definitions. Text that the IR has no
form for raises `UnreadableError`, with the reason and the line. Next: `statements` and `expressions`; `names`
says which variables change.
"""

from __future__ import annotations

import ast
import importlib
from typing import Any

from numhlo.backend.kernels import ir
from numhlo.backend.kernels.buffers import callees_of
from numhlo.backend.kernels.expressions import ExpressionReader
from numhlo.backend.kernels.names import Changing
from numhlo.backend.kernels.reading import Typing, unreadable
from numhlo.backend.kernels.statements import read_function

PARAMETERS = 5


def read_kernel(name: str, source: str, typing: Typing) -> ir.Module:
    """Return the IR of a kernel.

    Parameters
    ----------
    name : str
        The function in the text that is the kernel.
    source : str
    typing : Typing

    Raises
    ------
    UnreadableError
        If the text holds something that the IR has no form for.
    """
    return _ModuleReader(source, typing).read(name)


class _ModuleReader:
    """Reads a text: its imports and numbers at once, its functions when they are called, for their operands' types."""

    def __init__(self, source: str, typing: Typing) -> None:
        self.typing = typing
        self.globals: dict[str, Any] = {}
        self.definitions: dict[str, ast.FunctionDef] = {}
        self.functions: dict[tuple[str, tuple[ir.Type, ...]], ir.Function] = {}
        self.reading: set[str] = set()
        for node in ast.parse(source).body:
            self._global(node)

    def _global(self, node: ast.stmt) -> None:
        match node:
            case ast.ImportFrom(module=str(module), names=names, level=0):
                found = importlib.import_module(module)
                every = {name: name for name in found.__all__} if names[0].name == "*" else {}
                wanted = every or {n.asname or n.name: n.name for n in names}
                self.globals.update({name: getattr(found, own) for name, own in wanted.items()})
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.globals[name] = self._number(value)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, value in zip(targets, values, strict=True):
                    self.globals[ast.unparse(target)] = self._number(value)
            case ast.FunctionDef(name=name):
                self.definitions[name] = node
            case ast.Expr(value=ast.Constant()):
                pass
            case _:
                raise unreadable(f"{type(node).__name__} outside functions", node)

    def _number(self, node: ast.expr) -> Any:
        found = ExpressionReader(self, Changing()).expression(node)
        if not isinstance(found, ir.Constant):
            raise unreadable("global that is no number", node)
        return found.value

    def read(self, name: str) -> ir.Module:
        """Return the module whose kernel has a name."""
        definition = self.definitions.get(name)
        if definition is None:
            raise unreadable(f"function {name}", ast.Pass())
        self.function(name, (ir.INT64,) * PARAMETERS, definition)
        functions = list(self.functions.values())
        return ir.Module(name, functions, callees_of(functions))

    def function(self, name: str, types: tuple[ir.Type, ...], node: ast.AST) -> ir.Function:
        """Return the function of a name for operands of some types."""
        key = name, types
        found = self.functions.get(key)
        if found is not None:
            return found
        if name in self.reading:
            raise unreadable(f"function that calls itself, as {name} does", node)
        self.reading.add(name)
        made = self.functions[key] = read_function(self, self.definitions[name], types)  # behind what it calls
        self.reading.discard(name)
        return made
