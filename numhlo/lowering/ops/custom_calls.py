"""The registry of custom-call targets: Python functions that ``custom_call`` reaches by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir.errors import UnsupportedError

CustomCall = Callable[[Sequence[np.ndarray], Mapping[str, Any]], Sequence[np.ndarray]]
"""``function(arrays, attributes) -> arrays``: must not write into its arrays."""

_TARGETS: dict[str, CustomCall] = {}


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
    _TARGETS[target] = function


def find_custom_call(target: str) -> CustomCall:
    """Return the function registered for ``target``.

    Raises
    ------
    UnsupportedError
        If there is none.
    """
    try:
        return _TARGETS[target]
    except KeyError:
        raise UnsupportedError(
            f"custom_call: no function is registered for target {target!r}",
            why=f"known targets: {', '.join(sorted(_TARGETS)) or 'none'}",
            fix=f"call register_custom_call({target!r}, function)",
        ) from None
