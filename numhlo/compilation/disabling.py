"""Running jitted functions as plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from numhlo.lowering.ir.scoped_values import ScopedValue

_disabled = ScopedValue(False)


@contextmanager
def disable_jit(disable: bool = True) -> Iterator[None]:
    """Run jitted functions as the plain Python functions that they are, in this thread, inside the ``with`` block.

    Parameters
    ----------
    disable : bool, optional
        False turns compilation on again inside an outer block.

    Examples
    --------
    >>> import numhlo
    >>> with disable_jit():
    ...     numhlo.jit(lambda x: type(x).__name__)(1.0)
    'float'
    """
    with _disabled.bound(disable, marks=True):
        yield


def is_disabled() -> bool:
    """Return whether jitted functions run as plain Python in this thread."""
    return _disabled.get()
