"""The ops: one record for each, by family. Importing this package fills `PRIMITIVES` and `COMPOSITES`.

A family's file holds the records and their rules: types (`infer`) and meaning on NumPy arrays (`evaluate`).
Everything that is generic over ops (text, verification, the interpreter) starts from here.
"""

from numhlo.lowering.ops import (
    annotations,
    communication,
    comparison,
    contraction,
    control_flow,
    conversion,
    convolution,
    creation,
    cumulative,
    deprecated,
    dynamic_shapes,
    elementwise,
    factorizations,
    fourier,
    indexing,
    lapack,
    layout,
    linear_algebra,
    loops,
    normalization,
    order_statistics,
    perturbed_systems,
    random_bits,
    ranking,
    reduction,
    sorting,
    sparse,
    special,
    threefry,
    tuples,
    windows,
)
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.composites import COMPOSITES, CompositeDefinition
from numhlo.lowering.ops.custom_calls import register_custom_call
from numhlo.lowering.ops.effects import function_has_effects, op_has_effects
from numhlo.lowering.ops.primitive import PRIMITIVES, Primitive, make_op
from numhlo.lowering.ops.rule_table import RuleTable

__all__ = [
    "COMPOSITES",
    "PRIMITIVES",
    "CompositeDefinition",
    "FunctionBuilder",
    "Primitive",
    "RuleTable",
    "annotations",
    "communication",
    "comparison",
    "contraction",
    "control_flow",
    "conversion",
    "convolution",
    "creation",
    "cumulative",
    "deprecated",
    "dynamic_shapes",
    "elementwise",
    "factorizations",
    "fourier",
    "function_has_effects",
    "indexing",
    "lapack",
    "layout",
    "linear_algebra",
    "loops",
    "make_op",
    "normalization",
    "op_has_effects",
    "order_statistics",
    "perturbed_systems",
    "random_bits",
    "ranking",
    "reduction",
    "register_custom_call",
    "sorting",
    "sparse",
    "special",
    "threefry",
    "tuples",
    "windows",
]
