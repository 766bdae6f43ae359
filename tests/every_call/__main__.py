"""All tests, with every program that they call made machine code and sent through the harness.

``python -m tests.every_call [arguments of pytest]``, or ``make every-call``. It takes hours, can be broken off, and goes
on where it was; ``--again`` begins anew.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

PASSED = Path("build") / "every_call_passed.txt"
"""Names of tests that have passed; `make clean` removes it."""

SECONDS = "3600"
"""For one test: it waits for the machine code of all its programs."""


def main(arguments: list[str]) -> int:
    """Run pytest, and return its status."""
    PASSED.parent.mkdir(exist_ok=True)
    if "--again" in arguments:
        PASSED.unlink(missing_ok=True)
    rest = [x for x in arguments if x != "--again"]
    options = ["--every-call", str(PASSED.resolve()), "--timeout", SECONDS, "-o", f"faulthandler_timeout={SECONDS}"]
    return int(pytest.main([*options, *rest]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
