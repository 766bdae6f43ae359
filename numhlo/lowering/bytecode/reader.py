"""Reading MLIR bytecode: plain, or a portable artifact of StableHLO, whose ops are vhlo's.

What is malformed is a `ParseError` that names the section and the byte. Time and memory are linear in the size of the
file: counts are checked against the bytes that are left, and nothing nests deeper than text may.
"""

from __future__ import annotations

from numhlo.lowering.bytecode import builtin, hlo_dialects, shardings  # noqa: F401 - importing them fills the tables of encodings
from numhlo.lowering.bytecode.container import MAGIC, read_container
from numhlo.lowering.bytecode.cursor import MalformedError
from numhlo.lowering.bytecode.module_reader import ModuleReader
from numhlo.lowering.bytecode.operations import OperationReader
from numhlo.lowering.ir import Module
from numhlo.lowering.ir.errors import ParseError


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
    producer = ""
    try:
        container = read_container(data)
        producer = container.producer
        return ModuleReader(container).read(OperationReader(container).read())
    except MalformedError as fault:
        place = f"section of {fault.section}, " if fault.section else ""
        byte = f"byte {fault.offset}" if fault.offset >= 0 else "no byte of its own"
        raise ParseError(
            f"{name} is no bytecode that can be read: {fault.what}",
            why=f"{place}{byte} of {len(data)}{f', written by {producer}' if producer else ''}",
        ) from None


__all__ = ["MAGIC", "read_bytecode"]
