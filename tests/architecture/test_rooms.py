"""The picture of the rooms is what the source says, and the tracer keeps its size."""

from tests.architecture import rooms
from tests.architecture.source_tree import ROOT

MOST_LINES_OF_TRACER = 25_000
"""What users call is the library's; a tracer that grows beyond this has taken up some of it again."""


def test_the_page_is_up_to_date():
    # Numbers of lines change with every commit: the page has those of the day on which it was written.
    page = [line for line in rooms.PAGE.read_text(encoding="utf-8").splitlines() if "-->" in line]
    found = [line for line in "\n".join(rooms.page_lines()).splitlines() if "-->" in line]
    strip = lambda lines: [line.partition("|")[0] + line.rpartition("|")[2] for line in lines]
    assert strip(page) == strip(found), "run python -m tests.architecture.rooms"


def test_loose_files_are_seen(tmp_path):
    (tmp_path / "numhlo" / "tracer" / "inner").mkdir(parents=True)
    (tmp_path / "numhlo" / "tracer" / "loose.py").write_text("import numhlo.tracer.inner.deep\n")
    (tmp_path / "numhlo" / "tracer" / "inner" / "deep.py").write_text("x = 1\n")
    found, arrows = rooms.rooms_in(tmp_path, "tracer")
    assert [room.name for room in found] == ["(loose)", "inner"]
    assert arrows == {("(loose)", "inner"): 1}


def test_tracer_and_library_have_no_loose_files():
    names = [room.name for room in rooms.rooms_in(ROOT, "tracer")[0]]
    assert names == [
        "(loose)", "batching", "building", "control_flow", "core", "differentiation", "python", "transformations", "trees",
    ]  # fmt: skip
    assert [path.name for path in (ROOT / "numhlo" / "tracer").glob("*.py")] == ["__init__.py"]


def test_the_tracer_stays_small():
    assert sum(room.lines for room in rooms.rooms_in(ROOT, "tracer")[0]) <= MOST_LINES_OF_TRACER
