"""Values that are no tensors: tuples, and tokens, which order effects.

Programs are flattened before any other room sees them (`numhlo.lowering.passes.flatten_values`): a tuple becomes its
elements, a token nothing, since effects happen in program order anyway. Here, a tuple is a Python tuple and a token
None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numhlo.lowering.ir import TokenType, TupleType, Type
from numhlo.lowering.ops.extents import declared_or
from numhlo.lowering.ops.primitive import Arrays, Attribute, Primitive, RegionFunction, Signature

Attributes = Mapping[str, Any]
Regions = Sequence[RegionFunction]

TOKEN = TokenType()


class Grouping(Primitive):
    """Ops that make and take apart values that are no tensors."""

    __slots__ = ()


def infer_tuple(signature: Signature) -> Sequence[Type]:
    """(C1)."""
    return declared_or(signature, [TupleType(tuple(signature.operands))])


def evaluate_tuple(arrays: Arrays, attributes: Attributes, regions: Regions) -> Any:
    """Group the operands."""
    return (tuple(arrays),)


def infer_get_tuple_element(signature: Signature) -> Sequence[Type]:
    """(C1), (C2)."""
    (operand,) = signature.operands
    index = signature.attributes["index"]
    signature.require(isinstance(operand, TupleType), "(I1) the operand must be a tuple")
    assert isinstance(operand, TupleType)
    count = len(operand.elements)
    signature.require(0 <= index < count, f"(C1) index must be in [0, {count}), not {index}")
    return declared_or(signature, [operand.elements[index]])


def evaluate_get_tuple_element(arrays: Arrays, attributes: Attributes, regions: Regions) -> Any:
    """Return one element."""
    return (arrays[0][attributes["index"]],)


def infer_tokens(signature: Signature) -> Sequence[Type]:
    """Operands are tokens, the result is one."""
    signature.require(all(t == TOKEN for t in signature.operands), "(I1) operands must be tokens")
    return declared_or(signature, [TOKEN])


def evaluate_tokens(arrays: Arrays, attributes: Attributes, regions: Regions) -> Any:
    """Return a token."""
    return (None,)


TUPLE = Grouping("tuple", infer_tuple, evaluate_tuple, ("*val",))
GET_TUPLE_ELEMENT = Grouping(
    "get_tuple_element",
    infer_get_tuple_element,
    evaluate_get_tuple_element,
    ("operand",),
    (Attribute("index", "i32"),),
)
AFTER_ALL = Grouping("after_all", infer_tokens, evaluate_tokens, ("*inputs",))
CREATE_TOKEN = Grouping("create_token", infer_tokens, evaluate_tokens)
