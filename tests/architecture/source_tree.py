"""The project's own files as data: where they are, and their syntax trees. Knows no rule; the tests beside it do."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE_FOLDERS = ("numhlo", "tests", "benchmarks", "notebooks")
ROOMS = ("library", "tracer", "lowering", "backend")
TEXT_SUFFIXES = frozenset({".cfg", ".ipynb", ".md", ".mlir", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml", ""})

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def python_files(*folders: str) -> list[Path]:
    """Return the Python files under ``folders`` (all code where none is given), relative to the root, sorted."""
    found = [path for folder in folders or CODE_FOLDERS for path in (ROOT / folder).rglob("*.py")]
    return sorted(path.relative_to(ROOT) for path in found if "__pycache__" not in path.parts)


def project_files() -> list[Path]:
    """Return every text file that people write, relative to the root: code, tests, pages and settings."""
    folders = [ROOT / name for name in (*CODE_FOLDERS, "docs", ".ci", ".github")]
    found = [path for path in ROOT.iterdir() if path.is_file() and path.name not in {"LICENSE", ".git"}]
    found += [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    hidden = {"__pycache__", ".ipynb_checkpoints"}
    return sorted(
        path.relative_to(ROOT)
        for path in found
        if path.suffix in TEXT_SUFFIXES and hidden.isdisjoint(path.parts) and not path.name.startswith(".coverage")
    )


@cache
def source_lines(path: Path) -> list[str]:
    """Return the lines of a file."""
    return (ROOT / path).read_text(encoding="utf-8").splitlines()


@cache
def syntax_tree(path: Path) -> ast.Module:
    """Return the syntax tree of a Python file."""
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), filename=str(path))


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every statement, nested ones too; expressions, which are most of a tree, are not looked into."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            inner = getattr(node, name, ())
            if isinstance(inner, list):  # not the body of a lambda or of a conditional expression
                yield from inner
                waiting += inner


def functions(tree: ast.Module) -> Iterator[FunctionNode]:
    """Yield every function, method and nested function."""
    for node in statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def imported_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the full dotted name of everything imported: ``from a import b`` gives ``a.b``."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
