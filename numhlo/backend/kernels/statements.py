"""Reads the statements of kernel text into the kernel IR."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numhlo.backend.kernels import ir
from numhlo.backend.kernels.expressions import BINARY, ExpressionReader, Names
from numhlo.backend.kernels.names import changing_names
from numhlo.backend.kernels.reading import UnreadableError, unreadable
from numhlo.backend.primitives.memory import Store, StoreRounded
from numhlo.backend.vector_math.jitable import jitable

ZERO, ONE = ir.Constant(0, ir.INT64), ir.Constant(1, ir.INT64)
MOST_BOUNDS = 3


def read_function(names: Names, node: ast.FunctionDef, types: tuple[ir.Type, ...]) -> ir.Function:
    """Return a function for parameters of some types.

    Raises
    ------
    UnreadableError
        If it holds something that the IR has no form for.
    """
    given = node.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.defaults or len(given.args) != len(types):
        raise unreadable(f"such parameters as those of {node.name}", node)
    if not all(isinstance(x, ast.Name) and names.globals.get(x.id) is jitable for x in node.decorator_list):
        raise unreadable(f"such decorators as those of {node.name}", node)
    changing = changing_names(node)
    reader = StatementReader(names, changing)
    reader.node, reader.line = node, node.lineno
    parameters = []
    for argument, type in zip(given.args, types, strict=True):
        parameter = ir.Variable(argument.arg, type)
        parameters.append(parameter)
        reader.define(argument.arg, ir.Read(parameter))
    reader.statements(node.body)
    result = reader.result or ir.NOTHING
    if result != ir.NOTHING and not ir.ends(reader.body):
        raise unreadable("function that may return a value or none", node)
    return ir.Function(node.name, parameters, reader.body, result)


def _reads_changing(node: ir.Expression) -> bool:
    if isinstance(node, ir.Read):
        return node.variable.mutable
    return any(_reads_changing(operand) for operand in ir.operands_of(node))


class StatementReader(ExpressionReader):
    """Reads the statements of one function."""

    result: ir.Type | None = None
    """What the function returns, once it has."""
    node: ast.AST
    """The statement that is read."""

    def statements(self, nodes: Sequence[ast.stmt]) -> None:
        """Read the statements of the innermost block."""
        for node in nodes:
            self.node, self.line = node, node.lineno
            read = READERS.get(type(node))
            if read is None:
                raise unreadable(f"statement {type(node).__name__}", node)
            read(self, node)

    def block(self, nodes: Sequence[ast.stmt], counter: tuple[str, ir.Variable] | None = None) -> list[ir.Statement]:
        """Read a block, perhaps one of a loop with a counter."""
        around, self.body = self.body, []
        self.open.append({})
        if counter is not None:
            self.define(counter[0], ir.Read(counter[1]))
        self.statements(nodes)
        self.open.pop()
        made, self.body = self.body, around
        return made

    def define(self, name: str, value: ir.Expression) -> None:
        """Give a name a value from here on."""
        if value.type == ir.NOTHING:
            raise UnreadableError("the kernel IR has no variable without a value", why=f"line {self.line} of the text")
        variable = self._changing(name, value.type)
        if variable is not None:
            self.body.append(ir.Assign(variable, value, self.line))
        elif isinstance(value, ir.Constant) or (isinstance(value, ir.Read) and not value.variable.mutable):
            self.open[-1][name] = value
        else:
            variable = ir.Variable(name, value.type)
            self.body.append(ir.Let(variable, value, self.line))
            self.open[-1][name] = ir.Read(variable)

    def _changing(self, name: str, type: ir.Type) -> ir.Variable | None:
        """Return the variable that changes to hold a name's new value, if that is one."""
        held = None if name in self.open[-1] else self.visible(name)
        if name in self.changing.anywhere:
            variable = self.anywhere.setdefault(name, ir.Variable(name, type, mutable=True))
        elif isinstance(held, ir.Read):  # it stands in a block around this one
            variable = held.variable
        elif (self.node, name) in self.changing.inside:
            variable = ir.Variable(name, type, mutable=True)
            self.open[-1][name] = ir.Read(variable)
        else:
            return None
        if variable.type != type:
            raise UnreadableError(
                "the kernel IR has no variable of two types",
                why=f"line {self.line} of the text: {name} is {variable.type} before, and {type}",
            )
        return variable

    def read_assignment(self, node: ast.Assign) -> None:
        """Read an assignment to one name, or to several at once."""
        target, value = node.targets[0], node.value
        if len(node.targets) == 1 and isinstance(target, ast.Name):
            self.define(target.id, self.expression(value))
            return
        if len(node.targets) > 1 or not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
            raise unreadable(f"assignment such as {ast.unparse(node)}", node)
        values = [self.expression(item) for item in value.elts]
        if any(_reads_changing(item) for item in values):
            values = [self.kept(item, node) for item in values]
        for name, item in zip(target.elts, values, strict=True):
            if not isinstance(name, ast.Name):
                raise unreadable("target that is no name", node)
            self.define(name.id, item)

    def read_operation(self, node: ast.AugAssign) -> None:
        """Read an assignment that computes with the old value."""
        callee = BINARY.get(type(node.op))
        if callee is None or not isinstance(node.target, ast.Name):
            raise unreadable(f"assignment such as {ast.unparse(node)}", node)
        name = node.target.id
        self.define(name, self.call(callee, (self.value_of(name, node), self.expression(node.value))))

    def read_evaluation(self, node: ast.Expr) -> None:
        """Read a call for its effect: stores are statements of their own kind."""
        value = node.value
        if isinstance(value, ast.Constant):
            return
        callee = None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            callee = self.names.globals.get(value.func.id)
        if not isinstance(callee, Store | StoreRounded):
            self.body.append(ir.Evaluate(self.expression(value), self.line))
            return
        assert isinstance(value, ast.Call)
        operands = [self.expression(argument) for argument in value.args]
        self.typing.result(callee, operands)
        pointer, index, stored = operands
        rounded = isinstance(callee, StoreRounded)
        self.body.append(ir.Store(callee.storage, pointer, index, stored, rounded, self.line))

    def read_for(self, node: ast.For) -> None:
        """Read a loop over a range."""
        called, target = node.iter, node.target
        if not isinstance(called, ast.Call) or not isinstance(called.func, ast.Name) or called.func.id != "range":
            raise unreadable("loop over something else than a range", node)
        if not isinstance(target, ast.Name) or node.orelse or not 1 <= len(called.args) <= MOST_BOUNDS:
            raise unreadable("such a loop", node)
        bounds = [self.expression(argument) for argument in called.args]
        counter = ir.Variable(target.id, self.typing.counter(bounds))
        start, stop, step = ([ZERO, *bounds] if len(bounds) == 1 else bounds) + [ONE] * (len(bounds) < MOST_BOUNDS)
        loop = ir.For(counter, start, stop, step, [], self.line)
        loop.body = self.block(node.body, (target.id, counter))
        self.body.append(loop)

    def read_while(self, node: ast.While) -> None:
        """Read a loop with a condition."""
        if node.orelse:
            raise unreadable("such a loop", node)
        loop = ir.While(self.apart(self.condition, node.test), [], self.line)
        loop.body = self.block(node.body)
        self.body.append(loop)

    def read_if(self, node: ast.If) -> None:
        """Read a choice of blocks."""
        statement = ir.If(self.condition(node.test), [], [], self.line)
        statement.then, statement.otherwise = self.block(node.body), self.block(node.orelse)
        self.body.append(statement)

    def read_break(self, _node: ast.Break) -> None:
        """Read a break."""
        self.body.append(ir.Break(self.line))

    def read_continue(self, _node: ast.Continue) -> None:
        """Read a continue."""
        self.body.append(ir.Continue(self.line))

    def read_pass(self, _node: ast.Pass) -> None:
        """Read what does nothing."""

    def read_return(self, node: ast.Return) -> None:
        """Read a return, which must give what the others give."""
        value = None if node.value is None else self.expression(node.value)
        type = ir.NOTHING if value is None else value.type
        if self.result not in (None, type):
            raise unreadable(f"function that returns {self.result} or {type}", node)
        self.result = type
        self.body.append(ir.Return(value, self.line))


READERS: Mapping[type, Callable[[StatementReader, Any], None]] = {
    ast.Assign: StatementReader.read_assignment,
    ast.AugAssign: StatementReader.read_operation,
    ast.Expr: StatementReader.read_evaluation,
    ast.For: StatementReader.read_for,
    ast.While: StatementReader.read_while,
    ast.If: StatementReader.read_if,
    ast.Break: StatementReader.read_break,
    ast.Continue: StatementReader.read_continue,
    ast.Pass: StatementReader.read_pass,
    ast.Return: StatementReader.read_return,
}
