"""Kernels of a disk cache in one file, to carry them elsewhere: `export_kernels` writes it, `import_kernels` reads it.

The file is a zip of the cache's own files under their names. Where they come to, they are found by the same key as
ever, which holds versions and the processor: kernels of another machine are never run, they only take up room. The
hash in each file tells damage, not malice: whoever made the file decides what runs.

Reading takes the memory of one kernel's file (`MOST_BYTES`) and of a directory of `MOST_ENTRIES`, whatever the file
says of itself. What `export_kernels` does not write is refused: links, encryption, other methods of compression.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from numhlo.backend.disk_cache import NAME, SUFFIX, DiskCache, unpack
from numhlo.backend.trusted_files import MOST_BYTES, UntrustedFileError, open_trusted, read_trusted
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError

MOST_ARCHIVE_BYTES = 1 << 30
"""Bytes of an archive, and of all that is in it: four times what a cache keeps."""
MOST_ENTRIES = 65_534
"""Kernels of an archive: as many as a zip without its extension for large files has."""

MOST_ENTRY_TEXT = 128
"""Bytes of the directory for each entry: 46, and a kernel's name."""

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 1
"""Of an entry's flags."""
END_MARK, LARGE_MARK = b"PK\5\6", b"PK\6\7"
END_BYTES, LARGE_BYTES, COMMENT_BYTES = 22, 20, 65_535
"""Of a zip's end, of the mark before it that the extension for large files leaves, and of a comment behind, at most."""
DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error)
"""What reading a damaged zip raises."""


class _RefusedError(Exception):
    """What is wrong with an archive, as a sentence."""


def export_kernels(cache: DiskCache, archive: Path) -> int:
    """Write all kernels of a cache into a new file, and return how many there are.

    Files of the cache that are links, that others may write, or that are damaged are left out.

    Raises
    ------
    OSError
        If the file exists, or can't be written; what was written of it is removed.
    """
    flags = [getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_BINARY", "O_CLOEXEC")]
    handle = os.open(archive, os.O_WRONLY | os.O_CREAT | os.O_EXCL | sum(flags), 0o600)
    try:
        with os.fdopen(handle, "wb") as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
            return _write_kernels(cache, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(archive)
        raise


def _write_kernels(cache: DiskCache, target: zipfile.ZipFile) -> int:
    count = 0
    for _, path in sorted(cache.files(), key=lambda found: found[1]):
        try:
            data, _ = read_trusted(path)
        except OSError:
            continue  # not to be trusted, or removed meanwhile
        if unpack(path.name.removesuffix(SUFFIX), data) is not None:
            target.writestr(path.name, data)
            count += 1
    return count


def import_kernels(cache: DiskCache, archive: Path) -> int:
    """Add the kernels in a file that `export_kernels` wrote to a cache, and return how many there are.

    Raises
    ------
    ArgumentError
        If the file is something else, damaged, a link, or one that others may write; nothing is added then.
    OSError
        If it can't be read, or the cache can't be written.
    """
    try:
        with os.fdopen(open_trusted(archive, MOST_ARCHIVE_BYTES), "rb") as stream:
            _check_end(stream)
            with _opened(stream) as source:
                names = [name for name, _ in _kernels(source)]  # all are good before the first is added
                for name, data in _kernels(source):
                    cache.put(name, data)
    except (UntrustedFileError, _RefusedError) as error:
        raise ArgumentError(f"{archive} is no file of kernels", where=capture_location(), why=str(error)) from error
    cache.sweep()
    return len(names)


def _check_end(stream: IO[bytes]) -> None:
    """Refuse what has no directory, or a larger one than is read: `zipfile` would take all of it into memory."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - END_BYTES - COMMENT_BYTES - LARGE_BYTES))
    tail = stream.read()
    place = tail.rfind(END_MARK)
    if place < 0 or len(tail) - place < END_BYTES:
        raise _RefusedError("it is no zip, or its end is missing")
    entries, directory = struct.unpack_from("<HI", tail, place + 10)
    is_large = tail[max(0, place - LARGE_BYTES) : place].startswith(LARGE_MARK)
    if is_large or entries > MOST_ENTRIES or directory > MOST_ENTRIES * MOST_ENTRY_TEXT:
        raise _RefusedError(f"it says that it has more than {MOST_ENTRIES:,} entries, or is larger than 4 GiB")


@contextlib.contextmanager
def _refusing_damage(what: str) -> Iterator[None]:
    """Refuse an archive for what `zipfile` raises in a block, but not for what the system does."""
    try:
        yield
    except DAMAGES as error:
        raise _RefusedError(f"{what} is damaged: {error}") from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # which is what a place before the begin of the file is
            raise
        raise _RefusedError(f"{what} is damaged: it lies outside the file") from error


def _opened(stream: IO[bytes]) -> zipfile.ZipFile:
    with _refusing_damage("its directory"):
        return zipfile.ZipFile(stream)


def _kernels(source: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    """Yield names and content of all entries, each of which is a kernel's file."""
    entries = source.infolist()
    if len({entry.filename for entry in entries}) < len(entries):
        raise _RefusedError("it has two entries of one name")
    if sum(entry.file_size for entry in entries) > MOST_ARCHIVE_BYTES:
        raise _RefusedError(f"what is in it takes more than {MOST_ARCHIVE_BYTES >> 20} MiB")
    for entry in entries:
        problem = _problem(entry)
        if problem:
            raise _RefusedError(f"{_shown(entry)} in it {problem}")
        with _refusing_damage(f"{_shown(entry)} in it"), source.open(entry) as opened:
            data = opened.read(MOST_BYTES + 1)
        if unpack(entry.filename.removesuffix(SUFFIX), data) is None:
            raise _RefusedError(f"{_shown(entry)} in it is damaged, or is another kernel than its name says")
        yield entry.filename, data


def _shown(entry: zipfile.ZipInfo) -> str:
    return ascii(entry.filename[:80])


def _problem(entry: zipfile.ZipInfo) -> str:
    """Return what keeps an entry from being read, or an empty string."""
    if not NAME.fullmatch(entry.filename):
        return "has no kernel's name"
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "is a symbolic link" if kind == stat.S_IFLNK else "is no plain file"
    if entry.flag_bits & ENCRYPTED:
        return "is encrypted"
    if entry.compress_type not in METHODS:
        return f"is compressed by method {entry.compress_type}, by which no kernels are"
    if entry.file_size > MOST_BYTES:
        return f"is larger than {MOST_BYTES >> 20} MiB"
    return ""
