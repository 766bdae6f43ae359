"""Environment variables: read in few places, and each is on the page that lists them."""

import ast
import re

from tests.architecture.source_tree import ROOT, python_files, source_lines, syntax_tree

PAGE = "docs/environment.md"

READERS = {
    "numhlo/backend/compiler/process.py": "hands the environment on to the processes that it starts",
    "numhlo/backend/target.py": "Numba's variables for the processor, which Numba reads from the environment, too",
    "numhlo/backend/front_ends.py": "to compare two compilers; compiler processes and the cache's keys need it, too",
    "numhlo/backend/disk_cache.py": "where caches belong is the platform's convention, spelled in variables",
}
"""Files of a room that may look at the environment, and why; the face may read switches and hand them down."""

VARIABLE = re.compile(r"NUMHLO_[A-Z]+(?:_[A-Z]+)*")


def files_that_say(words, *folders):
    """Yield files in which one of the words stands, perhaps in a comment: syntax trees take long to search."""
    for path in python_files(*folders):
        if any(word in line for line in source_lines(path) for word in words):
            yield path


def test_rooms_do_not_read_the_environment():
    names = {"environ", "getenv", "environb"}
    found = {
        path.as_posix()
        for path in files_that_say(names, "numhlo/library", "numhlo/tracer", "numhlo/lowering", "numhlo/backend")
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.Attribute) and node.attr in names
    }
    assert found == set(READERS), "a room gets its settings as arguments"


def test_the_page_lists_all_variables():
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    used = {
        name
        for path in files_that_say({"NUMHLO_"}, "numhlo")
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for name in VARIABLE.findall(node.value)
    }
    assert set(VARIABLE.findall(page)) == used
