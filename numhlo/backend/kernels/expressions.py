"""Reads the expressions of kernel text into the kernel IR."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from numhlo.backend.kernels import ir
from numhlo.backend.kernels.names import Changing
from numhlo.backend.kernels.reading import Typing, unreadable
from numhlo.backend.primitives.memory import Load

BINARY: Mapping[type[ast.operator], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
}
COMPARISONS: Mapping[type[ast.cmpop], Callable[..., Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
UNARY: Mapping[type[ast.unaryop], Callable[..., Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
FOLDED = frozenset(
    {
        *(operator.add, operator.sub, operator.mul, operator.lshift, operator.or_, operator.xor, operator.and_),
        *(operator.neg, operator.pos, operator.invert),
    }
)
"""Operations on literals whose results are literals, as Python's own compiler makes them."""
BUILTINS: Mapping[str, Callable[..., Any]] = {f.__name__: f for f in (abs, bool, float, int, max, min)}
NUMBERS: Mapping[type, ir.Type] = {bool: ir.BOOL, int: ir.INT64, float: ir.FLOAT64, complex: ir.COMPLEX128}
INT64_VALUES = range(-(1 << 63), 1 << 63)


class Names(Protocol):
    """The names that a kernel's functions find outside themselves."""

    typing: Typing
    globals: dict[str, Any]
    definitions: dict[str, ast.FunctionDef]

    def function(self, name: str, types: tuple[ir.Type, ...], node: ast.AST) -> ir.Function:
        """Return the function of a name for operands of some types."""


def constant(value: Any, node: ast.AST) -> ir.Constant:
    """Return a number as a constant."""
    found = NUMBERS.get(type(value))
    if found is None:
        raise unreadable(f"value such as {value!r}", node)
    if found == ir.INT64 and value not in INT64_VALUES:
        if not 0 <= value < 1 << 64:
            raise unreadable(f"integer such as {value}", node)
        found = ir.Number("uint", 64)
    return ir.Constant(value, found)


class ExpressionReader:
    """Reads expressions inside one function.

    Attributes
    ----------
    open : list of dict
        For each open block the names that were given a value there: constants and variables.
    changing : Changing
        The names of variables that change.
    anywhere : dict
        The variables that may be assigned and read anywhere, once they have been assigned.
    body : list of Statement
        The innermost block so far.
    repeated : int
        How many expressions are open that may be evaluated never, or more than once.
    """

    def __init__(self, names: Names, changing: Changing) -> None:
        self.names = names
        self.typing = names.typing
        self.changing = changing
        self.open: list[dict[str, ir.Constant | ir.Read]] = [{}]
        self.anywhere: dict[str, ir.Variable] = {}
        self.body: list[ir.Statement] = []
        self.repeated = 0
        self.line = 0

    def expression(self, node: ast.expr) -> ir.Expression:
        """Read an expression for its value."""
        read = READERS.get(type(node))
        if read is None:
            raise unreadable(f"expression {type(node).__name__}", node)
        return read(self, node)

    def condition(self, node: ast.expr) -> ir.Expression:
        """Read an expression for its truth."""
        if isinstance(node, ast.BoolOp):
            first = self.condition(node.values[0])
            operands = (first, *(self.apart(self.condition, value) for value in node.values[1:]))
            return ir.Logical(isinstance(node.op, ast.And), operands)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ir.Not(self.condition(node.operand))
        value = self.expression(node)
        return value if value.type == ir.BOOL else self.call(bool, (value,))

    def apart(self, read: Callable[[ast.expr], ir.Expression], node: ast.expr) -> ir.Expression:
        """Read an expression that may be evaluated never, or more than once."""
        self.repeated += 1
        found = read(node)
        self.repeated -= 1
        return found

    def value_of(self, name: str, node: ast.AST) -> ir.Expression:
        """Return the value of a name."""
        if name in self.changing.anywhere:
            if name not in self.anywhere:
                raise unreadable(f"value of {name} before it is assigned", node)
            return ir.Read(self.anywhere[name])
        found = self.visible(name)
        if found is not None:
            return found
        if name not in self.names.globals:
            raise unreadable(f"value of {name}", node)
        return constant(self.names.globals[name], node)

    def visible(self, name: str) -> ir.Constant | ir.Read | None:
        """Return the value that an open block has for a name."""
        for scope in reversed(self.open):
            if name in scope:
                return scope[name]
        return None

    def kept(self, value: ir.Expression, node: ast.AST) -> ir.Expression:
        """Return a value that may be used several times, whatever is assigned meanwhile."""
        if isinstance(value, ir.Constant) or (isinstance(value, ir.Read) and not value.variable.mutable):
            return value
        if self.repeated:
            if isinstance(value, ir.Read):  # an expression assigns nothing
                return value
            raise unreadable("value that is used twice inside an expression", node)
        variable = ir.Variable("value", value.type)
        self.body.append(ir.Let(variable, value, self.line))
        return ir.Read(variable)

    def call(self, callee: Any, operands: tuple[ir.Expression, ...]) -> ir.Call:
        """Return a call with the type of what it gives."""
        return ir.Call(callee, operands, self.typing.result(callee, operands))

    def folded(self, callee: Any, operands: tuple[ir.Expression, ...], node: ast.AST) -> ir.Expression:
        """Return an operation, or its result where it is of literals."""
        values = [operand.value for operand in operands if isinstance(operand, ir.Constant)]
        if len(values) < len(operands) or callee not in FOLDED:
            return self.call(callee, operands)
        return constant(callee(*values), node)

    def read_name(self, node: ast.Name) -> ir.Expression:
        """Read a name."""
        return self.value_of(node.id, node)

    def read_constant(self, node: ast.Constant) -> ir.Expression:
        """Read a literal."""
        return constant(node.value, node)

    def read_call(self, node: ast.Call) -> ir.Expression:
        """Read a call by the name of what is called."""
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise unreadable(f"call such as {ast.unparse(node)}", node)
        name, operands = node.func.id, tuple([self.expression(argument) for argument in node.args])
        if name in self.names.definitions:
            function = self.names.function(name, tuple([operand.type for operand in operands]), node)
            return ir.Call(function, operands, function.result)
        callee = self.names.globals.get(name, BUILTINS.get(name))
        if callee is None:
            raise unreadable(f"call of {name}", node)
        if isinstance(callee, Load):
            type = self.typing.result(callee, operands)
            return ir.Load(callee.storage, operands[0], operands[1], type)
        return self.call(callee, operands)

    def read_binary(self, node: ast.BinOp) -> ir.Expression:
        """Read an operation on two numbers."""
        callee = BINARY.get(type(node.op))
        if callee is None:
            raise unreadable(f"operator {type(node.op).__name__}", node)
        return self.folded(callee, (self.expression(node.left), self.expression(node.right)), node)

    def read_unary(self, node: ast.UnaryOp) -> ir.Expression:
        """Read an operation on one number, or a negation."""
        if isinstance(node.op, ast.Not):
            return self.condition(node)
        return self.folded(UNARY[type(node.op)], (self.expression(node.operand),), node)

    def read_comparison(self, node: ast.Compare) -> ir.Expression:
        """Read a comparison, or a test whether a value is one of a few."""
        first = self.expression(node.left)
        op, right = node.ops[0], node.comparators[0]
        if len(node.ops) > 1:
            raise unreadable("comparison of three values", node)
        if isinstance(op, ast.In | ast.NotIn) and isinstance(right, ast.Tuple):
            value = self.kept(first, node)
            found = ir.Logical(False, tuple([self.call(operator.eq, (value, x)) for x in self._items(right)]))
            return found if isinstance(op, ast.In) else ir.Not(found)
        if type(op) not in COMPARISONS:
            raise unreadable(f"comparison {type(op).__name__}", node)
        return self.call(COMPARISONS[type(op)], (first, self.expression(right)))

    def _items(self, node: ast.Tuple) -> Sequence[ir.Expression]:
        return [self.apart(self.expression, item) for item in node.elts]

    def read_logical(self, node: ast.BoolOp) -> ir.Expression:
        """Read ``and`` or ``or`` for its value, which is a boolean where all operands are."""
        found = self.condition(node)
        if any(isinstance(operand, ir.Call) and operand.callee is bool for operand in ir.operands_of(found)):
            raise unreadable("logical operation whose value is no boolean", node)
        return found

    def read_part(self, node: ast.Attribute) -> ir.Expression:
        """Read the real or imaginary part of a complex number."""
        operand = self.expression(node.value)
        if not isinstance(operand.type, ir.Number) or operand.type.kind != "complex" or node.attr not in ir.PARTS:
            raise unreadable(f"{node.attr} of a {operand.type}", node)
        return ir.Part(node.attr, operand, ir.Number("float", operand.type.bits // 2))

    def read_conditional(self, node: ast.IfExp) -> ir.Expression:
        """Read a choice of one of two values."""
        condition = self.condition(node.test)
        then, otherwise = self.apart(self.expression, node.body), self.apart(self.expression, node.orelse)
        if then.type != otherwise.type:
            raise unreadable(f"value that is {then.type} or {otherwise.type}", node)
        return ir.Conditional(condition, then, otherwise)


READERS: Mapping[type, Callable[[ExpressionReader, Any], ir.Expression]] = {
    ast.Name: ExpressionReader.read_name,
    ast.Constant: ExpressionReader.read_constant,
    ast.Call: ExpressionReader.read_call,
    ast.BinOp: ExpressionReader.read_binary,
    ast.UnaryOp: ExpressionReader.read_unary,
    ast.Compare: ExpressionReader.read_comparison,
    ast.BoolOp: ExpressionReader.read_logical,
    ast.Attribute: ExpressionReader.read_part,
    ast.IfExp: ExpressionReader.read_conditional,
}
