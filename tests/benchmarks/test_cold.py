"""Cold starts beside XLA: programs exist, ratios are those of answers, and a whole small run."""

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from benchmarks import cold, cold_curve, cold_programs
from benchmarks.cold_curve import Answers, curve, picture, ratio_at, ratios_of, table
from benchmarks.compile_stages import STAGES
from benchmarks.environment import ROOT, child_environment
from benchmarks.exported_programs import PROGRAMS
from benchmarks.registry import all_programs
from benchmarks.written_for_jax import PROGRAMS as WRITTEN


def test_programs_exist():
    numpy, written = {p.name for p in all_programs()}, {p.name for p in WRITTEN}
    assert set(cold_programs.EXPORTED) <= set(PROGRAMS)
    assert set(cold_programs.NUMPY) <= numpy and set(cold_programs.WRITTEN) <= written - numpy - set(PROGRAMS)
    assert set(cold_programs.BEFORE) <= numpy | written and len(cold_programs.BEFORE) == 20
    assert len(set(cold_programs.NAMES)) == len(cold_programs.NAMES) >= 24
    assert not set(cold_programs.BEFORE) & set(cold_programs.NAMES)
    assert set(cold_programs.QUICK) < set(cold_programs.NAMES)


def test_answers_behind_the_last_come_at_the_rate_of_the_end():
    noted = [(1, 1.0), (2, 2.0), (10, 2.1), (110, 2.6)]
    answers = Answers(noted)
    assert answers.first == 1.0 and answers.each == pytest.approx(0.005)
    assert answers.count(0.9) == 0 and answers.count(2.0) == 2 and answers.count(9.0) == 110
    assert answers.time(2) == 2.0 and answers.time(310) == pytest.approx(3.6)


def test_a_single_answer_says_how_long_one_takes():
    assert Answers([(1, 3.0)]).time(2) == 6.0


def test_ratios():
    own, other = Answers([(1, 0.1), (2, 0.4), (8, 1.0)]), Answers([(1, 0.8), (4, 1.0), (5, 1.3)])
    found = ratios_of(own, other)
    assert found["first"] == 8.0 and "0.5 s" not in found
    assert found["1 s"] == pytest.approx(1.0 / 0.6) == ratio_at(own, other, 1.0)
    assert found["steady"] == pytest.approx((0.5 / 4) / (0.6 / 6))


def test_table_and_picture():
    rows = {
        name: {"numhlo": [(1, 0.1), (20, 1.0)], "jax": [(1, first), (20, 2.0)], "native": 0.3, "trouble": ""}
        for name, first in (("one", 0.2), ("two", 0.05))
    }
    lines = table(rows).splitlines()
    assert lines[2].split()[:7] == ["one", "100", "ms", "300", "ms", "200", "ms"]
    assert lines[-1].startswith("worst: first: two, ") and lines[4].split()[:3] == ["geometric", "mean", "3.00x"]
    points = curve(rows)
    assert points[0] == (cold_curve.CURVE_TIMES[0], pytest.approx(0.5))
    ElementTree.fromstring(picture({"empty": points, "warm": []}, "2 cores"))


@pytest.mark.slow
def test_a_whole_run(tmp_path, monkeypatch, capsys):
    arguments = [
        "--only",
        "newton",
        "kalman_filter",
        "--seconds",
        "0.2",
        "--forms",
        "empty",
        "warm",
        "notebook",
        "load",
    ]
    files = ["--json", str(tmp_path / "cold.json"), "--picture", str(tmp_path / "cold.svg")]
    monkeypatch.setattr("sys.argv", ["cold", *arguments, *files])
    monkeypatch.setattr(cold, "BEFORE", ("dispatch_1",))
    monkeypatch.setattr(cold, "pin_threads", lambda count: None)
    assert cold.main() == 0
    found = json.loads((tmp_path / "cold.json").read_text())
    assert set(found["forms"]) == set(cold.FORMS)
    assert all(row["kernels"] and row["native"] > 0 for row in found["forms"]["empty"].values())
    ElementTree.fromstring((tmp_path / "cold.svg").read_text())
    assert capsys.readouterr().out.count("geometric mean") == len(cold.FORMS)


@pytest.mark.slow
def test_stages_of_compiling():
    command = [sys.executable, "-m", "benchmarks.compile_stages", "--only", "newton", "kalman_filter"]
    done = subprocess.run(command, cwd=ROOT, env=child_environment(""), capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["ms", "of", "processor", "time", "kernels", *" ".join(STAGES).split()]
    assert [line.split()[0] for line in lines[2:4]] == ["newton", "kalman_filter"]
    assert all(int(line.split()[1]) > 0 for line in lines[2:4])
    assert lines[-1].startswith("a compiler process is ready after ")
