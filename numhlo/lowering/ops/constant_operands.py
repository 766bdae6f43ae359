"""Constraints on the values of operands, where they are constants: sizes and amounts that are data in dynamic ops.

Type rules see types alone. An operand that a constant gives is known before the program runs, and MLIR's verifier looks
at it as well; of any other operand the same is asked when the op runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from numhlo.lowering.ir import DYNAMIC, Op, TensorType, Value
from numhlo.lowering.ops.extents import same_shape

Rule = Callable[[Op], Iterator[str]]
"""``rule(op)`` yields what is broken."""


def constant_of(value: Value) -> np.ndarray | None:
    """Return what a value is, where a constant says so."""
    owner = value.owner
    if not isinstance(owner, Op) or owner.definition.name != "constant":
        return None
    found = owner.attributes.get("value")
    return found if isinstance(found, np.ndarray) else None


def _shape_operand(index: int, rule: str) -> Rule:
    """Return the rule of an op whose result has the shape that an operand gives."""

    def check(op: Op) -> Iterator[str]:
        given, result = constant_of(op.operands[index]), op.results[0].type
        if given is not None and isinstance(result, TensorType):
            shape = tuple(map(int, given.ravel()))
            if not same_shape(shape, result.shape):
                yield f"{rule} the result must have the shape that the operand gives, {list(shape)}"

    return check


def _dynamic_pad(op: Op) -> Iterator[str]:
    low, high, interior = (constant_of(v) for v in op.operands[2:])
    if interior is not None and interior.min(initial=0) < 0:
        yield "(C3) interior_padding must not be negative"
    if low is None or high is None or interior is None:
        return
    extents, result = op.operands[0].tensor.shape, op.results[0].tensor.shape
    shape = tuple(
        DYNAMIC if n == DYNAMIC else n + int(before) + max(n - 1, 0) * int(between) + int(after)
        for n, before, between, after in zip(extents, low, interior, high, strict=True)
    )
    if not same_shape(shape, result):
        yield f"(C4) the result must have the shape {list(shape)}"


def _dynamic_gather(op: Op) -> Iterator[str]:
    sizes, extents = constant_of(op.operands[2]), op.operands[0].tensor.shape
    if sizes is None:
        return
    collapsed = op.attributes["dimension_numbers"].collapsed_slice_dims
    if any(sizes[d] > 1 for d in collapsed):
        yield "(C8) collapsed slices must be at most 1 wide"
    if any(not 0 <= size <= extent for size, extent in zip(sizes, extents, strict=True) if extent != DYNAMIC):
        yield "(C12) slice_sizes must lie between 0 and the operand's extents"


CONSTANT_OPERANDS: dict[str, Rule] = {
    "dynamic_broadcast_in_dim": _shape_operand(1, "(I2)"),
    "dynamic_gather": _dynamic_gather,
    "dynamic_iota": _shape_operand(0, "(I1)"),
    "dynamic_pad": _dynamic_pad,
    "dynamic_reshape": _shape_operand(1, "(I2)"),
    "rng": _shape_operand(2, "(C3)"),
}
"""Rules by the mnemonics of StableHLO's ops."""
