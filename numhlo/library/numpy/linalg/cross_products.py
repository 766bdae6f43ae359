"""`cross`: products of vectors in space, and in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy.axis_order import moveaxis
from numhlo.library.numpy.joining import concatenate, stack
from numhlo.tracer.building import as_traced, asarray, broadcast_shapes, full_of, implements

__all__ = ["cross"]


@implements(np.cross)
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """Return the cross product of vectors of three components, or of two.

    Parameters
    ----------
    a, b : array_like
        The other axes broadcast.
    axisa, axisb, axisc : int, optional
        Where the vectors stand in the operands and the result.
    axis : int, optional
        For all three.

    Returns
    -------
    Array
        Of the common dtype; of two components each, the third one of their product alone.

    Raises
    ------
    ValueError
        If there are neither two components nor three.
    ShapeError
        If the other axes do not broadcast.

    Examples
    --------
    >>> cross([1, 0, 0], [0, 1, 0])
    Array([0, 0, 1])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = moveaxis(as_traced(asarray(a)), axisa, -1), moveaxis(as_traced(asarray(b)), axisb, -1)
    if {x.shape[-1], y.shape[-1]} - {2, 3}:
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    broadcast_shapes(x.shape[:-1], y.shape[:-1], name="cross", operands=())
    in_plane = x.shape[-1] == y.shape[-1] == 2
    x, y = (v if in_plane else _in_space(v) for v in (x, y))
    parts = []
    for i, j in ((0, 1),) if in_plane else ((1, 2), (2, 0), (0, 1)):
        parts.append(ufuncs.subtract(ufuncs.multiply(x[..., i], y[..., j]), ufuncs.multiply(x[..., j], y[..., i])))
    return parts[0] if in_plane else stack(parts, axisc)


def _in_space(vectors: Any) -> Any:
    """Return vectors with a third component, 0 for those of a plane."""
    if vectors.shape[-1] == 3:
        return vectors
    return concatenate([vectors, full_of(0, (*vectors.shape[:-1], 1), vectors.dtype)], -1)
