"""One compiler process: nothing waits for ever for it, and forks don't come in the middle of its start."""

import os
import signal

import pytest

from numhlo.backend.compiler import process
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
