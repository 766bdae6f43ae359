"""The page of what runs each op says what plans of programs say: of a few ops here, of all when it is written."""

import pytest

from tests.architecture import machine_code

SOME = [
    ("add", "popcnt", "shift_right_arithmetic", "compare"),
    ("bitcast_convert", "rng_bit_generator (PHILOX)", "cholesky", "cbrt"),
]


@pytest.mark.parametrize("ops", SOME)
def test_lines_of_the_page(ops):
    page = machine_code.PAGE.read_text(encoding="utf-8").splitlines()
    found = list(machine_code.row_lines(ops))
    kept = [line for line in page if line.startswith(tuple(f"| {op} |" for op in ops))]
    assert found == kept, "run python -m tests.architecture.machine_code"
    assert len(found) >= len(ops)
