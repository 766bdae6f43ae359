"""The table of programs that are written for JAX: every name comes once, and results are JAX's."""

import numpy as np
import pytest

from benchmarks import written_for_jax
from benchmarks.written_for_jax import PROGRAMS, differs, made

CHECKED = ("gru_of_one", "hidden_markov", "eigh", "fft_line")


def test_names():
    names = [program.name for program in PROGRAMS]
    assert len(set(names)) == len(names)
    assert set(CHECKED) <= set(names)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKED)
def test_results_agree(name):
    (program,) = (p for p in PROGRAMS if p.name == name)
    calls, wrong = made(program)
    assert set(calls) == {"numhlo", "jax"} and not wrong


def test_what_is_wrong_is_said():
    x = np.arange(3.0)
    assert not differs((x, x + 0j), (x, x + 0j), signs=True)
    assert differs((x,), (x, x), signs=True) == "has 1 arrays instead of 2"
    assert differs(x.astype("f4"), x, signs=True) == "is float32 instead of float64"
    assert differs(x + 0j, x + 1j, signs=True) == "differs by 5.0e-01"
    assert differs(-x, x, signs=True) == "differs by 2.0e+00" and not differs(-x, x, signs=False)


def test_wrong_results_have_no_times(monkeypatch):
    monkeypatch.setattr(written_for_jax, "made", lambda program: ({"numhlo": None}, "differs"))
    assert list(written_for_jax.rows_of(PROGRAMS[:1])) == [(PROGRAMS[0].name, {}, "differs")]
