"""Mutations of program texts: of characters, tokens, lines, bracketed groups, numbers, types, names and aliases.

Each takes a text, a generator of random numbers and the other texts, and returns another text; what becomes of it is
`texts`' concern. They know as much grammar as makes most mutants fail late: a text that fails at its first token shows little.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|tensor<[^<>]*>|[%#!@^]?[\w$.]+|\s+|->|.', re.DOTALL)
NUMBER = re.compile(r"-?\b\d+(?:\.\d*)?(?:[eE][-+]?\d+)?\b")
TYPE = re.compile(r"tensor<[^<>]*(?:<[^<>]*>[^<>]*)?>|tuple<[^<>]*(?:<[^<>]*>[^<>]*)*>|!\w+\.\w+(?:<[^<>]*>)?")
OP = re.compile(r'"?\b(?:stablehlo|chlo|mhlo|func)\.\w+"?')
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
ATTRIBUTE = re.compile(r"= ?(\[[^\[\]]*\]|dense<[^<>]*> : tensor<[^<>]*>|array<[^<>]*>|#\w+\.\w+<[^<>]*>|\d+ : i\d+)")
NAME = re.compile(r"%[\w#]+")

CHARACTERS = [
    *"<>()[]{}\"'%@#!^=,:;-+x?*0123456789.aZ_é\\/\n\r\t\0\x7f\x85\xa0",
    *"\u0301\u2028\u202e\ufeff\ufffd\uffff\ud800\udcff\U0001f600\U000e0001\u0660\u00b2",
]
WORDS = [
    "0x", "->", "tensor<", "dense<", "loc(", "//", "{-#", "#-}", "^bb0", "return", "module", "func.func", "private",
    "attributes", "unit", "true", "tuple<", "array<i64: ", "#stablehlo.", "dense_resource<", "complex<", "vector<",
    "\\22", "\\00", "\\FF", "\\0A", '"', '""', "@", "@main", "%0", "%0#1", "%0:2", "!stablehlo.token", "#loc", "::",
    "stablehlo.return", "func.return", "call", "func.call", "across", "applies", "raw", "init:", "sdy.mesh", "index",
    "f8E4M3FN", "i1", "ui64", "f128", "i16777215", "none", "?x", "4294967296x", "9223372036854775807x", "0x0x",
]  # fmt: skip
NUMBERS = [
    "0", "1", "-1", "2", "63", "64", "65", "127", "256", "-129", "2147483648", "-2147483649", "4294967296",
    "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551616", "99999999999999999999",
    "1" + "0" * 40, "1" * 5000, "0x7FC00000", "0xFFFFFFFFFFFFFFFF", "0x" + "F" * 40, "1.0", "1.", "-0.0", "1.0e999",
    "1.0e-999", "1.5e99999999999", "0.1", "007", "1e5",
]  # fmt: skip
TYPES = [
    "tensor<f32>", "tensor<4xf32>", "tensor<2x3xf32>", "tensor<?xf32>", "tensor<i32>", "tensor<0xf32>", "tensor<4xi1>",
    "tensor<2x3xcomplex<f32>>", "tensor<9223372036854775807xf32>", "tensor<4294967296x4294967296xf64>",
    "tensor<9223372036854775807x0x9223372036854775807xi8>", "tensor<" + "1x" * 70 + "f32>", "tensor<" + "2x" * 70 + "i4>",
    "tensor<4xf8E4M3FN>", "tensor<4xi4>", "tensor<*xf32>", "tensor<4xindex>", "tensor<4xi9>", "tuple<>",
    "tuple<tensor<f32>, tuple<tensor<i32>>>", "!stablehlo.token", "tensor<?x3xf32, #stablehlo.bounds<8, ?>>",
    "tensor<4x!quant.uniform<i8:f32, 0.5:3>>", "tensor<2x3x!quant.uniform<i8:f32:1, {0.5, 1.0:2, 3.0}>>",
    "tensor<4xf32, #x.y>", "!a.b", "tensor<4xvector<2xf32>>", "memref<4xf32>", "(tensor<f32>) -> tensor<f32>", "f32",
]  # fmt: skip

PLACES = [
    ' loc("f\\0Ax.py":3:4)', " loc(#z)", ' loc(fused<{a = [1]}>["x", unknown])', ' loc("a"("b"(callsite("c" at "d"))))',
    f" loc({'callsite(' * 100}unknown", f' loc("x":{"9" * 30}:1)', " loc(#z)\n#z = loc(#y)\n#y = loc(#z)",
]  # fmt: skip

Mutation = Callable[[str, random.Random, Sequence[str]], str]


def _span(text: str, generator: random.Random, longest: int = 40) -> tuple[int, int]:
    first = generator.randrange(len(text) + 1)
    return first, min(len(text), first + generator.randint(0, longest))


def _one(pattern: re.Pattern[str], text: str, generator: random.Random) -> re.Match[str] | None:
    """Return a random one of a pattern's matches, by its place in the text."""
    found = list(pattern.finditer(text))
    return generator.choice(found) if found else None


def _replaced(pattern: re.Pattern[str], text: str, generator: random.Random, new: str) -> str:
    found = _one(pattern, text, generator)
    return text if found is None else f"{text[: found.start()]}{new}{text[found.end() :]}"


def characters(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Insert, remove or replace a few characters."""
    first, last = _span(text, generator, generator.choice((0, 1, 1, 3)))
    return text[:first] + generator.choice(CHARACTERS) * generator.choice((0, 1, 1, 2)) + text[last:]


def octets(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Change bits of the text's bytes; bytes that are no text come as lone surrogates."""
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(generator.randint(1, 3)):
        if data:
            data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
    return data.decode("utf-8", "surrogateescape")


def tokens(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Remove, replace, double or exchange tokens."""
    pieces = TOKEN.findall(text) or [" "]
    place, other = generator.randrange(len(pieces)), generator.randrange(len(pieces))
    match generator.randrange(6):
        case 0:
            pieces[place] = ""
        case 1:
            pieces[place] = generator.choice(WORDS)
        case 2:
            pieces[place] += generator.choice(WORDS)
        case 3:
            pieces[place], pieces[other] = pieces[other], pieces[place]
        case 4:
            pieces[place : place + generator.randint(1, 8)] = []
        case _:
            pieces[place] = generator.choice(TOKEN.findall(generator.choice(texts)) or [""])
    return "".join(pieces)


def lines(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Remove, double, move or borrow a line."""
    pieces = text.split("\n")
    place, other = generator.randrange(len(pieces)), generator.randrange(len(pieces))
    match generator.randrange(5):
        case 0:
            pieces[place] = ""
        case 1:
            pieces.insert(other, pieces[place])
        case 2:
            pieces[place], pieces[other] = pieces[other], pieces[place]
        case 3:
            pieces.insert(place, generator.choice(generator.choice(texts).split("\n")))
        case _:
            pieces[place:] = pieces[place : place + 1] * generator.randint(1, 4) + pieces[place:]
    return "\n".join(pieces)


def _group(text: str, generator: random.Random) -> tuple[int, int] | None:
    """Return where a random bracket opens, and behind the one that closes it."""
    opening = [match.start() for match in re.finditer(r"[<(\[{]", text)]
    if not opening:
        return None
    first, depth = generator.choice(opening), 0
    left, right = text[first], {"<": ">", "(": ")", "[": "]", "{": "}"}[text[first]]
    for place in range(first, len(text)):
        depth += (text[place] == left) - (text[place] == right and text[place - 1 : place + 1] != "->")
        if depth == 0:
            return first, place + 1
    return None


def subtrees(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Remove, double, nest or exchange what stands between a pair of brackets."""
    found = _group(text, generator)
    if found is None:
        return text
    first, last = found
    whole = text[first:last]
    inner, left, right = whole[1:-1], whole[0], whole[-1]
    match generator.randrange(5):
        case 0:
            new = left + right
        case 1:
            new = f"{left}{inner}, {inner}{right}"
        case 2:
            depth = generator.choice((1, 2, 30, 70, 3000))
            new = left * depth + whole + right * depth
        case 3:
            other = generator.choice(texts)
            place = _group(other, generator)
            new = whole if place is None else other[slice(*place)]
        case _:
            new = f"{left}{', '.join([inner] * generator.choice((3, 10, 100)))}{right}"
    return text[:first] + new + text[last:]


def numbers(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Replace a number."""
    return _replaced(NUMBER, text, generator, generator.choice(NUMBERS))


def types(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Replace a type, or all that are spelled like it."""
    found, new = _one(TYPE, text, generator), generator.choice(TYPES)
    if found is None:
        return text
    return text.replace(found[0], new) if generator.random() < 0.5 else _replaced(TYPE, text, generator, new)


def ops(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Replace an op's name by another text's."""
    other = _one(OP, generator.choice(texts), generator)
    return text if other is None else _replaced(OP, text, generator, other[0])


def values(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Replace a value by another one of the text."""
    other = _one(NAME, text, generator)
    return text if other is None else _replaced(NAME, text, generator, other[0])


def strings(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Put characters into a string that must be escaped, or a whole attribute beside it."""
    odd = generator.choice(
        ["\\22", "\\00", "\\0A", "\\FF\\FE", "\\", "\ud800", "\u2028", "é", "\\5C", "x" * 3000, "#", "{"]
    )
    if generator.random() < 0.5:
        return _replaced(STRING, text, generator, f'"a{odd}b"')
    return _replaced(re.compile(r"@\w+"), text, generator, f'@"a{odd}b"')


def attributes(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Replace the value of an attribute by another text's."""
    other = _one(ATTRIBUTE, generator.choice(texts), generator)
    return text if other is None else _replaced(ATTRIBUTE, text, generator, f"= {other[1]}")


def aliases(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Give a type, an attribute or a location an alias, perhaps through others that name each other."""
    sigil, pattern, link = generator.choice(
        [("!", TYPE, "tuple<{0}, {0}>"), ("#", ATTRIBUTE, "[{0}, {0}]"), ("#", ATTRIBUTE, "{{a = {0}}}")]
    )
    found, depth = _one(pattern, text, generator), generator.choice((0, 0, 1, 3, 30, 2000))
    if found is None:
        return text
    inner = found[found.lastindex or 0]
    text = f"{text[: found.start(found.lastindex or 0)]}{sigil}z{depth}{text[found.end(found.lastindex or 0) :]}"
    chain = [f"{sigil}z0 = {inner}"]
    chain += [f"{sigil}z{k} = {link.format(f'{sigil}z{k - 1}')}" for k in range(1, depth + 1)]
    if generator.random() < 0.2:
        chain[0] = f"{sigil}z0 = {sigil}z{depth}"
    if generator.random() < 0.5:
        chain.reverse()
    return "\n".join([*chain, text] if generator.random() < 0.5 else [text, *chain])


def places(text: str, generator: random.Random, texts: Sequence[str]) -> str:
    """Give a line a location."""
    pieces = text.split("\n")
    place = generator.randrange(len(pieces))
    pieces[place] += generator.choice(PLACES)
    return "\n".join(pieces)


MUTATIONS: tuple[Mutation, ...] = (
    characters, octets, tokens, tokens, lines, lines, subtrees, subtrees, numbers, numbers, types, types, ops, values,
    strings, attributes, attributes, aliases, places,
)  # fmt: skip


def mutated(generator: random.Random, texts: Sequence[str]) -> str:
    """Return a random text after one to four mutations."""
    text = generator.choice(texts)
    for _ in range(generator.choice((1, 1, 1, 2, 2, 3, 4))):
        text = generator.choice(MUTATIONS)(text, generator, texts)
    return text
