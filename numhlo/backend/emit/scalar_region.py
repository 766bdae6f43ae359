"""Regions of scalars as straight-line statements: the bodies of reductions, the comparators of sorts, ..."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from numhlo.backend.emit.expressions import Apply, spelled
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.nest import element_text, hint_of
from numhlo.backend.emit.registers import REGISTERS, literal
from numhlo.backend.emit.tables import ELEMENT
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops import creation


def write_region(text: KernelText, region: Region, arguments: Sequence[str]) -> list[str]:
    """Write a region's ops at the current place and return the names of its results.

    Parameters
    ----------
    text : KernelText
    region : Region
        One that `support.emits_region` accepts.
    arguments : sequence of str
        Names of the register values of the region's arguments.
    """
    names = _Names(zip(region.arguments, arguments, strict=True))
    for op in region.ops:
        if op.definition is creation.CONSTANT:
            continue
        register = REGISTERS[op.result.tensor.dtype]
        if ELEMENT.find(op.definition) is None:  # a view of one element
            names[op.result] = names[op.operands[0]]
        else:
            node = Apply(op, (), register)
            names[op.result] = text.let(element_text(node, [names[v] for v in op.operands]), hint_of(node))
    return [names[v] for v in region.returns]


def region_key(region: Region) -> Hashable:
    """Return what the text of a region depends on, names apart."""
    numbers: dict[Value, Hashable] = {value: number for number, value in enumerate(region.arguments)}
    parts: list[Hashable] = [REGISTERS[value.tensor.dtype].storage for value in region.arguments]

    def operand(value: Value) -> Hashable:
        found = numbers.get(value)
        if found is None:  # a constant, perhaps from outside
            assert isinstance(value.owner, Op)
            found = numbers[value] = value.tensor.dtype, value.owner.attributes["value"].tobytes()
        return found

    for op in region.ops:
        if op.definition is not creation.CONSTANT:
            numbers[op.result] = len(parts)
            operands = tuple([operand(value) for value in op.operands])
            parts.append((op.definition, operands, op.result.tensor.dtype, spelled(op)))
    return (*parts, tuple([operand(value) for value in region.returns]))


class _Names(dict[Value, str]):
    """Names by value; constants, of the region or from outside, are written out."""

    def __missing__(self, value: Value) -> str:
        op = value.owner
        assert isinstance(op, Op), value
        assert op.definition is creation.CONSTANT, op
        name = self[value] = literal(op.attributes["value"].reshape(-1)[0], REGISTERS[value.tensor.dtype])
        return name
