"""Prints the kernel IR as kernel text, for people: the Python that `read` makes the same IR of."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from numhlo.backend import primitives
from numhlo.backend.kernels import ir
from numhlo.backend.kernels.expressions import BINARY, COMPARISONS, UNARY
from numhlo.backend.kernels.spelling import load_name, spelling, store_name
from numhlo.backend.vector_math import jitable

MOST_LETTERS = 120
OPERATORS: Mapping[Any, ast.operator] = {callee: node() for node, callee in BINARY.items()}
COMPARED: Mapping[Any, ast.cmpop] = {callee: node() for node, callee in COMPARISONS.items()}
SIGNS: Mapping[Any, ast.unaryop] = {callee: node() for node, callee in UNARY.items()}


def text_of(module: ir.Module) -> str:
    """Return the text of a module."""
    functions = _function_names(module)
    printers = [_Printer(function, functions) for function in module.functions]
    bodies = [ast.unparse(ast.fix_missing_locations(printer.definition())) for printer in printers]
    used: dict[str, set[str]] = {}
    for printer in printers:
        for origin, name in printer.imported:
            used.setdefault(origin, set()).add(name)
    if len(bodies) > 1:
        used.setdefault(jitable.__name__, set()).add("jitable")
        bodies[:-1] = [f"@jitable\n{body}" for body in bodies[:-1]]
    imports = "\n".join(_import_line(origin, sorted(used[origin])) for origin in sorted(used))
    return "\n\n\n".join([imports, *bodies]) + "\n"


def expression_text(node: ir.Expression | ir.Store, function: ir.Function) -> str:
    """Return the text of a part of a function."""
    printer = _Printer(function, {function: function.name})
    printer.definition()
    return ast.unparse(printer.store(node) if isinstance(node, ir.Store) else printer.value(node))


def _import_line(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) <= MOST_LETTERS else f"from {module} import (\n    " + ",\n    ".join(names) + ",\n)"


def _function_names(module: ir.Module) -> dict[ir.Function, str]:
    """Return names of the functions, all different; the kernel keeps its own."""
    names = {module.entry: module.name}
    for function in module.functions[:-1]:
        names[function] = _unused(function.name, set(names.values()))
    return names


def _unused(name: str, taken: set[str]) -> str:
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def local_variables(function: ir.Function) -> dict[ir.Variable, str]:
    """Return the variables that change and that only the block uses in which they are assigned first."""
    homes: dict[ir.Variable, tuple[int, ...]] = {}
    elsewhere: set[ir.Variable] = set()

    def see(block: list[ir.Statement], path: tuple[int, ...]) -> None:
        for statement in block:
            for node in ir.expressions(statement):
                if isinstance(node, ir.Read) and node.variable.mutable:
                    use(node.variable, path)
            if isinstance(statement, ir.Assign):
                homes.setdefault(statement.variable, path)
                use(statement.variable, path)
            for inner in ir.blocks_of(statement):
                see(inner, (*path, id(inner)))

    def use(variable: ir.Variable, path: tuple[int, ...]) -> None:
        home = homes.get(variable)
        if home is None or path[: len(home)] != home:
            elsewhere.add(variable)

    see(function.body, ())
    return {variable: variable.name for variable in homes if variable not in elsewhere}


class _Printer:
    """Makes a syntax tree of one function.

    Attributes
    ----------
    names : dict
        The names of variables. One whose block is behind may be given to another variable.
    open : list of set of str
        The names that are taken in each open block.
    imported : set of (module, name)
    """

    def __init__(self, function: ir.Function, functions: dict[ir.Function, str]) -> None:
        self.function = function
        self.functions = functions
        self.names: dict[ir.Variable, str] = {}
        self.imported: set[tuple[str, str]] = set()
        self.open: list[set[str]] = [set(functions.values())]
        for parameter in function.parameters:
            self.name(parameter)
        self.local = local_variables(function)
        for statement in ir.walk(function.body):
            if isinstance(statement, ir.Assign) and statement.variable not in self.names | self.local:
                self.name(statement.variable)  # it may be read anywhere

    def name(self, variable: ir.Variable) -> str:
        """Give a variable a name that is free in the open blocks."""
        found = self.names[variable] = _unused(variable.name, set().union(*self.open))
        self.open[-1].add(found)
        return found

    def definition(self) -> ast.FunctionDef:
        """Return the function's syntax tree."""
        given = [ast.arg(self.names[parameter]) for parameter in self.function.parameters]
        arguments = ast.arguments(posonlyargs=[], args=given, kwonlyargs=[], kw_defaults=[], defaults=[])
        body = self.block(self.function.body)
        return ast.FunctionDef(self.functions[self.function], arguments, body, [])

    def block(self, statements: list[ir.Statement], counter: ir.Variable | None = None) -> list[ast.stmt]:
        """Return the syntax trees of a block."""
        self.open.append(set())
        if counter is not None:
            self.name(counter)
        made = [STATEMENTS[type(statement)](self, statement) for statement in statements]
        self.open.pop()
        return made or [ast.Pass()]

    def let(self, statement: ir.Let) -> ast.stmt:
        """Return a definition."""
        value = self.value(statement.value)
        return ast.Assign([ast.Name(self.name(statement.variable), ast.Store())], value)

    def assign(self, statement: ir.Assign) -> ast.stmt:
        """Return an assignment."""
        value, name = self.value(statement.value), self.names.get(statement.variable)
        return ast.Assign([ast.Name(name or self.name(statement.variable), ast.Store())], value)

    def store(self, statement: ir.Store) -> ast.stmt:
        """Return a store."""
        name = store_name(statement.storage, statement.rounded)
        return ast.Expr(self.primitive(name, statement.pointer, statement.index, statement.value))

    def evaluate(self, statement: ir.Evaluate) -> ast.stmt:
        """Return a call."""
        return ast.Expr(self.value(statement.value))

    def loop(self, loop: ir.For) -> ast.stmt:
        """Return a loop over a range."""
        start, stop, step = (self.value(bound) for bound in (loop.start, loop.stop, loop.step))
        bounds = [start, stop, step]
        if isinstance(loop.step, ir.Constant) and loop.step.value == 1:
            is_zero = isinstance(loop.start, ir.Constant) and loop.start.value == 0
            bounds = [stop] if is_zero else [start, stop]
        body = self.block(loop.body, loop.counter)
        counted = ast.Name(self.names[loop.counter], ast.Store())
        return ast.For(counted, ast.Call(_load("range"), bounds, []), body, [])

    def loop_while(self, loop: ir.While) -> ast.stmt:
        """Return a loop with a condition."""
        return ast.While(self.value(loop.condition), self.block(loop.body), [])

    def choose(self, statement: ir.If) -> ast.stmt:
        """Return a choice of blocks."""
        condition, then = self.value(statement.condition), self.block(statement.then)
        return ast.If(condition, then, self.block(statement.otherwise) if statement.otherwise else [])

    def leave(self, statement: ir.Return) -> ast.stmt:
        """Return a return."""
        return ast.Return(None if statement.value is None else self.value(statement.value))

    def value(self, node: ir.Expression) -> ast.expr:
        """Return the syntax tree of an expression."""
        return EXPRESSIONS[type(node)](self, node)

    def primitive(self, name: str, *operands: ir.Expression) -> ast.expr:
        """Return a call of a primitive, which is to be imported."""
        self.imported.add((primitives.__name__, name))
        return ast.Call(_load(name), [self.value(operand) for operand in operands], [])

    def constant(self, node: ir.Constant) -> ast.expr:
        """Return a literal."""
        return ast.Constant(node.value)

    def read(self, node: ir.Read) -> ast.expr:
        """Return a name."""
        return _load(self.names[node.variable])

    def load(self, node: ir.Load) -> ast.expr:
        """Return a load."""
        return self.primitive(load_name(node.storage), node.pointer, node.index)

    def call(self, node: ir.Call) -> ast.expr:
        """Return a call, or what Python has an operator for."""
        operands = [self.value(operand) for operand in node.operands]
        if isinstance(node.callee, ir.Function):
            return ast.Call(_load(self.functions[node.callee]), operands, [])
        if node.callee in OPERATORS:
            return ast.BinOp(operands[0], OPERATORS[node.callee], operands[1])
        if node.callee in COMPARED:
            return ast.Compare(operands[0], [COMPARED[node.callee]], [operands[1]])
        if node.callee in SIGNS:
            return ast.UnaryOp(SIGNS[node.callee], operands[0])
        module, name = spelling(node.callee)
        if module != "builtins":
            self.imported.add((module, name))
        return ast.Call(_load(name), operands, [])

    def part(self, node: ir.Part) -> ast.expr:
        """Return an attribute."""
        return ast.Attribute(self.value(node.operand), node.name, ast.Load())

    def logical(self, node: ir.Logical) -> ast.expr:
        """Return ``and`` or ``or``; of one operand it is that operand."""
        if len(node.operands) == 1:
            return self.value(node.operands[0])
        return ast.BoolOp(ast.And() if node.is_and else ast.Or(), [self.value(operand) for operand in node.operands])

    def negate(self, node: ir.Not) -> ast.expr:
        """Return ``not``."""
        return ast.UnaryOp(ast.Not(), self.value(node.operand))

    def conditional(self, node: ir.Conditional) -> ast.expr:
        """Return a choice of values."""
        return ast.IfExp(self.value(node.condition), self.value(node.then), self.value(node.otherwise))


STATEMENTS: Mapping[type, Callable[[_Printer, Any], ast.stmt]] = {
    ir.Let: _Printer.let,
    ir.Assign: _Printer.assign,
    ir.Store: _Printer.store,
    ir.Evaluate: _Printer.evaluate,
    ir.For: _Printer.loop,
    ir.While: _Printer.loop_while,
    ir.If: _Printer.choose,
    ir.Break: lambda _printer, _statement: ast.Break(),
    ir.Continue: lambda _printer, _statement: ast.Continue(),
    ir.Return: _Printer.leave,
}
EXPRESSIONS: Mapping[type, Callable[[_Printer, Any], ast.expr]] = {
    ir.Constant: _Printer.constant,
    ir.Read: _Printer.read,
    ir.Load: _Printer.load,
    ir.Call: _Printer.call,
    ir.Part: _Printer.part,
    ir.Logical: _Printer.logical,
    ir.Not: _Printer.negate,
    ir.Conditional: _Printer.conditional,
}
