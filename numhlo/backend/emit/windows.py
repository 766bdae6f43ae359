"""All windows of an array as a view of it: an op of the planner's own, which reductions over windows are expanded to.

Elements of windows that overlap lie in several places of the view; only reading kernels ever see it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.backend.emit.access import Access
from numhlo.backend.emit.tables import VIEW
from numhlo.lowering.ir import Op, Type
from numhlo.lowering.ops.primitive import Arrays, Attribute, RegionFunction, Signature, Unlisted
from numhlo.lowering.ops.window_geometry import Windows, windows_of


def _infer(signature: Signature) -> Sequence[Type]:
    operand = signature.tensor(0)
    windows: Windows = signature.attributes["windows"]
    return [operand.with_shape((*windows.counts(operand.shape), *windows.sizes))]


def _evaluate(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    windows: Windows = attributes["windows"]
    return [windows_of(np.asarray(arrays[0], order="C"), windows, windows.counts(arrays[0].shape))]


WINDOWS = Unlisted("windows", _infer, _evaluate, ("operand",), (Attribute("windows", "any"),), dialect="numhlo")
"""``windows(x)``: the windows of an array that is padded already, ``(*counts, *sizes)``."""


@VIEW.register(WINDOWS)
def view_windows(op: Op, access: Access, *_: object) -> Access:
    """Step from window to window, and within one."""
    windows: Windows = op.attributes["windows"]
    steps = (*windows.strides, *windows.window_dilations)
    strides = [a * s for a, s in zip(steps, access.strides * 2, strict=True)]
    shape = op.result.tensor.shape
    return access.with_strides([0 if n == 1 else s for n, s in zip(shape, strides, strict=True)])


def overlaps(op: Op) -> bool:
    """Return whether an op is a view in which elements occur several times, so that they had better be stored."""
    if op.definition is not WINDOWS:
        return False
    windows: Windows = op.attributes["windows"]
    return any(
        size > 1 and size * dilation > stride
        for size, dilation, stride in zip(windows.sizes, windows.window_dilations, windows.strides, strict=True)
    )
