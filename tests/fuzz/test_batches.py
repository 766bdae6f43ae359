"""Batches: a process that ends or hangs is a find, and the next batch begins behind it."""

import sys
import time

from tests.fuzz.batches import Limits, run_batches

CHILD = """
import json, os, sys, time
first, count = int(sys.argv[2]), int(sys.argv[4])
for number in range(first, first + count):
    print(json.dumps({"number": number}), flush=True)
    if number == 3:
        os.abort()
    if number == 7:
        time.sleep(60)
    if number == 9:
        print(json.dumps({"number": number, "find": "KeyError at x.py:1", "text": "'x'"}), flush=True)
    if number > 20:
        time.sleep(60)
"""


def test_crashes_and_hangs_are_found(capsys):
    end = time.monotonic() + 6
    assert run_batches([sys.executable, "-c", CHILD], 0, 10, end, Limits(silence=1.0)) == 1
    text = capsys.readouterr().out
    assert "mutant 3: the process ended with code -6" in text
    assert "mutant 7: the process said nothing for 1 s" in text
    assert "mutant 9: KeyError at x.py:1\n  'x'" in text
