"""Ops that old exporters write: ``map``, ``broadcast``, ``torch_index_select``, ``einsum`` and ``unary_einsum``.

The specification plans to remove them; it gives constraints for ``map`` alone. Types and meaning are here; programs
are rewritten to other ops (`numhlo.lowering.passes.legalize_deprecated`) before anything else looks at them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, Type
from numhlo.lowering.ir.types import INTEGERS
from numhlo.lowering.ops.contraction import Contraction, accumulation_dtype
from numhlo.lowering.ops.extents import declared_or, same_extent, same_shape
from numhlo.lowering.ops.indexing import Indexing
from numhlo.lowering.ops.layout import Layout
from numhlo.lowering.ops.primitive import Arrays, Attribute, Primitive, RegionFunction, Signature
from numhlo.lowering.ops.region_function import full, region_of, takes_arrays


class Elementary(Primitive):
    """An op that applies a function of scalars to every element."""

    __slots__ = ()


def infer_map(signature: Signature) -> Sequence[Type]:
    """Check (C2) to (C4); (C1) the result has the inputs' shape."""
    require = signature.require
    tensors = signature.tensors
    require(len(tensors) > 0, "(C2) needs at least one input")
    shape = tensors[0].shape
    require(all(same_shape(t.shape, shape) for t in tensors), "(C1) inputs must have one shape")
    dimensions = signature.attributes["dimensions"]
    require(
        tuple(dimensions) == tuple(range(len(shape))), f"(C3) dimensions must be all axes in order, not {dimensions}"
    )
    require(len(signature.regions) == 1, "needs one region")
    (body,) = signature.regions
    taken, returned = [v.type for v in body.arguments], [v.type for v in body.returns]
    fits = taken == [TensorType((), t.dtype) for t in tensors] and len(returned) == 1
    element = returned[0] if fits else None
    if not isinstance(element, TensorType) or element.shape:
        require(False, "(C4) the computation must take a scalar of each input's element type and return one scalar")
    assert isinstance(element, TensorType)
    return declared_or(signature, [tensors[0].with_dtype(element.dtype)])


def evaluate_map(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Apply the computation: to whole arrays where it means the same on them, else element by element."""
    (computation,) = regions
    shape = arrays[0].shape
    region = region_of(computation)
    if takes_arrays(region) or not shape:
        return full(computation(*arrays), shape)
    columns = [a.ravel() for a in arrays]
    values = [computation(*[np.asarray(x) for x in row])[0] for row in zip(*columns, strict=True)]
    dtype = region.returns[0].tensor.dtype if region is not None else values[0].dtype
    return [np.array(values, dtype).reshape(shape)]


def infer_broadcast(signature: Signature) -> Sequence[Type]:
    """New dimensions go in front."""
    operand, sizes = signature.tensor(0), signature.attributes["broadcast_sizes"]
    signature.require(min(sizes, default=0) >= 0, f"broadcast_sizes must not be negative: {list(sizes)}")
    return declared_or(signature, [operand.with_shape((*sizes, *operand.shape))])


def evaluate_broadcast(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Repeat the operand."""
    return [np.broadcast_to(arrays[0], (*attributes["broadcast_sizes"], *arrays[0].shape))]


def infer_torch_index_select(signature: Signature) -> Sequence[Type]:
    """Dimension ``dim`` becomes those of the index that are not batch dimensions."""
    operand, index = signature.tensors
    dim, batch = signature.attributes["dim"], signature.attributes["batch_dims"]
    require = signature.require
    require(index.dtype in INTEGERS, "the index must be a tensor of integers")
    require(0 <= dim < operand.ndim, f"dim {dim} must be an axis of the operand")
    require(0 <= batch <= min(dim, index.ndim), f"batch_dims {batch} must be at most dim and the index's rank")
    fits = all(map(same_extent, operand.shape[:batch], index.shape[:batch]))
    require(fits, "batch dimensions must have the same extents in the operand and the index")
    shape = (*operand.shape[:dim], *index.shape[batch:], *operand.shape[dim + 1 :])
    return declared_or(signature, [operand.with_shape(shape)])


def evaluate_torch_index_select(
    arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> Arrays:
    """Take slices along ``dim``; indices outside are clamped, as in ``gather``."""
    operand, index = arrays
    dim, batch = attributes["dim"], attributes["batch_dims"]
    shape = (*operand.shape[:dim], *index.shape[batch:], *operand.shape[dim + 1 :])
    if 0 in shape:
        return [np.empty(shape, operand.dtype)]
    places = np.clip(index.astype(np.int64), 0, operand.shape[dim] - 1)
    result = np.empty(shape, operand.dtype)
    for lane in np.ndindex(index.shape[:batch]):
        result[lane] = np.take(operand[lane], places[lane], axis=dim - batch)
    return [result]


def einsum_labels(config: str, ranks: Sequence[int]) -> tuple[list[str], str] | None:
    """Return the labels of the operands' dimensions and of the result's, or None where they don't fit.

    Examples
    --------
    >>> einsum_labels("ab,bc->ac", [2, 2])
    (['ab', 'bc'], 'ac')
    """
    left, arrow, result = config.replace(" ", "").partition("->")
    labels = left.split(",")
    known = set("".join(labels))
    fits = (
        arrow == "->"
        and [len(part) for part in labels] == list(ranks)
        and len(set(result)) == len(result)
        and set(result) <= known
        and all(label.isalpha() for label in known)
    )
    return (labels, result) if fits else None


def infer_einsum(signature: Signature) -> Sequence[Type]:
    """Extents follow from the labels."""
    tensors = signature.tensors
    config = signature.attributes["einsum_config"]
    labels = einsum_labels(config, [t.ndim for t in tensors])
    signature.require(all(t.dtype == tensors[0].dtype for t in tensors), "operands must have one element type")
    rule = f"einsum_config {config!r} must have a letter for each dimension, and a result of some of them"
    signature.require(labels is not None, rule)
    assert labels is not None
    extents: dict[str, int] = {}
    for part, type in zip(labels[0], tensors, strict=True):
        for label, extent in zip(part, type.shape, strict=True):
            fits = same_extent(extents.setdefault(label, extent), extent)
            signature.require(fits, f"dimensions with the label {label} must have the same extent")
    return declared_or(signature, [tensors[0].with_shape(tuple([extents[label] for label in labels[1]]))])


def evaluate_einsum(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Multiply and sum."""
    dtype = arrays[0].dtype
    wide = accumulation_dtype(dtype)
    factors = [a.astype(wide, copy=False) for a in arrays]
    if math.prod([a.size for a in arrays]) == 0:
        labels = einsum_labels(attributes["einsum_config"], [a.ndim for a in arrays])
        assert labels is not None
        extents = dict(zip("".join(labels[0]), [n for a in arrays for n in a.shape], strict=True))
        return [np.zeros([extents[label] for label in labels[1]], dtype)]
    return [np.array(np.einsum(attributes["einsum_config"], *factors)).astype(dtype, copy=False)]


MAP = Elementary(
    "map", infer_map, evaluate_map, ("*inputs",), (Attribute("dimensions", "array<i64>"),), regions=("computation",)
)
BROADCAST = Layout(
    "broadcast", infer_broadcast, evaluate_broadcast, ("operand",), (Attribute("broadcast_sizes", "array<i64>"),)
)
TORCH_INDEX_SELECT = Indexing(
    "torch_index_select",
    infer_torch_index_select,
    evaluate_torch_index_select,
    ("operand", "index"),
    (Attribute("dim", "i64"), Attribute("batch_dims", "i64")),
)
EINSUM = Contraction("einsum", infer_einsum, evaluate_einsum, ("lhs", "rhs"), (Attribute("einsum_config", "string"),))
UNARY_EINSUM = Contraction(
    "unary_einsum", infer_einsum, evaluate_einsum, ("operand",), (Attribute("einsum_config", "string"),)
)
