"""MLIR bytecode and portable artifacts: reading and writing, with nothing but NumPy."""

from numhlo.lowering.bytecode.reader import MAGIC, read_bytecode
from numhlo.lowering.bytecode.writer import write_artifact

__all__ = ["MAGIC", "read_bytecode", "write_artifact"]
