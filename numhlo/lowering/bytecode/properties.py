"""Properties of ops in bytecode from version 5 on: which attributes an op has, in which order, and which may be absent.

An op's properties are its attributes in alphabetical order, each the number of an attribute; one that may be absent
has a flag in its lowest bit. vhlo has all of them always. Of dialects that promise no stability, an op may have had
other attributes before: the number of attributes that are written tells which.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from numhlo.lowering.bytecode.cursor import ByteCursor
from numhlo.lowering.bytecode.vhlo_table import VERSIONED
from numhlo.lowering.ops.communication import WITHOUT_TOKEN
from numhlo.lowering.ops.primitive import MISSING, PRIMITIVES

Layout = tuple[tuple[str, bool], ...]
"""Names of attributes in order, and whether each may be absent."""


def _layout(text: str) -> Layout:
    return tuple((name.rstrip("?"), name.endswith("?")) for name in text.split())


_BROADCASTING = (
    "add and atan2 complex divide maximum minimum multiply next_after or polygamma power remainder shift_left "
    "shift_right_arithmetic shift_right_logical subtract xor zeta"
)

_OTHERS: dict[str, tuple[str, ...]] = {
    "builtin.module": ("sym_name? sym_visibility?",),
    "func.func": (
        "arg_attrs? function_type res_attrs? sym_name sym_visibility?",
        "arg_attrs? function_type no_inline? res_attrs? sym_name sym_visibility?",
    ),
    "func.call": (
        "callee",
        "callee no_inline?",
        "arg_attrs? callee res_attrs?",
        "arg_attrs? callee no_inline? res_attrs?",
    ),
    "func.constant": ("value",),
    "chlo.broadcast_compare": ("broadcast_dimensions? compare_type? comparison_direction",),
    "chlo.compare": ("compare_type? comparison_direction",),
    "chlo.constant": ("value",),
    "chlo.constant_like": ("value",),
    "chlo.dynamic_reshape": ("",),
    "chlo.is_inf": ("",),
    "chlo.ragged_dot": ("precision_config? ragged_dot_dimension_numbers",),
    "chlo.top_k": ("k",),
    **{f"chlo.broadcast_{name}": ("broadcast_dimensions?",) for name in _BROADCASTING.split()},
    "sdy.mesh": ("mesh sym_name",),
    "sdy.sharding_constraint": ("sharding",),
    "sdy.reshard": ("sharding",),
    "sdy.manual_computation": ("in_shardings manual_axes out_shardings",),
    "sdy.sharding_group": ("group_id",),
    "sdy.propagation_barrier": ("allowed_direction",),
    "sdy.named_computation": ("in_shardings? name out_shardings?",),
    "sdy.data_flow_edge": ("sharding?",),
    "sdy.constant": ("value",),
    "sdy.all_gather": ("gathering_axes out_sharding",),
    "sdy.all_slice": ("out_sharding slicing_axes",),
    "sdy.all_reduce": ("out_sharding reduction_axes",),
    "sdy.all_to_all": ("out_sharding params",),
    "sdy.collective_permute": ("out_sharding",),
    "sdy.reduce_scatter": ("out_sharding reduce_scatter_axes",),
    "arith.constant": ("value",),
    "arith.cmpi": ("predicate",),
    "shape.const_shape": ("shape",),
    "shape.const_witness": ("passing",),
}
"""Ops of other dialects than StableHLO's: attributes, ``?`` behind those that may be absent; a text a version."""

ALL = ""
"""The name of what an unknown op has: one attribute, which is a dictionary of all."""

HINTED = frozenset({"arith", "shape", "tensor"})
"""Dialects whose ops have hints for compilers as properties; those that say more are listed above."""

_ABSENT_TOO = {
    "stablehlo.convolution": ("precision_config",),
    "stablehlo.recv": ("source_target_pairs",),
    "stablehlo.send": ("source_target_pairs",),
}


@cache
def layouts_of(name: str) -> Sequence[Layout]:
    """Return in which ways an op's properties may be laid out, by its full name; none where that is not known.

    Examples
    --------
    >>> layouts_of("vhlo.reduce_precision_v1")
    ((('exponent_bits', False), ('mantissa_bits', False)),)
    """
    if name in VERSIONED:
        return (tuple((attribute, False) for attribute in VERSIONED[name].attributes),)
    if name in _OTHERS:
        return tuple(map(_layout, _OTHERS[name]))
    dialect, _, mnemonic = name.partition(".")
    definition = PRIMITIVES.get(mnemonic)
    if dialect not in {"stablehlo", "mhlo"} or definition is None:
        return ()
    public = (a for a in definition.attributes if a.name != WITHOUT_TOKEN)
    declared = {(a.name, a.default is not MISSING) for a in public}
    full = tuple(sorted(declared | {(extra, True) for extra in _ABSENT_TOO.get(f"stablehlo.{mnemonic}", ())}))
    return (full,) if len(full) == len(declared) else (full, tuple(sorted(declared)))


def read_properties(name: str, cursor: ByteCursor) -> dict[str, int]:
    """Read an op's properties, and return the numbers of its attributes by name."""
    numbers = []
    while not cursor.is_at_end:
        numbers.append(cursor.number())
    layouts = layouts_of(name)
    if not layouts and name.partition(".")[0] in HINTED:
        return {}
    layout = next((layout for layout in layouts if len(layout) == len(numbers)), None)
    if layout is None and not numbers:
        return {}
    if not layouts and len(numbers) == 1:
        return {ALL: numbers[0]}
    if layout is None:
        known = ", ".join(str(len(layout)) for layout in layouts) or "none"
        cursor.fail(f"{name} has {len(numbers)} attributes, where {known} are known")
    found = {}
    for (attribute, is_optional), number in zip(layout, numbers, strict=True):
        if not is_optional:
            found[attribute] = number
        elif number & 1:
            found[attribute] = number >> 1
    return found
