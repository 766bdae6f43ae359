"""Reports and programs as text that reads well where a shell or a notebook shows it, too.

The last line of a cell is shown by its ``repr``, which for text is one long quoted line. What the text says is the
caller's.
"""

from __future__ import annotations


class Page(str):
    r"""Text of several lines, which is shown as it is printed.

    Examples
    --------
    >>> Page("a line\nand another")
    a line
    and another
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
