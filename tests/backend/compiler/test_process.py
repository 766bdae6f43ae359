"""One compiler process: nothing waits for ever for it, and forks don't come in the middle of its start."""

import os
import signal
import threading
import time

import pytest

from numhlo.backend.compiler import fork_server, process
from numhlo.backend.compiler.process import CompilerDiedError, CompilerProcess
from tests.backend.child import run_child


@pytest.mark.slow
def test_a_process_that_reads_nothing_is_ended(monkeypatch):
    """A question may be longer than a pipe has room for."""
    compiler = CompilerProcess()
    monkeypatch.setattr(process, "JOB_SECONDS", 0.2)
    os.kill(compiler.pid, signal.SIGSTOP)
    with pytest.raises(CompilerDiedError, match=r"it took more than 0\.2 s") as caught:
        compiler.compile("f", "#" * (1 << 21))
    assert caught.value.timed_out
    compiler.close()
    assert compiler.popen.returncode == -signal.SIGKILL


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_waits_for_a_process_that_starts():
    """Else the child would have ends of the new process's pipes, and who reads the others would wait for the child."""
    text = """
        import os, signal, threading, time
        from numhlo.backend.compiler import process
        inside, seen, made = threading.Event(), [], process.subprocess.Popen

        def slowly(*args, **kwargs):
            inside.set()
            time.sleep(0.3)
            try:
                return made(*args, **kwargs)
            finally:
                seen.append("started")

        process.subprocess.Popen = slowly
        thread = threading.Thread(target=lambda: process.CompilerProcess().close())
        thread.start()
        assert inside.wait(30)
        child = os.fork()
        if child == 0:
            os._exit(0 if seen == ["started"] else 1)
        signal.alarm(30)
        assert os.waitpid(child, 0)[1] == 0
        thread.join(30)
        child = os.fork()  # and not for one that has started
        if child == 0:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print("done")
    """
    assert run_child(text) == "done\n"


FORKS = pytest.mark.skipif(not fork_server.can_fork(), reason="compiler processes are no forks here")


@FORKS
def test_processes_are_forks_of_one_that_is_warm():
    first, second = CompilerProcess(), CompilerProcess()
    assert first.popen.server is second.popen.server and first.pid != second.pid
    source = "def f(ctx, bufs, dims, lo, hi):\n    return lo\n"
    assert first.compile("f", source).payload == second.compile("f", source).payload
    first.close()
    assert first.popen.returncode == -signal.SIGKILL and second.compile("f", source).payload
    second.close()


@FORKS
def test_another_environment_has_a_server_of_its_own(monkeypatch):
    first = CompilerProcess()
    monkeypatch.setenv("SOMETHING_ELSE", "1")
    second = CompilerProcess()
    old, new = first.popen.server, second.popen.server
    assert old is not new and new is process.fork_server()
    assert first.compile("f", "def f(ctx, bufs, dims, lo, hi):\n    return lo\n").payload
    assert old.popen.poll() is None
    first.close()
    assert old.popen.returncode == -signal.SIGKILL and new.alive
    second.close()
    process.end_fork_server(idle=True)
    assert not new.alive


@FORKS
def test_a_server_that_has_ended_takes_its_forks_along_and_is_replaced():
    first = CompilerProcess()
    first.popen.server.popen.kill()

    def compile_for_a_while():  # a fork looks after its server every second
        for _ in range(500):
            first.compile("f", "def f(ctx, bufs, dims, lo, hi):\n    return lo\n")
            time.sleep(0.02)

    with pytest.raises(CompilerDiedError):
        compile_for_a_while()
    first.close()
    second = CompilerProcess()
    assert second.popen.server is not first.popen.server
    second.close()


@FORKS
def test_a_server_that_cannot_start_says_why(monkeypatch):
    process.end_fork_server()
    monkeypatch.setattr(process, "START", "raise SystemExit('no such {main}')")
    with pytest.raises(CompilerDiedError, match=r"(?s)ended with code 1\n.*no such main_of_forks"):
        CompilerProcess()
    monkeypatch.undo()
    monkeypatch.setattr(process, "START", "import time; time.sleep(60)  # {main}")
    monkeypatch.setattr(process, "START_SECONDS", 0.3)
    with pytest.raises(CompilerDiedError):
        CompilerProcess()


@FORKS
def test_a_server_may_start_early():
    process.end_fork_server()
    process.start_fork_server()
    server = process.fork_server()
    compiler = CompilerProcess()
    assert compiler.popen.server is server
    compiler.close()


@FORKS
def test_a_thread_that_waits_for_a_server_learns_that_it_is_closed(monkeypatch):
    """A program may end before its first kernel is compiled: this is no death that somebody must hear of."""
    process.end_fork_server()
    monkeypatch.setattr(process, "START", "import time; time.sleep(60)  # {main}")
    server, found = process.fork_server(), []

    def start() -> None:
        try:
            CompilerProcess()
        except BaseException as error:  # noqa: BLE001 - looked at below
            found.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    time.sleep(0.05)
    server.close()
    thread.join(30)
    process.end_fork_server()
    assert [type(error) for error in found] == [OSError]
