"""The table of library functions that native code reaches through its context: BLAS, threads, others by name.

Addresses are found at run time and never become part of object code. BLAS is SciPy's (LP64, loaded when first asked
for). Its own threads are kept out while a program runs that uses it: the driver sets their number to one for the time
of the call, where the library has that setting (OpenBLAS does), and puts the user's number back when the last such
call is done. So our tiles run on our pool, and SciPy's own functions keep their threads between calls.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import sys
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from numhlo.backend.primitives import layout
from numhlo.backend.runtime.immortal import immortal
from numhlo.lowering.ir.errors import InternalError

PRODUCTS = {"sgemm": layout.SGEMM, "dgemm": layout.DGEMM, "cgemm": layout.CGEMM, "zgemm": layout.ZGEMM}
LIBC = {
    "memcpy": layout.MEMCPY,
    "syscall": layout.SYSCALL,
    "pthread_mutex_lock": layout.MUTEX_LOCK,
    "pthread_mutex_unlock": layout.MUTEX_UNLOCK,
    "pthread_cond_wait": layout.CONDITION_WAIT,
    "pthread_cond_broadcast": layout.CONDITION_BROADCAST,
    "pthread_self": layout.THREAD_SELF,
}
THREAD_SETTINGS = {"get_num_threads": layout.BLAS_GET_THREADS, "set_num_threads": layout.BLAS_SET_THREADS}
OPENBLAS_PREFIXES = ("scipy_openblas_", "openblas_")
PRODUCT_PREFIXES = ("scipy_", "")

table = immortal(np.zeros(layout.LIBRARY_WORDS, np.int64))
"""What `ctx[LIBRARY]` points to."""
table_address = int(table.ctypes.data)

_names: dict[str, int] = {}
_lock = threading.Lock()


def register_function(name: str, address: int) -> int:
    """Give a native function a number for `library_function(ctx, number)`; the same name keeps its number.

    Raises
    ------
    InternalError
        If the table is full.
    """
    with _lock:
        number = _names.setdefault(name, layout.FIRST_FREE + len(_names))
        if number >= layout.LIBRARY_WORDS:
            raise InternalError(f"no room for library function {name}")
        table[number] = address
        return number


def capsule_address(capsule: Any) -> int:
    """Return the pointer in a Python capsule."""
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer(capsule, name(capsule)))


@lru_cache(maxsize=1)
def load_blas() -> bool:
    """Fill in BLAS; return whether there is one.

    Without SciPy there is none, and a program that uses the matrix products must not be made.
    """
    library = _openblas()
    if library is not None:
        for name, number in THREAD_SETTINGS.items():
            table[number] = _first_symbol(library, [prefix + name for prefix in OPENBLAS_PREFIXES])
        for name, number in PRODUCTS.items():
            table[number] = _first_symbol(library, [f"{prefix}{name}_" for prefix in PRODUCT_PREFIXES])
    return all(table[number] for number in PRODUCTS.values()) or _load_blas_of_scipy()


def _load_blas_of_scipy() -> bool:
    """Fill in the products that SciPy's compiled modules share, whatever library is behind them."""
    try:
        capsules = importlib.import_module("scipy.linalg.cython_blas").__pyx_capi__
    except ImportError:
        return False
    for name, number in PRODUCTS.items():
        table[number] = capsule_address(capsules[name])
    return True


def _openblas() -> ctypes.CDLL | None:
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


def _first_symbol(library: ctypes.CDLL, names: list[str]) -> int:
    for name in names:
        try:
            return function_address(getattr(library, name))
        except AttributeError:
            continue
    return 0


def function_address(function: Any) -> int:
    """Return the address of a ctypes function."""
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


def _load_libc() -> None:
    if sys.platform == "win32":
        table[layout.MEMCPY] = function_address(ctypes.cdll.msvcrt.memcpy)
        return
    library = ctypes.CDLL(None)
    for name, number in LIBC.items():
        table[number] = _first_symbol(library, [name])


_load_libc()
