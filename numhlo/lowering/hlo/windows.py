"""Instructions that slide windows: convolution, reduce-window, select-and-scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numhlo.lowering.hlo.attributes import Window
from numhlo.lowering.hlo.contraction import precision_of, precision_text
from numhlo.lowering.hlo.record import Instruction
from numhlo.lowering.hlo.tables import WRITE, Bundle, reads
from numhlo.lowering.hlo.translator import Translator, attribute
from numhlo.lowering.hlo.writer import Writer
from numhlo.lowering.ir import Op
from numhlo.lowering.ops import convolution, windows
from numhlo.lowering.ops.dimension_numbers import ConvolutionDimensionNumbers
from numhlo.lowering.ops.window_geometry import Windows, as_array

PARTS = ("size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal")


def _window(t: Translator, i: Instruction, rank: int) -> Window:
    """Return a window of so many dimensions; what the text leaves out is 1, padding 0."""
    window: Window = attribute(i, "window", Window())
    for name in PARTS:
        if len(getattr(window, name)) not in {0, rank}:
            raise t.complaint(i, f"the window's {name} must have {rank} numbers, one for each dimension of windows")
    return window


def _geometry(window: Window, rank: int) -> dict[str, Any]:
    return {
        "window_strides": window.stride or (1,) * rank,
        "padding": as_array(window.pad or ((0, 0),) * rank),
    }


@reads(
    "convolution",
    needs="dim_labels",
    may="window feature_group_count batch_group_count operand_precision",
)
def read_convolution(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Multiply windows; their extents are the kernel's."""
    lhs, rhs = t.arrays(i, operands, 2)
    numbers: ConvolutionDimensionNumbers = i.attributes["dim_labels"]
    rank = len(numbers.input_spatial_dimensions)
    window = _window(t, i, rank)
    if rhs.tensor.ndim != rank + 2:
        raise t.complaint(i, f"dim_labels name {rank + 2} dimensions of a kernel that has {rhs.tensor.ndim}")
    extents = tuple([rhs.tensor.shape[k] for k in numbers.kernel_spatial_dimensions])
    if window.size and window.size != extents:
        raise t.complaint(i, f"the window is of size {window.size}, and the kernel has {extents}")
    return t.one(
        i,
        convolution.CONVOLUTION,
        lhs,
        rhs,
        result=None if i.shape is None else t.array_type(i),
        dimension_numbers=numbers,
        **_geometry(window, rank),
        lhs_dilation=window.lhs_dilate or (1,) * rank,
        rhs_dilation=window.rhs_dilate or (1,) * rank,
        window_reversal=tuple(map(bool, window.rhs_reversal or (0,) * rank)),
        feature_group_count=attribute(i, "feature_group_count", 1),
        batch_group_count=attribute(i, "batch_group_count", 1),
        precision_config=precision_of(t, i),
    )


@reads("reduce-window", needs="to_apply", may="window")
def read_reduce_window(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Reduce windows."""
    arrays = t.arrays(i, operands)
    if not arrays or len(arrays) % 2:
        raise t.complaint(i, "reduce-window takes as many initial values as arrays")
    rank = arrays[0].tensor.ndim
    window = _window(t, i, rank)
    results = t.make(
        i,
        windows.REDUCE_WINDOW,
        *arrays,
        regions=[t.region(i, i.attributes["to_apply"])],
        window_dimensions=window.size or (1,) * rank,
        **_geometry(window, rank),
        base_dilations=window.lhs_dilate or (1,) * rank,
        window_dilations=window.rhs_dilate or (1,) * rank,
    )
    if any(window.rhs_reversal):
        raise t.complaint(i, "the window of a reduction can't be reversed")
    return results[0] if len(results) == 1 else tuple(results)


@reads("select-and-scatter", needs="select scatter", may="window")
def read_select_and_scatter(t: Translator, i: Instruction, operands: Sequence[Bundle]) -> Bundle:
    """Add elements to those that windows select."""
    arrays = t.arrays(i, operands, 3)
    rank = arrays[0].tensor.ndim
    window = _window(t, i, rank)
    if any(n != 1 for n in (*window.lhs_dilate, *window.rhs_dilate)) or any(window.rhs_reversal):
        raise t.complaint(i, "the window of select-and-scatter has neither dilation nor reversal")
    regions = [t.region(i, i.attributes[name]) for name in ("select", "scatter")]
    size = window.size or (1,) * rank
    geometry = _geometry(window, rank)
    return t.one(i, windows.SELECT_AND_SCATTER, *arrays, regions=regions, window_dimensions=size, **geometry)


# -- writing


def _text(sizes: Windows, reversal: Sequence[bool] = ()) -> list[str]:
    """Return the attribute ``window``, without what is as by default; nothing where there are no dimensions."""
    if not sizes.sizes:
        return []
    parts = [f"size={'x'.join(map(str, sizes.sizes))}"]
    if any(n != 1 for n in sizes.strides):
        parts.append(f"stride={'x'.join(map(str, sizes.strides))}")
    if any(map(any, sizes.padding)):
        parts.append(f"pad={'x'.join([f'{low}_{high}' for low, high in sizes.padding])}")
    dilations = (("lhs_dilate", sizes.base_dilations), ("rhs_dilate", sizes.window_dilations))
    parts += [f"{name}={'x'.join(map(str, n))}" for name, n in dilations if any(k != 1 for k in n)]
    if any(reversal):
        parts.append(f"rhs_reversal={'x'.join([str(int(k)) for k in reversal])}")
    return [f"window={{{' '.join(parts)}}}"]


@WRITE.register(convolution.CONVOLUTION)
def write_convolution(w: Writer, op: Op) -> None:
    """Write the window and what the dimensions are."""
    numbers = op.attributes["dimension_numbers"]
    kernel = op.operands[1].tensor.shape
    sizes = [kernel[k] for k in numbers.kernel_spatial_dimensions]
    reversal = convolution.reversals(op.attributes, len(sizes))
    window = _text(convolution.spatial_windows(op.attributes, sizes), reversal)
    labels = [f"dim_labels={_letters(numbers)}"]
    groups = [(name, op.attributes[name]) for name in ("feature_group_count", "batch_group_count")]
    counts = [f"{name}={count}" for name, count in groups if count != 1]
    w.write(op, "convolution", op.operands, [*window, *labels, *counts, *precision_text(op)])


def _letters(numbers: ConvolutionDimensionNumbers) -> str:
    groups = []
    for dims, letters in ((numbers.input, "bf"), (numbers.kernel, "io"), (numbers.output, "bf")):
        names = dict(zip(dims, [*letters, *map(str, range(len(dims) - 2))], strict=True))
        groups.append("".join([names[dim] for dim in range(len(dims))]))
    return f"{groups[0]}_{groups[1]}->{groups[2]}"


@WRITE.register(windows.REDUCE_WINDOW)
def write_reduce_window(w: Writer, op: Op) -> None:
    """Write the window and the reducer."""
    rank = op.operands[0].tensor.ndim
    window = _text(windows.windows_from(op.attributes, rank))
    w.write(op, "reduce-window", op.operands, [*window, f"to_apply={w.region(op, op.regions[0])}"])


@WRITE.register(windows.SELECT_AND_SCATTER)
def write_select_and_scatter(w: Writer, op: Op) -> None:
    """Write the window, what selects and what adds."""
    window = _text(windows.windows_from(op.attributes, op.operands[0].tensor.ndim))
    names = [w.region(op, region) for region in op.regions]
    w.write(op, "select-and-scatter", op.operands, [*window, f"select={names[0]}", f"scatter={names[1]}"])
