"""Code objects that were made of others with every call marked, and those others: messages show these."""

from __future__ import annotations

import weakref
from types import CodeType

_originals: dict[int, tuple[weakref.ref[CodeType], weakref.ref[CodeType]]] = {}


def remember_original(marked: CodeType, code: CodeType) -> None:
    """Note that marked code, and all code inside it, was made of another."""
    key = id(marked)
    _originals[key] = weakref.ref(marked, lambda _: _originals.pop(key, None)), weakref.ref(code)
    for new, old in zip(inner_codes(marked), inner_codes(code), strict=True):
        remember_original(new, old)


def original_code(code: CodeType) -> CodeType:
    """Return the code that marked code was made of; any other code itself."""
    found = _originals.get(id(code))
    return code if found is None else found[1]() or code


def inner_codes(code: CodeType) -> list[CodeType]:
    """Return the code of the functions that are defined in some code."""
    return [c for c in code.co_consts if isinstance(c, CodeType)]
