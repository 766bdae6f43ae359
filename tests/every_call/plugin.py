"""pytest sends what tests call through the harness: after each test that has passed, its calls are made again.

In the ordinary suite these are the calls of programs whose machine code the test itself has waited for, each distinct
program once in a process. With ``--every-call FILE`` they are all: machine code is compiled for each of them, the file
keeps the names of tests that passed, and a test in it is not run again. `python -m tests.every_call` is the command.
"""

from __future__ import annotations

import importlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

LEFT_OUT = {
    "tests/backend/emit/test_comparators.py": "sorts by what is no order, of which each engine makes another one",
    "tests/compilation/test_garbage.py": "looks at what keeps objects alive",
    "tests/end_to_end/test_interrupts.py": "breaks calls off",
    "tests/end_to_end/test_memory_that_runs_out.py": "takes memory away",
}
"""Files whose calls are not made again, and why."""

LEFT_OUT_MARKERS = ("interrupts", "not_every_call")
PASSED = pytest.StashKey[bool]()


class EveryCall:
    """The plugin of one process.

    Parameters
    ----------
    passed : Path or None
        The file of tests that have passed; None in the ordinary suite.
    """

    def __init__(self, passed: Path | None) -> None:
        self.passed = passed
        self.patch = pytest.MonkeyPatch()
        self.recorder: Any = None
        self.checked = self.too_long = 0

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out tests that have passed before, and note calls from here on.

        What tests import is there now, and coverage measures it.
        """
        if self.passed is not None and self.passed.exists():
            known = set(self.passed.read_text(encoding="utf-8").splitlines())
            left_out = [item for item in items if item.nodeid in known]
            items[:] = [item for item in items if item.nodeid not in known]
            config.hook.pytest_deselected(items=left_out)
        if items and self.recorder is None:
            recording = importlib.import_module("tests.every_call.recording")
            self.recorder = recording.Recorder(recording.IN_SUITE if self.passed is None else recording.EVERYTHING)
            self.recorder.install(self.patch)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Note what the test itself calls."""
        if self._takes(item):
            self.recorder.begin()
        result = yield
        item.stash[PASSED] = True
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        """Make the calls of a test that has passed again, when its fixtures are gone."""
        result = yield
        noted = self.recorder.end() if self.recorder is not None else []
        if not item.stash.get(PASSED, False):
            return result
        for call in noted:
            self.checked += self.recorder.check(call)
        if self.passed is not None:
            with self.passed.open("a", encoding="utf-8") as file:
                file.write(item.nodeid + "\n")
        return result

    def _takes(self, item: pytest.Item) -> bool:
        if self.recorder is None or item.nodeid.partition("::")[0] in LEFT_OUT:
            return False
        return not any(item.get_closest_marker(name) for name in LEFT_OUT_MARKERS)

    def pytest_unconfigure(self) -> None:
        """Let everything be as it was."""
        self.patch.undo()
