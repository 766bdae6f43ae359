"""Object code to callable addresses, with llvmlite alone: Numba is not needed to run what it compiled.

Each kernel has its own engine and its own target machine (one shared by several engines crashes when they are closed),
so that its memory is given back when nobody holds the kernel any more.
"""

from __future__ import annotations

import atexit
import os
import threading
from functools import lru_cache
from weakref import WeakSet

import llvmlite.binding as llvm

from numhlo.lowering.ir.errors import InternalError

OBJECT_MARKS = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\x64\x86", b"\x64\xaa")
"""How object files begin (ELF, Mach-O, COFF for x86-64 and ARM): LLVM crashes on what is none."""

_lock = threading.RLock()
"""Held while LLVM works, and across a fork: the child must not find LLVM's locks taken by a thread that it lacks."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


@lru_cache(maxsize=1)
def _native_target() -> llvm.Target:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(llvm.get_process_triple())


_loaded: WeakSet[LoadedKernel] = WeakSet()
_exiting = threading.Event()


def _keep_all() -> None:
    """Free no code from now on: daemon threads may be inside it until the process is gone."""
    _exiting.set()
    for kernel in list(_loaded):
        kernel.keep_forever()


atexit.register(_keep_all)


class LoadedKernel:
    """Machine code in memory, freed with this object.

    Parameters
    ----------
    name : str
        The symbol.
    code : bytes
        The object file.

    Attributes
    ----------
    address : int
        Of ``i64 name(i64 ctx, i64 bufs, i64 dims, i64 lo, i64 hi)``.

    Raises
    ------
    InternalError
        If it is no object code, or doesn't define the symbol.
    """

    __slots__ = ("__weakref__", "_engine", "address", "name", "size")

    def __init__(self, name: str, code: bytes) -> None:
        if not code.startswith(OBJECT_MARKS):
            raise InternalError(f"what should be the object code of {name} is none")
        with _lock:
            machine = _native_target().create_target_machine(jit=True)
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
            engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            engine.finalize_object()
            self.address: int = engine.get_function_address(name)
        self.name = name
        self.size = len(code)
        self._engine = engine
        if self.address == 0:
            raise InternalError(f"the object code of {name} does not define it")
        _loaded.add(self)
        if _exiting.is_set():
            self.keep_forever()

    def keep_forever(self) -> None:
        """Never free the code, not even at exit: a thread or a signal handler may be inside it."""
        self._engine.detach()
