"""Whether ops and regions can be emitted, asked before anything is fused."""

from __future__ import annotations

from collections.abc import Hashable
from operator import attrgetter

from numhlo.backend.emit.tables import ELEMENT, UNEMITTED, VIEW
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ops import creation
from numhlo.lowering.ops.control_flow import COMPOSITE

_ANSWERS: dict[Hashable, bool] = {}
_DTYPE = attrgetter("type.dtype")


def emits_element(op: Op) -> bool:
    """Return whether an op is emitted as one expression per element, for its element types."""
    rule = ELEMENT.find(op.definition)
    if rule is None or not op.results:
        return False
    try:
        dtypes = map(_DTYPE, [*op.operands, op.results[0]])
        if op.definition is COMPOSITE:  # its name says all; its decomposition would live as long as the answer
            key: Hashable = (COMPOSITE, op.attributes["name"], *dtypes)
        else:
            key = (op.definition, *dtypes, *op.attributes.values()) if op.attributes else (op.definition, *dtypes)
        answer = _ANSWERS.get(key)
    except (TypeError, AttributeError):  # an attribute that can't be a key, a type that is no tensor
        key, answer = None, None
    if answer is None:
        answer = _is_static(op) and rule(op, ["x"] * len(op.operands)) != UNEMITTED
        if key is not None:
            _ANSWERS[key] = answer
    return answer


def _is_static(op: Op) -> bool:
    return all(isinstance(v.type, TensorType) for v in [*op.operands, *op.results])


def emits_region(region: Region) -> bool:
    """Return whether a region of scalars is emitted as straight-line code; from outside it may use constants only."""
    known = set(region.arguments)
    if not all(isinstance(v.type, TensorType) and v.type.size == 1 for v in known):
        return False
    for op in region.ops:
        if not _emits_scalar(op) or not all(v in known or is_scalar_constant(v) for v in op.operands):
            return False
        known.update(op.results)
    return all(v in known or is_scalar_constant(v) for v in region.returns)


def is_scalar_constant(value: Value) -> bool:
    """Return whether a value is a constant of one element."""
    op = value.owner
    return isinstance(op, Op) and op.definition is creation.CONSTANT and value.tensor.size == 1


def _emits_scalar(op: Op) -> bool:
    if any(not isinstance(v.type, TensorType) or v.type.size != 1 for v in op.results):
        return False
    if op.definition is creation.CONSTANT:
        return True
    return (VIEW.find(op.definition) is not None and len(op.operands) == 1) or emits_element(op)
