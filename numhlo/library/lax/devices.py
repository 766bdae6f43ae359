"""Where values live: in this machine's memory, under the names that JAX has for moving them."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.building import Array, Tracer, tree_map

T = TypeVar("T")


def require_cpu(device: Any) -> None:
    """Refuse any device but this machine's processor."""
    if device not in (None, "cpu"):
        raise ArgumentError(
            f"device {device!r}",
            where=capture_location(),
            why="numhlo runs on this machine's processor",
            fix='use "cpu" or None',
        )


def device_put(x: Any, device: Any = None) -> Any:
    """Return a pytree with new arrays in the place of its leaves.

    Parameters
    ----------
    x : pytree of array_like
    device : str, optional
        ``"cpu"`` or None.

    Returns
    -------
    pytree of Array
        Copies; traced arrays are passed on as they are.

    Raises
    ------
    ArgumentError
        If the device is another one.

    Notes
    -----
    Source: `jax.device_put`.

    Examples
    --------
    >>> device_put({"w": [1.0, 2.0]})
    {'w': [Array(1.), Array(2.)]}
    """
    require_cpu(device)
    return tree_map(lambda leaf: leaf if isinstance(leaf, Tracer) else np.array(leaf).view(Array), x)


def device_get(x: Any) -> Any:
    """Return a pytree with NumPy's own arrays in the place of its leaves; nothing is copied.

    Parameters
    ----------
    x : pytree of array_like

    Returns
    -------
    pytree of numpy.ndarray

    Raises
    ------
    ConcretizationError
        If a leaf is a traced array, whose value is not known while tracing.

    Notes
    -----
    Source: `jax.device_get`.

    Examples
    --------
    >>> import numhlo.numpy as n
    >>> device_get((n.arange(3), 2.0))
    (array([0, 1, 2]), array(2.))
    """
    return tree_map(_as_plain_array, x)


def _as_plain_array(leaf: Any) -> np.ndarray:
    return np.asarray(leaf).view(np.ndarray)


def block_until_ready(x: T) -> T:
    """Return ``x``: results are there when a call returns, so there is nothing to wait for.

    Parameters
    ----------
    x : pytree

    Returns
    -------
    pytree
        The same.

    Notes
    -----
    Source: `jax.block_until_ready`.

    Examples
    --------
    >>> import numhlo
    >>> block_until_ready(numhlo.jit(lambda x: x + 1)(1))
    Array(2)
    """
    return x
