"""How the arguments of a call are split: static values on one side, a pytree of arrays on the other.

This file knows argument numbers and names, and what makes a static value a cache key. It refuses to know traces.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, EndlessRecursionError, StaticArgumentError
from numhlo.lowering.ir.records import record

Numbers = int | Sequence[int] | None
Names = str | Iterable[str] | None
Parameters = Mapping[str, inspect.Parameter] | None
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@record(frozen=True, slots=True)
class Selection:
    """A set of arguments, each by its number, its name, or both."""

    numbers: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.numbers or self.names)


@record(slots=True)
class Call:
    """A call's arguments, split.

    Attributes
    ----------
    args : tuple
        The positional arguments that are not static.
    kwargs : dict
        The keyword arguments that are not static.
    statics : dict
        Static values by argument number or name.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    statics: dict[int | str, Any]

    @property
    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return what is traced, as one pytree."""
        return self.args, self.kwargs

    def merge(self, args: Iterable[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return full arguments: ``args`` and ``kwargs`` in the places of this call's, statics as they are."""
        rest = iter(args)
        count = len(self.args) + sum(isinstance(k, int) for k in self.statics)
        full = [self.statics[k] if k in self.statics else next(rest) for k in range(count)]
        return full, {**kwargs, **{k: v for k, v in self.statics.items() if isinstance(k, str)}}


def parameters_of(fun: Callable[..., Any]) -> Parameters:
    """Return a function's parameters by name, or None where Python can't tell."""
    try:
        return inspect.signature(fun).parameters
    except (TypeError, ValueError):
        return None


def select(parameters: Parameters, numbers: Numbers, names: Names, option: str) -> Selection:
    """Return the arguments that ``numbers`` and ``names`` mean; a number given brings its name, and a name its number.

    Raises
    ------
    ArgumentError
        If the function has no such argument.
    """
    wanted_numbers = [int(k) for k in _listed(numbers, Integral, f"{option}argnums", "positions of arguments: ints")]
    wanted_names = _listed(names, str, f"{option}argnames", "names of arguments: strings")
    if parameters is None:
        return Selection(frozenset(wanted_numbers), frozenset(wanted_names))
    positional = [p.name for p in parameters.values() if p.kind in POSITIONAL]
    kinds = {p.kind for p in parameters.values()}
    found = [_checked_number(k, positional, inspect.Parameter.VAR_POSITIONAL in kinds, option) for k in wanted_numbers]
    for name in wanted_names:
        if name not in parameters and inspect.Parameter.VAR_KEYWORD not in kinds:
            raise ArgumentError(
                f"{option}argnames names {name!r}, but the arguments are {', '.join(parameters)}",
                where=capture_location(),
            )
    all_names = {*wanted_names, *[positional[k] for k in found if k < len(positional)]}
    all_numbers = {*found, *[k for k, name in enumerate(positional) if name in wanted_names]}
    return Selection(frozenset(all_numbers), frozenset(all_names))


def _listed(given: Any, kind: type, option: str, wanted: str) -> list[Any]:
    """Return one or several numbers or names as a list."""
    one = isinstance(given, str) or not isinstance(given, Iterable)
    found = [] if given is None else [given] if one else list(given)
    if not all(isinstance(x, kind) and not isinstance(x, bool) for x in found):
        raise ArgumentError(f"jit: {option}={given!r}", where=capture_location(), fix=f"give {wanted}")
    return found


def _checked_number(number: int, positional: Sequence[str], variadic: bool, option: str) -> int:
    count = len(positional)
    if -count <= number < count or (variadic and number >= 0):
        return number % count if number < 0 else number
    raise ArgumentError(
        f"{option}argnums has {number}, but the function takes {count} positional arguments", where=capture_location()
    )


def split_call(static: Selection, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    """Return a call's arguments, split into static and other ones."""
    if not static:
        return Call(args, kwargs, {})
    statics: dict[int | str, Any] = {k: v for k, v in enumerate(args) if k in static.numbers}
    statics.update({k: v for k, v in kwargs.items() if k in static.names})
    dynamic = tuple([v for k, v in enumerate(args) if k not in static.numbers])
    return Call(dynamic, {k: v for k, v in kwargs.items() if k not in static.names}, statics)


MOST_LEVELS = 200
"""Tuples in tuples that a static argument may consist of: each level takes some of Python's stack, here and later."""


def static_key(value: Any, name: int | str, levels: int = MOST_LEVELS) -> Any:
    """Return what stands for a static value in a cache key: equal keys mean equal class and equal value.

    Parameters
    ----------
    value : object
    name : int or str
        The argument's number or name, for messages.
    levels : int, optional
        How deep tuples in it may be nested.

    Raises
    ------
    StaticArgumentError
        If the value can't be hashed.
    EndlessRecursionError
        If it is nested too deeply.
    """
    kind = type(value)
    if kind is float:
        return kind, value.hex()
    try:
        if isinstance(value, tuple):
            return kind, tuple([static_key(v, name, _one_less(levels)) for v in value])
        if kind is slice:  # hashable from Python 3.12 on
            return kind, tuple([static_key(v, name, _one_less(levels)) for v in (value.start, value.stop, value.step)])
        hash(value)
    except (EndlessRecursionError, StaticArgumentError):  # of what it is made of
        raise
    except RecursionError:  # an object's own hash, of what it is made of
        raise EndlessRecursionError(
            f"static {_argument(name)} is nested too deeply",
            where=capture_location(),
            why=f"a static value is part of a cache key; tuples in it may be nested {MOST_LEVELS} deep",
            fix="make it flat: one tuple of all that it consists of",
        ) from None
    except TypeError:
        raise StaticArgumentError(
            f"static {_argument(name)} is of class {kind.__qualname__}, which can't be hashed",
            where=capture_location(),
            why="a static value is part of the key under which the compiled function is kept",
            fix=_hashable_form(value),
        ) from None
    return kind, value


def _argument(name: int | str) -> str:
    return f"argument {name}" if isinstance(name, int) else f"argument {name!r}"


def _one_less(levels: int) -> int:
    if not levels:
        raise RecursionError
    return levels - 1


def _hashable_form(value: Any) -> str:
    if isinstance(value, list):
        return "pass a tuple instead of a list"
    if isinstance(value, dict):
        return "pass a tuple of pairs, or make it an ordinary argument: dicts of arrays are traced"
    if hasattr(value, "dtype"):
        return "make the array an ordinary argument: leave it out of static_argnums and static_argnames"
    return "give its class __eq__ and __hash__ (a frozen dataclass has both)"
