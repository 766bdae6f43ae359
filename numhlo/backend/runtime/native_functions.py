"""The runtime's own kernels (`native_code`), loaded once a process; until they are, the NumPy engine does without."""

from __future__ import annotations

import ctypes
import re
import warnings
from collections.abc import Callable
from functools import lru_cache

from numhlo.backend.compiler.current import CompilerClosedError
from numhlo.backend.kernel_cache import KernelHandle, kernel_cache
from numhlo.backend.own_text import own_text
from numhlo.backend.primitives import layout
from numhlo.backend.program import Kernel
from numhlo.backend.runtime import library

FILES = {
    "driver": "driver",
    "entry": "entry",
    "attend": "attend",
    "call": "call",
    "pool_launch": "thread_pool",
    "pool_worker": "thread_pool",
}
IMPORT = re.compile(r"^from numhlo\.backend\.runtime\.native_code\.(\w+) import .*\n", re.MULTILINE)
FIVE_WORDS = (ctypes.c_int64,) * 5
NativeType = ctypes.CFUNCTYPE(ctypes.c_int64, *FIVE_WORDS)
"""A native function that runs without the GIL."""

_handles: dict[str, KernelHandle] = {}
_pinned: set[str] = set()
_failed: set[str] = set()


@lru_cache
def native_kernel(name: str) -> Kernel:
    """Return one of the runtime's kernels."""
    return Kernel(name, _source(FILES[name]))


def _source(file: str) -> str:
    """Return the text of a file of `native_code`, behind that of those it imports from: a kernel is one text."""
    text = own_text(f"runtime/native_code/{file}.py")
    return "\n\n".join([*map(_source, IMPORT.findall(text)), IMPORT.sub("", text)])


def request_native(name: str) -> KernelHandle:
    """Return the handle of a native function, asking for it if nobody has."""
    handle = _handles.get(name)
    if handle is None or handle.orphaned:
        handle = _handles[name] = kernel_cache().request(native_kernel(name))
    if name not in _pinned and handle.loaded is not None:
        handle.loaded.keep_forever()  # threads sleep in this code, and Python objects point to it
        _pinned.add(name)
        if name == "attend":
            library.table[layout.ATTEND] = handle.address
    return handle


def native_address(name: str) -> int:
    """Return the address of a native function, 0 where there is none yet, or where none can be made.

    In the second case a warning says once why: programs run on NumPy then.
    """
    handle = request_native(name)
    if handle.error is not None and name not in _failed:
        _failed.add(name)
        if isinstance(handle.error, CompilerClosedError):
            return 0
        warnings.warn(f"numhlo's own {name} has no machine code\n{handle.error}", RuntimeWarning, stacklevel=2)
    return handle.address


@lru_cache
def native_callable(address: int) -> Callable[..., int]:
    """Return the ctypes function at an address, which releases the GIL while it runs."""
    return NativeType(address)
