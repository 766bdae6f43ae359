"""Files that hold code to be run: read only if nobody else can have written them, and nothing led elsewhere.

What is said of a file that is refused is the same for the kernel cache, for archives of kernels, and for folders.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

MOST_BYTES = 64 << 20
"""Bytes of one kernel's file at most; the largest kernels of numhlo's tests take less than one MiB."""


class UntrustedFileError(PermissionError):
    """A file or folder is there, but what is in it must not be run; the message says why."""


def distrust(status: os.stat_result) -> str:
    """Return why code in a file or folder of this state may not be run, or an empty string."""
    if stat.S_ISLNK(status.st_mode):
        return "it is a symbolic link"
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        return "it is no plain file"
    if not hasattr(os, "geteuid"):
        return ""
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "other users may write it"
    return ""


def open_trusted(path: Path, most_bytes: int) -> int:
    """Return a descriptor of a plain file of our own that only we can write, and of so many bytes at most.

    Raises
    ------
    UntrustedFileError
        If it is something else.
    OSError
        If there is none, or it can't be opened.
    """
    problem = distrust(os.lstat(path))  # says what `O_NOFOLLOW` alone would only refuse
    if problem:
        raise UntrustedFileError(problem)
    flags = [getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC")]
    handle = os.open(path, os.O_RDONLY | sum(flags))
    try:
        status = os.fstat(handle)
        problem = distrust(status) or ("" if stat.S_ISREG(status.st_mode) else "it is no plain file")
        if status.st_size > most_bytes:
            problem = problem or f"it is larger than {most_bytes >> 20} MiB"
        if problem:
            raise UntrustedFileError(problem)
    except BaseException:
        os.close(handle)
        raise
    return handle


def read_trusted(path: Path, most_bytes: int = MOST_BYTES) -> tuple[bytes, os.stat_result]:
    """Return a file's bytes and its state.

    Raises
    ------
    UntrustedFileError
        As `open_trusted`.
    OSError
        If there is none, or it can't be read.
    """
    with os.fdopen(open_trusted(path, most_bytes), "rb") as stream:
        status = os.fstat(stream.fileno())
        data = stream.read(status.st_size + 1)  # as much memory as the file says that it needs
        if len(data) > status.st_size:
            raise UntrustedFileError("it grows while it is read")
        return data, status
