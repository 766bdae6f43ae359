"""Checks that a module of the kernel IR is well formed: names, types, and where control may go."""

from __future__ import annotations

import numpy as np

from numhlo.backend.kernels import ir
from numhlo.backend.kernels.reading import Typing
from numhlo.backend.primitives.storage import Storage
from numhlo.lowering.ir.errors import InternalError

KINDS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


class MalformedKernelError(InternalError):
    """A module of the kernel IR that breaks one of its rules."""


def register_type(storage: Storage) -> ir.Number:
    """Return the type that elements have in a register.

    Examples
    --------
    >>> from numhlo.backend.primitives.storage import STORAGES
    >>> str(register_type(STORAGES["bf16"])), str(register_type(STORAGES["bool"]))
    ('f32', 'bool')
    """
    dtype = np.dtype(storage.register)
    return ir.BOOL if dtype.kind == "b" else ir.Number(KINDS[dtype.kind], 8 * dtype.itemsize)


def verify(module: ir.Module, typing: Typing | None = None) -> None:
    """Check a module.

    Parameters
    ----------
    module : Module
    typing : Typing, optional
        If given, the types of calls are compared with what the primitives' definitions say.

    Raises
    ------
    MalformedKernelError
        If a rule is broken; the message names the rule, the function and the line.
    """
    known: set[ir.Function] = set()
    for function in module.functions:
        _Verifier(function, known, typing).run()
        known.add(function)


class _Verifier:
    """Checks one function.

    Attributes
    ----------
    known : set of Function
        Those that stand before it.
    open : list of set of Variable
        For each open block the variables that were given their value there.
    assigned : set of Variable
        Variables that change and have been assigned before, somewhere.
    loops : int
        How many loops are open.
    """

    def __init__(self, function: ir.Function, known: set[ir.Function], typing: Typing | None) -> None:
        self.function = function
        self.known = known
        self.typing = typing
        self.open: list[set[ir.Variable]] = [set()]
        self.defined: set[ir.Variable] = set()
        self.assigned: set[ir.Variable] = set()
        self.loops = 0
        self.line = 0

    def require(self, holds: bool, rule: str) -> None:
        """Raise the error unless a rule holds."""
        if not holds:
            raise MalformedKernelError(rule, why=f"in {self.function.name}, line {self.line} of the text")

    def run(self) -> None:
        """Check the function."""
        for parameter in self.function.parameters:
            self.define(parameter)
        self.block(self.function.body)
        returns = self.function.result == ir.NOTHING or ir.ends(self.function.body)
        self.require(returns, "a function with a result returns one wherever it ends")

    def define(self, variable: ir.Variable) -> None:
        """See a variable that gets its only value."""
        self.require(not variable.mutable, "a definition is of a variable that never changes")
        self.require(variable not in self.defined, "a variable that never changes is defined once")
        self.require(variable.type != ir.NOTHING, "a variable has a value")
        self.defined.add(variable)
        self.open[-1].add(variable)

    def block(self, statements: list[ir.Statement], counter: ir.Variable | None = None) -> None:
        """Check a block."""
        self.open.append(set())
        if counter is not None:
            self.define(counter)
        for statement in statements:
            self.statement(statement)
        self.open.pop()

    def statement(self, statement: ir.Statement) -> None:
        """Check a statement and the blocks inside it."""
        self.line = statement.line
        for value in ir.values_of(statement):
            self.value(value)
        match statement:
            case ir.Let(variable=variable, value=value):
                self.require(variable.type == value.type, "a definition gives a value of the variable's type")
                self.define(variable)
            case ir.Assign(variable=variable, value=value):
                self.require(variable.mutable, "only a variable that changes is assigned")
                self.require(variable.type == value.type, "an assignment gives a value of the variable's type")
                self.assigned.add(variable)
            case ir.Store(storage=storage, pointer=pointer, index=index, value=value):
                self.access(pointer, index)
                self.require(value.type == register_type(storage), "a store has a value of its elements' type")
            case ir.Return(value=returned):
                given = ir.NOTHING if returned is None else returned.type
                self.require(given == self.function.result, "a function returns values of one type")
            case ir.Break() | ir.Continue():
                self.require(self.loops > 0, "break and continue stand in a loop")
            case ir.For() | ir.While() | ir.If():
                self.nested(statement)

    def nested(self, statement: ir.For | ir.While | ir.If) -> None:
        """Check a statement with blocks."""
        if isinstance(statement, ir.If):
            self.require(statement.condition.type == ir.BOOL, "a condition is a boolean")
            self.block(statement.then)
            self.block(statement.otherwise)
            return
        self.loops += 1
        if isinstance(statement, ir.For):
            integers = [_is_integer(bound.type) for bound in (statement.start, statement.stop, statement.step)]
            self.require(all(integers) and _is_integer(statement.counter.type), "a loop counts integers")
            self.block(statement.body, statement.counter)
        else:
            self.require(statement.condition.type == ir.BOOL, "a condition is a boolean")
            self.block(statement.body)
        self.loops -= 1

    def access(self, pointer: ir.Expression, index: ir.Expression) -> None:
        """Check the address of an element."""
        is_address = isinstance(pointer.type, ir.Pointer) or _is_integer(pointer.type)
        self.require(is_address and _is_integer(index.type), "an element lies at a pointer and an integer index")

    def value(self, node: ir.Expression) -> None:
        """Check an expression."""
        for operand in ir.operands_of(node):
            self.value(operand)
        match node:
            case ir.Read(variable=variable) if variable.mutable:
                self.require(variable in self.assigned, "a variable is assigned before it is read")
            case ir.Read(variable=variable):
                visible = any(variable in scope for scope in self.open)
                self.require(visible, "a variable is read in the block that defines it, behind its definition")
            case ir.Load(storage=storage, pointer=pointer, index=index, type=type):
                self.access(pointer, index)
                self.require(type == register_type(storage), "a load gives a value of its elements' type")
            case ir.Call():
                self.call(node)
            case ir.Logical(operands=operands):
                self.require(all(x.type == ir.BOOL for x in operands), "logical operations are of booleans")
            case ir.Not(operand=operand):
                self.require(operand.type == ir.BOOL, "a negation is of a boolean")
            case ir.Part(name=name, operand=operand):
                is_complex = isinstance(operand.type, ir.Number) and operand.type.kind == "complex"
                self.require(is_complex and name in ir.PARTS, "a part is one of a complex number's")
            case ir.Conditional(condition=condition, then=then, otherwise=otherwise):
                self.require(condition.type == ir.BOOL, "a condition is a boolean")
                self.require(then.type == otherwise.type, "a conditional's values have one type")

    def call(self, node: ir.Call) -> None:
        """Check a call."""
        if isinstance(node.callee, ir.Function):
            self.require(node.callee in self.known, "a function is called behind its definition")
            wanted = [parameter.type for parameter in node.callee.parameters]
            given = [operand.type for operand in node.operands]
            self.require(given == wanted, "a function is called with operands of its parameters' types")
            self.require(node.type == node.callee.result, "a call gives what the function returns")
        elif self.typing is not None:
            found = self.typing.result(node.callee, node.operands)
            self.require(node.type == found, "a call has the type that its callee's definition gives")


def _is_integer(type: ir.Type) -> bool:
    return isinstance(type, ir.Number) and type.is_integer
