"""Kernels by their source, for the whole process: asked for once, compiled once, shared by all programs.

``request(kernel)`` returns at once. What it returns has an address as soon as there is machine code: at once where
the disk has it, else when a compiler process is done. Handles that nobody holds are kept for a while, the last used
longest.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import count
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from numhlo.backend.compiler.current import BUG, CompilerClosedError, compiler_service, say_answered
from numhlo.backend.disk_cache import DiskCache, default_folder
from numhlo.backend.loader import LoadedKernel
from numhlo.backend.program import Kernel
from numhlo.lowering.ir.interruptions import Latch, ProcessLock

if TYPE_CHECKING:
    from concurrent.futures import Future

KEPT = 1024


class Arrivals:
    """A number that changes whenever a kernel of this process has arrived, failed, or been orphaned."""

    def __init__(self) -> None:
        self.latest = 0
        self._numbers = count(1)

    def tell(self) -> None:
        """Change the number."""
        self.latest = next(self._numbers)


arrivals = Arrivals()


class KernelHandle:
    """One kernel: on its way, loaded, or failed.

    Attributes
    ----------
    kernel : Kernel
    loaded : LoadedKernel or None
    error : BaseException or None
        Why there is no machine code and never will be.
    done : bool
        It is loaded or failed.
    arrived : float
        When that was, by `time.perf_counter`.
    orphaned : bool
        Nobody is working on it: whoever was is on the other side of a fork, or was interrupted.
    origin : str
        ``"compiled"``, ``"compiled at a lower level"``, ``"compiled in this process"`` or ``"disk"`` once loaded.
    crash : str
        How the compiler ended on the kernel before it was compiled at a lower level, or an empty string.
    fallback : str
        Why direct lowering left the kernel to Numba's front end, or an empty string; one from the disk doesn't say.
    """

    __slots__ = (
        "__weakref__",
        "_arrived",
        "arrived",
        "crash",
        "done",
        "error",
        "fallback",
        "kernel",
        "loaded",
        "origin",
        "orphaned",
    )

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.loaded: LoadedKernel | None = None
        self.error: BaseException | None = None
        self.origin = self.crash = self.fallback = ""
        self.orphaned = False
        self.done = False
        self.arrived = 0.0
        self._arrived = Latch()

    @property
    def address(self) -> int:
        """Return the address of the machine code, 0 where there is none yet."""
        return 0 if self.loaded is None else self.loaded.address

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the kernel is loaded or failed; return whether it is."""
        say_answered()
        if self.done or sys.is_finalizing():  # no thread runs any more that could bring it
            return self.done
        return self._arrived.wait(-1 if seconds is None else seconds)

    def finish(self, code: bytes, origin: str) -> None:
        """Load object code."""
        try:
            self.loaded, self.origin = LoadedKernel(self.kernel.name, code), origin
        except Exception as error:  # noqa: BLE001 - whoever waits for the kernel gets it
            self.error = error
        self._finish()

    def orphan(self) -> None:
        """Start over: nobody is working on it, and nobody need wait before somebody asks for it again."""
        before = self._arrived
        self.orphaned, self.error, self.done, self._arrived = True, None, False, Latch()
        before.set()
        arrivals.tell()

    def fail(self, error: BaseException) -> None:
        """Say that there will be no machine code."""
        self.error = error
        self._finish()

    def report(self, program: str) -> str:
        """Return what a user is to be told about the kernel, once it is done, or an empty string."""
        if self.error is None and not self.crash:
            return ""
        if isinstance(self.error, CompilerClosedError):
            return ""
        if self.error is not None:
            return f"NumPy does what a kernel of {program} should do\n{self.error}"
        return f"kernel {self.kernel.name} of {program} is optimized less than others\n{self.crash}\n{BUG}\n" + (
            self.kernel.source
        )

    def _finish(self) -> None:
        self.arrived = time.perf_counter()
        self.done = True
        self._arrived.set()
        arrivals.tell()


class KernelCache:
    """Handles by kernel.

    Parameters
    ----------
    disk : DiskCache
    kept : int
        How many handles are kept that nobody else holds.
    """

    def __init__(self, disk: DiskCache, kept: int = KEPT) -> None:
        self.disk = disk
        self.kept = kept
        self.lock = ProcessLock()
        self._handles: WeakValueDictionary[Kernel, KernelHandle] = WeakValueDictionary()
        self._recent: dict[Kernel, KernelHandle] = {}  # the last used last
        self.hits = self.disk_hits = self.compiles = 0
        self._is_expecting = False

    def expect(self) -> None:
        """Get ready for kernels that will be asked for soon: nothing on the disk means that all must be compiled."""
        if not self._is_expecting:
            self._is_expecting = True
            if self.disk.is_empty():
                compiler_service().start_early()

    def request(self, kernel: Kernel) -> KernelHandle:
        """Return a kernel's handle, and see to it that there will be machine code."""
        asked: KernelHandle | None = None
        try:
            with self.lock.own:
                handle = self._handles.get(kernel)
                if handle is not None and not handle.orphaned:
                    self.hits += 1
                    self._use(handle)
                    return handle
                if handle is None:
                    handle = KernelHandle(kernel)
                asked = self._handles[kernel] = handle
                handle.orphaned = False
                self._use(handle)
            self._provide(handle)
        except BaseException:  # an interrupt: whoever needs the kernel asks again
            if asked is not None and not asked.done:
                asked.orphan()
            raise
        return handle

    def _use(self, handle: KernelHandle) -> None:
        self._recent.pop(handle.kernel, None)
        self._recent[handle.kernel] = handle
        while len(self._recent) > self.kept:
            del self._recent[next(iter(self._recent))]

    def _provide(self, handle: KernelHandle) -> None:
        code = self.disk.read(handle.kernel)
        if code is not None:
            handle.finish(code, "disk")
            if handle.error is None:
                self.disk_hits += 1
                return
            handle.orphan()  # what the disk had can't be loaded: compile it
            handle.orphaned = False
        self.compiles += 1
        folder = "" if self.disk.folder is None else os.path.abspath(self.disk.folder)
        compiler_service().submit(handle.kernel, lambda future: self._arrive(handle, future), folder)

    def _arrive(self, handle: KernelHandle, future: Future[bytes]) -> None:
        error = future.exception()
        if error is not None:
            handle.fail(error)
            return
        handle.crash = compiler_service().lowered.get(handle.kernel, "")
        handle.fallback = compiler_service().fallbacks.get(handle.kernel, "")
        if handle.crash:  # not kept on disk: every process is to say so
            handle.finish(future.result(), "compiled at a lower level")
            return
        if compiler_service().in_process:  # not kept on disk: the user's settings of Numba may have gone into it
            handle.finish(future.result(), "compiled in this process")
            return
        try:
            self.disk.write(handle.kernel, future.result())  # first: whoever waits for the kernel may exit at once
        finally:  # where warnings are errors, one about the folder must not lose the kernel
            handle.finish(future.result(), "compiled")

    def handles(self) -> list[KernelHandle]:
        """Return the handles of all kernels that were asked for and that somebody holds, in that order."""
        with self.lock.own:
            return list(self._handles.values())

    def clear(self) -> None:
        """Forget all kernels; machine code that a program holds stays."""
        with self.lock.own:
            self._recent.clear()
            self._handles.clear()

    def orphan_unfinished(self) -> None:
        """Let `request` ask again for what had not arrived: after a fork, who would have brought it is gone."""
        for handle in list(self._handles.values()):
            if not handle.done:
                handle.orphan()


_cache: KernelCache | None = None
_cache_lock = ProcessLock()


def kernel_cache() -> KernelCache:
    """Return this process's kernel cache."""
    global _cache
    if _cache is None:
        with _cache_lock.own:
            if _cache is None:
                _cache = KernelCache(DiskCache(default_folder()))
    return _cache


def _after_fork() -> None:
    if _cache is not None:
        _cache.orphan_unfinished()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
