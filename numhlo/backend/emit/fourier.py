"""fft: which lines of an array are transformed, in which kernels.

Lines side by side go through `transforms.tiles` together. Long lines, and few, are cut in two steps over shorter ones;
`transforms.passes` makes dense complex lines of those that are real, or whose lengths have no radices. What is done
together depends on shapes alone, so results have the same bits on any number of threads.
"""

from __future__ import annotations

import math
from typing import Any

from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.backend.emit.transforms.lines import FEW_LINES, Lines, Loop, cut, is_long, merged
from numhlo.backend.emit.transforms.passes import LinePass, as_loops, dense_lines
from numhlo.backend.emit.transforms.tiles import TileWriter
from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ops.fourier import COMPLEX_OF, FFT


def _refuse(op: Op) -> str:
    return "there are no elements" if op.operands[0].tensor.size == 0 or op.result.tensor.size == 0 else ""


def emit_fft(op: Op, planner: Any) -> None:
    """Append a launch or two for every dimension that is transformed."""
    kind, count = op.attributes["fft_type"], len(op.attributes["fft_length"])
    whole = (op.operands[0] if kind == "RFFT" else op.result).tensor.shape
    lengths = whole[len(whole) - count :]  # of a complex array, fft_length may say anything
    source, access = planner.strided(op, 0)
    result = op.result
    planner.output(result)
    rank = result.tensor.ndim
    axes = [rank - 1, *range(rank - len(lengths), rank - 1)]
    if kind == "IRFFT":
        axes.reverse()
    shape, strides, offset = op.operands[0].tensor.shape, access.strides, access.offset
    dtype = result.tensor.dtype if result.tensor.dtype.kind == "c" else COMPLEX_OF[result.tensor.dtype]
    drafts: list[Draft] = []
    for number, axis in enumerate(axes):
        here = kind if axis == rank - 1 else kind.replace("R", "")
        length = lengths[axis - rank]
        extent = length // 2 + 1 if here == "RFFT" else length
        new = (*shape[:axis], extent, *shape[axis + 1 :])
        target = result
        if number < len(axes) - 1:
            target = planner.scratch(TensorType(new, dtype))
        lines = _lines(here, length, axis, (shape, strides, offset), new)
        drafts += _drafts(lines, source, target, planner)
        source, shape, offset = target, new, 0
        strides = _dense(new)
    planner.launch_root(op, drafts[0])
    for draft in drafts[1:]:
        planner.append(draft)


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([math.prod(shape[k + 1 :]) for k in range(len(shape))])


def _lines(kind: str, length: int, axis: int, source: Any, target: tuple[int, ...]) -> Lines:
    """Return the lines along an axis; those side by side lie along the last of the other loops that is long enough."""
    shape, strides, offset = source
    leaps = _dense(target)
    loops = list(merged([(shape[d], strides[d], leaps[d]) for d in range(len(shape)) if d != axis]))
    lane: Loop = (1, 0, 0)
    if loops:
        long = [k for k, (n, *_) in enumerate(loops) if n > FEW_LINES]
        lane = loops.pop(long[-1] if long else max(range(len(loops)), key=lambda k: loops[k][0]))
    scale = length if kind[0] == "I" else 0
    return Lines(kind, length, (strides[axis], leaps[axis]), lane, tuple(loops), offset, 0, scale)


def _drafts(lines: Lines, source: Value, target: Value, planner: Any) -> list[Draft]:
    parts = cut(lines)
    if parts is not None:
        between = planner.scratch(TensorType((lines.count * lines.length,), source.tensor.dtype))
        return [
            TileWriter(parts[0], source, between, planner).write(),
            TileWriter(parts[1], between, target, planner).write(),
        ]
    if is_long(lines) and (lines.is_convolved or lines.is_real):
        return _passes(lines, source, target, planner)
    return [TileWriter(lines, source, target, planner).write()]


def _passes(lines: Lines, source: Value, target: Value, planner: Any) -> list[Draft]:
    """Return what takes lines into dense ones, transforms those, and puts results where they belong."""
    dtype = source.tensor.dtype
    type = TensorType((lines.count * lines.size,), COMPLEX_OF.get(dtype, dtype))
    taken, transformed = planner.scratch(type), planner.scratch(type)
    lines, dense = as_loops(lines), dense_lines(lines)
    drafts = [LinePass(lines, source, taken, planner).write("take")]
    drafts += _drafts(dense, taken, transformed, planner)
    if lines.is_convolved:
        drafts.append(LinePass(lines, transformed, taken, planner).write("convolve"))
        drafts += _drafts(dense, taken, transformed, planner)
    return [*drafts, LinePass(lines, transformed, target, planner).write("put")]


KERNELS.register(FFT)(RootRule(emit_fft, refuse=_refuse, strided=lambda op, number, access: not access.starts))
