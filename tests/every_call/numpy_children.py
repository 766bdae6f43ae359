"""Judging of sources in child processes: a crash ends a child, a hang is ended, and the next source gets a new one.

The child is ``python -m tests.every_call.numpy_judging``; here is what starts it, which does without numhlo.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from dataclasses import asdict
from typing import Any

from tests.every_call.source_programs import Parameter, Source

TIERS = ("native", "first", "interpreter", "plans")

FINDS = ("wrong", "foreign", "crash", "hang")
"""Kinds of verdicts that tell of a mistake."""

READY = "ready\n"
"""What a child writes when it is there: one that cannot start is no crash of a source."""

SECONDS_TO_START = 120.0

MOST_SOURCES = 400
"""How many sources a child judges before it is replaced: caches grow with each."""

ENVIRONMENT = {
    "MKL_NUM_THREADS": "1",
    "NUMHLO_VERIFY": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONFAULTHANDLER": "1",
}


def as_json(source: Source, tier: str) -> str:
    return json.dumps({"tier": tier, **asdict(source)})


def from_json(line: str) -> tuple[Source, str]:
    given: dict[str, Any] = json.loads(line)
    tier = given.pop("tier")
    parameters = tuple(Parameter(p["name"], tuple(p["shape"]), p["dtype"]) for p in given.pop("parameters"))
    return Source(parameters=parameters, **given), tier


class Judges:
    """A child process that judges sources, and its successors.

    Parameters
    ----------
    seconds : float
        How long a source may take: what takes longer hangs.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._child: subprocess.Popen[str] | None = None
        self._judged = 0

    def __enter__(self) -> Judges:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def judge(self, source: Source, tier: str, seconds: float | None = None) -> tuple[str, str]:
        """Return a verdict's kind and detail."""
        child = self._started()
        assert child.stdin is not None
        assert child.stdout is not None
        self._judged += 1
        try:
            child.stdin.write(as_json(source, tier) + "\n")
            child.stdin.flush()
            line = self._line(child, time.monotonic() + (seconds or self.seconds))
        except BrokenPipeError:
            line = ""
        if line is None:
            self.end()
            return "hang", f"no verdict after {seconds or self.seconds:g} seconds"
        if not line:
            child.wait()
            self.end()
            return "crash", f"the process ended with {child.returncode}"
        kind, detail = json.loads(line)
        if self._judged >= MOST_SOURCES:
            self.end()
        return kind, detail

    def _line(self, child: subprocess.Popen[str], end: float) -> str | None:
        """Return the line that a child writes next, an empty one if it has ended; None if time is up."""
        assert child.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            if not selector.select(max(0.0, end - time.monotonic())):
                return None
        return child.stdout.readline()

    def _started(self) -> subprocess.Popen[str]:
        if self._child is None or self._child.poll() is not None:
            self._judged = 0
            self._child = subprocess.Popen(
                [sys.executable, "-m", "tests.every_call.numpy_judging"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**ENVIRONMENT, **os.environ},
            )
            if self._line(self._child, time.monotonic() + SECONDS_TO_START) != READY:
                self.end()
                raise RuntimeError("a judge does not start: run python -m tests.every_call.numpy_judging to see why")
        return self._child

    def end(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()
