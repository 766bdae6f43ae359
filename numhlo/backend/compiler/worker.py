"""A compiler process: reads kernels from its standard input, writes object code to its standard output, until it ends.

Started by `numhlo.backend.compiler.process`, or forked by a process that is. It never imports the user's modules,
ignores Ctrl-C, and ends when its input does or when the process that started it is gone. Its memory is limited: what
asks for more fails, here.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import sys
import threading
import time
import traceback
from typing import BinaryIO

from numhlo.backend.compiler.fork_server import serve_forks
from numhlo.backend.compiler.kernel_compiler import compile_kernel, compile_source
from numhlo.backend.compiler.lowering import numba_target
from numhlo.backend.compiler.messages import Message, read_message, write_message
from numhlo.backend.compiler.numba_registries import load_few
from numhlo.backend.disk_cache import fingerprint

if sys.platform != "win32":
    import resource

WARM_UP = """
from numhlo.backend.primitives import address, load_f32, store_f32


def warm_up(ctx, bufs, dims, lo, hi):
    x = address(bufs, 0)
    y = address(bufs, 1)
    for i in range(lo, hi):
        v = load_f32(x, i)
        store_f32(y, i, v * v + v)
"""
WATCH_SECONDS = 1.0
COLLECT_EVERY = 50
MOST_DATA = 4 << 30
"""Bytes of data that the process may ever have, where the system can limit that."""


def watch_parent(parent: int) -> None:
    """End this process soon after the one that started it: the pipe alone doesn't tell if a fork of it lives on."""
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(0)


def private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes, with the standard streams pointed elsewhere, so that a stray print can't garble a message."""
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    return source, sink


def limit_memory() -> None:
    """Let allocations beyond `MOST_DATA` fail, unless the user's own limit is lower."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    lower = [limit for limit in (MOST_DATA, soft) if limit != resource.RLIM_INFINITY]
    with contextlib.suppress(ValueError, OSError):  # a system that has no such limit
        resource.setrlimit(resource.RLIMIT_DATA, (min(lower), hard))


def memory_in_use() -> int:
    """Return the bytes that this process holds, 0 where that can't be found out."""
    try:
        with open("/proc/self/statm", encoding="ascii") as status:
            return int(status.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def answer(request: Message) -> Message:
    """Compile one kernel, or all functions that are kept on disk."""
    start = time.perf_counter()
    numba_target().functions.look_in(request.header["folder"])
    try:
        if request.header.get("prepares"):
            return Message({"functions": numba_target().keep_functions()})
        made = compile_kernel(request.header["name"], request.payload.decode(), request.header["level"])
    except Exception as error:  # noqa: BLE001 - whatever the compiler says goes back to who asked
        text = "".join(traceback.format_exception(error))
        return Message({"error": f"{type(error).__name__}: {error}", "traceback": text})
    milliseconds = (time.perf_counter() - start) * 1e3
    return Message({"milliseconds": milliseconds, "memory": memory_in_use(), "fallback": made.fallback}, made.code)


def get_ready() -> None:
    """Compile a first kernel, which makes all that compiling needs ready."""
    load_few()
    compile_source("warm_up", WARM_UP)
    fingerprint()  # which functions are kept on disk by
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)  # it has not taken too long to start
    gc.freeze()
    gc.disable()


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer requests until there are no more."""
    write_message(sink, Message({"ready": True}))
    done = 0
    while True:
        try:
            request = read_message(source)
        except EOFError:
            return
        write_message(sink, answer(request))
        done += 1
        if done % COLLECT_EVERY == 0:
            gc.collect()


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory()


def _watch_parent() -> None:
    if hasattr(os, "getppid") and sys.platform != "win32":
        threading.Thread(target=watch_parent, args=(os.getppid(),), daemon=True).start()


def _serve_to_the_end(source: BinaryIO, sink: BinaryIO) -> None:
    try:
        serve(source, sink)
    except BrokenPipeError:
        pass
    finally:
        os._exit(0)


def main() -> None:
    """Run the process."""
    _begin()
    source, sink = private_streams()
    _watch_parent()
    get_ready()
    _serve_to_the_end(source, sink)


def main_of_forks() -> None:
    """Run the process that forks compiler processes: it has one thread, and a socket for standard input."""
    _begin()
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    get_ready()
    try:
        serve_forks(control, WATCH_SECONDS, _run_fork)
    finally:
        os._exit(0)


def _run_fork(source: int, sink: int) -> None:
    os.dup2(2, 1)  # a stray print must not garble a message
    _watch_parent()
    _serve_to_the_end(os.fdopen(source, "rb"), os.fdopen(sink, "wb"))
