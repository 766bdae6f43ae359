"""Contexts of JAX's about devices, of which there is one kind here, and about dtypes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from numhlo.compat.jax.configuration import OF_TYPES, config
from numhlo.library.lax.devices import require_cpu
from numhlo.tracer.core.jax_types import setting


@contextmanager
def default_device(device: Any) -> Iterator[None]:
    """Make arrays on a device while the block runs: the processor, or None."""
    require_cpu(device)
    yield


@contextmanager
def default_matmul_precision(precision: Any) -> Iterator[None]:
    """Ask for a precision of products while the block runs: all are computed in their own dtype, the most there is."""
    yield


def enable_x64(new_val: bool = True) -> AbstractContextManager[None]:
    """Have dtypes of 64 bits while the block runs, in this thread; with ``False``, have none.

    Parameters
    ----------
    new_val : bool, optional

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> with jax.enable_x64(True):
    ...     jax.numpy.ones(2).dtype
    dtype('float64')
    """
    return setting(**OF_TYPES["jax_enable_x64"].read("jax_enable_x64", new_val))


def disable_x64() -> AbstractContextManager[None]:
    """Have no dtypes of 64 bits while the block runs, in this thread."""
    return enable_x64(False)


@contextmanager
def numpy_rank_promotion(new_val: str = "allow") -> Iterator[None]:
    """Combine arrays of different numbers of axes while the block runs, as always.

    Raises
    ------
    ArgumentError
        If it is to be refused.
    """
    config.update("jax_numpy_rank_promotion", new_val)
    yield


@contextmanager
def transfer_guard(new_val: str = "allow") -> Iterator[None]:
    """Do nothing: there is one memory, so nothing is moved."""
    yield


def numpy_dtype_promotion(new_val: str = "standard") -> AbstractContextManager[None]:
    """Promote dtypes by the standard rules while the block runs, or, if they are strict, weak ones alone."""
    return setting(**OF_TYPES["jax_numpy_dtype_promotion"].read("jax_numpy_dtype_promotion", new_val))
