"""The ops of the dialect vhlo: since which version of StableHLO, until which, and their attributes.

Source: StableHLO's VhloOps and the version log in VhloDialect. A change to an op makes a new op, ``add_v1`` and then
``add_v2``; the older one is read for ever. Bytecode of version 6 holds attributes by their place in the alphabet.
"""

from __future__ import annotations

from dataclasses import dataclass

Version = tuple[int, int, int]

OLDEST: Version = (0, 9, 0)
"""The first version that StableHLO promises to read."""

NEWEST: Version = (1, 17, 0)
"""The newest version whose ops this table has."""

_FOREVER: Version = (1 << 30, 0, 0)


@dataclass(frozen=True, slots=True)
class VersionedOp:
    """One op of vhlo.

    Attributes
    ----------
    name : str
        StableHLO's, without the dialect.
    number : int
        Which of the ops of this name it is.
    attributes : tuple of str
        In alphabetical order.
    since, until : tuple of int
        Versions of StableHLO that have it.
    """

    name: str
    number: int
    attributes: tuple[str, ...]
    since: Version = OLDEST
    until: Version = _FOREVER

    @property
    def full_name(self) -> str:
        """Return its name with the dialect and the number."""
        return f"vhlo.{self.name}_v{self.number}"


_PLAIN = [
    "abs",
    "add",
    "after_all",
    "and",
    "atan2",
    "bitcast_convert",
    "case",
    "ceil",
    "clamp",
    "complex",
    "convert",
    "count_leading_zeros",
    "create_token",
    "divide",
    "dynamic_pad",
    "dynamic_reshape",
    "dynamic_update_slice",
    "floor",
    "if",
    "imag",
    "is_finite",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "not",
    "optimization_barrier",
    "or",
    "partition_id",
    "popcnt",
    "power",
    "real",
    "real_dynamic_slice",
    "remainder",
    "replica_id",
    "reshape",
    "return",
    "round_nearest_afz",
    "round_nearest_even",
    "select",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "subtract",
    "tuple",
    "uniform_dequantize",
    "uniform_quantize",
    "while",
    "xor",
]

_OTHERS = {
    "batch_norm_grad": "epsilon feature_index",
    "batch_norm_inference": "epsilon feature_index",
    "batch_norm_training": "epsilon feature_index",
    "broadcast": "broadcast_sizes",
    "broadcast_in_dim": "broadcast_dimensions",
    "call": "callee",
    "cholesky": "lower",
    "collective_permute": "channel_id source_target_pairs",
    "compare": "compare_type comparison_direction",
    "concatenate": "dimension",
    "constant": "value",
    "convolution": "batch_group_count feature_group_count input_batch_dimension input_feature_dimension "
    "input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions "
    "lhs_dilation output_batch_dimension output_feature_dimension output_spatial_dimensions padding precision_config "
    "rhs_dilation window_reversal window_strides",
    "cross-replica-sum": "replica_groups",
    "custom_call": "api_version backend_config call_target_name called_computations has_side_effect operand_layouts "
    "output_operand_aliases result_layouts",
    "dot": "precision_config",
    "dynamic_broadcast_in_dim": "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions",
    "dynamic_iota": "iota_dimension",
    "dynamic_slice": "slice_sizes",
    "einsum": "einsum_config",
    "fft": "fft_length fft_type",
    "func": "arg_attrs function_type res_attrs sym_name sym_visibility",
    "get_dimension_size": "dimension",
    "get_tuple_element": "index",
    "infeed": "infeed_config layout",
    "iota": "iota_dimension",
    "map": "dimensions",
    "outfeed": "outfeed_config",
    "pad": "edge_padding_high edge_padding_low interior_padding",
    "reduce": "dimensions",
    "reduce_precision": "exponent_bits mantissa_bits",
    "reduce_scatter": "channel_id replica_groups scatter_dimension use_global_device_ids",
    "reduce_window": "base_dilations padding window_dilations window_dimensions window_strides",
    "reverse": "dimensions",
    "rng": "rng_distribution",
    "rng_bit_generator": "rng_algorithm",
    "select_and_scatter": "padding window_dimensions window_strides",
    "set_dimension_size": "dimension",
    "slice": "limit_indices start_indices strides",
    "sort": "dimension is_stable",
    "torch_index_select": "batch_dims dim",
    "transpose": "permutation",
    "triangular_solve": "left_side lower transpose_a unit_diagonal",
    "unary_einsum": "einsum_config",
}

_CONVOLUTION = _OTHERS["convolution"]
_GATHER = "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims start_index_map"
_SCATTER = (
    "index_vector_dim indices_are_sorted inserted_window_dims scatter_dims_to_operand_dims unique_indices "
    "update_window_dims"
)
_DOT = (
    "lhs_batching_dimensions lhs_contracting_dimensions precision_config rhs_batching_dimensions "
    "rhs_contracting_dimensions"
)
_ALGORITHM = (
    "accumulation_type allow_imprecise_accumulation lhs_component_count lhs_precision_type num_primitive_operations "
    "rhs_component_count rhs_precision_type"
)
_CHANNEL = "channel_id channel_type is_host_transfer"

_CHANGED: dict[str, tuple[tuple[str, Version], ...]] = {
    "all_gather": (
        ("all_gather_dim channel_id replica_groups use_global_device_ids", OLDEST),
        ("all_gather_dim channel_id replica_groups use_global_device_ids", (1, 5, 0)),
    ),
    "all_reduce": (
        ("channel_id replica_groups use_global_device_ids", OLDEST),
        ("channel_id replica_groups use_global_device_ids", (1, 5, 0)),
    ),
    "all_to_all": (
        ("channel_id concat_dimension replica_groups split_count split_dimension", OLDEST),
        ("channel_id concat_dimension replica_groups split_count split_dimension", (1, 5, 0)),
    ),
    "async_done": (("", (1, 15, 0)),),
    "async_start": (("", (1, 15, 0)),),
    "collective_broadcast": (("channel_id replica_groups", (0, 16, 0)),),
    "composite": (
        ("composite_attributes decomposition name version", (0, 19, 0)),
        ("composite_attributes decomposition name version", (1, 14, 0)),
    ),
    "dot_general": ((_DOT, OLDEST), (f"{_DOT} {_ALGORITHM}", (1, 6, 0))),
    "dynamic_conv": ((_CONVOLUTION, OLDEST), (_CONVOLUTION.replace(" padding ", " "), (0, 20, 0))),
    "dynamic_gather": ((_GATHER, OLDEST), (f"{_GATHER} operand_batching_dims start_indices_batching_dims", (1, 1, 0))),
    "exponential": (("", OLDEST), ("result_accuracy", (1, 9, 0))),
    "gather": (
        (f"{_GATHER} slice_sizes", OLDEST),
        (f"{_GATHER} slice_sizes operand_batching_dims start_indices_batching_dims", (1, 1, 0)),
    ),
    "recv": ((_CHANNEL, OLDEST), (f"{_CHANNEL} source_target_pairs", (1, 12, 0))),
    "scatter": ((_SCATTER, OLDEST), (f"{_SCATTER} input_batching_dims scatter_indices_batching_dims", (1, 1, 0))),
    "send": ((_CHANNEL, OLDEST), (f"{_CHANNEL} source_target_pairs", (1, 12, 0))),
    "tan": (("", (1, 4, 0)), ("result_accuracy", (1, 10, 0))),
    **dict.fromkeys(
        ("cbrt", "cosine", "exponential_minus_one", "log", "log_plus_one", "logistic", "rsqrt", "sine", "sqrt", "tanh"),
        (("", OLDEST), ("result_accuracy", (1, 10, 0))),
    ),
}  # fmt: skip
"""Ops that are not the same in all versions: the attributes of each form, and the version that it came with."""


def _forms() -> dict[str, tuple[VersionedOp, ...]]:
    first = {**dict.fromkeys(_PLAIN, ""), **_OTHERS}
    found: dict[str, tuple[VersionedOp, ...]] = {
        name: (VersionedOp(name, 1, tuple(sorted(names.split()))),) for name, names in first.items()
    }
    for name, forms in _CHANGED.items():
        ends = [since for _, since in forms[1:]] + [_FOREVER]
        found[name] = tuple(
            VersionedOp(name, number + 1, tuple(sorted(names.split())), since, end)
            for number, ((names, since), end) in enumerate(zip(forms, ends, strict=True))
        )
    return found


FORMS: dict[str, tuple[VersionedOp, ...]] = _forms()
"""By StableHLO's name: its forms, oldest first. A form is had by versions before its `until`."""

VERSIONED: dict[str, VersionedOp] = {form.full_name: form for forms in FORMS.values() for form in forms}
"""By the full name: every op of vhlo."""

NEW_TYPES: dict[str, Version] = {
    "f8E4M3FNUZ": (0, 10, 0), "f8E5M2FNUZ": (0, 10, 0), "f8E4M3B11FNUZ": (0, 11, 0), "i2": (1, 2, 0), "ui2": (1, 2, 0),
    "f8E4M3": (1, 7, 0), "f8E3M4": (1, 7, 0), "f4E2M1FN": (1, 8, 0), "f6E2M3FN": (1, 8, 0), "f6E3M2FN": (1, 8, 0),
    "f8E8M0FNU": (1, 8, 0), "tf32": (1, 6, 0), "none": (1, 6, 0),
}  # fmt: skip
"""Element types that the first version does not have."""

PER_AXIS, BUFFERS, FUTURES, MESH_AXES = (0, 18, 0), (1, 13, 0), (1, 15, 0), (1, 16, 0)
PROMOTION, TYPED_CALLS = (0, 17, 0), (1, 3, 0)
"""Versions that came with quantization along an axis, types of buffers and of futures, groups of processes by axes of a
mesh; with reductions into another type than the operands', and custom calls whose configuration is a dictionary."""


def bytecode_version(version: Version) -> int:
    """Return the version of MLIR bytecode that artifacts for a version of StableHLO are written in.

    Examples
    --------
    >>> bytecode_version((0, 9, 0)), bytecode_version((0, 12, 0)), bytecode_version((1, 0, 0))
    (0, 3, 6)
    """
    for number, first in ((6, (0, 15, 0)), (4, (0, 14, 0)), (3, (0, 12, 0)), (1, (0, 10, 0))):
        if version >= first:
            return number
    return 0
