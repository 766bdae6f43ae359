"""Who refuses each program that breaks a constraint: verification as MLIR does it, or strict verification alone."""

from __future__ import annotations

import re
from functools import cache

from numhlo import stablehlo
from numhlo.errors import ParseError, VerificationError
from tests.lowering.constraints.cases import Case

BY_GRAMMAR = {
    ("quantized types", "C1"): "storage_min has no type of its own in the text",
    ("quantized types", "C2"): "storage_max has no type of its own in the text",
    ("quantized types", "C4"): "scales have no type of their own in the text",
    ("quantized types", "C8"): "zero points have no type of their own in the text",
    ("quantized types", "C9"): "a scale stands beside its zero point, or beside none, which is 0",
    ("quantized types", "C11"): "a dimension has no sign in the text",
}
"""Constraints that no text can break, and why."""

_RANGE = re.compile(r"\((C)(\d+)\)-\(C(\d+)\)")


def complaint(text: str, *, strict: bool) -> str:
    """Return the message with which a program is refused, or nothing."""
    try:
        stablehlo.parse(text, strict=strict).verify()
    except (ParseError, VerificationError) as error:
        return str(error)
    return ""


def names(message: str, constraint: str) -> bool:
    """Return whether a message names a constraint: by its number, or within a range such as (C15)-(C17)."""
    numbers = {f"C{k}" for _, low, high in _RANGE.findall(message) for k in range(int(low), int(high) + 1)}
    return f"({constraint})" in message or constraint in numbers


@cache
def verdict(case: Case) -> str:
    """Return who refuses a program by the constraint's name: ``always``, ``strict``, or nothing where nobody does.

    Literals are refused by the reader, which shows their place instead of a number.
    """
    is_literal = case.op.endswith("constants")
    for strict in (False, True):
        message = complaint(case.text, strict=strict)
        if message:
            fits = "^" in message or "(C1)" in message if is_literal else names(message, case.constraint)
            return ("strict" if strict else "always") if fits else ""
    return ""
