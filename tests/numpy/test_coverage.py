"""The coverage page says what a run finds."""

import numpy as np
import pytest

from tests.numpy import coverage


@pytest.mark.slow
@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="older ones have fewer functions")
def test_the_page_is_up_to_date():
    page = coverage.PAGE.read_text(encoding="utf-8")
    assert page == "\n".join(coverage.page_lines()).rstrip() + "\n", "run python -m tests.numpy.coverage"


def test_rows_can_fail():
    arrays = coverage.operands("sin", "float64")
    cosine = coverage.function("cos")(coverage.np, *arrays)
    assert not coverage.agrees("sin", arrays, "traced", cosine, None)
    assert not coverage.agrees("sin", arrays, "at once", None, ValueError("refused"))
    assert coverage.agrees("sin", arrays, "at once", coverage.np.sin(*arrays), None)


def test_every_function_has_a_row_and_every_exception_a_reason():
    assert coverage.without_row() == {name for listed in coverage.ELSEWHERE.values() for name in listed.split()}
    rows = [line for line in coverage.PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert {line.split("`")[1] for line in rows if "| not " in line} == set(coverage.EXCEPTIONS)
