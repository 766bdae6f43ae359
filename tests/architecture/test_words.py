"""Files speak about the project: no machine's paths, no hosts, no trackers, no talk of how work was organised."""

import re
from pathlib import Path

from tests.architecture.source_tree import ROOT, project_files, python_files

FORBIDDEN = {
    r"\bsessions?\b": "how the work was organised",
    r"\bissue\s*#?\d|\bissue #": "a tracker's number",
    re.escape(str(ROOT)) + r"\b": "this machine's path",
    r"/(home|root|Users|work)/\w": "a machine's path",
    r"(?i)\b[\w.-]*(pypi|pythonhosted|anaconda)\.(org|io|com)": "a registry's host",
}
ALLOWED = re.compile(r"""scope=["']session["']|pytest_session\w+|pytest\.Session|_session_""")
VAGUE_FILES = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}


def breaches(text):
    """Yield line number, word and reason of every forbidden word."""
    for number, line in enumerate(text.splitlines(), 1):
        shown = ALLOWED.sub("", line)
        for pattern, reason in FORBIDDEN.items():
            if match := re.search(pattern, shown):
                yield f"{number}: {match.group()!r} is {reason}"


def test_the_patterns_catch():
    caught = ["see issue #12", "last session", "in /home/somebody/x", "https://py" + "pi.org/simple"]
    assert all(list(breaches(line)) for line in caught)
    assert not list(breaches('@pytest.fixture(scope="session")'))


def test_no_forbidden_words():
    own = Path(__file__).resolve().relative_to(ROOT)
    found = [
        f"{path.as_posix()}:{breach}"
        for path in project_files()
        if path != own
        for breach in breaches((ROOT / path).read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_file_names_say_something():
    own = [path for path in python_files() if "compat" not in path.parts]  # there the names are JAX's
    assert not [path for path in own if path.stem.removeprefix("test_").strip("_") in VAGUE_FILES]
