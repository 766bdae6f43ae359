"""Text made of traced values: f-strings, `%`, `format` and `join` give `Text`, whose characters nobody knows."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType
from typing import Any, NoReturn

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError, NumhloError
from numhlo.tracer.python.special_methods import OPERATORS, is_off
from numhlo.tracer.python.stand_ins import is_unknown, stands_for, written
from numhlo.tracer.python.text_values import Text, as_text, note_unknown

METHODS = frozenset({"format", "format_map", "join"})
"""Methods of text that put others into it."""

_CONVERSIONS: dict[int, Callable[[Any], str]] = {ord("s"): str, ord("r"): repr, ord("a"): ascii}


def makes_text(code: CodeType) -> bool:
    """Return whether a function puts values into text by `%` or a method, as far as its code shows."""
    return not METHODS.isdisjoint(code.co_names) or any(
        (type(x) is str and "%" in x) or (type(x) is bytes and b"%" in x) for x in code.co_consts
    )


def _formatted(*parts: Any) -> str:
    """Return an f-string's text."""
    if is_off():
        return "".join(map(_part, parts))
    text: str = as_text(lambda: "".join(map(_part, parts)))
    return text


def _part(part: Any) -> str:
    if not isinstance(part, tuple):
        return str(part)
    value, conversion, spec = part
    value = value if is_off() else written(value)
    convert = _CONVERSIONS.get(conversion)
    return format(value if convert is None else convert(value), spec)


def method_of_text(method: BuiltinFunctionType) -> Callable[..., Any]:
    """Return what stands for a method that puts values into text."""

    def put(*args: Any, **kwargs: Any) -> Any:
        if method.__name__ == "join" and len(args) == 1:
            args = (list(args[0]),)
            if any(isinstance(x, Text) for x in args[0]):
                note_unknown()
        elif method.__name__ == "format":
            args, kwargs = tuple(map(written, args)), {name: written(x) for name, x in kwargs.items()}
        return method(*args, **kwargs)

    return functools.wraps(method)(lambda *args, **kwargs: as_text(lambda: put(*args, **kwargs)))


def _remainder(x: Any, y: Any) -> Any:
    if type(x) not in (str, bytes, bytearray) or is_off():
        return _plain_remainder(x, y)
    items = y if type(y) is tuple else tuple(y.values()) if type(y) is dict else (y,)
    try:
        found = as_text(lambda: x % _replaced(written, y))
    except TypeError as error:
        if not isinstance(error, NumhloError):
            _refuse_numbers(x, y, items)
        raise
    return found


def _replaced(change: Callable[[Any], Any], y: Any) -> Any:
    """Return what `%` puts into text, each of its items changed."""
    if type(y) is dict:
        return {name: change(item) for name, item in y.items()}
    return tuple(map(change, y)) if type(y) is tuple else change(y)


def _refuse_numbers(x: Any, y: Any, items: tuple[Any, ...]) -> None:
    """Raise for items that are not known but would be written: Python says of them that they are no numbers."""
    if not any(map(is_unknown, items)):
        return
    _ = x % _replaced(lambda item: np.ones(item.shape, item.dtype)[()] if is_unknown(item) else written(item), y)
    _refuse(x)


def _refuse(x: Any) -> NoReturn:
    raise ConcretizationError(
        f"formatting by {x!r} of a traced array",
        where=capture_location(),
        why="its value is not known while tracing, nor its characters",
        fix="return it and format it outside the traced function",
    ) from None


def _contains(x: Any, y: Any) -> Any:
    return x.refuse() if isinstance(x, Text) and isinstance(y, str) else _plain_contains(x, y)


_plain_remainder, _plain_contains = OPERATORS["x % y"], OPERATORS["x in y"]
OPERATORS["f'{x}'"] = _formatted
OPERATORS["x % y"], OPERATORS["x in y"] = _remainder, _contains


@stands_for(warnings.warn)
@functools.wraps(warnings.warn)
def _warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **options: Any) -> None:
    shown = str.__str__(message) if isinstance(message, Text) else message
    warnings.warn(shown, category, stacklevel + 1, source, **options)
