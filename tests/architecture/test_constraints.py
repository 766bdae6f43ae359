"""The page of constraints says what the programs that break them say."""

from tests.architecture import constraints


def test_the_page_is_up_to_date():
    lines = "\n".join(constraints.page_lines()) + "\n"
    assert constraints.PAGE.read_text(encoding="utf-8") == lines, "run python -m tests.architecture.constraints"
