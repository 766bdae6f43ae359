"""Convolution: tiles that read operands where they lie (`convolutions.direct`), or, for many features, BLAS.

For BLAS, patches of the input are copied, a few hundred at a time, and multiplied with the kernel. The input is padded
already, and read through any strides; the result is written in its own layout. What is copied together depends on
shapes alone, so results have the same bits on any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.backend.emit.access import whole_array
from numhlo.backend.emit.contraction import BLAS_TYPES
from numhlo.backend.emit.convolutions.direct import emit_direct
from numhlo.backend.emit.convolutions.loops import Loop, Loops, extent, loops_of
from numhlo.backend.emit.convolutions.tiles import best_tiling, nest_of, panel_access, panel_of
from numhlo.backend.emit.draft import Draft, Unknowns, remembered
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.matrices.operands import Matrices, matrices_of
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.backend.processors import available_processors
from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ops.convolution import CONVOLUTION

FEW_COLUMNS = 2
"""Features of a group of the result up to which sums of products are quicker than BLAS."""

MOST_COLUMNS = 128
"""Features of a group of the result up to which copies of patches are not repaid."""

SHALLOW = 64
"""Products of a sum below which features are too few multiplications for what a tile costs beside them."""

COPIED = 0.8
"""Times the work per element below which a copy of the kernel, features last, pays."""

SMALL = 4096
"""Multiplications up to which they are in any case."""

SERIAL = 200_000
"""Multiplications up to which one thread does all."""

LITERAL_RUN = 16


def multiplies(op: Op, storage: str) -> bool:
    """Return whether a convolution, computed in an element type, is done by BLAS."""
    if storage not in ("f32", "f64"):
        return False
    numbers = op.attributes["dimension_numbers"]
    kernel, result = op.operands[1].tensor, op.result.tensor
    groups = op.attributes["feature_group_count"] * op.attributes["batch_group_count"]
    columns = result.shape[numbers.output_feature_dimension] // groups
    if kernel.size == 0 or result.size == 0 or columns <= FEW_COLUMNS:
        return False
    depth: int = kernel.size // (columns * groups)
    return result.size * depth > SMALL


def _refuse(op: Op) -> str:
    storage = REGISTERS[op.result.tensor.dtype].storage
    fits = storage in BLAS_TYPES and all(v.tensor.dtype == op.result.tensor.dtype for v in op.operands)
    plain = op.attributes["padding"] is None and op.attributes["lhs_dilation"] is None
    return "" if fits and plain else "it is padded, or its types are none that BLAS knows"


def emit_convolution(op: Op, planner: Any) -> None:
    """Append the launch that copies patches and multiplies them, after a copy of a kernel that BLAS can't read."""
    if _emit_tiles(op, planner):
        return
    source, access = planner.strided(op, 0)
    loops = loops_of(op, access)
    kernel, matrix = _kernel_matrix(op, loops, planner)
    planner.output(op.result)
    dtype = op.result.tensor.dtype
    itemsize = dtype.itemsize
    rows, outer, run = loops.tile(itemsize)
    tiles = loops.groups * extent(loops.outer) * -(-loops.row_count // rows)
    products = loops.groups * extent(loops.outer) * loops.row_count * loops.depth * loops.columns
    slots = 1 if products <= SERIAL else min(tiles, available_processors())
    patches = planner.scratch(TensorType((slots * rows * outer * run,), dtype))
    values = [source, kernel, op.result, patches]
    traffic = itemsize * sum(value.tensor.size for value in values[:3])

    def write(unknowns: Unknowns) -> list[Draft]:
        seen = [unknowns.value(value) for value in values]
        writer = _Writer(loops, matrix, dtype, slots, unknowns.buffer)
        return [writer.write(seen, unknowns.sizes[traffic])]

    (draft,) = remembered(
        lambda sizes: ("convolution", dtype, loops, matrix, slots, sizes[traffic]),
        values,
        planner.buffer,
        write,
    )
    planner.launch_root(op, draft)


def _emit_tiles(op: Op, planner: Any) -> bool:
    """Append the launch that sums tiles in registers, if some tiles fit; return whether they do."""
    source, access = planner.strided(op, 0)
    weights, kernel_access = planner.strided(op, 1)
    dtype, numbers = op.result.tensor.dtype, op.attributes["dimension_numbers"]
    shape, feature = op.operands[1].tensor.shape, numbers.kernel_output_feature_dimension
    columns = shape[feature] // (op.attributes["feature_group_count"] * op.attributes["batch_group_count"])
    if columns > MOST_COLUMNS:
        return False
    nest = nest_of(op, access, kernel_access)
    tiling = best_tiling(nest, dtype.itemsize)
    panel = panel_of(columns, dtype.itemsize)
    copied = nest_of(op, access, panel_access(shape, feature, panel), panel)
    other = best_tiling(copied, dtype.itemsize) if nest.depth >= SHALLOW else None
    if other is not None and (tiling is None or other.cost < COPIED * tiling.cost):
        split = (*shape[:feature], shape[feature] // panel, panel, *shape[feature + 1 :])
        rest = [dim for dim in range(len(split)) if dim not in (feature, feature + 1)]
        weights = planner.permuted(op.operands[1], [feature, *rest, feature + 1], shape=split)
        nest, tiling = copied, other
    if tiling is None or (nest.depth < SHALLOW and not tiling.from_input):
        return False
    emit_direct(op, planner, nest, tiling, (source, weights))
    return True


def _kernel_matrix(op: Op, loops: Loops, planner: Any) -> tuple[Value, Matrices]:
    """Return the kernel as one matrix: what is summed down, features of the result across."""
    feature = op.attributes["dimension_numbers"].kernel_output_feature_dimension
    value, access = planner.strided(op, 1)
    shape = op.operands[1].tensor.shape
    matrix = matrices_of(shape, access, ((), loops.kernel_dims, (feature,)))
    if matrix is not None:
        return value, matrix
    order = [*loops.kernel_dims, feature]
    value = planner.permuted(op.operands[1], order)
    shape = tuple([shape[d] for d in order])
    last = len(order) - 1
    matrix = matrices_of(shape, whole_array(shape), ((), range(last), (last,)))
    assert matrix is not None
    return value, matrix


class _Writer:
    """Writes the kernel; a unit is a share of the tiles, with memory of its own for patches."""

    def __init__(self, loops: Loops, matrix: Matrices, dtype: np.dtype, slots: int, buffer_of: BufferOf) -> None:
        self.loops, self.matrix, self.slots = loops, matrix, slots
        self.text = KernelText(buffer_of)
        self.register = REGISTERS[dtype]
        self.itemsize = dtype.itemsize
        self.rows, self.steps, self.run = loops.tile(self.itemsize)

    def number(self, key: str, value: int) -> str:
        return self.text.number(key, value, key)

    def write(self, values: Sequence[Value], traffic: int) -> Draft:
        """Return the kernel; the values are the array, the kernel, the result, and memory for patches."""
        text, loops = self.text, self.loops
        roles = ("input", "kernel", "out", "scratch")
        self.input, self.weights, self.out, scratch = map(text.pointer, values, roles)
        self.bases = text.stack_array("bases", self.rows, 8)
        if loops.along_rows:
            self.ends = text.stack_array("ends", self.rows, 8)
        self.places = text.stack_array("places", self.steps, 8)
        row_tiles = -(-loops.row_count // self.rows)
        outer = extent(loops.outer)
        tiles = loops.groups * outer * row_tiles
        size = self.number("patch_bytes", self.rows * self.steps * self.run * self.itemsize)
        count, slots = self.number("tiles", tiles), self.number("slots", self.slots)
        with text.block("for unit in range(lo, hi):"):
            text.line(f"patches = advance({scratch}, unit * {size})")
            text.line(f"first = divide(to_i64(unit * {count}), to_i64({slots}))")
            text.line(f"last = divide(to_i64((unit + 1) * {count}), to_i64({slots}))")
            with text.block("for tile in range(first, last):"):
                self._tile(row_tiles, outer)
        products = loops.groups * outer * loops.row_count * loops.depth * loops.columns
        name = f"convolution_{self.register.name}"
        return Draft(text.finish(name), tuple(text.buffers), tuple(text.dims), self.slots, 1, 2 * products, traffic)

    def _tile(self, row_tiles: int, outer: int) -> None:
        """Write what is done for one tile of rows of one group."""
        text, loops = self.text, self.loops
        rest = self._divided("tile", self.number("row_tiles", row_tiles), "row_tile", "rest")
        text.line(f"row = row_tile * {self.number('tile_rows', self.rows)}")
        total = self.number("rows", loops.row_count)
        text.line(f"height = min({self.number('tile_rows', self.rows)}, {total} - row)")
        terms = [self.number("offset", loops.offset)]
        columns, groups = self.number("columns", loops.columns), loops.groups
        place = ["row"] if not loops.features_last else [f"row * {self.number('features', loops.columns * groups)}"]
        group = ""
        if groups > 1:
            outer_index = self._divided(rest, self.number("outer", outer), "outer_index", "group", swap=True)
            group, rest = "group", outer_index
            terms.append(f"group * {self.number('group_stride', loops.group_stride)}")
            place.append(f"group * {columns}" if loops.features_last else f"group * {columns} * {total}")
        if loops.outer:
            terms.append(self._decode(rest, loops.outer, "outer"))
            place.append(f"{rest} * {self.number('features', loops.columns * groups)} * {total}")
        text.line(f"base = {' + '.join(terms)}")
        text.line(f"target = advance({self.out}, ({' + '.join(place)}) * {self.itemsize})")
        self._rows()
        self._sum(group, columns, total)

    def _divided(self, value: str, by: str, low: str, high: str, *, swap: bool = False) -> str:
        """Write quotient and remainder; return the quotient's name, or the remainder's where they are swapped."""
        self.text.line(f"{high} = divide(to_i64({value}), to_i64({by}))")
        self.text.line(f"{low} = {value} - {high} * {by}")
        return low if swap else high

    def _decode(self, index: str, loops: Sequence[Loop], hint: str) -> str:
        """Write the indices of nested loops and return the sum of their strides' multiples."""
        terms = []
        for k in range(len(loops) - 1, 0, -1):
            n = self.number(f"{hint}_extent{k}", loops[k][0])
            high, low = self.text.fresh(f"{hint}_rest"), self.text.fresh(f"{hint}_index")
            self._divided(index, n, low, high)
            terms.append(f"{low} * {self.number(f'{hint}_stride{k}', loops[k][1])}")
            index = high
        terms.append(f"{index} * {self.number(f'{hint}_stride0', loops[0][1])}")
        return " + ".join(terms)

    def _rows(self) -> None:
        """Write where each row's patch starts; a stretch of rows along the innermost loop has one step."""
        text, rows = self.text, self.loops.rows
        if not rows:
            text.line(f"store_i64({self.bases}, 0, base)")
            if self.loops.along_rows:
                text.line(f"store_i64({self.ends}, 0, to_i64(1))")
                text.line("stretches = 1")
            return
        length, step = self.number("length", rows[-1][0]), self._step("row_step", rows[-1][1])
        text.line("filled = 0")
        text.line("stretches = 0")
        with text.block("while filled < height:"):
            text.line(f"line = divide(to_i64(row + filled), to_i64({length}))")
            text.line(f"start = row + filled - line * {length}")
            text.line(f"width = min({length} - start, height - filled)")
            above = f" + {self._decode('line', rows[:-1], 'row')}" if len(rows) > 1 else ""
            text.line(f"origin = base + start * {step}{above}")
            with text.block("for k in range(width):"):
                text.line(f"store_i64({self.bases}, filled + k, origin + k * {step})")
            text.line("filled = filled + width")
            if self.loops.along_rows:
                text.line(f"store_i64({self.ends}, stretches, filled)")
            text.line("stretches = stretches + 1")

    def _step(self, key: str, value: int) -> str:
        return "1" if value == 1 else self.number(key, value)

    def _sum(self, group: str, columns: str, total: str) -> None:
        """Write the loop over parts of the window: copy, multiply, add to what is there."""
        text, loops = self.text, self.loops
        run, step = loops.run
        outer = loops.depth // run
        whole = self.run == run
        length = str(run) if run <= LITERAL_RUN else self.number("run", run)
        steps = self.number("window_steps", self.steps)
        with text.block(f"for window in range(0, {self.number('window_outer', outer)}, {steps}):"):
            text.line(f"count = min({steps}, {self.number('window_outer', outer)} - window)")
            with text.block("for k in range(count):"):
                inner = loops.window[:-1]
                place = self._decode("(window + k)", inner, "window") if inner else "0"
                text.line(f"store_i64({self.places}, k, to_i64({place}))")
            if whole:
                self._block(length, "0", length, step, (group, columns, total))
                return
            part = self.number("part", self.run)
            with text.block(f"for begin in range(0, {length}, {part}):"):
                text.line(f"piece = min({part}, {length} - begin)")
                self._block("piece", "begin", length, step, (group, columns, total))

    def _block(self, piece: str, begin: str, run: str, step: int, names: tuple[str, str, str]) -> None:
        text = self.text
        text.line(f"depth = count * {piece}")
        along = self._step("run_step", step)
        storage = self.register.storage
        if self.loops.along_rows:
            with text.block("for k in range(count):"), text.block(f"for j in range({piece}):"):
                text.line(f"place = load_i64({self.places}, k) + ({begin} + j) * {along}")
                text.line(f"into = (k * {piece} + j) * height")
                text.line("head = to_i64(0)")
                with text.block("for s in range(stretches):"):
                    text.line(f"end = load_i64({self.ends}, s)")
                    text.line(f"origin = load_i64({self.bases}, head) + place")
                    text.line("to = into + head")
                    with text.block("for x in range(end - head):"):
                        text.line(f"store_{storage}(patches, to + x, load_{storage}({self.input}, origin + x))")
                    text.line("head = end")
        else:
            with text.block("for r in range(height):"):
                text.line(f"origin = load_i64({self.bases}, r)")
                with text.block("for k in range(count):"):
                    text.line(f"place = origin + load_i64({self.places}, k) + {begin} * {along}")
                    text.line(f"into = r * depth + k * {piece}")
                    with text.block(f"for j in range({piece}):"):
                        text.line(
                            f"store_{storage}(patches, into + j, load_{storage}({self.input}, place + j * {along}))"
                        )
        self._multiply(begin, run, names)

    def _multiply(self, begin: str, run: str, names: tuple[str, str, str]) -> None:
        text, matrix = self.text, self.matrix
        group, columns, total = names
        down, across = (
            self._step(f"kernel_{key}", s) for key, (_, s) in (("down", matrix.rows), ("across", matrix.columns))
        )
        terms = [self.number("kernel_offset", matrix.offset), f"(window * {run} + {begin}) * {down}"]
        if group:
            terms.append(f"{group} * {columns} * {across}")
        name = self.register.name
        text.line(f"weights = advance({self.weights}, ({' + '.join(terms)}) * {self.itemsize})")
        text.line(f"kept = select(window + {begin} > 0, to_{name}(1.0), to_{name}(0.0))")
        leading = self.number("kernel_row", matrix.leading)
        one = f"to_{name}(1.0)"
        along = self.loops.along_rows
        row = "height" if along else "depth"
        if self.loops.features_last:
            features = self.number("features", self.loops.columns * self.loops.groups)
            text.line(
                f"gemm_{name}(ctx, {along}, {matrix.is_transposed}, height, {columns}, depth, {one}, patches, {row}, "
                f"weights, {leading}, kept, target, {features})"
            )
            return
        text.line(
            f"gemm_{name}(ctx, {not matrix.is_transposed}, {not along}, {columns}, height, depth, {one}, weights, "
            f"{leading}, patches, {row}, kept, target, {total})"
        )


KERNELS.register(CONVOLUTION)(
    RootRule(emit_convolution, refuse=_refuse, strided=lambda op, number, access: not access.starts)
)
