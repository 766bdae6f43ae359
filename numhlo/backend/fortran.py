"""BLAS and LAPACK: the addresses of their subroutines, and calls from Python that ask how much memory one needs.

Both are SciPy's (LP64, one copy a process). Kernels get an address as a run-time number, so it never becomes part of
object code. Everything is looked up when it is first asked for.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

SYMBOLS = ("scipy_{}_", "{}_")
"""How libraries spell a subroutine."""

Argument = int | str | np.ndarray | None
"""An integer, a letter, an array, or nothing."""


@lru_cache(maxsize=1)
def openblas() -> ctypes.CDLL | None:
    """Return the OpenBLAS that SciPy's wheel brings along, without importing SciPy, which takes 0.2 s."""
    found = importlib.util.find_spec("scipy")
    if found is None or found.origin is None:
        return None
    package = Path(found.origin).parent
    for folder in (package.parent / "scipy.libs", package / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            try:
                return ctypes.CDLL(str(path))
            except OSError:
                continue  # not a library of this platform
    return None


@lru_cache(maxsize=256)
def subroutine(name: str) -> int:
    """Return the address of a subroutine, such as ``dgetrf``; 0 where there is none.

    Where SciPy brings no OpenBLAS, its compiled modules share what library is behind them.
    """
    library = openblas()
    address = 0 if library is None else first_symbol(library, [spelling.format(name) for spelling in SYMBOLS])
    return address or _shared_by_scipy(name)


def _shared_by_scipy(name: str) -> int:
    for module in ("cython_lapack", "cython_blas"):
        try:
            capsules = importlib.import_module(f"scipy.linalg.{module}").__pyx_capi__
        except ImportError:
            return 0
        if name in capsules:
            return capsule_address(capsules[name])
    return 0


def capsule_address(capsule: Any) -> int:
    """Return the pointer in a Python capsule."""
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer(capsule, name(capsule)))


def first_symbol(library: ctypes.CDLL, names: list[str]) -> int:
    """Return the address of the first of some names that a library has, or 0."""
    for name in names:
        try:
            return function_address(getattr(library, name))
        except AttributeError:
            continue
    return 0


def function_address(function: Any) -> int:
    """Return the address of a ctypes function."""
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


def call(name: str, *arguments: Argument) -> None:
    """Call a subroutine."""
    passed: list[Any] = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            passed.append(ctypes.c_void_p(argument.ctypes.data))
        elif isinstance(argument, str):
            passed.append(ctypes.c_char_p(argument.encode()))
        else:
            passed.append(None if argument is None else ctypes.byref(ctypes.c_int32(argument)))
    lengths = [ctypes.c_size_t(1) for argument in arguments if isinstance(argument, str)]
    ctypes.CFUNCTYPE(None)(subroutine(name))(*passed, *lengths)


@lru_cache(maxsize=256)
def workspace(name: str, dtype: np.dtype, *arguments: int | str | None) -> tuple[int, int, int]:
    """Return how many elements a subroutine wants to work in: of its own type, of its real type, of int32.

    Parameters
    ----------
    name : str
    dtype : np.dtype
        That of its matrices.
    *arguments : int, str or None
        What it is called with: integers, letters, nothing for matrices, and "work", "rwork", "iwork" and "info".

    Examples
    --------
    >>> workspace("dgeqrf", np.dtype(float), 3, 2, None, 3, None, "work", -1, "info")[0] >= 2
    True
    """
    arrays = {
        "work": np.zeros(1, dtype),
        "rwork": np.zeros(1, np.zeros(0, dtype).real.dtype),
        "iwork": np.zeros(1, np.int32),
        "info": np.zeros(1, np.int32),
    }
    call(name, *[arrays.get(x, x) if isinstance(x, str) else x for x in arguments])
    work, real, integers = (max(1, int(arrays[key][0].real)) for key in ("work", "rwork", "iwork"))
    return work, real, integers
