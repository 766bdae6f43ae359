"""The command line, ``python -m numhlo``: runs, prints and checks programs, and looks after the kernels on disk."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import numhlo
from numhlo.backend.cache_archive import export_kernels, import_kernels
from numhlo.backend.disk_cache import PREPARED, DiskCache, default_folder
from numhlo.backend.preparing import prepare
from numhlo.lowering.ir.counted import counted
from numhlo.lowering.ir.errors import NumhloError
from numhlo.program_commands import add_commands, perform, spaced

UNTRUSTED = (
    "kernels are machine code, which numhlo runs without asking again: "
    "if you trust whoever made {archive}, repeat this with --trust"
)


class RefusedError(Exception):
    """A command that is not done, and why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return the exit status: 0 if it was done, 1 if not; a wrong command line exits with 2.

    Parameters
    ----------
    arguments : sequence of str, optional
        Instead of the command line's.

    Examples
    --------
    >>> import os, tempfile
    >>> main(["cache", "clear", "--folder", os.path.join(tempfile.gettempdir(), "no", "such", "folder")])
    0 kernels removed
    0
    """
    given = parser().parse_args([spaced(text) for text in (sys.argv[1:] if arguments is None else arguments)])
    try:
        text = perform(given) if hasattr(given, "perform") else _run(given)
        sys.stdout.write(_writable(f"{text}\n" if text else ""))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (NumhloError, RefusedError) as error:
        if isinstance(error, NumhloError) and error.where is not None and error.where.code is not None:
            error.where = None  # no line of the program's, but of this command
        return _fail(str(error))
    return 0


def _writable(text: str) -> str:
    """Return a text as standard output can have it: programs may hold characters that the terminal's encoding lacks."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _fail(message: str) -> int:
    sys.stderr.write(f"numhlo: {message}\n")
    return 1


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line."""
    top = argparse.ArgumentParser(
        prog="python -m numhlo", description="Run StableHLO programs, and look after kernels."
    )
    top.add_argument("--version", action="version", version=f"numhlo {numhlo.__version__}")
    commands = top.add_subparsers(required=True, metavar="command")
    add_commands(commands)
    cache = commands.add_parser("cache", help="compiled kernels on disk")
    actions = cache.add_subparsers(dest="action", required=True, metavar="action")
    helps = {
        "info": "say where they are, how many, and how large",
        "clear": "remove them",
        "export": "write them into a file, for another machine like this one",
        "import": "add those in a file",
        "prepare": "compile what every program may need: the runtime's own kernels, and functions of vector math",
    }
    for action, text in helps.items():
        one = actions.add_parser(action, help=text, description=text)
        one.add_argument("--folder", type=Path, help="instead of the usual one")
        if action in {"export", "import"}:
            one.add_argument("archive", type=Path)
        if action == "prepare":
            one.add_argument("--package", action="store_true", help="for all who use this installation, inside of it")
        if action == "import":
            one.add_argument("--trust", action="store_true", help="run the machine code in the file from now on")
    return top


def _run(given: argparse.Namespace) -> str:
    folder = given.folder or (PREPARED if getattr(given, "package", False) else default_folder())
    if folder is None:
        raise RefusedError("nothing is kept: NUMHLO_CACHE_DIR is empty, or there is no home")
    if given.folder and given.action == "export" and not folder.is_dir():
        raise RefusedError(f"there is no folder {folder}")
    cache = DiskCache(folder)
    if given.action == "info":
        return describe(cache, folder)
    if given.action == "clear":
        return f"{counted(cache.clear(), 'kernel')} removed"
    if given.action == "import" and not given.trust:
        raise RefusedError(UNTRUSTED.format(archive=given.archive))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said below
        if cache.problem:
            raise RefusedError(f"{folder} can't be used: {cache.problem}")
    if given.action == "prepare":
        if given.package:
            cache.clear()  # what an older version has left
        kernels, functions = prepare(folder)
        return f"{counted(kernels, 'kernel')} and {counted(functions, 'function')} are in {folder}"
    if given.action == "export":
        return f"{counted(export_kernels(cache, given.archive), 'kernel')} written to {given.archive}"
    return f"{counted(import_kernels(cache, given.archive), 'kernel')} added to {folder}"


def describe(cache: DiskCache, folder: Path) -> str:
    """Return what is in a cache, and whether it is used."""
    sizes = [status.st_size for status, _ in cache.files()]
    lines = [f"{counted(len(sizes), 'kernel')} in {folder}, {sum(sizes) / 2**20:.1f} of {cache.most_bytes >> 20} MiB"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if folder.exists() and cache.problem:
            lines.append(f"not used: {cache.problem}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
