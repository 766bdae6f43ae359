"""A process that is warm and forks compiler processes: loading Numba takes half a second, a fork some milliseconds.

It has one thread and compiles nothing but a first kernel, so its forks find everything in order. The user's process
asks it over a socket: with pipes for a new compiler process, which answers with its id, or how one has ended. Linux
only; elsewhere each compiler process starts by itself. Next: `process` asks for processes, `worker` has the other side.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import IO

from numhlo.lowering.ir.interruptions import ProcessLock

REQUEST = struct.Struct("<cq")
"""What is asked, and of which process."""
REPLY = struct.Struct("<q")
FORK, STATUS = b"F", b"S"
RUNNING = 1 << 32
"""The status of a process that has not ended; others are exit codes, negative for signals."""
POLL_SECONDS = 0.002
END_SECONDS = 10.0


def can_fork() -> bool:
    """Return whether compiler processes may be forks."""
    return sys.platform == "linux" and hasattr(socket, "send_fds")


class ForkServer:
    """The server of this process, which starts when it is made and is ready some time later.

    Parameters
    ----------
    command : sequence of str
    environment : dict
    errors : file
        Where its standard error goes.
    """

    def __init__(self, command: Sequence[str], environment: dict[str, str], errors: IO[bytes]) -> None:
        self.owner = os.getpid()
        self.started_with = (tuple(command), environment)
        self.errors = errors
        self.lock = ProcessLock()
        self.living, self._is_retired, self.is_closed = 0, False, False
        own, theirs = socket.socketpair()
        try:
            self.popen = subprocess.Popen(
                command,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=environment,
                cwd=os.sep,
                start_new_session=True,
            )
        except BaseException:
            own.close()
            raise
        finally:
            theirs.close()
        self.socket = own
        self._is_ready = False

    @property
    def alive(self) -> bool:
        """Return whether it can be asked."""
        return self.owner == os.getpid() and self.popen.poll() is None

    def wait(self, seconds: float) -> None:
        """Wait until it is ready.

        Raises
        ------
        OSError
            If it ends, or is not ready by then.
        """
        with self.lock.own:
            if not self._is_ready:
                self._answer(seconds)
                self._is_ready = True

    def fork(self, errors: IO[bytes], seconds: float) -> ForkedProcess:
        """Return a new process with pipes, once the server is ready: no fork of this process may come in between.

        Raises
        ------
        OSError
            If the server ends, or doesn't answer in time.
        """
        theirs, stdin = os.pipe()
        stdout, theirs_too = os.pipe()
        try:
            pid = self._ask(FORK, 0, [theirs, theirs_too, errors.fileno()], seconds)
        except BaseException:
            os.close(stdin)
            os.close(stdout)
            raise
        finally:
            os.close(theirs)
            os.close(theirs_too)
        self.living += 1
        return ForkedProcess(self, pid, stdin, stdout)

    def status(self, pid: int) -> int:
        """Return how a process has ended, or `RUNNING`; with the server, all of them end."""
        try:
            return self._ask(STATUS, pid, [], END_SECONDS)
        except OSError:
            return -signal.SIGKILL

    def _ask(self, what: bytes, pid: int, files: list[int], seconds: float) -> int:
        if self.owner != os.getpid():
            raise OSError("the process that forks compilers belongs to another one")
        with self.lock.own:
            self.socket.settimeout(seconds)
            socket.send_fds(self.socket, [REQUEST.pack(what, pid)], files)
            return self._answer(seconds)

    def _answer(self, seconds: float) -> int:
        self.socket.settimeout(seconds)
        reply = self.socket.recv(REPLY.size, socket.MSG_WAITALL)
        if len(reply) < REPLY.size:
            raise OSError("the process that forks compilers has ended")
        found: int = REPLY.unpack(reply)[0]
        return found

    def leave(self) -> None:
        """Note that one of its processes has ended."""
        self.living -= 1
        if self._is_retired and not self.living:
            self.close()

    def retire(self) -> None:
        """End the server when its last process has ended: nobody asks for another one."""
        self._is_retired = True
        if not self.living:
            self.close()

    def close(self) -> None:
        """End the server and its forks; in a fork of the owner, only let go of it."""
        self.is_closed = True  # first: a thread may be waiting, and shall know why it gets no answer
        if self.owner != os.getpid():
            self.socket.close()
            self.popen.returncode = 0
            return
        self.popen.kill()
        self.socket.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(END_SECONDS)
        self.errors.close()


class ForkedProcess:
    """A fork of the server, as `subprocess.Popen` shows a process."""

    def __init__(self, server: ForkServer, pid: int, stdin: int, stdout: int) -> None:
        self.server = server
        self.pid = pid
        self.stdin = os.fdopen(stdin, "wb", buffering=0)
        self.stdout = os.fdopen(stdout, "rb", buffering=0)
        self._returncode: int | None = None

    @property
    def returncode(self) -> int | None:
        """Return how it has ended, as far as is known."""
        return self._returncode

    @returncode.setter
    def returncode(self, code: int) -> None:
        before, self._returncode = self._returncode, code
        if before is None:
            self.server.leave()

    def poll(self) -> int | None:
        """Return how it has ended, None if it hasn't."""
        if self._returncode is None:
            status = self.server.status(self.pid)
            if status != RUNNING:
                self.returncode = status
        return self._returncode

    def kill(self) -> None:
        """End it, unless it is known to have ended: then its number may be another's."""
        if self._returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float) -> int:
        """Return how it has ended, once it has.

        Raises
        ------
        subprocess.TimeoutExpired
            If that takes longer.
        """
        end = time.monotonic() + timeout
        while True:
            code = self.poll()
            if code is not None:
                return code
            if time.monotonic() >= end:
                raise subprocess.TimeoutExpired("a compiler process", timeout)
            time.sleep(POLL_SECONDS)


def serve_forks(control: socket.socket, watch_seconds: float, run: Callable[[int, int], None]) -> None:
    """Say that all is ready, and answer requests until the process that asks is gone; ``run`` gets a fork's pipes.

    Whether that process is there is looked at every so often: a fork of it may hold the socket.
    """
    parent = os.getppid()
    control.settimeout(watch_seconds)
    control.sendall(REPLY.pack(0))
    while True:
        try:
            request, files, _, _ = socket.recv_fds(control, REQUEST.size, 3)
        except TimeoutError:
            if os.getppid() != parent:
                return
            continue
        if len(request) < REQUEST.size:
            return
        what, pid = REQUEST.unpack(request)
        reply = _fork(control, files, run) if what == FORK else _status(pid)
        control.sendall(REPLY.pack(reply))


def _fork(control: socket.socket, files: list[int], run: Callable[[int, int], None]) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            control.close()
            source, sink, errors = files
            os.dup2(errors, 2)
            os.close(errors)
            run(source, sink)
        finally:
            os._exit(1)
    for file in files:
        os.close(file)
    return pid


def _status(pid: int) -> int:
    try:
        found, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:  # it was asked for before
        return -signal.SIGKILL
    return os.waitstatus_to_exitcode(status) if found else RUNNING
