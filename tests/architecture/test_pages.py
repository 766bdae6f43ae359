"""The README and the pages under docs: examples run, folders exist, links lead somewhere, commands are targets."""

import doctest
import re

import pytest

from tests.architecture.source_tree import ROOT

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [page for page in PAGES if ">>>" in read(page)])
def test_examples_run(page):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    text = re.sub(r"^```.*$", "", read(page), flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    report: list[str] = []
    results = doctest.DocTestRunner(optionflags=flags).run(test, out=report.append)
    assert results.failed == 0, "".join(report)
    assert results.attempted


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", read(page))
    assert not [link for link in links if not ((ROOT / page).parent / link).exists()]


@pytest.mark.parametrize("page", PAGES)
def test_commands_are_targets(page):
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), flags=re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)`|^    make ([a-z]+)", read(page), flags=re.MULTILINE)) <= {
        pair for target in targets for pair in ((target, ""), ("", target))
    }


def test_readme_names_the_folders():
    named = set(re.findall(r"^\| `([a-z\d_./]+?)/?` \|", read("README.md"), flags=re.MULTILINE))
    assert not [name for name in named if not (ROOT / name).exists()]
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.is_symlink()}
    shown = {name for name in folders if not name.startswith((".", "_")) and name not in IGNORED_FOLDERS}
    assert shown <= {name.split("/")[0] for name in named}


IGNORED_FOLDERS = {line.strip("/\n") for line in read(".gitignore").splitlines() if line.endswith("/")}


def test_docs_index_lists_every_page():
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path.name != "README.md"]
    index = read("docs/README.md")
    assert not [p for p in pages if f"({p.relative_to(ROOT / 'docs').as_posix()})" not in index]
