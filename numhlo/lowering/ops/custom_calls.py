"""The registry of custom-call targets: what ``custom_call`` reaches by name, and the rules of those that users add."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from numhlo.lowering.ir import Location, Op, capture_location
from numhlo.lowering.ir.errors import ArgumentError, UnsupportedError
from numhlo.lowering.ops.extension_loading import load_extensions
from numhlo.lowering.ops.native_functions import NativeFunction

CustomCall = Callable[[Sequence[np.ndarray], Mapping[str, Any]], Sequence[np.ndarray]]
"""``function(arrays, attributes) -> arrays``: must not write into its arrays."""


class UserRules(NamedTuple):
    """How an op that a user registered is batched and differentiated; None: as any op without such rules.

    Attributes
    ----------
    batch, jvp, transpose : callable or None
        With the contracts of the tracer's tables.
    """

    batch: Callable[..., Any] | None = None
    jvp: Callable[..., Any] | None = None
    transpose: Callable[..., Any] | None = None


NO_RULES = UserRules()


class Target(NamedTuple):
    """What a custom call of one name reaches.

    Attributes
    ----------
    function : callable
        What it means on NumPy arrays.
    native : NativeFunction or None
        The machine code that compiled programs call.
    rules : UserRules
    where : Location or None
        The user's line that registered it; None for numhlo's own.
    """

    function: CustomCall
    native: NativeFunction | None = None
    rules: UserRules = NO_RULES
    where: Location | None = None


_TARGETS: dict[str, Target] = {}


def register_custom_call(target: str, function: CustomCall) -> None:
    """Make ``function`` what a ``custom_call`` of ``target`` runs; the last registration counts.

    Parameters
    ----------
    target : str
        The op's ``call_target_name``.
    function : callable
        ``function(arrays, attributes) -> arrays``; ``attributes`` are the op's, with functions as callables.

    Examples
    --------
    >>> register_custom_call("doctest.twice", lambda arrays, attributes: [2 * arrays[0]])
    >>> find_custom_call("doctest.twice")([np.array(3)], {})
    [np.int64(6)]
    """
    _TARGETS[target] = Target(function)


def register_target(name: str, target: Target) -> None:
    """Add what a user registers; a name can be taken only once.

    Raises
    ------
    ArgumentError
        If the name is taken.
    """
    found = _TARGETS.get(name)
    if found is not None:
        raise ArgumentError(
            f"custom_call {name}: it is registered already",
            where=capture_location(),
            why="by numhlo" if found.where is None else f"at {found.where.point()}",
            fix="give another name; programs that name this one mean the first",
        )
    _TARGETS[name] = target


def target_of(op: Op) -> Target | None:
    """Return what a custom call reaches, None where nothing is registered."""
    name = op.attributes["call_target_name"]
    if name not in _TARGETS:
        load_extensions()
    return _TARGETS.get(name)


def find_custom_call(target: str) -> CustomCall:
    """Return the function registered for ``target``.

    Raises
    ------
    UnsupportedError
        If there is none.
    """
    if target not in _TARGETS:
        load_extensions()
    try:
        return _TARGETS[target].function
    except KeyError:
        raise UnsupportedError(
            f"custom_call: no function is registered for target {target!r}",
            why=f"known targets: {', '.join(sorted(_TARGETS)) or 'none'}",
            fix=f"call numhlo.custom_call({target!r}, function)",
        ) from None
