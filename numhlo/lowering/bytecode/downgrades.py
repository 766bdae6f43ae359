"""From ops of StableHLO to ops of vhlo in the form that a version of StableHLO has: the way back of `upgrades`.

vhlo leaves nothing to defaults: all attributes are written. What the older form of an op can't say is refused, with the
version that can.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from numhlo.lowering.bytecode.attribute_encoder import AttributeEncoder
from numhlo.lowering.bytecode.type_encoder import require_version
from numhlo.lowering.bytecode.upgrades import ALGORITHM, RECORDS
from numhlo.lowering.bytecode.vhlo_table import FORMS, OLDEST, PROMOTION, TYPED_CALLS, Version, VersionedOp
from numhlo.lowering.ir import Op, TensorType
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.text.foreign import UNIT

NEEDS_FORM: Mapping[str, Callable[[Op], bool]] = {
    "all_gather": lambda op: len(op.operands) != 1,
    "all_reduce": lambda op: len(op.operands) != 1,
    "all_to_all": lambda op: len(op.operands) != 1,
    "composite": lambda op: bool(op.regions),
    "dot_general": lambda op: op.attributes.get("algorithm") is not None,
    "gather": lambda op: bool(op.attributes["dimension_numbers"].operand_batching_dims),
    "dynamic_gather": lambda op: bool(op.attributes["dimension_numbers"].operand_batching_dims),
    "scatter": lambda op: bool(op.attributes["scatter_dimension_numbers"].input_batching_dims),
    "send": lambda op: np.size(op.attributes.get("source_target_pairs", ())) > 0,
    "recv": lambda op: np.size(op.attributes.get("source_target_pairs", ())) > 0,
}
"""Ops of which an older form can't say everything: whether one needs the newer form."""

TYPED_FFI = 4
"""The version of custom calls whose configuration is a dictionary."""

REDUCTIONS = frozenset({
    "all_reduce", "reduce", "reduce_scatter", "reduce_window", "scatter", "select_and_scatter"
})  # fmt: skip
"""Ops whose computation has had the operands' element types, until some version."""


def find_form(op: Op, target: Version) -> VersionedOp:
    """Return the newest form of an op that a version of StableHLO has.

    Raises
    ------
    UnsupportedError
        If the version has none that says what the op says.
    """
    name = op.definition.name
    forms = FORMS.get(name)
    if forms is None:
        raise UnsupportedError(f"portable artifacts have no op stablehlo.{name}", where=op.location)
    require_version(f"stablehlo.{name}", forms[0].since, target)
    form = next(form for form in reversed(forms) if form.since <= target)
    newest = forms[-1]
    if form is not newest:
        needs = NEEDS_FORM.get(name, _has_accuracy)
        require_version(f"this form of stablehlo.{name}", newest.since if needs(op) else OLDEST, target)
    if name in REDUCTIONS and target < PROMOTION and _promotes(op):
        require_version(f"stablehlo.{name} into another element type", PROMOTION, target)
    return form


def _has_accuracy(op: Op) -> bool:
    given = op.attributes.get("result_accuracy")
    return given is not None and not str(given).endswith("DEFAULT>>")


def _promotes(op: Op) -> bool:
    """Return whether a computation's arguments are of other element types than what it reduces."""
    arguments = op.regions[-1].arguments if op.regions else []
    operands = [value.type.dtype for value in op.operands if isinstance(value.type, TensorType)]
    return any(isinstance(v.type, TensorType) and v.type.dtype not in operands for v in arguments)


class Downgrader:
    """Writes the attributes of ops of StableHLO as vhlo has them."""

    def __init__(self, encoder: AttributeEncoder, target: Version) -> None:
        self._encoder, self._target = encoder, target

    def attributes(self, op: Op, form: VersionedOp) -> dict[str, int]:
        """Return the first numbers of an op's attributes: those that its form has, and others that it carries."""
        given = self._flat(op)
        found = {name: self._attribute(op, name, given.pop(name, None)) for name in form.attributes}
        if "source_target_pairs" in given:
            del given["source_target_pairs"]  # there are none, where the form has no place for them
        others = {name: value for name, value in given.items() if value is not None and not _is_declared(op, name)}
        for name, value in others.items():
            found[name] = self._encoder.unit() if value == UNIT else self._encoder.value(value)
        return found

    def _flat(self, op: Op) -> dict[str, Any]:
        """Return an op's attributes with records taken apart."""
        given = dict(op.attributes)
        name = op.definition.name
        if name in RECORDS:
            attribute, _, fields = RECORDS[name]
            numbers = given.pop(attribute)
            given.update({field: getattr(numbers, field) for field in fields})
        if name == "dot_general":
            algorithm = given.pop("algorithm", None)
            given.update({field: getattr(algorithm, field, None) for field in ALGORITHM})
        if "channel_handle" in given:
            channel = given.pop("channel_handle")
            given["channel_id"] = 0 if channel is None else channel.handle
            given["channel_type"] = 0 if channel is None else channel.type
        return given

    def _attribute(self, op: Op, name: str, value: Any) -> int:
        rule = _RULES.get((op.definition.name, name)) or _RULES.get(("", name))
        if rule is not None:
            return rule(self._encoder, op, value, self._target)
        kind = next((a.kind for a in op.definition.attributes if a.name == name), "")
        return self._of_kind(kind, value)

    def _of_kind(self, kind: str, value: Any) -> int:
        encoder = self._encoder
        if kind == "i32":
            return encoder.integer(value, "i32")
        if kind == "f32":
            return encoder.number(value, "f32")
        if kind.startswith("enum:"):
            return encoder.enumeration(kind[len("enum:") :], value)
        if kind == "array<i64>" or isinstance(value, tuple):
            return encoder.integers(value)
        if kind == "dense":
            return encoder.tensor(np.asarray(value))
        return encoder.value(value)


def _is_declared(op: Op, name: str) -> bool:
    return name == "channel_type" or any(a.name == name for a in op.definition.attributes)


def window_rank(op: Op) -> int:
    """Return how many dimensions an op's windows have."""
    if op.definition.name in {"convolution", "dynamic_conv"}:
        return len(op.attributes["dimension_numbers"].input_spatial_dimensions)
    type = op.operands[0].type
    return type.ndim if isinstance(type, TensorType) else len(op.attributes["window_dimensions"])


Rule = Callable[[AttributeEncoder, Op, Any, Version], int]


def _ones(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    return encoder.integers((1,) * window_rank(op) if value is None else value)


def _padding(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    return encoder.tensor(np.zeros((window_rank(op), 2), np.int64) if value is None else np.asarray(value))


def _reversal(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    return encoder.booleans((False,) * window_rank(op) if value is None else value)


def _precision(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    return encoder.array([encoder.enumeration("precision", item) for item in value or ("DEFAULT", "DEFAULT")])


def _pairs(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    return encoder.tensor(np.empty(0, np.int64)) if value is None else encoder.value(value)


def _unit(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    return encoder.boolean(bool(value))


def _symbol(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    return encoder.value(value)


def _list(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    if not isinstance(value, tuple | list | None):
        raise UnsupportedError(f"an attribute of stablehlo.{op.definition.name} must be a list", where=op.location)
    return encoder.array([encoder.value(item) for item in value or ()])


def _integers(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    return encoder.integers(value or ())


def _comparison(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    return encoder.enumeration("comparison_type", value or "NOTYPE")


def _accuracy(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    return encoder.accuracy(value)


def _api_version(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    if int(value) == TYPED_FFI:
        require_version("typed custom calls", TYPED_CALLS, target)
    return encoder.api_version(int(value))


def _config(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    if isinstance(value, Mapping):
        require_version("custom calls with a dictionary for their backend_config", TYPED_CALLS, target)
    return encoder.value("" if value is None else value)


def _algorithm(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    return encoder.scalar_type("none") if value is None else encoder.value(value)


def _algorithm_type(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    return encoder.scalar_type("none" if value is None else value)


def _dictionary(encoder: AttributeEncoder, op: Op, value: Any, target: Version) -> int:
    return encoder.dictionary(value or {})


_RULES: Mapping[tuple[str, str], Rule] = {
    **{("", name): _ones for name in ("window_strides", "lhs_dilation", "rhs_dilation", "base_dilations")},
    **{("", name): _ones for name in ("window_dilations", "window_dimensions")},
    **{("", name): _list for name in ("called_computations", "operand_layouts", "result_layouts", "layout")},
    **{("", name): _integers for name in ("known_expanding_dimensions", "known_nonexpanding_dimensions")},
    **{("", name): _algorithm_type for name in ALGORITHM[:3]},
    **{("", name): _algorithm for name in ALGORITHM[3:]},
    ("", "output_operand_aliases"): _list,
    ("", "padding"): _padding,
    ("", "window_reversal"): _reversal,
    ("", "precision_config"): _precision,
    ("send", "source_target_pairs"): _pairs,
    ("recv", "source_target_pairs"): _pairs,
    ("", "use_global_device_ids"): _unit,
    ("", "callee"): _symbol,
    ("", "decomposition"): _symbol,
    ("", "compare_type"): _comparison,
    ("", "result_accuracy"): _accuracy,
    ("", "api_version"): _api_version,
    ("", "backend_config"): _config,
    ("", "composite_attributes"): _dictionary,
}
"""Attributes that vhlo has in another way than StableHLO, or that StableHLO may leave out; by op, or of all ops."""
