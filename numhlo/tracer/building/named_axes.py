"""Named axes in the vocabulary of the library, apart from the rest since few programs have meshes."""

from numhlo.tracer.batching.table import batch_function
from numhlo.tracer.core.arguments import is_number
from numhlo.tracer.core.custom_rules import custom_rule, set_rule
from numhlo.tracer.core.located_errors import refusing_depth
from numhlo.tracer.core.named_axes import (
    CORRECTIONS,
    TARGET,
    AxisName,
    Collective,
    attributes_of,
    batching_axis,
    collective_of,
    corrected,
    corrects_cotangents,
    device_axes,
)
from numhlo.tracer.core.operands import known_value

__all__ = [
    "CORRECTIONS", "TARGET", "AxisName", "Collective", "attributes_of", "batch_function", "batching_axis",
    "collective_of", "corrected", "corrects_cotangents", "custom_rule", "device_axes", "is_number", "known_value",
    "refusing_depth", "set_rule",
]  # fmt: skip
