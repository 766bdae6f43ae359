"""Every module says what it knows; every public name says what it takes, what it returns, and has an example that runs."""

import ast
import dataclasses
import importlib
import inspect
import re
from types import FunctionType, ModuleType

import pytest

import numhlo
from tests.architecture.source_tree import ROOMS, ROOT, python_files, syntax_tree

NOT_OURS = ("numpy", "ml_dtypes")
"""Packages whose dtypes and classes are passed on as they are, with their own documentation."""

WIRING = {"compilation", "display", "pyinstaller_hooks", "switches"}
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


def documented(module):
    """Return every public function and class of a module, by name."""
    namespace = importlib.import_module(module)
    values = {name: getattr(namespace, name) for name in getattr(namespace, "__all__", ())}
    return {
        name: v
        for name, v in values.items()
        if callable(v) and not (isinstance(v, type) and v.__module__.startswith(NOT_OURS)) and inspect.getmodule(v)
    }


def has_section(value, *titles):
    """Return whether a docstring has a section of one of these titles."""
    text = inspect.getdoc(value) or ""
    return any(re.search(rf"^{title}\n-{{{len(title)}}}$", text, flags=re.MULTILINE) for title in titles)


def is_ours(value):
    return (inspect.getmodule(value) or ast).__name__.partition(".")[0] == "numhlo"


def takes_arguments(value):
    """Return whether a function, or a class that says itself how it is made, takes arguments."""
    if isinstance(value, type):
        made_here = dataclasses.is_dataclass(value) or hasattr(value, "_fields") or "__init__" in vars(value)
        return made_here and bool(inspect.signature(value).parameters)
    return bool(inspect.signature(value).parameters)


def gives_something(value):
    """Return whether a call has a result; a context manager that binds nothing has none."""
    if isinstance(value, type):
        return False
    return str(inspect.signature(value).return_annotation) not in ("None", "Iterator[None]")


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
    found = documented(module)
    assert not [name for name, value in found.items() if not inspect.getdoc(value)], "no docstring"
    assert not [name for name, value in found.items() if ">>>" not in (inspect.getdoc(value) or "")], "no example"


@pytest.mark.parametrize("module", public_modules())
def test_public_names_say_what_they_take_and_return(module):
    found = {name: value for name, value in documented(module).items() if is_ours(value)}
    bare = [n for n, v in found.items() if takes_arguments(v) and not has_section(v, "Parameters", "Attributes")]
    assert not bare, f"no section Parameters: {bare}"
    silent = [n for n, v in found.items() if gives_something(v) and not has_section(v, "Returns", "Yields")]
    assert not silent, f"no section Returns: {silent}"


@pytest.mark.parametrize("module", public_modules())
def test_sections_name_the_arguments_there_are(module):
    wrong = {}
    for name, value in documented(module).items():
        ours = is_ours(value) and (isinstance(value, FunctionType) or "__init__" in getattr(value, "__dict__", ()))
        if not ours or not has_section(value, "Parameters"):
            continue  # ufuncs have NumPy's docstrings
        section = re.split(r"^Parameters\n-{10}\n", inspect.getdoc(value) or "", flags=re.MULTILINE)[1]
        section = re.split(r"\n\n(?=\w+\n-{3,}\n)", section)[0]
        heads = [line.partition(" : ")[0] for line in section.splitlines() if line[:1].strip()]
        named = {part.strip().lstrip("*") for head in heads for part in head.split(",")}
        differing = named ^ set(inspect.signature(value).parameters)
        if differing:
            wrong[name] = sorted(differing)
    assert not wrong, f"Parameters that the signature does not have, or that are not described: {wrong}"


def test_completion_lists_what_is_public():
    extra = {}
    for module in [value for name in dir(numhlo) if isinstance(value := getattr(numhlo, name), ModuleType)]:
        listed = {name for name in dir(module) if not name.startswith("_")} - set(module.__all__)
        extra[module.__name__] = {name for name in listed if not isinstance(getattr(module, name), ModuleType)}
    assert not any(extra.values()), f"imports; give the module a __dir__: {extra}"


OWN = {
    "numhlo": {
        "Array", "Layout", "checkpointed_scan", "checkpointed_while_loop", "custom_call", "debugging", "kernel",
        "load", "threads",
    },
    "numhlo.exporting": {"load"},
    "numhlo.numpy": {"Array"},
}  # fmt: skip
"""Names that no other library has, or has under another name; so are all of `OWN_MODULES`."""

OWN_MODULES = {
    "numhlo.batch",
    "numhlo.distributed",
    "numhlo.errors",
    "numhlo.extending",
    "numhlo.program_commands",
    "numhlo.progress",
    "numhlo.stablehlo",
}


def resolved(path):
    """Return what a dotted path stands for."""
    parts = path.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for name in parts[count:]:
            value = getattr(value, name)
        return value
    raise ImportError(path)


@pytest.mark.parametrize("module", [m for m in public_modules() if m not in OWN_MODULES])
@pytest.mark.oracle("numpy>=2.2")
def test_public_names_say_where_they_come_from(module):
    missing = []
    for name, value in documented(module).items():
        if not is_ours(value) or name in OWN.get(module, ()):
            continue
        if not has_section(value, "References"):
            missing.append(name)
            continue
        reference = (inspect.getdoc(value) or "").rpartition("References\n----------\n")[2].strip()
        if re.fullmatch(r"(numpy|scipy|jax)(\.\w+)+", reference):
            resolved(reference)
    assert not missing, f"cite what they follow, see numhlo.library.citations: {missing}"
