"""The vocabulary that the library is written in: all that it uses of the tracer, and nothing else.

Ops come into the graph by `bind`; `operands` has conversion and broadcasting, `operations` the elementwise ops,
`arrangement` those that move elements, `matrices` those of the last two axes. `implements` makes a traced function the
public one of NumPy's name, `runs_anywhere` one that runs outside tracing, too, `stands_for` what is called in the place
of a function of Python's or of another package's. `derivatives` has what needs derivatives, and takes time to load.
"""

from numhlo.lowering.ops.strides import Strides, are_contiguous
from numhlo.tracer.batching.control_flow import map_lanes
from numhlo.tracer.batching.table import Lanes
from numhlo.tracer.building.eager import on_plain_arrays, operand_of, runs_anywhere, traces_narrow_floats
from numhlo.tracer.control_flow.loops import Carry, fori_loop, while_loop
from numhlo.tracer.control_flow.scan import scan, slice_count
from numhlo.tracer.core import matrices, operands, operations
from numhlo.tracer.core.aliasing.views import (
    DynamicSlice,
    Flat,
    Reshape,
    Reverse,
    Slice,
    Transpose,
    copy_or_view,
    is_contiguous,
    lies_in,
    only_unit_axes_differ,
    strides_of,
    view_reshape,
    view_transpose,
)
from numhlo.tracer.core.arguments import WEAK, ShapeDtypeStruct, asks_scalar, leaf_type, require_array
from numhlo.tracer.core.arrangement import (
    COMBINERS,
    combiner_region,
    concatenate_arrays,
    contract,
    reduce_with,
    slice_axis,
    sum_over,
)
from numhlo.tracer.core.array import UNORDERED, Array, stands_for_scalar
from numhlo.tracer.core.bind import (
    bind,
    bind1,
    new_trace,
    require_size,
    require_sizes,
    trace_closed,
    trace_function,
    trace_region,
)
from numhlo.tracer.core.callable_arguments import require_callable
from numhlo.tracer.core.closed_over import closed_over, stand_in, standing_in
from numhlo.tracer.core.custom_rules import CustomRule, LinearRule, bind_with_rule
from numhlo.tracer.core.except_clauses import refuse_waiting
from numhlo.tracer.core.jax_loops import NATIVE_DTYPES, inexact_dtype, stand_in_dtype
from numhlo.tracer.core.jax_types import is_weak_bound
from numhlo.tracer.core.memory_orders import memory_order, with_memory_order
from numhlo.tracer.core.named_axes import AxisName, Collective, batched_axis, bind_collective, size_of
from numhlo.tracer.core.named_functions import composite
from numhlo.tracer.core.non_differentiable_uses import loses_slope
from numhlo.tracer.core.numpy_functions import FUNCTIONS
from numhlo.tracer.core.operand_names import operand_names
from numhlo.tracer.core.operands import (
    ARRAYS,
    SCALARS,
    CutResult,
    Unsized,
    as_arrays,
    as_traced,
    asarray,
    broadcast_all,
    broadcast_shapes,
    broadcast_to_shape,
    contains_tracer,
    convert,
    expand,
    extent_product,
    full_of,
    implements,
    is_weak,
    new_array,
    normalize_axes,
    normalize_axis,
    promotion_key,
    require_casting,
    reshape_to,
    result_dtype,
    shape_of,
    spelling,
    stored,
    trace_for,
    unshared,
)
from numhlo.tracer.core.operations import bitcast, compare, constant, select
from numhlo.tracer.core.orders import Gathered, is_plain, is_undecided, lay_out
from numhlo.tracer.core.promotion import as_dtype, common_dtype, loop_dtypes, usual_dtype
from numhlo.tracer.core.replay import replay_body, replay_function, replay_op
from numhlo.tracer.core.semantics import (
    are_arrays_immutable,
    immutable_arrays,
    refuse_write,
    strict_integer_powers,
    windows_are_checked,
)
from numhlo.tracer.core.short_tracebacks import short_tracebacks
from numhlo.tracer.core.static_arguments import STATIC, naming, needs, unknown_extent_of
from numhlo.tracer.core.trace import Trace, Tracer, current_trace, outside_traces
from numhlo.tracer.core.type_rules import NUMPY, TypeRules, type_rules
from numhlo.tracer.core.view_step import ViewStep
from numhlo.tracer.differentiation.table import Walker
from numhlo.tracer.python import concretization, foreign_values, special_methods
from numhlo.tracer.python.autograph.rewriting import rewriting_callees
from numhlo.tracer.python.callbacks import CALLBACK_METHODS, call_function
from numhlo.tracer.python.concretization import known_numbers
from numhlo.tracer.python.function_tracing import trace_pytree_function
from numhlo.tracer.python.plain_numpy import run_traced
from numhlo.tracer.python.stand_ins import (
    PACKAGES,
    ElementIterator,
    Package,
    add_items,
    as_number,
    is_unknown,
    stands_for,
)
from numhlo.tracer.transformations.vectorizing import vmap
from numhlo.tracer.trees.pytree_registration import register_pytree_node_class
from numhlo.tracer.trees.pytrees import PyTreeDef, tree_flatten, tree_leaves, tree_map, tree_structure, tree_unflatten

__all__ = [
    "ARRAYS",
    "CALLBACK_METHODS",
    "COMBINERS",
    "FUNCTIONS",
    "NATIVE_DTYPES",
    "NUMPY",
    "PACKAGES",
    "SCALARS",
    "STATIC",
    "UNORDERED",
    "WEAK",
    "Array",
    "AxisName",
    "Carry",
    "Collective",
    "CustomRule",
    "CutResult",
    "DynamicSlice",
    "ElementIterator",
    "Flat",
    "Gathered",
    "Lanes",
    "LinearRule",
    "Package",
    "PyTreeDef",
    "Reshape",
    "Reverse",
    "ShapeDtypeStruct",
    "Slice",
    "Strides",
    "Trace",
    "Tracer",
    "Transpose",
    "TypeRules",
    "Unsized",
    "ViewStep",
    "Walker",
    "add_items",
    "are_arrays_immutable",
    "are_contiguous",
    "as_arrays",
    "as_dtype",
    "as_number",
    "as_traced",
    "asarray",
    "asks_scalar",
    "batched_axis",
    "bind",
    "bind1",
    "bind_collective",
    "bind_with_rule",
    "bitcast",
    "broadcast_all",
    "broadcast_shapes",
    "broadcast_to_shape",
    "call_function",
    "closed_over",
    "combiner_region",
    "common_dtype",
    "compare",
    "composite",
    "concatenate_arrays",
    "concretization",
    "constant",
    "contains_tracer",
    "contract",
    "convert",
    "copy_or_view",
    "current_trace",
    "expand",
    "extent_product",
    "foreign_values",
    "fori_loop",
    "full_of",
    "immutable_arrays",
    "implements",
    "inexact_dtype",
    "is_contiguous",
    "is_plain",
    "is_undecided",
    "is_unknown",
    "is_weak",
    "is_weak_bound",
    "known_numbers",
    "lay_out",
    "leaf_type",
    "lies_in",
    "loop_dtypes",
    "loses_slope",
    "map_lanes",
    "matrices",
    "memory_order",
    "naming",
    "needs",
    "new_array",
    "new_trace",
    "normalize_axes",
    "normalize_axis",
    "on_plain_arrays",
    "only_unit_axes_differ",
    "operand_names",
    "operand_of",
    "operands",
    "operations",
    "outside_traces",
    "promotion_key",
    "reduce_with",
    "refuse_waiting",
    "refuse_write",
    "register_pytree_node_class",
    "replay_body",
    "replay_function",
    "replay_op",
    "require_array",
    "require_callable",
    "require_casting",
    "require_size",
    "require_sizes",
    "reshape_to",
    "result_dtype",
    "rewriting_callees",
    "run_traced",
    "runs_anywhere",
    "scan",
    "select",
    "shape_of",
    "short_tracebacks",
    "size_of",
    "slice_axis",
    "slice_count",
    "special_methods",
    "spelling",
    "stand_in",
    "stand_in_dtype",
    "standing_in",
    "stands_for",
    "stands_for_scalar",
    "stored",
    "strict_integer_powers",
    "strides_of",
    "sum_over",
    "trace_closed",
    "trace_for",
    "trace_function",
    "trace_pytree_function",
    "trace_region",
    "traces_narrow_floats",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_structure",
    "tree_unflatten",
    "type_rules",
    "unknown_extent_of",
    "unshared",
    "usual_dtype",
    "view_reshape",
    "view_transpose",
    "vmap",
    "while_loop",
    "windows_are_checked",
    "with_memory_order",
]
