"""Reading .npy files of numbers that nobody vouches for: their header is checked here before memory is taken.

NumPy's own reader evaluates the header as Python and asks for memory for whatever shape it says. This one knows plain
numbers only: no structures, no Python objects, no archives. Writing is `numpy.save`'s.
"""

from __future__ import annotations

import math
import os
import re
import stat
import struct
from typing import IO

import numpy as np

from numhlo.lowering.ir.errors import ArgumentError, OutOfMemoryError

MAGIC = b"\x93NUMPY"
ARCHIVE = b"PK\x03\x04"
LENGTHS = {(1, 0): "<H", (2, 0): "<I", (3, 0): "<I"}
"""How the length of the header is stored, by the format's version."""

LONGEST_HEADER = 1 << 12
"""Bytes: a header of 64 dimensions of 20 digits has some 1500, and those of structures are refused anyway."""

MOST_DIMENSIONS = 64
LARGEST_ARRAY = 2**63 - 1

_ENTRY = re.compile(r" *'(descr|fortran_order|shape)' *: *('[^']*'|True|False|\([^()]*\)) *(,|(?=\}))")
_DTYPE = re.compile(r"'[<>|=]?(?:[?biufc]\d{1,2}|V\d{1,2})'\Z", re.ASCII)
_EXTENT = r"(?:0|[1-9]\d{0,18})"
_SHAPE = re.compile(rf"\((?:|{_EXTENT},|{_EXTENT}(?:, ?{_EXTENT})+,?)\)\Z", re.ASCII)


class _MalformedError(Exception):
    """What is wrong with a file."""


def read_array(path: str) -> np.ndarray:
    """Return the array that a .npy file holds.

    Parameters
    ----------
    path : str

    Raises
    ------
    ArgumentError
        If the file is none, or does not hold what its header says. If it is a pipe.
    OutOfMemoryError
        If it is larger than what memory there is.
    OSError
        If it can't be opened or read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "x.npy")
    ...     np.save(path, np.arange(6.0).reshape(2, 3))
    ...     read_array(path)
    array([[0., 1., 2.],
           [3., 4., 5.]])
    """
    if stat.S_ISFIFO(os.stat(path).st_mode):
        raise ArgumentError(
            f"{path} is a pipe", why="the size of an array's file is compared with its shape", fix="give a file"
        )
    with open(path, "rb") as file:
        try:
            dtype, is_fortran, shape = _read_header(path, file)
            return _read_elements(file, dtype, is_fortran, shape)
        except _MalformedError as error:
            raise ArgumentError(
                f"{path} is no .npy file of numbers", why=str(error), fix="write it with numpy.save"
            ) from None
        except MemoryError:
            raise OutOfMemoryError(f"{path}: no memory for the array that it holds") from None


def _read_header(path: str, file: IO[bytes]) -> tuple[np.dtype, bool, tuple[int, ...]]:
    start = file.read(len(MAGIC) + 2)
    if start.startswith(ARCHIVE):
        raise ArgumentError(f"{path} holds several arrays", fix="give each as a .npy file")
    if not start.startswith(MAGIC) or len(start) < len(MAGIC) + 2:
        raise _MalformedError("it does not begin as one")
    version = start[len(MAGIC)], start[len(MAGIC) + 1]
    kind = LENGTHS.get(version)
    if kind is None:
        raise _MalformedError(f"its version is {version[0]}.{version[1]}, not 1.0, 2.0 or 3.0")
    field = file.read(struct.calcsize(kind))
    if len(field) < struct.calcsize(kind):
        raise _MalformedError("it ends within its header")
    (length,) = struct.unpack(kind, field)
    if length > LONGEST_HEADER:
        raise _MalformedError(f"its header has {length} bytes; plain numbers need at most {LONGEST_HEADER}")
    header = file.read(length)
    if len(header) < length:
        raise _MalformedError("it ends within its header")
    if not header.isascii():
        raise _MalformedError("its header is not ASCII")
    return _parse_header(header.decode("ascii"))


def _parse_header(header: str) -> tuple[np.dtype, bool, tuple[int, ...]]:
    """Return the type, whether the first index moves fastest, and the shape."""
    text = header.strip(" \n")
    entries: dict[str, str] = {}
    place = 1
    while match := _ENTRY.match(text, place):
        if match[1] in entries:
            raise _MalformedError(f"its header says {match[1]} twice")
        entries[match[1]] = match[2]
        place = match.end()
    if text[:1] != "{" or text[place:].strip(" ") != "}" or len(entries) != 3:
        raise _MalformedError("its header is not the three entries descr, fortran_order and shape")
    if not _DTYPE.match(entries["descr"]) or entries["fortran_order"] not in {"True", "False"}:
        raise _MalformedError(f"its elements are {entries['descr'][:40]}, which are not numbers")
    if not _SHAPE.match(entries["shape"]):
        raise _MalformedError("its shape is not a tuple of integers")
    shape = tuple([int(n) for n in re.findall(r"\d+", entries["shape"])])
    return _dtype(entries["descr"].strip("'")), entries["fortran_order"] == "True", shape


def _dtype(text: str) -> np.dtype:
    try:
        return np.dtype(text)
    except TypeError:
        raise _MalformedError(f"its elements are {text}, which NumPy does not have") from None


def _read_elements(file: IO[bytes], dtype: np.dtype, is_fortran: bool, shape: tuple[int, ...]) -> np.ndarray:
    """Return as many elements as the shape has, if the file holds just those."""
    if len(shape) > MOST_DIMENSIONS:
        raise _MalformedError(f"its shape has {len(shape)} dimensions; NumPy has at most {MOST_DIMENSIONS}")
    if math.prod([max(n, 1) for n in shape]) * dtype.itemsize > LARGEST_ARRAY:
        raise _MalformedError("its shape is that of no array: sizes are counted in 64 bits")
    wanted = math.prod(shape) * dtype.itemsize
    held = os.fstat(file.fileno()).st_size - file.tell()
    if held != wanted:
        raise _MalformedError(f"its shape {list(shape)} takes {wanted} bytes, and it holds {held}")
    flat = np.fromfile(file, dtype, math.prod(shape)) if wanted else np.empty(math.prod(shape), dtype)
    if flat.nbytes != wanted:
        raise _MalformedError("it became shorter while it was read")
    return flat.reshape(shape, order="F" if is_fortran else "C")
