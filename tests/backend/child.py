"""Runs Python text in a process of its own, with this repository importable and the tests' kernel cache."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 200
"""For a child that takes one or two: only what hangs takes more, on a machine however busy."""


def run_child(text, timeout=SECONDS, **environment):
    """Run ``text`` and return what it printed; its errors are this test's."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=ROOT,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def status_of(child, seconds=60):
    """Wait for the child of a fork and return its status; end it if it takes too long.

    A child that hung would hold what it has of this process's pipes: who reads these would wait for it.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]
