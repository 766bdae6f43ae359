"""`jax.interpreters.batching`: rules by which `vmap` runs `Primitive`s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.compat.jax.primitive_rules import AxisData as AxisData
from numhlo.compat.jax.primitive_rules import axis_primitive_batchers as axis_primitive_batchers
from numhlo.compat.jax.primitive_rules import fancy_primitive_batchers as fancy_primitive_batchers
from numhlo.compat.jax.primitive_rules import primitive_batchers as primitive_batchers
from numhlo.compat.jax.primitives import Primitive

__all__ = [
    "AxisData", "axis_primitive_batchers", "bdim_at_front", "broadcast", "broadcast_batcher", "defbroadcasting",
    "defvectorized", "fancy_primitive_batchers", "moveaxis", "not_mapped", "primitive_batchers",
]  # fmt: skip

not_mapped = None
"""The axis of operands that are the same for all lanes."""


def moveaxis(x: Any, source: int | None, destination: int) -> Any:
    """Return an array with the lanes' axis elsewhere; as it is where it has none.

    Examples
    --------
    >>> moveaxis(jnp.zeros((2, 3)), 0, 1).shape
    (3, 2)
    """
    return x if source is None else jnp.moveaxis(x, source, destination)


def broadcast(x: Any, size: int, axis: int) -> Any:
    """Return an array repeated along a new axis.

    Examples
    --------
    >>> broadcast(jnp.zeros(3), 2, 0).shape
    (2, 3)
    """
    wide = jnp.expand_dims(x, axis)
    return jnp.broadcast_to(wide, (*wide.shape[:axis], size, *wide.shape[axis + 1 :]))


def bdim_at_front(x: Any, axis: int | None, size: int) -> Any:
    """Return an array with the lanes' axis first, repeated where it has none.

    Examples
    --------
    >>> bdim_at_front(jnp.zeros(3), None, 2).shape
    (2, 3)
    """
    return broadcast(x, size, 0) if axis is None else moveaxis(x, axis, 0)


def defvectorized(primitive: Primitive) -> None:
    """Say that a primitive of one operand means the same on all lanes at once."""
    primitive_batchers[primitive] = lambda args, axes, **params: (primitive.bind(*args, **params), axes[0])


def defbroadcasting(primitive: Primitive) -> None:
    """Say that a primitive works element by element on operands of one shape."""
    primitive_batchers[primitive] = lambda args, axes, **params: broadcast_batcher(primitive, args, axes, **params)


def broadcast_batcher(primitive: Primitive, args: Sequence[Any], axes: Sequence[int | None], **params: Any) -> Any:
    """Run a primitive that works element by element on lanes.

    Parameters
    ----------
    primitive : Primitive
    args : sequence of array
        Of one number of dimensions without the lanes', or numbers.
    axes : sequence of int or None
    **params : object

    Returns
    -------
    result, axis
    """
    size = next(x.shape[a] for x, a in zip(args, axes, strict=True) if a is not None)
    moved = [bdim_at_front(x, a, size) for x, a in zip(args, axes, strict=True)]
    most = max(jnp.ndim(x) for x in moved)
    moved = [jnp.reshape(x, (x.shape[0], *[1] * (most - x.ndim), *x.shape[1:])) for x in moved]
    result = primitive.bind(*moved, **params)
    return (result, [0] * len(result)) if primitive.multiple_results else (result, 0)


__getattr__ = _refusing(__name__)
