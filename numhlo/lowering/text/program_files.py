"""Reading a program's file whole: devices are refused, and pipes that nobody writes into, as both may have no end."""

from __future__ import annotations

import os
import stat
from os import PathLike
from pathlib import Path

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError


def read_whole(path: str | PathLike[str]) -> bytes:
    """Return a file's bytes.

    Raises
    ------
    UnsupportedError
        If it is a device, or a pipe that nobody writes into.
    """
    mode = Path(path).stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise UnsupportedError(
            f"{path} is a device, not a file",
            where=capture_location(),
            why="devices may have no end, and a program is read whole",
            fix="give a file, or pass what you have read to parse or deserialize",
        )
    return _read_pipe(path) if stat.S_ISFIFO(mode) else Path(path).read_bytes()


def _read_pipe(path: str | PathLike[str]) -> bytes:
    """Return all that is written into a pipe; a writer that is not there yet is not waited for, as none may come."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(number, "rb", buffering=0) as pipe:
        begin = pipe.read(1)  # None if somebody is about to write
        os.set_blocking(number, True)
        if begin != b"":
            return (begin or b"") + pipe.read()
    raise UnsupportedError(
        f"{path} is a pipe that nobody writes into",
        where=capture_location(),
        why="to wait for a writer could take for ever",
        fix="give a file, or begin to write first",
    )


def decoded(data: bytes, name: str) -> str:
    """Return the text that data are.

    Raises
    ------
    UnsupportedError
        If they are none; ``name`` says whose they are.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UnsupportedError(
            f"{name} is neither text nor MLIR bytecode",
            where=capture_location(),
            why="numhlo reads StableHLO and HLO as text",
            fix="for an artifact of jax.export: str(jax.export.deserialize(data).mlir_module())",
        ) from None
