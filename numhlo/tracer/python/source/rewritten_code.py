"""The one rewriter of the user's source: from a function's code to the code that is traced in its place.

Its definition is read and parsed once (`definitions`), its branches and loops are made calls where that is wanted
(`control_flow`), what it calls is marked (`marked_calls`), and the result compiled once and kept. Free
variables, parameters and positions stay those of the function, whose defaults and closure the new code takes; it goes
by the name that the user gave it. Code that is only marked is used where its source, unmarked, gives the very code that
the function has: a file that was edited meanwhile does not count.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import linecache
import weakref
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType
from typing import Any

from numhlo.tracer.core.definitions import FUNCTIONS, Definition, statement_around, take_definition
from numhlo.tracer.core.original_code import inner_codes, remember_original
from numhlo.tracer.python.source.control_flow import with_control_flow
from numhlo.tracer.python.source.marked_calls import GENERATED, Marker

_FUTURE = functools.reduce(int.__or__, [getattr(__future__, n).compiler_flag for n in __future__.all_feature_names])
_FACTORY = f"factory{GENERATED}"
_LAMBDA = "<lambda>"


class RewrittenCodes:
    """The rewritten codes of functions, each made once.

    Parameters
    ----------
    exchanges : mapping
        What stands in the place of each mark: ``exchanges[CALLEE] @ f`` returns what is called in the place of ``f``.
    """

    def __init__(self, exchanges: Mapping[str, Any]) -> None:
        self._exchanges = exchanges
        self._found: dict[tuple[int, bool], tuple[weakref.ref[CodeType], CodeType | None]] = {}

    def of(
        self, code: CodeType, scope: Mapping[str, Any], control_flow: Mapping[str, Any] | None = None
    ) -> CodeType | None:
        """Return a function's code, rewritten; itself if it is so already; None where its source can't be had.

        Parameters
        ----------
        code : CodeType
        scope : mapping
            The function's globals, by which the source of a module in an archive is found.
        control_flow : mapping, optional
            Has branches and loops made calls, too; stands in the places of the marks that it names.
        """
        key = id(code), control_flow is not None
        known = self._found.get(key)
        if known is not None:
            return known[1]
        found = self._rewritten(code, scope, control_flow)
        if found is not None or control_flow is None:  # what is asked for explicitly may have a source the next time
            self._remember(key, code, found)
        return found

    def has_control_flow(self, code: CodeType) -> bool:
        """Return whether code is what this made of branches and loops, or a piece of that: a branch, or a body."""
        known = self._found.get((id(code), True))
        return known is not None and known[1] is code

    def _rewritten(
        self, code: CodeType, scope: Mapping[str, Any], control_flow: Mapping[str, Any] | None
    ) -> CodeType | None:
        definition = take_definition(code, scope)
        if definition is None or (control_flow is not None and isinstance(definition.node, ast.AsyncFunctionDef)):
            return None
        if control_flow is not None:
            _rewrite(definition, code, has_control_flow=True)
            new = _compiled(definition, code, {**self._exchanges, **control_flow}, pieces=frozenset({_LAMBDA}))
            self._note(new, has_control_flow=True)
            return new
        for imports in _imports(linecache.getlines(code.co_filename, dict(scope))):
            if _compiled(definition, code, {}, imports) == code:
                _rewrite(definition, code, has_control_flow=False)
                new = _compiled(definition, code, self._exchanges, imports)
                if new.co_freevars != code.co_freevars:
                    return None
                remember_original(new, code)
                self._note(new, has_control_flow=False)
                return new
        return None

    def _note(self, code: CodeType, *, has_control_flow: bool) -> None:
        """Remember that code is rewritten, and that inside it; but for the branches in methods of classes in it."""
        for kind in (False, True) if has_control_flow else (False,):
            self._remember((id(code), kind), code, code)
        for inner in inner_codes(code):
            self._note(inner, has_control_flow=has_control_flow and bool(inner.co_flags & inspect.CO_OPTIMIZED))

    def _remember(self, key: tuple[int, bool], code: CodeType, rewritten: CodeType | None) -> None:
        self._found[key] = weakref.ref(code, lambda _: self._found.pop(key, None)), rewritten


def _rewrite(definition: Definition, code: CodeType, *, has_control_flow: bool) -> None:
    """Change a definition's statements."""
    node = definition.node
    function = node
    if isinstance(node, ast.Lambda):
        result = ast.copy_location(ast.Return(node.body), node.body)
        function = ast.FunctionDef(code.co_name, node.args, [result], [])
    statements = with_control_flow(function) if has_control_flow else function.body
    for statement in statements if has_control_flow else ():
        if not hasattr(statement, "lineno"):
            ast.copy_location(statement, node)
        ast.fix_missing_locations(statement)
    statements = [Marker().visit(statement) for statement in statements]
    node.body = getattr(statements[-1], "value", None) if isinstance(node, ast.Lambda) else statements


def _compiled(
    definition: Definition,
    code: CodeType,
    exchanges: Mapping[str, Any],
    imports: Sequence[ast.stmt] = (),
    pieces: frozenset[str] = frozenset(),
) -> CodeType:
    """Return the code of a function, compiled inside another one that has its free variables, and inside its class.

    What a module imports decides the code of functions: CPython calls ``np.exp`` otherwise where ``np`` is imported.
    """
    node, at = definition.node, {"lineno": definition.node.lineno, "col_offset": definition.node.col_offset}
    free = [ast.arg(name, **at) for name in code.co_freevars]
    arguments = ast.arguments(posonlyargs=[], args=free, kwonlyargs=[], kw_defaults=[], defaults=[])
    inner: ast.stmt = node
    if isinstance(node, ast.Lambda):
        inner = ast.Expr(node, **at)
    else:
        node.name = f"{code.co_name}{GENERATED}"  # so that its own name means in it what it did
    if definition.enclosing is not None:  # private names are completed without the underscores, which hide no global
        inner = ast.ClassDef(
            name=f"________{definition.enclosing}", bases=[], keywords=[], body=[inner], decorator_list=[], **at
        )
    factory = ast.FunctionDef(name=_FACTORY, args=arguments, body=[inner], decorator_list=[], **at)
    module = ast.Module([*imports, factory], [])
    made = compile(module, code.co_filename, "exec", code.co_flags & _FUTURE, dont_inherit=True)
    found = _defined(made, _LAMBDA if isinstance(node, ast.Lambda) else node.name)
    assert found is not None
    return _finished(found.replace(co_flags=code.co_flags), exchanges, code.co_name, code.co_qualname, pieces)


def _defined(code: CodeType, name: str) -> CodeType | None:
    """Return the code of the function of a name that some code defines, or code inside it."""
    inner = inner_codes(code)
    fitting = [c for c in inner if c.co_name == name]
    if fitting:
        return fitting[-1]  # the lambdas of a lambda's defaults come before it
    return next((found for c in inner if (found := _defined(c, name)) is not None), None)


def _finished(
    code: CodeType, exchanges: Mapping[str, Any], name: str, qualname: str, pieces: frozenset[str]
) -> CodeType:
    """Return code, and the code inside it, with the exchanges in the marks' places, under the names that users know.

    Branches, bodies and other ``pieces`` go by the name of the function that they are of.
    """
    is_class, constants = not code.co_flags & inspect.CO_OPTIMIZED, list[Any]()
    for c in code.co_consts:
        if isinstance(c, CodeType):
            own = f"{qualname}.{c.co_name}" if is_class else f"{qualname}.<locals>.{c.co_name}"
            is_piece = c.co_name in pieces or c.co_name.endswith(GENERATED)
            names = (name, qualname) if is_piece else (c.co_name, own)
            constants.append(_finished(c, exchanges, *names, pieces))
        elif isinstance(c, str):
            constants.append(qualname if is_class and c == code.co_qualname else exchanges.get(c, c))
        else:
            constants.append(c)
    return code.replace(co_name=name, co_qualname=qualname, co_consts=tuple(constants))


def _imports(lines: list[str]) -> Iterator[Sequence[ast.stmt]]:
    """Yield the import statements of a file: as far as lines begin with them, and then all of the module's."""
    starts = [k for k, line in enumerate(lines) if line[:1] in "if" and line.startswith(("import ", "from "))]
    found = [statement_around(lines, k) for k in starts]
    yield _import_statements("".join([line for first, last in found for line in lines[first:last]]))
    yield _import_statements("".join(lines))


@functools.lru_cache(maxsize=64)
def _import_statements(text: str) -> Sequence[ast.stmt]:
    """Return the import statements of a module."""
    try:
        waiting: list[ast.AST] = [ast.parse(text)]
    except (SyntaxError, ValueError):
        return ()
    for node in waiting:
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom, ast.expr)):
            waiting += ast.iter_child_nodes(node)
    imports = [node for node in waiting if isinstance(node, ast.Import | ast.ImportFrom)]
    return [node for node in imports if getattr(node, "module", "") != "__future__"]
