"""No hole without a reason, no reason without a hole, and the page says what the tables say."""

from tests.architecture import op_table
from tests.architecture.holes import HOLES


def test_holes_are_the_declared_ones():
    faults = []
    for aspect, tables in op_table.aspects().items():
        missing, declared = op_table.missing(tables), set(op_table.declared_holes(aspect))
        folders = " or ".join(dict.fromkeys(table.folder for table in tables))
        fix = f"add one under {folders}, or the reason why not to holes.py"
        faults += [f"{name} has no rule to {aspect} it; {fix}" for name in missing - declared]
        faults += [f"{name} has a rule to {aspect} it; take it off holes.py" for name in declared - missing]
    assert not faults, "\n".join(sorted(faults))


def test_holes_belong_to_an_aspect():
    assert set(HOLES) <= set(op_table.aspects())


def test_the_page_is_up_to_date():
    page = op_table.PAGE.read_text(encoding="utf-8")
    assert page == "\n".join(op_table.page_lines()).rstrip() + "\n", "run python -m tests.architecture.op_table"
