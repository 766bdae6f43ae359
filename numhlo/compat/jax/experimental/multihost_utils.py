"""`jax.experimental.multihost_utils`: what processes tell each other, where there is one process."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.tracer.trees.pytrees import tree_map

__all__ = [
    "assert_equal",
    "broadcast_one_to_all",
    "global_array_to_host_local_array",
    "host_local_array_to_global_array",
    "process_allgather",
    "sync_global_devices",
]


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """Return the arrays of all processes: NumPy's, along a new first axis of extent 1, or as they are if ``tiled``.

    Examples
    --------
    >>> process_allgather({"x": np.ones(2)})
    {'x': array([[1., 1.]])}
    """
    return tree_map(lambda x: np.asarray(x) if tiled else np.asarray(x)[None], in_tree)


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """Return the first process's arrays as NumPy's: these."""
    del is_source
    return tree_map(np.asarray, in_tree)


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Do nothing: a process agrees with itself."""


def sync_global_devices(name: str) -> None:
    """Do nothing: there is nobody to wait for."""


def host_local_array_to_global_array(local_inputs: Any, global_mesh: Any, pspecs: Any) -> Any:
    """Return the arrays: this process has all of them."""
    del global_mesh, pspecs
    return local_inputs


def global_array_to_host_local_array(global_inputs: Any, global_mesh: Any, pspecs: Any) -> Any:
    """Return the arrays: this process has all of them."""
    del global_mesh, pspecs
    return global_inputs


__getattr__ = _refusing(__name__)
