"""How result types follow from operand types, where many ops agree.

This file knows the constraints that families share: operands of one type, element types from a set, extents that refine
each other. A rule of a single op stands with that op. Extents that are `DYNAMIC` agree with everything, and the result
takes the extent that is known. Next: `dtype_table` does for `evaluate` what this file does for `infer`.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from numhlo.lowering.ir import DYNAMIC, TensorType, Type
from numhlo.lowering.ir.types import BOOL, COMPLEX, FLOATS, INTEGERS, SIGNED
from numhlo.lowering.ops.primitive import InferRule, Signature

ANY_DTYPE: frozenset[np.dtype] = frozenset({BOOL}) | INTEGERS | FLOATS | COMPLEX
BITWISE: frozenset[np.dtype] = frozenset({BOOL}) | INTEGERS
NUMERIC: frozenset[np.dtype] = INTEGERS | FLOATS | COMPLEX
SIGNED_NUMERIC: frozenset[np.dtype] = SIGNED | FLOATS | COMPLEX
INEXACT: frozenset[np.dtype] = FLOATS | COMPLEX


def merge_shapes(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """Return the shape that all ``shapes`` agree with, or None where two known extents or ranks differ.

    Examples
    --------
    >>> merge_shapes([(2, DYNAMIC), (DYNAMIC, 3)])
    (2, 3)
    >>> merge_shapes([(2,), (3,)]) is None
    True
    """
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    if any(len(shape) != len(first) for shape in shapes):
        return None
    merged = []
    for extents in zip(*shapes, strict=True):
        known = {n for n in extents if n != DYNAMIC}
        if len(known) > 1:
            return None
        merged.append(known.pop() if known else DYNAMIC)
    return tuple(merged)


def refine(signature: Signature, inferred: TensorType, rule: str) -> tuple[Type, ...]:
    """Return ``inferred``, made more precise by the declared result type where there is one.

    Raises
    ------
    VerificationError
        If the declared type contradicts the inferred one; the message has ``rule`` and both types.
    """
    if signature.results is None:
        return (inferred,)
    declared = signature.result_tensor()
    if declared == inferred:
        return (inferred,)
    if declared.dtype != inferred.dtype or merge_shapes([declared.shape, inferred.shape]) is None:
        signature.require(False, f"{rule}: {inferred.short()}, not {declared.short()}")
    return (declared,)


def merge_operands(signature: Signature, rule: str) -> TensorType:
    """Return the one type that all operands have, extents merged."""
    tensors = signature.tensors
    first = tensors[0]
    signature.require(all(t.dtype == first.dtype for t in tensors), rule)
    shape = merge_shapes([t.shape for t in tensors])
    signature.require(shape is not None, rule)
    assert shape is not None
    return first if shape is first.shape else first.with_shape(shape)


def require_dtype(signature: Signature, index: int, allowed: Set[np.dtype], kinds: str) -> TensorType:
    """Return operand ``index``'s type, whose dtype must be in ``allowed``."""
    type = signature.tensor(index)
    if type.dtype not in allowed:
        rule = f"(I{index + 1}) operand {index} must be a tensor of {kinds}, not {type.dtype.name}"
        signature.require(False, rule)
    return type


def same_type_rule(count: int, allowed: frozenset[np.dtype], kinds: str) -> InferRule:
    """Return the rule of an op whose ``count`` operands and whose result have one type: (C1).

    Parameters
    ----------
    count : int
        Number of operands, 1 or 2.
    allowed : frozenset of numpy.dtype
    kinds : str
        ``allowed`` in words, for messages.
    """
    one = "(C1) the operand and the result must have the same type"
    two = "(C1) the operands and the result must have the same type"
    rule = one if count == 1 else two

    def infer(signature: Signature) -> tuple[Type, ...]:
        require_dtype(signature, 0, allowed, kinds)
        return refine(signature, merge_operands(signature, rule), rule)

    return infer
