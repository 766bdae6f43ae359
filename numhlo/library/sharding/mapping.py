"""A function of one device's parts of arrays, and what it makes of all parts in one process: a `vmap` for each axis.

The function is traced once. Its collectives stay what they are until the axes are batched here, or become collectives
between processes. How whole arrays are cut, and joined again, is not known here; that is in `parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from numhlo.library.sharding.varying_axes import Axes, resolve
from numhlo.lowering.ir import Function, TensorType
from numhlo.tracer.building import (
    Lanes,
    Tracer,
    asarray,
    is_weak,
    replay_function,
    shape_of,
    trace_function,
)
from numhlo.tracer.building.derivatives import Staged, stage
from numhlo.tracer.building.named_axes import (
    AxisName,
    batch_function,
    batching_axis,
    device_axes,
    is_number,
    known_value,
    refusing_depth,
)

NamedAxes = Sequence[tuple[AxisName, int]]
"""Names and extents of a mesh's axes, the slowest first."""


class DeviceArgument(NamedTuple):
    """What one device gets of an argument.

    Attributes
    ----------
    type : TensorType
        Of its part.
    axes : frozenset
        Names of the axes along which the parts differ.
    known : numpy.ndarray or None
        The value, where all devices have the same, and it is known.
    weak, is_scalar : bool
        See `stage`.
    """

    type: TensorType
    axes: Axes
    known: Any = None
    weak: bool = False
    is_scalar: bool = False

    @classmethod
    def of(cls, leaf: Any, type: TensorType, axes: Axes) -> DeviceArgument:
        """Return an argument for a leaf that is given: an array, or a number."""
        known = None if axes else known_value(asarray(leaf))
        return cls(type, axes, known, is_weak(leaf), bool(axes) or is_number(leaf))


def stage_device_function(
    name: str,
    fun: Callable[[list[Tracer]], Any],
    arguments: Sequence[DeviceArgument],
    axes: NamedAxes,
    *,
    is_checked: bool,
) -> tuple[Staged, list[Axes]]:
    """Trace what one device does, and return it with the axes along which each of its results differs.

    Parameters
    ----------
    name : str
    fun : callable
        Takes the list of traced parts, returns any pytree.
    arguments : sequence of DeviceArgument
    axes : sequence of (hashable, int)
    is_checked : bool
        Whether cotangents inside of it, of values that are the same on all devices, are the same, too.
    """
    with device_axes(axes, is_checked):
        staged = stage(
            name,
            fun,
            [x.type for x in arguments],
            [x.known for x in arguments],
            [x.weak for x in arguments],
            [x.is_scalar for x in arguments],
        )
    given: list[Axes] = [*[x.axes for x in arguments], *[frozenset()] * len(staged.captures)]
    function, found = resolve(staged.function, given, [name for name, _ in axes], is_checked)
    return staged._replace(function=function), found


def run_all_devices(
    function: Function, inputs: Sequence[Any], differs: Sequence[Axes], axes: NamedAxes
) -> list[tuple[Any, tuple[bool, ...]]]:
    """Run what one device does for all of them, in the current trace.

    Parameters
    ----------
    function : Function
    inputs : sequence of array
        All parts: one more dimension in front for each axis along which they differ, in the axes' order.
    differs : sequence of frozenset
        Which axes those are.
    axes : sequence of (hashable, int)

    Returns
    -------
    list of (array, tuple of bool)
        The parts of results, and for each axis whether it is one of the dimensions in front.
    """
    arrays, flags = list(inputs), [[name in given for name, _ in axes] for given in differs]
    outputs: list[list[bool]] = [[] for _ in function.body.returns]
    if not axes:
        return [(x, ()) for x in replay_function(function, arrays)]
    for number in reversed(range(len(axes))):
        name, size = axes[number]
        mapped = [row[number] for row in flags]
        found: list[Lanes] = []

        def run(*given: Any) -> list[Any]:
            found.extend(batch_function(function, list(map(Lanes, given, mapped)), size))  # noqa: B023 - called at once
            return [x.array for x in found]  # noqa: B023

        with batching_axis(name), refusing_depth():
            if number == 0:
                results = run(*arrays)
            else:
                types = [_inner(x, row[:number]) for x, row in zip(arrays, flags, strict=True)]
                function, captures = trace_function(function.name, run, types)
                arrays += captures
                flags += [[False] * len(axes)] * len(captures)
        for row, lanes in zip(outputs, found, strict=True):
            row.insert(0, lanes.mapped)
    return [(x, tuple(row)) for x, row in zip(results, outputs, strict=True)]


def _inner(array: Any, before: Sequence[bool]) -> TensorType:
    """Return the type of an array without the dimensions of the axes before."""
    return TensorType(shape_of(array)[sum(before) :], array.dtype)
