"""SciPy's functions, imported when one is first called: importing SciPy takes longer than importing NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

PREFIXES = {"f": {4: "s", 8: "d"}, "c": {8: "c", 16: "z"}}
"""How BLAS and LAPACK call their types."""


@cache
def _module(name: str) -> Any:
    return import_module(f"scipy.{name}")


def scipy_function(name: str, module: str = "special") -> Callable[..., Any]:
    """Return a function that calls ``scipy.special.<name>``, or that of another module.

    Examples
    --------
    >>> float(scipy_function("erf")(0.0))
    0.0
    """

    def call(*arrays: Any, **options: Any) -> Any:
        return getattr(_module(module), name)(*arrays, **options)

    call.__name__ = name
    return call


def type_prefix(dtype: np.dtype) -> str:
    """Return BLAS's and LAPACK's letter of a dtype.

    Examples
    --------
    >>> type_prefix(np.dtype("complex64"))
    'c'
    """
    return PREFIXES[dtype.kind][dtype.itemsize]


def blas_function(name: str, dtype: np.dtype) -> Callable[..., Any]:
    """Return BLAS's function for a dtype: ``blas_function("trsm", float64)`` is ``dtrsm``."""
    function: Callable[..., Any] = getattr(_module("linalg.blas"), type_prefix(dtype) + name)
    return function


def lapack_function(name: str) -> Callable[..., Any]:
    """Return LAPACK's function of a full name, such as ``dgetrf``."""
    function: Callable[..., Any] = getattr(_module("linalg.lapack"), name)
    return function
