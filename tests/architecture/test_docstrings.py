"""Every module says what it knows; every public name says what it does, with an example that runs."""

import ast
import importlib
import inspect

import pytest

from tests.architecture.source_tree import ROOMS, ROOT, python_files, syntax_tree

NOT_OURS = ("numpy", "ml_dtypes")
"""Packages whose dtypes and classes are passed on as they are, with their own documentation."""

WIRING = {"compilation", "display", "switches"}
"""Modules of the face that users don't import."""

NAMESPACES = ("numpy", "lax", "nn", "scipy")
"""Packages whose inner modules users import too."""


def public_modules():
    """Return the modules that users import: the face's, without the rooms below and the wiring."""
    children = {path.stem for path in (ROOT / "numhlo").glob("*.py")} | {
        path.parent.name for path in (ROOT / "numhlo").glob("*/__init__.py")
    }
    names = sorted(name for name in children - WIRING - set(ROOMS) if not name.startswith("_"))
    inner = sorted(f"{folder}.{path.stem}" for folder in NAMESPACES for path in (ROOT / "numhlo" / folder).glob("*.py"))
    return ["numhlo", *(f"numhlo.{name}" for name in [*names, *inner] if not name.endswith("__init__"))]


def docstrings(module):
    """Return the docstring of every public function and class of a module, by name."""
    namespace = importlib.import_module(module)
    values = {name: getattr(namespace, name) for name in getattr(namespace, "__all__", ())}
    return {
        name: inspect.getdoc(v) or ""
        for name, v in values.items()
        if callable(v) and not (isinstance(v, type) and v.__module__.startswith(NOT_OURS)) and inspect.getmodule(v)
    }


def test_every_module_has_a_docstring():
    bare = [
        path.as_posix() for path in python_files("numhlo", "benchmarks") if not ast.get_docstring(syntax_tree(path))
    ]
    assert not bare, f"open with 1 to 10 lines: what it knows, what it refuses to know, where next: {bare}"


def test_package_files_only_reexport():
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr, ast.If)
    lazy = {"__getattr__", "__dir__"}
    found = [
        f"{path.as_posix()}:{node.lineno}"
        for path in python_files("numhlo")
        if path.name == "__init__.py"
        for node in syntax_tree(path).body
        if not isinstance(node, allowed) and getattr(node, "name", "") not in lazy
    ]
    assert not found, f"code belongs in a module of its own: {found}"


@pytest.mark.parametrize("module", public_modules())
def test_public_names_are_documented(module):
    found = docstrings(module)
    assert not [name for name, text in found.items() if not text], "no docstring"
    assert not [name for name, text in found.items() if ">>>" not in text], "no example"
