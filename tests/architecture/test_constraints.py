"""The page of constraints has a line for each; what the lines say is compared where their programs run."""

from tests.architecture import constraints
from tests.lowering.constraints.listing import listed


def test_the_page_has_all_constraints():
    page = constraints.PAGE.read_text(encoding="utf-8").splitlines()
    lines = page[-len(listed()) :]
    assert list(constraints.page_lines(lines)) == page, "run python -m tests.architecture.constraints"
    assert [tuple(line.split(" | ")[:2]) for line in lines] == [(f"| {op}", number) for op, number in listed()]
