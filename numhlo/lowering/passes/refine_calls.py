"""Custom calls that stand for an op, whatever the extents of their operands: ``@mhlo.NAME``, and XLA's factorizations.

TensorFlow and PyTorch/XLA write ``@mhlo.NAME`` for what the dialect mhlo has and StableHLO has not. ``@Qr``, ``@Eigh``
and their kin are calls that XLA itself replaces on every device but the TPU. What they declare must be what they give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError
from numhlo.lowering.ir.types import FLOATS
from numhlo.lowering.ops import comparison, control_flow, creation, factorizations, layout, sorting
from numhlo.lowering.ops.chlo_types import ELEMENTWISE
from numhlo.lowering.ops.elementwise import TAN
from numhlo.lowering.ops.extents import same_types
from numhlo.lowering.ops.factorization_decompositions import lapack_attributes
from numhlo.lowering.ops.lazy_scipy import PREFIXES, type_prefix
from numhlo.lowering.ops.ranking import INDEX
from numhlo.lowering.passes.legalizer import Builder
from numhlo.lowering.passes.refine_rules import RULES, Known, top_k
from numhlo.lowering.text.unregistered import unregistered

__all__ = ["RULES"]

CallRule = Callable[[Builder, Op, Sequence[Value]], Sequence[Value]]
"""``rule(builder, op, operands) -> results``, from the operands' types and the op's attributes."""


def _call(target: str) -> Callable[[CallRule], CallRule]:
    def add(rule: CallRule) -> CallRule:
        def checked(b: Builder, op: Op, operands: Sequence[Value], known: Known) -> Sequence[Value]:
            results = rule(b, op, operands)
            made, declared = [v.type for v in results], [v.type for v in op.results]
            if not same_types(made, declared):
                given = " and ".join(v.tensor.short() for v in operands)
                raise ShapeError(
                    f"custom_call @{target} declares ({', '.join(map(str, declared))})",
                    where=op.location,
                    why=f"of {given} it makes ({', '.join(map(str, made))})",
                )
            return results

        RULES[f"stablehlo.custom_call @{target}"] = checked
        return rule

    return add


def _function(name: str) -> CallRule:
    def rule(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
        """Take CHLO's op of the same name."""
        return b.ops(unregistered(f"chlo.{name}"), *operands, results=[operands[0].tensor])

    return rule


for _name, (_count, _) in ELEMENTWISE.items():
    if _count == 1:
        _call(f"mhlo.{_name}")(_function(_name))


@_call("mhlo.tan")
def tangent(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Take StableHLO's own, which it did not always have."""
    return [b.op(TAN, *operands)]


@_call("mhlo.topk")
def largest_or_smallest(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Name the k largest elements of the last axis, or sort to find the smallest."""
    (x,) = operands
    options = op.attributes.get("mhlo.attributes", {})
    k = options.get("k", op.results[0].tensor.shape[-1])
    if not isinstance(k, int | np.integer) or not 0 <= k <= max(x.tensor.shape[-1], 0):
        raise ArgumentError(f"custom_call @mhlo.topk of {x.tensor.short()}: k is {k}", where=op.location)
    return top_k(b, x, int(k)) if options.get("largest", True) else _smallest(b, x, int(k))


def _smallest(b: Builder, x: Value, k: int) -> Sequence[Value]:
    type, axis = x.tensor, x.tensor.ndim - 1
    places = b.op(creation.IOTA, result=type.with_dtype(INDEX), iota_dimension=axis)
    element, place = TensorType((), type.dtype), TensorType((), INDEX)
    options: dict[str, Any] = {"compare_type": "TOTALORDER"} if type.dtype in FLOATS else {}

    def less(first: Value, second: Value, *_: Value) -> list[Value]:
        return [b.op(comparison.COMPARE, first, second, comparison_direction="LT", **options)]

    comparator = b.region([element, element, place, place], less)
    found = b.ops(sorting.SORT, x, places, regions=[comparator], dimension=axis, is_stable=True)
    start, limit, strides = (0,) * type.ndim, (*type.shape[:-1], k), (1,) * type.ndim
    return [b.op(layout.SLICE, v, start_indices=start, limit_indices=limit, strides=strides) for v in found]


def _matrix(op: Op, operands: Sequence[Value]) -> TensorType:
    """Return the first operand's type: stacks of matrices that LAPACK knows."""
    type = operands[0].tensor
    target = op.attributes["call_target_name"]
    if type.dtype.itemsize not in PREFIXES.get(type.dtype.kind, ()):
        raise DTypeError(f"custom_call @{target} of {type.short()}", where=op.location, why="LAPACK has no such type")
    if type.ndim < 2:
        raise ShapeError(f"custom_call @{target}: {type.short()} is no matrix", where=op.location)
    return type


def _lapack(b: Builder, routine: str, operands: Sequence[Value], results: Sequence[TensorType]) -> Sequence[Value]:
    rank = operands[0].tensor.ndim - 2
    attributes = lapack_attributes(routine, [v.tensor for v in operands], results, rank)
    return b.ops(control_flow.CUSTOM_CALL, *operands, results=results, **attributes)


def _factors(b: Builder, name: str, a: Value, **parameters: Any) -> Sequence[Value]:
    attributes = factorizations.make(name, [a.tensor], **parameters)
    types = attributes["decomposition"].result_types
    return b.ops(control_flow.COMPOSITE, a, results=types, **attributes)


@_call("Qr")
def packed_qr(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Return R above the reflectors' vectors, and their scales, as LAPACK's geqrf does."""
    type = _matrix(op, operands)
    return _lapack(b, "geqrf", operands, [type, type.with_shape((*type.shape[:-2], min(type.shape[-2:])))])


@_call("ProductOfElementaryHouseholderReflectors")
def product_of_reflectors(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Return what `packed_qr` packs as a matrix."""
    type = _matrix(op, operands)
    return _lapack(b, "orgqr" if type_prefix(type.dtype) in "sd" else "ungqr", operands, [type])


@_call("Eigh")
def hermitian_eigenvectors(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Return eigenvectors and eigenvalues; the configuration begins with 1 where the lower triangle is read."""
    _matrix(op, operands)
    is_lower = str(op.attributes["backend_config"]).partition(",")[0].strip() != "0"
    values, vectors = _factors(b, "eigh", operands[0], lower=is_lower)
    return [vectors, values]


@_call("LuDecomposition")
def packed_lu(b: Builder, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Return the packed factors, the rows that were exchanged, and the permutation."""
    _matrix(op, operands)
    return _factors(b, "lu", operands[0])
