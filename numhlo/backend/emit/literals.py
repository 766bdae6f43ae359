"""Which integers of a loop are part of its kernel's text: LLVM then multiplies instead of dividing, and unrolls more.

Other constants come at run time, since they may depend on shapes, and a new shape must not need a new kernel. What only
takes part in arithmetic and comparisons, ends no loop, and is no extent of an array of the loop or near one, is taken
to be the program's own if it is very small or very large, a mask, an amount of a shift, or added to a product with a
very large one: the numbers of a random generator, the modulus of a hash. Others may come from an extent in ways that
nobody sees, like ``n // 3``.
"""

from __future__ import annotations

from collections.abc import Set

from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ops import comparison, creation, elementwise
from numhlo.lowering.ops.control_flow import WHILE

ARITHMETIC = frozenset(
    {
        comparison.COMPARE,
        elementwise.ADD,
        elementwise.SUBTRACT,
        elementwise.MULTIPLY,
        elementwise.DIVIDE,
        elementwise.REMAINDER,
    }
)
BITWISE = frozenset(
    {
        elementwise.AND,
        elementwise.OR,
        elementwise.XOR,
        elementwise.SHIFT_LEFT,
        elementwise.SHIFT_RIGHT_LOGICAL,
        elementwise.SHIFT_RIGHT_ARITHMETIC,
    }
)
LIKE_EXTENTS = range(4, 1 << 20)
NEAR = range(-2, 3)
"""What is added to an extent where a program speaks of elements before or behind the last one."""


def literal_constants(loop: Op, around: Set[int]) -> set[Op]:
    """Return the constants of a loop, scalar integers, that are its own whatever the shapes of its arrays are.

    Parameters
    ----------
    loop : Op
    around : set of int
        Extents of arrays around the loop.
    """
    found: dict[Op, int] = {}
    other: set[Op] = set()
    limits: set[Op] = set()
    extents = set(around)
    region = Region()
    region.ops.append(loop)
    for op in region.walk():
        if op.definition is WHILE:
            limits.update(op.regions[0].ops)
        for value in (*op.operands, *op.results):
            if isinstance(value.type, TensorType):
                extents.update((*value.tensor.shape, value.tensor.size))
        for value in op.operands:
            constant = _integer(value)
            if constant is not None:
                number = found[constant] = int(constant.attributes["value"])
                plain = op.definition in ARITHMETIC and (abs(number) not in LIKE_EXTENTS or _is_added_to_large(op))
                if op in limits or not (plain or op.definition in BITWISE):
                    other.add(constant)
    near = [number for e in extents for number in (*[e + d for d in NEAR], e * 2, e // 2)]
    returned = {value.owner for op in region.walk() for inner in op.regions for value in inner.returns}
    return {op for op, number in found.items() if op not in other and op not in returned and abs(number) not in near}


def _is_added_to_large(op: Op) -> bool:
    """Return whether an op adds to a product with a number that is too large for an extent, as generators do.

    LLVM makes several steps of such a recurrence at once if it knows both numbers.
    """
    products = [v.owner for v in op.operands if op.definition is elementwise.ADD]
    factors = [v for p in products if isinstance(p, Op) and p.definition is elementwise.MULTIPLY for v in p.operands]
    constants = [_integer(v) for v in factors]
    return any(abs(int(c.attributes["value"])) >= LIKE_EXTENTS.stop for c in constants if c is not None)


def _integer(value: Value) -> Op | None:
    """Return the constant that a value is if it is one integer."""
    op = value.owner
    if not isinstance(op, Op) or op.definition is not creation.CONSTANT:
        return None
    return op if value.tensor.shape == () and value.tensor.dtype.kind in "iu" else None
