"""Interleaved timing, and what children report."""

import itertools
import json
import time

import pytest

from benchmarks import environment, imports, report, steady
from benchmarks.__main__ import measure
from benchmarks.program import select
from benchmarks.registry import all_programs, program
from benchmarks.timing import FEWEST, Timing, interleave, orders


def test_interleave():
    found = interleave({"short": lambda: None, "long": lambda: time.sleep(0.003)}, budget=0.05)
    assert len(found["short"].rounds) == len(found["long"].rounds) >= FEWEST
    assert found["short"].ratio(found["long"]) > 100
    assert found["long"].best >= 0.003 and found["long"].spread >= 0


def test_everybody_runs_after_everybody():
    rounds = list(itertools.islice(orders("abcd"), 40))
    assert all(sorted(order) == list("abcd") for order in rounds)
    assert {*itertools.permutations("abcd", 2)} <= {*itertools.pairwise(itertools.chain(*rounds))}


def test_a_ratio_pairs_rounds():
    assert Timing((1.0, 2.0, 10.0)).ratio(Timing((2.0, 4.0, 20.0))) == 2.0


def test_select():
    assert [p.name for p in select(all_programs(), ["softmax"])] == ["softmax"]
    with pytest.raises(SystemExit, match="no program 'nothing'; there are"):
        select(all_programs(), ["nothing"])


def test_steady_leaves_out_what_is_wrong(monkeypatch):
    found = program("dispatch_1")
    monkeypatch.setitem(found.versions, "numhlo", lambda _: lambda x: x)
    measured = steady.measure(found, "tiny", ["numhlo", "numpy"], 0.01)
    assert set(measured["steady"]) == {"numpy"} and measured["ratios"] == {}
    assert measured["failures"]["numhlo"].startswith("wrong")


def test_children_that_fail_name_the_library(tmp_path):
    crash = environment.run_child("benchmarks.startup", ["softmax", "tiny", "nothing"], str(tmp_path), 60)
    assert crash.failure.startswith("crash: exit status 1") and crash.library == "nothing"
    hang = environment.run_child("benchmarks.startup", ["softmax", "tiny", "numpy"], str(tmp_path), 0.01)
    assert hang.failure.startswith("hang: no end after 0 s")


def test_report(tmp_path):
    timed = {"numhlo": {"median": 1e-6, "spread": 0.1}, "numpy": {"median": 2.5e-3, "spread": 0.2}}
    failed = {"failure": "crash: exit status 1"}
    results = {
        "imports": {"numpy": 0.1},
        "notes": {"p": "a note"},
        "steady": {"p": {"small": {"steady": timed, "ratios": {"numpy": 2500.0}, "failures": {"jax": "hang: no end"}}}},
        "startup": {"p": {"numhlo": failed, "jax": {"first": 0.2, "cold": 0.2, "new_shape": 0.0, "memory": 10.0}}},
    }
    lines = report.text(results).splitlines()
    assert lines[0].split()[:2] == ["steady", "state"]
    assert lines[2].split() == [
        *["p", "small", "1.00", "µs", "hang", "-", "-", "2.50", "ms"],
        *["-", "-", "-", "2500x", "20%"],
    ]
    assert lines[6].split()[:5] == ["p", "crash", "200", "ms", "-"]
    assert lines[-2:] == ["p small: jax: hang: no end", "p start: numhlo: crash: exit status 1"]
    report.plot(results, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000


@pytest.mark.slow
def test_a_whole_run(monkeypatch):
    monkeypatch.setattr(imports, "measure", lambda turns: {"numpy": 0.1})
    results = measure(select(all_programs(), ["dispatch_1"]), quick=True)
    assert json.loads(json.dumps(results)) == results
    assert set(results["startup"]["dispatch_1"]) == {"numhlo", "jax", "numba", "numhlo warm"}
    assert not report.failures(results)
