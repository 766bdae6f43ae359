"""Where instructions come from in the user's source: their metadata, and the tables of files, functions and frames."""

from __future__ import annotations

import re
from typing import Any

from numhlo.lowering.ir import Location

_NUMBER = re.compile(r"\d{1,9}\Z", re.ASCII)


def _number(record: Any, name: str) -> int:
    text = record.get(name, "") if isinstance(record, dict) else ""
    return int(text) if isinstance(text, str) and _NUMBER.match(text) else 0


class StackFrames:
    """The tables between a module's header and its first computation.

    Attributes
    ----------
    tables : dict
        Rows by number, by the name of the table.

    Examples
    --------
    >>> frames = StackFrames()
    >>> here = Location(None, 7, "x.hlo")
    >>> print(frames.location({"op_name": "f/add", "source_file": "a.py", "source_line": "3"}, here).place)
    a.py:3
    """

    def __init__(self) -> None:
        names = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
        self.tables: dict[str, dict[int, Any]] = {name: {} for name in names}

    def location(self, metadata: dict[str, Any], here: Location) -> Location:
        """Return the place that an instruction's metadata names, ``here`` where it names none."""
        scope = metadata.get("op_name", "")
        scope = scope if isinstance(scope, str) else ""
        file, line, column = metadata.get("source_file"), _number(metadata, "source_line"), 0
        if not isinstance(file, str):
            frame = self.tables["StackFrames"].get(_number(metadata, "stack_frame_id"), {})
            row = self.tables["FileLocations"].get(_number(frame, "file_location_id"), {})
            file = self.tables["FileNames"].get(_number(row, "file_name_id"))
            line, column = _number(row, "line"), _number(row, "column")
        if not isinstance(file, str) or not file:
            return Location(None, here.line, here.filename, here.column, scope) if scope else here
        return Location(None, line, file, column, scope)
