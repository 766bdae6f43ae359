"""The words of kernels in plain Python: one rule a word, from typed operands to an expression.

Frequent words become Python's own operators, guarded where Python would raise or overflow; the others call their
meaning in `numhlo.backend.primitives` on NumPy scalars. Functions of calculus are in `calculus`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.backend import primitives
from numhlo.backend.interim import functions
from numhlo.backend.interim.calculus import calculus_word
from numhlo.backend.interim.typed import INTEGERS, WIDTHS, NotPlainError, Rule, Scope, Typed, limits, wrap

RULES: dict[str, Rule] = {}
"""Words that are spelled out."""

SCALARS: dict[str, type[np.generic]] = {
    "bool": np.bool_,
    "index": np.int64,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
    **{name: np.dtype(f"{'int' if name[0] == 'i' else 'uint'}{bits}").type for name, bits in WIDTHS.items()},
}
"""NumPy's scalar types by register type."""

REGISTERS: dict[str, str] = {"bool": "bool", "f64": "float", "c128": "complex", **dict.fromkeys(INTEGERS, "int")}
"""What turns a NumPy scalar into a register, for types that are no NumPy scalars themselves."""

FIXED_RESULTS = {
    "bits_of_f16": "i16",
    "bits_of_f32": "i32",
    "bits_of_f64": "i64",
    "f16_from_bits": "f32",
    "f32_from_bits": "f32",
    "f64_from_bits": "f64",
    "is_finite": "bool",
    "to_odd_f32": "f32",
}
OWN_RESULTS = frozenset({"ceil", "copy_sign", "divide_complex", "floor", "round_away", "round_even", "truncate"})
"""Words without a rule whose result has the type of their first operand."""


def rule(*words: str) -> Callable[[Rule], Rule]:
    """Return a decorator that makes a function the rule of some words."""

    def add(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(words, function))
        return function

    return add


def apply(word: str, scope: Scope, operands: list[Typed]) -> Typed:
    """Return a call of a word as an expression.

    Raises
    ------
    NotPlainError
        If the word is none that scalar code uses.
    """
    found = RULES.get(word)
    if found is not None:
        return found(scope, operands)
    if word.startswith("round_") and word not in OWN_RESULTS:
        return _reference(word, "f32", scope, operands)
    if word in FIXED_RESULTS:
        return _reference(word, FIXED_RESULTS[word], scope, operands)
    if word in OWN_RESULTS:
        return _reference(word, operands[0].type, scope, operands)
    meaning, result = calculus_word(word)
    name = scope.constant(meaning, "").text
    return Typed(f"{name}({', '.join(x.text for x in operands)})", result)


def _reference(word: str, result: str, scope: Scope, operands: list[Typed]) -> Typed:
    """Return a call of the word's own meaning on NumPy scalars."""
    meaning = getattr(primitives, word, None)
    if meaning is None:
        raise NotPlainError(f"no plain meaning of {word}")
    arguments = [x.text if x.type in ("f32", "c64") else f"{_scalar(scope, x.type)}({x.text})" for x in operands]
    call = f"{scope.constant(meaning, '').text}({', '.join(arguments)})"
    return Typed(f"{REGISTERS[result]}({call})" if result in REGISTERS else call, result)


def _scalar(scope: Scope, type: str) -> str:
    return scope.constant(SCALARS[type], "").text


def _function(scope: Scope, function: Callable[..., Any]) -> str:
    return scope.constant(function, "").text


def same(operands: list[Typed]) -> str:
    """Return the one type of operands; a plain literal or count takes the type of the others."""
    types = {x.type for x in operands if x.type != "index"}
    if len(types) > 1:
        raise NotPlainError(f"operands of types {', '.join(sorted(types))}")
    return types.pop() if types else "index"


def wrapping(scope: Scope, text: str, type: str) -> Typed:
    """Return an integer expression brought back into its type's range."""
    if type == "index":
        return Typed(f"({text})", type)
    least, most = limits(type)
    if type[0] == "u":
        return Typed(f"({text} & {most})", type)
    wide = scope.atom(Typed(f"{text}", "index")).text
    return Typed(f"({wide} if {least} <= {wide} <= {most} else ({wide} - {least} & {most - least}) + {least})", type)


@rule("select", "overtake")
def _select(scope: Scope, operands: list[Typed]) -> Typed:
    condition, on_true, on_false = operands
    return Typed(f"({on_true.text} if {condition.text} else {on_false.text})", same([on_true, on_false]))


def _arithmetic(word: str, operator: str) -> None:
    @rule(word)
    def write(scope: Scope, operands: list[Typed]) -> Typed:
        type = same(operands)
        lhs, rhs = operands
        if type in INTEGERS:
            return wrapping(scope, f"({lhs.text} {operator} {rhs.text})", type)
        return Typed(f"({lhs.text} {operator} {rhs.text})", type)


_arithmetic("add", "+")
_arithmetic("subtract", "-")
_arithmetic("multiply", "*")


@rule("negate")
def _negate(scope: Scope, operands: list[Typed]) -> Typed:
    (x,) = operands
    return wrapping(scope, f"(-{x.text})", x.type) if x.type in INTEGERS else Typed(f"(-{x.text})", x.type)


@rule("absolute")
def _absolute(scope: Scope, operands: list[Typed]) -> Typed:
    (x,) = operands
    return wrapping(scope, f"abs({x.text})", x.type) if x.type in INTEGERS else Typed(f"abs({x.text})", x.type)


@rule("divide")
def _divide(scope: Scope, operands: list[Typed]) -> Typed:
    type = same(operands)
    if type == "f64":
        if operands[1].value:
            return Typed(f"({operands[0].text} / {operands[1].text})", type)
        lhs, rhs = map(scope.atom, operands)
        zero = _function(scope, functions.divide_by_zero)
        return Typed(f"({lhs.text} / {rhs.text} if {rhs.text} else {zero}({lhs.text}, {rhs.text}))", type)
    if type not in INTEGERS:
        return Typed(f"({operands[0].text} / {operands[1].text})", type)
    lhs, rhs = map(scope.atom, operands)
    if type[0] == "u":
        return Typed(f"({lhs.text} // {rhs.text} if {rhs.text} else {limits(type)[1]})", type)
    return wrapping(scope, f"{_function(scope, functions.divide_truncating)}({lhs.text}, {rhs.text})", type)


@rule("remainder", "fmod_f32", "fmod_f64")
def _remainder(scope: Scope, operands: list[Typed]) -> Typed:
    type = same(operands)
    if type == "f64":
        return Typed(f"{_function(scope, functions.float_remainder)}({operands[0].text}, {operands[1].text})", type)
    if type not in INTEGERS:
        return Typed(f"{_function(scope, np.fmod)}({operands[0].text}, {operands[1].text})", type)
    lhs, rhs = map(scope.atom, operands)
    if type[0] == "u":
        return Typed(f"({lhs.text} % {rhs.text} if {rhs.text} else {lhs.text})", type)
    return Typed(f"{_function(scope, functions.remainder_truncating)}({lhs.text}, {rhs.text})", type)


def _extremum(word: str, operator: str, ties: Callable[..., Any]) -> None:
    @rule(word)
    def write(scope: Scope, operands: list[Typed]) -> Typed:
        type = same(operands)
        lhs, rhs = (x.text for x in map(scope.atom, operands))
        if type in INTEGERS:
            return Typed(f"({rhs} if {rhs} {operator} {lhs} else {lhs})", type)
        if type not in ("f32", "f64"):
            raise NotPlainError(f"{word} of {type}")
        rest = f"{_function(scope, ties)}({lhs}, {rhs})"
        return Typed(f"({lhs} if {lhs} {operator} {rhs} else {rhs} if {rhs} {operator} {lhs} else {rest})", type)


for _prefix in ("", "quick_"):
    _extremum(f"{_prefix}minimum", "<", functions.least_of_ties)
    _extremum(f"{_prefix}maximum", ">", functions.greatest_of_ties)


@rule("counted_from_end")
def _counted_from_end(scope: Scope, operands: list[Typed]) -> Typed:
    index, count = map(scope.atom, operands)
    return Typed(f"({index.text} if {index.text} >= 0 else {index.text} + {count.text})", same([index, count]))


@rule("within")
def _within(scope: Scope, operands: list[Typed]) -> Typed:
    index, limit = (x.text for x in map(scope.atom, operands))
    return Typed(f"({index} if 0 <= {index} <= {limit} else 0 if {index} < 0 else {limit})", "index")


@rule("placed")
def _placed(scope: Scope, operands: list[Typed]) -> Typed:
    index, count, limit = map(scope.atom, operands)
    counted = scope.atom(Typed(f"({index.text} if {index.text} >= 0 else {index.text} + {count.text})", index.type))
    return _within(scope, [counted, limit])


def _builtin(word: str, operator: str) -> None:
    @rule(word)
    def write(scope: Scope, operands: list[Typed]) -> Typed:
        if any(x.type not in INTEGERS for x in operands):
            raise NotPlainError(f"{word} of {operands[0].type}")
        lhs, rhs = (x.text for x in map(scope.atom, operands))
        return Typed(f"({rhs} if {rhs} {operator} {lhs} else {lhs})", "index")


_builtin("min", "<")
_builtin("max", ">")


@rule("square_root")
def _square_root(scope: Scope, operands: list[Typed]) -> Typed:
    (x,) = operands
    if x.type == "f32":
        return Typed(f"{_function(scope, np.sqrt)}({x.text})", x.type)
    x = scope.atom(x)
    root, rest = _function(scope, math.sqrt), _function(scope, _root)
    return Typed(f"({root}({x.text}) if {x.text} > 0.0 else {rest}({x.text}))", x.type)


def _root(value: float) -> float:
    return float(np.sqrt(value))


@rule("is_nan")
def _is_nan(scope: Scope, operands: list[Typed]) -> Typed:
    (x,) = map(scope.atom, operands)
    return Typed(f"({x.text} != {x.text})", "bool")


def _shift(word: str, function: Callable[[int, int, int], int]) -> None:
    @rule(word)
    def write(scope: Scope, operands: list[Typed]) -> Typed:
        type = same(operands)
        if type not in WIDTHS:
            raise NotPlainError(f"{word} of {type}")
        bits = WIDTHS[type]
        value, amount = operands[0].text, operands[1]
        read = {"shift_right_logical": f"u{bits}", "shift_right_arithmetic": f"i{bits}"}.get(word, type)
        if read != type:
            value = wrapping(scope, value, read).text
        if amount.value is not None and 0 <= amount.value < bits:
            text = f"({value} {'<<' if word == 'shift_left' else '>>'} {amount.text})"
        else:
            text = f"{_function(scope, function)}({value}, {amount.text}, {bits})"
        if word != "shift_left" and read == type:
            return Typed(text, type)
        return wrapping(scope, text, type)


_shift("shift_left", functions.shift_left)
_shift("shift_right_logical", functions.shift_right_logical)
_shift("shift_right_arithmetic", functions.shift_right_arithmetic)


@rule("count_ones")
def _count_ones(scope: Scope, operands: list[Typed]) -> Typed:
    (x,) = operands
    return Typed(f"({x.text} & {limits(f'u{WIDTHS[x.type]}')[1]}).bit_count()", x.type)


@rule("count_leading_zeros")
def _count_leading_zeros(scope: Scope, operands: list[Typed]) -> Typed:
    (x,) = operands
    bits = WIDTHS[x.type]
    return Typed(f"({bits} - ({x.text} & {limits(f'u{bits}')[1]}).bit_length())", x.type)


def _conversion(type: str) -> None:
    @rule(f"to_{type}")
    def write(scope: Scope, operands: list[Typed]) -> Typed:
        return convert(scope, operands[0], type)


def convert(scope: Scope, x: Typed, type: str) -> Typed:
    """Return a conversion, as StableHLO means it."""
    if x.value is not None:
        return literal(scope, x.value, type)
    if x.type == type:
        return x
    if x.type in ("c64", "c128") and type not in ("c64", "c128", "bool"):
        x = part(scope, x, "real")
        return x if x.type == type else convert(scope, x, type)
    if type == "bool":
        return Typed(f"({x.text} != 0)", type)
    if type in WIDTHS:
        return _to_integer(scope, x, type)
    if type == "f32" and x.type in INTEGERS:
        return Typed(f"{_function(scope, functions.float32_of_integer)}({x.text})", type)
    return Typed(f"{REGISTERS.get(type) or _scalar(scope, type)}({x.text})", type)


def _to_integer(scope: Scope, x: Typed, type: str) -> Typed:
    if x.type == "bool":
        return Typed(f"int({x.text})", type)
    if x.type in ("f32", "f64"):
        return Typed(f"{_function(scope, functions.saturated)}({x.text}, {type!r})", type)
    if x.type == "index" and type == "i64":
        return Typed(x.text, type)
    if x.type in WIDTHS:
        (least, most), (first, last) = limits(type), limits(x.type)
        if least <= first and last <= most:
            return Typed(x.text, type)
    return wrapping(scope, x.text, type)


def literal(scope: Scope, value: Any, type: str) -> Typed:
    """Return a number that is known while translating."""
    if type in WIDTHS:
        number = functions.saturated(value, type) if isinstance(value, float) else wrap(int(value), type)
        return Typed(f"({number})" if number < 0 else str(number), type, number)
    if type == "bool":
        return Typed(str(value != 0), type, value != 0)
    if type == "f64":
        real = float(value)
        if not np.isfinite(real):
            return scope.constant(real, type)
        return Typed(f"({real!r})" if np.signbit(real) else repr(real), type, real)
    if type == "c128":
        return scope.constant(complex(value), type)
    if type == "f32" and isinstance(value, int):
        return scope.constant(functions.float32_of_integer(value), type)
    return scope.constant(SCALARS[type](value), type)


for _type in ("bool", *WIDTHS, "f32", "f64", "c64", "c128"):
    _conversion(_type)


@rule("make_c128")
def _make_c128(scope: Scope, operands: list[Typed]) -> Typed:
    return Typed(f"complex({operands[0].text}, {operands[1].text})", "c128")


@rule("make_c64")
def _make_c64(scope: Scope, operands: list[Typed]) -> Typed:
    return Typed(f"{_scalar(scope, 'c64')}(complex({operands[0].text}, {operands[1].text}))", "c64")


def part(scope: Scope, x: Typed, name: str) -> Typed:
    """Return the real or imaginary part of a complex number."""
    x = scope.atom(x)
    return Typed(f"{x.text}.{name}", {"c64": "f32", "c128": "f64"}[x.type])


_double, _long = struct.Struct("<d"), struct.Struct("<q")


def _bits_of_double(value: float) -> int:
    bits: int = _long.unpack(_double.pack(value))[0]
    return bits


def _double_of_bits(bits: int) -> float:
    value: float = _double.unpack(_long.pack(bits))[0]
    return value


@rule("bits_of_f64")
def _bits_of_f64(scope: Scope, operands: list[Typed]) -> Typed:
    return Typed(f"{_function(scope, _bits_of_double)}({operands[0].text})", "i64")


@rule("f64_from_bits")
def _f64_from_bits(scope: Scope, operands: list[Typed]) -> Typed:
    return Typed(f"{_function(scope, _double_of_bits)}({operands[0].text})", "f64")
