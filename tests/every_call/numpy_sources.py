"""Random plain NumPy sources, compared with NumPy running the same source on every call, for as long as you let it.

``python -m tests.every_call.numpy_sources --minutes 10 --tier first``. Finds are reduced, and written as programs of
their own to a folder. A refusal by an error of numhlo's is no find; a table says what is refused how often.
"""

from __future__ import annotations

import argparse
import re
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.every_call.numpy_children import FINDS, TIERS, Judges
from tests.every_call.numpy_find import standalone
from tests.every_call.numpy_shrinking import shrink
from tests.every_call.source_programs import KINDS, Source, program

SECONDS = {"native": 150.0, "first": 60.0, "interpreter": 90.0, "plans": 60.0}
"""How long a source may take on a busy machine: some unroll thousands of statements."""

ROWS = 20


@dataclass
class Run:
    """What a run has seen, and which seed is next.

    Attributes
    ----------
    given : argparse.Namespace
        The options.
    """

    given: argparse.Namespace
    kinds: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    finds: int = 0
    next: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    start: float = field(default_factory=time.monotonic)

    def take(self) -> int | None:
        """Return the next seed, or None if the time is over."""
        with self.lock:
            over = time.monotonic() - self.start > 60 * self.given.minutes
            if over or (self.given.count and self.next >= self.given.count):
                return None
            self.next += 1
            return int(self.given.seed) + self.next - 1

    def note(self, source: Source, kind: str, detail: str) -> bool:
        """Count a verdict; return whether it is a find that shall be reduced."""
        with self.lock:
            self.kinds[kind] += 1
            if kind == "refused":
                self.refusals[shortened(detail)] += 1
            if kind not in FINDS:
                return False
            self.finds += 1
            print(f"seed {source.seed}: {kind}: {detail[:600]}", flush=True)  # noqa: T201 - a command
            return self.finds <= self.given.reduce

    def table(self) -> str:
        """Return how many sources had which verdict, and the errors by which most were refused."""
        total, seconds = sum(self.kinds.values()), time.monotonic() - self.start
        lines = [f"{total} sources in {seconds:.0f} seconds, {total / seconds:.1f} a second"]
        lines += [f"{n:7d} {100 * n / max(total, 1):6.2f} % {kind}" for kind, n in self.kinds.most_common()]
        lines += ["refused:"] if self.refusals else []
        lines += [f"{n:7d} {100 * n / total:6.2f} % {what}" for what, n in self.refusals.most_common(ROWS)]
        return "\n".join(lines)


def shortened(detail: str) -> str:
    """Return an error's message without names, types and numbers."""
    text = re.sub(r"'[^']*'", "'…'", detail.splitlines()[0])
    text = re.sub(r"\b(u?int|float|bool|complex)\d*\[[\d, ]*\]", "array", text)
    return re.sub(r"\bargument \w+ of", "argument … of", re.sub(r"\b\d+\b", "#", text))[:110]


def work(run: Run) -> None:
    """Judge one source after the other, and reduce finds."""
    given = run.given
    with Judges(SECONDS[given.tier]) as judges:
        while (seed := run.take()) is not None:
            source = program(seed, given.without)
            kind, detail = judges.judge(source, given.tier)
            if run.note(source, kind, detail):
                reduce(source, kind, detail, judges, given)


def reduce(source: Source, kind: str, detail: str, judges: Judges, given: argparse.Namespace) -> None:
    """Reduce a find, and write it with what the other tiers say."""
    limit = 15.0 if kind == "hang" else SECONDS[given.tier]
    group = group_of(kind, detail)

    def fails(candidate: Source) -> bool:
        found = judges.judge(candidate, given.tier, limit)
        return group_of(*found) == group

    small = shrink(source, fails, given.reduce_seconds)
    verdicts = {tier: judges.judge(small, tier, limit) for tier in TIERS[:3]}
    given.finds.mkdir(parents=True, exist_ok=True)
    path = given.finds / f"{kind}_{given.tier}_{source.seed}.py"
    path.write_text(standalone(small, verdicts), encoding="utf-8")
    print(f"seed {source.seed}: {path}\n{small.text}", flush=True)  # noqa: T201 - a command


def group_of(kind: str, detail: str) -> str:
    """Return what a reduced program must have in common with what it came from: the kind, and an error's class."""
    return f"{kind} {detail.partition(':')[0]}" if kind == "foreign" else kind


def main() -> int:
    """Run sources for a while; return 1 if there were finds."""
    parser = argparse.ArgumentParser(prog="python -m tests.every_call.numpy_sources", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--count", type=int, default=0, help="end after so many sources")
    parser.add_argument("--seed", type=int, default=0, help="of the first source; the others follow")
    parser.add_argument("--tier", choices=TIERS, default="native")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--without", nargs="*", default=[], choices=KINDS, help="kinds of statements to leave out")
    parser.add_argument("--reduce", type=int, default=20, help="how many finds to reduce")
    parser.add_argument("--reduce-seconds", type=float, default=90.0, help="for a find")
    parser.add_argument("--finds", type=Path, default=Path("numpy_source_finds"), help="where finds are written")
    parser.add_argument("--show", action="store_true", help="print the first source and end")
    given = parser.parse_args()
    if given.show:
        print(program(given.seed, given.without).text)  # noqa: T201 - a command
        return 0
    run = Run(given)
    workers = [threading.Thread(target=work, args=(run,)) for _ in range(given.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(run.table())  # noqa: T201 - a command
    return 1 if run.finds else 0


if __name__ == "__main__":
    sys.exit(main())
