"""How a reduction combines two elements, and which reductions can be emitted.

Floating-point sums and products follow `numhlo.lowering.ops.reduction_order`; maxima and minima have the same bits
in any order and use the same lanes. Integers and booleans are combined as LLVM likes. Any other body of scalars is
written out, in the order that `evaluate` has: neighbours first. Next: `reductions.kernels` writes the loops.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.registers import REGISTERS, Register, literal
from numhlo.backend.emit.scalar_region import region_key, write_region
from numhlo.backend.emit.support import emits_region
from numhlo.backend.emit.tables import ELEMENT
from numhlo.backend.primitives.lanes import IDENTITIES
from numhlo.lowering.ir import Op, Region
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import comparison, creation, elementwise
from numhlo.lowering.ops.region_function import single_op

CHOOSING = frozenset(
    {
        comparison.COMPARE,
        comparison.SELECT,
        elementwise.AND,
        elementwise.OR,
        elementwise.NOT,
        elementwise.MAXIMUM,
        elementwise.MINIMUM,
        creation.CONSTANT,
    }
)
"""Bodies of these ops alone choose among their arguments, so the order of combination has no effect on bits."""


@record(frozen=True, slots=True)
class Combiner:
    """How a reduction combines elements.

    Attributes
    ----------
    region : Region
    registers : tuple of Register
        One for each input.
    op : Op or None
        The body's only op, if it takes the arguments in order.
    """

    region: Region
    registers: tuple[Register, ...]
    op: Op | None

    @property
    def name(self) -> str:
        """Return the only op's name."""
        return "" if self.op is None else self.op.definition.name

    @property
    def key(self) -> Hashable:
        """Return what a kernel's text depends on."""
        return region_key(self.region) if self.op is None else (self.name, self.registers[0].storage)

    @property
    def in_lanes(self) -> bool:
        """Return whether blocks are reduced by `numhlo.backend.primitives.lanes`."""
        return self.name in IDENTITIES and self.registers[0].kind == "f"

    @property
    def is_ordered(self) -> bool:
        """Return whether bits depend on the order of lanes: those of sums and products of floats do."""
        return self.in_lanes and self.op is not None and self.op.definition not in CHOOSING

    @property
    def identity(self) -> str | None:
        """Return the text of a value that changes no other one, where there is one."""
        if self.op is None:
            return None
        register = self.registers[0]
        if self.in_lanes:
            return literal(np.float64(IDENTITIES[self.name]), _wide(register))
        value = _integer_identity(self.name, register)
        return None if value is None else literal(value, register)

    @property
    def is_choice(self) -> bool:
        """Return whether the body only chooses among its arguments."""
        return self.identity is not None or all(op.definition in CHOOSING for op in self.region.ops)

    def write(self, text: KernelText, state: Sequence[str], values: Sequence[str]) -> list[str]:
        """Write the statements that combine the state with one element each, and return the new state's texts.

        Narrow floats are kept in float32; see `round`.
        """
        if self.op is None:
            return write_region(text, self.region, [*state, *values])
        expression = ELEMENT[self.op.definition](self.op, [state[0], values[0]])
        register = self.registers[0]
        return [expression if register.kind == "f" else register.wrap(expression)]

    def round(self, value: str) -> str:
        """Return a finished result rounded to the element type."""
        register = self.registers[0]
        return register.wrap(value) if self.in_lanes else value


def _wide(register: Register) -> Register:
    return REGISTERS[np.dtype(np.float64 if register.name == "f64" else np.float32)]


def _integer_identity(name: str, register: Register) -> np.generic | None:
    if register.kind == "b":
        return {
            "add": np.False_,
            "or": np.False_,
            "xor": np.False_,
            "maximum": np.False_,
            "multiply": np.True_,
            "and": np.True_,
            "minimum": np.True_,
        }.get(name)
    if register.kind not in "iu":
        return None
    signed = register.kind == "i"
    least = -(1 << (register.bits - 1)) if signed else 0
    most = (1 << (register.bits - signed)) - 1
    value = {
        "add": 0,
        "or": 0,
        "xor": 0,
        "multiply": 1,
        "maximum": least,
        "minimum": most,
        "and": -1 if signed else most,
    }.get(name)
    return None if value is None else np.dtype(f"{register.kind}8").type(value)


NAMED = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor"})
"""Bodies of one op that have loops of their own."""


def combiner_of(region: Region) -> Combiner:
    """Return how a reduction with a body combines elements."""
    registers = tuple(REGISTERS[v.tensor.dtype] for v in region.returns)
    op = single_op(region)
    named = op is not None and op.definition.name in NAMED and registers[0].kind != "c"
    return Combiner(region, registers, op if named else None)


def emits_reduction(op: Op) -> bool:
    """Return whether a reduce op is emitted."""
    return keeps_types(op) and emits_combiner(op.regions[0])


def keeps_types(op: Op) -> bool:
    """Return whether a reduce op accumulates in its inputs' own types, which are tensors'."""
    try:
        inputs = [v.tensor.dtype for v in op.operands[: len(op.results)]]
    except AttributeError:
        return False
    return inputs == [v.tensor.dtype for v in op.regions[0].returns]


def emits_combiner(body: Region) -> bool:
    """Return whether a body combines elements in a way that is emitted."""
    return emits_region(body)
