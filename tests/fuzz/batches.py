"""Batches of mutants in processes of their own, what they find, and the reduction of each find.

A batch's process writes one line of JSON for every mutant before it is tried, so that a process that ends, or that says
nothing for too long, tells by its last line which mutant it was. It knows nothing of what mutants are.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import re
import resource
import selectors
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Input = str | bytes
PACKAGE = "numhlo"
LONG = 50_000
"""Characters that may stand for 16 times as many, by aliases, which take about a second to read on a busy machine."""


class Find(Exception):  # noqa: N818 - what is found is no error of the fuzzer
    """Something that an input must not do, and that raises no error by itself."""


@dataclass(frozen=True)
class Limits:
    """What one mutant may take."""

    seconds: float = 1.0
    """CPU time, and as much again for every `LONG` characters: what is linear in a text may take so long."""
    silence: float = 60.0
    """Wall time without a line from a batch, after which its process is ended: what no signal interrupts."""
    memory: int = 3 << 30
    """Bytes of address space of a batch's process."""
    reduction: float = 8.0
    """Seconds that the reduction of one find may take."""


class _TooLongError(BaseException):
    """A mutant took longer than it may; no ``except Exception`` between stops it."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise in a block that takes more CPU time than it may."""

    def late(*_: Any) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fault(attempt: Callable[[Input], str], given: Input, seconds: float) -> str | None:
    """Return what an input does that it must not, in one line that is the same for the same cause; else None."""
    try:
        with limited(seconds * (1 + len(given) / LONG)):
            attempt(given)
    except Find as error:
        return str(error)
    except _TooLongError:
        return f"takes more than {seconds:g} s"
    except Exception as error:  # noqa: BLE001 - a foreign exception is what is looked for
        return f"{type(error).__name__} at {_place(error)}"
    return None


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}{PACKAGE}{os.sep}" in frame.filename] or frames
    return f"{ours[-1].filename.rpartition(f'{os.sep}{PACKAGE}{os.sep}')[2]}:{ours[-1].lineno}"


def serve_batch(mutant: Callable[[int], Input], attempt: Callable[[Input], str], numbers: Iterable[int]) -> int:
    """Try mutants, and write a line for each, and what it does that it must not."""
    limits = Limits()
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    known: set[str] = set()
    for number in numbers:
        _say({"number": number})
        given = mutant(number)
        found = fault(attempt, given, limits.seconds)
        if found is not None:
            reduced = given if found in known else reduction(attempt, given, found, limits)
            known.add(found)
            _say({"number": number, "find": found, "text": _shown(reduced)})
    return 0


def _say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def _shown(given: Input) -> str:
    return repr(given if len(given) < 1500 else given[:700] + given[-700:])


def reduction(attempt: Callable[[Input], str], given: Input, found: str, limits: Limits) -> Input:
    """Return a shorter input that does the same: pieces of it are left out, large ones first, as long as there is time."""
    end = time.monotonic() + limits.reduction
    size = len(given) // 2
    while size >= 1:
        start = 0
        while start < len(given):
            if time.monotonic() > end:
                return given
            less = given[:start] + given[start + size :]
            if fault(attempt, less, limits.seconds) == found:
                given = less
            else:
                start += size
        size //= 2
    return given


def run_batches(command: Sequence[str], first: int, size: int, end: float, limits: Limits) -> int:
    """Run batches until it is time; print what they find, how many there were and how many a second."""
    counts: collections.Counter[str] = collections.Counter()
    begin, number = time.monotonic(), first
    while time.monotonic() < end:
        last = _run_batch([*command, "--first", str(number), "--serve", str(size)], end, limits, counts)
        if last is None:
            break
        number = last + 1
        rate = (number - first) / (time.monotonic() - begin)
        sys.stdout.write(
            f"{number - first} mutants, {rate:.0f} a second, {counts.total()} finds of {len(counts)} kinds\n"
        )
        sys.stdout.flush()
    for found, count in counts.most_common():
        sys.stdout.write(f"{count:6d}  {found}\n")
    return int(bool(counts))


def _run_batch(command: Sequence[str], end: float, limits: Limits, counts: collections.Counter[str]) -> int | None:
    """Run a batch, and return the last number that it tried."""
    last = None
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for line in _lines(process, limits.silence, end):
            message = json.loads(line)
            last = message["number"]
            if "find" in message:
                _report(last, message["find"], message["text"], counts)
        is_over, code = time.monotonic() >= end, process.poll()
        process.kill()
    if code is None and not is_over:
        _report(last or 0, f"the process said nothing for {limits.silence:g} s", "", counts)
    elif code:
        _report(last or 0, f"the process ended with code {code}", "", counts)
    return last


def _report(number: int, found: str, text: str, counts: collections.Counter[str]) -> None:
    if found not in counts:
        sys.stdout.write(f"mutant {number}: {found}\n  {text}\n")
        sys.stdout.flush()
    counts[found] += 1


def _lines(process: subprocess.Popen[bytes], silence: float, end: float) -> Iterator[bytes]:
    """Yield what a process writes, as long as it is not silent for too long and there is time."""
    assert process.stdout is not None
    descriptor, rest = process.stdout.fileno(), b""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while time.monotonic() < end and selector.select(silence):
            data = os.read(descriptor, 1 << 16)
            if not data:
                process.wait(silence)  # it has closed its output, and ends
                return
            *whole, rest = (rest + data).split(b"\n")
            yield from whole


def without_place(error: Exception) -> str:
    """Return the first line of an error without numbers and names, which tell finds of one kind apart."""
    return re.sub(r"[%#@]?\d+|\".*?\"|'.*?'", "_", str(error).partition("\n")[0])[:80]


def run_command(
    module: str, description: str | None, mutant: Callable[[int, int], str], outcome: Callable[[str], object]
) -> int:
    """Run a fuzzer of texts as its command line says, and return 1 if it found something.

    Parameters
    ----------
    module : str
        The command: ``python -m module``.
    description : str or None
    mutant : callable
        Returns the text of a seed and a number.
    outcome : callable
        Tries a text.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--batch", type=int, default=4000, help="mutants of each process")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--show", type=int, help="print the mutant of a number, and end")
    given = parser.parse_args()
    if given.show is not None:
        sys.stdout.write(mutant(given.seed, given.show))
        return 0
    if given.serve is not None:
        numbers = range(given.first, given.first + given.serve)
        return serve_batch(lambda number: mutant(given.seed, number), outcome, numbers)
    command = [sys.executable, "-m", module, "--seed", str(given.seed)]
    return run_batches(command, given.first, given.batch, time.monotonic() + 60 * given.minutes, Limits())
