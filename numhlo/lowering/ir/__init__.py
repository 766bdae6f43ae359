"""The vocabulary's bottom: errors, source locations, types and the graph. Knows no op."""

from numhlo.lowering.ir.graph import Function, Module, Op, Region, Substitution, Value, functions_in
from numhlo.lowering.ir.location import UNKNOWN, Location, WrittenLocation, capture_location, inside_scope
from numhlo.lowering.ir.types import (
    DYNAMIC,
    IndexTensorType,
    TensorType,
    TokenType,
    TupleType,
    Type,
    element_spelling,
    tensor_type_of,
)

__all__ = [
    "DYNAMIC",
    "UNKNOWN",
    "Function",
    "IndexTensorType",
    "Location",
    "Module",
    "Op",
    "Region",
    "Substitution",
    "TensorType",
    "TokenType",
    "TupleType",
    "Type",
    "Value",
    "WrittenLocation",
    "capture_location",
    "element_spelling",
    "functions_in",
    "inside_scope",
    "tensor_type_of",
]
