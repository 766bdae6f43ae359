"""Text of attributes: declared ones by their kind, all others by the Python value that holds them.

This module knows attributes one at a time and dictionaries of them. What an op leaves to its pretty form is decided in
`numhlo.lowering.text.printer` and the ``pretty_*`` files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from numhlo.lowering.ir import Function, element_spelling
from numhlo.lowering.ir.types import ELEMENT_TYPES, INTEGERS
from numhlo.lowering.ops.primitive import Attribute
from numhlo.lowering.text.dense_printer import print_dense, print_float, print_float_attribute
from numhlo.lowering.text.foreign import UNIT, DenseArray, ForeignAttribute

Symbol = Callable[[Function], str]
"""Gives a function its name in the text, ``@`` included."""

_BARE_NAME = re.compile(r"[A-Za-z_][\w$.]*\Z", re.ASCII)
_FLOAT32 = np.dtype(np.float32)
_FLOAT64 = np.dtype(np.float64)
_PLAIN = frozenset(range(0x20, 0x7F)) - {ord('"'), ord("\\")}


def print_string(text: str) -> str:
    r"""Return a quoted string, escaped as MLIR does.

    Examples
    --------
    >>> print(print_string('say "hi"'))
    "say \22hi\22"
    """
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    data = text.encode("utf-8", "surrogateescape")
    parts = [chr(c) if c in _PLAIN else "\\\\" if c == ord("\\") else f"\\{c:02X}" for c in data]
    return f'"{"".join(parts)}"'


def print_name(text: str) -> str:
    """Return an attribute's or a symbol's name, quoted where it is no identifier."""
    return text if _BARE_NAME.match(text) else print_string(text)


def print_array(element: str, values: Iterable[Any]) -> str:
    """Return ``array<element: ...>``."""
    dtype = ELEMENT_TYPES.get(element, _FLOAT64)
    text = ", ".join(print_float(value, dtype) if isinstance(value, float) else str(value).lower() for value in values)
    return f"array<{element}: {text}>" if text else f"array<{element}>"


def print_value(value: Any, symbol: Symbol) -> str:
    """Return the text of an attribute of no declared kind: int as i64, float as f64, tuple as array, ..."""
    for types, spell in _SPELLINGS:
        if isinstance(value, types):
            return spell(value, symbol)
    return str(value)


def _print_scalar(value: np.generic, symbol: Symbol) -> str:
    if value.dtype in INTEGERS:
        return f"{value} : {element_spelling(value.dtype)}"
    return print_float_attribute(value, value.dtype)


_SPELLINGS: tuple[tuple[tuple[type, ...], Callable[[Any, Symbol], str]], ...] = (
    ((bool, np.bool_), lambda value, _: "true" if value else "false"),
    ((int,), lambda value, _: f"{value} : i64"),
    ((float,), lambda value, _: print_float_attribute(value, _FLOAT64)),
    ((np.generic,), _print_scalar),  # ml_dtypes' numbers are neither np.integer nor np.floating
    ((str,), lambda value, _: print_string(value)),
    ((DenseArray,), lambda value, _: print_array(value.element, value)),
    ((tuple, list), lambda value, symbol: f"[{', '.join(print_value(item, symbol) for item in value)}]"),
    ((Mapping,), lambda value, symbol: print_dictionary(value.items(), symbol)),
    ((Function,), lambda value, symbol: symbol(value)),
    ((np.ndarray,), lambda value, _: print_dense(value)),
)


def print_item(name: str, value: Any, symbol: Symbol) -> str:
    """Return ``name = value``, or the name alone for a unit attribute."""
    text = print_name(name)
    is_unit = isinstance(value, ForeignAttribute) and value == UNIT
    return text if is_unit else f"{text} = {print_value(value, symbol)}"


def print_dictionary(items: Iterable[tuple[str, Any]], symbol: Symbol) -> str:
    """Return ``{name = value, ...}`` without entries that are None."""
    return f"{{{', '.join(print_item(name, value, symbol) for name, value in sorted(items) if value is not None)}}}"


def print_attribute(attribute: Attribute, value: Any, symbol: Symbol, dialect: str) -> str | None:
    """Return ``name = value`` for a declared attribute, or None where it is to be left out.

    Left out are None, a false unit, and an empty list of enums.
    """
    kind, name = attribute.kind, attribute.name
    if value is None:
        return None
    if kind == "unit":
        return name if value else None
    return f"{name} = {print_kind(kind, value, symbol, dialect)}"


def print_kind(kind: str, value: Any, symbol: Symbol, dialect: str) -> str:
    """Return the text of a value of a declared kind (see `Attribute`)."""
    if kind in {"i64", "i32"}:
        return f"{value} : {kind}"
    if kind.startswith("array<"):
        return print_array(kind[len("array<") : -1], value)
    if kind == "f32":
        return print_float_attribute(value, _FLOAT32)
    if kind == "dense":
        return print_dense(np.asarray(value))
    if kind.startswith("enum:"):
        return f"#{dialect}<{kind[len('enum:') :]} {value}>"
    if kind.startswith("enums:"):
        name = kind[len("enums:") :]
        return f"[{', '.join(f'#{dialect}<{name} {item}>' for item in value)}]"
    if kind.startswith("record:"):
        return str(value)
    return print_value(value, symbol)
