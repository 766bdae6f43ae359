"""Contexts of JAX's about devices and dtypes, of which there is one kind here: what asks for another is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numhlo.compat.jax.configuration import config
from numhlo.library.lax.devices import require_cpu
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError


@contextmanager
def default_device(device: Any) -> Iterator[None]:
    """Make arrays on a device while the block runs: the processor, or None."""
    require_cpu(device)
    yield


@contextmanager
def default_matmul_precision(precision: Any) -> Iterator[None]:
    """Ask for a precision of products while the block runs: all are computed in their own dtype, the most there is."""
    yield


@contextmanager
def enable_x64(new_val: bool = True) -> Iterator[None]:
    """Have dtypes of 64 bits while the block runs, as always.

    Raises
    ------
    ArgumentError
        If they are to be switched off.
    """
    config.update("jax_enable_x64", new_val)
    yield


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


@contextmanager
def numpy_dtype_promotion(new_val: str = "standard") -> Iterator[None]:
    """Promote dtypes by the standard rules while the block runs.

    Raises
    ------
    ArgumentError
        If strict rules are asked for.
    """
    if new_val != "standard":
        raise ArgumentError(
            f"jax.numpy_dtype_promotion({new_val!r})",
            where=capture_location(),
            why="dtypes are promoted by NumPy's rules",
            fix="use numhlo.lax, whose functions promote nothing",
        )
    yield
