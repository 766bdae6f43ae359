"""dot_general as a sum of products: for small matrices, for vectors, and for types that BLAS does not know.

The result is plain ops (broadcast_in_dim, multiply, reduce), which fuse with what is around them. Integers are
multiplied in the result's type, where they wrap; narrow floats in float32, with one rounding at the end. Large
products of narrow floats are converted, and left to BLAS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from numhlo.backend.emit.contraction import BLAS_TYPES, operand_groups
from numhlo.backend.emit.registers import REGISTERS
from numhlo.lowering.ir import Location, Op, Region, TensorType, Type, Value
from numhlo.lowering.ops import contraction, conversion, creation, elementwise, layout, reduction
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers
from numhlo.lowering.ops.primitive import Primitive, make_op

SMALL = 512
"""Multiplications of one matrix product up to which calling BLAS does not pay."""

Emit = Callable[..., Value]


def is_small(op: Op) -> bool:
    """Return whether a dot_general is expanded."""
    types = [v.type for v in (*op.operands, *op.results)]
    return _is_small(*types, op.attributes["dot_dimension_numbers"])


@lru_cache(maxsize=1024)
def _is_small(lhs: Type, rhs: Type, result: Type, numbers: DotDimensionNumbers) -> bool:
    types = (lhs, rhs, result)
    if not all(isinstance(type, TensorType) and type.is_static for type in types):
        return False
    op = _product(lhs, rhs, result, numbers)
    m, k, n = _extents(op)
    dtype = op.result.tensor.dtype
    plain = REGISTERS[dtype].storage in BLAS_TYPES and all(v.tensor.dtype == dtype for v in op.operands)
    if REGISTERS[dtype].kind == "c":
        return False
    return not plain or min(m, n) == 1 or m * n * k <= SMALL or op.result.tensor.size == 0


def _product(lhs: Type, rhs: Type, result: Type, numbers: DotDimensionNumbers) -> Op:
    """Return a product of the arguments of a region."""
    region = Region([lhs, rhs])
    return Op(contraction.DOT_GENERAL, region.arguments, {"dot_dimension_numbers": numbers}, (), [result])


def _extents(op: Op) -> tuple[int, int, int]:
    (_, rows, summed), (_, _, columns) = operand_groups(op, 0), operand_groups(op, 1)
    lhs, rhs = (v.tensor.shape for v in op.operands)
    m, k, n = 1, 1, 1
    for dim in rows:
        m *= lhs[dim]
    for dim in summed:
        k *= lhs[dim]
    for dim in columns:
        n *= rhs[dim]
    return m, k, n


def expand_product(op: Op, operands: Sequence[Value], append: Callable[[Op], None]) -> Value:
    """Append the ops of a sum of products and return its value.

    Parameters
    ----------
    op : Op
        A dot_general.
    operands : sequence of Value
        What takes the place of its operands.
    append : callable
    """
    types = [v.type for v in (*op.operands, *op.results)]
    pattern = _pattern(*types, op.attributes["dot_dimension_numbers"])
    return _copy(pattern, operands, op.location, append)[0]


def _copy(pattern: Region, operands: Sequence[Value], location: Location, append: Callable[[Op], None]) -> list[Value]:
    """Append copies of a region's ops, and return what it returns."""
    values = dict(zip(pattern.arguments, operands, strict=True))
    for op in pattern.ops:
        regions = []
        for body in op.regions:
            region = Region([v.type for v in body.arguments])
            region.returns = _copy(body, region.arguments, location, region.ops.append)
            regions.append(region)
        types = [v.type for v in op.results]
        copy = Op(op.definition, [values[v] for v in op.operands], op.attributes, regions, types, location)
        append(copy)
        values.update(zip(op.results, copy.results, strict=True))
    return [values[v] for v in pattern.returns]


@lru_cache(maxsize=1024)
def _pattern(lhs: Type, rhs: Type, result: Type, numbers: DotDimensionNumbers) -> Region:
    """Return the sum of products of a region's arguments: programs repeat few kinds of products many times."""
    op = _product(lhs, rhs, result, numbers)
    region = Region([lhs, rhs])

    def emit(definition: Primitive, *values: Value, result: TensorType | None = None, **attributes: object) -> Value:
        made = make_op(definition, values, attributes, (), None if result is None else [result])
        region.ops.append(made)
        return made.result

    dtype = op.result.tensor.dtype
    wide = _accumulator(dtype)
    left, right = (_converted(emit, value, wide) for value in region.arguments)
    m, k, n = _extents(op)
    if REGISTERS[wide].storage in BLAS_TYPES and min(m, n) > 1 and m * n * k > SMALL:
        found = op.result.tensor.with_dtype(wide)
        total = emit(contraction.DOT_GENERAL, left, right, result=found, dot_dimension_numbers=numbers)
    else:
        total = _sum_of_products(op, left, right, emit, region.ops.append)
    region.returns = [_converted(emit, total, dtype)]
    return region


def _accumulator(dtype: np.dtype) -> np.dtype:
    register = REGISTERS[dtype]
    if register.kind == "f" and register.narrow:
        return np.dtype(np.float32)
    return np.dtype(np.int32) if register.kind in "iu" and register.narrow else dtype


def _converted(emit: Emit, value: Value, dtype: np.dtype) -> Value:
    if value.tensor.dtype == dtype:
        return value
    return emit(conversion.CONVERT, value, result=value.tensor.with_dtype(dtype))


def _sum_of_products(op: Op, left: Value, right: Value, emit: Emit, append: Callable[[Op], None]) -> Value:
    """Return the sum over the contracting dimensions, which are the last ones of the product."""
    batch, rows, summed = operand_groups(op, 0)
    right_batch, right_summed, columns = operand_groups(op, 1)
    lhs, rhs = left.tensor.shape, right.tensor.shape
    shape = op.result.tensor.shape + tuple(lhs[d] for d in summed)
    first_column = len(batch) + len(rows)
    first_summed = first_column + len(columns)
    places = dict(zip([*batch, *rows], range(first_column), strict=True))
    places |= {d: first_summed + k for k, d in enumerate(summed)}
    right_places = dict(zip(right_batch, range(len(batch)), strict=True))
    right_places |= {d: first_column + k for k, d in enumerate(columns)}
    right_places |= {d: first_summed + k for k, d in enumerate(right_summed)}
    type = left.tensor.with_shape(shape)
    spread = [
        emit(
            layout.BROADCAST_IN_DIM, value, result=type, broadcast_dimensions=tuple(at[d] for d in range(len(extents)))
        )
        for value, at, extents in ((left, places, lhs), (right, right_places, rhs))
    ]
    product = emit(elementwise.MULTIPLY, *spread)
    zero = emit(creation.CONSTANT, value=np.zeros((), type.dtype))
    scalar = TensorType((), type.dtype)
    body = Region([scalar, scalar])
    add = make_op(elementwise.ADD, body.arguments)
    body.ops.append(add)
    body.returns = [add.result]
    axes = {"dimensions": tuple(range(first_summed, len(shape)))}
    total = make_op(reduction.REDUCE, [product, zero], axes, [body])
    append(total)
    return total.result
