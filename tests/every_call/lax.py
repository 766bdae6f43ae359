"""Random lax programs, for as long as you let them: ``python -m tests.every_call.lax --minutes 10 --tier first``.

Each program is checked in a child process, which a crash ends and which is started again after it. What fails is made
smaller for a while, and written to a folder as a script of its own that fails, with its seed. `lax_tiers` says what the
tiers are; `test_lax_programs` is the short form.
"""

from __future__ import annotations

import argparse
import json
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from numhlo.lowering.ir.errors import UnsupportedError
from tests.every_call.lax_programs import make_program
from tests.every_call.lax_reducing import reduce_program
from tests.every_call.lax_syntax import Program
from tests.every_call.lax_text import script_text
from tests.every_call.lax_tiers import TIERS, LeftOut

MOST_PROGRAMS_OF_A_CHILD = 400
"""A new process now and then: what compiled programs leave behind is not looked for here."""

MOST_SECONDS_OF_ONE = 300

Report = dict[str, Any]


def failure(program: Program, check: Callable[[Program], None]) -> str | None:
    """Return how a program fails, as text; None where it is right.

    Raises
    ------
    LeftOut, UnsupportedError
        If it is not checked, or refused.
    """
    try:
        check(program)
    except (LeftOut, UnsupportedError):
        raise
    except Exception as error:  # noqa: BLE001 - any other exception is a find
        return f"{type(error).__name__}: {error}"
    return None


def kind(text: str) -> str:
    """Return what stays of a failure when the program gets smaller: the exception, and what was wrong."""
    name, _, rest = text.partition(":")
    if name != "EveryCallError":
        return name
    found = re.search(r"has been written into|has changed since|not what an earlier call|result \d+", rest)
    return f"{name}: {re.sub('[0-9]+', '', found[0]) if found else ''}"


def same_failure(wanted: str, check: Callable[[Program], None]) -> Callable[[Program], bool]:
    """Return what tells whether another program fails in the same way."""

    def fails(program: Program) -> bool:
        try:
            found = failure(program, check)
        except (LeftOut, UnsupportedError):
            return False
        return found is not None and kind(found) == kind(wanted)

    return fails


def check_seed(seed: int, tier: str, seconds: float, folder: Path | None) -> Report:
    """Check the program of a seed; reduce it where it fails, and write it to the folder."""
    program = make_program(seed)
    try:
        text = failure(program, TIERS[tier])
    except LeftOut:
        return {"seed": seed, "outcome": "left out"}
    except UnsupportedError as error:
        return {"seed": seed, "outcome": "refused", "text": str(error).splitlines()[0]}
    if text is None:
        return {"seed": seed, "outcome": "right"}
    sys.stdout.write(json.dumps({"seed": seed, "outcome": "reducing", "text": text}) + "\n")
    sys.stdout.flush()
    small = reduce_program(program, same_failure(text, TIERS[tier]), seconds)
    return {"seed": seed, "outcome": "wrong", "text": text, "file": write_find(small, tier, text, folder)}


def write_find(program: Program, tier: str, text: str, folder: Path | None) -> str:
    """Write a failing program as a script; return where."""
    if folder is None:
        return ""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{tier}_{program.seed}.py"
    shown = " ".join(text.replace('"', "'").replace("\\", "/").split())
    path.write_text(script_text(program, f"seed {program.seed}, {tier}: {shown}"), encoding="utf-8")
    return str(path)


def run_child(given: argparse.Namespace) -> int:
    """Check programs one after the other, and print a line of JSON for each."""
    end = time.time() + given.minutes * 60
    seed, count = given.seed, 0
    while time.time() < end and count < MOST_PROGRAMS_OF_A_CHILD:
        sys.stdout.write(json.dumps({"seed": seed, "outcome": "begun"}) + "\n")
        sys.stdout.flush()
        report = check_seed(seed, given.tier, given.reduce_seconds, given.finds)
        sys.stdout.write(json.dumps(report) + "\n")
        sys.stdout.flush()
        seed, count = seed + given.jobs, count + 1
    return 0


def reports(given: argparse.Namespace, first: int, end: float) -> Iterator[Report]:
    """Yield what one child after the other reports; a crash is a report, too."""
    seed = first
    while (left := end - time.time()) > 0:
        command = [sys.executable, "-m", "tests.every_call.lax", "--child", "--seed", str(seed), "--tier", given.tier]
        command += ["--minutes", str(left / 60), "--jobs", str(given.jobs), "--finds", str(given.finds)]
        command += ["--reduce-seconds", str(given.reduce_seconds)]
        begun = None
        with tempfile.TemporaryFile("w+") as errors:
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as child:
                assert child.stdout is not None
                for report in map(json.loads, filter(lambda line: line.startswith("{"), child.stdout)):
                    seed, begun = report["seed"], report if report["outcome"] in {"begun", "reducing"} else None
                    yield report
            errors.seek(0)
            if child.returncode and begun is None:
                raise ChildProcessError(f"a child ended with status {child.returncode}:\n{errors.read()[-2000:]}")
            if child.returncode:
                yield _crash(seed, child.returncode, begun, errors, given)
        seed += given.jobs


def _crash(seed: int, status: int, begun: Report, errors: TextIO, given: argparse.Namespace) -> Report:
    text = f"the process ended with status {status}: {errors.read()[-600:]}"
    if begun["outcome"] == "reducing":
        text = f"{begun['text']} (and while it was reduced, {text})"
    program = reduce_program(make_program(seed), crashing(given.tier, status), given.reduce_seconds)
    path = write_find(program, given.tier, text, given.finds)
    return {"seed": seed, "outcome": "wrong", "text": text, "file": path}


def crashing(tier: str, status: int) -> Callable[[Program], bool]:
    """Return what tells whether a program ends a process of its own with a status."""

    def fails(program: Program) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.pickle"
            path.write_bytes(pickle.dumps(program))
            command = [sys.executable, "-m", "tests.every_call.lax", "--tier", tier, "--pickled", str(path)]
            done = subprocess.run(command, capture_output=True, timeout=MOST_SECONDS_OF_ONE, check=False)
        return done.returncode == status

    return fails


class Tally:
    """Counts what children report, and prints finds as they come."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.start = time.time()

    def add(self, report: Report) -> None:
        """Take in one report."""
        if report["outcome"] in {"begun", "reducing"}:
            return
        with self.lock:
            self.counts[report["outcome"]] += 1
            if report["outcome"] == "wrong":
                self.kinds[kind(report["text"])] += 1
                self.say(f"seed {report['seed']}: {report['text'][:700]}\n  {report['file']}")
            elif report["outcome"] == "refused":
                self.kinds[f"refused: {report['text'][:80]}"] += 1
            if sum(self.counts.values()) % 200 == 0:
                self.say(str(self))

    def __str__(self) -> str:
        total, seconds = sum(self.counts.values()), time.time() - self.start
        shown = ", ".join(f"{count} {name}" for name, count in self.counts.most_common())
        return f"{total} programs in {seconds:.0f} s ({total / max(seconds, 1e-9):.1f}/s): {shown}"

    @staticmethod
    def say(text: str) -> None:
        """Print a line."""
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def main() -> int:
    """Check programs for a while, and return 1 if any was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.every_call.lax", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the others follow")
    parser.add_argument("--tier", choices=TIERS, default="native")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--finds", type=Path, default=Path(tempfile.gettempdir()) / "lax-finds", help="a folder")
    parser.add_argument("--reduce-seconds", type=float, default=60, help="for each find")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--pickled", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.pickled:
        return int(failure(pickle.loads(given.pickled.read_bytes()), TIERS[given.tier]) is not None)
    if given.child:
        return run_child(given)
    tally, end = Tally(), time.time() + given.minutes * 60

    def follow(first: int) -> None:
        for report in reports(given, first, end):
            tally.add(report)

    threads = [threading.Thread(target=follow, args=(given.seed + k,)) for k in range(given.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally.say(str(tally))
    for name, count in tally.kinds.most_common():
        tally.say(f"  {count} {name}")
    return int(tally.counts["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
