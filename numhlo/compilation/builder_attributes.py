"""What a builder's user gives as an attribute, as the op holds it: lists, NumPy's numbers, nested lists for arrays.

Kinds are those of `numhlo.lowering.ops.primitive.Attribute`; what fits which is `numhlo.lowering.text`'s, which reads
the same attributes from text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ops import layout
from numhlo.lowering.ops.primitive import MISSING, Attribute, Primitive
from numhlo.lowering.text.foreign import ForeignAttribute
from numhlo.lowering.text.parse_attributes import fitted

GROUPS = frozenset({"replica_groups", "source_target_pairs"})
"""Attributes that are matrices of processes, or text: the axes of a mesh."""


def fit_attributes(definition: Primitive, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return an op's attributes with the declared ones as their kinds ask for them.

    Raises
    ------
    ArgumentError
        If one is missing, or does not fit.
    """
    declared = {attribute.name: attribute for attribute in definition.attributes}
    if definition is layout.SLICE and given.get("strides") is None:
        given = {**given, "strides": (1,) * len(given.get("start_indices", ()))}
    for name, attribute in declared.items():
        if attribute.default is MISSING and given.get(name) is None:
            raise ArgumentError(f"{definition.name}: the attribute {name} is missing", fix=f"say it: {name}=...")
    fit = {name: _fit(definition, declared[name], value) for name, value in given.items() if name in declared}
    return {**given, **fit}


def _fit(definition: Primitive, attribute: Attribute, value: Any) -> Any:
    if value is None:
        return attribute.default
    value = _plain(attribute, value)
    found = fitted(attribute.kind, value)
    if found is None or (attribute.name in GROUPS and not isinstance(found, np.ndarray | ForeignAttribute)):
        shown = f"{value!r:.60}"
        raise ArgumentError(
            f"{definition.name}: the attribute {attribute.name} can't be {shown}",
            why=f"it is of kind {'matrix of i64' if attribute.name in GROUPS else attribute.kind}",
        )
    return found


def _plain(attribute: Attribute, value: Any) -> Any:
    """Return NumPy's numbers as Python's, lists as tuples, or as arrays where the op holds one."""
    if attribute.kind == "dense" or attribute.name in GROUPS:
        array = np.asarray(value) if isinstance(value, list | tuple | np.generic | np.ndarray) else None
        is_numbers = array is not None and array.dtype.kind not in "OUS"
        return array if is_numbers else value
    if attribute.kind in ("bool", "unit") and isinstance(value, np.bool_):
        return bool(value)
    if attribute.kind == "f32" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return tuple(value) if isinstance(value, list) else value
