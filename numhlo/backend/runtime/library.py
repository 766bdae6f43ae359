"""The table of library functions that native code reaches through its context: BLAS, threads, libc.

Addresses are found at run time and never become part of object code. BLAS is SciPy's (LP64, loaded when first asked
for). Its own threads are kept out while a program runs that uses it: the driver sets their number to one for the time
of the call, where the library has that setting (OpenBLAS does), and puts the user's number back when the last such
call is done. So our tiles run on our pool, and SciPy's own functions keep their threads between calls.
"""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache

import numpy as np

from numhlo.backend import fortran
from numhlo.backend.primitives import layout
from numhlo.backend.runtime.immortal import immortal

PRODUCTS = {"sgemm": layout.SGEMM, "dgemm": layout.DGEMM, "cgemm": layout.CGEMM, "zgemm": layout.ZGEMM}
LIBC = {
    "memcpy": layout.MEMCPY,
    "syscall": layout.SYSCALL,
    "pthread_mutex_lock": layout.MUTEX_LOCK,
    "pthread_mutex_unlock": layout.MUTEX_UNLOCK,
    "pthread_cond_wait": layout.CONDITION_WAIT,
    "pthread_cond_broadcast": layout.CONDITION_BROADCAST,
    "pthread_self": layout.THREAD_SELF,
    "clock_gettime": layout.CLOCK,
}
THREAD_SETTINGS = {"get_num_threads": layout.BLAS_GET_THREADS, "set_num_threads": layout.BLAS_SET_THREADS}
OPENBLAS_PREFIXES = ("scipy_openblas_", "openblas_")

table = immortal(np.zeros(layout.LIBRARY_WORDS, np.int64))
"""What `ctx[LIBRARY]` points to."""
table_address = int(table.ctypes.data)


@lru_cache(maxsize=1)
def load_blas() -> bool:
    """Fill in BLAS; return whether there is one.

    Without SciPy there is none, and a program that uses the matrix products must not be made.
    """
    library = fortran.openblas()
    if library is not None:
        for name, number in THREAD_SETTINGS.items():
            table[number] = fortran.first_symbol(library, [prefix + name for prefix in OPENBLAS_PREFIXES])
    for name, number in PRODUCTS.items():
        table[number] = fortran.subroutine(name)
    return all(table[number] for number in PRODUCTS.values())


def set_blas_threads(count: int) -> None:
    """Let BLAS have a number of threads of its own, where it has that setting."""
    address = int(table[layout.BLAS_SET_THREADS])
    if address and count:
        ctypes.CFUNCTYPE(None, ctypes.c_int)(address)(count)


def _load_libc() -> None:
    if sys.platform == "win32":
        table[layout.MEMCPY] = fortran.function_address(ctypes.cdll.msvcrt.memcpy)
        return
    library = ctypes.CDLL(None)
    for name, number in LIBC.items():
        table[number] = fortran.first_symbol(library, [name])


_load_libc()
