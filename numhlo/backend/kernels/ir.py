"""The kernel IR: a module of functions, whose bodies are nested statements over typed expressions.

What a reader of other compilers recognizes:

- LLVM: a `Module` has functions; `Number` types have fixed widths. A pointer has no element type: `Load` and `Store`
  have one, which gives the alignment. The buffer in a pointer's type says what cannot overlap, as alias scopes do.
- MLIR ``scf`` and ``memref``: control flow is nested (`For`, `While`, `If`). A `For` knows its bounds and its step
  before its first iteration, and its counter cannot be assigned. Early exits are Python's.
- Halide and TVM TIR: values are expression trees, `Let` names a value, `Evaluate` calls for an effect, and loops are
  over half-open ranges. A variable that changes is assigned (`Assign`), so there are no phis.
- Numba: a callee is the Python object that kernel text names; its definition gives the type of the result
  (`numhlo.backend.kernels.reading.Typing`), so there is no table of types here.

Types are those of values in registers: narrow floats are float32 there, booleans one bit. Expressions are immutable and
compared by identity, as variables and statements are; `identity` compares what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any, TypeAlias

from numhlo.backend.primitives.storage import Storage
from numhlo.lowering.ir.records import record


@record(frozen=True, slots=True)
class Number:
    """A number in a register: ``kind`` is ``bool``, ``int``, ``uint``, ``float`` or ``complex``."""

    kind: str
    bits: int

    def __str__(self) -> str:
        """Return the type as the suffixes of primitives spell it."""
        return "bool" if self.kind == "bool" else f"{self.kind[0]}{self.bits}"

    @property
    def is_integer(self) -> bool:
        """Return whether it can index memory; booleans can't."""
        return self.kind in ("int", "uint")


@record(frozen=True, slots=True)
class Pointer:
    """An address inside buffer number ``buffer`` of the launch; None if it may be anywhere.

    Memory of one numbered buffer never overlaps that of another one. What else is known of it
    `numhlo.backend.kernels.buffers` finds out.
    """

    buffer: int | None

    def __str__(self) -> str:
        """Return the type with its buffer."""
        return "pointer" if self.buffer is None else f"pointer[{self.buffer}]"


@record(frozen=True, slots=True)
class Nothing:
    """The type of calls that give no value."""

    def __str__(self) -> str:
        """Return the type's name."""
        return "nothing"


Type: TypeAlias = Number | Pointer | Nothing
BOOL, INT64 = Number("bool", 1), Number("int", 64)
FLOAT64, COMPLEX128 = Number("float", 64), Number("complex", 128)
NOTHING = Nothing()
ANYWHERE = Pointer(None)


@record(frozen=True, slots=True)
class Buffer:
    """What the accesses of a module tell of a numbered buffer.

    Attributes
    ----------
    number : int
        Its position among the launch's buffers.
    element : str
        The suffix of the storage that all loads and stores through its pointers use; empty if they differ, or if other
        primitives get its pointers too.
    alignment : int
        Bytes that all its elements are aligned to.
    """

    number: int
    element: str
    alignment: int


@record(slots=True, eq=False)
class Variable:
    """A name with a type. Only variables that are ``mutable`` may be assigned, any number of times."""

    name: str
    type: Type
    mutable: bool = False


@record(frozen=True, slots=True, eq=False)
class Constant:
    """A literal: integers of 64 bits are literal types for the primitives that need them, such as `address`."""

    value: bool | int | float | complex
    type: Type


@record(frozen=True, slots=True, eq=False)
class Read:
    """The value of a variable."""

    variable: Variable

    @property
    def type(self) -> Type:
        """Return the variable's type."""
        return self.variable.type


@record(frozen=True, slots=True, eq=False)
class Load:
    """One element of memory, widened to a register; an integer as ``pointer`` is an address anywhere in memory."""

    storage: Storage
    pointer: Expression
    index: Expression
    type: Type


@record(frozen=True, slots=True, eq=False)
class Call:
    """A call of a primitive, an operator of Python's `operator` module, a builtin, or a function of the module."""

    callee: Any
    operands: tuple[Expression, ...]
    type: Type


PARTS = ("real", "imag")


@record(frozen=True, slots=True, eq=False)
class Part:
    """The real or the imaginary part of a complex number: ``name`` is ``real`` or ``imag``."""

    name: str
    operand: Expression
    type: Type


@record(frozen=True, slots=True, eq=False)
class Logical:
    """``and`` or ``or`` of booleans, from left to right: operands behind the one that decides are not evaluated."""

    is_and: bool
    operands: tuple[Expression, ...]

    @property
    def type(self) -> Type:
        """Return the type of booleans."""
        return BOOL


@record(frozen=True, slots=True, eq=False)
class Not:
    """The negation of a boolean."""

    operand: Expression

    @property
    def type(self) -> Type:
        """Return the type of booleans."""
        return BOOL


@record(frozen=True, slots=True, eq=False)
class Conditional:
    """One of two values of one type; the other is not evaluated."""

    condition: Expression
    then: Expression
    otherwise: Expression

    @property
    def type(self) -> Type:
        """Return the type of both values."""
        return self.then.type


Expression: TypeAlias = Constant | Read | Load | Call | Part | Logical | Not | Conditional


@record(slots=True, eq=False)
class Let:
    """Give a value to a variable that holds it in the rest of the block."""

    variable: Variable
    value: Expression
    line: int = 0


@record(slots=True, eq=False)
class Assign:
    """Give a mutable variable a new value."""

    variable: Variable
    value: Expression
    line: int = 0


@record(slots=True, eq=False)
class Store:
    """Write one element of memory; ``rounded`` says that the bits of a NaN don't matter."""

    storage: Storage
    pointer: Expression
    index: Expression
    value: Expression
    rounded: bool = False
    line: int = 0


@record(slots=True, eq=False)
class Evaluate:
    """Evaluate an expression for its effects."""

    value: Expression
    line: int = 0


@record(slots=True, eq=False)
class For:
    """Run the body with ``counter`` at ``start``, ``start + step``, ... while that is before ``stop``.

    A step of zero runs no iteration. The counter's type is an integer type; the bounds are cast to it.
    """

    counter: Variable
    start: Expression
    stop: Expression
    step: Expression
    body: list[Statement]
    line: int = 0


@record(slots=True, eq=False)
class While:
    """Run the body as long as the condition, which is evaluated before each iteration, holds."""

    condition: Expression
    body: list[Statement]
    line: int = 0


@record(slots=True, eq=False)
class If:
    """Run one of two blocks."""

    condition: Expression
    then: list[Statement]
    otherwise: list[Statement]
    line: int = 0


@record(slots=True, eq=False)
class Break:
    """Leave the innermost loop."""

    line: int = 0


@record(slots=True, eq=False)
class Continue:
    """Go on with the next iteration of the innermost loop."""

    line: int = 0


@record(slots=True, eq=False)
class Return:
    """Leave the function, with a value or without one."""

    value: Expression | None = None
    line: int = 0


Statement: TypeAlias = Let | Assign | Store | Evaluate | For | While | If | Break | Continue | Return
"""``line`` is the line of the kernel's text that a statement was read from, 0 if it was read from none."""


@record(slots=True, eq=False)
class Function:
    """A function of a module; all but the last are inlined where they are called."""

    name: str
    parameters: list[Variable]
    body: list[Statement]
    result: Type = NOTHING


@record(slots=True, eq=False)
class Module:
    """A kernel and the functions that it calls, callees before callers: the last one is the kernel itself.

    Attributes
    ----------
    name : str
        The kernel's name, which is its symbol in object code.
    functions : list of Function
    callees : list of objects
        The primitives and functions of `vector_math` that are called, in the order of their first call.
    """

    name: str
    functions: list[Function]
    callees: list[Callable[..., Any]] = field(default_factory=list)

    @property
    def entry(self) -> Function:
        """Return the kernel's own function."""
        return self.functions[-1]


def blocks_of(statement: Statement) -> tuple[list[Statement], ...]:
    """Return the blocks inside a statement."""
    match statement:
        case For(body=body) | While(body=body):
            return (body,)
        case If(then=then, otherwise=otherwise):
            return (then, otherwise)
        case _:
            return ()


def operands_of(node: Expression) -> tuple[Expression, ...]:
    """Return the expressions that an expression is made of."""
    match node:
        case Load(pointer=pointer, index=index):
            return (pointer, index)
        case Call(operands=operands) | Logical(operands=operands):
            return operands
        case Part(operand=operand) | Not(operand=operand):
            return (operand,)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case _:
            return ()


def values_of(statement: Statement) -> tuple[Expression, ...]:
    """Return the expressions of a statement, in the order of their evaluation; not those of its blocks."""
    match statement:
        case Let(value=value) | Assign(value=value) | Evaluate(value=value):
            return (value,)
        case Store(pointer=pointer, index=index, value=value):
            return (pointer, index, value)
        case For(start=start, stop=stop, step=step):
            return (start, stop, step)
        case While(condition=condition) | If(condition=condition):
            return (condition,)
        case Return(value=Constant() | Read() | Load() | Call() | Part() | Logical() | Not() | Conditional() as value):
            return (value,)
        case _:
            return ()


def ends(block: list[Statement]) -> bool:
    """Return whether control never gets behind a block."""
    return any(_leaves(statement) for statement in block)


def _leaves(statement: Statement) -> bool:
    match statement:
        case Return() | Break() | Continue():
            return True
        case If(then=then, otherwise=otherwise):
            return ends(then) and ends(otherwise)
        case While(condition=Constant(value=True), body=body):
            return not any(isinstance(inner, Break) for inner in _own(body))
        case _:
            return False


def _own(block: list[Statement]) -> Iterator[Statement]:
    """Yield the statements of a loop's body, without those of loops inside it."""
    for statement in block:
        yield statement
        if isinstance(statement, If):
            yield from _own(statement.then)
            yield from _own(statement.otherwise)


def walk(block: list[Statement]) -> Iterator[Statement]:
    """Yield the statements of a block and of all blocks inside it, in the order of their text."""
    for statement in block:
        yield statement
        for inner in blocks_of(statement):
            yield from walk(inner)


def expressions(statement: Statement) -> Iterator[Expression]:
    """Yield the expressions of a statement and their operands, not those of its blocks."""
    waiting = list(reversed(values_of(statement)))
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(operands_of(node)))
