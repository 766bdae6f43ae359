"""Traced arrays that outlive their trace: found when tracing ends, where that is asked for."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from numhlo.lowering.ir.errors import LeakedTracerError
from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.tracer.core.trace import Trace, Tracer

_watched = ScopedValue(False)


def watches_leaks() -> bool:
    """Return whether leaks are looked for in this thread."""
    return _watched.get()


@contextmanager
def checking_leaks(enabled: bool = True) -> Iterator[None]:
    """Look for leaks in a block: a traced array that a jitted function keeps is an error as soon as tracing ends.

    Without it the error comes when the array is used. Tracing takes longer: all objects of the process are looked at.

    Parameters
    ----------
    enabled : bool, optional
        False turns it off again inside an outer block.

    Raises
    ------
    LeakedTracerError
        In the block, when a function has been traced that left a traced array behind.

    Notes
    -----
    Source: `jax.checking_leaks`.

    Examples
    --------
    >>> import numhlo
    >>> kept = []
    >>> with checking_leaks():
    ...     numhlo.jit(lambda x: kept.append(x + 1))(2.0)
    Traceback (most recent call last):
    ...
    numhlo.errors.LeakedTracerError: lambda leaks a traced array float64[]
    ...
    """
    with _watched.bound(enabled, marks=True):
        yield


def refuse_leaks(name: str, watched: weakref.ref[Trace]) -> None:
    """Raise an error if a traced array of a trace that has ended is still held by anybody."""
    if watched() is None:
        return
    gc.collect()
    trace = watched()
    if trace is None:
        return
    for found in gc.get_objects():
        if type(found) is Tracer and found.cell.trace.root is trace:
            raise LeakedTracerError(
                f"{name} leaks a traced array {found.aval.short()}",
                where=found.cell.location,
                why=f"tracing has ended, and {_holders(found)} still holds it",
                fix="return it from the traced function instead of storing it",
            )


def _holders(found: Tracer) -> str:
    kinds = set()
    for holder in gc.get_referrers(found):
        owners = [x for x in gc.get_referrers(holder) if getattr(x, "__dict__", None) is holder]
        kinds |= {type(x).__name__ for x in owners or [holder]}
    kinds -= {"frame", "list_iterator"}
    return "a " + " or ".join(sorted(kinds)) if kinds else "an object"
