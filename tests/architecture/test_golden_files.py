"""Golden files: the fixture compares and rewrites, and every file belongs to a test beside it."""

import pytest

from tests.architecture.source_tree import ROOT, functions, python_files, syntax_tree
from tests.conftest import Golden


def test_the_fixture_compares_and_rewrites(tmp_path):
    reader, writer = (Golden(tmp_path / "golden", "test_x", update) for update in (False, True))
    with pytest.raises(AssertionError, match="no golden file"):
        reader("text")
    writer("text", part="second")
    reader("text\n", part="second")
    with pytest.raises(AssertionError, match=r"test_x-second\.txt differs"):
        reader("other", part="second")


def test_no_orphans():
    orphans = []
    for folder in (ROOT / "tests").rglob("golden"):
        siblings = [path for path in python_files("tests") if (ROOT / path).parent == folder.parent]
        names = {function.name for path in siblings for function in functions(syntax_tree(path))}
        orphans += [
            path.relative_to(ROOT).as_posix()
            for path in folder.iterdir()
            if not any(path.stem == name or path.stem.startswith((f"{name}_", f"{name}-")) for name in names)
        ]
    assert not orphans
