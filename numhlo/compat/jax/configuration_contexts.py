"""Contexts of JAX's settings of which there is one here, or on which nothing depends; and facts about the process."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

import numhlo
from numhlo.compat.jax.configuration import config
from numhlo.compat.jax.devices import devices, process_count, process_index
from numhlo.compat.jax.version import __version__


def _context(setting: str) -> Callable[..., AbstractContextManager[None]]:
    usual = config.read(setting)

    @contextmanager
    def context(new_val: Any = usual) -> Iterator[None]:
        before = config.read(setting)
        config.update(setting, new_val)
        try:
            yield
        finally:
            config.update(setting, before)

    name = setting.removeprefix("jax_")
    context.__name__ = context.__qualname__ = name
    context.__doc__ = f"Have ``{setting}`` set while the block runs; raises where there is no such value here."
    return context


allow_f16_reductions = _context("jax_allow_f16_reductions")
array_garbage_collection_guard = _context("jax_array_garbage_collection_guard")
auto_pcast = _context("jax_auto_pcast")
debug_key_reuse = _context("jax_debug_key_reuse")
default_prng_impl = _context("jax_default_prng_impl")
enable_checks = _context("jax_enable_checks")
enable_custom_prng = _context("jax_enable_custom_prng")
jax2tf_associative_scan_reductions = _context("jax2tf_associative_scan_reductions")
legacy_prng_key = _context("jax_legacy_prng_key")
no_execution = _context("jax_no_execution")
no_tracing = _context("jax_no_tracing")
remove_size_one_mesh_axis_from_type = _context("jax_remove_size_one_mesh_axis_from_type")
softmax_custom_jvp = _context("jax_softmax_custom_jvp")
thread_guard = _context("jax_thread_guard")
threefry_partitionable = _context("jax_threefry_partitionable")
transfer_guard_device_to_device = _context("jax_transfer_guard_device_to_device")
transfer_guard_device_to_host = _context("jax_transfer_guard_device_to_host")
transfer_guard_host_to_device = _context("jax_transfer_guard_host_to_device")


def process_indices(backend: str | None = None) -> list[int]:
    """Return the numbers of all processes.

    Examples
    --------
    >>> process_indices()
    [0]
    """
    return [*range(process_count(backend))]


host_count, host_id, host_ids = process_count, process_index, process_indices


def copy_to_host_async(x: Any) -> Any:
    """Return a pytree as it is: values are where the program is."""
    return x


def print_environment_info(return_string: bool = False) -> str | None:
    """Print, or return, what runs here: versions, the machine, and devices.

    Parameters
    ----------
    return_string : bool, optional

    Examples
    --------
    >>> print(print_environment_info(return_string=True).splitlines()[0][:4])
    jax:
    """
    text = "\n".join(
        [
            f"jax:    {__version__}, by numhlo {numhlo.__version__}",
            f"numpy:  {np.__version__}",
            f"python: {sys.version}",
            f"device info: {devices()[0].device_kind}-{len(devices())}, {len(devices())} local devices",
            f"process_count: {process_count()}",
            f"platform: {platform.uname()}",
        ]
    )
    if return_string:
        return text
    sys.stdout.write(text + "\n")
    return None
