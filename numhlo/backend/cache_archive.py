"""Kernels of a disk cache in one file, to carry them elsewhere: `export_kernels` writes it, `import_kernels` reads it.

The file is a zip of the cache's own files under their names. Where they come to, they are found by the same key as
ever, which holds versions and the processor: kernels of another machine are never run, they only take up room. The
hash in each file tells damage, not malice: whoever made the file decides what runs.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from numhlo.backend.disk_cache import NAME, DiskCache, unpack
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError

MOST_BYTES = 64 << 20
"""What one kernel may take; much more than any does."""


def export_kernels(cache: DiskCache, archive: Path) -> int:
    """Write all kernels of a cache into a new file, and return how many there are.

    Raises
    ------
    OSError
        If the file exists, or can't be written.
    """
    count = 0
    with zipfile.ZipFile(archive, "x", zipfile.ZIP_DEFLATED) as target:
        for _, path in sorted(cache.files(), key=lambda found: found[1]):
            try:
                data = path.read_bytes()
            except OSError:
                continue  # removed meanwhile
            if unpack(data) is not None:
                target.writestr(path.name, data)
                count += 1
    return count


def import_kernels(cache: DiskCache, archive: Path) -> int:
    """Add the kernels in a file that `export_kernels` wrote to a cache, and return how many there are.

    Raises
    ------
    ArgumentError
        If the file is something else, or damaged; nothing is added then.
    OSError
        If it can't be read, or the cache can't be written.
    """
    try:
        with zipfile.ZipFile(archive) as source:
            found = dict(_kernels(source, archive))
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise ArgumentError(f"{archive} is no file of kernels", where=capture_location(), why=str(error)) from error
    for name, data in found.items():
        cache.put(name, data)
    cache.sweep()
    return len(found)


def _kernels(source: zipfile.ZipFile, archive: Path) -> Iterator[tuple[str, bytes]]:
    for entry in source.infolist():
        good = NAME.fullmatch(entry.filename) and entry.file_size <= MOST_BYTES
        data = source.read(entry) if good else b""
        if unpack(data) is None:
            raise ArgumentError(
                f"{archive} is no file of kernels", where=capture_location(), why=f"{entry.filename!r} in it is none"
            )
        yield entry.filename, data
