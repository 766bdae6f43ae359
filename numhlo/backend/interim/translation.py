"""Kernel text to plain Python text: the same statements, with words spelled out for the types at hand.

Types are inferred from top to bottom, as every variable is assigned before it is used. Loops ask ``poll`` every now and
then, which raises if somebody else goes on. What this does not know (helpers, vector code, atomics) is refused, and the
interpreter's way is taken instead. Next: `words`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import takewhile
from typing import Any, TypeAlias

import numpy as np

from numhlo.backend.interim.reading import COMPARING, LEVELS, TOKEN, Reader
from numhlo.backend.interim.typed import INTEGERS, WIDTHS, NotPlainError, Typed
from numhlo.backend.interim.words import apply, literal, part, same, wrapping
from numhlo.backend.primitives import STORAGES, register_name
from numhlo.backend.primitives.layout import ROUNDS_LEFT
from numhlo.backend.primitives.narrow_floats import narrowed, widened

POLL_ROUNDS = 64
ARGUMENTS = "arrays, dims, lo, hi, poll"
DEFINITION = re.compile(r"^def .*:$", re.MULTILINE)
BITWISE = frozenset({"&", "|", "^"})
INDENT = " "
POINTER = "pointer"
DIMENSION = "dimension"
ON_STACK = -1
"""Stands for the buffer's number where a pointer is to an array on the stack: a list of registers."""
READ_AS_THEY_ARE = frozenset({"f32", "f64", "c64", "bool", *WIDTHS})
"""Storages whose elements are registers as soon as they are read, in the containers that `loops` makes."""


_Assignment: TypeAlias = tuple[str, int, int, str, list[str]]
"""A variable, the lines from one to another that compute its value, how they are indented, and what they read."""


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
        self._numbers: dict[str, int] = {}
        self._lines: list[str] = []
        self._indent = INDENT
        self._made = 0
        self._loops = 0
        self._read: list[str] = []
        self._assignments: list[_Assignment] = []
        definitions = list(DEFINITION.finditer(source))
        if len(definitions) != 1:
            raise NotPlainError("a kernel with helpers")
        self._source = [line for line in source[definitions[0].end() :].split("\n") if line]
        self._at = 0
        self._statements()
        self._skip_dead_code()
        counters = [f"{INDENT}{' = '.join(f'round{k}' for k in range(self._loops))} = 0"] if self._loops else []
        first = [self._taken("arrays", self._buffers), self._taken("dims", self._numbers)]
        self.text = "\n".join([f"def plain({ARGUMENTS}):", *first, *counters, *self._lines, ""])

    @staticmethod
    def _taken(sequence: str, places: dict[str, int]) -> str:
        """Return the line that gives names to elements of a sequence: one for all of them is compiled in no time."""
        names = {place: name for name, place in places.items() if place != ON_STACK}
        targets = [names.get(place, "_") for place in range(max(names, default=-1) + 1)]
        return f"{INDENT}[{', '.join([*targets, '*_'])}] = {sequence}"

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

    def _statements(self) -> None:
        """Write the statements that are indented as deeply as the next one."""
        if self._at == len(self._source):
            return
        depth = _depth(self._source[self._at])
        while self._at < len(self._source) and _depth(self._source[self._at]) >= depth:
            line = self._source[self._at]
            self._at += 1
            self._statement(line, TOKEN.findall(line))

    def _statement(self, line: str, tokens: list[str]) -> None:
        first = tokens[0]
        if tokens[1:2] == ["="]:
            self._assign(first, tokens)
        elif first.startswith("store_"):
            self._store(tokens)
        elif tokens[-1] == ":":
            self._compound(line, tokens[:-1])
        elif line.strip() in ("break", "pass"):
            self._line(first)
        elif tokens[1:2] == ["+="] and self._types.get(first) in INTEGERS:
            self._read.append(first)
            self._line(f"{first} += {Reader(tokens, 2, self).whole().text}")
        elif tokens[:2] != [ROUNDS_LEFT, "-="]:
            raise NotPlainError(f"a statement {line.strip()}")

    def _compound(self, line: str, tokens: list[str]) -> None:
        """Write a statement with a block."""
        if tokens[0] == "if":
            if "interrupted" in tokens or tokens[1] == ROUNDS_LEFT:
                self._skip_block(_depth(line))
                return  # `_poll` does that
            self._block(f"if {Reader(tokens, 1, self).whole().text}:")
        elif tokens[0] == "elif":
            self._else_if(line, tokens)
        elif tokens == ["else"]:
            self._block("else:")
        elif tokens == ["while", "True"]:
            self._block("while True:", polls=True)
        elif tokens[0] == "while":
            self._block("while True:", polls=True, condition=tokens)
        elif tokens[0] == "for" and tokens[2:5] == ["in", "range", "("]:
            reader = Reader(tokens, 5, self)
            arguments = reader.arguments()
            reader.skip("")
            self._types[tokens[1]] = "index"
            self._block(f"for {tokens[1]} in range({', '.join(x.text for x in arguments)}):", polls=True)
        else:
            raise NotPlainError(f"a statement {line.strip()}")

    def _else_if(self, line: str, tokens: list[str]) -> None:
        """Write an if inside an else, since what its condition needs has to stand before it."""
        self._line("else:")
        before, self._indent = self._indent, self._indent + INDENT
        self._compound(line, ["if", *tokens[1:]])
        chain = f"{' ' * _depth(line)}el"
        while self._at < len(self._source) and self._source[self._at].startswith(chain):
            line = self._source[self._at]
            self._at += 1
            self._statement(line, TOKEN.findall(line))
        self._indent = before

    def _block(self, header: str, *, polls: bool = False, condition: list[str] | None = None) -> None:
        self._line(header)
        before, self._indent = self._indent, self._indent + INDENT
        count = len(self._lines)
        if polls:
            self._poll()
        if condition is not None:
            self._line(f"if not ({Reader(condition, 1, self).whole().text}): break")
        self._statements()
        if len(self._lines) == count:
            self._line("pass")
        self._indent = before

    def _skip_block(self, depth: int) -> None:
        self._at += sum(1 for _ in takewhile(lambda line: _depth(line) > depth, self._source[self._at :]))

    def _poll(self) -> None:
        counter = f"round{self._loops}"
        self._loops += 1
        self._line(f"{counter} += 1")
        self._line(f"if not {counter} & {POLL_ROUNDS - 1}: poll()")

    def _assign(self, name: str, tokens: list[str]) -> None:
        if name == ROUNDS_LEFT:
            return  # the kernel's own count; `_poll` makes another
        read, first = len(self._read), len(self._lines)
        value = Reader(tokens, 2, self).whole()
        known = self._types.setdefault(name, value.type)
        if known != value.type:
            if {known, value.type} - INTEGERS:
                raise NotPlainError(f"{name} is {known} and {value.type}")
            self._types[name] = known if value.type == "index" else value.type
        if value.type == POINTER:
            if name in self._buffers:
                raise NotPlainError("a pointer that moves")
            self._buffers[name] = ON_STACK if value.value is None else value.value
            if value.value is not None:
                return  # `_taken` writes them all
        if value.type == DIMENSION:
            self._numbers[name], self._types[name] = value.value, "index"
            return
        self._lines.append(f"{self._indent}{name} = {value.text}")
        self._assignments.append((name, first, len(self._lines), self._indent, self._read[read:]))

    def _skip_dead_code(self) -> None:
        """Do nothing where a variable is assigned that nothing reads: no expression has an effect."""
        reads = Counter(self._read)
        for name, first, end, indent, read in reversed(self._assignments):
            if not reads[name]:
                for other in read:
                    reads[other] -= 1
                for place in range(first, end):
                    self._lines[place] = f"{indent}pass"

    def _store(self, tokens: list[str]) -> None:
        storage = tokens[0].removeprefix("store_").removeprefix("rounded_")
        reader = Reader(tokens, 2, self)
        pointer, place, value = reader.arguments()
        reader.skip("")
        name, element = self._pointer(pointer), value.text
        if self._buffers[name] != ON_STACK:
            self.stored.add(self._buffers[name])
        if storage not in READ_AS_THEY_ARE and storage != "c128":
            element = f"{self.constant(_narrowing(storage), '').text}({element})"
        self._line(f"{name}[{place.text}] = {element}")

    # Expressions

    def name(self, name: str) -> Typed:
        """Return a variable, or what stands for a literal."""
        if name in ("True", "False"):
            return Typed(name, "bool", name == "True")
        known = self._types.get(name)
        if known is None:
            if name in ("bufs", "dims"):
                return Typed(name, "")
            raise NotPlainError(f"an unknown name {name}")
        self._read.append(name)
        return Typed(name, known)

    def number(self, text: str) -> Typed:
        """Return a literal."""
        return Typed(text, "index", int(text)) if text.isdigit() else literal(self, float(text), "f64")

    def unary(self, operator: str, operand: Typed) -> Typed:
        """Return ``-``, ``~`` or ``not`` of an expression."""
        if operator == "not":
            return Typed(f"(not {operand.text})", "bool")
        if operator == "~":
            if operand.type not in WIDTHS:
                raise NotPlainError(f"~ of {operand.type}")
            return wrapping(self, f"(~{operand.text})", operand.type)
        if operand.type == "index" and operand.value is not None:
            return Typed(f"({-operand.value})", "index", -operand.value)
        if operand.type == "f64" and operand.value is not None:
            return literal(self, -operand.value, "f64")
        if operand.type in INTEGERS:
            raise NotPlainError("- of an integer")
        return Typed(f"(-{operand.text})", operand.type)

    def binary(self, operator: str, lhs: Typed, rhs: Typed) -> Typed:
        """Return an operator of two expressions."""
        text = f"({lhs.text} {operator} {rhs.text})"
        if LEVELS[operator] == COMPARING:
            return Typed(text, "bool")
        type_ = same([lhs, rhs])
        if type_ == "index" and operator not in BITWISE:
            return Typed(text, type_)
        if operator in BITWISE or type_ not in INTEGERS:
            if (operator in BITWISE) != (type_ in INTEGERS or type_ == "bool"):
                raise NotPlainError(f"{operator} of {type_}")
            return Typed(text, type_)
        return wrapping(self, text, type_)

    def attribute(self, operand: Typed, name: str) -> Typed:
        """Return a part of a complex number."""
        if name not in ("real", "imag") or operand.type not in ("c64", "c128"):
            raise NotPlainError(f"an attribute {name}")
        return part(self, operand, name)

    def call(self, word: str, operands: list[Typed]) -> Typed:
        """Return a call of a word."""
        if word == "address":
            number = operands[1].value
            return Typed(f"arrays[{number}]", POINTER, number)
        if word == "stack_array":
            return Typed(f"[0] * {operands[0].text}", POINTER)
        if word == "number":
            number = operands[1].value
            return Typed(f"dims[{number}]", DIMENSION, number)
        if word.startswith("load_"):
            return self._load(word.removeprefix("load_"), *operands)
        if any(x.type == POINTER for x in operands):
            raise NotPlainError(f"{word} of a pointer")
        return apply(word, self, operands)

    def _load(self, storage: str, pointer: Typed, place: Typed) -> Typed:
        text = f"{self._pointer(pointer)}[{place.text}]"
        register = register_name(STORAGES[storage].dtype)
        if storage in READ_AS_THEY_ARE:
            return Typed(text, register)
        convert = {"f32": "to_f32", "c128": "complex"}.get(register, "int")
        if convert == "to_f32":
            convert = self.constant(_widening(storage), "").text
        return Typed(f"{convert}({text})", register)

    def _pointer(self, pointer: Typed) -> str:
        if pointer.text not in self._buffers:
            raise NotPlainError("a computed pointer")
        return pointer.text


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _widening(storage: str) -> Callable[[Any], Any]:
    """Return what turns a float in memory into float32."""
    row = STORAGES[storage]
    return (lambda value: widened(np.asarray(value))[()]) if row.is_narrow_float else row.register.type


def _narrowing(storage: str) -> Callable[[Any], Any]:
    """Return what turns a register into an element of a narrower type."""
    row = STORAGES[storage]
    if row.is_narrow_float:
        return lambda value: narrowed(np.asarray(value, row.register), row.dtype)[()]
    return lambda value: row.register.type(value).astype(row.dtype)
