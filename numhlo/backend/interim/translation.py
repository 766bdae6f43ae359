"""Kernel text to plain Python text: the same statements, with words spelled out for the types at hand.

Types are inferred from top to bottom, as every variable is assigned before it is used. Loops ask ``poll`` every now and
then, which raises if somebody else goes on. What this does not know (helpers, vector code, atomics) is refused, and the
interpreter's way is taken instead. Next: `words`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from numhlo.backend.interim.typed import INTEGERS, WIDTHS, NotPlainError, Typed
from numhlo.backend.interim.words import apply, literal, part, same, wrapping
from numhlo.backend.primitives import STORAGES, register_name

POLL_ROUNDS = 64
ARGUMENTS = "arrays, dims, lo, hi, poll"
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
BITWISE = frozenset({"&", "|", "^"})
INDENT = " "
POINTER = "pointer"
ON_STACK = -1
"""Stands for the buffer's number where a pointer is to an array on the stack: a list of registers."""
READ_AS_THEY_ARE = frozenset({"f32", "f64", "c64", "bool", *WIDTHS})
"""Storages whose elements are registers as soon as they are read, in the containers that `loops` makes."""


class Translation:
    """The plain text of one kernel.

    Parameters
    ----------
    source : str

    Attributes
    ----------
    text : str
        Defines the function ``plain(arrays, dims, lo, hi, poll)``.
    names : dict from str to object
        The globals that it needs.
    stored : set of int
        Numbers of the kernel's buffers that it writes.

    Raises
    ------
    NotPlainError
        If the kernel is not made of scalar code.
    """

    def __init__(self, source: str) -> None:
        self.names: dict[str, Any] = {}
        self.stored: set[int] = set()
        self._constants: dict[tuple[int, str], Typed] = {}
        self._kept: list[Any] = []
        self._types: dict[str, str] = {"lo": "index", "hi": "index"}
        self._buffers: dict[str, int] = {}
        self._lines: list[str] = []
        self._indent = INDENT
        self._made = 0
        self._loops = 0
        definitions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
        if len(definitions) != 1:
            raise NotPlainError("a kernel with helpers")
        self._statements(definitions[0].body)
        counters = [f"{INDENT}{' = '.join(f'round{k}' for k in range(self._loops))} = 0"] if self._loops else []
        self.text = "\n".join([f"def plain({ARGUMENTS}):", *counters, *self._lines, ""])

    # What rules ask for

    def atom(self, typed: Typed) -> Typed:
        """Return an expression as a name or literal, giving it a name where it has none."""
        if typed.is_atom:
            return typed
        name = f"t{self._made}_"
        self._made += 1
        self._line(f"{name} = {typed.text}")
        return Typed(name, typed.type)

    def constant(self, value: Any, type: str) -> Typed:
        """Return a value that is no literal under a global name; equal objects share one."""
        key = (id(value), type)
        if key not in self._constants:
            name = f"g{len(self._constants)}_"
            self.names[name] = value
            self._kept.append(value)  # as long as it lives nothing else has its id
            self._constants[key] = Typed(name, type)
        return self._constants[key]

    # Statements

    def _line(self, text: str) -> None:
        self._lines.append(self._indent + text)

    @contextmanager
    def _block(self, header: str) -> Iterator[None]:
        self._line(header)
        before, self._indent = self._indent, self._indent + INDENT
        count = len(self._lines)
        yield
        if len(self._lines) == count:
            self._line("pass")
        self._indent = before

    def _statements(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            write = self._WRITERS.get(type(statement))
            if write is None:
                raise NotPlainError(f"a statement {type(statement).__name__}")
            write(self, statement)

    def _assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        if not isinstance(target, ast.Name):
            raise NotPlainError("an assignment to no name")
        if target.id == "rounds":
            return  # the kernel's own count; `_loop` makes another
        value = self._expression(node.value)
        known = self._types.setdefault(target.id, value.type)
        if known != value.type:
            if {known, value.type} - INTEGERS:
                raise NotPlainError(f"{target.id} is {known} and {value.type}")
            self._types[target.id] = known if value.type == "index" else value.type
        if value.type == POINTER:
            if target.id in self._buffers:
                raise NotPlainError("a pointer that moves")
            self._buffers[target.id] = ON_STACK if value.value is None else value.value
            self._line(f"{target.id} = {value.text}")
            return
        self._line(f"{target.id} = {value.text}")

    def _augmented(self, node: ast.AugAssign) -> None:
        if not isinstance(node.target, ast.Name) or node.target.id != "rounds":
            raise NotPlainError("an assignment in place")

    def _if(self, node: ast.If) -> None:
        if any(isinstance(n, ast.Call) and _called(n) == "interrupted" for n in ast.walk(node.test)):
            return  # `_loop` polls
        with self._block(f"if {self._expression(node.test).text}:"):
            self._statements(node.body)
        if node.orelse:
            with self._block("else:"):
                self._statements(node.orelse)

    def _while(self, node: ast.While) -> None:
        if not isinstance(node.test, ast.Constant) or node.test.value is not True or node.orelse:
            raise NotPlainError("a while with a condition")
        with self._block("while True:"):
            self._poll()
            self._statements(node.body)

    def _for(self, node: ast.For) -> None:
        bounds = node.iter
        if not isinstance(node.target, ast.Name) or not isinstance(bounds, ast.Call) or _called(bounds) != "range":
            raise NotPlainError("a for over something else than a range")
        arguments = [self._expression(x) for x in bounds.args]
        self._types[node.target.id] = "index"
        with self._block(f"for {node.target.id} in range({', '.join(x.text for x in arguments)}):"):
            self._poll()
            self._statements(node.body)

    def _poll(self) -> None:
        counter = f"round{self._loops}"
        self._loops += 1
        self._line(f"{counter} += 1")
        self._line(f"if not {counter} & {POLL_ROUNDS - 1}: poll()")

    def _break(self, _: ast.Break) -> None:
        self._line("break")

    def _pass(self, _: ast.Pass) -> None:
        self._line("pass")

    def _call_statement(self, node: ast.Expr) -> None:
        call = node.value
        if not isinstance(call, ast.Call) or not _called(call).startswith("store_"):
            raise NotPlainError("a statement of another kind")
        pointer, place, value = call.args
        name, storage = self._pointer(pointer), _called(call).removeprefix("store_")
        if self._buffers[name] != ON_STACK:
            self.stored.add(self._buffers[name])
        index, element = self._expression(place).text, self._expression(value).text
        if storage not in READ_AS_THEY_ARE and storage != "c128":
            element = f"{self.constant(_narrowing(storage), '').text}({element})"
        self._line(f"{name}[{index}] = {element}")

    _WRITERS: dict[type[ast.stmt], Callable[..., None]] = {  # noqa: RUF012 - a table
        ast.Assign: _assign,
        ast.AugAssign: _augmented,
        ast.If: _if,
        ast.While: _while,
        ast.For: _for,
        ast.Break: _break,
        ast.Pass: _pass,
        ast.Expr: _call_statement,
    }

    # Expressions

    def _expression(self, node: ast.expr) -> Typed:
        read = self._READERS.get(type(node))
        if read is None:
            raise NotPlainError(f"an expression {type(node).__name__}")
        found: Typed = read(self, node)
        return found

    def _name(self, node: ast.Name) -> Typed:
        known = self._types.get(node.id)
        if known is None:
            raise NotPlainError(f"an unknown name {node.id}")
        return Typed(node.id, known)

    def _constant(self, node: ast.Constant) -> Typed:
        if isinstance(node.value, bool):
            return Typed(str(node.value), "bool", node.value)
        if isinstance(node.value, int):
            return Typed(str(node.value), "index", node.value)
        if isinstance(node.value, float):
            return literal(self, node.value, "f64")
        raise NotPlainError("a constant of another kind")

    def _unary(self, node: ast.UnaryOp) -> Typed:
        operand = self._expression(node.operand)
        if isinstance(node.op, ast.Not):
            return Typed(f"(not {operand.text})", "bool")
        if isinstance(node.op, ast.USub):
            if operand.type == "index" and operand.value is not None:
                return Typed(f"({-operand.value})", "index", -operand.value)
            if operand.type == "f64" and operand.value is not None:
                return literal(self, -operand.value, "f64")
            if operand.type not in INTEGERS:
                return Typed(f"(-{operand.text})", operand.type)
        if isinstance(node.op, ast.Invert) and operand.type in WIDTHS:
            return wrapping(self, f"(~{operand.text})", operand.type)
        raise NotPlainError("another unary operator")

    def _binary(self, node: ast.BinOp) -> Typed:
        lhs, rhs = self._expression(node.left), self._expression(node.right)
        operator, type_ = OPERATORS.get(type(node.op)), same([lhs, rhs])
        if operator is None:
            raise NotPlainError("another operator")
        text = f"({lhs.text} {operator} {rhs.text})"
        if operator in BITWISE or type_ not in INTEGERS:
            if (operator in BITWISE) != (type_ in INTEGERS or type_ == "bool"):
                raise NotPlainError(f"{operator} of {type_}")
            return Typed(text, type_)
        return wrapping(self, text, type_)

    def _comparison(self, node: ast.Compare) -> Typed:
        if len(node.ops) != 1:
            raise NotPlainError("a chain of comparisons")
        lhs, rhs = self._expression(node.left), self._expression(node.comparators[0])
        return Typed(f"({lhs.text} {COMPARISONS[type(node.ops[0])]} {rhs.text})", "bool")

    def _attribute(self, node: ast.Attribute) -> Typed:
        operand = self._expression(node.value)
        if node.attr not in ("real", "imag") or operand.type not in ("c64", "c128"):
            raise NotPlainError(f"an attribute {node.attr}")
        return part(self, operand, node.attr)

    def _call(self, node: ast.Call) -> Typed:
        word = _called(node)
        if word == "address":
            (_, number) = node.args
            buffer = ast.literal_eval(number)
            return Typed(f"arrays[{buffer}]", POINTER, buffer)
        if word == "stack_array":
            return Typed(f"[0] * {ast.literal_eval(node.args[0])}", POINTER)
        if word == "number":
            (_, number) = node.args
            return Typed(f"dims[{ast.literal_eval(number)}]", "index")
        if word.startswith("load_"):
            return self._load(word.removeprefix("load_"), node)
        operands = [self._expression(x) for x in node.args]
        if any(x.type == POINTER for x in operands):
            raise NotPlainError(f"{word} of a pointer")
        return apply(word, self, operands)

    def _load(self, storage: str, node: ast.Call) -> Typed:
        pointer, place = node.args
        text = f"{self._pointer(pointer)}[{self._expression(place).text}]"
        register = register_name(STORAGES[storage].dtype)
        if storage in READ_AS_THEY_ARE:
            return Typed(text, register)
        convert = {"f32": "to_f32", "c128": "complex"}.get(register, "int")
        if convert == "to_f32":
            convert = self.constant(STORAGES["f32"].dtype.type, "").text
        return Typed(f"{convert}({text})", register)

    def _pointer(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Name) or node.id not in self._buffers:
            raise NotPlainError("a computed pointer")
        return node.id

    _READERS: dict[type[ast.expr], Callable[..., Typed]] = {  # noqa: RUF012 - a table
        ast.Name: _name,
        ast.Constant: _constant,
        ast.UnaryOp: _unary,
        ast.BinOp: _binary,
        ast.Compare: _comparison,
        ast.Attribute: _attribute,
        ast.Call: _call,
    }


def _called(node: ast.Call) -> str:
    if not isinstance(node.func, ast.Name):
        raise NotPlainError("a call of something computed")
    return node.func.id


def _narrowing(storage: str) -> Callable[[Any], Any]:
    """Return what turns a register into an element of a narrower type."""
    row = STORAGES[storage]
    return lambda value: row.register.type(value).astype(row.dtype)
