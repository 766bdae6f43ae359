"""The demonstration: its twins agree, its checks can fail, and all of it runs."""

import subprocess
import sys

import numpy as np
import pytest

from benchmarks.program import difference
from notebooks.digits import checks, data, jax_twins, learning, numpy_twins, parts
from tests.architecture.source_tree import ROOT

DIGITS = data.load()
ARGUMENTS = parts.arguments(DIGITS)


@pytest.mark.slow
@pytest.mark.parametrize("name", parts.NAMES)
def test_twins_agree(name):
    given = ARGUMENTS[name]
    wanted = getattr(numpy_twins, name)(*given)
    for module in (learning, jax_twins):
        found = getattr(module, name)(*given)
        assert difference(_leaves(found), _leaves(wanted)) < 1e-8


def _leaves(tree):
    if isinstance(tree, tuple):
        return [leaf for part in tree for leaf in _leaves(part)]
    return [np.asarray(tree)]


def test_checks_can_fail():
    good = np.asarray(numpy_twins.standardize(DIGITS.images))
    assert checks.check_standardize(DIGITS, good)[0].holds
    assert not checks.check_standardize(DIGITS, good + 1e-9)[0].holds
    assert not checks.check_standardize(DIGITS, good * np.nan)[0].holds
    start = parts.arguments(DIGITS)["k_means"]
    _, labels, inertia, rounds = numpy_twins.k_means(*start)
    assert all(c.holds for c in checks.check_k_means(DIGITS, labels, inertia, rounds))
    failed = checks.check_k_means(DIGITS, np.roll(labels, 1), inertia * 1.001, rounds + 2)
    assert not any(c.holds for c in failed)


@pytest.mark.slow
def test_the_demonstration_runs(tmp_path):
    command = [sys.executable, "-m", "notebooks.demo", "--output", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "MISMATCH" not in done.stdout
    assert (tmp_path / "digits.png").stat().st_size > 10_000
    assert "stablehlo.while" in (tmp_path / "k_means" / "optimized.mlir").read_text(encoding="utf-8")
    assert len(list(tmp_path.glob("*/*.py"))) > 10
