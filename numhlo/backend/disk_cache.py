"""Object code on disk, found by content: the key is a hash of everything that decides what the bytes are.

A file holds a mark, its key, a hash of key and code, and the code; it is written under another name and moved into
place, read only if this user owns it and nobody else may write it (`trusted_files`), and never unpickled or run before
its hash and its key are checked. A bad file is a miss, and so is one that has another kernel's name. A folder that
can't be used is one warning. What was not used for longest goes when the folder grows too large.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import sys
import tempfile
import time
import warnings
from functools import lru_cache
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm
import ml_dtypes
import numpy as np

from numhlo.backend.front_ends import front_end
from numhlo.backend.own_text import own_files
from numhlo.backend.program import Kernel
from numhlo.backend.target import processor
from numhlo.backend.trusted_files import MOST_BYTES as MOST_ENTRY_BYTES
from numhlo.backend.trusted_files import distrust, read_trusted

MARK = b"numhlo kernel 2\n"
KEY_BYTES = HASH_BYTES = 32
HEAD = len(MARK) + KEY_BYTES + HASH_BYTES
ABI = 1
SUFFIX = ".kernel"
UNFINISHED = "unfinished-"
NAME = re.compile(rf"[0-9a-f]{{64}}{re.escape(SUFFIX)}")
UNFINISHED_NAME = re.compile(rf"{UNFINISHED}\w+{re.escape(SUFFIX)}")
"""Nothing else is ever removed: the folder may be one that holds other things."""
MOST_BYTES = 256 << 20
KEPT_SHARE = 0.8
SWEEP_EVERY = 256
TOUCH_SECONDS = 3600.0
PREPARED = Path(__file__).parent / "prepared"
"""Where an installation keeps what `preparing` has compiled; as trusted as the package that it is in."""
INLINED = ("primitives", "vector_math", "kernels", "compiler")


def default_folder() -> Path | None:
    """Return where kernels are kept: ``NUMHLO_CACHE_DIR``, else the platform's place for caches, else None.

    An empty ``NUMHLO_CACHE_DIR`` means that nothing is kept.
    """
    chosen = os.environ.get("NUMHLO_CACHE_DIR")
    if chosen is not None:
        return Path(chosen) if chosen else None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return Path(base) / "numhlo" / "kernels" if base else None
    if sys.platform == "darwin":
        base, tail = "~/Library/Caches", "numhlo/kernels"
    else:
        base, tail = os.environ.get("XDG_CACHE_HOME") or "~/.cache", "numhlo/kernels"
    home = Path(os.path.expanduser(base))  # unlike Path.expanduser, never raises
    return home / tail if home.is_absolute() else None


def numba_version() -> bytes:
    """Return what tells one Numba from another: the file with its version, else its metadata, which take 2 ms to read.

    Numba itself is not imported.
    """
    found = importlib.util.find_spec("numba")
    if found is not None and found.origin is not None:
        with contextlib.suppress(OSError):
            return Path(found.origin).with_name("_version.py").read_bytes()
    version: str = importlib.import_module("importlib.metadata").version("numba")  # which loads an e-mail parser
    return version.encode()


@lru_cache(maxsize=1)
def fingerprint() -> bytes:
    """Return a hash of all that goes into object code besides the kernel's own source.

    The text of everything that a kernel may inline, the compiler's own text, versions, the processor, the front end.
    """
    found = hashlib.sha256(f"{ABI} {sys.version_info[:3]} {sys.implementation.name} {sys.byteorder}".encode())
    versions = (llvmlite.__version__, np.__version__, ml_dtypes.__version__)
    found.update(numba_version() + f"{' '.join(versions)} {llvm.llvm_version_info}".encode())
    found.update(repr((processor(), llvm.get_process_triple(), front_end())).encode())
    for package in INLINED:
        for path, text in own_files(package):
            found.update(path.encode() + b"\0" + text)
    return found.digest()


def pack(key: str, code: bytes) -> bytes:
    """Return the content of the file that is named by a key."""
    name = bytes.fromhex(key)
    return MARK + name + hashlib.sha256(name + code).digest() + code


def unpack(key: str, data: bytes) -> bytes | None:
    """Return the object code in the content of the file that is named by a key; None where it is damaged or another's.

    Examples
    --------
    >>> key, other = "01" * 32, "02" * 32
    >>> unpack(key, pack(key, b"code")), unpack(other, pack(key, b"code"))
    (b'code', None)
    """
    code, name, found = data[HEAD:], data[len(MARK) : len(MARK) + KEY_BYTES], data[len(MARK) + KEY_BYTES : HEAD]
    if data[: len(MARK)] != MARK or name != bytes.fromhex(key) or hashlib.sha256(name + code).digest() != found:
        return None
    return code


def cache_key(kernel: Kernel) -> str:
    """Return the name under which a kernel's object code is kept."""
    text = kernel.name.encode() + b"\0" + kernel.source.encode()
    return hashlib.sha256(fingerprint() + text).hexdigest()


class DiskCache:
    """A folder of object code.

    Parameters
    ----------
    folder : Path or None
        None keeps nothing.
    most_bytes : int
        What is kept at most, roughly: it is checked every `SWEEP_EVERY` files.
    """

    def __init__(self, folder: Path | None, most_bytes: int = MOST_BYTES) -> None:
        self.folder = folder
        self.most_bytes = most_bytes
        self._checked = False
        self._problem = "" if folder else "none is set"
        self._written = 0

    def read(self, kernel: Kernel) -> bytes | None:
        """Return a kernel's object code, or None; what the installation has been prepared with counts, too."""
        key = cache_key(kernel)
        code = self._read_own(key)
        return _prepared(key) if code is None else code

    def _read_own(self, key: str) -> bytes | None:
        folder = self._usable_folder()
        if folder is None:
            return None
        path = folder / (key + SUFFIX)
        try:
            data, status = read_trusted(path)
        except OSError:
            return None
        code = unpack(key, data)
        if code is None:
            _remove(path)
        elif time.time() - status.st_mtime > TOUCH_SECONDS:
            _touch(path)
        return code

    def write(self, kernel: Kernel, code: bytes) -> None:
        """Keep a kernel's object code."""
        folder = self._usable_folder()
        if folder is None or HEAD + len(code) > MOST_ENTRY_BYTES:
            return
        key = cache_key(kernel)
        try:
            self.put(key + SUFFIX, pack(key, code))
        except OSError as error:
            self._give_up(str(error))
            return
        if self._written % SWEEP_EVERY == 0:
            self.sweep()
        self._written += 1

    def put(self, name: str, data: bytes) -> None:
        """Write a file whole, or not at all.

        Raises
        ------
        OSError
            If that fails.
        """
        folder = self._usable_folder()
        if folder is None:
            raise FileNotFoundError("there is no folder for kernels")
        try:
            handle, temporary = tempfile.mkstemp(SUFFIX, UNFINISHED, folder)  # for us alone to read and write
        except FileNotFoundError:  # the user removed the folder meanwhile
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(SUFFIX, UNFINISHED, folder)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            os.replace(temporary, folder / name)
        except BaseException:
            _remove(Path(temporary))
            raise

    def files(self) -> list[tuple[os.stat_result, Path]]:
        """Return the kernels' files and their states; what is not a kernel's file is left out."""
        return [(status, path) for status, path in self._entries() if NAME.fullmatch(path.name)]

    def is_empty(self) -> bool:
        """Return whether there is no kernel."""
        folder = self._usable_folder()
        if folder is None:
            return True
        try:
            with os.scandir(folder) as entries:
                return not any(NAME.fullmatch(entry.name) for entry in entries)
        except OSError:
            return True

    def _entries(self) -> list[tuple[os.stat_result, Path]]:
        found = []
        try:
            for entry in os.scandir(self.folder or ""):
                with contextlib.suppress(OSError):  # another process removed it
                    found.append((entry.stat(follow_symlinks=False), Path(entry.path)))
        except OSError:
            return found  # there is no such folder
        return found

    def sweep(self) -> None:
        """Remove what was not used for longest if the folder is too large, and files that were never finished."""
        for status, path in self._entries():
            if UNFINISHED_NAME.fullmatch(path.name) and time.time() - status.st_mtime > TOUCH_SECONDS:
                _remove(path)
        found = sorted((status.st_mtime, status.st_size, path) for status, path in self.files())
        total = sum(size for _, size, _ in found)
        if total <= self.most_bytes:
            return
        for _, size, path in found:
            _remove(path)
            total -= size
            if total <= KEPT_SHARE * self.most_bytes:
                break

    def clear(self) -> int:
        """Remove all kernels, and files that were never finished; return how many kernels there were."""
        count = len(self.files())
        for _, path in self._entries():
            if NAME.fullmatch(path.name) or UNFINISHED_NAME.fullmatch(path.name):
                _remove(path)
        return count

    @property
    def problem(self) -> str:
        """Return why the folder can't be used, or an empty string."""
        self._usable_folder()
        return self._problem

    def _usable_folder(self) -> Path | None:
        if self._checked or self.folder is None:
            return self.folder
        self._checked = True
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            problem = distrust(self.folder.lstat())
        except OSError as error:
            problem = str(error)
        if problem:
            self._give_up(problem)
        return self.folder

    def _give_up(self, reason: str) -> None:
        folder, self.folder, self._problem = self.folder, None, reason
        if folder is not None:
            warnings.warn(
                f"numhlo keeps no compiled kernels in {folder}: {reason}; set NUMHLO_CACHE_DIR to another folder",
                RuntimeWarning,
                stacklevel=2,
            )


def _prepared(key: str) -> bytes | None:
    try:
        return unpack(key, (PREPARED / (key + SUFFIX)).read_bytes())
    except OSError:
        return None


def _touch(path: Path) -> None:
    with contextlib.suppress(OSError):  # read-only or gone: then it only looks older than it is
        os.utime(path)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # not ours to remove: it stays a miss
        path.unlink(missing_ok=True)
