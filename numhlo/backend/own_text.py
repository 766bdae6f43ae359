"""The text of numhlo's own files, which kernels are made of, wherever this package lies: in a folder, or an archive."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numhlo.lowering.ir.errors import UnsupportedError

FOLDER = Path(__file__).parent
MISSING = (
    "numhlo's own source files are not in this application, and kernels are made of them: "
    "a tool that freezes applications must keep them beside the bytecode (PyInstaller does so by itself where numhlo "
    'was installed by pip; else by `--collect-all numhlo`, or `module_collection_mode = "pyz+py"` in a hook)'
)


def own_text(name: str) -> str:
    """Return the text of a file, named by its path from this package's folder.

    Raises
    ------
    UnsupportedError
        If it isn't there.

    Examples
    --------
    >>> own_text("runtime/native_code/driver.py").startswith('\"\"\"')
    True
    """
    try:
        return (FOLDER / name).read_text(encoding="utf-8")
    except OSError:
        pass
    try:
        found: str = _archived().joinpath(name).read_text(encoding="utf-8")
        return found
    except (OSError, KeyError) as error:
        raise UnsupportedError(MISSING) from error


def own_files(folder: str) -> Iterator[tuple[str, bytes]]:
    """Give the paths and contents of all Python files below a folder of this package, always in the same order.

    Raises
    ------
    UnsupportedError
        If there are none.

    Examples
    --------
    >>> [path for path, _ in own_files("runtime/native_code")][-1]
    'runtime/native_code/trials.py'
    """
    some = False
    for place, folders, names in os.walk(FOLDER / folder):  # in half the time that `Path.rglob` takes
        folders.sort()
        for name in sorted(name for name in names if name.endswith(".py")):
            some = True
            path = os.path.join(place, name)
            with open(path, "rb", buffering=0) as stream:
                yield path[len(os.fspath(FOLDER)) + 1 :], stream.read()
    if some:
        return
    for name, data in _below(_archived().joinpath(folder), folder):
        some = True
        yield name, data
    if not some:
        raise UnsupportedError(MISSING)


def _archived() -> Any:
    """Return this package's folder as its importer shows it."""
    return importlib.import_module("importlib.resources").files(__package__)


def _below(folder: Any, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: str(entry.name)) if folder.is_dir() else ():
        path = f"{name}/{entry.name}"
        if entry.is_dir():
            yield from _below(entry, path)
        elif path.endswith(".py"):
            yield path, entry.read_bytes()
