"""The compiler as the rest of the backend sees it: ``compile_kernel(kernel)`` gives a future of object code.

Processes are started when there is work, as many as cores at most: one for each kernel that waits where they are forks
of one that is warm, else one for every `JOBS_PER_PROCESS`. They end after `IDLE_SECONDS` without any, or when they have
grown too large. Each is driven by a thread of its own, which sleeps in a pipe. A process that dies is replaced and its
kernel tried once more; where the compiler crashed, at a lower level of optimization. Where no process can be started,
kernels are compiled in this process, which slows everything else in it down: a warning says so, and so does `explain`.

Where there is one core, a first answer goes before: to start a process takes it for half a second. Else what processes
are forked from may start before there is work, by `start_early`, while a program is traced.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import queue
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import field

from numhlo.backend.compiler.address_space import FIX, shortage_here
from numhlo.backend.compiler.current import BUG, CURRENT, CompilerClosedError, KernelCompileError
from numhlo.backend.compiler.fork_server import can_fork
from numhlo.backend.compiler.levels import HIGHEST, LOWER
from numhlo.backend.compiler.messages import Message
from numhlo.backend.compiler.process import (
    MOST_MEMORY,
    CompilerDiedError,
    CompilerProcess,
    end_fork_server,
    start_fork_server,
)
from numhlo.backend.processors import available_processors
from numhlo.backend.program import Kernel
from numhlo.lowering.ir.interruptions import Latch, ProcessLock, start
from numhlo.lowering.ir.records import record

JOBS_PER_PROCESS = 8
IDLE_SECONDS = 300.0
TRIES = 2
HEAD_START = 0.1
"""Seconds that a process starts later at most on one core, for a first answer to be given meanwhile."""


@record(slots=True)
class Job:
    """One kernel to compile."""

    kernel: Kernel
    folder: str = ""
    future: Future[bytes] = field(default_factory=Future)


class CompilerService:
    """The compiler processes of this process, and the kernels that wait for them.

    Attributes
    ----------
    answered : Latch
        Nobody is about to give a first answer: processes may start.
    in_process : str
        Why kernels are compiled in this process, or an empty string.
    compiled : int
    lowered : dict from Kernel to str
        The crash of the compiler on each kernel that was compiled at a lower level for it.
    fallbacks : dict from Kernel to str
        Why direct lowering left a kernel to Numba's front end.
    """

    def __init__(self, processes: int | None = None) -> None:
        self.limit = processes or available_processors()
        self.jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self.lock = ProcessLock()
        self.answered = Latch()
        self.drivers: list[Driver] = []
        self.waiting = self.working = 0
        self.in_process = ""
        self.compiled = 0
        self.lowered: dict[Kernel, str] = {}
        self.fallbacks: dict[Kernel, str] = {}

    def submit(
        self, kernel: Kernel, then: Callable[[Future[bytes]], None] | None = None, folder: str = ""
    ) -> Future[bytes]:
        """Return the future of a kernel's object code; it raises `KernelCompileError` where there is none.

        Parameters
        ----------
        kernel : Kernel
        then : callable, optional
            Called with the future when it is done. Who added it later might be interrupted with the future's lock held.
        folder : str, optional
            Where functions that kernels call are kept.
        """
        job = Job(kernel, folder)
        if then is not None:
            job.future.add_done_callback(then)
        with self.lock.own:
            self.waiting += 1
            try:
                self._grow()
            except RuntimeError as error:  # no more threads: a limit, or the interpreter is ending
                if not self.drivers:
                    self.waiting -= 1
                    ends = "interpreter shutdown" in str(error)
                    job.future.set_exception(closed_error(kernel) if ends else compile_error(kernel, str(error)))
                    return job.future
            self.jobs.put(job)
        return job.future

    def _grow(self) -> None:
        wanted = self.working + self.waiting if can_fork() else 1 + self.waiting // JOBS_PER_PROCESS
        wanted = min(self.limit, wanted)
        self.drivers = [d for d in self.drivers if d.is_alive()]  # an interrupt may have kept one from beginning
        if len(self.drivers) < wanted:
            self.answered.clear()
            driver = Driver(self)
            self.drivers.append(driver)
            try:
                start(driver)  # it waits for the lock before it looks at what the service has
            except RuntimeError:
                self.drivers.remove(driver)
                raise

    def is_short_of_cores(self) -> bool:
        """Return whether there is work for as many processes as leave no core to who asks."""
        return self.waiting + self.working > 0 and len(self.drivers) >= self.limit - 1

    def start_early(self) -> None:
        """Let what processes are forked from start, where there is a core for it: kernels are about to come."""
        if self.limit > 1 and can_fork() and not self.in_process:
            with contextlib.suppress(RuntimeError):  # no more threads
                start(threading.Thread(target=start_fork_server, name="numhlo-compiler-start", daemon=True))

    def close(self) -> None:
        """End all processes; kernels that still wait fail."""
        with self.lock.own:
            drivers, self.drivers = self.drivers, []
        for driver in drivers:
            driver.stop()
        with contextlib.suppress(queue.Empty):
            while True:
                job = self.jobs.get_nowait()
                if job is not None and job.future.set_running_or_notify_cancel():
                    job.future.set_exception(closed_error(job.kernel))
        self.waiting = 0
        for _ in drivers:
            self.jobs.put(None)
        end_fork_server(idle=True)

    def warn_in_process(self, reason: BaseException) -> None:
        """Compile in this process from now on, and say so once."""
        with self.lock.own:
            if self.in_process:
                return
            self.in_process = f"no compiler process can be started ({reason})"
        warnings.warn(
            f"numhlo compiles in this process, which slows it down: {self.in_process}",
            RuntimeWarning,
            stacklevel=2,
        )


class Driver(threading.Thread):
    """The thread that keeps one compiler process busy."""

    def __init__(self, service: CompilerService) -> None:
        super().__init__(name="numhlo-compiler", daemon=True)
        self.service = service
        self.process: CompilerProcess | None = None
        self.stopped = False

    def run(self) -> None:
        """Take kernels until there are none for a while."""
        if self.service.limit == 1:
            self.service.answered.wait(HEAD_START)
        with contextlib.suppress(Warning):  # errors, maybe, that nobody could catch here; `explain` says it too
            self._ensure_process()
        while not self.stopped:
            try:
                job = self.service.jobs.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                if self._retire():
                    break
                continue
            if job is None:
                break
            with self.service.lock.own:
                self.service.waiting -= 1
                self.service.working += 1
            self._serve(job)
            with self.service.lock.own:
                self.service.working -= 1
        self.stop()

    def stop(self) -> None:
        """End the process; a kernel that it is working on fails."""
        self.stopped = True
        self._drop_process()

    def _retire(self) -> bool:
        with self.service.lock.own:
            if self.service.waiting or self not in self.service.drivers:
                return False
            self.service.drivers.remove(self)
            is_last = not self.service.drivers
        self._drop_process()
        if is_last:
            end_fork_server(idle=True)
        return True

    def _serve(self, job: Job) -> None:
        if not job.future.set_running_or_notify_cancel():
            return
        try:
            code = self._compile(job.kernel, job.folder)
        except BaseException as error:  # noqa: BLE001 - the future carries it to whoever waits
            job.future.set_exception(error)
        else:
            self.service.compiled += 1
            job.future.set_result(code)

    def _compile(self, kernel: Kernel, folder: str) -> bytes:
        level = HIGHEST
        for attempt in range(TRIES):
            process = self._ensure_process()
            if process is None:
                return compile_in_process(kernel)
            try:
                reply = process.compile(kernel.name, kernel.source, level, folder)
            except CompilerDiedError as error:
                self._drop_process()
                if self.stopped:
                    raise closed_error(kernel) from error
                if error.timed_out or attempt == TRIES - 1:
                    raise compile_error(kernel, str(error), BUG if error.crashed else "") from error
                if error.crashed:
                    level, self.service.lowered[kernel] = LOWER, str(error)
            else:
                if process.memory > MOST_MEMORY:
                    self._drop_process()
                if reply.header.get("fallback"):
                    self.service.fallbacks[kernel] = reply.header["fallback"]
                return object_code(kernel, reply)
        raise AssertionError("unreachable")

    def _drop_process(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.close()

    def _ensure_process(self) -> CompilerProcess | None:
        if self.service.in_process or self.stopped:
            return None
        if self.process is None:
            try:
                self.process = _start_process()
            except (OSError, CompilerDiedError, RuntimeError) as error:
                if not self.stopped:
                    self.service.warn_in_process(error)
        return self.process


def _start_process() -> CompilerProcess:
    """Return a new process; one that dies at its start, for no reason of its own, is started once more."""
    try:
        return CompilerProcess()
    except CompilerDiedError:
        return CompilerProcess()


def compile_error(kernel: Kernel, reason: str, fix: str = "") -> KernelCompileError:
    """Return the error of a kernel that can't be compiled."""
    return KernelCompileError(f"kernel {kernel.name} can't be compiled", why=f"{reason}\n{kernel.source}", fix=fix)


def closed_error(kernel: Kernel) -> CompilerClosedError:
    """Return the error of a kernel that nobody will compile any more."""
    return CompilerClosedError(f"kernel {kernel.name} is not compiled", why="the compiler was closed")


def object_code(kernel: Kernel, reply: Message) -> bytes:
    """Return the object code in a compiler process's answer.

    Raises
    ------
    KernelCompileError
        If the answer is an error.
    """
    if "error" in reply.header:
        raise compile_error(kernel, reply.header["traceback"], BUG)
    return reply.payload


def compile_in_process(kernel: Kernel) -> bytes:
    """Return a kernel's object code, compiled here: imports Numba into this process."""
    shortage = shortage_here()
    if shortage:
        raise compile_error(kernel, shortage, FIX)
    compiler = importlib.import_module("numhlo.backend.compiler.kernel_compiler")
    try:
        code: bytes = compiler.compile_source(kernel.name, kernel.source)
    except Exception as error:
        raise compile_error(kernel, f"{type(error).__name__}: {error}", BUG) from error
    return code


_service_lock = ProcessLock()


def compiler_service() -> CompilerService:
    """Return this process's compiler service."""
    with _service_lock.own:
        if CURRENT.service is None:
            CURRENT.service = CompilerService()
        return CURRENT.service


def _close_at_exit() -> None:
    if CURRENT.service is not None:
        CURRENT.service.close()
    end_fork_server()


def _forget_after_fork() -> None:
    """Let go of the parent's processes: its threads do not exist here."""
    service, CURRENT.service = CURRENT.service, None
    if service is not None:
        for driver in service.drivers:
            if driver.process is not None:
                driver.process.close()


atexit.register(_close_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
