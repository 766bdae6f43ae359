"""Gathers whose indices are ``start + step * i + gap * j``, as views of all windows of an array: no table is read.

`sliding_window_view` is traced to such gathers, and so are sums of two ranges that index an axis. Reductions over the
windows then read slices, as those of `sliding` do. Indices that are computed from values stay gathers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from numhlo.backend.emit.windows import WINDOWS
from numhlo.backend.planning.writing import Writer
from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ops import conversion, creation, elementwise, indexing, layout
from numhlo.lowering.ops.comparison import COMPARE, SELECT
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.ops.window_geometry import Windows

MOST_OPS = 12
"""From an index to the ranges that it is the sum of."""


LARGEST = 1 << 31
"""What stays below doesn't wrap around in any type that is looked at."""


class Affine(NamedTuple):
    """``start`` plus the index along each dimension times its step."""

    start: int
    steps: tuple[int, ...]


class _Gathered(NamedTuple):
    """A gather along one dimension of its operand, whose index is affine in two dimensions."""

    dim: int
    places: Affine
    counts: tuple[int, int]


def is_affine_gather(op: Op) -> bool:
    """Return whether a gather reads all windows along one dimension."""
    return op.definition is indexing.GATHER and _gathered(op) is not None


def _gathered(op: Op) -> _Gathered | None:
    operand, indices = op.operands
    if not all(isinstance(v.type, TensorType) and v.type.is_static for v in (operand, indices)):
        return None
    numbers: GatherDimensionNumbers = op.attributes["dimension_numbers"]
    shape, sizes = operand.tensor.shape, op.attributes["slice_sizes"]
    if numbers.operand_batching_dims or len(numbers.start_index_map) != 1:
        return None
    (dim,) = numbers.start_index_map
    whole = all(size == (1 if k == dim else n) for k, (n, size) in enumerate(zip(shape, sizes, strict=True)))
    vector = numbers.index_vector_dim
    batch = [n for k, n in enumerate(indices.tensor.shape) if k != vector]
    if tuple(numbers.collapsed_slice_dims) != (dim,) or not whole or len(batch) != 2 or 0 in (*batch, *shape):
        return None
    found = _affine(indices, MOST_OPS)
    if found is None:
        return None
    along = [step for k, step in enumerate(found.steps) if k != vector]
    steps = tuple(step if n > 1 else 1 for step, n in zip(along, batch, strict=True))
    first, second = batch
    last = found.start + steps[0] * (first - 1) + steps[1] * (second - 1)
    if found.start < 0 or min(steps) < 1 or last >= shape[dim]:
        return None
    return _Gathered(dim, Affine(found.start, steps), (first, second))


def _affine(value: Value, most: int) -> Affine | None:
    """Return an integer array as an affine function of its indices, None where it is none that is found soon."""
    op, type = value.owner, value.tensor
    if not isinstance(op, Op) or op.definition not in RULES or most == 0:
        return None
    operands = op.operands
    found = RULES[op.definition](op, lambda number: _affine(operands[number], most - 1))
    if found is None or type.dtype.kind not in "iu" or type.dtype.itemsize < 4:
        return None
    reach = abs(found.start) + sum(abs(step) * n for step, n in zip(found.steps, type.shape, strict=True))
    return found if reach < LARGEST else None


OperandOf = Callable[[int], Affine | None]


def _iota(op: Op, operand: OperandOf) -> Affine:
    return Affine(0, tuple(int(k == op.attributes["iota_dimension"]) for k in range(op.result.tensor.ndim)))


def _constant(op: Op, operand: OperandOf) -> Affine | None:
    value = op.attributes["value"]
    return (
        Affine(int(value.reshape(-1)[0]), (0,) * value.ndim) if value.size == 1 and value.dtype.kind in "iu" else None
    )


def _sum(op: Op, operand: OperandOf) -> Affine | None:
    left, right = operand(0), operand(1)
    if left is None or right is None:
        return None
    return Affine(left.start + right.start, tuple(a + b for a, b in zip(left.steps, right.steps, strict=True)))


def _product(op: Op, operand: OperandOf) -> Affine | None:
    """Return the product of two, one of which is the same everywhere."""
    left, right = operand(0), operand(1)
    if left is None or right is None:
        return None
    factor, other = (right, left) if any(left.steps) else (left, right)
    if any(factor.steps):
        return None
    return Affine(factor.start * other.start, tuple(factor.start * step for step in other.steps))


def _spread(op: Op, operand: OperandOf) -> Affine | None:
    source, steps = operand(0), [0] * op.result.tensor.ndim
    if source is None:
        return None
    rows = zip(op.attributes["broadcast_dimensions"], source.steps, op.operands[0].tensor.shape, strict=True)
    for dim, step, extent in rows:
        steps[dim] = 0 if extent == 1 else step
    return Affine(source.start, tuple(steps))


def _reshaped(op: Op, operand: OperandOf) -> Affine | None:
    """Return what it is where dimensions of one element come or go."""
    source, before, after = operand(0), op.operands[0].tensor.shape, op.result.tensor.shape
    if source is None or [n for n in before if n != 1] != [n for n in after if n != 1]:
        return None
    steps = iter([step for step, n in zip(source.steps, before, strict=True) if n != 1])
    return Affine(source.start, tuple(0 if n == 1 else next(steps) for n in after))


def _converted(op: Op, operand: OperandOf) -> Affine | None:
    return operand(0)


def _counted_from_end(op: Op, operand: OperandOf) -> Affine | None:
    """Return an index of which negative ones are counted from the end, if none is negative."""
    test, _, index = op.operands
    compare, found = test.owner, operand(2)
    if found is None or min(found.start, *found.steps) < 0:
        return None
    if not isinstance(compare, Op) or compare.definition is not COMPARE or compare.operands[0] is not index:
        return None
    zero = _affine(compare.operands[1], 3)
    return (
        found if compare.attributes["comparison_direction"] == "LT" and zero == (0, (0,) * index.tensor.ndim) else None
    )


RULES: dict[Primitive, Callable[[Op, OperandOf], Affine | None]] = {
    creation.IOTA: _iota,
    creation.CONSTANT: _constant,
    elementwise.ADD: _sum,
    elementwise.MULTIPLY: _product,
    layout.BROADCAST_IN_DIM: _spread,
    layout.RESHAPE: _reshaped,
    conversion.CONVERT: _converted,
    SELECT: _counted_from_end,
}
"""What ops make of affine operands."""


def windows_of_gather(op: Op, operand: Value, append: Callable[[Op], None]) -> Value:
    """Append the views that show what an affine gather reads, and return the last."""
    found = _gathered(op)
    assert found is not None
    dim, (start, steps), (count, size) = found

    writer = Writer(append, op.location)
    shape = operand.tensor.shape
    rank, last = len(shape), start + steps[0] * (count - 1) + steps[1] * (size - 1)
    seen = writer.part(operand, dim, start, last + 1)
    ones = (1,) * rank

    def along(number: int) -> tuple[int, ...]:
        return tuple(number if k == dim else 1 for k in range(rank))

    windows = Windows(along(size), along(steps[0]), ((0, 0),) * rank, ones, along(steps[1]))
    view = writer.op(WINDOWS, seen, windows=windows)
    kept = tuple(count if k == dim else n for k, n in enumerate(shape))
    flat = writer.reshape(view, (*kept, size))
    offsets = op.attributes["dimension_numbers"].offset_dims
    rest = iter([k for k in range(rank) if k != dim])
    batch = iter((dim, rank))
    order = tuple(next(rest) if k in offsets else next(batch) for k in range(rank + 1))
    return writer.op(layout.TRANSPOSE, flat, permutation=order)
