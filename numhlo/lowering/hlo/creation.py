"""Instructions without operands: constants, iota, and the numbers of this process."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.hlo.literals import print_literal
from numhlo.lowering.hlo.record import Instruction
from numhlo.lowering.hlo.tables import WRITE, Bundle, reads
from numhlo.lowering.hlo.translator import Translator
from numhlo.lowering.hlo.writer import Writer
from numhlo.lowering.ir import Op
from numhlo.lowering.ops import communication, creation
from numhlo.lowering.text.dense_printer import is_splat

LONGEST_LIST = 16
"""Elements of a constant up to which equal ones are written one by one; more are a broadcast of one."""


@reads("constant")
def read_constant(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Make the constant."""
    return t.one(i, creation.CONSTANT, value=i.payload)


@reads("iota", needs="iota_dimension")
def read_iota(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Count along a dimension."""
    t.arrays(i, operands, 0)
    return t.one(i, creation.IOTA, result=t.array_type(i), iota_dimension=i.attributes["iota_dimension"])


@reads("partition-id", "replica-id")
def read_process_id(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Return the process's number along an axis of the grid."""
    t.arrays(i, operands, 0)
    return t.one(i, communication.PARTITION_ID if i.opcode == "partition-id" else communication.REPLICA_ID)


# -- writing


@WRITE.register(creation.CONSTANT)
def write_constant(w: Writer, op: Op) -> None:
    """Write the elements, of equal ones the first."""
    value, type = op.attributes["value"], op.result.tensor
    if value.size > LONGEST_LIST and is_splat(value):
        one = value[(0,) * value.ndim].reshape(())
        name = w.line(f"constant({print_literal(one)})", w.spell(type.with_shape(())), [])
        w.write(op, "broadcast", [name], ["dimensions={}"])
        return
    w.write(op, f"constant({print_literal(value)})", [])


@WRITE.register(creation.IOTA)
def write_iota(w: Writer, op: Op) -> None:
    """Write the dimension."""
    w.write(op, "iota", [], [f"iota_dimension={op.attributes['iota_dimension']}"])


@WRITE.register(communication.PARTITION_ID, communication.REPLICA_ID)
def write_process_id(w: Writer, op: Op) -> None:
    """Write the opcode."""
    w.write(op, op.definition.name.replace("_", "-"), [])
