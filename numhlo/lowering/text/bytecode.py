"""MLIR bytecode, by the official reader and writer where jaxlib is installed; numhlo itself reads and writes text.

A portable artifact is bytecode of the dialect vhlo, which later versions of StableHLO read, too. This file knows how to
turn either into text and text into an artifact; it refuses to know what the text says. `official_tool` does it in a
process of its own: what is malformed ends that process, not this one.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from numhlo.lowering.ir.errors import UnsupportedError

MAGIC = b"ML\xefR"
"""The first bytes of MLIR's binary form."""

PORTABLE = b"StableHLO_v"
"""What a portable artifact has for its producer, behind `MAGIC` and one byte."""

TOOL = Path(__file__).with_name("official_tool.py")

LEAST_SECONDS, BYTES_A_SECOND = 30, 1 << 20
"""Time that the process may take: to start, and for the data."""

LEAST_MEMORY, TIMES_LARGER = 2 << 30, 24
"""Bytes of address space that the process may take: jaxlib itself has 0.4 GiB; the text of constants has two digits for
each byte, and stands in memory as jaxlib's, as Python's and as bytes."""


def read_bytecode(data: bytes) -> str:
    """Return the text of a program in bytecode, with locations.

    Raises
    ------
    UnsupportedError
        If jaxlib is not there, or does not understand the data, or takes too much time or memory to.
    """
    is_portable = data[len(MAGIC) + 1 :].startswith(PORTABLE)
    found, error = _ask("read", data, {"portable": is_portable})
    if found is None:
        raise UnsupportedError(
            "jaxlib can't read this bytecode",
            why=error,
            fix="it knows StableHLO, CHLO, mhlo and sdy: export text, which may hold more",
        )
    return found.decode()


def write_bytecode(text: str, version: str | None = None) -> bytes:
    """Return a program as a portable artifact.

    Parameters
    ----------
    text : str
        Of the program.
    version : str, optional
        The version of StableHLO that must be able to read it, such as ``"1.0.0"``; by default jaxlib's own.

    Raises
    ------
    UnsupportedError
        If jaxlib is not there, or refuses the program.
    """
    found, error = _ask("write", text.encode(), {"version": version})
    if found is None:
        raise UnsupportedError("jaxlib can't write this program as a portable artifact", why=error)
    return found


def _ask(task: str, data: bytes, options: dict[str, Any]) -> tuple[bytes | None, str]:
    """Return the tool's result, or None and why there is none."""
    seconds = LEAST_SECONDS + len(data) // BYTES_A_SECOND
    memory = LEAST_MEMORY + TIMES_LARGER * len(data)
    question = {"task": task, "options": options, "folders": _folders(), "memory": memory, "seconds": seconds}
    try:
        process = subprocess.run(
            [sys.executable, "-I", "-S", "-W", "ignore", os.fspath(TOOL)],
            input=json.dumps(question).encode() + b"\n" + data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # of no bounded length
            timeout=seconds,
            check=False,
            cwd=os.sep,  # the user's folder may go away
        )
    except subprocess.TimeoutExpired:
        return None, f"it takes more than {seconds} s"
    except OSError as error:
        return None, f"it runs in a process of its own, which can't be started: {error}"
    head, _, result = process.stdout.partition(b"\n")
    if process.returncode or not head:
        return None, _end(process.returncode)
    answer = json.loads(head)
    if "missing" in answer:
        raise _missing(answer["missing"])
    return (None, answer["error"]) if answer["error"] else (result, "")


def _folders() -> list[str]:
    """Return where the tool finds jaxlib, NumPy and what both need."""
    found = [(name, importlib.util.find_spec(name)) for name in ("jaxlib", "numpy", "ml_dtypes")]
    for name, spec in found:
        if spec is None:
            raise _missing(f"no module named {name}")
    places = [place for _, spec in found for place in (spec and spec.submodule_search_locations) or ()]
    return list(dict.fromkeys([os.path.dirname(os.path.abspath(place)) for place in places]))


def _missing(why: str) -> UnsupportedError:
    return UnsupportedError(
        "MLIR bytecode is read and written by jaxlib, which can't be imported",
        why=why,
        fix="install jaxlib; or use text: str(exported.mlir_module()) for jax.export, "
        "or stablehlo-translate --deserialize",
    )


def _end(code: int) -> str:
    """Return how the tool's process ended."""
    if code >= 0:
        return f"it ended with exit code {code}"
    names = {int(number): number.name for number in signal.Signals}
    return f"it ended by signal {names.get(-code, -code)}"
