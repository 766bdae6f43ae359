"""Views of views with as few steps as possible: slices come first, before the steps that only rearrange what they show.

A write goes through a view's steps backwards. Where the first step is a slice, only what it shows is rearranged and
written; a slice behind a transpose would rearrange the whole array, there and back. The steps are in `views`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from numhlo.lowering.ir import TensorType
from numhlo.tracer.building import Reshape, Reverse, Slice, Tracer, Transpose, ViewStep, only_unit_axes_differ


def view_slice(x: Tracer, step: Slice) -> Tracer:
    """Return the view that a slice of ``x`` shows, in the fewest steps.

    Parameters
    ----------
    x : Tracer
    step : Slice
        Of the axes of ``x``.
    """
    shape = step.shape
    if shape == x.aval.shape and set(step.strides) <= {1}:
        return x
    if not x.steps:
        return Tracer(x.cell, (step,), x.aval.with_shape(shape)) if shape else x.through(step)
    types = _types(x)
    kept, behind = list(x.steps), list[ViewStep]()
    while kept:
        exchanged = _exchanged(kept[-1], step, types[len(kept) - 1].shape)
        if exchanged is None:
            break
        step, *after = exchanged
        behind[:0] = after
        kept.pop()
    return Tracer(x.cell, (*kept, step, *behind), x.aval.with_shape(shape))


def view_units(x: Tracer, shape: tuple[int, ...]) -> Tracer:
    """Return the view of another shape, whose extents other than 1 are those of ``x``."""
    last = x.steps[-1] if x.steps else None
    if isinstance(last, Reshape) and only_unit_axes_differ(_types(x)[-1].shape, shape):
        return Tracer(x.cell, (*x.steps[:-1], Reshape(shape)), x.aval.with_shape(shape))
    return x.through(Reshape(shape))


def _types(x: Tracer) -> Sequence[TensorType]:
    """Return the types that the steps of ``x`` are applied to."""
    types = [x.cell.value.tensor]
    for step in x.steps[:-1]:
        types.append(step.result_type(types[-1]))
    return types


def _exchanged(last: ViewStep, step: Slice, shape: tuple[int, ...]) -> tuple[Slice, *tuple[ViewStep, ...]] | None:
    """Return a slice, and the steps behind it, that show what ``step`` shows of ``last`` of ``shape``; None if none."""
    if isinstance(last, Slice | Transpose | Reverse | Reshape):
        return _exchanged_once(last, step, shape)
    return None


@functools.lru_cache(maxsize=4096)
def _exchanged_once(
    last: Slice | Transpose | Reverse | Reshape, step: Slice, shape: tuple[int, ...]
) -> tuple[Slice, *tuple[ViewStep, ...]] | None:
    if isinstance(last, Slice):
        return (_merged(last, step),)
    if isinstance(last, Transpose):
        return _permuted(last, step), last
    if isinstance(last, Reverse):
        return _mirrored(last, step, shape)
    return _with_units(step, shape, last.shape)


def _merged(first: Slice, second: Slice) -> Slice:
    starts = tuple(a + b * s for a, b, s in zip(first.starts, second.starts, first.strides, strict=True))
    strides = tuple(s * t for s, t in zip(first.strides, second.strides, strict=True))
    limits = tuple(a + (n - 1) * s + 1 if n else a for a, n, s in zip(starts, second.shape, strides, strict=True))
    return Slice(starts, limits, strides)


def _permuted(last: Transpose, step: Slice) -> Slice:
    """x.T[a] -> x[a'].T."""
    back = [last.permutation.index(axis) for axis in range(len(last.permutation))]
    starts, limits, strides = (tuple(part[k] for k in back) for part in (step.starts, step.limits, step.strides))
    return Slice(starts, limits, strides)


def _mirrored(last: Reverse, step: Slice, shape: tuple[int, ...]) -> tuple[Slice, *tuple[ViewStep, ...]]:
    """x[::-1][a] -> x[a'][::-1]."""
    starts, limits = list(step.starts), list(step.limits)
    for axis in last.axes:
        span = (step.shape[axis] - 1) * step.strides[axis]
        limits[axis] = shape[axis] - step.starts[axis]
        starts[axis] = limits[axis] - 1 - span if span >= 0 else limits[axis]
    wide = tuple(axis for axis in last.axes if step.shape[axis] > 1)
    mirrored = Slice(tuple(starts), tuple(limits), step.strides)
    return (mirrored, Reverse(wide)) if wide else (mirrored,)


def _with_units(
    step: Slice, shape: tuple[int, ...], reshaped: tuple[int, ...]
) -> tuple[Slice, *tuple[ViewStep, ...]] | None:
    """x[None][a] -> x[a'][None], and x[0][a] likewise: axes of extent 1 have no part in a slice."""
    if not shape or not only_unit_axes_differ(shape, reshaped) or 0 in step.shape:
        return None
    places = zip(reshaped, step.starts, step.limits, step.strides, strict=True)
    wide = iter([place for extent, *place in places if extent != 1])
    starts, limits, strides = zip(*[(0, 1, 1) if extent == 1 else next(wide) for extent in shape], strict=True)
    inner = Slice(starts, limits, strides)
    return (inner,) if inner.shape == step.shape else (inner, Reshape(step.shape))
