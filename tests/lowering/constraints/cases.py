"""Programs that break one constraint each, read from the texts beside this file.

``== names`` begins a well-formed program of one op; ``OP`` in it stands for each of the names. What it takes are the
types in front of its ``->``, or those after ``%``. Each line ``- C1 | old => new | old => new`` is a program in which
those replacements are made and that breaks the constraint C1 thereby: I and O are the tables of inputs and outputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
WORDS = {
    "INT8": "!quant.uniform<i8:f32, 0.5>",
    "INT16": "!quant.uniform<i16:f32, 0.5>",
    "HALF": "!quant.uniform<i8:f16, 0.5>",
    **{f"AXIS{axis}": f"!quant.uniform<i8:f32:{axis}, {{0.5, 0.25}}>" for axis in range(3)},
}
_WORD = re.compile(r"INT16|INT8|HALF|AXIS\d")
_REGION = re.compile(r"(REGION|BODY|COMPARE)\((\w+) (\w+)\)")
_SIGNATURE = re.compile(r" : \((.*?)\) -> ")
SIZES = "mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 1 : i32"
MODULE = f"module attributes {{{SIZES}}} {{\n"
DECOMPOSITION = "func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> } }"


@dataclass(frozen=True)
class Case:
    """A program that breaks a constraint, and the one that it was made of, which breaks none."""

    op: str
    constraint: str
    change: str
    text: str
    whole: str

    def __str__(self) -> str:
        return f"{self.op} {self.constraint}: {self.change}"


def _region(match: re.Match[str]) -> str:
    kind, op, element = match.groups()
    scalar = f"tensor<{element}>"
    if kind == "COMPARE":
        made, result = f"stablehlo.compare {op}, %a, %b : ({scalar}, {scalar}) -> tensor<i1>", "tensor<i1>"
    else:
        made, result = f"stablehlo.{op} %a, %b : {scalar}", scalar
    body = f"{{ ^bb0(%a: {scalar}, %b: {scalar}): %r = {made} stablehlo.return %r : {result} }}"
    return f"({body})" if kind == "REGION" else body


def _types(signature: str) -> list[str]:
    """Return the types of a list: commas stand inside of brackets, too."""
    found, depth = [""], 0
    for character in signature:
        depth += (character in "<{") - (character in ">}")
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [text.strip() for text in found if text.strip()]


def program(op: str, text: str, taken: str | None) -> str:
    """Return a whole program around an op."""
    plain = _WORD.sub(lambda match: WORDS[match[0]], _REGION.sub(_region, text.replace("OP", op)))
    signature = plain[plain.rfind(" : (") :]
    types = _types(_SIGNATURE.match(signature)[1] if taken is None else taken)
    arguments = ", ".join(f"%{number}: {type}" for number, type in enumerate(types))
    return f"{MODULE}func.func @main({arguments}) {{\n  {plain}\n  return\n}}\n{DECOMPOSITION}"


def _replaced(text: str, changes: str) -> str:
    for change in changes.split(" | "):
        old, _, new = change.partition(" =>")
        if old not in text:
            raise ValueError(f"{old!r} is not in {text!r}")
        text = text.replace(old, new.removeprefix(" "))
    return text


def _blocks() -> Iterator[list[str]]:
    for path in sorted(HERE.glob("*.txt")):
        for block in path.read_text(encoding="utf-8").split("== ")[1:]:
            yield [line for line in block.splitlines() if line]


@cache
def cases() -> tuple[Case, ...]:
    """Return all cases."""
    found = []
    for names, text, *rest in _blocks():
        taken = rest.pop(0).removeprefix("% ") if rest[0].startswith("% ") else None
        for op in [names] if names.endswith(("types", "constants", "functions")) else names.split():
            whole = program(op, text, taken)
            for line in rest:
                constraint, _, changes = line.removeprefix("- ").partition(" | ")
                found.append(Case(op, constraint, changes, program(op, _replaced(text, changes), taken), whole))
    return tuple(found)
