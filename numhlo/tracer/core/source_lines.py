"""The source of a function's code, found by the name of its file alone.

`inspect.getsourcelines` asks every module that is loaded where its file is, to find the one that code is of: with a
thousand modules that took two thirds of the time in which a short function with loops was traced for the first time.
Who has the function has its globals, and these say how the source of a module in an archive is read.
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Mapping
from types import CodeType
from typing import Any


def source_lines(code: CodeType, scope: Mapping[str, Any]) -> tuple[list[str], int]:
    """Return the lines of code as they are written now, and the number of the first; all of a module's, and 0.

    Parameters
    ----------
    code : CodeType
        Of a function that `def` made, or of a module.
    scope : mapping
        The globals that it runs in.

    Raises
    ------
    OSError
        If there is no source by the name of its file, or none at its place.

    Examples
    --------
    >>> source_lines(source_lines.__code__, globals())[0][0][:17]
    'def source_lines('
    """
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, dict(scope))
    if not lines:
        raise OSError("could not get source code")
    if code.co_name == "<module>":
        return lines, 0
    if not 0 < code.co_firstlineno <= len(lines):
        raise OSError("lineno is out of bounds")
    return inspect.getblock(lines[code.co_firstlineno - 1 :]), code.co_firstlineno
