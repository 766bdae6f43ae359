"""Composites whose meaning a user has replaced, by name and version: they get another decomposition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakSet

from numhlo.lowering.ir import Function, Op, TensorType, Value
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.extension_loading import load_extensions
from numhlo.lowering.passes.legalizer import Builder, legalization

Meaning = Callable[[Sequence[TensorType], Mapping[str, Any], Sequence[TensorType]], Function]
"""``meaning(operand types, attributes, result types)`` returns the function that a composite means."""

OVERRIDES: dict[tuple[str, int], Meaning] = {}
"""By the name and version of composites."""

_made: WeakSet[Function] = WeakSet()


def override_of(name: str, version: int) -> Meaning | None:
    """Return what replaces the decomposition of composites, None where nothing does."""
    if not name.startswith("numhlo."):
        load_extensions()
    return OVERRIDES.get((name, version))


def overridden(
    meaning: Meaning, types: Sequence[TensorType], attributes: Mapping[str, Any], results: Sequence[TensorType]
) -> Function:
    """Return the other decomposition of a composite."""
    function = meaning(types, attributes, results)
    _made.add(function)
    return function


def _is_overridden(op: Op) -> bool:
    meaning = override_of(op.attributes["name"], op.attributes["version"])
    return meaning is not None and op.attributes["decomposition"] not in _made


@legalization("stablehlo.composite", when=_is_overridden)
def legalize_composite(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Give a composite the decomposition that replaces its own."""
    meaning = override_of(op.attributes["name"], op.attributes["version"])
    assert meaning is not None
    results = [v.tensor for v in op.results]
    options = op.attributes["composite_attributes"]
    function = overridden(meaning, [v.tensor for v in op.operands], options, results)
    return b.ops(COMPOSITE, *operands, results=results, **{**op.attributes, "decomposition": function})
