"""Attributes of StableHLO ops that have no definition here, so that their text is read and written like any other's.

A row says what the specification says about an op's attributes, nothing more. A definition in `numhlo.lowering.ops`
comes before the row of the same name.
"""

from __future__ import annotations

from collections.abc import Iterable

from numhlo.lowering.ops.primitive import Attribute

AXES, INT, BOOL = "array<i64>", "i64", "bool"

_CONVOLUTION = (
    Attribute("dimension_numbers", "record:conv"),
    Attribute("window_strides", AXES, None),
    Attribute("lhs_dilation", AXES, None),
    Attribute("rhs_dilation", AXES, None),
    Attribute("window_reversal", "array<i1>", None),
    Attribute("feature_group_count", INT),
    Attribute("batch_group_count", INT),
    Attribute("precision_config", "enums:precision", ()),
)

ATTRIBUTES: dict[str, tuple[Attribute, ...]] = {
    "async_done": (),
    "async_start": (),
    "dynamic_conv": _CONVOLUTION,
    "uniform_dequantize": (),
    "uniform_quantize": (),
}
"""Attributes by mnemonic; kinds and defaults as in `Primitive` records."""


def attributes_of(full_name: str) -> Iterable[Attribute]:
    """Return the attributes of an op without definition, as far as they are known."""
    return ATTRIBUTES.get(full_name.removeprefix("stablehlo."), ()) if full_name.startswith("stablehlo.") else ()
