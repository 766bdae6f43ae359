"""The tests as on other machines: which variables they get, and that older oracles are skipped."""

import os
import subprocess

import pytest

from tests import machines
from tests.architecture.source_tree import ROOT
from tests.known_versions import skip_if_older


@pytest.fixture
def started(monkeypatch):
    """Collect what would be run, and let it succeed."""
    seen = []

    def run(command, env, **options):
        processors = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else {0}
        seen.append((command[2:], env, len(processors)))
        return subprocess.CompletedProcess(command, int("fails" in command))

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(machines, "lacking", lambda machine: [])
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Zen")
    return seen


def test_every_machine_runs_the_quick_tests(started, capsys):
    with pytest.raises(SystemExit) as ended:
        machines.main([])
    assert ended.value.code is False
    assert [command for command, *_ in started] == [["pytest", "-q", "-m", "not slow"]] * len(machines.MACHINES)
    environments = dict(zip(machines.MACHINES, (environment for _, environment, _ in started), strict=True))
    assert environments["generic"]["NUMBA_CPU_NAME"] == "generic"
    assert environments["haswell-blas"]["OPENBLAS_CORETYPE"] == "Haswell"
    assert "OPENBLAS_CORETYPE" not in environments["own-blas"]
    assert capsys.readouterr().out.count(": passed\n") == len(machines.MACHINES)


def test_named_machines_take_pytests_arguments_and_a_failure_is_the_commands(started, capsys):
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    with pytest.raises(SystemExit) as ended:
        machines.main(["one-processor", "--", "fails"])
    assert ended.value.code is True
    ((command, _, processors),) = started
    assert command == ["pytest", "fails"] and processors == 1
    assert before is None or os.sched_getaffinity(0) == before
    assert "== one-processor: failed\n" in capsys.readouterr().out


def test_a_machine_whose_instructions_this_one_lacks_is_left_out(started, monkeypatch, capsys):
    monkeypatch.setattr(machines, "lacking", lambda machine: ["avx2"] if machine.needed else [])
    with pytest.raises(SystemExit):
        machines.main(["avx2", "own-blas"])
    assert len(started) == 1
    assert "== avx2: left out: this processor lacks avx2\n" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"no machine is called 486; there are .*, own-blas"):
        machines.main(["486"])


def test_the_page_names_what_differs():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in machines.MACHINES)


def test_tests_beside_older_oracles_are_skipped():
    skip_if_older("numpy>=2.0")
    with pytest.raises(pytest.skip.Exception, match=r"numpy .* is older than numpy>=99, whose behaviour is tested"):
        skip_if_older("numpy>=99")
