"""One compiler process, seen from the user's process: start it, ask it, end it.

It knows pipes and signals, not kernels' meaning. `service` decides how many there are.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

import llvmlite
import ml_dtypes
import numpy as np

from numhlo.backend.compiler.address_space import shortage_there
from numhlo.backend.compiler.fork_server import ForkedProcess, ForkServer, can_fork
from numhlo.backend.compiler.levels import HIGHEST
from numhlo.backend.compiler.messages import Message, read_message, write_message
from numhlo.backend.nameless_files import open_nameless
from numhlo.backend.target import chosen
from numhlo.lowering.ir.errors import InternalError
from numhlo.lowering.ir.interruptions import ProcessLock

START_SECONDS = 60.0
JOB_SECONDS = 120.0
END_SECONDS = 10.0
FORK_SECONDS = 5.0
MOST_MEMORY = 768 << 20
"""Bytes in use after a kernel beyond which a process is replaced: Numba keeps something of everything it compiles."""
ENDED_BY_OTHERS = [getattr(signal, name, 0) for name in ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGXCPU")]
"""Signals that no compiler sends itself, as it does where an assertion fails or an address is wrong."""
REMOVED_PREFIXES = ("NUMBA_", "PYTHON")
SMALL = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
"""What keeps the address space of a process small that multiplies no matrices."""
END_LATER = "import signal; hasattr(signal, 'setitimer') and signal.setitimer(signal.ITIMER_REAL, {seconds})"
"""Statements that let the system end a process that is not ready by then, even if nobody is left who could."""
START = (
    "import gc, sys; gc.disable(); sys.modules['coverage'] = None; sys.path += sys.argv[1:]; "
    "from numhlo.backend.compiler import worker; worker.{main}()"
)
"""The program: what the compiler needs stands behind the standard library, so that nothing can shadow that.

Of half a second that it would take to start, collecting garbage takes an eighth, and a tool for tests, which Numba
loads where it is installed, a sixteenth.
"""


class CompilerDiedError(InternalError):
    """The compiler process ended, or was ended for taking too long.

    Attributes
    ----------
    timed_out : bool
        It was ended for taking too long: trying again would take as long again.
    crashed : bool
        It ended itself, at an assertion of LLVM's or a wrong address: trying the same again would end it again.
    """

    timed_out = crashed = False


def search_path() -> list[str]:
    """Return folders with what the compiler needs, and as far as possible nothing of the user's.

    They are the ones that this process's own modules came from. Numba, which it may never have imported, is looked for
    there first: a user's folder may hold something of that name.
    """
    own = str(Path(__file__).absolute().parents[3])
    folders = list(dict.fromkeys([own, *[os.path.dirname(module.__path__[0]) for module in (llvmlite, np, ml_dtypes)]]))
    if not any(os.path.exists(os.path.join(folder, "numba", "__init__.py")) for folder in folders):
        found = importlib.util.find_spec("numba")
        places = None if found is None else found.submodule_search_locations
        folders += [os.path.dirname(place) for place in places or ()]
    return folders


def environment() -> dict[str, str]:
    """Return the compiler's environment: the user's without what would change Python's or Numba's behaviour.

    Which processor code is generated for stays as it was when this process first asked.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith(REMOVED_PREFIXES)}
    for name in ("PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"):
        if name in os.environ:
            kept[name] = os.environ[name]
    return {**kept, **chosen(), **SMALL}


def error_file() -> IO[bytes]:
    """Return where a process's standard error goes."""
    try:
        return os.fdopen(open_nameless("numhlo-compiler"), "w+b", buffering=0)
    except OSError:
        return open(os.devnull, "w+b", buffering=0)


def can_start_processes() -> bool:
    """Return whether `sys.executable` is a Python that can be started again."""
    return bool(sys.executable) and not getattr(sys, "frozen", False) and sys.platform not in ("emscripten", "wasi")


_between_forks = ProcessLock()
"""A fork in the middle of `subprocess.Popen` would give the child an end of each pipe: this side would not learn that
the new process has begun, nor that one that it gave up has ended, before the child ends."""
_forking: list[Callable[[], None]] = []


def _before_fork() -> None:
    lock = _between_forks.own
    if lock.acquire(timeout=FORK_SECONDS):
        _forking.append(lock.release)


def _after_fork() -> None:
    while _forking:
        _forking.pop()()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_forking.clear)


class CompilerProcess:
    """A running compiler process, owned by one thread.

    Raises
    ------
    OSError
        If it can't be started.
    CompilerDiedError
        If it ends before it is ready.
    """

    def __init__(self) -> None:
        if not can_start_processes():
            raise OSError("this Python can't be started again")
        shortage = shortage_there()
        if shortage:
            raise OSError(shortage)
        self.errors = error_file()
        self.owner = os.getpid()
        self.memory = 0
        self.popen: subprocess.Popen[bytes] | ForkedProcess
        try:
            self.popen = self._forked() if can_fork() else self._started()
        except BaseException:
            self.errors.close()
            raise
        self._stdin, self._stdout = cast("IO[bytes]", self.popen.stdin), cast("IO[bytes]", self.popen.stdout)
        try:
            self._exchange(START_SECONDS)
        except BaseException:
            self.close()
            raise

    def _started(self) -> subprocess.Popen[bytes]:
        with _between_forks.own:
            return subprocess.Popen(
                command_of("main"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                bufsize=0,  # a buffer's lock, held by a thread that reads, would stop a fork of this process
                env=environment(),
                cwd=os.sep,  # the user's folder may go away
                start_new_session=True,  # Ctrl-C in the terminal is not for it
            )

    def _forked(self) -> ForkedProcess:
        server = fork_server()
        try:
            server.wait(START_SECONDS)
            with _between_forks.own:
                return server.fork(self.errors, START_SECONDS)
        except OSError as error:
            if server.is_closed:  # by this process, which ends
                raise
            timed_out = isinstance(error, TimeoutError)
            death = death_of(server.popen, server.errors, START_SECONDS, timed_out=timed_out)
            drop_fork_server(server)
            raise death from error

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self.popen.pid

    def compile(self, name: str, source: str, level: int = HIGHEST, folder: str = "") -> Message:
        """Return the answer to one kernel, optimized so much: object code, or an error in the header.

        Functions that the kernel calls are kept in a folder of kernels, if one is given.

        Raises
        ------
        CompilerDiedError
            If the process ends meanwhile, by itself or for taking more than `JOB_SECONDS`.
        """
        reply = self._exchange(JOB_SECONDS, Message({"name": name, "level": level, "folder": folder}, source.encode()))
        self.memory = reply.header.get("memory", 0)
        return reply

    def prepare(self, folder: str) -> Message:
        """Keep all functions that kernels may call in a folder; the header says how many there are.

        Raises
        ------
        CompilerDiedError
            As `compile`.
        """
        return self._exchange(JOB_SECONDS, Message({"prepares": True, "folder": folder}))

    def _exchange(self, seconds: float, question: Message | None = None) -> Message:
        """Return the answer to a question, or the first message; who hasn't read the one in time is ended, too."""
        late = threading.Event()

        def end() -> None:
            late.set()
            self.popen.kill()

        limit = threading.Timer(seconds, end)
        limit.daemon = True
        limit.start()
        try:
            if question is not None:
                write_message(self._stdin, question)
            return read_message(self._stdout)
        except (EOFError, OSError) as error:
            raise death_of(self.popen, self.errors, seconds, timed_out=late.is_set()) from error
        finally:
            limit.cancel()

    def close(self) -> None:
        """End the process and leave no zombie; in a fork of the owner, only close this side of the pipes."""
        if self.owner == os.getpid() and self.popen.poll() is None:
            self.popen.kill()  # first: a thread may be reading, and closing waits for it
        for stream in (self.popen.stdin, self.popen.stdout, self.errors):
            if stream is not None:
                _close_quietly(stream)
        if self.owner != os.getpid():
            self.popen.returncode = 0  # not our child: nothing to wait for, nothing to warn about
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(END_SECONDS)  # the system may not be done with it: nobody waits for that


def death_of(
    popen: subprocess.Popen[bytes] | ForkedProcess, errors: IO[bytes], seconds: float, *, timed_out: bool
) -> CompilerDiedError:
    """Return the error that says how a process has ended, with the end of what it wrote to its standard error."""
    try:
        code: int | None = popen.wait(1.0)
    except subprocess.TimeoutExpired:
        code = None
    tail = ""
    with contextlib.suppress(ValueError):  # closed meanwhile, by a thread that ends the process
        errors.seek(0)
        tail = errors.read()[-2000:].decode(errors="replace").strip()
    if timed_out:
        what, reason = f"the compiler process was ended: it took more than {seconds:g} s", tail
    else:
        what, reason = f"the compiler process ended with code {code}", tail or "something killed it"
    death = CompilerDiedError(what, why=reason)
    death.timed_out = timed_out
    death.crashed = not timed_out and code is not None and (code > 1 or (code < 0 and -code not in ENDED_BY_OTHERS))
    return death


def command_of(main: str) -> list[str]:
    """Return the command that runs one of the worker's main functions."""
    program = f"{END_LATER.format(seconds=START_SECONDS)}; {START.format(main=main)}"
    return [sys.executable, "-P", "-S", "-W", "ignore", "-c", program, *search_path()]


_fork_server: ForkServer | None = None
_fork_server_lock = ProcessLock()


def fork_server() -> ForkServer:
    """Return what forks compiler processes, started by now; another one where the environment has changed.

    Raises
    ------
    OSError
        If it can't be started.
    """
    global _fork_server
    command, variables = command_of("main_of_forks"), environment()
    with _fork_server_lock.own:
        server = _fork_server
        if server is not None and server.alive and server.started_with == (tuple(command), variables):
            return server
        if server is not None:
            server.retire()
        errors = error_file()
        try:
            with _between_forks.own:
                _fork_server = ForkServer(command, variables, errors)
        except BaseException:
            errors.close()
            raise
        return _fork_server


def start_fork_server() -> None:
    """Start what compiler processes are forked from, where they are, so that it will be ready when it is needed."""
    if can_fork() and can_start_processes() and not shortage_there():
        with contextlib.suppress(OSError):  # who needs a process finds out
            fork_server()


def drop_fork_server(server: ForkServer) -> None:
    """End a server, and let the next process come from another one."""
    global _fork_server
    with _fork_server_lock.own:
        if _fork_server is server:
            _fork_server = None
    server.close()


def end_fork_server(*, idle: bool = False) -> None:
    """End what compiler processes are forked from, if there is something; where ``idle``, unless there are any."""
    server = _fork_server
    if server is not None and not (idle and server.living):
        drop_fork_server(server)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=end_fork_server)


def _close_quietly(stream: IO[bytes]) -> None:
    with contextlib.suppress(OSError):  # unsent bytes for a process that is gone
        stream.close()
