"""Reading MLIR bytecode: plain, or a portable artifact of StableHLO, whose ops are vhlo's.

What is malformed is a `ParseError` that names the section and the byte. Time and memory are linear in the size of the
file: counts are checked against the bytes that are left, and nothing nests deeper than text may.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from numhlo.lowering.bytecode import builtin, hlo_dialects, replica_groups, shardings  # noqa: F401 - importing them fills the tables of encodings
from numhlo.lowering.bytecode.container import MAGIC, Container, read_container
from numhlo.lowering.bytecode.cursor import MalformedError
from numhlo.lowering.bytecode.module_reader import ModuleReader
from numhlo.lowering.bytecode.operations import OperationReader
from numhlo.lowering.bytecode.vhlo_printer import VhloPrinter
from numhlo.lowering.ir import Module
from numhlo.lowering.ir.errors import ParseError

T = TypeVar("T")


def read_bytecode(data: bytes, name: str = "<bytecode>") -> Module:
    """Return the module that bytecode holds.

    Parameters
    ----------
    data : bytes
        Constants are views of it where their elements are aligned in it.
    name : str
        The file's, for messages.

    Raises
    ------
    ParseError
        If the bytes are malformed, or hold what StableHLO does not have.
    """
    return refusing(data, name, lambda container: ModuleReader(container).read(OperationReader(container).read()))


def print_artifact(data: bytes, name: str = "<bytecode>") -> str:
    """Return the text of a portable artifact, in the dialect vhlo.

    Raises
    ------
    ParseError
        As `read_bytecode`.
    UnsupportedError
        If vhlo's text has no form for a type.
    """
    return refusing(data, name, lambda container: VhloPrinter(container).print(OperationReader(container).read()))


def refusing(data: bytes, name: str, read: Callable[[Container], T]) -> T:
    """Return what is read of a container; what is malformed is an error that says where."""
    producer = ""
    try:
        container = read_container(data)
        producer = container.producer
        return read(container)
    except MalformedError as error:
        place = f"section of {error.section}, " if error.section else ""
        byte = f"byte {error.offset}" if error.offset >= 0 else "no byte of its own"
        raise ParseError(
            f"{name} is no bytecode that can be read: {error.what}",
            why=f"{place}{byte} of {len(data)}{f', written by {producer}' if producer else ''}",
        ) from None


__all__ = ["MAGIC", "print_artifact", "read_bytecode"]
