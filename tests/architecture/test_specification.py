"""The page of the specifications' rows says what the tests' marks say, and no mark names a row that isn't there."""

from numhlo.lowering.ops.primitive import PRIMITIVES
from tests.architecture import specification
from tests.architecture.specification_headings import HEADINGS
from tests.architecture.specification_rows import GROUPS

QUANTIZED = {"uniform_dequantize", "uniform_quantize"}


def test_marks_name_rows():
    unknown = set(specification.claims()) - set(specification.row_names())
    assert not unknown, f"no rows of specification_rows.py: {sorted(unknown)}"
    states = {claim.state for found in specification.claims().values() for claim in found}
    assert states <= set(specification.STATES)


def test_every_op_has_a_row_of_one_family():
    listed = [op for _, ops in GROUPS.values() for op in ops.split()]
    assert len(listed) == len(set(listed)) == 105
    assert set(listed) - set(PRIMITIVES) <= QUANTIZED


def test_every_heading_names_rows_that_tests_show():
    rows = set(specification.row_names())
    for headings in HEADINGS.values():
        for heading, names in headings.items():
            found = list(specification.rows_of(names))
            assert found, heading
            assert set(found) <= rows, heading
            assert all(specification.state(row) == "works" for row in found), heading


def test_the_page_is_up_to_date():
    page = specification.PAGE.read_text(encoding="utf-8")
    lines = "\n".join(specification.page_lines()).rstrip() + "\n"
    assert page == lines, "run python -m tests.architecture.specification"
