"""Expands reductions over windows, select_and_scatter, and what is no matrix product of convolution.

A reduction over windows is a reduction of a view (`numhlo.backend.emit.windows`) of the padded array.
select_and_scatter finds the places of the selected elements by one, and scatters to them. A convolution that BLAS can
do keeps its op, on a padded input; any other is a sum of products over a view.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from numhlo.backend.emit.convolution import multiplies
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.special import has_kernels
from numhlo.backend.emit.windows import WINDOWS
from numhlo.backend.planning.complex_sums import expand_complex_sums, is_complex_sum
from numhlo.backend.planning.writing import Writer, addition
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ops import comparison, control_flow, creation, elementwise, indexing, layout, reduction
from numhlo.lowering.ops.contraction import accumulation_dtype
from numhlo.lowering.ops.convolution import CONVOLUTION, reversals, spatial_windows
from numhlo.lowering.ops.cumulative import COMBINERS, make_cumulative
from numhlo.lowering.ops.dimension_numbers import ConvolutionDimensionNumbers, ScatterDimensionNumbers
from numhlo.lowering.ops.primitive import make_op
from numhlo.lowering.ops.region_function import single_op
from numhlo.lowering.ops.window_geometry import Windows
from numhlo.lowering.ops.windows import REDUCE_WINDOW, SELECT_AND_SCATTER, windows_from

LONG_WINDOW = 8
"""Elements of a window from which on a running reduction is one."""

SLIDING = (REDUCE_WINDOW, SELECT_AND_SCATTER, CONVOLUTION)
"""Ops whose uses are expanded here, most of them."""

Copy = Callable[[Region], Region]


def is_sliding(op: Op) -> bool:
    """Return whether an op is expanded here."""
    if op.definition not in SLIDING:
        return False
    if not all(isinstance(v.type, TensorType) and v.type.is_static for v in [*op.operands, *op.results]):
        return False
    return op.definition is not SELECT_AND_SCATTER or op.result.tensor.dtype == op.operands[0].tensor.dtype


def expand_sliding(op: Op, operands: list[Value], append: Callable[[Op], None], copy: Copy) -> list[Value]:
    """Append the ops that an op is expanded to, and return their results.

    Parameters
    ----------
    op : Op
        One that `is_sliding` accepts.
    operands : list of Value
        What takes the place of its operands.
    append : callable
    copy : callable
        Returns a copy of a region.
    """
    writer = _Writer(op, append)
    if op.definition is REDUCE_WINDOW:
        return writer.reduce_windows(operands, copy)
    if op.definition is SELECT_AND_SCATTER:
        return [writer.select_and_scatter(operands, copy)]
    return [writer.convolution(*operands)]


class _Writer(Writer):
    """Appends ops in the place of one."""

    def __init__(self, op: Op, append: Callable[[Op], None]) -> None:
        super().__init__(append, op.location)
        self.replaced = op

    def pad(self, x: Value, value: Value, windows: Windows) -> Value:
        if not windows.is_padded:
            return x
        return self.op(
            layout.PAD,
            x,
            value,
            edge_padding_low=tuple([low for low, _ in windows.padding]),
            edge_padding_high=tuple([high for _, high in windows.padding]),
            interior_padding=tuple([n - 1 for n in windows.base_dilations]),
        )

    def view(self, x: Value, value: Value, windows: Windows) -> Value:
        """Return all windows of ``x``, padded with ``value``."""
        return self.op(WINDOWS, self.pad(x, value, windows), windows=_plain(windows))

    def reduce(self, inputs: Sequence[Value], inits: Sequence[Value], body: Region, rank: int) -> list[Value]:
        """Return ``inputs`` reduced over all dimensions from ``rank`` on."""
        axes = {"dimensions": tuple(range(rank, inputs[0].tensor.ndim))}
        made = make_op(reduction.REDUCE, [*inputs, *inits], axes, [body], None, self.replaced.location)
        return expand_complex_sums(made, made.operands, self.append) if is_complex_sum(made) else self.append(made)

    # Reductions over windows

    def reduce_windows(self, operands: list[Value], copy: Copy) -> list[Value]:
        count = len(self.replaced.results)
        rank = operands[0].tensor.ndim
        windows = windows_from(self.replaced.attributes, rank)
        body = copy(self.replaced.regions[0])
        running = self._running(operands, windows, body)
        if running is not None:
            return [running]
        pairs = zip(operands[:count], operands[count:], strict=True)
        views = [self.view(x, init, windows) for x, init in pairs]
        return self.reduce(views, operands[count:], body, rank)

    def _running(self, operands: list[Value], windows: Windows, body: Region) -> Value | None:
        """Return a running reduction, where windows reach from the first element to each, or from each to the last."""
        inner = single_op(body)
        kinds = [kind for kind, (op, _) in COMBINERS.items() if inner is not None and op is inner.definition]
        axes = [axis for axis, size in enumerate(windows.sizes) if size > 1]
        type = operands[0].tensor
        if not kinds or len(axes) != 1 or type.dtype.kind in "ub" or body.returns[0].tensor.dtype != type.dtype:
            return None
        (axis,) = axes
        extent = type.shape[axis]
        others = all(pair == (0, 0) for k, pair in enumerate(windows.padding) if k != axis)
        steps = (*windows.strides, *windows.base_dilations, *windows.window_dilations)
        if windows.sizes[axis] != extent or extent < LONG_WINDOW or not others or set(steps) != {1}:
            return None
        low, high = windows.padding[axis]
        if (low, high) not in ((extent - 1, 0), (0, extent - 1)) or not _changes_nothing(operands[1], kinds[0]):
            return None
        attributes = make_cumulative(kinds[0], type, axis, reverse=low == 0)
        made = make_op(control_flow.COMPOSITE, operands[:1], attributes, (), [type], self.replaced.location)
        if not has_kernels(made):
            return None
        self.append(made)
        return self.op(COMBINERS[kinds[0]][0], self.spread(operands[1], type.shape), made.result)

    # select_and_scatter

    def select_and_scatter(self, operands: list[Value], copy: Copy) -> Value:
        x, source, init = operands
        windows = windows_from(self.replaced.attributes, x.tensor.ndim)
        places = self._selected(x, windows, copy(self.replaced.regions[0]))
        scatter = copy(self.replaced.regions[1])
        inner = single_op(scatter)
        apart = all(size <= stride for size, stride in zip(windows.sizes, windows.strides, strict=True))
        if apart and inner is not None and inner.definition is elementwise.ADD and source.tensor.size:
            return self._put_apart(x.tensor, places, source, init, windows)
        return self._scatter(x.tensor, places, source, init, scatter)

    def _selected(self, x: Value, windows: Windows, select: Region) -> Value:
        """Return the flat index of each window's selected element; the array's size where it has none."""
        type, index = x.tensor, _index_dtype(x.tensor.size)
        counter = TensorType((type.size,), index)
        numbers = self.reshape(self.op(creation.IOTA, result=counter, iota_dimension=0), type.shape)
        zero, beyond = self.number(0, type.dtype), self.number(type.size, index)
        views = [self.view(x, zero, windows), self.view(numbers, beyond, windows)]
        scalar, number = type.with_shape(()), beyond.tensor
        body = Region([scalar, number, scalar, number])
        first, i, second, j = body.arguments
        inner = _Writer(self.replaced, body.ops.append)
        values = dict(zip(select.arguments, (first, second), strict=True))
        for op in select.ops:
            made = Op(
                op.definition,
                [values.get(v, v) for v in op.operands],
                op.attributes,
                op.regions,
                [v.type for v in op.results],
                op.location,
            )
            body.ops.append(made)
            values.update(zip(op.results, made.results, strict=True))
        stays = values.get(select.returns[0], select.returns[0])
        limit = inner.number(type.size, index)
        is_in, other = (
            inner.op(comparison.COMPARE, k, limit, comparison_direction=direction, compare_type="SIGNED")
            for k, direction in ((i, "LT"), (j, "EQ"))
        )
        first_stays = inner.op(elementwise.AND, is_in, inner.op(elementwise.OR, stays, other))
        body.returns = [
            inner.op(comparison.SELECT, first_stays, first, second),
            inner.op(comparison.SELECT, first_stays, i, j),
        ]
        return self.reduce(views, [zero, beyond], body, type.ndim)[1]

    def _put_apart(self, type: TensorType, places: Value, source: Value, init: Value, windows: Windows) -> Value:
        """Return the result where windows don't overlap: every element looks at the one window that it lies in."""
        rank = type.ndim
        counts, steps = source.tensor.shape, windows.strides
        shape = tuple([n for pair in zip(counts, steps, strict=True) for n in pair])
        dims = tuple(range(0, 2 * rank, 2))
        index = places.tensor.dtype
        counter = TensorType(shape, index)
        total = None
        stride = 1
        start = 0
        for axis in reversed(range(rank)):
            low = windows.padding[axis][0]
            start -= low * stride
            for dim, factor in ((2 * axis, steps[axis] * stride), (2 * axis + 1, stride)):
                line = self.op(creation.IOTA, result=counter, iota_dimension=dim)
                term = self.op(elementwise.MULTIPLY, line, self.spread(self.number(factor, index), shape))
                total = term if total is None else self.op(elementwise.ADD, total, term)
            stride *= type.shape[axis]
        first = self.spread(self.number(start, index), shape)
        total = first if total is None else self.op(elementwise.ADD, total, first)
        here = self.op(
            comparison.COMPARE,
            total,
            self.spread(places, shape, dims),
            comparison_direction="EQ",
            compare_type="SIGNED",
        )
        start_value = self.spread(init, shape)
        filled = self.op(elementwise.ADD, start_value, self.spread(source, shape, dims))
        chosen = self.op(comparison.SELECT, here, filled, start_value)
        covered = [n * s for n, s in zip(counts, steps, strict=True)]
        lows = [-low for low, _ in windows.padding]
        highs = [n - m - low for n, m, low in zip(type.shape, covered, lows, strict=True)]
        whole = self.reshape(chosen, covered)
        ones = (1,) * rank
        return self.pad(whole, init, Windows(ones, ones, tuple(zip(lows, highs, strict=True)), ones, ones))

    def _scatter(self, type: TensorType, places: Value, source: Value, init: Value, scatter: Region) -> Value:
        flat = self.spread(init, (type.size,))
        updates = self.reshape(source, (source.tensor.size,))
        rows = self.reshape(places, (source.tensor.size,))
        numbers = ScatterDimensionNumbers(
            inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), index_vector_dim=1
        )
        (result,) = self.ops(
            indexing.SCATTER, flat, rows, updates, regions=[scatter], scatter_dimension_numbers=numbers
        )
        return self.reshape(result, type.shape)

    # Convolution

    def convolution(self, lhs: Value, rhs: Value) -> Value:
        dtype = self.replaced.result.tensor.dtype
        wide = accumulation_dtype(dtype)
        lhs, rhs = self.convert(lhs, wide), self.convert(rhs, wide)
        numbers: ConvolutionDimensionNumbers = self.replaced.attributes["dimension_numbers"]
        sizes = [rhs.tensor.shape[d] for d in numbers.kernel_spatial_dimensions]
        windows = over_array(spatial_windows(self.replaced.attributes, sizes), numbers)
        padded = self.pad(lhs, self.number(0, wide), windows)
        if multiplies(self.replaced, REGISTERS[wide].storage):
            plain = {**self.replaced.attributes, "padding": None, "lhs_dilation": None}
            product = self.op(CONVOLUTION, padded, rhs, result=self.replaced.result.tensor.with_dtype(wide), **plain)
        else:
            product = self._sum_of_products(padded, rhs, windows, numbers)
        return self.convert(product, dtype)

    def _sum_of_products(self, lhs: Value, rhs: Value, windows: Windows, numbers: ConvolutionDimensionNumbers) -> Value:
        """Return the sum over windows of products with the kernel, both spread over results and windows."""
        domain = _Domain(self.replaced, numbers)
        view = self.op(WINDOWS, lhs, windows=_plain(windows))
        left_shape, left_dims = domain.lay_out_input(view.tensor.shape)
        reversal = reversals(self.replaced.attributes, domain.rank)
        flipped = tuple([d for d, r in zip(numbers.kernel_spatial_dimensions, reversal, strict=True) if r])
        if flipped:
            rhs = self.op(layout.REVERSE, rhs, dimensions=flipped)
        right_shape, right_dims = domain.lay_out_kernel(rhs.tensor.shape)
        extents = dict(zip([*left_dims, *right_dims], [*left_shape, *right_shape], strict=True))
        shape = tuple([extents[d] for d in range(domain.channel + 1)])
        left, right = self.reshape(view, left_shape), self.reshape(rhs, right_shape)
        factors = [self.spread(x, shape, dims) for x, dims in ((left, left_dims), (right, right_dims))]
        product = self.op(elementwise.MULTIPLY, *factors)
        zero = self.number(0, product.tensor.dtype)
        total = self.reduce([product], [zero], addition(zero.tensor, self.location), domain.summed)[0]
        return self.reshape(total, self.replaced.result.tensor.shape)


class _Domain:
    """The dimensions of a convolution's products: the result's, its features in groups, then what is summed.

    Attributes
    ----------
    rank : int
        Number of spatial dimensions.
    summed, channel : int
        The first dimension that is summed, a window's first; the last one, the features of the input.
    """

    def __init__(self, op: Op, numbers: ConvolutionDimensionNumbers) -> None:
        self.numbers = numbers
        self.features: int = op.attributes["feature_group_count"]
        self.batches: int = op.attributes["batch_group_count"]
        self.rank = op.result.tensor.ndim - 2
        self.summed = self.rank + 3
        self.channel = self.summed + self.rank

    def place(self, dim: int) -> int:
        """Return where a dimension of the result lies; the features' groups, and behind them the rest of these."""
        return dim + (dim > self.numbers.output_feature_dimension)

    def lay_out_input(self, shape: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return a shape for the view of all windows, and where its dimensions lie."""
        numbers = self.numbers
        group = numbers.output_feature_dimension
        split = {
            numbers.input_batch_dimension: (self.batches, self.place(numbers.output_batch_dimension)),
            numbers.input_feature_dimension: (self.features, self.channel),
        }
        spatial = dict(zip(numbers.input_spatial_dimensions, range(self.rank), strict=True))
        extents: list[int] = []
        places: list[int] = []
        for dim in range(self.rank + 2):
            if dim in spatial:
                extents.append(shape[dim])
                places.append(self.place(numbers.output_spatial_dimensions[spatial[dim]]))
                continue
            count, place = split[dim]
            extents += [count, shape[dim] // count] if count > 1 else [shape[dim]]
            places += [group, place] if count > 1 else [place]
        for dim in sorted(spatial):
            extents.append(shape[self.rank + 2 + dim])
            places.append(self.summed + spatial[dim])
        return tuple(extents), tuple(places)

    def lay_out_kernel(self, shape: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return a shape for the kernel, and where its dimensions lie."""
        numbers = self.numbers
        groups, group = self.features * self.batches, numbers.output_feature_dimension
        extents: list[int] = []
        places: list[int] = []
        for dim, extent in enumerate(shape):
            if dim == numbers.kernel_output_feature_dimension:
                extents += [groups, extent // groups]
                places += [group, group + 1]
            else:
                extents.append(extent)
                is_channel = dim == numbers.kernel_input_feature_dimension
                spatial = numbers.kernel_spatial_dimensions
                places.append(self.channel if is_channel else self.summed + spatial.index(dim))
        return tuple(extents), tuple(places)


def over_array(windows: Windows, numbers: ConvolutionDimensionNumbers) -> Windows:
    """Return spatial windows as windows over all of an input's dimensions, in its order."""
    rank = len(windows.sizes) + 2
    place = {dim: k for k, dim in enumerate(numbers.input_spatial_dimensions)}

    def along(values: Sequence[int]) -> tuple[int, ...]:
        return tuple([values[place[d]] if d in place else 1 for d in range(rank)])

    padding = tuple([windows.padding[place[d]] if d in place else (0, 0) for d in range(rank)])
    return Windows(
        along(windows.sizes),
        along(windows.strides),
        padding,
        along(windows.base_dilations),
        along(windows.window_dilations),
    )


def _plain(windows: Windows) -> Windows:
    """Return the windows of an array that is padded already."""
    rank = len(windows.sizes)
    return Windows(windows.sizes, windows.strides, ((0, 0),) * rank, (1,) * rank, windows.window_dilations)


def _index_dtype(size: int) -> np.dtype:
    return np.dtype(np.int32 if size < 2**31 - 1 else np.int64)


def _changes_nothing(init: Value, kind: str) -> bool:
    """Return whether it does not matter how often an initial value is combined with the rest."""
    if kind in ("cummax", "cummin"):
        return True
    op = init.owner
    if not isinstance(op, Op) or op.definition is not creation.CONSTANT:
        return False
    return bool(op.attributes["value"] == (kind == "cumprod"))
