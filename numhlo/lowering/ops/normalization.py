"""Batch normalization: ``batch_norm_inference``, ``batch_norm_training`` and ``batch_norm_grad``.

Types and meaning; programs are rewritten to plain ops (`numhlo.lowering.passes.legalize_normalization`) before
anything else looks at them. Narrow floats are computed in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, Type
from numhlo.lowering.ir.types import FLOATS
from numhlo.lowering.ops.contraction import accumulation_dtype
from numhlo.lowering.ops.extents import declared_or, same_extent, same_shape
from numhlo.lowering.ops.primitive import Arrays, Attribute, Primitive, RegionFunction, Signature


class Normalization(Primitive):
    """An op that normalizes features over a batch."""

    __slots__ = ()


def _check(signature: Signature, vectors: Sequence[tuple[int, str]]) -> tuple[TensorType, TensorType]:
    """Return the types of the operand and of a vector of features; ``vectors`` are operand numbers and constraints."""
    operand = signature.tensor(0)
    feature: int = signature.attributes["feature_index"]
    require = signature.require
    require(operand.dtype in FLOATS, f"(I1) the operand must be a tensor of floats, not {operand.dtype.name}")
    require(0 <= feature < operand.ndim, f"(C1) feature_index {feature} must be an axis of the operand")
    same = all(t.dtype == operand.dtype for t in signature.tensors)
    require(same, "(C2) all operands must have one element type")
    extent = operand.shape[feature]
    for number, rule in vectors:
        type = signature.tensor(number)
        fits = type.ndim == 1 and same_extent(type.shape[0], extent)
        require(fits, f"({rule}) operand {number} must have {extent} elements, one for each feature")
    return operand, TensorType((extent,), operand.dtype)


def infer_batch_norm_inference(signature: Signature) -> Sequence[Type]:
    """Check (C1) to (C6); (C7) the result has the operand's type."""
    operand, _ = _check(signature, [(1, "C3"), (2, "C4"), (3, "C5"), (4, "C6")])
    return declared_or(signature, [operand])


def infer_batch_norm_training(signature: Signature) -> Sequence[Type]:
    """Check (C1) to (C4); (C5), (C6) mean and variance have an element for each feature, (C7) the operand's type."""
    operand, vector = _check(signature, [(1, "C3"), (2, "C4")])
    return declared_or(signature, [operand, vector, vector])


def infer_batch_norm_grad(signature: Signature) -> Sequence[Type]:
    """Check (C1) to (C5); results have the types of the operand, the scale and the scale."""
    operand, vector = _check(signature, [(1, "C5"), (2, "C4"), (3, "C4")])
    grad = signature.tensor(4)
    signature.require(same_shape(grad.shape, operand.shape), "(C3) grad_output must have the operand's shape")
    return declared_or(signature, [operand, vector, vector])


class _Layout:
    """An operand's features in wide arithmetic: spread over its shape, or summed over the rest."""

    def __init__(self, operand: np.ndarray, attributes: Mapping[str, Any]) -> None:
        self.dtype = operand.dtype
        self.wide = accumulation_dtype(operand.dtype)
        self.operand = operand.astype(self.wide, copy=False)
        self.feature: int = attributes["feature_index"]
        self.epsilon = np.asarray(np.float32(attributes["epsilon"])).astype(self.wide)
        self.rest = tuple([axis for axis in range(operand.ndim) if axis != self.feature])
        extent = operand.shape[self.feature]
        self.count = np.asarray(operand.size // extent if extent else 0).astype(self.wide)

    def spread(self, vector: np.ndarray) -> np.ndarray:
        return np.expand_dims(vector.astype(self.wide, copy=False), self.rest)

    def sum(self, array: np.ndarray) -> np.ndarray:
        return np.asarray(np.sum(array, axis=self.rest, dtype=self.wide))

    def finish(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple([np.asarray(array).astype(self.dtype, copy=False) for array in arrays])

    def normalize(self, scale: np.ndarray, offset: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        deviation = np.sqrt(self.spread(variance) + self.epsilon)
        normalized = (self.operand - self.spread(mean)) / deviation
        return np.asarray(self.spread(scale) * normalized + self.spread(offset))


def evaluate_batch_norm_inference(
    arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> Arrays:
    """Normalize with a given mean and variance."""
    layout = _Layout(arrays[0], attributes)
    return layout.finish(layout.normalize(*arrays[1:]))


def evaluate_batch_norm_training(
    arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> Arrays:
    """Normalize with the batch's own mean and variance."""
    operand, scale, offset = arrays
    layout = _Layout(operand, attributes)
    mean = layout.sum(layout.operand) / layout.count
    centered = layout.operand - layout.spread(mean)
    variance = layout.sum(centered * centered) / layout.count
    return layout.finish(layout.normalize(scale, offset, mean, variance), mean, variance)


def evaluate_batch_norm_grad(
    arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> Arrays:
    """Pull a gradient of the training op's output back to its operand, scale and offset."""
    operand, scale, mean, variance, grad_output = arrays
    layout = _Layout(operand, attributes)
    grad = grad_output.astype(layout.wide, copy=False)
    centered = layout.operand - layout.spread(mean)
    shifted = layout.spread(variance) + layout.epsilon
    deviation = np.sqrt(shifted)
    grad_offset = layout.sum(grad)
    along = layout.spread(layout.sum(grad * centered)) * centered / shifted
    inner = grad * layout.count - layout.spread(grad_offset) - along
    grad_operand = layout.spread(scale) / deviation / layout.count * inner
    return layout.finish(grad_operand, layout.sum(grad * (centered / deviation)), grad_offset)


_ATTRIBUTES = (Attribute("epsilon", "f32"), Attribute("feature_index", "i64"))

BATCH_NORM_INFERENCE = Normalization(
    "batch_norm_inference",
    infer_batch_norm_inference,
    evaluate_batch_norm_inference,
    ("operand", "scale", "offset", "mean", "variance"),
    _ATTRIBUTES,
)
BATCH_NORM_TRAINING = Normalization(
    "batch_norm_training",
    infer_batch_norm_training,
    evaluate_batch_norm_training,
    ("operand", "scale", "offset"),
    _ATTRIBUTES,
)
BATCH_NORM_GRAD = Normalization(
    "batch_norm_grad",
    infer_batch_norm_grad,
    evaluate_batch_norm_grad,
    ("operand", "scale", "mean", "variance", "grad_output"),
    _ATTRIBUTES,
)
