"""From ops of vhlo to ops of StableHLO: attributes are grouped as StableHLO has them, defaults are left out.

Every form of an op that vhlo ever had is read; the older ones lack attributes, whose values are then the defaults.
The way back is in `numhlo.lowering.bytecode.downgrades`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from numhlo.lowering.bytecode.cursor import MalformedError
from numhlo.lowering.bytecode.vhlo_table import VERSIONED, VersionedOp
from numhlo.lowering.ir import Function
from numhlo.lowering.ops.dimension_numbers import (
    ChannelHandle,
    ConvolutionDimensionNumbers,
    DotAlgorithm,
    DotDimensionNumbers,
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
)
from numhlo.lowering.ops.primitive import MISSING, Primitive
from numhlo.lowering.text.foreign import ForeignAttribute
from numhlo.lowering.text.parse_attributes import fitted
from numhlo.lowering.text.parser import fits_in_32_bits
from numhlo.lowering.text.unregistered import find_definition

Attributes = dict[str, Any]

CONVOLUTION = (
    "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", "kernel_input_feature_dimension",
    "kernel_output_feature_dimension", "kernel_spatial_dimensions", "output_batch_dimension",
    "output_feature_dimension", "output_spatial_dimensions",
)  # fmt: skip
DOT = (
    "lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions", "rhs_contracting_dimensions",
)  # fmt: skip
GATHER = (
    "offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map",
    "index_vector_dim",
)  # fmt: skip
SCATTER = (
    "update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims", "index_vector_dim",
)  # fmt: skip
ALGORITHM = (
    "lhs_precision_type", "rhs_precision_type", "accumulation_type", "lhs_component_count", "rhs_component_count",
    "num_primitive_operations", "allow_imprecise_accumulation",
)  # fmt: skip

RECORDS: Mapping[str, tuple[str, type, tuple[str, ...]]] = {
    "convolution": ("dimension_numbers", ConvolutionDimensionNumbers, CONVOLUTION),
    "dynamic_conv": ("dimension_numbers", ConvolutionDimensionNumbers, CONVOLUTION),
    "dot_general": ("dot_dimension_numbers", DotDimensionNumbers, DOT),
    "gather": ("dimension_numbers", GatherDimensionNumbers, GATHER),
    "dynamic_gather": ("dimension_numbers", GatherDimensionNumbers, GATHER),
    "scatter": ("scatter_dimension_numbers", ScatterDimensionNumbers, SCATTER),
}
"""Ops whose attributes vhlo has one by one: the record's attribute, its class, and its fields."""

SYMBOLS = {"callee": "call", "decomposition": "composite"}
"""Attributes that name a function, which vhlo has as a string."""

ABSENT_EMPTY = frozenset({
    "known_expanding_dimensions", "known_nonexpanding_dimensions", "source_target_pairs", "operand_layouts",
    "result_layouts", "layout", "called_computations", "output_operand_aliases",
})  # fmt: skip
"""Attributes that say nothing where they are empty."""

ABSENT_ONES = frozenset({"window_strides", "lhs_dilation", "rhs_dilation", "base_dilations", "window_dilations"})
"""Attributes that say nothing where all elements are 1."""


def plain_integers(value: Any) -> Any:
    """Return a tuple of integers for an array of them, other values as they are."""
    return tuple(value.ravel().tolist()) if isinstance(value, np.ndarray) else value


def upgrade(name: str, given: Attributes, functions: Mapping[str, Function]) -> Attributes:
    """Return an op's attributes as StableHLO has them.

    Parameters
    ----------
    name : str
        StableHLO's name of the op.
    given : dict
        Those that vhlo has.
    functions : mapping
        Those that can be called, by name.
    """
    found = dict(given)
    if name in RECORDS:
        _group(name, found)
    if "channel_id" in found:
        _join_channel(name, found)
    for attribute, op in SYMBOLS.items():
        if op == name:
            found[attribute] = _function(found.get(attribute), functions)
    if name == "custom_call":
        called = found.get("called_computations", ())
        if not isinstance(called, tuple):
            raise MalformedError("called_computations must be an array")
        found["called_computations"] = tuple(_function(item, functions) for item in called)
    return {key: value for key, value in found.items() if not _is_default(name, key, value)}


def fit(definition: Primitive, given: Attributes) -> Attributes:
    """Return an op's attributes as its definition has them, with defaults for those that are absent.

    Raises
    ------
    MalformedError
        If one that must be there is absent, or one is not of its kind.
    """
    found = {**definition.defaults, **given}
    for attribute in definition.attributes:
        name = attribute.name
        if name not in given:
            if attribute.default is MISSING:
                raise MalformedError(f"{definition.name} needs the attribute {name}")
            continue
        value = found[name] = fitted(attribute.kind, given[name])
        if value is None:
            raise MalformedError(f"{name} of {definition.name} must be of kind {attribute.kind}")
        if attribute.kind == "i32" and not fits_in_32_bits(value):
            raise MalformedError(f"{name} of {definition.name} takes 32 bits")
    return found


def upgrade_op(versioned: VersionedOp, given: Attributes, functions: Mapping[str, Function]) -> Attributes:
    """Return the attributes of an op of vhlo as StableHLO has them; all that the op has must be there."""
    missing = next((name for name in versioned.attributes if name not in given), None)
    if missing is not None:
        raise MalformedError(f"{versioned.full_name} needs the attribute {missing}")
    return upgrade(versioned.name, given, functions)


def definition_of(name: str) -> Primitive:
    """Return the definition of an op by its full name, of vhlo or of any other dialect."""
    versioned = VERSIONED.get(name)
    if versioned is None and name.startswith("vhlo."):
        raise MalformedError(f"{name} is an op of a newer version of StableHLO")
    if versioned is not None:
        name = "func.call" if versioned.name == "call" else f"stablehlo.{versioned.name}"
    return find_definition(name)


def _function(name: Any, functions: Mapping[str, Function]) -> Function:
    if not isinstance(name, str) or name not in functions:
        raise MalformedError(f"function @{name} is not defined in this module", "attributes and types")
    return functions[name]


def _group(name: str, found: Attributes) -> None:
    """Make a record of attributes that vhlo has one by one."""
    attribute, record, fields = RECORDS[name]
    parts = {field: plain_integers(found.pop(field)) for field in fields if field in found}
    for field, value in parts.items():
        items = value if isinstance(value, tuple) else (value,)
        if isinstance(value, tuple) != _is_list(field) or not all(isinstance(item, int) for item in items):
            raise MalformedError(
                f"{field} of {name} must be {'a list of integers' if _is_list(field) else 'an integer'}"
            )
    found[attribute] = numbers = record(**parts)
    if isinstance(numbers, ConvolutionDimensionNumbers):
        for dimensions in (numbers.input, numbers.kernel, numbers.output):
            if sorted(dimensions) != list(range(len(dimensions))):
                raise MalformedError(f"the dimensions {list(dimensions)} of a convolution are not each there once")
    if "accumulation_type" in found:
        parts = {field: found.pop(field) for field in ALGORITHM}
        types = {field: str(parts[field]) for field in ALGORITHM[:3]}
        if types["accumulation_type"] != "none":
            if not all(isinstance(parts[field], int) for field in ALGORITHM[3:]):
                raise MalformedError("the numbers of an algorithm must be integers")
            found["algorithm"] = DotAlgorithm(**{**parts, **types})


def _is_list(field: str) -> bool:
    return field.endswith(("s", "map"))


def _join_channel(name: str, found: Attributes) -> None:
    """Make one attribute of a channel's number and type."""
    number, kind = found.pop("channel_id"), found.pop("channel_type", None)
    if not isinstance(number, int) or not isinstance(kind, int | None):
        raise MalformedError(f"channel_id and channel_type of {name} must be integers")
    if number or kind is not None:
        found["channel_handle"] = ChannelHandle(number, kind or 0)


def _is_default(name: str, key: str, value: Any) -> bool:
    """Return whether an attribute says nothing that would not hold without it."""
    if isinstance(value, ForeignAttribute):
        return _NEUTRAL.get(key) == value.text
    if isinstance(value, np.ndarray):
        if key in ABSENT_EMPTY:
            return value.size == 0
        if key in ABSENT_ONES or key == "window_dimensions":
            is_optional = key in ABSENT_ONES or name == "select_and_scatter"
            return is_optional and bool((value == 1).all())
        return key in {"padding", "window_reversal"} and not value.any()
    if key == "precision_config" and isinstance(value, tuple):
        return all(getattr(item, "text", "") == "#stablehlo<precision DEFAULT>" for item in value)
    return (key in ABSENT_EMPTY and value == ()) or (key == "use_global_device_ids" and value is False)


_NEUTRAL = {
    "compare_type": "#stablehlo<comparison_type NOTYPE>",
    "result_accuracy": "#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>",
}
"""Values of enumerations that say nothing."""
