"""What the import contracts in pyproject.toml leave open: inner imports, the face from below, declared packages."""

import ast
import functools
import importlib
import re
import sys
import tomllib

from numhlo.library.numpy import families
from numhlo.numpy import names
from tests.architecture.source_tree import ROOMS, ROOT, functions, imported_names, python_files, syntax_tree

LAZY_LOADERS: dict[str, str] = {
    "numhlo/compat/jax/late_modules.py:find": "modules of JAX's tree load when they are first used",
    "numhlo/compat/jax/late_modules.py:late": "as `find`, which is inside",
    "numhlo/compat/jax/late_modules.py:same_names": "as `find`, which is inside",
    "numhlo/compat/jax/substitution.py:create_module": "it is what imports a module under another name",
    "numhlo/compat/jax/substitution.py:find_spec": "it finds whether there is such a module",
    "numhlo/compilation/programs.py:_backend": "a program that is only traced or exported needs no backend",
    "numhlo/compilation/programs.py:_kernels": "as `_backend`, of which it is the part that compilers start with",
    "numhlo/lowering/ir/late_modules.py:__getattr__": "the modules that `late` names, see below",
    "numhlo/compilation/programs.py:_proofs": "what proves plans is loaded where these are to be verified",
    "numhlo/compilation/jit.py:_making": "the name alone costs no time; what traces is loaded for the first function",
    "numhlo/numpy/gathering.py:find": "names load when one is first used, as those of numhlo",
    "numhlo/numpy/gathering.py:_home": "as `find`",
    "numhlo/numpy/gathering.py:late_names": "as `find`, which is inside",
    "numhlo/__init__.py:__getattr__": "names load when they are first used, so that importing numhlo costs little",
    "numhlo/backend/compiler/service.py:compile_in_process": "where no process can be started, Numba is loaded here",
    "numhlo/backend/disk_cache.py:numba_version": "importlib.metadata takes 12 ms, and only archives need it",
    "numhlo/backend/own_text.py:_archived": "importlib.resources takes 10 ms, and only archives need it",
    "numhlo/backend/emit/native_calls.py:_rule_of": "few programs have calls in XLA's typed form",
    "numhlo/backend/emit/user_kernels.py:_compile": "Numba is loaded by the first user's kernel, for which it is needed",
    "numhlo/backend/kernels/read.py:_global": "kernel text says itself where its names come from",
    "numhlo/lowering/ops/extension_loading.py:load_extensions": "importlib.metadata takes 12 ms, and names are known",
    "numhlo/lowering/ops/lazy_scipy.py:_module": "SciPy is loaded by the first special function that is evaluated",
    "numhlo/backend/fortran.py:_shared_by_scipy": "SciPy is loaded by the first program that multiplies matrices",
    "numhlo/distributed.py:initialize": "MPI starts when it is imported, and only its jobs need it",
    "benchmarks/calls.py:module_of": "a process that measures one library's start must not load the others",
}
"""``file:function`` that may import while running, and why. Entries load something large that may never be needed."""

DISTRIBUTION_OF = {"IPython": "ipykernel"}
"""Import names that differ from the name of the distribution that brings them."""

HOME_OF = {"numba": "numhlo/backend/compiler", "llvmlite": "numhlo/backend"}
"""The only folder that may import a package."""

NEEDS = {
    "numhlo": ("dependencies",),
    "tests": ("dependencies", "test", "demo", "notebooks"),
    "benchmarks": ("dependencies", "bench", "demo"),
}
"""Which of pyproject.toml's lists a folder's imports must be declared in."""

IMPORTERS = frozenset({"__import__", "import_module", "importlib.import_module"})


def imports_while_running(tree):
    """Yield line and function of imports inside functions, by statement or by call."""
    for function in functions(tree):
        for node in ast.walk(function):
            called = isinstance(node, ast.Call) and ast.unparse(node.func) in IMPORTERS
            if called or isinstance(node, ast.Import | ast.ImportFrom):
                yield getattr(node, "lineno", 0), function.name


@functools.cache
def all_imports_while_running():
    """Return file, line and function of every import inside a function."""
    return [
        (path.as_posix(), line, name)
        for path in python_files("numhlo", "benchmarks")
        for line, name in imports_while_running(syntax_tree(path))
    ]


@functools.cache
def declared_distributions(lists):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    requirements = [r for name in lists for r in (extras.get(name) or project[name])]
    return {re.split(r"[^\w.-]", r)[0].lower().replace("-", "_") for r in requirements}


def test_no_imports_inside_functions():
    found = [
        f"{path}:{line} {name}"
        for path, line, name in all_imports_while_running()
        if f"{path}:{name}" not in LAZY_LOADERS
    ]
    assert not found, "import at the top; where that makes a cycle, move what both need down:\n" + "\n".join(found)


def test_lazy_loaders_exist():
    found = {f"{path}:{name}" for path, _, name in all_imports_while_running()}
    assert set(LAZY_LOADERS) <= found
    assert not [name for name in LAZY_LOADERS if name.startswith("numhlo/tracer")]


def test_folders_are_packages():
    # Tools that follow imports don't see into a folder without one.
    folders = {path.parent for folder in ("numhlo", "benchmarks") for path in python_files(folder)}
    assert not [folder.as_posix() for folder in folders if not (ROOT / folder / "__init__.py").exists()]


def late_modules():
    """Yield file and name of every module that `late` stands for."""
    for path in python_files("numhlo"):
        for node in ast.walk(syntax_tree(path)):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) == "late"
                and isinstance(node.args[0], ast.Constant)
            ):
                yield path, node.args[0].value


def test_late_modules_are_there_and_no_higher_than_who_uses_them():
    height = {"lowering": 0, "tracer": 1, "backend": 1, "library": 2}
    found = list(late_modules())
    assert found
    for path, name in found:
        if name in sys.stdlib_module_names:
            continue
        assert (ROOT / name.replace(".", "/")).with_suffix(".py").exists(), name
        own, other = path.parts[1], name.split(".")[1]
        assert own == other or height.get(other, 3) < height.get(own, 3), f"{path} may not use {name}"


def test_rooms_do_not_import_the_face():
    found = [
        f"{path.as_posix()}:{line} {name}"
        for room in ROOMS
        for path in python_files(f"numhlo/{room}")
        for line, name in imported_names(syntax_tree(path))
        if name.split(".")[0] == "numhlo" and [*name.split("."), ""][1] not in ROOMS
    ]
    assert not found, "rooms are below the face and know nothing of it:\n" + "\n".join(found)


HIDDEN_IMPORTS = {"numhlo/tracer/core/array.py": "a stub, which only type checkers read"}
"""Files of the library and the tracer that import for type checkers alone, and why. Everything else can be seen."""


def test_no_imports_are_hidden_from_the_contracts():
    found = {
        path.as_posix()
        for path in python_files("numhlo/library", "numhlo/tracer")
        for name in ast.walk(syntax_tree(path))
        if isinstance(name, ast.Name) and name.id == "TYPE_CHECKING"
    }
    assert found == set(HIDDEN_IMPORTS), "say what is needed by a Protocol or a type variable, or move it down"


def test_numba_stays_in_its_room():
    found = [
        f"{path.as_posix()}:{line} {name}"
        for path in python_files("numhlo")
        for line, name in imported_names(syntax_tree(path))
        if not path.is_relative_to(HOME_OF.get(name.split(".")[0], "."))
    ]
    assert not found, "the user's process never loads Numba, and only backend handles object code:\n" + "\n".join(found)


RUN_ELSEWHERE = frozenset({
    "tests/exports/export_pytorch.py", "tests/exports/export_tensorflow.py",
    *[path.as_posix() for path in python_files("tests/compat/libraries/programs")],
})  # fmt: skip
"""Scripts that run where other packages are installed; nothing imports them here."""


def test_imported_packages_are_declared():
    undeclared = [
        f"{path.as_posix()}:{line} {name}"
        for folder, lists in NEEDS.items()
        for path in python_files(folder)
        if path.as_posix() not in RUN_ELSEWHERE
        for line, name in imported_names(syntax_tree(path))
        if not is_declared(name.split(".")[0], declared_distributions(lists))
    ]
    assert not undeclared, "declare them in pyproject.toml:\n" + "\n".join(undeclared)


def is_declared(package, declared):
    own = {"numhlo", "numhlo_example", "tests", "benchmarks", "notebooks"}
    known = package in sys.stdlib_module_names or package in own
    return known or DISTRIBUTION_OF.get(package, package).lower() in declared


def test_all_families_of_numpy_names_are_listed():
    folder = ROOT / "numhlo/library/numpy"
    registering = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if re.search(
            r"implements\(|FUNCTIONS\.update|FUNCTIONS\[[\w.]+\](, FUNCTIONS\[[\w.]+\])* = ",
            path.read_text(encoding="utf-8"),
        )
    }
    listed = {module.__name__ for module in families.FAMILIES}
    means = {"numhlo.tracer.core.operands", "numhlo.library.numpy.ufunc_calls"}
    assert registering - means == listed


def test_names_of_the_namespace_are_those_that_families_list():
    others = ["numhlo.library.numpy.functional", "numhlo.library.numpy.index_tricks", "numhlo.numpy.constants"]
    homes = {home.__name__: home for home in [*families.FAMILIES, *map(importlib.import_module, others)]}
    found = {home: {name for name, place in names.HOMES.items() if place == home} for home in {*names.HOMES.values()}}
    assert found.pop("numhlo.tracer.core.array") == {"Array"}
    assert found.pop("numhlo.numpy.inspection") == {"__array_namespace_info__"}
    assert found == {home: {*homes[home].__all__} for home in found}
    beside = {home.removeprefix("numhlo.library.numpy.") for home in homes.keys() - found.keys()}
    assert beside == {
        "fft.fourier", "fft.frequencies", "indexing.strided_views", "linalg.factoring", "linalg.norms", "linalg.solving",
        "linalg.standard_products",
    }  # fmt: skip
