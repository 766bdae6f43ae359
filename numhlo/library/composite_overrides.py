"""`override_composite`: another meaning of composites of a name and version, in traced code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numhlo.library.traced_meanings import TracedMeaning
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.passes.legalize_composites import OVERRIDES
from numhlo.tracer.building import require_callable


def override_composite(name: str, function: Callable[..., Any], *, version: int = 0) -> None:
    """Let composites of a name and version mean a function of your own instead of their decomposition.

    So it is in programs from text, and in those that are traced from then on: for every engine, batched, and
    differentiated. The function may call native code, by what `numhlo.custom_call` gave.

    Parameters
    ----------
    name : str
        The composite's, with its namespace.
    function : callable
        ``function(*arrays, **attributes)`` in traced code; gets the operands as a flat list of arrays, and returns an
        array, or as many as the composite has results.
    version : int, optional
        The version that is meant; others keep their decomposition.

    Raises
    ------
    ArgumentError
        If the name is numhlo's own, or the version is overridden already. When a program is made, if the function
        returns other types than the composite's.

    Examples
    --------
    >>> import numhlo, numpy as np
    >>> from functools import partial
    >>> @partial(numhlo.lax.composite, name="doctest.halve")
    ... def halve(x, /):
    ...     return x - x / 2
    >>> numhlo.extending.override_composite("doctest.halve", lambda x: x * 0.5)
    >>> "multiply" in numhlo.jit(halve).lower(np.ones(3)).as_text()
    True
    """
    given: Any = name
    require_callable(function, f"override_composite {name}: function")
    if not isinstance(given, str) or "." not in name or name.startswith("numhlo."):
        raise ArgumentError(
            f"override_composite: the name {name!r}",
            where=capture_location(),
            why="a composite has a namespace and a name, and those of numhlo's namespace are code of its own",
            fix='give a name such as "my_library.gelu"',
        )
    if (name, version) in OVERRIDES:
        raise ArgumentError(
            f"override_composite: version {version} of {name} is overridden already",
            where=capture_location(),
            fix="override another version",
        )
    OVERRIDES[name, version] = TracedMeaning(name, function).of_results
