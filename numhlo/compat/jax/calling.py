"""What is checked when a function of JAX's name is called: its parameters, as JAX has them, and what are arrays.

An argument that is None where JAX's default is None is left out, whatever NumPy's default is. Errors about arguments
become those that `refusals` describes.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from numhlo.compat.jax.arrays import Array, immutably
from numhlo.compat.jax.deleted_arrays import DeletedArray, refuse_deleted
from numhlo.compat.jax.lax_parameters import LAX
from numhlo.compat.jax.moving_keys import TAKING, have_keys, moved
from numhlo.compat.jax.numpy_parameters import NUMPY
from numhlo.compat.jax.precision_names import require_precision
from numhlo.compat.jax.refusals import NotAnArrayError, RefusedCallError, raise_as_jax
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.core import array as mutable
from numhlo.tracer.core.trace import Tracer

OPERANDS = frozenset({Array, mutable.Array, np.ndarray, Tracer, bool, int, float, complex})
"""Classes of what nearly all operands are."""


class Parameters:
    """A function's parameters, as a line of `numpy_parameters` has them.

    Parameters
    ----------
    line : str

    Attributes
    ----------
    by_place : list of str
        Names of those that may be given by their place.
    arrays, unset : frozenset of str
        Names of those that have to be arrays or numbers; and of those that are None by default.
    """

    def __init__(self, line: str) -> None:
        tokens = line.split()
        stroke = tokens.index("/") if "/" in tokens else 0
        self.by_place: list[str] = []
        self.names: list[str] = []
        self.takes_more = self.takes_others = False
        self.more = ""
        by_name_alone = False
        marked = [t for t in tokens if t not in "*/"]
        for token in tokens:
            name = token.strip("*!?=")
            if token.startswith("**"):
                self.takes_others = True
            elif token.startswith("*"):
                by_name_alone, self.takes_more = True, self.takes_more or bool(name)
                self.more = self.more or name
            elif name != "/":
                self.names.append(name)
                if not by_name_alone:
                    self.by_place.append(name)
        self.arrays = frozenset(t.strip("*!?=") for t in marked if "!" in t)
        self.is_ufunc = "where?" in tokens and tokens.index("where?") == len(tokens) - 1 and "/" in tokens
        self.unset = frozenset(t.strip("!?=") for t in marked if t.endswith("?"))
        self.places_alone = frozenset(self.by_place[:stroke])
        self.required = [t.strip("!") for t in marked if t[-1] not in "?=" and not t.startswith("*")]
        self.least = len([name for name in self.required if name in self.by_place])

    def refuse_call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise Python's error of a call that gives too much, too little, or one argument twice."""
        if len(args) > len(self.by_place) and not self.takes_more:
            limit = len(self.by_place)
            plural = "s" * (limit != 1)
            raise TypeError(f"{name}() takes {limit} positional argument{plural} but {len(args)} were given")
        if kwargs:
            self._refuse_names(name, args, kwargs)
        if len(args) < self.least or len(self.required) > self.least:
            given = {*self.by_place[: len(args)], *kwargs}
            missing = [repr(x) for x in self.required if x not in given]
            if missing:
                what = f"{len(missing)} required positional argument{'s' * (len(missing) != 1)}"
                raise TypeError(f"{name}() missing {what}: {' and '.join(missing)}")

    def _refuse_names(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for key in kwargs:
            if (key not in self.names and not self.takes_others) or key in self.places_alone:
                raise TypeError(f"{name}() got an unexpected keyword argument {key!r}")
            if key in self.by_place[: len(args)]:
                raise TypeError(f"{name}() got multiple values for argument {key!r}")


def _rows() -> Iterator[tuple[tuple[str, str], str]]:
    for table in (NUMPY, LAX):
        for module, lines in table.items():
            for line, names in lines.items():
                yield from (((module, name), line) for name in names.split())


METHODS = {
    "reduce": "a! axis= dtype? out? keepdims= initial? where!?",
    "accumulate": "a! axis= dtype? out?",
    "outer": "A! B! /",
    "reduceat": "a! indices! axis= dtype? out?",
}
"""Parameters of ufuncs' methods."""

LINES = dict(_rows())
"""By module and name, a function's parameters."""


def checked_as_jax(module: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes what JAX's of its name takes, and refuses what that refuses.

    Parameters
    ----------
    module : str
        Whose function it is, as ``"numpy.linalg"``.
    name : str
    function : callable

    Returns
    -------
    callable
        The function itself if JAX's parameters are not known.
    """
    line = METHODS.get(name.rpartition(".")[2]) if "." in name else LINES.get((module, name))
    if line is None:
        return function
    parameters, ours = Parameters(line), _parameters_of(function)
    limit = len(parameters.by_place)
    needs_names = len(parameters.required) > parameters.least

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        is_plain = not (kwargs or needs_names) and parameters.least <= len(args) <= limit
        if not (is_plain and OPERANDS.issuperset(map(type, args))):
            if name in TAKING and (have_keys(args) or (kwargs and have_keys(kwargs.values()))):
                return moved(name, public, args, kwargs)
            args, kwargs = _prepared(name, parameters, ours, args, kwargs)
        try:
            return function(*args, **kwargs)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            if any(map(callable, args)) or any(map(callable, kwargs.values())):  # whose errors are the user's
                raise
            raise_as_jax(error)

    return public


def as_jax(module: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator of functions that are JAX's of their name: results are immutable, calls are checked."""
    return lambda function: checked_as_jax(module, function.__name__, immutably(function))


def _prepared(
    name: str,
    parameters: Parameters,
    ours: dict[str, inspect.Parameter],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return a call's arguments as the function takes them, after all checks."""
    if parameters.is_ufunc:
        for option in ("out", "where"):
            if kwargs.get(option) is not None:
                raise _unsupported(f"{option} argument of <jnp.ufunc {name!r}>")
    parameters.refuse_call(name, args, kwargs)
    args = tuple([_operand(name, parameters, key, k, x) for k, (key, x) in enumerate(_named(parameters, args))])
    kwargs = {key: _operand(name, parameters, key, key, x) for key, x in kwargs.items()}
    args, kwargs = _without_none(parameters, ours, args, kwargs)
    if kwargs.get("out") is not None:
        raise _unsupported(f"The 'out' argument to jnp.{name} is not supported")
    return args, kwargs


def _unsupported(what: str) -> UnsupportedError:
    return UnsupportedError(what, where=capture_location(), fix="use the result: arrays never change")


def _named(parameters: Parameters, args: tuple[Any, ...]) -> list[tuple[str, Any]]:
    names = [*parameters.by_place, *[parameters.more] * (len(args) - len(parameters.by_place))]
    return list(zip(names, args, strict=False))


def _operand(function: str, parameters: Parameters, name: str, place: int | str, x: Any) -> Any:
    """Return an argument; as an array if it can be one."""
    if name == "axis" and isinstance(x, bool | list | range):
        return int(x) if isinstance(x, bool) else tuple(x)
    if name == "precision":
        require_precision(x)
    if type(x) in OPERANDS or name not in parameters.arrays:
        return x
    if hasattr(x, "__jax_array__"):
        raise RefusedCallError(
            f"{function}: an object of class {type(x).__name__} with __jax_array__",
            where=capture_location(),
            why="operators and jnp.asarray call it, functions don't",
            fix=f"write {function}(jnp.asarray(...))",
        )
    if type(x) is DeletedArray:
        refuse_deleted(x)
    if isinstance(x, OPERAND_CLASSES) or (x is None and name in parameters.unset):
        return x
    raise NotAnArrayError(
        f"{function} requires ndarray or scalar arguments, got {type(x)} at position {place}.",
        where=capture_location(),
        fix=f"write {function}(jnp.asarray(...))" if isinstance(x, list | tuple) else "",
    )


OPERAND_CLASSES = (np.ndarray, np.generic, Tracer, bool, int, float, complex)


def _parameters_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except (ValueError, TypeError):
        return {}


def _without_none(
    parameters: Parameters, ours: dict[str, inspect.Parameter], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return arguments without those that are None, as they are if they are left out."""

    def is_left_out(name: str, x: Any) -> bool:
        needed = name in ours and ours[name].default is inspect.Parameter.empty
        return x is None and name in parameters.unset and not needed

    kept = {name: x for name, x in kwargs.items() if not is_left_out(name, x)}
    named = _named(parameters, args)
    first = next((k for k, (name, x) in enumerate(named) if is_left_out(name, x)), len(named))
    rest = [(name, x) for name, x in named[first:] if not is_left_out(name, x)]
    if any(name not in ours for name, _ in rest):
        return args, kept
    return args[:first], {**dict(rest), **kept}
