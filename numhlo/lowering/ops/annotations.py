"""Composites that say something about a value and do nothing to it: `STOP_GRADIENT`, `CHECKPOINT_NAME`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from numhlo.lowering.ir import Function, TensorType
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.composites import CompositeDefinition, register
from numhlo.lowering.ops.primitive import Arrays, RegionFunction


def _evaluate(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    return arrays


STOP_GRADIENT = register(
    CompositeDefinition("numhlo.stop_gradient", _evaluate, 1, 1, "The operand, which derivatives take for a constant.")
)

CHECKPOINT_NAME = register(
    CompositeDefinition("numhlo.checkpoint_name", _evaluate, 1, 1, "The operand, with a name for checkpoint policies.")
)
ANNOTATIONS = {definition.name: definition for definition in (STOP_GRADIENT, CHECKPOINT_NAME)}
"""All of them, by name."""


@lru_cache(maxsize=256)
def _identity(name: str, type: TensorType) -> Function:
    b = FunctionBuilder(name, [type])
    return b.finish(b.arguments)


def make_annotation(definition: CompositeDefinition, type: TensorType, **parameters: Any) -> dict[str, Any]:
    """Return the attributes of the composite op that annotates a value of ``type``."""
    short = definition.name.removeprefix("numhlo.")
    attributes = {"name": definition.name, "decomposition": _identity(short, type)}
    return {**attributes, "composite_attributes": parameters} if parameters else attributes
