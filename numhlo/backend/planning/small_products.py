"""dot_general as a sum of products: for small matrices, for vectors, and for types that BLAS does not know.

The result is plain ops (broadcast_in_dim, multiply, reduce), which fuse with what is around them. Integers are
multiplied in the result's type, where they wrap; narrow floats in float32, with one rounding at the end. Large
products of narrow floats are converted, and left to BLAS; those of 8-bit integers, too, in parts whose sums
float32 holds exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, reduce

import ml_dtypes
import numpy as np

from numhlo.backend.emit.contraction import BLAS_TYPES, operand_groups
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.planning.writing import Writer
from numhlo.lowering.ir import Location, Op, Region, TensorType, Type, Value
from numhlo.lowering.ops import contraction, creation, elementwise
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers

SMALL = 512
"""Multiplications of one matrix product up to which calling BLAS does not pay."""

LARGE = 1 << 20
"""Multiplications from which on narrow integers are worth a conversion to floats, and back."""

LEAST_ROWS = 4
"""Rows and columns of a product of bytes from which on its operands are converted once each, and not as often as read.
"""

EXACT = 1 << 24
"""Up to here float32 holds all integers."""

MOST_PARTS = 16
"""Products of which the sum is worth more than a loop over integers; their sums stay far below 2 ** 31."""


def product_pattern(op: Op) -> Region | None:
    """Return what a dot_general is expanded to: a region on its operands; None where it is not expanded."""
    (lhs, rhs), (result,) = op.operands, op.results
    return _pattern(lhs.type, rhs.type, result.type, op.attributes["dot_dimension_numbers"])


def _is_small(op: Op) -> bool:
    if not all(isinstance(v.type, TensorType) and v.type.is_static for v in (*op.operands, *op.results)):
        return False
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


def expand_product(
    pattern: Region, operands: Sequence[Value], location: Location, region: Region, constants: dict[Op, Value]
) -> Value:
    """Append copies of the ops of a sum of products to a region and return its value.

    Bodies of sums, which nobody changes, are shared; so are constants.

    Parameters
    ----------
    pattern : Region
        As `product_pattern` returned it; each of its ops has one result.
    operands : sequence of Value
        What takes the place of its arguments.
    location : Location
        The product's.
    region : Region
    constants : dict from Op to Value
        The patterns' constants that the region has already; others are added.
    """
    values = dict(zip(pattern.arguments, operands, strict=True))
    for op in pattern.ops:
        (result,) = op.results
        if op in constants:
            values[result] = constants[op]
            continue
        taken = list(map(values.__getitem__, op.operands))
        copy = Op(op.definition, taken, op.attributes, op.regions, [result.type], location)
        region.ops.append(copy)
        (values[result],) = copy.results
        if op.definition is creation.CONSTANT:
            constants[op] = values[result]
    return values[pattern.returns[0]]


@lru_cache(maxsize=1024)
def _pattern(lhs: Type, rhs: Type, result: Type, numbers: DotDimensionNumbers) -> Region | None:
    """Return the sum of products of a region's arguments: programs repeat few kinds of products many times."""
    op = _product(lhs, rhs, result, numbers)
    if not _is_small(op):
        return None
    region = Region([lhs, rhs])

    writer = Writer(region.ops.append)
    dtype = op.result.tensor.dtype
    m, k, n = _extents(op)
    wide = _accumulator(dtype)
    parts = _exact_parts(op) if m * n * k >= LARGE and min(m, n) >= LEAST_ROWS else []
    if parts:
        total = _exact_product(op, parts, region.arguments, writer)
        region.returns = [writer.convert(total, dtype)]
        return region
    left, right = (writer.convert(value, wide) for value in region.arguments)
    if REGISTERS[wide].storage in BLAS_TYPES and min(m, n) > 1 and m * n * k > SMALL:
        found = op.result.tensor.with_dtype(wide)
        total = writer.op(contraction.DOT_GENERAL, left, right, result=found, dot_dimension_numbers=numbers)
    else:
        total = _sum_of_products(op, left, right, writer)
    region.returns = [writer.convert(total, dtype)]
    return region


def _accumulator(dtype: np.dtype) -> np.dtype:
    register = REGISTERS[dtype]
    if register.kind == "f" and register.narrow:
        return np.dtype(np.float32)
    return np.dtype(np.int32) if register.kind in "iu" and register.narrow else dtype


def _exact_parts(op: Op) -> list[range]:
    """Return the parts of the summed dimension whose sums of products float32 holds exactly; none where that is no use.

    Integers only, whose sums are the same in any order.
    """
    (_, _, summed), dtypes = operand_groups(op, 0), [v.tensor.dtype for v in op.operands]
    if not all(REGISTERS[dtype].kind in "iu" for dtype in (*dtypes, op.result.tensor.dtype)) or len(summed) != 1:
        return []
    count = op.operands[0].tensor.shape[summed[0]]
    greatest = math.prod(max(-int(info.min), int(info.max)) for info in map(ml_dtypes.iinfo, dtypes))
    step = EXACT // greatest
    if count > step * MOST_PARTS:
        return []
    return [range(start, min(start + step, count)) for start in range(0, count, step)]


def _exact_product(op: Op, parts: Sequence[range], operands: Sequence[Value], writer: Writer) -> Value:
    """Return the sum, in int32, of products of parts of the operands, each computed in float32."""
    numbers, dims = op.attributes["dot_dimension_numbers"], (operand_groups(op, 0)[2][0], operand_groups(op, 1)[1][0])
    sums = []
    for part in parts:
        sides = []
        for value, dim in zip(operands, dims, strict=True):
            cut = writer.part(value, dim, part.start, part.stop) if len(parts) > 1 else value
            sides.append(writer.convert(cut, np.dtype(np.float32)))
        found = op.result.tensor.with_dtype(np.dtype(np.float32))
        total = writer.op(contraction.DOT_GENERAL, *sides, result=found, dot_dimension_numbers=numbers)
        sums.append(writer.convert(total, np.dtype(np.int32)))
    return reduce(lambda a, b: writer.op(elementwise.ADD, a, b), sums)


def _sum_of_products(op: Op, left: Value, right: Value, writer: Writer) -> Value:
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
    sides = (left, places, lhs), (right, right_places, rhs)
    spread = [writer.spread(value, shape, [at[d] for d in range(len(extents))]) for value, at, extents in sides]
    product = writer.op(elementwise.MULTIPLY, *spread)
    if not summed:
        return product
    return writer.sum(product, writer.number(0, product.tensor.dtype), range(first_summed, len(shape)))
