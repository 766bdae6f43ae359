"""Source locations: the user's file and line behind each op, captured cheaply and resolved late.

Capturing stores a code object and an instruction offset, nothing else, since it happens at every op; the line number
and the source text are looked up only when somebody prints them. Frames inside the numhlo package are skipped,
and those of NumPy, SciPy and the standard library where they call back.
"""

from __future__ import annotations

import linecache
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy

from numhlo.lowering.ir.records import record
from numhlo.lowering.ir.scoped_values import ScopedValue


def _of(code: CodeType, depth: int) -> Path:
    """Return a package's folder as its code has it: in a frozen application that isn't where the files lie."""
    return Path(code.co_filename).parents[depth]


_NUMPY = _of(numpy.isscalar.__code__, 1)
_FOLDERS = (_of(_of.__code__, 2), _NUMPY, _NUMPY.with_name("scipy"))
SKIPPED_FOLDERS = tuple(f"{folder}{os.sep}" for folder in _FOLDERS)
"""Frames of numhlo, and of NumPy and SciPy where they call us back, are not the user's."""


SOURCES = (".py", ".mlir")
LARGEST_SOURCE = 64 << 20
"""What a text may name as the source of an op for messages to show a line of it: endings of files, and their bytes."""


@record(slots=True, unsafe_hash=True)  # not frozen: one is made for every op, and that takes three times as long
class Location:
    """A point in Python source, or in a StableHLO text.

    Attributes
    ----------
    code : CodeType or None
        The function's code object; None for a location that was read from text.
    offset : int
        Byte offset of the instruction (``frame.f_lasti``); the line itself where ``code`` is None.
    name : str
        File name where ``code`` is None.
    column : int
        1-based column where known, else 0.
    scope : str
        Names that the user gave to this part of the program, outer ones first: ``encoder/attention``.
    """

    code: CodeType | None
    offset: int
    name: str = ""
    column: int = 0
    scope: str = ""

    def __reduce__(self) -> Any:
        """Return file, line and column: code is of this process alone."""
        return Location, (None, self.line, self.filename, self.column, self.scope)

    @property
    def filename(self) -> str:
        """Return the path of the source file."""
        return self.name if self.code is None else self.code.co_filename

    @property
    def function(self) -> str:
        """Return the name of the enclosing function."""
        return "" if self.code is None else self.code.co_qualname

    @property
    def line(self) -> int:
        """Return the 1-based line number."""
        if self.code is None:
            return self.offset
        line = self.code.co_firstlineno
        for start, end, number in self.code.co_lines():
            if start <= self.offset < end and number is not None:
                line = number
        return line

    @property
    def source(self) -> str:
        """Return the line of source, stripped; empty where it can't be had.

        A text may name any file: what is no source is not opened.
        """
        if self.code is None and not _is_source(self.name):
            return ""
        return linecache.getline(self.filename, self.line).strip()

    @property
    def place(self) -> str:
        """Return ``file:line``, with a notebook's name of a cell for its file."""
        return f"{_cell(self.filename) or Path(self.filename).name}:{self.line}"

    def describe(self) -> str:
        """Return ``file:line in function, scope:  source``."""
        return self._describe(self.place)

    def point(self) -> str:
        """Return ``file:line:column`` and the rest, as messages of errors have it; Python's lines have no column."""
        return self._describe(f"{self.place}:{self.column}" if self.code is None and self.column else self.place)

    def _describe(self, text: str) -> str:
        if self.function:
            text += f" in {self.function}"
        if self.scope:
            text += f", {self.scope}"
        return f"{text}:  {self.source}" if self.source else text


def _is_source(name: str) -> bool:
    """Return whether a file that a text names is a program of a size that is worth opening for one line of it."""
    if not name.endswith(SOURCES):
        return False
    try:
        found = os.stat(name)
    except (OSError, ValueError):
        return name in linecache.cache
    return stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_SOURCE


def _cell(filename: str) -> str:
    """Return ``Cell In[3]`` for the file that IPython makes up for a cell, empty for others."""
    notebook = sys.modules.get("IPython")
    shell = None if notebook is None else notebook.get_ipython()
    name = getattr(getattr(shell, "compile", None), "format_code_name", None)  # IPython 8 has it
    return " ".join(name(filename) or ()) if name is not None else ""


@record(slots=True, eq=False)
class WrittenLocation(Location):
    """A location that a StableHLO text gives in several parts: names, call sites, fusions, ranges.

    Attributes
    ----------
    parts : tuple of str and Location
        Its text, in which other locations stand for theirs.
    has_place : bool
        A part of it is in a file; otherwise its place is that in the StableHLO text itself.
    owner : Location or None
        Where the op that it is of stands in the StableHLO text.
    """

    parts: tuple[str | Location, ...] = ()
    has_place: bool = False
    owner: Location | None = None
    __eq__ = object.__eq__
    __hash__ = object.__hash__  # of two that lead to one place, neither is the other

    def point(self) -> str:
        """Return where the op stands in the text, ``from`` where; without an op, as for other locations."""
        if self.owner is None:
            return Location.point(self)  # a class with slots is made anew: super() does not find it
        here = self.owner.point()
        return f"{here}, from {Location.point(self)}" if self.has_place else here

    def places(self) -> Iterator[Location]:
        """Return the locations that it is made of."""
        return iter([part for part in self.parts if isinstance(part, Location)])

    def take_place(self) -> None:
        """Be where the first of the parts is that is in a file."""
        for part in self.places():
            if part is not UNKNOWN and (not isinstance(part, WrittenLocation) or part.has_place):
                self.be_at(part)
                return

    def be_at(self, place: Location) -> None:
        """Have the file, line and column of another location."""
        self.code, self.offset, self.name, self.column = place.code, place.offset, place.name, place.column
        self.has_place = True


_scope = ScopedValue("")


@contextmanager
def inside_scope(name: str) -> Iterator[None]:
    """Give a name to all locations that are captured in a block, behind those of the blocks around it."""
    outer = _scope.get()
    with _scope.bound(f"{outer}/{name}" if outer else name):
        yield


UNKNOWN = Location(None, 0, "unknown")


def capture_location(own: int = 0) -> Location:
    """Return the innermost frame of the user's, or the place of the op that numhlo does again.

    Parameters
    ----------
    own : int, optional
        Frames around the call that are known to be numhlo's: each that is looked at makes an object of it.
    """
    frame: FrameType | None = sys._getframe(1 + own)
    assert frame is not None
    while kind := _KINDS[frame.f_code.co_filename]:
        if kind == REPLAYING and frame.f_code.co_name in REPLAYING_FUNCTIONS:
            location: Location = frame.f_locals["op"].location
            if location is not UNKNOWN:
                return location
        frame = frame.f_back
        if frame is None:
            return UNKNOWN
    return Location(frame.f_code, frame.f_lasti, scope=_scope.get())


USERS, SKIPPED, REPLAYING = range(3)
REPLAYING_FILES = tuple(
    os.path.join(_FOLDERS[0], "tracer", *names)
    for names in (("batching", "table.py"), ("differentiation", "table.py"), ("replay.py",))
)
REPLAYING_FUNCTIONS = frozenset({"batch_op", "op", "pull_back", "replay_op"})
"""What takes an ``op`` and binds others in its stead: a transformation, which the user's line did not ask for."""


_STANDARD = os.path.dirname(linecache.__file__) + os.sep
_INSTALLED = tuple(f"{_STANDARD}{name}{os.sep}" for name in ("site-packages", "dist-packages"))


def is_library(filename: str) -> bool:
    """Return whether code is numhlo's, NumPy's, SciPy's or of Python's standard library."""
    return _KINDS[filename] != USERS


def _is_standard(filename: str) -> bool:
    return filename.startswith(_STANDARD) and not filename.startswith(_INSTALLED)


class _Kinds(dict[str, int]):
    """What a file is, found once each: every op that is traced asks it of a dozen frames."""

    def __missing__(self, filename: str) -> int:
        skipped = filename.startswith((*SKIPPED_FOLDERS, "<frozen ")) or _is_standard(filename)
        kind = self[filename] = REPLAYING if filename in REPLAYING_FILES else SKIPPED if skipped else USERS
        return kind


_KINDS = _Kinds()
