"""Reading and writing at run-time positions in scalar code: dynamic_slice, dynamic_update_slice, gather.

Arrays in memory are indexed; among local variables, the few candidates are chosen by comparing the start index.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from numhlo.backend.emit.access import Access
from numhlo.backend.emit.chosen_stores import kept_unless
from numhlo.backend.emit.kernel_text import without_brackets
from numhlo.backend.emit.positions import tests_places
from numhlo.backend.emit.scalar_code import (
    MOST_ELEMENTS,
    Content,
    InMemory,
    NotScalarError,
    ScalarWriter,
    current,
    writes,
)
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import indexing as ops
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers

MOST_CANDIDATES = 16
"""Start positions among local variables that are told apart by comparisons."""


def _clamped(writer: ScalarWriter, source: Content, name: str, index: Value, limit: int) -> str:
    """Return the text of element ``name`` of ``index`` as a start in ``[0, limit]``."""
    if limit <= 0:
        return "0"
    interval, dtype = writer.intervals.of(index), index.tensor.dtype
    assert interval is not None, index
    plain = name if dtype == np.int64 else f"to_i64({name})"
    if interval.within(0, limit):
        return plain if plain.isidentifier() else writer.let(plain, "start")
    most = writer.limit(limit) if isinstance(source, InMemory) else str(limit)
    if dtype == np.uint64:
        plain = f"to_i64(minimum({name}, to_u64({most})))"
    if writer.predicts:
        return _expected(writer, plain, most)
    plain = plain if interval.low >= 0 else f"max({plain}, 0)"
    return writer.let(plain if interval.high <= limit else f"min({plain}, {most})", "start")


def _expected(writer: ScalarWriter, plain: str, limit: str) -> str:
    """Return the variable of a start that is expected to be what the index says; the one that is there already.

    A position has one value as long as the block goes on that defines its start.
    """
    known = writer.starts.get((plain, limit))
    if known is not None and known[1] in writer.text.open:
        return known[0]
    position = writer.positions.get(plain)
    if position is None:
        return writer.let(f"within({plain}, {limit})", "start")
    start = writer.let(f"placed({position}, {limit})", "start")
    writer.starts[plain, limit] = start, writer.text.open[-1]
    return start


def _starts(writer: ScalarWriter, source: Content, indices: Sequence[Value], limits: Sequence[int]) -> list[str]:
    return [
        _clamped(writer, source, str(writer.names(v).reshape(-1)[0]), v, limit)
        for v, limit in zip(indices, limits, strict=True)
    ]


def _moved(writer: ScalarWriter, array: InMemory, starts: Sequence[str], shape: tuple[int, ...]) -> InMemory:
    """Return a window of an array in memory."""
    terms = [array.offset] if array.offset else []
    for start, stride in zip(starts, array.access.strides, strict=True):
        if start != "0" and stride:
            terms.append(start if stride == 1 else f"{start} * {writer.number(stride, 'stride', array.memory)}")
    offset = " + ".join(terms)
    if offset and not offset.isidentifier():
        offset = writer.let(offset, "at")
    access = Access(array.access.offset, array.access.strides)
    return InMemory(array.memory, shape, access, offset, array.version)


def _candidates(starts: Sequence[str], limits: Sequence[int]) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield every position that starts can have, and the text of the test for it."""
    ranges = [range(limit + 1) if start != "0" else range(1) for start, limit in zip(starts, limits, strict=True)]
    if np.prod([len(r) for r in ranges], dtype=int) > MOST_CANDIDATES:
        raise NotScalarError("a run-time index into too many local variables")
    for position in product(*ranges):
        tests = [f"({s} == {p})" for s, p in zip(starts, position, strict=True) if s != "0"]
        yield position, " & ".join(tests)


@writes(ops.DYNAMIC_SLICE)
def write_dynamic_slice(writer: ScalarWriter, op: Op) -> None:
    """Load the window, or choose it among local variables."""
    operand, *indices = op.operands
    sizes = op.attributes["slice_sizes"]
    limits = [extent - size for extent, size in zip(operand.tensor.shape, sizes, strict=True)]
    source = writer.content(operand)
    starts = _starts(writer, source, indices, limits)
    if isinstance(source, InMemory):
        window = _moved(writer, source, starts, tuple(sizes))
        stays = op.result in writer.indexed and op.result.tensor.size > 1 and not source.memory.writable
        kept = stays or op.result.tensor.size > MOST_ELEMENTS
        writer.contents[op.result] = window if kept else writer.load(window)
        return
    chosen: np.ndarray | None = None
    for position, test in _candidates(starts, limits):
        window_names = source[tuple(slice(p, p + n) for p, n in zip(position, sizes, strict=True))]
        chosen = window_names if chosen is None else _select(writer, test, window_names, chosen)
    assert chosen is not None
    writer.contents[op.result] = chosen


def _select(writer: ScalarWriter, test: str, on_true: np.ndarray, on_false: np.ndarray) -> np.ndarray:
    names = np.empty(on_true.shape, object)
    for index in np.ndindex(on_true.shape):
        same = on_true[index] == on_false[index]
        names[index] = (
            on_true[index] if same else writer.let(f"select({test}, {on_true[index]}, {on_false[index]})", "select")
        )
    return names


@writes(ops.DYNAMIC_UPDATE_SLICE)
def write_dynamic_update_slice(writer: ScalarWriter, op: Op) -> None:
    """Store the window into memory, or replace local variables."""
    operand, update, *indices = op.operands
    sizes = update.tensor.shape
    limits = [extent - size for extent, size in zip(operand.tensor.shape, sizes, strict=True)]
    target = writer.content(operand)
    if isinstance(target, InMemory):
        predicates, value = kept_unless(op, writer.intervals)
        new = writer.names(value).reshape(sizes)
        target.check()
        writer.keep(target.memory, (op, 0))
        if writer.predicts and predicates and tests_places(predicates, indices, limits, writer.intervals):
            starts = _starts(writer, target, indices, limits)
            inside = [_is_start(writer, *place) for place in zip(starts, indices, limits, strict=True)]
            with writer.text.block(f"if {without_brackets(' & '.join(filter(None, inside)))}:"):
                _store(writer, target, starts, new)
        elif predicates and op not in writer.certain:
            tests = [str(writer.names(v).reshape(-1)[0]) for v in predicates]
            with writer.text.block(f"if {' & '.join(tests)}:"):
                _store(writer, target, _starts(writer, target, indices, limits), new)
        else:
            names = writer.names(update) if predicates else new
            _store(writer, target, _starts(writer, target, indices, limits), names)
        target.memory.written((op, 0))
        writer.contents[op.result] = current(target)
        return
    starts, names = _starts(writer, target, indices, limits), writer.names(update)
    result = target
    for position, test in _candidates(starts, limits):
        replaced = result.copy()
        replaced[tuple(slice(p, p + n) for p, n in zip(position, sizes, strict=True))] = names
        result = _select(writer, test, replaced, result) if test else replaced
    writer.contents[op.result] = result


def _is_start(writer: ScalarWriter, start: str, index: Value, limit: int) -> str:
    """Return the test whether a start is the index itself, not the nearest place to it; nothing where it always is."""
    interval = writer.intervals.of(index)
    assert interval is not None, index
    return "" if interval.within(0, limit) else f"({start} == {writer.names(index).reshape(-1)[0]})"


def _store(writer: ScalarWriter, target: InMemory, starts: Sequence[str], names: np.ndarray) -> None:
    memory = target.memory
    if not memory.writable:
        raise NotScalarError("an array from outside the loop is updated")
    window = _moved(writer, target, starts, names.shape)
    for index in np.ndindex(names.shape):
        writer.count()
        place = writer.place(window, index)
        writer.text.line(f"store_{memory.register.storage}({memory.pointer}, {place}, {names[index]})")


@writes(ops.GATHER)
def write_gather(writer: ScalarWriter, op: Op) -> None:
    """Load each element of the few windows."""
    operand, indices = op.operands
    source = writer.content(operand)
    if op.result.tensor.size > MOST_ELEMENTS:
        raise NotScalarError("gather makes a large array")
    numbers: GatherDimensionNumbers = op.attributes["dimension_numbers"]
    vectors = writer.names(indices)
    if numbers.index_vector_dim == vectors.ndim:
        vectors = vectors[..., None]
    vectors = np.moveaxis(vectors, numbers.index_vector_dim, -1)
    names = np.empty(op.result.tensor.shape, object)
    for index in np.ndindex(names.shape):
        starts, fixed = _gathered_place(writer, op, source, vectors, index)
        if isinstance(source, InMemory):
            window = _moved(writer, source, starts, (1,) * operand.tensor.ndim)
            place = writer.place(window, fixed)
            source.check()
            names[index] = writer.fresh(f"load_{source.memory.register.storage}({source.memory.pointer}, {place})", "x")
        else:
            names[index] = _chosen(writer, op, source, starts, fixed)
    writer.contents[op.result] = names


def _gathered_place(
    writer: ScalarWriter, op: Op, source: Content, vectors: np.ndarray, index: tuple[int, ...]
) -> tuple[list[str], list[int]]:
    """Return the run-time and the fixed part of the operand's index for one element of the result."""
    numbers: GatherDimensionNumbers = op.attributes["dimension_numbers"]
    operand, indices = op.operands
    sizes = op.attributes["slice_sizes"]
    rank = operand.tensor.ndim
    batch = tuple(i for d, i in enumerate(index) if d not in numbers.offset_dims)
    fixed, starts = [0] * rank, ["0"] * rank
    for dim, own in zip(numbers.offset_dims, numbers.window_axes(rank), strict=True):
        fixed[own] = index[dim]
    for own, paired in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True):
        fixed[own] = batch[paired - (paired > numbers.index_vector_dim)]
    for number, own in enumerate(numbers.start_index_map):
        limit = operand.tensor.shape[own] - sizes[own]
        starts[own] = _clamped(writer, source, str(vectors[(*batch, number)]), indices, limit)
    return starts, fixed


def _chosen(writer: ScalarWriter, op: Op, names: np.ndarray, starts: Sequence[str], fixed: Sequence[int]) -> str:
    limits = [n - s for n, s in zip(names.shape, op.attributes["slice_sizes"], strict=True)]
    chosen = ""
    for position, test in _candidates(starts, limits):
        name = str(names[tuple(p + f for p, f in zip(position, fixed, strict=True))])
        chosen = writer.let(f"select({test}, {name}, {chosen})", "select") if chosen and test else name
    return chosen
