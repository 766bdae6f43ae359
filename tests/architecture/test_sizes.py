"""Files and functions stay small enough to be read in one go."""

from pathlib import Path

from tests.architecture.source_tree import FunctionNode, functions, python_files, source_lines, syntax_tree

FILE_LIMIT = 500
FUNCTION_LIMIT = 50

LONG_FILES: dict[str, int] = {}
"""Files over the limit and their recorded number of lines: an entry may shrink and go, none may be added."""


def body_lines(function: FunctionNode) -> int:
    """Return the number of lines of a function's body without its docstring."""
    first, *rest = function.body
    is_docstring = getattr(getattr(first, "value", None), "value", None).__class__ is str
    if is_docstring and not rest:
        return 0
    start = rest[0].lineno if is_docstring else first.lineno
    assert function.end_lineno is not None
    return function.end_lineno - start + 1


def test_files_are_short():
    sizes = {path.as_posix(): len(source_lines(path)) for path in python_files()}
    too_long = {name: size for name, size in sizes.items() if size > LONG_FILES.get(name, FILE_LIMIT)}
    assert not too_long, f"split by idea, not by size (limit {FILE_LIMIT}): {too_long}"


def test_exceptions_only_shrink():
    sizes = {name: len(source_lines(Path(name))) for name in LONG_FILES}
    settled = [name for name, size in sizes.items() if size <= FILE_LIMIT]
    assert not settled, f"no longer over the limit, take them off LONG_FILES: {settled}"


def test_functions_are_short():
    too_long = [
        f"{path.as_posix()}:{function.lineno} {function.name}: {body_lines(function)}"
        for path in python_files()
        for function in functions(syntax_tree(path))
        if body_lines(function) > FUNCTION_LIMIT
    ]
    assert not too_long, f"limit {FUNCTION_LIMIT} lines:\n" + "\n".join(too_long)
