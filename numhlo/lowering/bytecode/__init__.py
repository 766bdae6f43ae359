"""MLIR bytecode and portable artifacts: reading and writing, with nothing but NumPy."""

from numhlo.lowering.bytecode.reader import MAGIC, print_artifact, read_bytecode
from numhlo.lowering.bytecode.vhlo_parser import MARK, parse_vhlo
from numhlo.lowering.bytecode.writer import write_artifact

__all__ = ["MAGIC", "MARK", "parse_vhlo", "print_artifact", "read_bytecode", "write_artifact"]
