"""Lines of a text with a caret, as errors about programs show them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from numhlo.lowering.ir.errors import VerificationError

SHOWN = 60
"""Characters of a line shown to each side of a caret; lines may be megabytes long."""


def excerpt(text: str, begin: int, end: int, column: int) -> str:
    r"""Return a line of a text, from ``begin`` to ``end``, above a caret under a column of it, counted from 1.

    Examples
    --------
    >>> excerpt("one\ntwo three", 4, 13, 5).splitlines()
    ['    two three', '        ^']
    """
    left = max(begin, begin + column - 1 - SHOWN)
    shown = "".join([c if c.isprintable() else " " for c in text[left : min(end, left + 2 * SHOWN)]])
    return f"    {shown}\n    {' ' * (begin + column - 1 - left)}^"


@contextmanager
def marking(text: str, name: str) -> Iterator[None]:
    """Show the line and a caret in errors of verification whose op is in a text that goes by ``name``.

    Raises
    ------
    VerificationError
        That of the block.
    """
    try:
        yield
    except VerificationError as error:
        place = error.where
        if place is not None and place.code is None and place.name == name and place.column:
            lines = text.splitlines()
            if place.line <= len(lines):
                line = lines[place.line - 1]
                error.excerpt = excerpt(line, 0, len(line), place.column)
        raise
